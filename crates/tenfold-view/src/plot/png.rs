//! Rasterization of scenes, and PNG encoding.

use tenfold::{Error, Result, memory};

use super::font::{ADVANCE, HEIGHT, WIDTH, glyph};
use super::scene::{Anchor, Area, Bitmap, INK, Item, PAPER, Scene};
use crate::image::Rgb;

/// The scene as a PNG file.
///
/// # Errors
/// Those of the PNG encoder.
pub fn png(scene: &Scene) -> Result<Vec<u8>> {
    encoded(&drawn(scene)?)
}

/// An upper bound for the memory of the PNG encoder besides the pixels.
const ROOM: usize = 1 << 20;

/// Pixels as a PNG file.
pub(super) fn encoded(bitmap: &Bitmap) -> Result<Vec<u8>> {
    let wrong = |error: png::EncodingError| Error::Invalid(format!("no png: {error}"));
    let side = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    // The encoder cannot report that allocating its own tables failed.
    memory::probe(ROOM)?;
    let mut bytes = memory::with_room(bitmap.pixels.len().saturating_mul(3))?;
    bytes.extend(bitmap.pixels.iter().flatten());
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, side(bitmap.width), side(bitmap.height));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(wrong)?;
    writer.write_image_data(&bytes).map_err(wrong)?;
    writer.finish().map_err(wrong)?;
    Ok(out)
}

/// The pixels of a scene.
pub(super) fn drawn(scene: &Scene) -> Result<Bitmap> {
    let side = |len: u32| usize::try_from(len).unwrap_or(usize::MAX);
    let (width, height) = (side(scene.width), side(scene.height));
    let mut canvas = Canvas(Bitmap {
        width,
        height,
        pixels: memory::filled(PAPER, width.saturating_mul(height))?,
    });
    for item in &scene.items {
        match item {
            Item::Rect { area, color } => canvas.fill(*area, |_, _| Some(*color)),
            Item::Image { area, pixels } => canvas.image(*area, pixels),
            Item::Line { points, color } => canvas.line(points, *color),
            Item::Text { at, text, anchor } => canvas.text(*at, text, *anchor),
        }
    }
    Ok(canvas.0)
}

struct Canvas(Bitmap);

impl Canvas {
    fn put(&mut self, x: i64, y: i64, color: Rgb) {
        let place = usize::try_from(x).ok().zip(usize::try_from(y).ok());
        let Some((x, y)) = place.filter(|(x, _)| *x < self.0.width) else {
            return;
        };
        let at = y.saturating_mul(self.0.width).saturating_add(x);
        if let Some(pixel) = self.0.pixels.get_mut(at) {
            *pixel = color;
        }
    }

    /// Fills an area with colors, computed from the relative position to the right and down.
    fn fill(&mut self, area: Area, color: impl Fn(f64, f64) -> Option<Rgb>) {
        let (left, right) = (nearest(area.left), nearest(area.right()));
        let (top, bottom) = (nearest(area.top), nearest(area.bottom()));
        let share = |at: i64, from: i64, to: i64| {
            let (at, len) = (at.saturating_sub(from), to.saturating_sub(from));
            (length(at) + 0.5) / length(len.max(1))
        };
        for y in top..bottom {
            for x in left..right {
                if let Some(color) = color(share(x, left, right), share(y, top, bottom)) {
                    self.put(x, y, color);
                }
            }
        }
    }

    fn image(&mut self, area: Area, pixels: &Bitmap) {
        let pick = |share: f64, count: usize| {
            let count = crate::image::wide(count);
            #[expect(clippy::as_conversions, reason = "a place among the pixels")]
            let place = (share * crate::image::float(count)).floor() as u64;
            crate::image::narrow(place.min(count.saturating_sub(1)))
        };
        self.fill(area, |right, down| {
            pixels.get(pick(right, pixels.width), pick(down, pixels.height))
        });
    }

    /// A line one pixel wide.
    fn line(&mut self, points: &[(f64, f64)], color: Rgb) {
        if let [(x, y)] = points {
            // A single point must be visible.
            for (right, down) in [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)] {
                let (x, y) = (nearest(*x), nearest(*y));
                self.put(x.saturating_add(right), y.saturating_add(down), color);
            }
        }
        for (from, to) in points.iter().zip(points.iter().skip(1)) {
            let (right, down) = (to.0 - from.0, to.1 - from.1);
            let steps = right.abs().max(down.abs()).ceil().max(1.0);
            let mut step = 0.0;
            while step <= steps {
                let share = step / steps;
                let (x, y) = (from.0 + right * share, from.1 + down * share);
                self.put(nearest(x), nearest(y), color);
                step += 1.0;
            }
        }
    }

    fn text(&mut self, at: (f64, f64), text: &str, anchor: Anchor) {
        /// Pixels for each dot.
        const DOT: i64 = 1;
        let letters = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        let width = letters
            .saturating_mul(i64::from(ADVANCE))
            .saturating_mul(DOT);
        let shift = match anchor {
            Anchor::Start => 0,
            Anchor::Middle => width / 2,
            Anchor::End => width,
        };
        let mut left = nearest(at.0).saturating_sub(shift);
        let top = nearest(at.1).saturating_sub(i64::from(HEIGHT) * DOT / 2);
        for letter in text.chars() {
            for (down, row) in (0..).zip(glyph(letter)) {
                for right in 0..i64::from(WIDTH) {
                    let bit = i64::from(WIDTH).saturating_sub(1).saturating_sub(right);
                    if row >> bit & 1 == 1 {
                        let (x, y) = (left.saturating_add(right * DOT), top + down * DOT);
                        self.put(x, y, INK);
                    }
                }
            }
            left = left.saturating_add(i64::from(ADVANCE) * DOT);
        }
    }
}

fn nearest(length: f64) -> i64 {
    #[expect(
        clippy::as_conversions,
        reason = "a place in a picture; beyond it saturates"
    )]
    let nearest = length.round() as i64;
    nearest
}

fn length(count: i64) -> f64 {
    crate::image::float(count.unsigned_abs())
}
