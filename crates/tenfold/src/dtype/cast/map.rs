//! Lazy maps over units of a fixed size: computed in pieces, by several threads, when they are
//! read.

use std::ops::Range;
use std::sync::Mutex;

use crate::bytes::{Bytes, PIECE, put_next, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Compute, Source, Threads, ordered_pipeline, par_for_each};
use crate::limits::Limits;
use crate::memory;

/// A map from units of bytes to units of another length.
pub(crate) trait Work: Send + Sync + 'static {
    /// Length of a stored unit.
    fn stored(&self) -> usize;

    /// Length of a computed unit.
    fn made(&self) -> usize;

    /// Maps some whole units; `made` has the length of the result.
    fn work(&self, stored: &[u8], made: &mut [u8]) -> Result<()>;
}

/// The result of `work` for all units of `bytes`.
pub(crate) fn worked(bytes: &Bytes, work: impl Work, limits: &Limits) -> Bytes {
    Bytes::whole(Source::computed(Worked {
        bytes: bytes.clone(),
        work,
        limits: limits.clone(),
        settled: Mutex::default(),
    }))
}

struct Worked<W> {
    bytes: Bytes,
    work: W,
    limits: Limits,
    /// Compressed bytes, decompressed while they are being read.
    settled: Mutex<Option<Bytes>>,
}

/// Some units, before and after.
#[derive(Default)]
struct Piece {
    stored: Vec<u8>,
    made: Vec<u8>,
}

impl<W: Work> Compute for Worked<W> {
    fn len(&self) -> u64 {
        let units = self.bytes.len() / to_u64(self.work.stored());
        units.saturating_mul(to_u64(self.work.made()))
    }

    fn inputs(&self) -> Vec<&Bytes> {
        vec![&self.bytes]
    }

    fn depth(&self) -> u32 {
        self.bytes.source().depth()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(to_u64(buffer.len()));
        if self.read_units(at, buffer)? {
            if end >= self.len() {
                self.let_go();
            }
            return Ok(());
        }
        let mut rest = buffer;
        self.for_each(at..end, PIECE, &mut |piece| put_next(piece, &mut rest))
    }

    fn for_each(
        &self,
        range: Range<u64>,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let bytes = self.at_hand()?;
        let (from, to) = (self.work.stored(), to_u64(self.work.made()));
        let last = range.end.div_ceil(to);
        let mut next = range.start / to;
        let mut skip = to_usize(range.start % to)?;
        let mut left = range.end.saturating_sub(range.start);
        let per_piece = to_u64(PIECE / from).max(1);
        let fill = |piece: &mut Piece| {
            let count = per_piece.min(last.saturating_sub(next));
            memory::resize(&mut piece.stored, to_usize(count)?.saturating_mul(from))?;
            let at = next.saturating_mul(to_u64(from));
            bytes.read_at(at, &mut piece.stored)?;
            next = next.saturating_add(count);
            Ok(count > 0)
        };
        let work = |piece: &mut Piece| {
            let units = piece.stored.len() / from;
            memory::resize(&mut piece.made, units.saturating_mul(self.work.made()))?;
            self.work.work(&piece.stored, &mut piece.made)
        };
        let threads = Threads::Cores.for_len(to_usize(left)?);
        ordered_pipeline(threads, fill, work, |piece| {
            let made = piece.made.get(skip..).unwrap_or_default();
            skip = 0;
            let made = made.get(..to_usize(left)?).unwrap_or(made);
            left = left.saturating_sub(to_u64(made.len()));
            made.chunks(budget.max(1)).try_for_each(&mut *each)
        })?;
        if range.end >= self.len() {
            self.let_go();
        }
        Ok(())
    }
}

impl<W: Work> Worked<W> {
    /// Fills `buffer` with whole units, computed in place by several threads; false if it does not
    /// begin and end at a unit, or if the input must be computed in order itself.
    fn read_units(&self, at: u64, buffer: &mut [u8]) -> Result<bool> {
        /// Bytes that one thread computes at a time.
        const SHARE: usize = 1 << 20;
        let (from, to) = (self.work.stored(), self.work.made());
        let bytes = self.at_hand()?;
        let is_whole = at.is_multiple_of(to_u64(to)) && buffer.len().is_multiple_of(to);
        if !is_whole || bytes.source().is_computed() {
            return Ok(false);
        }
        let start = (at / to_u64(to)).saturating_mul(to_u64(from));
        let share = (SHARE / to).max(1);
        let threads = Threads::Cores.for_len(buffer.len());
        let shares = buffer.chunks_mut(share.saturating_mul(to)).enumerate();
        par_for_each(threads, shares, |(number, out)| {
            let skipped = to_u64(number.saturating_mul(share)).saturating_mul(to_u64(from));
            let start = start.saturating_add(skipped);
            let len = (out.len() / to).saturating_mul(from);
            if let Some(all) = bytes.as_slice() {
                let stored = all.get(to_usize(start)?..).and_then(|rest| rest.get(..len));
                let stored = stored.ok_or_else(|| Error::invalid("a unit outside its bytes"))?;
                return self.work.work(stored, out);
            }
            let mut stored = memory::zeros(len)?;
            bytes.read_at(start, &mut stored)?;
            self.work.work(&stored, out)
        })?;
        Ok(true)
    }

    /// The input with random access: decompressed once, if necessary.
    fn at_hand(&self) -> Result<Bytes> {
        let stopped = |_| Error::invalid("another reader of the numbers stopped halfway");
        let mut settled = self.settled.lock().map_err(stopped)?;
        match &*settled {
            Some(bytes) => Ok(bytes.clone()),
            None => Ok(settled.insert(self.bytes.settled(&self.limits)?).clone()),
        }
    }

    /// Drops the decompressed input.
    fn let_go(&self) {
        if let Ok(mut settled) = self.settled.lock() {
            *settled = None;
        }
    }
}
