//! Numbers as another type, lazily: cast in pieces, by several threads, when they are read.

use std::ops::Range;
use std::sync::Mutex;

use super::cast::{Overflow, Rounding, convert_rounded, is_exact};
use super::quick::{BLOCK, quick};
use super::{Number, Numbers};
use crate::bytes::{Bytes, Compute, Endian, PIECE, Source, Threads, in_order, narrow, swap, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;

impl Numbers {
    /// The same numbers as another type: exactly where that is possible, else rounded.
    pub(crate) fn cast(
        &self,
        to: Number,
        rounding: Rounding,
        over: Overflow,
        limits: &Limits,
    ) -> Result<Numbers> {
        if self.number == to {
            return Ok(self.clone());
        }
        let cast = Cast {
            numbers: self.clone(),
            to,
            rounding,
            over,
            limits: limits.clone(),
            settled: Mutex::default(),
        };
        Ok(Numbers {
            number: to,
            endian: Endian::Little,
            bytes: Bytes::whole(Source::computed(cast)),
        })
    }
}

struct Cast {
    numbers: Numbers,
    to: Number,
    rounding: Rounding,
    over: Overflow,
    limits: Limits,
    /// Where compressed numbers lie while they are read.
    settled: Mutex<Option<Numbers>>,
}

/// Some numbers before and after.
#[derive(Default)]
struct Piece {
    stored: Vec<u8>,
    cast: Vec<u8>,
}

impl Compute for Cast {
    fn len(&self) -> u64 {
        self.numbers.len().saturating_mul(wide(self.to.width()))
    }

    fn depth(&self) -> u32 {
        self.numbers.bytes.source().depth()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(wide(buffer.len()));
        let mut rest = buffer;
        self.for_each(at..end, PIECE, &mut |piece| {
            let room = std::mem::take(&mut rest).split_at_mut_checked(piece.len());
            let (now, later) = room.ok_or_else(|| Error::invalid("a cast is too long"))?;
            now.copy_from_slice(piece);
            rest = later;
            Ok(())
        })
    }

    fn for_each(
        &self,
        range: Range<u64>,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let numbers = self.at_hand()?;
        let (from, to) = (numbers.number.width(), wide(self.to.width()));
        let last = range.end.div_ceil(to);
        let mut next = range.start / to;
        let mut skip = narrow(range.start % to)?;
        let mut left = range.end.saturating_sub(range.start);
        let per_piece = wide(PIECE / from);
        let fill = |piece: &mut Piece| {
            let count = per_piece.min(last.saturating_sub(next));
            piece.stored.resize(narrow(count)?.saturating_mul(from), 0);
            let at = next.saturating_mul(wide(from));
            numbers.bytes.read_at(at, &mut piece.stored)?;
            next = next.saturating_add(count);
            Ok(count > 0)
        };
        let work = |piece: &mut Piece| {
            if numbers.must_swap(Endian::Little) {
                swap(&mut piece.stored, from);
            }
            piece.cast.clear();
            self.convert_all(&piece.stored, &mut piece.cast)
        };
        let threads = Threads::Cores.for_len(narrow(left)?);
        in_order(threads, fill, work, |piece| {
            let cast = piece.cast.get(skip..).unwrap_or_default();
            skip = 0;
            let cast = cast.get(..narrow(left)?).unwrap_or(cast);
            left = left.saturating_sub(wide(cast.len()));
            cast.chunks(budget.max(1)).try_for_each(&mut *each)
        })?;
        if range.end >= self.len() {
            self.let_go();
        }
        Ok(())
    }
}

impl Cast {
    /// The numbers where they can be read by position: decompressed once, if they have to be.
    fn at_hand(&self) -> Result<Numbers> {
        let stopped = |_| Error::invalid("another reader of the numbers stopped halfway");
        let mut settled = self.settled.lock().map_err(stopped)?;
        match &*settled {
            Some(numbers) => Ok(numbers.clone()),
            None => Ok(settled.insert(self.numbers.settled(&self.limits)?).clone()),
        }
    }

    /// Forgets what was decompressed.
    fn let_go(&self) {
        if let Ok(mut settled) = self.settled.lock() {
            *settled = None;
        }
    }

    /// Casts little-endian numbers, in blocks where there is a quick way.
    fn convert_all(&self, stored: &[u8], cast: &mut Vec<u8>) -> Result<()> {
        let (from, to) = (self.numbers.number, self.to);
        // The quick ways round to the nearest.
        let is_quick = self.rounding == Rounding::NearestEven || is_exact(from, to);
        let quick = quick(from, to).filter(|_| is_quick);
        for block in stored.chunks(BLOCK.saturating_mul(from.width())) {
            let start = cast.len();
            let len = block.len() / from.width() * to.width();
            cast.resize(start.saturating_add(len), 0);
            if let (Some(quick), Some(room)) = (quick, cast.get_mut(start..))
                && quick(block, room)
            {
                continue;
            }
            cast.truncate(start);
            for number in block.chunks_exact(from.width()) {
                let fits = convert_rounded(from, to, self.rounding, number, cast);
                if !fits && self.over == Overflow::Fails {
                    return Err(no_room(from, to, number));
                }
            }
        }
        Ok(())
    }
}

fn no_room(from: Number, to: Number, number: &[u8]) -> Error {
    let mut value = String::new();
    super::write_number(from, number, &mut value);
    let number = to.as_str();
    Error::NoRoom { value, number }
}
