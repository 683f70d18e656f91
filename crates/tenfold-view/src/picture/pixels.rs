//! What the cells behind a pixel have in common.

use super::tile::{NAN, NEGATIVE, NOTHING_FINITE, POSITIVE};

/// The cells behind one pixel, or one bucket of a line, so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pixel {
    pub(super) min: f64,
    pub(super) max: f64,
    sum: f64,
    pub(super) finite: u64,
    pub(super) nan: u64,
    pub(super) flags: u8,
}

impl Pixel {
    pub(super) const EMPTY: Pixel = Pixel {
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        sum: 0.0,
        finite: 0,
        nan: 0,
        flags: 0,
    };

    /// Takes a number.
    pub(super) fn take(&mut self, number: f64) {
        self.take_many(number, 1);
    }

    /// Takes the same number several times.
    pub(super) fn take_many(&mut self, number: f64, count: u64) {
        if count == 0 {
            return;
        }
        if number.is_finite() {
            self.min = self.min.min(number);
            self.max = self.max.max(number);
            self.sum += number * super::float(count);
            self.finite = self.finite.saturating_add(count);
        } else if number.is_nan() {
            self.nan = self.nan.saturating_add(count);
            self.flags |= NAN;
        } else {
            self.flags |= if number > 0.0 { POSITIVE } else { NEGATIVE };
        }
    }

    /// The mean of the finite numbers.
    pub(super) fn mean(&self) -> Option<f64> {
        // A sum may be too large where its terms are not.
        let mean = self.sum / super::float(self.finite);
        (self.finite > 0).then(|| mean.clamp(self.min, self.max))
    }

    /// The smallest of the finite numbers.
    pub(super) fn smallest(&self) -> Option<f64> {
        (self.finite > 0).then_some(self.min)
    }

    /// The largest of the finite numbers.
    pub(super) fn largest(&self) -> Option<f64> {
        (self.finite > 0).then_some(self.max)
    }

    /// What there is besides finite numbers.
    pub(super) fn flags(&self) -> u8 {
        match self.finite {
            0 => self.flags | NOTHING_FINITE,
            _ => self.flags,
        }
    }
}
