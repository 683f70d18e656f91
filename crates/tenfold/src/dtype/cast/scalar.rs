//! Casts of single numbers from one type to another.

use rustc_apfloat::{Float, FloatConvert, Round, Status, ieee};

use crate::bytes::to_u64;
use crate::dtype::{Element, Kind, Number};

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

/// Handling of values that are out of range in another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// An error.
    Fails,
    /// Saturation to the nearest value; NaN becomes 0.
    Saturates,
}

/// Rounding of a value between two neighbors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rounding {
    /// To nearest, ties to even.
    #[default]
    NearestEven,
    /// Toward zero: truncation.
    TowardZero,
}

impl Rounding {
    fn round(self) -> Round {
        match self {
            Rounding::NearestEven => Round::NearestTiesToEven,
            Rounding::TowardZero => Round::TowardZero,
        }
    }
}

/// The bits of a float's significand, the hidden bit included.
pub(crate) fn significand(number: Number) -> usize {
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

/// Appends one number, given by its little-endian bytes, as another type; false if it is out of
/// range and the nearest value was taken.
pub(crate) fn convert(from: Number, to: Number, bytes: &[u8], out: &mut Vec<u8>) -> bool {
    convert_rounded(from, to, Rounding::NearestEven, bytes, out)
}

/// [`convert`] with a rounding mode.
pub(crate) fn convert_rounded(
    from: Number,
    to: Number,
    rounding: Rounding,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> bool {
    match (from.kind(), to.kind()) {
        (Kind::Float, Kind::Float) if is_exact(from, to) => {
            widen(from, to, bytes, out);
            true
        }
        (_, Kind::Float) => round(from, to, rounding, bytes, out),
        (Kind::Float, _) => match Whole::of_float(from, rounding, bytes) {
            Some(whole) => whole.put(to, out),
            None => {
                let number = from.to_f64(bytes);
                let magnitude = if number.is_nan() { 0 } else { u128::MAX };
                Whole {
                    is_negative: number < 0.0,
                    magnitude,
                }
                .put(to, out);
                false
            }
        },
        _ => Whole::of(from, bytes).put(to, out),
    }
}

/// An integer of any type.
pub(crate) struct Whole {
    pub(crate) is_negative: bool,
    pub(crate) magnitude: u128,
}

impl Whole {
    pub(crate) fn of(from: Number, bytes: &[u8]) -> Whole {
        let is_negative =
            from.kind() == Kind::Signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let filler: u128 = if is_negative { u128::MAX } else { 0 };
        let bits = bytes
            .iter()
            .rev()
            .fold(filler, |bits, byte| bits << 8 | u128::from(*byte));
        let magnitude = match from.kind() {
            Kind::Bool => u128::from(bits != 0),
            _ if is_negative => bits.wrapping_neg(),
            _ => bits,
        };
        Whole {
            is_negative,
            magnitude,
        }
    }

    /// The integer that a float rounds to; `None` for NaN, infinities and integers of more than 128
    /// bits.
    pub(crate) fn of_float(from: Number, rounding: Rounding, bytes: &[u8]) -> Option<Whole> {
        let quad = as_quad(from, bytes);
        let is_negative = quad.is_negative();
        let size = if is_negative { -quad } else { quad };
        let whole = size.to_u128_r(128, rounding.round(), &mut false);
        let is_fine = !whole.status.contains(Status::INVALID_OP);
        is_fine.then_some(Whole {
            is_negative,
            magnitude: whole.value,
        })
    }

    /// Appends it, saturated.
    pub(crate) fn put(&self, to: Number, out: &mut Vec<u8>) -> bool {
        let bits = to.width().saturating_mul(8);
        let most = match to.kind() {
            Kind::Bool => 1,
            Kind::Signed => (1_u128 << (bits - 1)) - u128::from(!self.is_negative),
            Kind::Unsigned | Kind::Float if self.is_negative => 0,
            Kind::Unsigned | Kind::Float => u128::MAX >> (128 - bits),
        };
        let magnitude = self.magnitude.min(most);
        let number = if self.is_negative {
            magnitude.wrapping_neg()
        } else {
            magnitude
        };
        out.extend(number.to_le_bytes().iter().take(to.width()));
        self.magnitude <= most
    }
}

/// A float as a binary128, which is exact.
pub(crate) fn as_quad(from: Number, bytes: &[u8]) -> ieee::Quad {
    let mut quad = Vec::new();
    if from == Number::F128 {
        quad.extend_from_slice(bytes);
    } else {
        widen(from, Number::F128, bytes, &mut quad);
    }
    ieee::Quad::from_bits(<u128 as Element>::from_le(&quad))
}

/// A float in a wider type: bit by bit, so that NaN keeps its payload.
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
        // A subnormal becomes normal: its first set bit becomes the hidden one.
        let lead = u128::from(128 - fraction.leading_zeros());
        let raised = fraction << (u128::from(to_u64(wide_bits)) + 1 - lead);
        (
            bias + lead - u128::from(to_u64(narrow_bits)),
            raised & ((1 << wide_bits) - 1),
        )
    };
    let wide_number = sign << (wide_bits + exponent(to)) | power << wide_bits | fraction;
    out.extend(wide_number.to_le_bytes().iter().take(to.width()));
}

