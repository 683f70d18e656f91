//! Boxes of dense values, read in stored runs.

use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Pages, Threads, par_for_each};
use crate::tensor::index::slice::{Slice, unravel_in};
use crate::tensor::storage::Order;

/// One dimension of a box.
#[derive(Debug, Clone, Copy)]
struct Axis {
    slice: Slice,
    size: u64,
    /// Stride, in elements as they are stored.
    stored: u64,
}

/// Strides in elements.
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

/// Fills `out` with a box of values in stored order; sizes and slices are given slowest first. The
/// slices must be in bounds.
///
/// Reads stored runs, as long as the box allows.
pub(crate) fn read_stored(
    bytes: &Bytes,
    width: usize,
    sizes: &[u64],
    slices: &[Slice],
    out: &mut [u8],
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let stored = strides(sizes, Order::Row);
    let axes = slices.iter().zip(sizes).zip(stored);
    // Dimensions of size 1 do not matter.
    let axes: Vec<Axis> = { axes }
        .filter(|((_, size), _)| **size != 1)
        .map(|((slice, size), stored)| Axis {
            slice: *slice,
            size: *size,
            stored,
        })
        .collect();
    let (outer, run) = axes.split_at(contiguous_tail(&axes));
    let mut start = 0_u64;
    let mut len = width;
    for axis in run {
        start = start.saturating_add(axis.slice.start.saturating_mul(axis.stored));
        len = len.saturating_mul(to_usize(axis.slice.count)?);
    }
    if are_far_apart(outer, width, len) && bytes.is_plain() && !bytes.source().is_computed() {
        return read_runs(bytes, width, outer, start, len, out);
    }
    let mut pages = Pages::new(bytes.clone());
    let mut runs = out.chunks_exact_mut(len);
    each_run(outer, start, &mut |cell| {
        let run = runs.next().ok_or_else(outside)?;
        pages.read_through(cell.saturating_mul(to_u64(width)), run)
    })
}

/// Whether a read call per run transfers less than reading through the gaps.
fn are_far_apart(outer: &[Axis], width: usize, len: usize) -> bool {
    const FAR: u64 = 4096;
    let steps = outer.iter().rev().find(|axis| axis.slice.count > 1);
    steps.is_some_and(|axis| {
        let step = axis.slice.step.unsigned_abs();
        let apart = step
            .saturating_mul(axis.stored)
            .saturating_mul(to_u64(width));
        apart >= to_u64(len).saturating_add(FAR)
    })
}

/// Reads runs one by one, on several threads.
fn read_runs(
    bytes: &Bytes,
    width: usize,
    outer: &[Axis],
    start: u64,
    len: usize,
    out: &mut [u8],
) -> Result<()> {
    const SHARE: usize = 1 << 9;
    let counts: Vec<u64> = outer.iter().map(|axis| axis.slice.count).collect();
    // A call costs as much as some hundred bytes.
    let threads = Threads::Cores.for_len(out.len().saturating_add((out.len() / len.max(1)) << 8));
    let shares = out.chunks_mut(len.saturating_mul(SHARE)).enumerate();
    let at = |number: u64, index: &mut [u64]| -> Result<u64> {
        unravel_in(number, &counts, Order::Row, index);
        let mut cell = start;
        for (axis, item) in outer.iter().zip(index) {
            let place = axis.slice.place(*item).ok_or_else(outside)?;
            cell = cell.saturating_add(place.saturating_mul(axis.stored));
        }
        Ok(cell.saturating_mul(to_u64(width)))
    };
    par_for_each(threads, shares, |(share, out)| {
        let mut index = vec![0; outer.len()];
        let first = to_u64(share.saturating_mul(SHARE));
        let last = first.saturating_add(to_u64(out.len() / len.max(1)).saturating_sub(1));
        let ends = [at(first, &mut index)?, at(last, &mut index)?];
        announce(bytes, ends, last.saturating_sub(first));
        for (number, run) in (first..).zip(out.chunks_exact_mut(len)) {
            bytes.read_at(at(number, &mut index)?, run)?;
        }
        Ok(())
    })
}

/// Announces read-ahead from the first to the last of some runs, if reading the gaps takes less
/// time than a request per run.
fn announce(bytes: &Bytes, ends: [u64; 2], n_gaps: u64) {
    const NEAR: u64 = 64 << 10;
    let [first, last] = [ends.iter().min(), ends.iter().max()].map(|end| end.map_or(0, |at| *at));
    if last.saturating_sub(first) <= n_gaps.saturating_mul(NEAR) {
        bytes.announce(first..last);
    }
}

/// Calls `each` with the first element of every run.
fn each_run(axes: &[Axis], start: u64, each: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
    let Some((axis, inner)) = axes.split_first() else {
        return each(start);
    };
    for item in 0..axis.slice.count {
        let place = axis.slice.place(item).ok_or_else(outside)?;
        let start = start.saturating_add(place.saturating_mul(axis.stored));
        each_run(inner, start, each)?;
    }
    Ok(())
}

/// The index of the first of the innermost dimensions that together are one stored run.
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

fn outside() -> Error {
    Error::invalid("a slice does not lie inside its tensor")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Endian;
    use crate::dtype::{DType, Number, Numbers};
    use crate::tensor::dense::transpose::Stored;
    use crate::tensor::index::slice::box_len;

    #[test]
    fn runs_that_lie_far_apart_are_read_one_by_one() {
        let sizes = [3, 7, 9001];
        let cell = |index: [u64; 3]| (index[0] * 7 + index[1]) * 9001 + index[2];
        let byte = |cell: u64| u8::try_from(cell % 251).unwrap();
        let bytes = Bytes::memory((0..3 * 7 * 9001).map(byte).collect());
        for (places, step) in [([0, 3, 6], 3), ([6, 4, 2], -2)] {
            let middle = Slice {
                start: places[0],
                count: 3,
                step,
            };
            let slices = [Slice::range(1..3), middle, Slice::range(4000..4005)];
            let mut out = vec![0; 30];
            read_stored(&bytes, 1, &sizes, &slices, &mut out).unwrap();
            let mut wanted = Vec::new();
            for first in 1..3 {
                for second in places {
                    wanted.extend((4000..4005).map(|third| byte(cell([first, second, third]))));
                }
            }
            assert_eq!(out, wanted);
        }
    }

    /// A tensor of bytes whose values are their column-major or row-major positions.
    fn check(sizes: &[u64], order: Order, slices: &[Slice]) {
        let cells: u64 = sizes.iter().product();
        let bytes = Bytes::memory((0..cells).map(|n| u8::try_from(n).unwrap()).collect());
        let mut out = vec![0; box_len(slices, 1).unwrap()];
        let values = Numbers {
            number: Number::U8,
            endian: Endian::Little,
            bytes,
        };
        let axes: Vec<usize> = (0..sizes.len()).collect();
        Stored::new(&values, DType::real(Number::U8), sizes, order, &axes)
            .read_box(slices, 7, Threads::Cores, &mut out)
            .unwrap();
        let strides = strides(sizes, order);
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let mut item = vec![0; sizes.len()];
        for (cell, found) in out.iter().enumerate() {
            unravel_in(to_u64(cell), &counts, Order::Row, &mut item);
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
