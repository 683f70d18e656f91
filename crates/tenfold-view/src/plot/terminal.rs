//! Plots in the terminal.

use std::fmt::Write;

use tenfold::Result;

use super::heatmap::Heat;
use super::{Drawing, Kind, histogram, lines};
use crate::image::{Line, Rgb, Scale, TensorView, float, tick_text, wide};

/// Shades in ascending order, without colors.
const SHADES: &[char] = &[' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// The plot as lines of text, `columns` wide and about `rows` high; in 24-bit color if permitted.
/// The title is not included, as it may have to be sanitized.
///
/// # Errors
/// As [`Drawing::scene`].
pub fn terminal(drawing: &Drawing, columns: u32, rows: u32, colors: bool) -> Result<String> {
    let subject = drawing.subject()?;
    let (columns, rows) = (u64::from(columns.max(16)), u64::from(rows.max(4)));
    match drawing.kind()? {
        Kind::Heat => heat(drawing, &subject, columns, rows, colors),
        Kind::Line => lines(drawing, &subject, columns, rows),
        Kind::Histogram => histogram(drawing, &subject, columns, rows),
    }
}

/// Two rows of pixels per line, as upper and lower half blocks.
fn heat(
    drawing: &Drawing,
    subject: &TensorView,
    columns: u64,
    rows: u64,
    colors: bool,
) -> Result<String> {
    let region = drawing.region(subject)?;
    let down = if colors { rows.saturating_mul(2) } else { rows };
    let heat = Heat::new(drawing, subject, &region, (down, columns))?;
    let bitmap = heat.bitmap();
    let mut out = String::new();
    let mut y = 0;
    while y < bitmap.height {
        let next = y.saturating_add(1);
        let mut line = Colored::default();
        for x in 0..bitmap.width {
            match (colors, bitmap.get(x, y), bitmap.get(x, next)) {
                (true, Some(upper), lower) => line.put(&mut out, upper, lower),
                _ => out.push(heat.shade(x, y)),
            }
        }
        line.end(&mut out);
        y = if colors { next.saturating_add(1) } else { next };
    }
    let (low, high) = (tick_text(heat.ends.0), tick_text(heat.ends.1));
    let mut line = Colored::default();
    // Writing to a string cannot fail.
    let _ = write!(out, "{low} ");
    for step in 0..16_u32 {
        let place = f64::from(step) / 15.0;
        if colors {
            line.put(&mut out, heat.at(place), Some(heat.at(place)))
        } else {
            out.push(shade(place))
        }
    }
    line.reset(&mut out);
    let _ = writeln!(out, " {high}");
    Ok(out)
}

impl Heat {
    /// The character for a pixel.
    fn shade(&self, x: usize, y: usize) -> char {
        match self.letter(x, y) {
            Some(letter) => letter,
            None => shade(self.place(x, y)),
        }
    }
}

fn shade(place: f64) -> char {
    let last = float(wide(SHADES.len()).saturating_sub(1));
    #[expect(clippy::as_conversions, reason = "a place among the shades")]
    let at = (place.clamp(0.0, 1.0) * last).round() as usize;
    SHADES.get(at).copied().unwrap_or('?')
}

/// A line of half blocks, with escape sequences only where the color changes.
#[derive(Default)]
struct Colored {
    said: Option<(Rgb, Option<Rgb>)>,
}

impl Colored {
    fn put(&mut self, out: &mut String, upper: Rgb, lower: Option<Rgb>) {
        if self.said != Some((upper, lower)) {
            let [r, g, b] = upper;
            let _ = write!(out, "\u{1b}[38;2;{r};{g};{b}m");
            let _ = match lower {
                Some([r, g, b]) => write!(out, "\u{1b}[48;2;{r};{g};{b}m"),
                None => write!(out, "\u{1b}[49m"),
            };
            self.said = Some((upper, lower));
        }
        out.push('▀');
    }

    fn reset(&mut self, out: &mut String) {
        if self.said.take().is_some() {
            out.push_str("\u{1b}[0m");
        }
    }

    fn end(&mut self, out: &mut String) {
        self.reset(out);
        out.push('\n');
    }
}

/// The first row as columns from the smallest to the largest number of each.
fn lines(drawing: &Drawing, subject: &TensorView, columns: u64, rows: u64) -> Result<String> {
    let margin = 12;
    let (_, found) = lines::along_last(drawing, subject, columns.saturating_sub(margin).max(4))?;
    let region = drawing.region(subject)?;
    let ends = lines::ends(drawing, subject, &region, &found)?;
    let scale = drawing.options.scale;
    let mut out = String::new();
    let empty = Line::default();
    let line = found.lines.first().unwrap_or(&empty);
    for row in (0..rows).rev() {
        let label = match row {
            row if row.saturating_add(1) == rows => tick_text(ends.1),
            0 => tick_text(ends.0),
            _ => String::new(),
        };
        let _ = write!(out, "{label:>10} ┤");
        for (min, max) in line.min.iter().zip(&line.max) {
            out.push(match (min, max) {
                (Some(min), Some(max)) => {
                    let share =
                        |number: f64| scale.place(number, ends) * float(rows.saturating_sub(1));
                    let (low, high) = (share(*min).round(), share(*max).round());
                    if (low..=high).contains(&float(row)) {
                        '█'
                    } else {
                        ' '
                    }
                }
                _ if row == 0 => '?',
                _ => ' ',
            });
        }
        let kept = out.trim_end_matches(' ').len();
        out.truncate(kept);
        out.push('\n');
    }
    Ok(out)
}

/// A bar per bin.
fn histogram(drawing: &Drawing, subject: &TensorView, columns: u64, rows: u64) -> Result<String> {
    let bins = usize::try_from(rows).unwrap_or(16);
    let found = histogram::count(drawing, subject, bins)?;
    let mut out = format!("{}\n", histogram::said(&found));
    let most = found.counts.iter().copied().max().unwrap_or(0).max(1);
    let (scale, low) = match drawing.options.scale {
        Scale::Linear => (Scale::Linear, 0.0),
        Scale::Log | Scale::Symlog => (Scale::Log, 0.5),
    };
    let (first, last) = (found.low.unwrap_or(0.0), found.high.unwrap_or(1.0));
    let room = float(columns.saturating_sub(24).max(8));
    let n_bins = float(wide(found.counts.len().max(1)));
    for (number, count) in (0..).zip(&found.counts) {
        let from = Scale::Linear.number(float(number) / n_bins, (first, last));
        let width = match count {
            0 => 0.0,
            count => (scale.place(float(*count), (low, float(most))) * room).max(1.0),
        };
        #[expect(clippy::as_conversions, reason = "fits the width of a terminal")]
        let bar = "█".repeat(width.round() as usize);
        let _ = writeln!(out, "{:>10} ┤{bar} {count}", tick_text(from));
    }
    Ok(out)
}
