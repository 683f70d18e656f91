//! Unpacking: boxes of dense values packed by a symmetry.
//!
//! | file | |
//! |---|---|
//! | `images.rs` | boxes without steps, one image of the stored cells after another |
//! | `image.rs` | one image, restricted to a part of a box |
//! | `lookup.rs` | boxes with steps, every cell looked up among the stored ones |

mod image;
mod images;
mod lookup;
#[cfg(test)]
mod tests;

use super::Operation;
use super::group::{Group, Transposition, advance};
use super::stored_runs::{Lines, Part};
use crate::bytes::{Endian, swap, to_u64, to_usize};
use crate::dtype::{DType, Numbers};
use crate::error::Result;
use crate::io::Pages;
use crate::memory;
use crate::tensor::dense::read_box::strides;
use crate::tensor::index::slice::{Slice, place_in_box, unravel_in};
use crate::tensor::storage::Order;
use images::Mirror;
use lookup::Gather;

/// A dense tensor of which one cell per orbit is stored.
pub(crate) struct Packed<'a> {
    pub(crate) sizes: &'a [u64],
    pub(crate) dtype: DType,
    pub(crate) group: &'a Group,
    pub(crate) values: &'a Numbers,
    /// Memory that may be used besides, in bytes.
    pub(crate) spare: u64,
}

/// A box that is this many times smaller than the stored values is looked up cell by cell, if
/// possible, as a pass over all stored values would take too long for it.
const SMALL: u64 = 64;

fn has_no_steps(slices: &[Slice]) -> bool {
    slices.iter().all(|slice| slice.step == 1)
}

/// Copies values unchanged to every `step`th cell from `at` on.
fn put_plain<const WIDTH: usize>(
    values: &[u8],
    at: usize,
    step: usize,
    out: &mut [u8],
) -> Result<()> {
    let cells = out.as_chunks_mut::<WIDTH>().0.get_mut(at..);
    let targets = cells.unwrap_or_default().iter_mut().step_by(step.max(1));
    for (target, value) in targets.zip(values.as_chunks::<WIDTH>().0) {
        *target = *value;
    }
    Ok(())
}

