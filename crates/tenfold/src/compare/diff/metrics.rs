//! The differences of two tensors in numbers.

use super::tally::Tally;

/// How far apart the values of two tensors are.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Measures {
    /// How many elements were compared.
    pub cells: u128,
    /// How many are not equal as numbers.
    pub unequal: u64,
    /// How many of those the tolerance does not excuse.
    pub changed: u64,
    /// Changed elements of which only A's has a NaN.
    pub nan_a: u64,
    /// Changed elements of which only B's has a NaN.
    pub nan_b: u64,
    /// Changed elements that have a NaN on both sides, with other bits.
    pub nan_both: u64,
    /// Other changed elements that are not finite on both sides.
    pub infinite: u64,
    /// The largest |A − B|: NaN if a changed element has a NaN.
    pub largest: f64,
    /// ‖A‖ over the elements that are finite on both sides, as are all that follow.
    pub norm_a: f64,
    /// ‖B‖.
    pub norm_b: f64,
    /// ‖A − B‖ / ‖A‖: 0 if both are zero, infinite if only A is.
    pub relative_norm: f64,
    /// ⟨A, B⟩ / (‖A‖ ‖B‖), its real part: 1 if both are zero, 0 if only one is.
    pub cosine: f64,
    /// The changed element that differs most.
    pub worst: Option<Worst>,
}

/// Two elements that differ.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Worst {
    /// The labels of its block, one a mapped dimension of A.
    pub labels: Vec<String>,
    /// Its index, one number an indexed dimension of A; in trains that were compared by their
    /// cores the core, then the place in it.
    pub index: Vec<u64>,
    /// How far apart they are; NaN if one has a NaN.
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
