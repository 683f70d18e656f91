//! Partition of a tensor into consecutive boxes.

use std::ops::Range;

use crate::tensor::dim::product;

/// A partition of all cells into boxes of about equal size, in row-major order: one index of each
/// outer dimension, a range of one dimension, and the inner dimensions in full.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    sizes: Vec<u64>,
    /// The dimension that is cut into ranges.
    cut: usize,
    /// Length of the ranges, except for the last.
    len: u64,
    /// Number of cells per index of it.
    inner: u64,
}

impl Grid {
    /// Boxes of at most `most` cells, but at least one. The number of all cells must be a `u64`.
    pub(super) fn new(sizes: &[u64], most: u64) -> Grid {
        let mut cut = 0;
        let mut inner = cells(sizes.get(1..).unwrap_or_default());
        while inner > most.max(1) && cut + 1 < sizes.len() {
            cut += 1;
            inner = cells(sizes.get(cut + 1..).unwrap_or_default());
        }
        let size = sizes.get(cut).copied().unwrap_or(1);
        let most = (most / inner.max(1)).clamp(1, size.max(1));
        Grid {
            sizes: sizes.to_vec(),
            cut,
            // As few boxes as needed, none much smaller than the others.
            len: size.max(1).div_ceil(size.max(1).div_ceil(most)),
            inner,
        }
    }

    fn size(&self) -> u64 {
        self.sizes.get(self.cut).copied().unwrap_or(1)
    }

    /// Number of boxes per index of the outer dimensions.
    fn a_place(&self) -> u64 {
        self.size().div_ceil(self.len)
    }

    /// The number of boxes.
    pub(super) fn count(&self) -> u64 {
        if self.sizes.contains(&0) {
            return 0;
        }
        let outer = cells(self.sizes.get(..self.cut).unwrap_or_default());
        outer.saturating_mul(self.a_place())
    }

    /// The number of the box that contains a cell.
    pub(super) fn holding(&self, cell: u64) -> u64 {
        let places = cell / self.inner.max(1);
        let (outer, place) = (places / self.size().max(1), places % self.size().max(1));
        outer
            .saturating_mul(self.a_place())
            .saturating_add(place / self.len)
    }

    /// The range of cells of a box.
    pub(super) fn cells(&self, number: u64) -> Range<u64> {
        let (outer, part) = (
            number / self.a_place().max(1),
            number % self.a_place().max(1),
        );
        let first = part.saturating_mul(self.len);
        let end = first.saturating_add(self.len).min(self.size());
        let start = outer.saturating_mul(self.size());
        start.saturating_add(first).saturating_mul(self.inner)
            ..start.saturating_add(end).saturating_mul(self.inner)
    }

    /// The range of a box along each dimension.
    pub(super) fn ranges(&self, number: u64) -> Vec<Range<u64>> {
        let (mut outer, part) = (
            number / self.a_place().max(1),
            number % self.a_place().max(1),
        );
        let mut ranges: Vec<Range<u64>> = self.sizes.iter().map(|size| 0..*size).collect();
        if let Some(range) = ranges.get_mut(self.cut) {
            let first = part.saturating_mul(self.len);
            *range = first..first.saturating_add(self.len).min(range.end);
        }
        for range in ranges.iter_mut().take(self.cut).rev() {
            let size = range.end.max(1);
            *range = outer % size..outer % size + 1;
            outer /= size;
        }
        ranges
    }
}

/// The number of cells; the caller knows that it is a `u64`.
pub(super) fn cells(sizes: &[u64]) -> u64 {
    product(sizes)
        .and_then(|cells| u64::try_from(cells).ok())
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_follow_each_other_and_hold_all_cells() {
        for sizes in [
            &[][..],
            &[7],
            &[3, 5],
            &[2, 1, 4, 3],
            &[1, 6, 1],
            &[4, 0, 2],
        ] {
            for most in 0..30 {
                let grid = Grid::new(sizes, most);
                let mut next = 0;
                for number in 0..grid.count() {
                    let found = grid.cells(number);
                    assert_eq!(found.start, next, "{sizes:?} by {most}");
                    assert!(found.end - found.start <= most.max(1));
                    let counts: Vec<u64> = grid
                        .ranges(number)
                        .iter()
                        .map(|range| range.end - range.start)
                        .collect();
                    assert_eq!(cells(&counts), found.end - found.start);
                    assert!(found.clone().all(|cell| grid.holding(cell) == number));
                    next = found.end;
                }
                assert_eq!(next, cells(sizes));
            }
        }
    }
}
