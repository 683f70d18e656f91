//! Boxes of stored values, with the dimensions in any order.

use std::ops::Range;

use super::gather::{Axis, Gather, outside};
use super::grid::Grid;
use crate::bytes::{Bytes, Endian, to_u64, to_usize};
use crate::dtype::{DType, Numbers};
use crate::error::Result;
use crate::io::{Threads, par_for_each};
use crate::memory;
use crate::tensor::dense::read_box;
use crate::tensor::dense::read_box::strides;
use crate::tensor::index::slice::{Slice, box_len, within};
use crate::tensor::storage::Order;

/// Dense stored values, viewed with their dimensions in some order.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(super) bytes: Bytes,
    pub(super) width: usize,
    /// Width of the numbers that are big-endian in the file; 1 if they are not.
    reversed: usize,
    /// The sizes in stored order, slowest first.
    pub(super) sizes: Vec<u64>,
    /// For each dimension of the view, the stored dimension.
    pub(super) axes: Vec<usize>,
}

impl Stored {
    /// Values of a tensor of `sizes`, viewed with the dimensions in the order `axes`.
    pub(crate) fn new(
        values: &Numbers,
        dtype: DType,
        sizes: &[u64],
        order: Order,
        axes: &[usize],
    ) -> Stored {
        let mut sizes = sizes.to_vec();
        let mut axes = axes.to_vec();
        if order == Order::Column {
            sizes.reverse();
            let last = sizes.len().saturating_sub(1);
            axes.iter_mut()
                .for_each(|axis| *axis = last.saturating_sub(*axis));
        }
        let reversed = if values.must_swap(Endian::Little) {
            dtype.number.width()
        } else {
            1
        };
        Stored {
            bytes: values.bytes.clone(),
            width: dtype.width(),
            reversed,
            sizes,
            axes,
        }
    }

    /// The sizes in view order.
    pub(super) fn seen_sizes(&self) -> Vec<u64> {
        let size = |axis: &usize| self.sizes.get(*axis).copied().unwrap_or(1);
        self.axes.iter().map(size).collect()
    }

    /// Items per dimension of the view, reordered to stored order.
    pub(super) fn as_stored<T: Clone>(&self, seen: &[T], fallback: T) -> Vec<T> {
        let mut stored = vec![fallback; self.axes.len()];
        for (axis, item) in self.axes.iter().zip(seen) {
            if let Some(place) = stored.get_mut(*axis) {
                *place = item.clone();
            }
        }
        stored
    }

