//! Numbers as another type, lazily: cast in pieces, by several threads, when they are read.

use super::cast::{Overflow, Rounding, convert_rounded, is_exact};
use super::quick::{BLOCK, quick};
use super::worked::{Work, worked};
use super::{Number, Numbers};
use crate::bytes::{Endian, swap};
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
            from: self.number,
            must_swap: self.must_swap(Endian::Little),
            to,
            rounding,
            over,
        };
        Ok(Numbers {
            number: to,
            endian: Endian::Little,
            bytes: worked(&self.bytes, cast, limits),
        })
    }
}

/// From numbers to numbers of another type.
#[derive(Clone, Copy)]
pub(super) struct Cast {
    pub(super) from: Number,
    /// Whether the numbers are big-endian.
    pub(super) must_swap: bool,
    pub(super) to: Number,
    pub(super) rounding: Rounding,
    pub(super) over: Overflow,
}

impl Work for Cast {
    fn stored(&self) -> usize {
        self.from.width()
    }

    fn made(&self) -> usize {
        self.to.width()
    }

    /// Casts numbers, in blocks where there is a quick way.
    fn work(&self, stored: &mut [u8], cast: &mut Vec<u8>) -> Result<()> {
        let (from, to) = (self.from, self.to);
        if self.must_swap {
            swap(stored, from.width());
        }
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
