//! Summary of the cells behind a pixel.

use super::tile::{NAN, NEGATIVE, NOTHING_FINITE, POSITIVE};

/// The cells behind one pixel, or one bucket of a line, so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pixel {
    pub(crate) min: f64,
    pub(crate) max: f64,
    sum: f64,
    pub(crate) finite: u64,
    pub(crate) nan: u64,
    pub(crate) flags: u8,
}

impl Pixel {
    pub(crate) const EMPTY: Pixel = Pixel {
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        sum: 0.0,
        finite: 0,
        nan: 0,
        flags: 0,
    };

    /// Adds a number.
    pub(crate) fn take(&mut self, number: f64) {
        self.take_many(number, 1);
    }

    /// Adds the same number several times.
    pub(crate) fn take_many(&mut self, number: f64, count: u64) {
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
    pub(crate) fn mean(&self) -> Option<f64> {
        // The sum may overflow where its terms do not.
        let mean = self.sum / super::float(self.finite);
        (self.finite > 0).then(|| mean.clamp(self.min, self.max))
    }

    /// The smallest of the finite numbers.
    pub(crate) fn smallest(&self) -> Option<f64> {
        (self.finite > 0).then_some(self.min)
    }

    /// The largest of the finite numbers.
    pub(crate) fn largest(&self) -> Option<f64> {
        (self.finite > 0).then_some(self.max)
    }

    /// The flags for non-finite numbers.
    pub(crate) fn flags(&self) -> u8 {
        match self.finite {
            0 => self.flags | NOTHING_FINITE,
            _ => self.flags,
        }
    }
}
