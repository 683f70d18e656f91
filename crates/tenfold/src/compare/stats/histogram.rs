//! Histogram of values.

use super::passes::Tally;
use super::sort_key::ElementOps;

/// The number of values in each of some equal intervals.
pub(super) struct Bins<'a, L> {
    pub(super) lens: &'a L,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) counts: Vec<u64>,
}

impl<L: ElementOps> Bins<'_, L> {
    /// The interval of a finite value.
    pub(super) fn place(&self, value: f64) -> usize {
        // Halved, as the distance between the ends may overflow.
        let whole = self.high * 0.5 - self.low * 0.5;
        let part = (value * 0.5 - self.low * 0.5) / whole;
        let last = self.counts.len().saturating_sub(1);
        #[expect(clippy::as_conversions, reason = "rounds down, as meant, and NaN to 0")]
        let place = (part * self.counts.len() as f64) as usize;
        place.min(last)
    }

    pub(super) fn add(&mut self, value: f64, count: u64) {
        let place = self.place(value);
        if let Some(bin) = self.counts.get_mut(place) {
            *bin = bin.saturating_add(count);
        }
    }
}

impl<L: ElementOps> Tally for Bins<'_, L> {
    type Part = ();

    fn piece(&mut self, elements: &[u8]) {
        for element in elements.chunks_exact(self.lens.width()) {
            let value = self.lens.value(element);
            if value.is_finite() {
                self.add(value, 1);
            }
        }
    }

    fn part(&mut self) {}
}
