//! Comparison of tensors by position.

use std::ops::ControlFlow;

use super::DiffOptions;
use super::compare_block::{BlockComparer, Room};
use super::sparse::Cells;
use super::tally::Tally;
use super::zip_read::{Side, in_pieces};
use crate::bytes::{Endian, to_u64};
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::tensor::{Order, Storage, Tensor, strides, unravel_in};

/// Position of the worst cell.
pub(super) type Place = Option<Vec<u64>>;

/// Whether sums are required if the tensors are identical.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sums {
    /// Always: they are part of a larger comparison.
    Always,
    /// Only if something differs.
    OfDifferent,
}

/// Compares the cells of two tensors of one shape; `axes` has the dimension of B for each of A's.
pub(super) fn compare_cells(
    a: &Tensor,
    b: &Tensor,
    axes: &[usize],
    how: &DiffOptions,
    sums: Sums,
) -> Result<(Tally, Place)> {
    let (a, b) = (&a.settled(&how.limits)?, &b.settled(&how.limits)?);
    let sizes = a.sizes()?;
    let order = order_of(a, b, axes);
    let tally = match (is_sparse(a), is_sparse(b)) {
        (true, true) => compare_sparse(a, b, axes, order, how)?,
        _ => compare_dense(a, b, axes, order, how, sums)?,
    };
    let place = tally.farthest.as_ref().map(|farthest| {
        let mut index = vec![0; sizes.len()];
        unravel_in(farthest.cell, &sizes, order, &mut index);
        index
    });
    Ok((tally, place))
}

fn is_sparse(tensor: &Tensor) -> bool {
    matches!(tensor.storage(), Storage::Sparse { .. })
}

fn is_straight(axes: &[usize]) -> bool {
    axes.is_sorted()
}

/// The order in which cells are compared: the stored order of one of the tensors, so that little is
/// transposed.
fn order_of(a: &Tensor, b: &Tensor, axes: &[usize]) -> Order {
    let own = |tensor: &Tensor| match tensor.storage() {
        Storage::Dense { order, .. } if !tensor.is_packed() => Some(*order),
        _ => None,
    };
    let others = own(b).filter(|_| is_straight(axes));
    own(a).or(others).unwrap_or(Order::Row)
}

fn compare_dense(
    a: &Tensor,
    b: &Tensor,
    axes: &[usize],
    order: Order,
    how: &DiffOptions,
    sums: Sums,
) -> Result<Tally> {
    let count = a.cells().and_then(|cells| u64::try_from(cells).ok());
    let count = count.ok_or_else(|| Error::invalid("more cells than can be counted"))?;
    let straight: Vec<usize> = (0..axes.len()).collect();
    std::thread::scope(|scope| {
        let side = |tensor, axes| -> Result<Side> {
            Ok(if is_sparse(tensor) {
                let strides = strides_of(a, axes, order)?;
                Side::cells(
                    Cells::of(tensor, strides, &how.limits, scope),
                    tensor.dtype(),
                )
            } else {
                let numbers = view(tensor, axes, order, how)?;
                Side::numbers(numbers, tensor.dtype(), Endian::Little)
            })
        };
        let (left, right) = (side(a, &straight)?, side(b, axes)?);
        let are_at_hand = !left.is_computed() && !right.is_computed();
        if sums == Sums::OfDifferent && a.dtype() == b.dtype() && are_at_hand {
            let (left, right) = (view(a, &straight, order, how)?, view(b, axes, order, how)?);
            if are_identical(&left, &right, a.dtype())? {
                return Ok(Tally::default());
            }
        }
        tally(left, right, count, a.dtype(), b.dtype(), how)
    })
}

/// The values with the dimensions in A's order.
fn view(tensor: &Tensor, axes: &[usize], order: Order, how: &DiffOptions) -> Result<Numbers> {
    if is_straight(axes) {
        return tensor.dense(order, &how.limits);
    }
    let mut axes = axes.to_vec();
    if order == Order::Column {
        axes.reverse();
    }
    tensor.permuted(&axes, &how.limits)
}

/// Strides of A's numbering of cells along each dimension of a tensor; `axes` has its dimension for
/// each of A's.
fn strides_of(a: &Tensor, axes: &[usize], order: Order) -> Result<Vec<u64>> {
    let own = strides(&a.sizes()?, order);
    let mut moved = vec![0; own.len()];
    for (axis, stride) in axes.iter().zip(own) {
        if let Some(place) = moved.get_mut(*axis) {
            *place = stride;
        }
    }
    Ok(moved)
}

/// Whether two arrays of one type are equal bit for bit.
pub(super) fn are_identical(a: &Numbers, b: &Numbers, dtype: DType) -> Result<bool> {
    if a.bytes.len() != b.bytes.len() {
        return Ok(false);
    }
    let count = a.bytes.len() / to_u64(dtype.width().max(1));
    // Numbers of the same byte order are compared without swapping.
    let (left, right) = (
        Side::numbers(a.clone(), dtype, a.endian),
        Side::numbers(b.clone(), dtype, a.endian),
    );
    let mut is_same = true;
    let fold = |same: bool| {
        is_same &= same;
        if same {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    in_pieces(left, right, count, |(), _, a, b| a == b, fold)?;
    Ok(is_same)
}

/// Compares two arrays, element by element.
pub(super) fn tally(
    a: Side,
    b: Side,
    count: u64,
    a_type: DType,
    b_type: DType,
    how: &DiffOptions,
) -> Result<Tally> {
    let judge = BlockComparer::new(a_type, b_type, &how.tolerance);
    let mut all = Tally::default();
    let look = |room: &mut Room, first, a: &[u8], b: &[u8]| judge.tally(room, first, a, b);
    in_pieces(a, b, count, look, |tally| {
        all.merge(tally);
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// Compares the cells that either of two sparse tensors has; all others are zero in both.
fn compare_sparse(
    a: &Tensor,
    b: &Tensor,
    axes: &[usize],
    order: Order,
    how: &DiffOptions,
) -> Result<Tally> {
    /// Cells compared at a time.
    const BATCH: usize = 8192;
    let judge = BlockComparer::new(a.dtype(), b.dtype(), &how.tolerance);
    let (mut room, mut all) = (Room::default(), Tally::default());
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut indices = Vec::new();
    let own = strides(&a.sizes()?, order);
    let others = strides_of(a, axes, order)?;
    std::thread::scope(|scope| {
        let mut a = Cells::of(a, own, &how.limits, scope);
        let mut b = Cells::of(b, others, &how.limits, scope);
        loop {
            let next = [a.next_index()?, b.next_index()?];
            let next = next.into_iter().flatten().min();
            if let Some(index) = next {
                a.take(index, &mut left);
                b.take(index, &mut right);
                indices.push(index);
            }
            if indices.len() < BATCH && next.is_some() {
                continue;
            }
            let mut tally = judge.tally(&mut room, 0, &left, &right);
            if let Some(farthest) = &mut tally.farthest {
                let place = usize::try_from(farthest.cell).unwrap_or(usize::MAX);
                farthest.cell = indices.get(place).copied().unwrap_or(0);
            }
            all.merge(tally);
            left.clear();
            right.clear();
            indices.clear();
            if next.is_none() {
                return Ok(all);
            }
        }
    })
}
