//! Boxes out of values that are all there.

use super::slice::Slice;
use super::storage::Order;
use crate::bytes::{Bytes, Pages, narrow, wide};
use crate::error::{Error, Result};

/// One dimension of a box.
#[derive(Debug, Clone, Copy)]
struct Axis {
    slice: Slice,
    size: u64,
    /// How many elements apart neighbours are stored.
    stored: u64,
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

/// Fills `out` with a box of values whose sizes are given slowest first, laid out as it is stored.
/// The slices lie inside.
///
/// Reads stored runs that are as long as the box allows.
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
    // Dimensions of size 1 take no part.
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
        len = len.saturating_mul(narrow(axis.slice.count)?);
    }
    let mut pages = Pages::new(bytes.clone());
    let mut runs = out.chunks_exact_mut(len);
    each_run(outer, start, &mut |cell| {
        let run = runs.next().ok_or_else(outside)?;
        pages.read_through(cell.saturating_mul(wide(width)), run)
    })
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

fn outside() -> Error {
    Error::invalid("a slice does not lie inside its tensor")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{Endian, Threads};
    use crate::number::{DType, Number, Numbers};
    use crate::tensor::relayout::Stored;
    use crate::tensor::slice::{box_len, unravel_in};

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
