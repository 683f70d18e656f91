//! Histogram.

use tenfold::Result;

use super::axes::{Axis, field, frame};
use super::scene::{Area, FAINT, Scene};
use super::{Drawing, Ends};
use crate::image::{Histogram, Rgb, Scale, TensorView, float, histogram, tick_text, wide};

/// The color of bars.
const BAR: Rgb = [0x31, 0x68, 0x8e];

/// Number of bars.
const BINS: usize = 64;

pub(super) fn draw(drawing: &Drawing, subject: &TensorView) -> Result<Scene> {
    let found = count(drawing, subject, BINS)?;
    let title = format!("{} · {}", drawing.title, said(&found));
    let mut scene = Scene::new(drawing.options.size, &title);
    let area = field(&scene, false);
    let most = found.counts.iter().copied().max().unwrap_or(0).max(1);
    let (scale, low) = match drawing.options.scale {
        Scale::Linear => (Scale::Linear, 0.0),
        // A count of one must be visible.
        Scale::Log | Scale::Symlog => (Scale::Log, 0.5),
    };
    let down = Axis {
        name: "cells".into(),
        // Margin above the highest bar.
        range: (low, float(most) * 1.05),
        scale,
        counts: false,
    };
    let right = Axis {
        name: String::new(),
        range: (found.low.unwrap_or(0.0), found.high.unwrap_or(1.0)),
        scale: Scale::Linear,
        counts: false,
    };
    for (place, _) in down.marks(8) {
        let at = area.bottom() - place * area.height;
        scene.line(vec![(area.left, at), (area.right(), at)], FAINT);
    }
    let width = area.width / float(wide(found.counts.len().max(1)));
    for (number, count) in (0..).zip(&found.counts).filter(|(_, count)| **count > 0) {
        let height = scale.place(float(*count), down.range) * area.height;
        let bar = Area {
            left: area.left + float(number) * width,
            top: area.bottom() - height,
            width: (width - 1.0).max(1.0),
            height,
        };
        scene.rect(bar, BAR);
    }
    frame(&mut scene, area, &down, &right, true);
    Ok(scene)
}

/// Computes the counts; with a range, only inside it.
pub(super) fn count(drawing: &Drawing, subject: &TensorView, bins: usize) -> Result<Histogram> {
    let range = match drawing.options.range {
        Some(Ends::Percentiles(..)) | None => None,
        Some(Ends::Numbers(low, high)) => Some((low, high)),
    };
    histogram(subject, None, range, bins, &Drawing::stop())
}

/// A short summary of the numbers.
pub(super) fn said(found: &Histogram) -> String {
    let of = &found.statistics;
    let mut words = vec![format!("{} cells", of.count)];
    if of.finite() > 0 {
        let (mean, deviation) = (tick_text(of.mean), tick_text(of.deviation()));
        words.push(format!("mean {mean}"));
        words.push(format!("std {deviation}"));
    }
    let zeros = if of.zeros == 1 { "zero" } else { "zeros" };
    for (count, word) in [(of.zeros, zeros), (of.nan, "NaN"), (of.infinite, "inf")] {
        if count > 0 {
            words.push(format!("{count} {word}"));
        }
    }
    if !found.is_exact {
        words.push("a sample".into());
    }
    words.join(", ")
}
