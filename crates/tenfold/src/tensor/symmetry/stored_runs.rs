//! The stored cells of a packed tensor, as runs along its first dimension.
//!
//! The distance from a cell to its image under a symmetry, as a difference of global indices, is a
//! linear function of the cell's index. A cell is stored if none of its images comes before it, so
//! that no such distance is negative. Along a line of the first dimension each of these conditions
//! bounds the index from one side, so that the stored cells of a line are one run: they are found
//! without visiting every cell.

use std::ops::Range;

use super::Operation;
use super::group::{Group, advance};
use crate::bytes::to_u64;
use crate::tensor::index::slice::Slice;

/// The lines of a tensor whose cells are packed by a group.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    sizes: Vec<u64>,
    pub(crate) images: Vec<Image>,
}

/// One element of the group.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    /// The index in each place.
    pub(crate) permutation: Vec<usize>,
    /// The operation on the value.
    pub(crate) operation: Operation,
    /// The change of the distance to the image, for a step along each dimension.
    pub(crate) slopes: Vec<i64>,
    /// The least distance from a stored cell to its image: 1 for plain negation, as a cell that is
    /// its own image is then zero and not stored.
    least: i64,
    /// Whether it affects which cells are stored: an element that moves no cell may not.
    is_moved: bool,
}

impl Lines {
    /// `None` if signed global indices would overflow.
    pub(crate) fn of(group: &Group, sizes: &[u64]) -> Option<Lines> {
        let mut strides = Vec::with_capacity(sizes.len());
        let mut cells = 1_i64;
        for size in sizes {
            strides.push(cells);
            cells = cells.checked_mul(i64::try_from(*size).ok()?)?;
        }
        let images = group.elements().iter().map(|(permutation, operation)| {
            let mut slopes: Vec<i64> = strides.iter().map(|stride| -stride).collect();
            for (place, stride) in permutation.iter().zip(&strides) {
                let slope = slopes.get_mut(*place)?;
                *slope = slope.checked_add(*stride)?;
            }
            Some(Image {
                permutation: permutation.clone(),
                operation: *operation,
                is_moved: operation.is_minus() || slopes.iter().any(|slope| *slope != 0),
                slopes,
                least: operation.is_minus().into(),
            })
        });
        Some(Lines {
            sizes: sizes.to_vec(),
            images: images.collect::<Option<Vec<Image>>>()?,
        })
    }

    /// The stored cells of the line through `index`, as a range of its first index.
    pub(crate) fn stored(&self, index: &[u64]) -> Range<u64> {
        let size = self.sizes.first().copied().unwrap_or(1);
        let (mut start, mut end) = (0, i64::try_from(size).unwrap_or(i64::MAX));
        for image in self.images.iter().filter(|image| image.is_moved) {
            let slope = image.slopes.first().copied().unwrap_or(0);
            let lacking = image.least.saturating_sub(image.farther(index, 1));
            if slope > 0 {
                start = start.max(ceiling(lacking, slope));
            } else if slope < 0 {
                let last = ceiling(lacking.saturating_neg().saturating_add(1), -slope);
                end = end.min(last);
            } else if lacking > 0 {
                end = 0;
            }
        }
        let place = |signed: i64| u64::try_from(signed).unwrap_or(0);
        place(start)..place(end.max(start))
    }

