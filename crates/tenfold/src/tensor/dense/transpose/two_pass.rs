//! Transposition in two passes through a temporary file.
//!
//! Where every slab of the output needs a little of every part of the file, direct reads would be
//! tiny and scattered. Instead the file is read once, in order. Each part is split by slab, and the
//! pieces of a slab are stored together in a temporary file, from which every slab is then read in
//! one run: three times the bytes, but all in long runs.

use std::fs::File;
use std::ops::Range;
use std::sync::Mutex;

use super::gather::outside;
use super::grid::{Grid, cells};
use super::stored::{Stored, read_run};
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::Result;
use crate::io::{Scratch, Threads, append_at, par_for_each};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::dense::read_box::strides;
use crate::tensor::index::slice::{Slice, boxes};
use crate::tensor::storage::Order;

/// Values sorted by the slab of the output they belong to.
pub(super) struct Passes {
    stored: Stored,
    /// The parts in which the source was read, in stored order.
    parts: Grid,
    /// The slabs of the output, in view order.
    slabs: Grid,
    sorted: Bytes,
}

impl Passes {
    /// Reads all values once. Uses about `spare` bytes of memory.
    pub(super) fn new(
        stored: Stored,
        slabs: &Grid,
        spare: u64,
        threads: Threads,
        limits: &Limits,
    ) -> Result<Passes> {
        let width = to_u64(stored.width);
        let mut passes = Passes {
            parts: Grid::new(&stored.sizes, spare / 2 / width),
            slabs: slabs.clone(),
            sorted: Bytes::memory(Vec::new()),
            stored,
        };
        let file = Scratch::of_len(passes.stored.bytes.len(), limits)?;
        let mut part = Vec::new();
        let mut filled = memory::zeros(to_usize(passes.slabs.count())?)?;
        for number in 0..passes.parts.count() {
            let found = passes.parts.cells(number);
            memory::resize(
                &mut part,
                to_usize((found.end - found.start).saturating_mul(width))?,
            )?;
            let at = found.start.saturating_mul(width);
            read_run(&passes.stored.bytes, at, threads, &mut part)?;
            passes.sort(number, &part, &mut filled, &file, spare / 2, threads)?;
        }
        passes.sorted = Bytes::whole(file.into_source()?);
        Ok(passes)
    }

    /// Splits one part of the source by slab; `filled` is the length of each slab so far.
    fn sort(
        &self,
        part: u64,
        bytes: &[u8],
        filled: &mut [u64],
        file: &File,
        spare: u64,
        threads: Threads,
    ) -> Result<()> {
        let held = self.parts.ranges(part);
        let width = to_u64(self.stored.width);
        let mut most = 1;
        let mut jobs = Vec::new();
        for (slab, filled) in filled.iter_mut().enumerate() {
            let slab = to_u64(slab);
            let shared = self.shared(&held, slab);
            let len = len_of(&shared).saturating_mul(width);
            if len == 0 {
                continue;
            }
            let at = self.slabs.cells(slab).start.saturating_mul(width);
            jobs.push((shared, at.saturating_add(*filled), len));
            *filled = filled.saturating_add(len);
            most = most.max(len);
        }
        let threads = threads
            .for_len(bytes.len())
            .min(to_usize(spare / most)?)
            .max(1);
        let buffers: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
        par_for_each(threads, jobs.into_iter(), |(shared, at, len)| {
            let mut buffer = buffers
                .lock()
                .ok()
                .and_then(|mut all| all.pop())
                .unwrap_or_default();
            memory::resize(&mut buffer, to_usize(len)?)?;
            let wanted = self.stored.as_stored(&shared, 0..1);
            self.stored
                .gather(bytes, &held, &wanted)?
                .fill(&mut buffer, Threads::Exactly(1))?;
            append_at(file, &buffer, at)?;
            if let Ok(mut all) = buffers.lock() {
                all.push(buffer);
            }
            Ok(())
        })
    }

    /// The intersection of a part, given in stored order, with a slab, in view order.
    fn shared(&self, part: &[Range<u64>], slab: u64) -> Vec<Range<u64>> {
        let part = self.stored.axes.iter().map(|axis| part.get(*axis));
        let common = |(part, slab): (Option<&Range<u64>>, Range<u64>)| {
            let part = part.cloned().unwrap_or(0..0);
            part.start.max(slab.start)..part.end.min(slab.end)
        };
        part.zip(self.slabs.ranges(slab)).map(common).collect()
    }

