//! Elements that lie apart in memory, put side by side.
//!
//! The heart of every relayout. Where the fastest dimension of the source is not that of the output,
//! both are walked in tiles: a tile is copied into a small buffer in runs of the source, then written
//! out in runs of the output. Each cache line is so touched once on either side, and the distances
//! between rows, often a power of two, cannot throw the tile out of the cache.

use super::super::slice::{Slice, boxes};
use crate::bytes::{Threads, narrow, share_out, swap, wide};
use crate::error::{Error, Result};

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
        if wide(out.len()) != wide(self.cells()).saturating_mul(wide(self.width)) {
            return Err(outside());
        }
        if out.is_empty() {
            return Ok(());
        }
        let threads = threads.for_len(out.len());
        if threads < 2 || self.axes.is_empty() {
            return self.fill_cells(0, out);
        }
        let cells = self.cells_a_share(threads);
        let shares = out.chunks_mut(cells.saturating_mul(self.width));
        share_out(threads, shares.enumerate(), |(number, share)| {
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
                let page = match place >= fastest {
                    true => (PAGE / self.width).min(outer.div_ceil(threads)),
                    false => 1,
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
        let counts: Vec<u64> = self.axes.iter().map(|axis| wide(axis.count)).collect();
        let last = first.saturating_add(out.len() / self.width);
        let mut rest = out;
        for slices in boxes(&counts, wide(first), wide(last)) {
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
            start = start.saturating_add(axis.step.saturating_mul(narrow(slice.start)?));
            axes.push(Axis {
                count: narrow(slice.count)?,
                ..*axis
            });
        }
        Gather::new(self.source, start, self.width, self.reversed, axes)
    }

    fn fill_alone(&self, out: &mut [u8]) -> Result<()> {
        match self.width {
            1 => self.fill_tiles::<1, 128, 128>(out),
            2 => self.fill_tiles::<2, 128, 64>(out),
            3 => self.fill_tiles::<3, 128, 64>(out),
            4 => self.fill_tiles::<4, 128, 64>(out),
            6 => self.fill_tiles::<6, 64, 64>(out),
            8 => self.fill_tiles::<8, 64, 32>(out),
            12 => self.fill_tiles::<12, 64, 32>(out),
            16 => self.fill_tiles::<16, 32, 32>(out),
            24 => self.fill_tiles::<24, 32, 16>(out),
            32 => self.fill_tiles::<32, 32, 16>(out),
            48 => self.fill_tiles::<48, 16, 16>(out),
            64 => self.fill_tiles::<64, 16, 16>(out),
            128 => self.fill_tiles::<128, 8, 8>(out),
            _ => self.fill_runs(out),
        }
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

    /// Narrow elements: in tiles of `ACROSS` along the source's fastest dimension and `ALONG`
    /// along the output's.
    fn fill_tiles<const WIDTH: usize, const ACROSS: usize, const ALONG: usize>(
        &self,
        out: &mut [u8],
    ) -> Result<()> {
        let fastest = self.fastest();
        let is_plane = fastest.is_some_and(|place| place.saturating_add(1) < self.axes.len());
        let (Some(across), Some(along), true) = (fastest, self.axes.last(), is_plane) else {
            return self.fill_runs(out);
        };
        let mut steps = vec![WIDTH; self.axes.len()];
        let mut step = WIDTH;
        for (place, axis) in steps.iter_mut().zip(&self.axes).rev() {
            *place = step;
            step = step.saturating_mul(axis.count);
        }
        let across_step = steps.get(across).copied().unwrap_or(WIDTH);
        let across_axis = self.axes.get(across).copied().ok_or_else(outside)?;
        let plane = Plane::<WIDTH, ACROSS, ALONG> {
            source: self.source,
            reversed: self.reversed,
            across: across_axis,
            along: *along,
            out_step: across_step,
        };
        // What is left are the planes: where each begins in the source and in the output.
        let places = self.axes.iter().zip(&steps).enumerate();
        let outer: Vec<(Axis, usize)> = places
            .filter(|(place, _)| *place != across && place.saturating_add(1) != self.axes.len())
            .map(|(_, (axis, step))| (*axis, *step))
            .collect();
        let mut tile = vec![[0; WIDTH]; ACROSS.saturating_mul(ALONG)];
        each_pair(&outer, (self.start, 0), &mut |(from, to)| {
            plane.fill(from, to, &mut tile, out)
        })
    }
}

/// Two dimensions: the fastest of the source, and the fastest of the output.
struct Plane<'a, const WIDTH: usize, const ACROSS: usize, const ALONG: usize> {
    source: &'a [u8],
    reversed: usize,
    across: Axis,
    along: Axis,
    /// How many bytes apart neighbours along `across` are in the output.
    out_step: usize,
}

impl<const WIDTH: usize, const ACROSS: usize, const ALONG: usize> Plane<'_, WIDTH, ACROSS, ALONG> {
    fn fill(&self, from: usize, to: usize, tile: &mut [[u8; WIDTH]], out: &mut [u8]) -> Result<()> {
        for first_across in (0..self.across.count).step_by(ACROSS) {
            let n_across = ACROSS.min(self.across.count - first_across);
            let from = from + first_across * self.across.step;
            let to = to + first_across * self.out_step;
            for first_along in (0..self.along.count).step_by(ALONG) {
                let n_along = ALONG.min(self.along.count - first_along);
                let from = from + first_along * self.along.step;
                let to = to + first_along * WIDTH;
                let rows = tile.get_mut(..n_along * ACROSS).ok_or_else(outside)?;
                self.load(from, n_across, rows)?;
                if self.reversed > 1 {
                    swap(rows.as_flattened_mut(), self.reversed);
                }
                self.store(to, n_across, n_along, rows, out)?;
            }
        }
        Ok(())
    }

    /// Copies runs of the source into the rows of the tile.
    fn load(&self, from: usize, n_across: usize, rows: &mut [[u8; WIDTH]]) -> Result<()> {
        let mut at = from;
        for row in rows.chunks_exact_mut(ACROSS) {
            let row = row.get_mut(..n_across).ok_or_else(outside)?;
            let source = self.source.get(at..).ok_or_else(outside)?;
            if self.across.step == WIDTH {
                let run = source.get(..n_across * WIDTH).ok_or_else(outside)?;
                row.as_flattened_mut().copy_from_slice(run);
            } else {
                for (target, rest) in row.iter_mut().zip(source.chunks(self.across.step)) {
                    *target = *rest.first_chunk().ok_or_else(outside)?;
                }
            }
            at += self.along.step;
        }
        Ok(())
    }

    /// Writes the columns of the tile as runs of the output.
    fn store(
        &self,
        to: usize,
        n_across: usize,
        n_along: usize,
        rows: &[[u8; WIDTH]],
        out: &mut [u8],
    ) -> Result<()> {
        let mut at = to;
        for column in 0..n_across {
            let run = out
                .get_mut(at..)
                .and_then(|out| out.get_mut(..n_along * WIDTH));
            let (run, _) = run.ok_or_else(outside)?.as_chunks_mut::<WIDTH>();
            let column = rows.get(column..).ok_or_else(outside)?;
            for (target, element) in run.iter_mut().zip(column.iter().step_by(ACROSS)) {
                *target = *element;
            }
            at += self.out_step;
        }
        Ok(())
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

/// [`each_place`] in the source and in the output at once.
fn each_pair(
    axes: &[(Axis, usize)],
    (from, to): (usize, usize),
    each: &mut dyn FnMut((usize, usize)) -> Result<()>,
) -> Result<()> {
    let Some(((axis, out_step), inner)) = axes.split_first() else {
        return each((from, to));
    };
    for place in 0..axis.count {
        each_pair(
            inner,
            (from + place * axis.step, to + place * out_step),
            each,
        )?;
    }
    Ok(())
}

/// What cannot happen, as all sizes were checked; said instead of a panic.
pub(super) fn outside() -> Error {
    Error::invalid("a relayout reaches outside its tensor")
}