    /// Fills `out` with a box, given and laid out in view order, little-endian. Uses about `spare`
    /// bytes of memory besides.
    pub(crate) fn read_box(
        &self,
        slices: &[Slice],
        spare: u64,
        threads: Threads,
        out: &mut [u8],
    ) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let is_forward = slices.iter().all(|slice| slice.step >= 0);
        if let Some(source) = self.bytes.as_slice()
            && is_forward
        {
            return self.in_memory(source, slices)?.fill(out, threads);
        }
        if self.axes.is_sorted() {
            self.read_stored(slices, threads, out)?;
            return reverse(out, self.reversed, threads);
        }
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let grid = Grid::new(&counts, spare / to_u64(self.width));
        let mut scratch = Vec::new();
        let mut rest = out;
        for number in 0..grid.count() {
            let ranges = grid.ranges(number).into_iter();
            let part = within(slices, &ranges.map(Slice::range).collect::<Vec<_>>())?;
            let len = box_len(&part, self.width)?;
            let (now, later) = rest.split_at_mut_checked(len).ok_or_else(outside)?;
            memory::resize(&mut scratch, len)?;
            let own = self.as_stored(&part, Slice::one(0));
            self.read_stored(&own, threads, &mut scratch)?;
            let ranges: Vec<Range<u64>> = own.iter().map(|slice| 0..slice.count).collect();
            self.gather(&scratch, &ranges, &ranges)?
                .fill(now, threads)?;
            rest = later;
        }
        Ok(())
    }

    /// A box of values in memory.
    fn in_memory<'a>(&self, source: &'a [u8], slices: &[Slice]) -> Result<Gather<'a>> {
        let apart = strides(&self.sizes, Order::Row);
        let mut start = 0_u64;
        let mut axes = Vec::with_capacity(slices.len());
        for (axis, slice) in self.axes.iter().zip(slices) {
            let stride = apart
                .get(*axis)
                .copied()
                .unwrap_or(1)
                .saturating_mul(to_u64(self.width));
            start = start.saturating_add(stride.saturating_mul(slice.start));
            axes.push(Axis {
                count: to_usize(slice.count)?,
                step: to_usize(stride.saturating_mul(slice.step.unsigned_abs()))?,
            });
        }
        Gather::new(source, to_usize(start)?, self.width, self.reversed, axes)
    }

    /// The box `wanted` inside the box `held`, which is in memory in stored order. Both are given
    /// in stored order.
    pub(super) fn gather<'a>(
        &self,
        source: &'a [u8],
        held: &[Range<u64>],
        wanted: &[Range<u64>],
    ) -> Result<Gather<'a>> {
        let counts: Vec<u64> = held.iter().map(|range| range.end - range.start).collect();
        let apart = strides(&counts, Order::Row);
        let mut start = 0_u64;
        let mut axes = Vec::with_capacity(wanted.len());
        for axis in &self.axes {
            let ((held, wanted), stride) = held
                .get(*axis)
                .zip(wanted.get(*axis))
                .zip(apart.get(*axis))
                .ok_or_else(outside)?;
            let stride = stride.saturating_mul(to_u64(self.width));
            let skipped = wanted.start.saturating_sub(held.start);
            start = start.saturating_add(stride.saturating_mul(skipped));
            axes.push(Axis {
                count: to_usize(wanted.end.saturating_sub(wanted.start))?,
                step: to_usize(stride)?,
            });
        }
        Gather::new(source, to_usize(start)?, self.width, self.reversed, axes)
    }

    /// Fills `out` with a box in stored order.
    fn read_stored(&self, slices: &[Slice], threads: Threads, out: &mut [u8]) -> Result<()> {
        let counts = slices.iter().zip(&self.sizes);
        let is_all = { counts }.all(|(slice, size)| *slice == Slice::all(*size));
        if is_all {
            return read_run(&self.bytes, 0, threads, out);
        }
        read_box::read_stored(&self.bytes, self.width, &self.sizes, slices, out)
    }

    /// The cost of reading a box given in view order, in bytes read: gaps between short runs are
    /// read too, and a separate long run costs a call.
    pub(super) fn price(&self, ranges: &[Range<u64>]) -> u128 {
        /// Cost of a read at another offset, in bytes that could have been read meanwhile.
        const JUMP: u128 = 64 << 10;
        let mut run = u128::from(to_u64(self.width));
        let mut apart = run;
        let mut runs = 1_u128;
        let mut is_run = true;
        let stored = self.as_stored(ranges, 0..1);
        for (range, size) in stored.iter().zip(&self.sizes).rev() {
            let count = u128::from(range.end.saturating_sub(range.start));
            if is_run {
                run = run.saturating_mul(count);
                apart = apart.saturating_mul((*size).into());
                is_run = count == u128::from(*size);
            } else {
                runs = runs.saturating_mul(count);
            }
        }
        runs.saturating_mul(apart.min(run.saturating_add(JUMP)))
    }
}

/// Fills `out` with consecutive bytes, read by several threads if possible.
pub(super) fn read_run(bytes: &Bytes, at: u64, threads: Threads, out: &mut [u8]) -> Result<()> {
    const SHARE: usize = 4 << 20;
    if bytes.source().is_computed() {
        return bytes.read_at(at, out);
    }
    let threads = threads.for_len(out.len());
    par_for_each(
        threads,
        out.chunks_mut(SHARE).enumerate(),
        |(number, share)| {
            bytes.read_at(
                at.saturating_add(to_u64(number.saturating_mul(SHARE))),
                share,
            )
        },
    )
}

fn reverse(out: &mut [u8], width: usize, threads: Threads) -> Result<()> {
    if width < 2 {
        return Ok(());
    }
    let threads = threads.for_len(out.len());
    par_for_each(threads, out.chunks_mut(width << 16), |share| {
        crate::bytes::swap(share, width);
        Ok(())
    })
}
