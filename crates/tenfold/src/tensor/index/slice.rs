//! Slices and boxes: parts of a tensor by position.

use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result};
use crate::tensor::dim::product;
use crate::tensor::storage::Order;

/// A slice of one dimension: `count` indices from `start`, `step` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// The first index.
    pub start: u64,
    /// The number of indices.
    pub count: u64,
    /// The step; may be negative.
    pub step: i64,
}

impl Slice {
    /// All of a dimension.
    #[must_use]
    pub fn all(size: u64) -> Slice {
        Slice {
            start: 0,
            count: size,
            step: 1,
        }
    }

    /// One index.
    #[must_use]
    pub fn one(place: u64) -> Slice {
        Slice {
            start: place,
            count: 1,
            step: 1,
        }
    }

    /// Consecutive indices.
    #[must_use]
    pub fn range(range: std::ops::Range<u64>) -> Slice {
        Slice {
            start: range.start,
            count: range.end.saturating_sub(range.start),
            step: 1,
        }
    }

    /// The index of item `item`.
    pub(crate) fn place(self, item: u64) -> Option<u64> {
        let moved = i128::from(self.step)
            .checked_mul(item.into())?
            .checked_add(self.start.into())?;
        u64::try_from(moved).ok()
    }

    /// The item at an index, if the slice has it.
    pub(crate) fn item(self, place: u64) -> Option<u64> {
        if self.count == 1 {
            return (place == self.start).then_some(0);
        }
        let moved = i128::from(place) - i128::from(self.start);
        let step = i128::from(self.step);
        if step == 0 || moved % step != 0 {
            return None;
        }
        u64::try_from(moved / step)
            .ok()
            .filter(|item| *item < self.count)
    }

    /// Checks that the slice is inside a dimension.
    pub(crate) fn check(self, size: u64) -> Result<()> {
        let outside = || {
            let Slice { start, count, step } = self;
            Error::invalid(format!(
                "{count} places from {start} by {step} do not lie inside a dimension of size {size}"
            ))
        };
        let Some(last) = self.count.checked_sub(1) else {
            return Ok(());
        };
        if self.step == 0 && last > 0 {
            return Err(outside());
        }
        let last = self.place(last).ok_or_else(outside)?;
        if self.start < size && last < size {
            Ok(())
        } else {
            Err(outside())
        }
    }
}

/// A box inside a box, as a box of the whole.
pub(crate) fn within(outer: &[Slice], inner: &[Slice]) -> Result<Vec<Slice>> {
    let compose = |(outer, inner): (&Slice, &Slice)| {
        Some(Slice {
            start: match inner.count {
                0 => 0,
                _ => outer.place(inner.start)?,
            },
            count: inner.count,
            step: match inner.count {
                0 | 1 => 1,
                _ => outer.step.checked_mul(inner.step)?,
            },
        })
    };
    let composed: Option<Vec<Slice>> = outer.iter().zip(inner).map(compose).collect();
    composed.ok_or_else(|| Error::invalid("a slice of a slice does not lie inside"))
}

/// The length of a box in bytes, with cells of `width` bytes.
pub(crate) fn box_len(slices: &[Slice], width: usize) -> Result<usize> {
    let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
    product(&counts)
        .and_then(|cells| cells.checked_mul(to_u64(width).into()))
        .and_then(|len| usize::try_from(len).ok())
        .ok_or_else(|| Error::invalid("the slice has more cells than memory"))
}

/// Splits a range of cells, counted row-major, into consecutive boxes.
pub(crate) fn boxes(sizes: &[u64], from: u64, to: u64) -> Vec<Vec<Slice>> {
    let mut found = Vec::new();
    cut(&mut Vec::new(), sizes, from, to, &mut found);
    found
}