/// Any number as a float of another type; false if it is finite and rounds to infinity.
fn round(from: Number, to: Number, rounding: Rounding, bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let (bits, status) = match to {
        Number::F16 => beside::<ieee::Half>(from, rounding, bytes),
        Number::Bf16 => beside::<ieee::BFloat>(from, rounding, bytes),
        Number::F32 if is_for_the_machine(from, rounding, bytes) => {
            let double = f64::from_le(bytes);
            #[expect(clippy::as_conversions, reason = "rounds to the nearest, ties to even")]
            let single = double as f32;
            let is_over = single.is_infinite() && double.is_finite();
            let status = if is_over {
                Status::OVERFLOW
            } else {
                Status::OK
            };
            (single.to_bits().into(), status)
        }
        Number::F32 => beside::<ieee::Single>(from, rounding, bytes),
        Number::F64 => beside::<ieee::Double>(from, rounding, bytes),
        _ => beside::<ieee::Quad>(from, rounding, bytes),
    };
    out.extend(bits.to_le_bytes().iter().take(to.width()));
    !status.contains(Status::OVERFLOW)
}

/// Whether the hardware can round a double to a single, which is much faster. Rust does not specify
/// the NaN payload of the result.
fn is_for_the_machine(from: Number, rounding: Rounding, bytes: &[u8]) -> bool {
    let is_nearest = rounding == Rounding::NearestEven;
    from == Number::F64 && is_nearest && !f64::from_le(bytes).is_nan()
}

fn beside<T: Float>(from: Number, rounding: Rounding, bytes: &[u8]) -> (u128, Status)
where
    ieee::Quad: FloatConvert<T>,
{
    // Overflow is tested here: when truncated to the largest value, nothing else would reveal it.
    let is_over;
    let rounded = if from.kind() == Kind::Float {
        let quad = as_quad(from, bytes);
        is_over = quad.is_finite() && quad.ilogb() > T::MAX_EXP;
        quad.convert_r(rounding.round(), &mut false)
    } else {
        let whole = Whole::of(from, bytes);
        let log = whole.magnitude.checked_ilog2().unwrap_or(0);
        is_over = i32::try_from(log).is_ok_and(|log| log > T::MAX_EXP);
        let size = T::from_u128_r(whole.magnitude, rounding.round());
        if whole.is_negative {
            size.map(|size| -size)
        } else {
            size
        }
    };
    let status = if is_over {
        rounded.status | Status::OVERFLOW
    } else {
        rounded.status
    };
    (rounded.value.to_bits(), status)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;
    use crate::dtype::F128;

    fn cast(from: Number, to: Number, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        convert(from, to, bytes, &mut out);
        out
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes an hour there")]
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
    fn floats_become_the_nearest_whole_number_and_what_has_no_room_is_told() {
        let cases: [(f64, i8, bool); 7] = [
            (2.5, 2, true),
            (3.5, 4, true),
            (-0.5, 0, true),
            (127.4, 127, true),
            (127.5, 127, false),
            (-1e300, -128, false),
            (f64::NAN, 0, false),
        ];
        for (number, wanted, fits) in cases {
            let mut out = Vec::new();
            assert_eq!(
                convert(Number::F64, Number::I8, &number.to_le_bytes(), &mut out),
                fits
            );
            assert_eq!(out, wanted.to_le_bytes(), "{number}");
        }
    }

    #[test]
    fn integers_without_room_become_the_nearest() {
        let mut out = Vec::new();
        assert!(!convert(
            Number::I16,
            Number::U8,
            &(-1_i16).to_le_bytes(),
            &mut out
        ));
        assert!(!convert(
            Number::U16,
            Number::U8,
            &300_u16.to_le_bytes(),
            &mut out
        ));
        assert!(!convert(Number::U8, Number::I8, &[200], &mut out));
        assert!(convert(
            Number::I128,
            Number::I8,
            &(-128_i128).to_le_bytes(),
            &mut out
        ));
        assert_eq!(out, [0, 255, 127, 0x80]);
    }

    #[test]
    fn a_nan_keeps_what_fits_of_its_payload_when_it_is_rounded() {
        let bits = 0xfff8_dead_a000_0001_u64;
        let single = cast(Number::F64, Number::F32, &bits.to_le_bytes());
        let wanted = 0xffc0_0000 | u32::try_from((bits & 0xf_ffff_ffff_ffff) >> 29).unwrap();
        assert_eq!(single, wanted.to_le_bytes());
        // A signaling NaN becomes quiet.
        let bits = 0x7ff0_dead_a000_0001_u64;
        let single = cast(Number::F64, Number::F32, &bits.to_le_bytes());
        let wanted = 0x7fc0_0000 | u32::try_from((bits & 0xf_ffff_ffff_ffff) >> 29).unwrap();
        assert_eq!(single, wanted.to_le_bytes());
    }

    #[test]
    fn large_integers_are_rounded_once() {
        // Rounding to a double first would make it a tie, which then rounds down.
        let number = (1_u64 << 60) + (1 << 52) + 1;
        let rounded = cast(Number::U64, Number::Bf16, &number.to_le_bytes());
        // 2^60 and 2^53.
        let wanted = 129.0 * 9_007_199_254_740_992.0;
        assert_eq!(bf16::from_le(&rounded).to_f64(), wanted);
    }

    #[test]
    fn exactness_is_decided_by_the_bits_there_are() {
        assert!(is_exact(Number::I16, Number::F32) && is_exact(Number::U32, Number::F64));
        assert!(!is_exact(Number::I32, Number::F32) && !is_exact(Number::U64, Number::F64));
        assert!(is_exact(Number::Bf16, Number::F32) && !is_exact(Number::Bf16, Number::F16));
        assert!(!is_exact(Number::I8, Number::U128) && is_exact(Number::U8, Number::I16));
    }
}