    /// All lines in ascending order, each as the run of its stored cells by their global index.
    pub(crate) fn runs(&self) -> Runs<'_> {
        let is_empty = self.sizes.contains(&0);
        Runs {
            lines: self,
            index: (!is_empty).then(|| vec![0; self.sizes.len()]),
            first: 0,
        }
    }

    /// [`Lines::runs`] without empty ones, and with adjacent ones merged.
    pub(crate) fn joined_runs(&self) -> impl Iterator<Item = Range<u64>> {
        let mut runs = self.runs().filter(|run| !run.is_empty()).peekable();
        std::iter::from_fn(move || {
            let mut run = runs.next()?;
            while let Some(next) = runs.next_if(|next| next.start == run.end) {
                run.end = next.end;
            }
            Some(run)
        })
    }

    /// For each line, the number that, added (wrapping) to the first index of a stored cell, gives
    /// the number of that cell among all stored ones.
    pub(crate) fn offsets(&self) -> Vec<u64> {
        let mut offsets = Vec::new();
        let (mut before, mut first) = (0_u64, 0_u64);
        let size = self.sizes.first().copied().unwrap_or(1);
        for run in self.runs() {
            let start = run.start.saturating_sub(first);
            offsets.push(before.wrapping_sub(start));
            before = before.saturating_add(run.end.saturating_sub(run.start));
            first = first.saturating_add(size);
        }
        offsets
    }

    /// Sorts the group elements by their operation.
    pub(crate) fn sort_images<K: Ord>(&mut self, key: impl Fn(Operation) -> K) {
        self.images.sort_by_key(|image| key(image.operation));
    }

    /// How many cells of a box are stored: none, some or all.
    pub(crate) fn coverage(&self, places: &[Range<u64>]) -> Coverage {
        let mut coverage = Coverage::All;
        for image in &self.images {
            let (least, most) = image.bounds(places);
            if most < image.least {
                return Coverage::None;
            }
            if least < image.least {
                coverage = Coverage::Some;
            }
        }
        coverage
    }

    /// The number of lines.
    pub(crate) fn count(&self) -> u64 {
        let others = self.sizes.iter().skip(1);
        others.fold(1, |count: u64, size| count.saturating_mul(*size))
    }
}

/// The stored share of the cells of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    None,
    /// Possibly none or all.
    Some,
    All,
}

/// The part of a line that lies in a box.
pub(crate) struct Part {
    /// Its range along the line.
    pub(crate) places: Range<u64>,
    /// The box cell of its first cell.
    pub(crate) at: u64,
    /// The stride in the box from one of its cells to the next.
    pub(crate) step: u64,
}

impl Image {
    /// The part of the image of a run in the line through `index` that lies in a box without steps,
    /// whose cells have the given strides.
    pub(crate) fn part_in(
        &self,
        index: &[u64],
        places: &Range<u64>,
        slices: &[Slice],
        strides: &[u64],
    ) -> Option<Part> {
        let mut part = Part {
            places: places.clone(),
            at: 0,
            step: 1,
        };
        for ((from, slice), stride) in self.permutation.iter().zip(slices).zip(strides) {
            let end = slice.start.saturating_add(slice.count);
            let place = match from {
                0 => {
                    part.step = *stride;
                    let start = places.start.max(slice.start);
                    part.places = start..places.end.min(end);
                    start
                }
                _ => index.get(*from).copied().unwrap_or(0),
            };
            if place < slice.start || place >= end {
                return None;
            }
            let item = place.saturating_sub(slice.start);
            part.at = part.at.saturating_add(item.saturating_mul(*stride));
        }
        (part.places.start < part.places.end).then_some(part)
    }

    /// The distance from a cell to its image, without the dimensions before `from`.
    pub(crate) fn farther(&self, index: &[u64], from: usize) -> i64 {
        let places = index.iter().zip(&self.slopes).skip(from);
        places.fold(0, |sum: i64, (place, slope)| {
            // The number of cells fits an `i64`, and an index is smaller.
            let place = i64::try_from(*place).unwrap_or(i64::MAX);
            sum.saturating_add(slope.saturating_mul(place))
        })
    }
}

impl Image {
    /// Lower and upper bounds of the distance from the cells of a box to their images.
    fn bounds(&self, places: &[Range<u64>]) -> (i64, i64) {
        let mut bounds = (0_i64, 0_i64);
        for (places, slope) in places.iter().zip(&self.slopes) {
            let first = i64::try_from(places.start).unwrap_or(i64::MAX);
            let last = i64::try_from(places.end.saturating_sub(1)).unwrap_or(i64::MAX);
            let ends = [first, last].map(|place| slope.saturating_mul(place));
            let [one, other] = ends;
            bounds.0 = bounds.0.saturating_add(one.min(other));
            bounds.1 = bounds.1.saturating_add(one.max(other));
        }
        bounds
    }
}

/// The quotient by a positive denominator, rounded up.
fn ceiling(number: i64, by: i64) -> i64 {
    let down = number.div_euclid(by);
    down.saturating_add(i64::from(number.rem_euclid(by) != 0))
}

/// See [`Lines::runs`].
pub(crate) struct Runs<'a> {
    lines: &'a Lines,
    /// The first cell of the next line.
    index: Option<Vec<u64>>,
    /// Its global index.
    first: u64,
}

