//! From one number type to another, lazily.

use half::{bf16, f16};
use rustc_apfloat::{Float, FloatConvert, ieee};

use super::{Element, Kind, Number, Numbers};
use crate::bytes::{Bytes, Compute, Endian, Source, narrow, swap, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// Whether every value of `from` is a value of `to`.
pub(crate) fn is_exact(from: Number, to: Number) -> bool {
    if from == to {
        return true;
    }
    let bits = |number: Number| number.width().saturating_mul(8);
    match (from.kind(), to.kind()) {
        (_, Kind::Bool) => false,
        (Kind::Bool, _) => true,
        (Kind::Unsigned, Kind::Unsigned) | (Kind::Signed, Kind::Signed) => bits(to) >= bits(from),
        (Kind::Unsigned, Kind::Signed) => bits(to) > bits(from),
        (Kind::Unsigned, Kind::Float) => significand(to) >= bits(from),
        (Kind::Signed, Kind::Float) => significand(to) >= bits(from).saturating_sub(1),
        (Kind::Float, Kind::Float) => {
            significand(to) >= significand(from) && exponent(to) >= exponent(from)
        }
        (Kind::Signed, Kind::Unsigned) | (Kind::Float, Kind::Signed | Kind::Unsigned) => false,
    }
}

/// Whether values of `from` can be rounded to the nearest of `to`: only floats take everything.
pub(crate) fn is_rounded(from: Number, to: Number) -> bool {
    to.kind() == Kind::Float && from != to && matches!(to, Number::F32 | Number::F64)
}

/// The bits of a float's significand, the one that is not stored included.
fn significand(number: Number) -> usize {
    match number {
        Number::F16 => 11,
        Number::Bf16 => 8,
        Number::F32 => 24,
        Number::F64 => 53,
        Number::F128 => 113,
        _ => 0,
    }
}

/// The bits of a float's exponent.
fn exponent(number: Number) -> usize {
    match number {
        Number::F16 => 5,
        Number::Bf16 | Number::F32 => 8,
        Number::F64 => 11,
        Number::F128 => 15,
        _ => 0,
    }
}

impl Numbers {
    /// The same numbers as another type: exactly where that is possible, else rounded to the
    /// nearest, ties to even.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the type cannot take them.
    pub(crate) fn cast(&self, to: Number, limits: &Limits) -> Result<Numbers> {
        if self.number == to {
            return Ok(self.clone());
        }
        if !is_exact(self.number, to) && !is_rounded(self.number, to) {
            return Err(Error::invalid(format!(
                "{} cannot become {to}",
                self.number
            )));
        }
        let cast = Cast {
            numbers: self.settled(limits)?,
            to,
        };
        let bytes = Bytes::whole(Source::computed(cast));
        Ok(Numbers {
            number: to,
            endian: Endian::Little,
            bytes,
        })
    }
}

struct Cast {
    numbers: Numbers,
    to: Number,
}

impl Compute for Cast {
    fn len(&self) -> u64 {
        self.numbers.len().saturating_mul(wide(self.to.width()))
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let (from, to) = (self.numbers.number, self.to);
        let width = wide(to.width());
        let first = at / width;
        let last = at.saturating_add(wide(buffer.len())).div_ceil(width);
        let mut stored = vec![0; narrow(last.saturating_sub(first))?.saturating_mul(from.width())];
        self.numbers
            .bytes
            .read_at(first.saturating_mul(wide(from.width())), &mut stored)?;
        if self.numbers.must_swap(Endian::Little) {
            swap(&mut stored, from.width());
        }
        let mut cast = Vec::with_capacity(buffer.len().saturating_add(to.width()));
        for number in stored.chunks_exact(from.width()) {
            convert(from, to, number, &mut cast);
        }
        let skip = narrow(at % width)?;
        let wanted = cast.get(skip..).and_then(|cast| cast.get(..buffer.len()));
        buffer.copy_from_slice(wanted.ok_or_else(|| Error::invalid("a cast is too short"))?);
        Ok(())
    }
}

/// Appends one number, given by its little-endian bytes, as another type.
fn convert(from: Number, to: Number, bytes: &[u8], out: &mut Vec<u8>) {
    match (from.kind(), to.kind()) {
        (Kind::Float, Kind::Float) if is_exact(from, to) => widen(from, to, bytes, out),
        (_, Kind::Float) => round(from, to, bytes, out),
        _ => extend(from, to, bytes, out),
    }
}

/// An integer in more bytes.
fn extend(from: Number, to: Number, bytes: &[u8], out: &mut Vec<u8>) {
    let truth = [u8::from(bytes.iter().any(|byte| *byte != 0))];
    let bytes = if from == Number::Bool { &truth } else { bytes };
    let is_negative =
        from.kind() == Kind::Signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let filler = if is_negative { 0xff } else { 0 };
    out.extend(
        bytes
            .iter()
            .copied()
            .chain(std::iter::repeat(filler))
            .take(to.width()),
    );
}

/// A float in a wider one: bit by bit, so that NaN keeps its payload.
fn widen(from: Number, to: Number, bytes: &[u8], out: &mut Vec<u8>) {
    let narrow_bits = significand(from).saturating_sub(1);
    let wide_bits = significand(to).saturating_sub(1);
    let bits = bytes
        .iter()
        .rev()
        .fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let top = |number: Number| (1_u128 << exponent(number)) - 1;
    let sign = bits >> (narrow_bits + exponent(from)) & 1;
    let power = bits >> narrow_bits & top(from);
    let fraction = bits & ((1 << narrow_bits) - 1);
    let shift = wide_bits - narrow_bits;
    let bias = (top(to) >> 1) - (top(from) >> 1);
    let (power, fraction) = if power == top(from) {
        (top(to), fraction << shift)
    } else if power > 0 {
        (power + bias, fraction << shift)
    } else if fraction == 0 || bias == 0 {
        (0, fraction << shift)
    } else {
        // A subnormal becomes normal: its first set bit is the one that is not stored.
        let lead = u128::from(128 - fraction.leading_zeros());
        let raised = fraction << (u128::from(wide(wide_bits)) + 1 - lead);
        (
            bias + lead - u128::from(wide(narrow_bits)),
            raised & ((1 << wide_bits) - 1),
        )
    };
    let wide_number = sign << (wide_bits + exponent(to)) | power << wide_bits | fraction;
    out.extend(wide_number.to_le_bytes().iter().take(to.width()));
}

/// Anything as the nearest float.
#[expect(
    clippy::as_conversions,
    reason = "`as` rounds to the nearest, ties to even, as meant"
)]
fn round(from: Number, to: Number, bytes: &[u8], out: &mut Vec<u8>) {
    let single = match from {
        Number::U128 => <u128 as Element>::from_le(bytes) as f32,
        Number::I128 => <i128 as Element>::from_le(bytes) as f32,
        Number::U64 => <u64 as Element>::from_le(bytes) as f32,
        Number::I64 => <i64 as Element>::from_le(bytes) as f32,
        Number::F128 => {
            let quad = ieee::Quad::from_bits(<u128 as Element>::from_le(bytes));
            let single: ieee::Single = quad.convert(&mut false).value;
            f32::from_bits(u32::try_from(single.to_bits()).unwrap_or(0))
        }
        // A double holds all others exactly.
        other => other.to_f64(bytes) as f32,
    };
    match to {
        Number::F16 => f16::from_f64(from.to_f64(bytes)).to_le(out),
        Number::Bf16 => bf16::from_f64(from.to_f64(bytes)).to_le(out),
        Number::F32 => Element::to_le(single, out),
        Number::F128 => super::F128::from(from.to_f64(bytes)).to_le(out),
        _ => Element::to_le(from.to_f64(bytes), out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::F128;

    fn cast(from: Number, to: Number, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        convert(from, to, bytes, &mut out);
        out
    }

    #[test]
    fn every_16_bit_float_widens_to_what_the_library_says() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            let wide = f32::from_le(&cast(Number::F16, Number::F32, &bits.to_le_bytes()));
            let wider = f64::from_le(&cast(Number::F16, Number::F64, &bits.to_le_bytes()));
            let long = f32::from_le(&cast(Number::Bf16, Number::F32, &bits.to_le_bytes()));
            if half.is_nan() {
                assert!(wide.is_nan() && wider.is_nan());
            } else {
                assert_eq!(wide.to_bits(), half.to_f32().to_bits(), "{bits:04x}");
                assert_eq!(wider.to_bits(), half.to_f64().to_bits(), "{bits:04x}");
            }
            assert_eq!(long.to_bits() >> 16, u32::from(bits), "{bits:04x}");
            assert!(brain.is_nan() || long.to_bits() == brain.to_f32().to_bits());
        }
    }

    #[test]
    fn a_nan_keeps_its_payload_when_it_is_widened() {
        let signalling = f32::from_bits(0xff80_0001);
        let wide = cast(Number::F32, Number::F64, &signalling.to_le_bytes());
        assert_eq!(
            u64::from_le_bytes(wide.try_into().unwrap()),
            0xfff0_0000_2000_0000
        );
    }

    #[test]
    fn doubles_widen_to_quads_and_round_to_singles() {
        for number in [
            0.1,
            -0.0,
            5e-324,
            f64::MAX,
            1.0 + f64::EPSILON,
            f64::NEG_INFINITY,
        ] {
            let quad = cast(Number::F64, Number::F128, &number.to_le_bytes());
            assert_eq!(F128::from_le(&quad), F128::from(number), "{number}");
            let single = cast(Number::F64, Number::F32, &number.to_le_bytes());
            #[expect(clippy::as_conversions, reason = "what it is compared with")]
            let wanted = number as f32;
            assert_eq!(f32::from_le(&single).to_bits(), wanted.to_bits());
        }
    }

    #[test]
    fn integers_are_extended_by_their_sign() {
        assert_eq!(
            cast(Number::I8, Number::I32, &[0x80]),
            (-128_i32).to_le_bytes()
        );
        assert_eq!(
            cast(Number::U8, Number::I16, &[0xff]),
            255_i16.to_le_bytes()
        );
        assert_eq!(cast(Number::Bool, Number::U8, &[7]), [1]);
        assert_eq!(
            cast(Number::I16, Number::F32, &(-3_i16).to_le_bytes()),
            (-3.0_f32).to_le_bytes()
        );
    }

    #[test]
    fn exactness_is_decided_by_the_bits_there_are() {
        assert!(is_exact(Number::I16, Number::F32) && is_exact(Number::U32, Number::F64));
        assert!(!is_exact(Number::I32, Number::F32) && !is_exact(Number::U64, Number::F64));
        assert!(is_exact(Number::Bf16, Number::F32) && !is_exact(Number::Bf16, Number::F16));
        assert!(!is_exact(Number::I8, Number::U128) && is_exact(Number::U8, Number::I16));
    }
}
