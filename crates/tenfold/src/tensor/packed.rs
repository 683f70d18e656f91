//! Boxes out of dense values packed by a symmetry.

use super::gathered::Gather;
use super::group::{Group, Transposition};
use super::lines::Lines;
use super::slice::{Slice, place_in_box, unravel_in};
use super::storage::Order;
use crate::bytes::{Endian, Pages, narrow, swap, wide};
use crate::error::Result;
use crate::number::{DType, Numbers};

/// A dense tensor of which only one cell of every orbit is stored.
pub(crate) struct Packed<'a> {
    pub(crate) sizes: &'a [u64],
    pub(crate) dtype: DType,
    pub(crate) group: &'a Group,
    pub(crate) values: &'a Numbers,
    /// How many bytes may be held besides.
    pub(crate) spare: u64,
}

impl Packed<'_> {
    /// Fills `out` with a box, row-major, little-endian.
    pub(crate) fn read_box(&self, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        if let Some(gather) = self.gather(slices)? {
            return gather.fill(out);
        }
        match self.group.transposition() {
            Some(closed) => self.look_up(&closed, slices, out),
            None => self.walk(slices, out),
        }
    }

    /// The quick way, if all stored values and where each line of them begins fit in memory.
    fn gather<'b>(&'b self, slices: &'b [Slice]) -> Result<Option<Gather<'b>>> {
        let Some(lines) = Lines::of(self.group, self.sizes) else {
            return Ok(None);
        };
        let is_at_hand = self.values.bytes.as_slice().is_some();
        let held = match is_at_hand && !self.values.must_swap(Endian::Little) {
            true => 0,
            false => self.values.bytes.len(),
        };
        if lines.count().saturating_mul(8).saturating_add(held) > self.spare {
            return Ok(None);
        }
        Gather::new(self, lines, slices).map(Some)
    }

    fn look_up(&self, closed: &Transposition, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let width = self.dtype.width();
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let mut pages = Pages::new(self.values.bytes.clone());
        let mut item = vec![0; counts.len()];
        let mut origin_index = vec![0; counts.len()];
        for (cell, target) in out.chunks_exact_mut(width).enumerate() {
            unravel_in(wide(cell), &counts, Order::Row, &mut item);
            for (place, slice) in item.iter_mut().zip(slices) {
                *place = slice.place(*place).unwrap_or(0);
            }
            let origin = self.group.origin(&item);
            if origin.zero {
                target.fill(0);
                continue;
            }
            unravel_in(origin.index, self.sizes, Order::Column, &mut origin_index);
            let at = closed.position(&origin_index).saturating_mul(wide(width));
            pages.read_at(at, target)?;
            self.settle(target);
            origin.operation.apply(self.dtype, target)?;
        }
        Ok(())
    }

    /// Any other permutation: one walk over the stored cells, each put where its orbit meets the
    /// box.
    fn walk(&self, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let width = self.dtype.width();
        let mut pages = Pages::new(self.values.bytes.clone());
        let mut stored = vec![0; width];
        let mut place = vec![0; self.sizes.len()];
        let mut position = 0_u64;
        out.fill(0);
        self.group.walk(&mut |index, _| {
            pages.read_at(position.saturating_mul(wide(width)), &mut stored)?;
            position = position.saturating_add(1);
            self.settle(&mut stored);
            for (global, operation) in self.group.images(index) {
                unravel_in(global, self.sizes, Order::Column, &mut place);
                let Some(cell) = place_in_box(slices, &place)? else {
                    continue;
                };
                let at = narrow(wide(cell).saturating_mul(wide(width)))?;
                if let Some(target) = out.get_mut(at..).and_then(|out| out.get_mut(..width)) {
                    target.copy_from_slice(&stored);
                    operation.apply(self.dtype, target)?;
                }
            }
            Ok(())
        })
    }

    /// Brings a stored element to little-endian.
    fn settle(&self, element: &mut [u8]) {
        if self.values.must_swap(Endian::Little) {
            swap(element, self.dtype.number.width());
        }
    }
}
