//! Measures of the differences of two tensors.

use super::tally::Tally;

/// Measures of the differences between the values of two tensors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Measures {
    /// The number of elements compared.
    pub cells: u128,
    /// The number of elements that are not equal as numbers.
    pub unequal: u64,
    /// The number of those outside the tolerance.
    pub changed: u64,
    /// Changed elements with a NaN in A only.
    pub nan_a: u64,
    /// Changed elements with a NaN in B only.
    pub nan_b: u64,
    /// Changed elements with NaNs of different bits on both sides.
    pub nan_both: u64,
    /// Other changed elements that are not finite on both sides.
    pub infinite: u64,
    /// The largest |A − B|: NaN if a changed element has a NaN.
    pub largest: f64,
    /// ‖A‖ over the elements that are finite on both sides, as for all that follow.
    pub norm_a: f64,
    /// ‖B‖.
    pub norm_b: f64,
    /// ‖A − B‖ / ‖A‖: 0 if both are zero, infinite if only A is.
    pub relative_norm: f64,
    /// ⟨A, B⟩ / (‖A‖ ‖B‖), its real part: 1 if both are zero, 0 if only one is.
    pub cosine: f64,
    /// The changed element with the largest difference.
    pub worst: Option<Worst>,
}

/// A pair of different elements.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Worst {
    /// The labels of its block, one per mapped dimension of A.
    pub labels: Vec<String>,
    /// Its index, one number per indexed dimension of A; for trains compared by their cores, the
    /// core and the position in it.
    pub index: Vec<u64>,
    /// The difference; NaN if one has a NaN.
    pub apart: f64,
    /// A's element, little-endian.
    pub a: Vec<u8>,
    /// B's element, little-endian.
    pub b: Vec<u8>,
}

impl Measures {
    pub(super) fn of(
        tally: Tally,
        cells: u128,
        place: Option<(Vec<String>, Vec<u64>)>,
    ) -> Measures {
        let (relative_norm, cosine) = (tally.relative_norm(), tally.cosine());
        let farthest = tally.farthest.zip(place);
        let worst = farthest.map(|(farthest, (labels, index))| Worst {
            labels,
            index,
            apart: farthest.size,
            a: farthest.a,
            b: farthest.b,
        });
        Measures {
            cells,
            unequal: tally.unequal,
            changed: tally.changed,
            nan_a: tally.nan_a,
            nan_b: tally.nan_b,
            nan_both: tally.nan_both,
            infinite: tally.infinite,
            largest: tally.largest,
            norm_a: tally.a.root(),
            norm_b: tally.b.root(),
            relative_norm,
            cosine,
            worst,
        }
    }
}
