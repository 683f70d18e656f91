//! Gathering of strided elements from memory into contiguous ones.
//!
//! The core of every transposition. Where the fastest dimension of the source is not that of the
//! output, both are walked in tiles (`tiles.rs`), as one of the two sides would otherwise jump to
//! another cache line with every element.

use super::tiles;
use super::tiles::Elements;
use crate::bytes::{swap, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Threads, par_for_each};
use crate::tensor::index::slice::{Slice, boxes};

/// One dimension of the gathered box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) count: usize,
    /// Stride in the source, in bytes.
    pub(super) step: usize,
}

/// A box of elements in memory, each `width` bytes long.
#[derive(Debug, Clone)]
pub(super) struct Gather<'a> {
    source: &'a [u8],
    start: usize,
    width: usize,
    /// Width of the numbers that are byte-swapped on the way; 1 for none.
    reversed: usize,
    /// The last varies fastest in the output.
    axes: Vec<Axis>,
}

impl<'a> Gather<'a> {
    /// The elements from byte `start` of the source on; all must be inside it.
    pub(super) fn new(
        source: &'a [u8],
        start: usize,
        width: usize,
        reversed: usize,
        axes: Vec<Axis>,
    ) -> Result<Gather<'a>> {
        let mut gather = Gather {
            source,
            start,
            width,
            reversed,
            axes,
        };
        let last = gather.axes.iter().try_fold(start, |at, axis| {
            axis.step
                .checked_mul(axis.count.saturating_sub(1))?
                .checked_add(at)
        });
        let end = last.and_then(|last| last.checked_add(width));
        let is_empty = gather.axes.iter().any(|axis| axis.count == 0);
        if width == 0 || !is_empty && end.is_none_or(|end| end > source.len()) {
            return Err(outside());
        }
        gather.simplify();
        Ok(gather)
    }

    /// Drops dimensions of size 1, merges those that are contiguous in both source and output, and
    /// turns a contiguous innermost dimension into one wide element: fewer and longer copies.
    fn simplify(&mut self) {
        let mut joined: Vec<Axis> = Vec::new();
        for axis in self.axes.iter().filter(|axis| axis.count != 1) {
            match joined.last_mut() {
                Some(outer) if axis.step.checked_mul(axis.count) == Some(outer.step) => {
                    outer.count = outer.count.saturating_mul(axis.count);
                    outer.step = axis.step;
                }
                _ => joined.push(*axis),
            }
        }
        if let Some(last) = joined.pop_if(|last| last.step == self.width && last.count > 0) {
            self.width = self.width.saturating_mul(last.count);
        }
        self.axes = joined;
    }

    fn cells(&self) -> usize {
        self.axes.iter().map(|axis| axis.count).product()
    }

    /// Fills `out` with all elements, on as many threads as pay off. The result does not depend on
    /// their number.
    pub(super) fn fill(&self, out: &mut [u8], threads: Threads) -> Result<()> {
        if to_u64(out.len()) != to_u64(self.cells()).saturating_mul(to_u64(self.width)) {
            return Err(outside());
        }
        if out.is_empty() {
            return Ok(());
        }
        let threads = threads.for_len(out.len());
        if threads < 2 || self.axes.is_empty() {
            return self.fill_cells(0, out);
        }
        if self.fill_tiles(threads, out)? {
            return Ok(());
        }
        let cells = self.cells_a_share(threads);
        let shares = out.chunks_mut(cells.saturating_mul(self.width));
        par_for_each(threads, shares.enumerate(), |(number, share)| {
            self.fill_cells(number.saturating_mul(cells), share)
        })
    }

    /// The number of cells in one share of the work: whole indices of the outer dimensions, and at
    /// least a page's worth of indices along the source's fastest dimension, so that threads do not
    /// read the same pages.
    fn cells_a_share(&self, threads: usize) -> usize {
        const PAGE: usize = 4096;
        let shares = threads.saturating_mul(4);
        let fastest = self.fastest().unwrap_or(usize::MAX);
        let mut outer = 1_usize;
        let mut inner = self.cells();
        for (place, axis) in self.axes.iter().enumerate() {
            outer = outer.saturating_mul(axis.count);
            inner /= axis.count.max(1);
            if outer >= shares {
                let page = if place >= fastest {
                    (PAGE / self.width).min(outer.div_ceil(threads))
                } else {
                    1
                };
                return outer.div_ceil(shares).max(page).saturating_mul(inner);
            }
        }
        outer.div_ceil(threads)
    }

    /// The dimension with the smallest stride in the source.
    fn fastest(&self) -> Option<usize> {
        let axes = self.axes.iter().enumerate();
        let fastest = axes.min_by_key(|(_, axis)| axis.step);
        fastest.map(|(place, _)| place)
    }

    /// Fills `out` with the cells from number `first` on, on this thread.
    fn fill_cells(&self, first: usize, out: &mut [u8]) -> Result<()> {
        let counts: Vec<u64> = self.axes.iter().map(|axis| to_u64(axis.count)).collect();
        let last = first.saturating_add(out.len() / self.width);
        let mut rest = out;
        for slices in boxes(&counts, to_u64(first), to_u64(last)) {
            let part = self.part(&slices)?;
            let len = part.cells().saturating_mul(part.width);
            let (now, later) = rest.split_at_mut_checked(len).ok_or_else(outside)?;
            part.fill_alone(now)?;
            rest = later;
        }
        Ok(())
    }

    /// A box of these elements.
    fn part(&self, slices: &[Slice]) -> Result<Gather<'a>> {
        let mut start = self.start;
        let mut axes = Vec::with_capacity(self.axes.len());
        for (axis, slice) in self.axes.iter().zip(slices) {
            start = start.saturating_add(axis.step.saturating_mul(to_usize(slice.start)?));
            axes.push(Axis {
                count: to_usize(slice.count)?,
                ..*axis
            });
        }
        Gather::new(self.source, start, self.width, self.reversed, axes)
    }

    fn fill_alone(&self, out: &mut [u8]) -> Result<()> {
        if self.fill_tiles(1, out)? {
            Ok(())
        } else {
            self.fill_runs(out)
        }
    }

    /// Narrow elements: in tiles spanning the fastest dimension of the source and that of the
    /// output. False if the elements are wide, if the two dimensions are the same, or if there are
    /// not several threads' worth of them.
    fn fill_tiles(&self, threads: usize, out: &mut [u8]) -> Result<bool> {
        match self.width {
            1 => self.fill_tiles_of::<1, 128, 128>(threads, out),
            2 => self.fill_tiles_of::<2, 128, 128>(threads, out),
            3 => self.fill_tiles_of::<3, 128, 64>(threads, out),
            4 => self.fill_tiles_of::<4, 128, 128>(threads, out),
            6 => self.fill_tiles_of::<6, 64, 64>(threads, out),
            8 => self.fill_tiles_of::<8, 64, 128>(threads, out),
            12 => self.fill_tiles_of::<12, 64, 32>(threads, out),
            16 => self.fill_tiles_of::<16, 32, 64>(threads, out),
            24 => self.fill_tiles_of::<24, 32, 16>(threads, out),
            32 => self.fill_tiles_of::<32, 32, 16>(threads, out),
            48 => self.fill_tiles_of::<48, 16, 16>(threads, out),
            64 => self.fill_tiles_of::<64, 16, 16>(threads, out),
            128 => self.fill_tiles_of::<128, 8, 8>(threads, out),
            _ => Ok(false),
        }
    }

    fn fill_tiles_of<const WIDTH: usize, const ACROSS: usize, const ALONG: usize>(
        &self,
        threads: usize,
        out: &mut [u8],
    ) -> Result<bool> {
        let fastest = self.fastest();
        if fastest.is_none_or(|place| place.saturating_add(1) >= self.axes.len()) {
            return Ok(false);
        }
        let elements = Elements {
            source: self.source,
            start: self.start,
            reversed: self.reversed,
            axes: &self.axes,
        };
        if threads > 1 {
            return tiles::fill::<WIDTH, ACROSS, ALONG>(elements, threads, out);
        }
        tiles::fill_one::<WIDTH, ACROSS, ALONG>(elements, out)?;
        Ok(true)
    }

    /// Wide elements: one by one, in output order.
    fn fill_runs(&self, out: &mut [u8]) -> Result<()> {
        let mut runs = out.chunks_exact_mut(self.width);
        each_place(&self.axes, self.start, &mut |at| {
            let target = runs.next().ok_or_else(outside)?;
            let run = self.source.get(at..).and_then(|run| run.get(..self.width));
            target.copy_from_slice(run.ok_or_else(outside)?);
            swap(target, self.reversed);
            Ok(())
        })
    }
}

/// Calls `each` with the start of every element, the last dimension varying fastest.
fn each_place(
    axes: &[Axis],
    start: usize,
    each: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let Some((axis, inner)) = axes.split_first() else {
        return each(start);
    };
    for place in 0..axis.count {
        each_place(inner, start + place * axis.step, each)?;
    }
    Ok(())
}

/// The error of an impossible case, as all sizes were checked; returned instead of a panic.
pub(super) fn outside() -> Error {
    Error::invalid("a relayout reaches outside its tensor")
}
