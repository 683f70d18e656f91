//! Axes of a plot: frame, ticks and labels.

use super::scene::{Anchor, Area, INK, Scene};
use crate::image::{Scale, float, tick_text, ticks};

/// Left edge of the title.
const TITLE: f64 = 12.0;

/// Length of a tick mark.
const MARK: f64 = 5.0;

/// The ticks of an axis, and their meaning.
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) range: (f64, f64),
    pub(super) scale: Scale,
    /// Whether it counts cells, each as wide as the distance to the next.
    pub(super) counts: bool,
}

impl Axis {
    /// An axis of `size` cells starting at `first`.
    pub(super) fn cells(name: String, first: u64, size: u64) -> Axis {
        let first = float(first);
        Axis {
            name,
            range: (first, first + float(size)),
            scale: Scale::Linear,
            counts: true,
        }
    }

    /// The positions of the ticks, from 0 to 1, and their labels.
    pub(super) fn marks(&self, most: u32) -> Vec<(f64, String)> {
        let (low, high) = self.range;
        let all = if self.counts {
            // The index of the last cell is one less than the end.
            ticks(self.scale, (low, high - 1.0), most)
        } else {
            ticks(self.scale, self.range, most)
        };
        let whole = all
            .into_iter()
            .filter(|tick| !self.counts || tick.fract() == 0.0);
        let middle = if self.counts { 0.5 } else { 0.0 };
        whole
            .map(|tick| (self.scale.place(tick + middle, self.range), tick_text(tick)))
            .collect()
    }
}

/// The area for data in a plot of this size, without the labels.
pub(super) fn field(scene: &Scene, has_bar: bool) -> Area {
    let (width, height) = (f64::from(scene.width), f64::from(scene.height));
    let (left, top, bottom) = (80.0, 36.0, 56.0);
    let right = if has_bar { 120.0 } else { 28.0 };
    Area {
        left,
        top,
        width: (width - left - right).max(8.0),
        height: (height - top - bottom).max(8.0),
    }
}

/// The largest part of an area in which cells are squares, unless that is too small.
pub(super) fn squared(field: Area, rows: u64, columns: u64) -> Area {
    let (rows, columns) = (float(rows.max(1)), float(columns.max(1)));
    if !(0.25..=4.0).contains(&(columns / rows)) {
        return field;
    }
    let side = (field.width / columns).min(field.height / rows);
    let (width, height) = (side * columns, side * rows);
    Area {
        left: field.left + (field.width - width) / 2.0,
        top: field.top,
        width,
        height,
    }
}

/// Draws the title, the frame of an area, and the labels beside it.
pub(super) fn frame(scene: &mut Scene, field: Area, down: &Axis, right: &Axis, upwards: bool) {
    let title = scene.title.clone();
    scene.text((TITLE, field.top / 3.0), title, Anchor::Start);
    let (x, y) = (field.left, field.top);
    let corners = [
        (x, y),
        (field.right(), y),
        (field.right(), field.bottom()),
        (x, field.bottom()),
    ];
    let around = corners.iter().chain(corners.first()).copied();
    scene.line(around.collect(), INK);
    let most = |len: f64, each: f64| {
        #[expect(clippy::as_conversions, reason = "a few")]
        let most = (len / each).clamp(1.0, 12.0) as u32;
        most
    };
    for (place, text) in right.marks(most(field.width, 64.0)) {
        let at = field.left + place * field.width;
        let bottom = field.bottom();
        scene.line(vec![(at, bottom), (at, bottom + MARK)], INK);
        scene.text((at, bottom + MARK + 10.0), text, Anchor::Middle);
    }
    for (place, text) in down.marks(most(field.height, 40.0)) {
        let place = if upwards { 1.0 - place } else { place };
        let at = field.top + place * field.height;
        scene.line(vec![(x - MARK, at), (x, at)], INK);
        scene.text((x - MARK - 4.0, at), text, Anchor::End);
    }
    let middle = field.left + field.width / 2.0;
    scene.text(
        (middle, field.bottom() + 38.0),
        right.name.as_str(),
        Anchor::Middle,
    );
    scene.text((x - 8.0, field.top - 10.0), down.name.as_str(), Anchor::End);
}