    /// Fills `out` with a slab; `scratch` is a buffer to be reused.
    pub(super) fn read(
        &self,
        slab: u64,
        scratch: &mut Vec<u8>,
        threads: Threads,
        out: &mut [u8],
    ) -> Result<()> {
        let width = to_u64(self.stored.width);
        memory::resize(scratch, out.len())?;
        let at = self.slabs.cells(slab).start.saturating_mul(width);
        read_run(&self.sorted, at, threads, scratch)?;
        let origin = self.slabs.ranges(slab);
        let counts: Vec<u64> = origin.iter().map(|range| range.end - range.start).collect();
        let mut pieces = Vec::new();
        let mut from = 0_u64;
        for part in 0..self.parts.count() {
            let shared = self.shared(&self.parts.ranges(part), slab);
            let len = len_of(&shared).saturating_mul(width);
            if len == 0 {
                continue;
            }
            let ranges: Vec<Range<u64>> = shared
                .iter()
                .zip(&origin)
                .map(|(range, origin)| range.start - origin.start..range.end - origin.start)
                .collect();
            let bytes = to_usize(from)?..to_usize(from.saturating_add(len))?;
            let bytes = scratch.get(bytes).ok_or_else(outside)?;
            pieces.push(Piece { ranges, bytes });
            from = from.saturating_add(len);
        }
        let threads = threads.for_len(out.len());
        let share = cells(&counts)
            .div_ceil(to_u64(threads).saturating_mul(4))
            .max(1);
        let shares = out.chunks_mut(to_usize(share.saturating_mul(width))?);
        par_for_each(threads, shares.enumerate(), |(number, out)| {
            let first = to_u64(number).saturating_mul(share);
            let last = first.saturating_add(to_u64(out.len()) / width);
            let mut rest = out;
            for slices in boxes(&counts, first, last) {
                let sizes: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
                let len = to_usize(cells(&sizes).saturating_mul(width))?;
                let (now, later) = rest.split_at_mut_checked(len).ok_or_else(outside)?;
                for piece in &pieces {
                    piece.put(&slices, self.stored.width, now)?;
                }
                rest = later;
            }
            Ok(())
        })
    }
}

/// A box inside a slab, with its bytes.
struct Piece<'a> {
    ranges: Vec<Range<u64>>,
    bytes: &'a [u8],
}

/// One dimension of a copy: its size, and its byte strides on either side.
#[derive(Clone, Copy)]
struct Step {
    count: usize,
    from: usize,
    to: usize,
}

impl Piece<'_> {
    /// Copies the intersection with the box `target` of the slab, whose bytes are `out`.
    fn put(&self, target: &[Slice], width: usize, out: &mut [u8]) -> Result<()> {
        let own: Vec<u64> = self
            .ranges
            .iter()
            .map(|range| range.end - range.start)
            .collect();
        let sizes: Vec<u64> = target.iter().map(|slice| slice.count).collect();
        let apart = strides(&own, Order::Row)
            .into_iter()
            .zip(strides(&sizes, Order::Row));
        let (mut from, mut to) = (0_u64, 0_u64);
        let mut steps: Vec<Step> = Vec::new();
        for ((range, slice), (from_step, to_step)) in self.ranges.iter().zip(target).zip(apart) {
            let first = range.start.max(slice.start);
            let end = range.end.min(slice.start.saturating_add(slice.count));
            if first >= end {
                return Ok(());
            }
            from = from.saturating_add((first - range.start).saturating_mul(from_step));
            to = to.saturating_add((first - slice.start).saturating_mul(to_step));
            let step = Step {
                count: to_usize(end - first)?,
                from: to_usize(from_step)?.saturating_mul(width),
                to: to_usize(to_step)?.saturating_mul(width),
            };
            match steps.last_mut() {
                _ if step.count == 1 => {}
                Some(outer)
                    if step.from.checked_mul(step.count) == Some(outer.from)
                        && step.to.checked_mul(step.count) == Some(outer.to) =>
                {
                    let count = outer.count.saturating_mul(step.count);
                    *outer = Step { count, ..step };
                }
                _ => steps.push(step),
            }
        }
        let run = steps.pop_if(|step| step.from == width && step.to == width);
        let len = run.map_or(1, |run| run.count).saturating_mul(width);
        let (from, to) = (
            to_usize(from)?.saturating_mul(width),
            to_usize(to)?.saturating_mul(width),
        );
        copy(&steps, len, self.bytes.get(from..), out.get_mut(to..))
    }
}

/// Copies runs of `len` bytes.
fn copy(steps: &[Step], len: usize, from: Option<&[u8]>, to: Option<&mut [u8]>) -> Result<()> {
    let (Some(from), Some(to)) = (from, to) else {
        return Err(outside());
    };
    let Some((step, inner)) = steps.split_first() else {
        let run = from.get(..len).zip(to.get_mut(..len));
        let (from, to) = run.ok_or_else(outside)?;
        to.copy_from_slice(from);
        return Ok(());
    };
    for place in 0..step.count {
        let from = from.get(place.saturating_mul(step.from)..);
        copy(
            inner,
            len,
            from,
            to.get_mut(place.saturating_mul(step.to)..),
        )?;
    }
    Ok(())
}

/// The number of cells of a box; zero if a range is empty or reversed.
fn len_of(ranges: &[Range<u64>]) -> u64 {
    let counts: Vec<u64> = ranges
        .iter()
        .map(|range| range.end.saturating_sub(range.start))
        .collect();
    cells(&counts)
}