impl Iterator for Runs<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        let index = self.index.as_mut()?;
        let places = self.lines.stored(index);
        let run = self.first.saturating_add(places.start)..self.first.saturating_add(places.end);
        let size = self.lines.sizes.first().copied().unwrap_or(1);
        self.first = self.first.saturating_add(size);
        let others = index.get_mut(1..).unwrap_or_default();
        if !advance(others, self.lines.sizes.get(1..).unwrap_or_default()) {
            self.index = None;
        }
        Some(run)
    }
}

/// Hands out the stored parts of a piece of all cells; `run` is the next run.
pub(crate) fn stored_parts<'a>(
    run: &mut Option<Range<u64>>,
    runs: &mut impl Iterator<Item = Range<u64>>,
    first: u64,
    piece: &'a [u8],
    width: usize,
    each: &mut dyn FnMut(&'a [u8]) -> crate::error::Result<()>,
) -> crate::error::Result<()> {
    let end = first.saturating_add(to_u64(piece.len() / width.max(1)));
    let at = |cell: u64| {
        let cell = usize::try_from(cell.saturating_sub(first)).unwrap_or(usize::MAX);
        cell.saturating_mul(width).min(piece.len())
    };
    while let Some(now) = run.clone() {
        let (from, to) = (now.start.max(first), now.end.min(end));
        if from < to {
            each(piece.get(at(from)..at(to)).unwrap_or_default())?;
        }
        if now.end > end {
            break;
        }
        *run = runs.next();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::{DType, Number};
    use crate::limits::Limits;
    use crate::tensor::Symmetry;

    #[test]
    fn runs_are_the_cells_that_a_walk_visits() {
        let cases: [(&[u64], &[usize]); 9] = [
            (&[4, 4], &[1, 0]),
            (&[1, 1], &[1, 0]),
            (&[5, 3, 3], &[0, 2, 1]),
            (&[3, 2, 3, 2], &[2, 1, 0, 3]),
            (&[3, 2, 3, 2], &[2, 3, 0, 1]),
            (&[4, 4, 4], &[1, 2, 0]),
            (&[4, 4, 4], &[2, 0, 1]),
            (&[3, 3, 3, 3], &[1, 2, 3, 0]),
            (&[3, 0, 3], &[2, 1, 0]),
        ];
        for (sizes, permutation) in cases {
            for operation in ["x", "-x", "x*", "-x*"] {
                let symmetry = Symmetry {
                    permutation: permutation.to_vec(),
                    operation: operation.into(),
                    packed: true,
                };
                let dtype = DType::complex(Number::F32);
                let limits = Limits::default();
                let group = Group::generate(sizes, dtype, &[symmetry], |_| true, &limits).unwrap();
                let mut walked = Vec::new();
                group
                    .walk(&mut |index, _| {
                        walked.push(group.global(index));
                        Ok(())
                    })
                    .unwrap();
                let lines = Lines::of(&group, sizes).unwrap();
                let runs: Vec<u64> = lines.runs().flatten().collect();
                assert_eq!(runs, walked, "{sizes:?} {permutation:?} {operation}");
                let joined: Vec<Range<u64>> = lines.joined_runs().collect();
                assert!(
                    joined
                        .iter()
                        .zip(joined.iter().skip(1))
                        .all(|(run, next)| run.end < next.start)
                );
                let joined: Vec<u64> = joined.into_iter().flatten().collect();
                assert_eq!(joined, walked, "{sizes:?} {permutation:?} {operation}");
                assert_eq!(to_u64(lines.offsets().len()), lines.count());
            }
        }
    }

    #[test]
    fn pieces_may_end_anywhere_in_a_run() {
        let group = Group::generate(
            &[4, 4],
            DType::real(Number::U8),
            &[Symmetry {
                permutation: vec![1, 0],
                operation: "x".into(),
                packed: true,
            }],
            |_| true,
            &Limits::default(),
        );
        let lines = Lines::of(&group.unwrap(), &[4, 4]).unwrap();
        let all: Vec<u8> = (0..16).collect();
        for len in 1..16 {
            let mut runs = lines.joined_runs();
            let mut run = runs.next();
            let (mut found, mut first) = (Vec::new(), 0);
            for piece in all.chunks(len) {
                stored_parts(&mut run, &mut runs, first, piece, 1, &mut |part| {
                    found.extend_from_slice(part);
                    Ok(())
                })
                .unwrap();
                first += to_u64(piece.len());
            }
            assert_eq!(found, [0, 1, 2, 3, 5, 6, 7, 10, 11, 15]);
        }
    }
}