fn cut(outer: &mut Vec<Slice>, sizes: &[u64], from: u64, to: u64, found: &mut Vec<Vec<Slice>>) {
    let Some((size, inner)) = sizes.split_first() else {
        if from < to {
            found.push(outer.clone());
        }
        return;
    };
    let cells = product(inner)
        .and_then(|cells| u64::try_from(cells).ok())
        .unwrap_or(u64::MAX);
    if from >= to || cells == 0 {
        return;
    }
    let mut at = from;
    while at < to {
        let place = at / cells;
        let whole = (to / cells).saturating_sub(place);
        if at.is_multiple_of(cells) && whole > 0 {
            let places = place..place.saturating_add(whole).min(*size);
            let mut slices = outer.clone();
            slices.push(Slice::range(places));
            slices.extend(inner.iter().map(|size| Slice::all(*size)));
            found.push(slices);
            at = at.saturating_add(whole.saturating_mul(cells));
        } else {
            let first = place.saturating_mul(cells);
            let end = to.min(first.saturating_add(cells));
            outer.push(Slice::one(place));
            cut(outer, inner, at - first, end - first, found);
            outer.pop();
            at = end;
        }
    }
}

/// The index of cell number `cell`, counted in `order`; false if there is no such cell.
pub(crate) fn unravel_in(cell: u64, sizes: &[u64], order: Order, index: &mut [u64]) -> bool {
    let mut rest = cell;
    let mut split = |(place, size): (&mut u64, &u64)| {
        if *size > 0 {
            *place = rest % size;
            rest /= size;
        }
    };
    match order {
        Order::Column => index.iter_mut().zip(sizes).for_each(&mut split),
        Order::Row => index.iter_mut().zip(sizes).rev().for_each(&mut split),
    }
    rest == 0 && !sizes.contains(&0)
}

/// The number of the cell at `index`, counted in `order`.
pub(crate) fn ravel_in(index: &[u64], sizes: &[u64], order: Order) -> u64 {
    let add =
        |sum: u64, (place, size): (&u64, &u64)| sum.saturating_mul(*size).saturating_add(*place);
    match order {
        Order::Column => index.iter().zip(sizes).rev().fold(0, add),
        Order::Row => index.iter().zip(sizes).fold(0, add),
    }
}

/// The position of the cell at `index` in a row-major box, if it is inside.
pub(crate) fn place_in_box(slices: &[Slice], index: &[u64]) -> Result<Option<usize>> {
    let mut place = 0_u64;
    for (slice, index) in slices.iter().zip(index) {
        let Some(item) = slice.item(*index) else {
            return Ok(None);
        };
        place = place.saturating_mul(slice.count).saturating_add(item);
    }
    to_usize(place).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_tile_every_range_in_order() {
        let sizes = [3, 2, 4];
        for from in 0..=24 {
            for to in from..=24 {
                let mut cells = Vec::new();
                for slices in boxes(&sizes, from, to) {
                    let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
                    let mut item = vec![0; 3];
                    for cell in 0..counts.iter().product() {
                        unravel_in(cell, &counts, Order::Row, &mut item);
                        let at: Vec<u64> = slices
                            .iter()
                            .zip(&item)
                            .map(|(s, i)| s.place(*i).unwrap())
                            .collect();
                        cells.push((at[0] * 2 + at[1]) * 4 + at[2]);
                    }
                }
                assert_eq!(cells, (from..to).collect::<Vec<_>>(), "{from}..{to}");
            }
        }
    }

    #[test]
    fn a_scalar_is_one_box() {
        assert_eq!(boxes(&[], 0, 1), [Vec::<Slice>::new()]);
    }

    #[test]
    fn a_slice_must_lie_inside_its_dimension() {
        assert!(
            Slice {
                start: 4,
                count: 5,
                step: -1
            }
            .check(5)
            .is_ok()
        );
        assert!(
            Slice {
                start: 4,
                count: 6,
                step: -1
            }
            .check(5)
            .is_err()
        );
        assert!(
            Slice {
                start: 0,
                count: 3,
                step: 2
            }
            .check(5)
            .is_ok()
        );
        assert!(
            Slice {
                start: 0,
                count: 4,
                step: 2
            }
            .check(5)
            .is_err()
        );
        assert!(
            Slice {
                start: 9,
                count: 0,
                step: 2
            }
            .check(5)
            .is_ok()
        );
    }
}
