//! Elements that lie apart in memory, put side by side.
//!
//! The heart of every relayout. Where the fastest dimension of the source is not that of the output,
//! both are walked in tiles (`plane.rs`).

use super::tiles;
use super::tiles::Elements;
use crate::bytes::{swap, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Threads, par_for_each};
use crate::tensor::index::slice::{Slice, boxes};

/// One dimension of what is gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) count: usize,
    /// How many bytes apart neighbours lie in the source.
    pub(super) step: usize,
}

/// A box of elements, each `width` bytes, somewhere in memory.
#[derive(Debug, Clone)]
pub(super) struct Gather<'a> {
    source: &'a [u8],
    start: usize,
    width: usize,
    /// The width of the numbers whose bytes are reversed on the way; 1 if they stay.
    reversed: usize,
    /// The last runs fastest in the output.
    axes: Vec<Axis>,
}

impl<'a> Gather<'a> {
    /// The elements from byte `start` of the source on; they must lie inside it.
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

    /// Drops dimensions of one place, joins those that follow each other in both, and makes what
    /// follows itself in both one wide element.
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

    /// Fills `out` with all elements, on as many threads as are worth it. What comes out does not
    /// depend on how many they are.
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

    /// How many cells one share of the work has: whole places of the outer dimensions, and no fewer
    /// places along the source's fastest than fill a page, so that threads do not read the same ones.
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

    /// The dimension whose neighbours lie nearest to each other in the source.
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

    /// Narrow elements: in tiles of some places along the source's fastest dimension and some along
    /// the output's. False if they are wide, if these are the same, or if there are not several
    /// threads' worth of them.
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

    /// Wide elements: one after the other, as the output has them.
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

/// Calls `each` with where every element begins, the last dimension running fastest.
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

/// What cannot happen, as all sizes were checked; said instead of a panic.
pub(super) fn outside() -> Error {
    Error::invalid("a relayout reaches outside its tensor")
}
