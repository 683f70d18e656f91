//! A page cache for reads at scattered positions.

use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::Result;
use crate::memory;

/// A small cache of pages for bytes that are read in random order.
pub(crate) struct Pages {
    bytes: Bytes,
    slots: Vec<Option<(u64, Vec<u8>)>>,
}

const PAGE: u64 = 16 << 10;
const SLOTS: usize = 1024;
/// Runs of at least this length are read directly, with a system call of their own.
const SHORT: usize = 4 << 10;

impl Pages {
    pub(crate) fn new(bytes: Bytes) -> Self {
        let slots = if bytes.as_slice().is_some() { 0 } else { SLOTS };
        Pages {
            bytes,
            slots: vec![None; slots],
        }
    }

    /// Fills `buffer` with the bytes from `at` on.
    pub(crate) fn read_at(&mut self, at: u64, buffer: &mut [u8]) -> Result<()> {
        if self.slots.is_empty() {
            return self.bytes.read_at(at, buffer);
        }
        let mut at = at;
        let mut rest = buffer;
        while !rest.is_empty() {
            let within = to_usize(at % PAGE)?;
            let page = self.page(at / PAGE)?;
            let found = page.get(within..).unwrap_or_default();
            let part = found.len().min(rest.len());
            if part == 0 {
                return self.bytes.read_at(at, rest);
            }
            let (now, later) = rest.split_at_mut(part);
            now.copy_from_slice(found.get(..part).unwrap_or_default());
            rest = later;
            at = at.saturating_add(to_u64(part));
        }
        Ok(())
    }

    /// Fills `buffer` with a run: a short one through the cache, a long one directly.
    pub(crate) fn read_through(&mut self, at: u64, buffer: &mut [u8]) -> Result<()> {
        if buffer.len() < SHORT {
            self.read_at(at, buffer)
        } else {
            self.bytes.read_at(at, buffer)
        }
    }

    fn page(&mut self, number: u64) -> Result<&[u8]> {
        let n_slots = to_u64(self.slots.len()).max(1);
        let Some(slot) = self.slots.get_mut(to_usize(number % n_slots)?) else {
            return Ok(&[]);
        };
        if slot.as_ref().is_none_or(|(held, _)| *held != number) {
            let from = number.saturating_mul(PAGE);
            let len = PAGE.min(self.bytes.len().saturating_sub(from));
            let mut page = slot.take().map(|(_, page)| page).unwrap_or_default();
            memory::resize(&mut page, to_usize(len)?)?;
            self.bytes.read_at(from, &mut page)?;
            *slot = Some((number, page));
        }
        Ok(slot.as_ref().map_or(&[], |(_, page)| page))
    }
}
