//! Boxes out of values that are all there.

use super::slice::Slice;
use super::storage::Order;
use crate::bytes::{Bytes, PIECE, Pages, narrow, wide};
use crate::error::{Error, Result};

/// One dimension of a box, as seen from the stored values and from the box.
#[derive(Debug, Clone, Copy)]
struct Axis {
    slice: Slice,
    size: u64,
    /// How many elements apart neighbours are stored.
    stored: u64,
    /// How many elements apart neighbours are in the box.
    boxed: u64,
}

/// Elements apart, along each dimension.
pub(crate) fn strides(sizes: &[u64], order: Order) -> Vec<u64> {
    let mut next = 1_u64;
    let mut step = |size: &u64| {
        let stride = next;
        next = next.saturating_mul(*size);
        stride
    };
    match order {
        Order::Column => sizes.iter().map(&mut step).collect(),
        Order::Row => {
            let mut reversed: Vec<u64> = sizes.iter().rev().map(&mut step).collect();
            reversed.reverse();
            reversed
        }
    }
}

/// Fills `out` with a box, row-major, as the bytes are stored. The slices lie inside.
///
/// Reads stored runs that are as long as the box allows and spreads them over `out`.
pub(crate) fn read_box(
    bytes: &Bytes,
    width: usize,
    sizes: &[u64],
    order: Order,
    slices: &[Slice],
    out: &mut [u8],
) -> Result<()> {
    read_strided(bytes, width, sizes, &strides(sizes, order), slices, out)
}

/// [`read_box`] of values whose dimensions are stored in any order, without gaps.
pub(crate) fn read_strided(
    bytes: &Bytes,
    width: usize,
    sizes: &[u64],
    stored: &[u64],
    slices: &[Slice],
    out: &mut [u8],
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
    let mut axes: Vec<Axis> = slices
        .iter()
        .zip(sizes)
        .zip(stored.iter().zip(strides(&counts, Order::Row)))
        .map(|((slice, size), (stored, boxed))| Axis {
            slice: *slice,
            size: *size,
            stored: *stored,
            boxed,
        })
        .collect();
    // Dimensions of size 1 take no part; the slowest stored comes first.
    axes.retain(|axis| axis.size != 1);
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.stored));

    let runs = contiguous_tail(&axes);
    let (outer, run) = axes.split_at(runs);
    let mut reader = Reader {
        width,
        run,
        pages: Pages::new(bytes.clone()),
        out,
    };
    reader.outer(outer, 0, 0)
}

/// Where the dimensions begin that together make one stored run.
fn contiguous_tail(axes: &[Axis]) -> usize {
    let mut start = axes.len();
    for axis in axes.iter().rev() {
        if axis.slice.step != 1 && axis.slice.count != 1 {
            break;
        }
        start = start.saturating_sub(1);
        if axis.slice.start != 0 || axis.slice.count != axis.size {
            break;
        }
    }
    start
}

struct Reader<'a> {
    width: usize,
    run: &'a [Axis],
    pages: Pages,
    out: &'a mut [u8],
}