impl Packed<'_> {
    /// Fills `out` with a box, row-major, little-endian.
    pub(crate) fn read_box(&self, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let axes: Vec<usize> = (0..slices.len()).collect();
        if self.read_seen(slices, &axes, out)? {
            return Ok(());
        }
        if let Some(gather) = self.gather(slices)? {
            return gather.fill(out);
        }
        let lines = Lines::of(self.group, self.sizes);
        match (
            lines.filter(|_| has_no_steps(slices)),
            self.group.transposition(),
        ) {
            (Some(lines), _) => self.spread(lines, slices, out),
            (None, Some(closed)) => self.look_up(&closed, slices, out),
            (None, None) => self.walk(slices, out),
        }
    }

    /// Fills `out` with a box whose dimensions are in the order `axes`, the last varying fastest;
    /// false if there is no fast path for that.
    pub(crate) fn read_seen(
        &self,
        slices: &[Slice],
        axes: &[usize],
        out: &mut [u8],
    ) -> Result<bool> {
        let is_small = to_u64(out.len()).saturating_mul(SMALL) < self.values.bytes.len();
        if is_small
            && axes.is_sorted()
            && let Some(closed) = self.group.transposition()
        {
            self.look_up(&closed, slices, out)?;
            return Ok(true);
        }
        if has_no_steps(slices)
            && let Some(mirror) = Mirror::new(self)?
        {
            mirror.fill(slices, axes, out)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Any box without steps: one pass over the stored values, in which each run of them is written
    /// to all its images.
    fn spread(&self, mut lines: Lines, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let width = self.dtype.width();
        let mut pages = Pages::new(self.values.bytes.clone());
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let strides = strides(&counts, Order::Row);
        // Of several group elements that lead to one cell the simplest comes last, and overwrites
        // the others.
        lines.sort_images(|operation| std::cmp::Reverse((operation.negate, operation.conjugate)));
        let line_len = self.sizes.first().copied().unwrap_or(1);
        let mut index = vec![0; self.sizes.len()];
        let (mut first, mut number) = (0_u64, 0_u64);
        let mut stored = Vec::new();
        out.fill(0);
        for run in lines.runs() {
            let places = run.start.saturating_sub(first)..run.end.saturating_sub(first);
            let count = places.end.saturating_sub(places.start);
            let mut is_read = false;
            for image in lines.images.iter().take_while(|_| count > 0) {
                let Some(part) = image.part_in(&index, &places, slices, &strides) else {
                    continue;
                };
                if !is_read {
                    memory::resize(&mut stored, to_usize(count)?.saturating_mul(width))?;
                    pages.read_at(number.saturating_mul(to_u64(width)), &mut stored)?;
                    self.settle(&mut stored);
                    is_read = true;
                }
                let skipped = to_usize(part.places.start.saturating_sub(places.start))?;
                let length = to_usize(part.places.end.saturating_sub(part.places.start))?;
                let from = skipped.saturating_mul(width);
                let values = stored.get(from..).unwrap_or_default();
                let values = values
                    .get(..length.saturating_mul(width))
                    .unwrap_or_default();
                self.put(values, &part, image.operation, out)?;
            }
            number = number.saturating_add(count);
            first = first.saturating_add(line_len);
            let others = index.get_mut(1..).unwrap_or_default();
            advance(others, self.sizes.get(1..).unwrap_or_default());
        }
        Ok(())
    }

    /// Writes values into a box, `part.step` cells apart.
    fn put(&self, values: &[u8], part: &Part, operation: Operation, out: &mut [u8]) -> Result<()> {
        let width = self.dtype.width();
        let (at, step) = (to_usize(part.at)?, to_usize(part.step)?);
        if operation == Operation::default() && width == 8 {
            return put_plain::<8>(values, at, step, out);
        }
        if operation == Operation::default() && width == 4 {
            return put_plain::<4>(values, at, step, out);
        }
        let mut at = at.saturating_mul(width);
        for value in values.chunks_exact(width) {
            if let Some(target) = out.get_mut(at..).and_then(|out| out.get_mut(..width)) {
                target.copy_from_slice(value);
                operation.apply(self.dtype, target)?;
            }
            at = at.saturating_add(step.saturating_mul(width));
        }
        Ok(())
    }

    /// The fast path, if all stored values and the offsets of all lines fit in memory.
    fn gather<'b>(&'b self, slices: &'b [Slice]) -> Result<Option<Gather<'b>>> {
        let Some(lines) = Lines::of(self.group, self.sizes) else {
            return Ok(None);
        };
        let is_at_hand = self.values.bytes.as_slice().is_some();
        let held = if is_at_hand && !self.values.must_swap(Endian::Little) {
            0
        } else {
            self.values.bytes.len()
        };
        if lines.count().saturating_mul(8).saturating_add(held) > self.spare {
            return Ok(None);
        }
        Gather::new(self, lines, slices).map(Some)
    }

    /// One transposition: the number of every cell among the stored ones is known in closed form.
    fn look_up(&self, closed: &Transposition, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let width = self.dtype.width();
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let mut pages = Pages::new(self.values.bytes.clone());
        let mut item = vec![0; counts.len()];
        let mut origin_index = vec![0; counts.len()];
        for (cell, target) in out.chunks_exact_mut(width).enumerate() {
            unravel_in(to_u64(cell), &counts, Order::Row, &mut item);
            for (place, slice) in item.iter_mut().zip(slices) {
                *place = slice.place(*place).unwrap_or(0);
            }
            let origin = self.group.origin(&item);
            if origin.zero {
                target.fill(0);
                continue;
            }
            unravel_in(origin.index, self.sizes, Order::Column, &mut origin_index);
            let at = closed.position(&origin_index).saturating_mul(to_u64(width));
            pages.read_at(at, target)?;
            self.settle(target);
            origin.operation.apply(self.dtype, target)?;
        }
        Ok(())
    }

    /// Any other permutation: one walk over the stored cells, each written where its orbit meets
    /// the box.
    fn walk(&self, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let width = self.dtype.width();
        let mut pages = Pages::new(self.values.bytes.clone());
        let mut stored = vec![0; width];
        let mut place = vec![0; self.sizes.len()];
        let mut position = 0_u64;
        out.fill(0);
        self.group.walk(&mut |index, _| {
            pages.read_at(position.saturating_mul(to_u64(width)), &mut stored)?;
            position = position.saturating_add(1);
            self.settle(&mut stored);
            for (global, operation) in self.group.images(index) {
                unravel_in(global, self.sizes, Order::Column, &mut place);
                let Some(cell) = place_in_box(slices, &place)? else {
                    continue;
                };
                let at = to_usize(to_u64(cell).saturating_mul(to_u64(width)))?;
                if let Some(target) = out.get_mut(at..).and_then(|out| out.get_mut(..width)) {
                    target.copy_from_slice(&stored);
                    operation.apply(self.dtype, target)?;
                }
            }
            Ok(())
        })
    }

    /// Converts a stored element to little-endian.
    fn settle(&self, element: &mut [u8]) {
        if self.values.must_swap(Endian::Little) {
            swap(element, self.dtype.number.width());
        }
    }
}
