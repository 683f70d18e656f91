//! Running totals of a comparison.

use super::scaled_sum::Sum;

/// The cell with the largest difference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Farthest {
    /// Its number, in the order of comparison.
    pub(super) cell: u64,
    /// The difference: NaN if only one is NaN, which is worse than any number.
    pub(super) size: f64,
    /// The two elements, little-endian.
    pub(super) a: Vec<u8>,
    pub(super) b: Vec<u8>,
}

/// Counts and sums over compared cells.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Cells that are not equal as numbers.
    pub(super) unequal: u64,
    /// Cells outside the tolerance.
    pub(super) changed: u64,
    /// Changed cells with a NaN in A only, in B only, in both with different bits, and those that
    /// are otherwise not finite.
    pub(super) nan_a: u64,
    pub(super) nan_b: u64,
    pub(super) nan_both: u64,
    pub(super) infinite: u64,
    /// Whether any two elements of one type have different bits.
    pub(super) other_bits: bool,
    /// The largest difference.
    pub(super) largest: f64,
    pub(super) farthest: Option<Farthest>,
    /// ⟨A, A⟩, ⟨B, B⟩, ⟨A − B, A − B⟩ and ⟨A, B⟩ over the cells that are finite on both sides.
    pub(super) a: Sum,
    pub(super) b: Sum,
    pub(super) apart: Sum,
    pub(super) inner: Sum,
}

/// Whether a difference is worse than another.
pub(super) fn is_worse(size: f64, other: f64) -> bool {
    size > other || size.is_nan() && !other.is_nan()
}

impl Tally {
    /// Whether a changed cell with difference `size` would be the worst.
    pub(super) fn is_farthest(&self, size: f64) -> bool {
        let known = self.farthest.as_ref();
        known.is_none_or(|known| is_worse(size, known.size))
    }

    /// Adds the totals of later cells.
    pub(super) fn merge(&mut self, later: Tally) {
        for (own, later) in [
            (&mut self.unequal, later.unequal),
            (&mut self.changed, later.changed),
            (&mut self.nan_a, later.nan_a),
            (&mut self.nan_b, later.nan_b),
            (&mut self.nan_both, later.nan_both),
            (&mut self.infinite, later.infinite),
        ] {
            *own = own.saturating_add(later);
        }
        self.other_bits |= later.other_bits;
        if is_worse(later.largest, self.largest) {
            self.largest = later.largest;
        }
        if let Some(farthest) = later.farthest.filter(|next| self.is_farthest(next.size)) {
            self.farthest = Some(farthest);
        }
        self.a.merge(later.a);
        self.b.merge(later.b);
        self.apart.merge(later.apart);
        self.inner.merge(later.inner);
    }

    /// ‖A − B‖ / ‖A‖; 0 if both are zero.
    pub(super) fn relative_norm(&self) -> f64 {
        match (self.apart.is_zero(), self.a.is_zero()) {
            (true, _) => 0.0,
            (false, true) => f64::INFINITY,
            (false, false) => self.apart.root_of_ratio(self.a),
        }
    }

    /// ⟨A, B⟩ / (‖A‖ ‖B‖); 1 if both are zero, 0 if one is.
    pub(super) fn cosine(&self) -> f64 {
        match (self.a.is_zero(), self.b.is_zero()) {
            (true, true) => return 1.0,
            (false, false) => {}
            _ => return 0.0,
        }
        if self.apart.is_zero() {
            return 1.0;
        }
        // Near 1 its distance from 1 is computed from the difference, which is known to more
        // digits.
        let (apart, ratio) = (self.relative_norm(), self.b.root_of_ratio(self.a));
        let cosine = if apart < 0.25 {
            1.0 - (apart * apart - (1.0 - ratio) * (1.0 - ratio)) / (2.0 * ratio)
        } else {
            self.inner.over_roots(self.a, self.b)
        };
        cosine.clamp(-1.0, 1.0)
    }
}
