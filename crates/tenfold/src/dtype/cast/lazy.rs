//! Lazy casts: numbers as another type, cast in pieces by several threads when they are read.

use std::sync::Arc;

use super::changes::Changes;
use super::map::{Work, worked};
use super::scalar::{Overflow, Rounding, convert_rounded, is_exact};
use super::simd::{BLOCK, Quick, quick};
use crate::bytes::{Endian, swap};
use crate::dtype::{Number, Numbers};
use crate::error::{Error, Result};
use crate::limits::Limits;

impl Numbers {
    /// The same numbers as another type: exact if possible, else rounded; `changes` counts the
    /// changes of every read.
    pub(crate) fn cast(
        &self,
        to: Number,
        rounding: Rounding,
        over: Overflow,
        changes: Option<Arc<Changes>>,
        limits: &Limits,
    ) -> Result<Numbers> {
        if self.number == to {
            return Ok(self.clone());
        }
        let cast = Cast {
            changes: changes.filter(|_| !is_exact(self.number, to)),
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

/// Width of the widest number, in bytes.
const WIDEST: usize = 16;

/// A cast from one number type to another.
#[derive(Clone)]
pub(crate) struct Cast {
    /// Counter of the changes, if they are counted.
    pub(crate) changes: Option<Arc<Changes>>,
    pub(crate) from: Number,
    /// Whether the bytes of the stored numbers must be swapped.
    pub(crate) must_swap: bool,
    pub(crate) to: Number,
    pub(crate) rounding: Rounding,
    pub(crate) over: Overflow,
}

impl Work for Cast {
    fn stored(&self) -> usize {
        self.from.width()
    }

    fn made(&self) -> usize {
        self.to.width()
    }

    /// Casts numbers, in blocks if there is a vectorized path.
    fn work(&self, stored: &[u8], made: &mut [u8]) -> Result<()> {
        let (from, to) = (self.from, self.to);
        // The vectorized paths round to nearest.
        let is_quick = self.rounding == Rounding::NearestEven || is_exact(from, to);
        let quick = quick(from, to).filter(|_| is_quick);
        let changes = self.changes.as_ref();
        let mut counter = changes.map(|changes| changes.counter(from, to));
        let mut turned = [0; BLOCK * WIDEST];
        let blocks = stored.chunks(BLOCK.saturating_mul(from.width()));
        let rooms = made.chunks_mut(BLOCK.saturating_mul(to.width()));
        for (block, room) in blocks.zip(rooms) {
            let block = match turned.get_mut(..block.len()).filter(|_| self.must_swap) {
                Some(turned) => {
                    turned.copy_from_slice(block);
                    swap(turned, from.width());
                    &*turned
                }
                None => block,
            };
            if !quick.is_some_and(|quick| quick(block, room)) {
                self.work_in_parts(quick, block, room)?;
            }
            if let Some(counter) = &mut counter {
                counter.add(block, room);
            }
        }
        Ok(())
    }
}

impl Cast {
    /// Casts a block with an exceptional number in it: only the part around it is done number by
    /// number.
    fn work_in_parts(&self, quick: Option<Quick>, block: &[u8], room: &mut [u8]) -> Result<()> {
        const PART: usize = 64;
        let (from, to) = (self.from, self.to);
        let parts = block.chunks(PART.saturating_mul(from.width()));
        let mut cast = Vec::new();
        for (part, room) in parts.zip(room.chunks_mut(PART.saturating_mul(to.width()))) {
            if quick.is_some_and(|quick| quick(part, room)) {
                continue;
            }
            cast.clear();
            for number in part.chunks_exact(from.width()) {
                let fits = convert_rounded(from, to, self.rounding, number, &mut cast);
                if !fits && self.over == Overflow::Fails {
                    return Err(no_room(from, to, number));
                }
            }
            if room.len() == cast.len() {
                room.copy_from_slice(&cast)
            } else {
                return Err(Error::invalid("a number of another width"));
            }
        }
        Ok(())
    }
}

fn no_room(from: Number, to: Number, number: &[u8]) -> Error {
    let mut value = String::new();
    crate::dtype::write_number(from, number, &mut value);
    let number = to.as_str();
    Error::NoRoom { value, number }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{Bytes, to_u64};
    use crate::dtype::cast::scalar::convert;

    #[test]
    fn odd_numbers_among_many_are_as_one_by_one_wherever_reading_begins() {
        let (count, part) = if cfg!(miri) { (120, 16) } else { (5000, 1024) };
        let mut numbers: Vec<f64> = { 0_u16.. }
            .take(count)
            .map(|n| f64::from(n) * 0.37 - 800.0)
            .collect();
        numbers[7] = f64::from_bits(0x7ff8_dead_beef_0001);
        numbers[count * 3 / 10] = -0.0;
        numbers[count * 2 / 5 + 47] = f64::NEG_INFINITY;
        numbers[count - 1] = f64::NAN;
        for to in [Number::F32, Number::F16, Number::Bf16] {
            let little: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            let big: Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
            let mut slowly = Vec::new();
            for number in little.chunks_exact(8) {
                assert!(convert(Number::F64, to, number, &mut slowly));
            }
            for (endian, bytes) in [(Endian::Little, little), (Endian::Big, big)] {
                let numbers = Numbers {
                    number: Number::F64,
                    endian,
                    bytes: Bytes::memory(bytes),
                };
                let limits = Limits::default();
                let cast = numbers.cast(to, Rounding::NearestEven, Overflow::Fails, None, &limits);
                let cast = cast.unwrap().bytes;
                assert_eq!(cast.to_vec().unwrap(), slowly, "{to} {endian:?}");
                let parts = [(3, 4 * part + 5), (4 * part, 6 * part)];
                for (start, end) in [(0, slowly.len())].into_iter().chain(parts) {
                    let mut part = vec![0; end - start];
                    cast.read_at(to_u64(start), &mut part).unwrap();
                    assert_eq!(part, slowly[start..end], "{to} {endian:?} {start}");
                }
            }
        }
    }
}
