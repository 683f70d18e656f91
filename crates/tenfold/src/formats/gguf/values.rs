//! Parsing of metadata values.
#![deny(clippy::arithmetic_side_effects)]

use super::NAME;
use super::metadata_type::{ARRAY, Kind, Whole};
use crate::bytes::{Endian, Scan, to_u64};
use crate::error::{Error, Result};
use crate::format::{Mode, ReadOptions};
use crate::limits::Limits;
use crate::memory;
use crate::meta::Value;

/// A parser of values.
pub(super) struct Values<'a, 's> {
    pub(super) scan: &'a mut Scan<'s>,
    pub(super) endian: Endian,
    limits: &'a Limits,
    mode: Mode,
    /// Offset of the first text that is no UTF-8.
    pub(super) not_text: Option<u64>,
    bytes: Vec<u8>,
}

/// Bytes of fixed-width items read at a time.
const RUN: usize = 1 << 16;

impl<'a, 's> Values<'a, 's> {
    pub(super) fn new(scan: &'a mut Scan<'s>, endian: Endian, how: &'a ReadOptions) -> Self {
        Values {
            scan,
            endian,
            limits: &how.limits,
            mode: how.mode,
            not_text: None,
            bytes: Vec::new(),
        }
    }

    /// A text that must be UTF-8: a name.
    pub(super) fn name(&mut self) -> Result<String> {
        let at = self.scan.at();
        let len = self.scan.u64(self.endian)?;
        self.limits.check_text(len)?;
        let bytes = self.scan.keep(len, self.limits)?;
        String::from_utf8(bytes).or_else(|_| self.scan.fail_at(at, "a name is not UTF-8"))
    }

    /// The next value, and its type.
    pub(super) fn value(&mut self) -> Result<(Value, Kind)> {
        let at = self.scan.at();
        match self.scan.u32(self.endian)? {
            ARRAY => self.array(1),
            code => {
                let kind = self.plain(code, at)?;
                Ok((self.of_kind(&kind)?, kind))
            }
        }
    }

    fn plain(&self, code: u32, at: u64) -> Result<Kind> {
        let unknown = || Error::malformed(at, format!("{code} is no type of metadata")).of(NAME);
        Kind::numbered(code).ok_or_else(unknown)
    }

    fn array(&mut self, depth: u64) -> Result<(Value, Kind)> {
        self.limits.check_depth(depth)?;
        let at = self.scan.at();
        let code = self.scan.u32(self.endian)?;
        let count_at = self.scan.at();
        let count = self.scan.u64(self.endian)?;
        let items = match code {
            ARRAY => None,
            code => Some(self.plain(code, at)?),
        };
        let least = match &items {
            None => 12,
            Some(kind) => kind.width().map_or(8, to_u64),
        };
        let left = self.scan.left();
        if count.checked_mul(least).is_none_or(|len| len > left) {
            let why = format!("an array of {count} items, {left} bytes left");
            return self.scan.fail_at(count_at, why);
        }
        self.limits.charge_list::<Value>(count)?;
        let mut values = memory::with_room(self.scan.room(count, least))?;
        let kind = match items {
            None => self.arrays(count, depth, &mut values)?,
            Some(kind) => {
                self.items(count, &kind, &mut values)?;
                kind
            }
        };
        Ok((Value::List(values), Kind::Array(Some(Box::new(kind)))))
    }

    /// Arrays inside an array; returns their common type.
    fn arrays(&mut self, count: u64, depth: u64, values: &mut Vec<Value>) -> Result<Kind> {
        let mut common = None;
        let mut is_first = true;
        for _ in 0..count {
            let (value, kind) = self.array(depth.saturating_add(1))?;
            memory::push(values, value)?;
            common = if is_first {
                Some(kind)
            } else {
                common.filter(|common| *common == kind)
            };
            is_first = false;
        }
        Ok(common.unwrap_or(Kind::Array(None)))
    }

