//! The core deterministic encoding of CBOR (RFC 8949).
//!
//! Heads are as short as possible, lengths definite, keys of a map unique and in the bytewise order
//! of their encoding, floats as short as their value allows, with a single NaN. There are no tags,
//! and no simple values but true, false and null.
#![deny(clippy::arithmetic_side_effects)]

use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result};

/// The only NaN.
const NAN: u64 = 0x7e00;

/// Checks that `bytes`, which lie at `base` in a file of `format`, are one item in deterministic
/// encoding whose lists and maps are at most `levels` deep.
pub(crate) fn check(bytes: &[u8], base: u64, format: &'static str, levels: u64) -> Result<()> {
    let mut walk = Walk {
        bytes,
        at: 0,
        base,
        format,
    };
    walk.item(levels)?;
    if walk.at < bytes.len() {
        return walk.fail(walk.at, "bytes left over after the last item");
    }
    Ok(())
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u64,
    format: &'static str,
}

impl<'a> Walk<'a> {
    fn fail<T>(&self, at: usize, why: impl Into<String>) -> Result<T> {
        let at = self.base.saturating_add(to_u64(at));
        Err(Error::malformed(at, why).of(self.format))
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        let end = to_usize(len)
            .ok()
            .and_then(|len| self.at.checked_add(len))
            .unwrap_or(usize::MAX);
        let Some(taken) = self.bytes.get(self.at..end) else {
            return self.fail(self.at, format!("{len} bytes expected, the item ends"));
        };
        self.at = end;
        Ok(taken)
    }

    /// The major type of the next item and its argument, with the length of the argument.
    fn head(&mut self) -> Result<(u8, u64, u64)> {
        let start = self.at;
        let first = self.take(1)?.first().copied().unwrap_or(0);
        let (kind, info) = (first >> 5, first & 0x1f);
        let width = match info {
            0..=23 => return Ok((kind, info.into(), 0)),
            24..=27 => 1_u64 << (info & 3),
            28..=30 => return self.fail(start, "no item begins like this"),
            _ => return self.fail(start, "a length that is not stated"),
        };
        let bytes = self.take(width)?.iter();
        let argument = bytes.fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        let is_shortest = match width {
            1 => argument >= 24,
            2 => argument > 0xff,
            4 => argument > 0xffff,
            _ => argument > 0xffff_ffff,
        };
        // The bits after the head of a float are no length.
        if kind < 7 && !is_shortest {
            return self.fail(start, format!("{argument} takes more bytes than it needs"));
        }
        Ok((kind, argument, width))
    }

    fn item(&mut self, levels: u64) -> Result<()> {
        let start = self.at;
        let (kind, argument, width) = self.head()?;
        let deeper = match (kind, levels.checked_sub(1)) {
            (4 | 5, None) => return self.fail(start, "lists and maps are nested too deeply"),
            (_, deeper) => deeper.unwrap_or(0),
        };
        match kind {
            0 | 1 => Ok(()),
            2 => self.take(argument).map(|_| ()),
            3 => match std::str::from_utf8(self.take(argument)?) {
                Ok(_) => Ok(()),
                Err(_) => self.fail(start, "text that is not UTF-8"),
            },
            4 => (0..argument).try_for_each(|_| self.item(deeper)),
            5 => self.pairs(argument, deeper),
            6 => self.fail(start, "a tag"),
            _ => self.simple(start, argument, width),
        }
    }

    fn pairs(&mut self, count: u64, levels: u64) -> Result<()> {
        let mut last: &[u8] = &[];
        for _ in 0..count {
            let start = self.at;
            self.item(levels)?;
            let key = self.bytes.get(start..self.at).unwrap_or_default();
            if key == last {
                return self.fail(start, "a key stands twice in one map");
            }
            if key < last {
                return self.fail(start, "the keys of a map are not in order");
            }
            last = key;
            self.item(levels)?;
        }
        Ok(())
    }

    fn simple(&self, start: usize, bits: u64, width: u64) -> Result<()> {
        let is_shortest = match width {
            0 if (20..=22).contains(&bits) => true,
            0 | 1 => return self.fail(start, format!("the simple value {bits}")),
            2 => is_number(bits, 0x7c00, 0x03ff) || bits == NAN,
            4 => is_number(bits, 0x7f80_0000, 0x007f_ffff) && !is_half(bits),
            _ => is_number(bits, 0x7ff0_0000_0000_0000, 0x000f_ffff_ffff_ffff) && !is_single(bits),
        };
        if is_shortest {
            Ok(())
        } else {
            self.fail(start, "a float takes more bytes than it needs")
        }
    }
}

/// Whether the bits of a float are not NaN.
fn is_number(bits: u64, exponent: u64, fraction: u64) -> bool {
    bits & exponent != exponent || bits & fraction == 0
}

/// Whether a half can represent a single.
fn is_half(bits: u64) -> bool {
    let single = f32::from_bits(u32::try_from(bits).unwrap_or(0));
    half::f16::from_f32(single).to_f32().to_bits() == single.to_bits()
}

/// Whether a single can represent a double.
fn is_single(bits: u64) -> bool {
    let double = f64::from_bits(bits);
    #[expect(clippy::as_conversions, reason = "rounds, and that is what is asked")]
    let single = double as f32;
    f64::from(single).to_bits() == bits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fine(bytes: &[u8]) -> bool {
        check(bytes, 0, "test", 3).is_ok()
    }

    #[test]
    fn every_item_has_one_spelling() {
        let fine: [&[u8]; 12] = [
            b"\x17",
            b"\x18\x18",
            b"\x39\x01\x00",
            b"\x1b\x00\x00\x00\x01\x00\x00\x00\x00",
            b"\xf9\x7e\x00",
            b"\xf9\x7c\x00",
            b"\xfa\x47\x80\x00\x00",
            b"\xfb\x3f\xb9\x99\x99\x99\x99\x99\x9a",
            b"\xa2\x01\x02\x61a\x02",
            b"\xa2\x61b\x01\x62aa\x02",
            b"\x81\x81\x81\xf6",
            b"\x43\xff\x00\x01",
        ];
        assert!(fine.iter().all(|bytes| is_fine(bytes)));
        let wrong: [&[u8]; 20] = [
            b"",
            b"\x18\x17",
            b"\x19\x00\xff",
            b"\x58\x01a",
            b"\x9f\xff",
            b"\x1c",
            b"\xc0\x60",
            b"\xf7",
            b"\xf8\xff",
            b"\xf9\x7e\x01",
            b"\xf9\xfe\x00",
            b"\xfa\x3f\x80\x00\x00",
            b"\xfa\x7f\xc0\x00\x01",
            b"\xfb\x3f\xf0\x00\x00\x00\x00\x00\x00",
            b"\xa2\x62aa\x01\x61b\x02",
            b"\xa2\x61a\x01\x61a\x02",
            b"\x81\x81\x81\x81\xf6",
            b"\x61\xff",
            b"\x00\x00",
            b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x00",
        ];
        for bytes in wrong {
            assert!(!is_fine(bytes), "{bytes:02x?}");
        }
    }

    #[test]
    fn a_fault_knows_its_byte() {
        let error = check(b"\x82\x00\x18\x01", 100, "test", 3).unwrap_err();
        let text = "not a valid test file: 1 takes more bytes than it needs (byte 102)";
        assert_eq!(error.to_string(), text);
    }
}