impl Reader<'_> {
    /// Loops over the dimensions outside the run; `stored` and `boxed` are element positions.
    fn outer(&mut self, axes: &[Axis], stored: u64, boxed: u64) -> Result<()> {
        let Some((axis, inner)) = axes.split_first() else {
            return self.run(stored, boxed);
        };
        for item in 0..axis.slice.count {
            let place = axis.slice.place(item).ok_or_else(outside)?;
            let stored = stored.saturating_add(place.saturating_mul(axis.stored));
            let boxed = boxed.saturating_add(item.saturating_mul(axis.boxed));
            self.outer(inner, stored, boxed)?;
        }
        Ok(())
    }

    /// Reads one stored run and spreads it over the box.
    fn run(&mut self, stored: u64, boxed: u64) -> Result<()> {
        let mut start = stored;
        let mut len = 1_u64;
        for axis in self.run {
            start = start.saturating_add(axis.slice.start.saturating_mul(axis.stored));
            len = len.saturating_mul(axis.slice.count);
        }
        let width = wide(self.width);
        let at = start.saturating_mul(width);
        let is_straight = strides_match(self.run);
        let to = narrow(boxed.saturating_mul(width))?;
        if is_straight {
            let len = narrow(len.saturating_mul(width))?;
            let target = self.out.get_mut(to..).and_then(|out| out.get_mut(..len));
            let target = target.ok_or_else(outside)?;
            return self.pages.read_through(at, target);
        }
        self.spread(at, len, boxed)
    }

    fn spread(&mut self, at: u64, len: u64, boxed: u64) -> Result<()> {
        let per_piece = (wide(PIECE) / wide(self.width)).max(1);
        // An odometer over the run, fastest dimension last.
        let mut items = vec![0_u64; self.run.len()];
        let mut place = boxed;
        let mut buffer = Vec::new();
        let mut done = 0_u64;
        while done < len {
            let part = per_piece.min(len.saturating_sub(done));
            buffer.resize(narrow(part.saturating_mul(wide(self.width)))?, 0);
            let from = at.saturating_add(done.saturating_mul(wide(self.width)));
            self.pages.read_through(from, &mut buffer)?;
            for element in buffer.chunks_exact(self.width) {
                let to = narrow(place)?.saturating_mul(self.width);
                let target = self
                    .out
                    .get_mut(to..)
                    .and_then(|out| out.get_mut(..self.width));
                target.ok_or_else(outside)?.copy_from_slice(element);
                for (item, axis) in items.iter_mut().zip(self.run).rev() {
                    *item = item.saturating_add(1);
                    place = place.saturating_add(axis.boxed);
                    if *item < axis.slice.count {
                        break;
                    }
                    place = place.saturating_sub(axis.boxed.saturating_mul(axis.slice.count));
                    *item = 0;
                }
            }
            done = done.saturating_add(part);
        }
        Ok(())
    }
}

/// Whether the elements of a stored run also follow each other in the box.
fn strides_match(run: &[Axis]) -> bool {
    let mut expected = 1_u64;
    run.iter().rev().all(|axis| {
        let matches = axis.boxed == expected || axis.slice.count == 1;
        expected = expected.saturating_mul(axis.slice.count);
        matches
    })
}

fn outside() -> Error {
    Error::invalid("a slice does not lie inside its tensor")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::slice::{box_len, unravel_in};

    /// A tensor of bytes whose values are their column-major or row-major positions.
    fn check(sizes: &[u64], order: Order, slices: &[Slice]) {
        let cells: u64 = sizes.iter().product();
        let bytes = Bytes::memory((0..cells).map(|n| u8::try_from(n).unwrap()).collect());
        let mut out = vec![0; box_len(slices, 1).unwrap()];
        read_box(&bytes, 1, sizes, order, slices, &mut out).unwrap();
        let strides = strides(sizes, order);
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let mut item = vec![0; sizes.len()];
        for (cell, found) in out.iter().enumerate() {
            unravel_in(wide(cell), &counts, Order::Row, &mut item);
            let expected: u64 = slices
                .iter()
                .zip(&item)
                .zip(&strides)
                .map(|((slice, item), stride)| slice.place(*item).unwrap() * stride)
                .sum();
            assert_eq!(
                u64::from(*found),
                expected,
                "{sizes:?} {order:?} {slices:?} cell {cell}"
            );
        }
    }

    #[test]
    fn every_kind_of_slice_gives_its_cells_in_either_order() {
        let choices = |size: u64| {
            vec![
                Slice::all(size),
                Slice::one(size - 1),
                Slice::range(1..size),
                Slice {
                    start: size - 1,
                    count: size,
                    step: -1,
                },
                Slice {
                    start: 0,
                    count: size.div_ceil(2),
                    step: 2,
                },
            ]
        };
        for order in [Order::Row, Order::Column] {
            for first in choices(3) {
                for second in choices(4) {
                    for third in choices(5) {
                        check(&[3, 4, 5], order, &[first, second, third]);
                        check(&[3, 1, 4, 5], order, &[first, Slice::all(1), second, third]);
                    }
                }
            }
        }
    }
}
