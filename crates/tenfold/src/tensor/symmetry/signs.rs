//! Lazy negation: numbers with flipped signs.
#![deny(clippy::arithmetic_side_effects)]

use crate::bytes::{Bytes, Endian, to_u64};
use crate::dtype::{Kind, Numbers};
use crate::error::{Error, Result};
use crate::io::{Compute, Source};

/// Selects the signs to flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signs {
    /// All of them.
    All,
    /// Every second one: the imaginary parts of complex elements.
    Imaginary,
}

impl Numbers {
    /// The same floating point numbers with flipped signs, lazily; they must have random access.
    pub(crate) fn with_signs_flipped(&self, signs: Signs) -> Result<Numbers> {
        if self.number.kind() != Kind::Float {
            let why = format!("{} has no sign to flip", self.number);
            return Err(Error::invalid(why));
        }
        let flipped = Flipped {
            numbers: self.clone(),
            signs,
        };
        Ok(Numbers {
            bytes: Bytes::whole(Source::computed(flipped)),
            ..self.clone()
        })
    }
}

struct Flipped {
    numbers: Numbers,
    signs: Signs,
}

impl Compute for Flipped {
    fn len(&self) -> u64 {
        self.numbers.bytes.len()
    }

    fn inputs(&self) -> Vec<&Bytes> {
        vec![&self.numbers.bytes]
    }

    fn depth(&self) -> u32 {
        self.numbers.bytes.source().depth()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        self.numbers.bytes.read_at(at, buffer)?;
        let width = to_u64(self.numbers.number.width()).max(1);
        let sign = match self.numbers.endian {
            Endian::Little => width.saturating_sub(1),
            Endian::Big => 0,
        };
        let period = match self.signs {
            Signs::All => width,
            Signs::Imaginary => width.saturating_mul(2),
        };
        // The sign of the last number of every period.
        let sign = sign.saturating_add(period.saturating_sub(width));
        let past = at.checked_rem(period).unwrap_or(0);
        let skip = match sign.checked_sub(past) {
            Some(skip) => skip,
            None => sign.saturating_add(period).saturating_sub(past),
        };
        let (skip, step) = (usize::try_from(skip), usize::try_from(period));
        let (Ok(skip), Ok(step)) = (skip, step) else {
            return Ok(());
        };
        for byte in buffer.iter_mut().skip(skip).step_by(step.max(1)) {
            *byte ^= 0x80;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(numbers: &Numbers, cut: usize) -> Vec<u8> {
        let mut all = vec![0; usize::try_from(numbers.bytes.len()).unwrap()];
        for (number, piece) in all.chunks_mut(cut).enumerate() {
            let at = to_u64(number.saturating_mul(cut));
            numbers.bytes.read_at(at, piece).unwrap();
        }
        all
    }

    #[test]
    fn signs_are_flipped_wherever_reading_begins() {
        let values = [1.0_f32, 2.0, -0.0, f32::NAN, 5.0, -6.0];
        let imaginary = [1.0_f32, -2.0, -0.0, -f32::NAN, 5.0, 6.0];
        let all = values.map(|value| -value);
        let little = Numbers::from_vec(&values);
        let mut bytes = little.bytes.to_vec().unwrap();
        bytes.chunks_mut(4).for_each(<[u8]>::reverse);
        let big = Numbers {
            endian: Endian::Big,
            bytes: Bytes::memory(bytes),
            ..little.clone()
        };
        for (numbers, is_big) in [(little, false), (big, true)] {
            for (signs, expected) in [(Signs::All, all), (Signs::Imaginary, imaginary)] {
                let flipped = numbers.with_signs_flipped(signs).unwrap();
                for cut in 1..25 {
                    let mut found = read(&flipped, cut);
                    if is_big {
                        found.chunks_mut(4).for_each(<[u8]>::reverse);
                    }
                    let expected: Vec<u8> = expected.iter().flat_map(|v| v.to_le_bytes()).collect();
                    assert_eq!(found, expected, "{signs:?} {cut}");
                }
            }
        }
    }
}
