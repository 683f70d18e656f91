//! SVG output.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tenfold::Result;

use super::png::encoded;
use super::scene::{Anchor, Item, PAPER, Scene};
use crate::image::Rgb;

/// The scene as an SVG document. Images in it are PNG, texts are texts.
///
/// # Errors
/// Those of the PNG encoder.
pub fn svg(scene: &Scene) -> Result<String> {
    let (width, height) = (scene.width, scene.height);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"13\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(&scene.title));
    let paper = hex(PAPER);
    let _ = writeln!(
        out,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>"
    );
    for item in &scene.items {
        put(item, &mut out)?;
    }
    out.push_str("</svg>\n");
    Ok(out)
}

fn put(item: &Item, out: &mut String) -> Result<()> {
    let _ = match item {
        Item::Rect { area, color } => writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{}\"/>",
            area.left,
            area.top,
            area.width,
            area.height,
            hex(*color)
        ),
        Item::Image { area, pixels } => {
            let data = STANDARD.encode(encoded(pixels)?);
            writeln!(
                out,
                "<image x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" \
                 preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
                 href=\"data:image/png;base64,{data}\"/>",
                area.left, area.top, area.width, area.height
            )
        }
        Item::Line { points, .. } if points.is_empty() => Ok(()),
        Item::Line { points, color } => {
            let points: Vec<String> = points
                .iter()
                .map(|(x, y)| format!("{x:.2},{y:.2}"))
                .collect();
            let (points, color) = (points.join(" "), hex(*color));
            writeln!(
                out,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\"/>"
            )
        }
        Item::Text { at, text, anchor } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (at.0, at.1 + 4.5);
            let text = escaped(text);
            writeln!(
                out,
                "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\">{text}</text>"
            )
        }
    };
    Ok(())
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Escapes text: names come from files.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML cannot represent these.
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                safe.push('\u{fffd}');
            }
            letter => safe.push(letter),
        }
    }
    safe
}