    fn items(&mut self, count: u64, kind: &Kind, values: &mut Vec<Value>) -> Result<()> {
        let Some(width) = kind.width() else {
            for _ in 0..count {
                memory::push(values, self.text()?)?;
            }
            return Ok(());
        };
        let per_run = to_u64(RUN.checked_div(width).unwrap_or(1));
        let mut left = count;
        while left > 0 {
            let now = left.min(per_run);
            let at = self.scan.at();
            let mut bytes = std::mem::take(&mut self.bytes);
            self.scan
                .take_into(now.saturating_mul(to_u64(width)), &mut bytes)?;
            for (item, place) in bytes.chunks_exact(width).zip(0_u64..) {
                let at = at.saturating_add(place.saturating_mul(to_u64(width)));
                memory::push(values, self.number(kind, item, at)?)?;
            }
            self.bytes = bytes;
            left = left.saturating_sub(now);
        }
        Ok(())
    }

    fn of_kind(&mut self, kind: &Kind) -> Result<Value> {
        self.limits.charge_items::<Value>(1)?;
        let Some(width) = kind.width() else {
            return self.text();
        };
        let at = self.scan.at();
        let bytes = self.scan.take(to_u64(width))?;
        self.number(kind, &bytes, at)
    }

    /// A value of fixed width.
    fn number(&self, kind: &Kind, bytes: &[u8], at: u64) -> Result<Value> {
        let bits = bits(bytes, self.endian);
        Ok(match kind {
            Kind::Whole(whole) => Value::Int(whole_number(*whole, bits)),
            Kind::F32 => Value::Float { bits, width: 32 },
            Kind::F64 => Value::Float { bits, width: 64 },
            Kind::Bool => match bits {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                other => {
                    let why = format!("a bool is {other}, neither 0 nor 1");
                    return self.scan.fail_at(at, why);
                }
            },
            Kind::Text | Kind::Array(_) => Value::Null,
        })
    }

    fn text(&mut self) -> Result<Value> {
        let at = self.scan.at();
        let len = self.scan.u64(self.endian)?;
        let bytes = self.scan.keep(len, self.limits)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Value::Text(text)),
            Err(_) if self.mode == Mode::Strict => self.scan.fail_at(at, "a text is not UTF-8"),
            Err(error) => {
                self.not_text.get_or_insert(at);
                Ok(Value::Bytes(error.into_bytes()))
            }
        }
    }
}

/// The bits of a number, zero-extended.
fn bits(bytes: &[u8], endian: Endian) -> u64 {
    let join = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    match endian {
        Endian::Little => bytes.iter().rev().fold(0, join),
        Endian::Big => bytes.iter().fold(0, join),
    }
}

fn whole_number(whole: Whole, bits: u64) -> i128 {
    if !whole.is_signed() {
        return bits.into();
    }
    let unused = u32::try_from(whole.width())
        .unwrap_or(8)
        .saturating_mul(8)
        .abs_diff(64);
    // Shifted to the top and back, which extends the sign.
    let top = bits.checked_shl(unused).unwrap_or_default().cast_signed();
    top.checked_shr(unused).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_extended_in_either_byte_order() {
        for (whole, bytes, wanted) in [
            (Whole::I8, &[0xff][..], -1),
            (Whole::U8, &[0xff], 255),
            (Whole::I16, &[0xfe, 0xff], -2),
            (Whole::I32, &[0, 0, 0, 0x80], -(1 << 31)),
            (Whole::I64, &[1, 0, 0, 0, 0, 0, 0, 0], 1),
            (Whole::U64, &[0xff; 8], (1 << 64) - 1),
            (Whole::I64, &[0xff; 8], -1),
        ] {
            assert_eq!(whole_number(whole, bits(bytes, Endian::Little)), wanted);
            let turned: Vec<u8> = bytes.iter().rev().copied().collect();
            assert_eq!(whole_number(whole, bits(&turned, Endian::Big)), wanted);
        }
    }
}
