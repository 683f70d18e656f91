//! Vectorized fast paths for common casts.
//!
//! Each works on a block and gives up, so that it is redone number by number, if the block has a
//! NaN (whose payload the hardware would not keep) or a number out of range. The loops are compiled
//! for several instruction sets, and the newest one that the processor supports is used.

use pulp::Arch;

use crate::dtype::Number;

/// Largest number of numbers in a block.
pub(crate) const BLOCK: usize = 1024;

/// Casts little-endian numbers to an output of as many; false if it gave up.
pub(crate) type Quick = fn(&[u8], &mut [u8]) -> bool;

/// The fast path from one type to another, if there is one.
pub(crate) fn quick(from: Number, to: Number) -> Option<Quick> {
    use crate::dtype::Number::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    Some(match (from, to) {
        (F32, F64) => |a, b| cast(a, b, |x| f64_of(f32::from_le_bytes(x))),
        (F64, F32) => |a, b| cast(a, b, |x| f32_of(f64::from_le_bytes(x))),
        (Bf16, F32) => |a, b| cast(a, b, |x| single_of(wide_brain(x))),
        (Bf16, F64) => |a, b| cast(a, b, |x| f64_of(wide_brain(x))),
        (F32, Bf16) => |a, b| cast(a, b, |x| brain(f32::from_le_bytes(x))),
        (F64, Bf16) => |a, b| cast(a, b, |x| brain(to_odd(f64::from_le_bytes(x)))),
        (F16, F32) => |a, b| cast(a, b, |x| single_of(wide_half(x))),
        (F16, F64) => |a, b| cast(a, b, |x| f64_of(wide_half(x))),
        (F32, F16) => |a, b| cast(a, b, |x| half(f32::from_le_bytes(x))),
        (F64, F16) => |a, b| cast(a, b, |x| half(to_odd(f64::from_le_bytes(x)))),

        (U8, U16 | I16) => |a, b| widen(a, b, |x| u16::from(u8::from_le_bytes(x)).to_le_bytes()),
        (U8, U32 | I32) => |a, b| widen(a, b, |x| u32::from(u8::from_le_bytes(x)).to_le_bytes()),
        (U8, U64 | I64) => |a, b| widen(a, b, |x| u64::from(u8::from_le_bytes(x)).to_le_bytes()),
        (U16, U32 | I32) => |a, b| widen(a, b, |x| u32::from(u16::from_le_bytes(x)).to_le_bytes()),
        (U16, U64 | I64) => |a, b| widen(a, b, |x| u64::from(u16::from_le_bytes(x)).to_le_bytes()),
        (U32, U64 | I64) => |a, b| widen(a, b, |x| u64::from(u32::from_le_bytes(x)).to_le_bytes()),
        (I8, I16) => |a, b| widen(a, b, |x| i16::from(i8::from_le_bytes(x)).to_le_bytes()),
        (I8, I32) => |a, b| widen(a, b, |x| i32::from(i8::from_le_bytes(x)).to_le_bytes()),
        (I8, I64) => |a, b| widen(a, b, |x| i64::from(i8::from_le_bytes(x)).to_le_bytes()),
        (I16, I32) => |a, b| widen(a, b, |x| i32::from(i16::from_le_bytes(x)).to_le_bytes()),
        (I16, I64) => |a, b| widen(a, b, |x| i64::from(i16::from_le_bytes(x)).to_le_bytes()),
        (I32, I64) => |a, b| widen(a, b, |x| i64::from(i32::from_le_bytes(x)).to_le_bytes()),
        (U8, F32) => |a, b| widen(a, b, |x| f32::from(u8::from_le_bytes(x)).to_le_bytes()),
        (U8, F64) => |a, b| widen(a, b, |x| f64::from(u8::from_le_bytes(x)).to_le_bytes()),
        (I8, F32) => |a, b| widen(a, b, |x| f32::from(i8::from_le_bytes(x)).to_le_bytes()),
        (I8, F64) => |a, b| widen(a, b, |x| f64::from(i8::from_le_bytes(x)).to_le_bytes()),
        (U16, F32) => |a, b| widen(a, b, |x| f32::from(u16::from_le_bytes(x)).to_le_bytes()),
        (U16, F64) => |a, b| widen(a, b, |x| f64::from(u16::from_le_bytes(x)).to_le_bytes()),
        (I16, F32) => |a, b| widen(a, b, |x| f32::from(i16::from_le_bytes(x)).to_le_bytes()),
        (I16, F64) => |a, b| widen(a, b, |x| f64::from(i16::from_le_bytes(x)).to_le_bytes()),
        (U32, F64) => |a, b| widen(a, b, |x| f64::from(u32::from_le_bytes(x)).to_le_bytes()),
        (I32, F64) => |a, b| widen(a, b, |x| f64::from(i32::from_le_bytes(x)).to_le_bytes()),
        _ => return None,
    })
}

/// Casts a block; false if `one` rejected the result for one of its numbers.
#[inline(always)]
fn cast<const FROM: usize, const TO: usize>(
    stored: &[u8],
    out: &mut [u8],
    one: impl Fn([u8; FROM]) -> ([u8; TO], bool),
) -> bool {
    let (stored, _) = stored.as_chunks::<FROM>();
    let (out, _) = out.as_chunks_mut::<TO>();
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut is_fine = true;
            for (from, to) in stored.iter().zip(out) {
                let (cast, fits) = one(*from);
                is_fine &= fits;
                *to = cast;
            }
            is_fine
        },
    )
}

/// Casts a block to a type that can represent every number.
#[inline(always)]
fn widen<const FROM: usize, const TO: usize>(
    stored: &[u8],
    out: &mut [u8],
    one: impl Fn([u8; FROM]) -> [u8; TO],
) -> bool {
    cast(
        stored,
        out,
        #[inline(always)]
        |number| (one(number), true),
    )
}

#[inline(always)]
fn f64_of(number: f32) -> ([u8; 8], bool) {
    (f64::from(number).to_le_bytes(), !number.is_nan())
}

#[inline(always)]
pub(crate) fn f32_of(number: f64) -> ([u8; 4], bool) {
    #[expect(clippy::as_conversions, reason = "rounds to the nearest, ties to even")]
    let rounded = number as f32;
    // Neither NaN nor an overflow to infinity; true infinities are rare enough.
    (rounded.to_le_bytes(), rounded.is_finite())
}

#[inline(always)]
fn single_of(number: f32) -> ([u8; 4], bool) {
    (number.to_le_bytes(), !number.is_nan())
}

#[inline(always)]
fn wide_brain(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

/// The nearest bfloat16, ties to even.
#[inline(always)]
fn brain(number: f32) -> ([u8; 2], bool) {
    let bits = number.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let [_, _, low, high] = rounded.to_le_bytes();
    let is_fine = number.is_finite() && rounded & 0x7f80_0000 != 0x7f80_0000;
    ([low, high], is_fine)
}

/// Rounds a double to odd as a single: truncated, with the last bit set if anything was lost.
/// Rounding that to fewer bits equals rounding the double at once.
#[inline(always)]
fn to_odd(number: f64) -> f32 {
    #[expect(
        clippy::as_conversions,
        reason = "the nearest, which is put right below"
    )]
    let nearest = number as f32;
    let back = f64::from(nearest);
    let is_above = back.abs() > number.abs();
    let is_exact = back == number;
    let towards_zero = nearest.to_bits().wrapping_sub(u32::from(is_above));
    if number.is_nan() {
        nearest
    } else {
        f32::from_bits(towards_zero | u32::from(!is_exact))
    }
}

/// The nearest binary16, ties to even.
///
/// Adding a power of two whose last bit is worth as much as that of the half makes the hardware
/// round there; the excess of the sum over the power is then the significand.
#[inline(always)]
fn half(number: f32) -> ([u8; 2], bool) {
    // Larger values round to infinity.
    const TOO_LARGE: u32 = 0x477f_f000;
    // The exponent of the smallest normal half, as singles have it.
    const LEAST: u32 = 127 - 14;
    let bits = number.to_bits();
    let size = bits & 0x7fff_ffff;
    let exponent = (size >> 23).clamp(LEAST, 127 + 15);
    let power = exponent.wrapping_add(13) << 23;
    let sum = f32::from_bits(size) + f32::from_bits(power);
    let significand = sum.to_bits().wrapping_sub(power);
    let sign = bits >> 16 & 0x8000;
    let half = sign | (exponent.wrapping_sub(LEAST) << 10).wrapping_add(significand);
    let [low, high, ..] = half.to_le_bytes();
    ([low, high], size < TOO_LARGE)
}

/// A binary16 as the equal single.
#[inline(always)]
fn wide_half(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let size = (bits & 0x7fff) << 13;
    // Exponents are biased by 15 there and by 127 here; the largest stays the largest.
    let normal = size.wrapping_add((127 - 15) << 23);
    let special = size.wrapping_add((255 - 31) << 23);
    // A subnormal gets the leading one that it lacks, which is then subtracted again.
    let one = (127 - 14) << 23;
    let subnormal = f32::from_bits(size | one) - f32::from_bits(one);
    let wide = match size >> 23 {
        0 => subnormal.to_bits(),
        31 => special,
        _ => normal,
    };
    f32::from_bits(wide | (bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;
    use crate::dtype::cast::scalar::convert;

    /// Compares the fast path with the scalar one, one number per block.
    fn check(from: Number, to: Number, number: &[u8]) {
        let mut quickly = vec![0; to.width()];
        if !quick(from, to).unwrap()(number, &mut quickly) {
            return;
        }
        let mut slowly = Vec::new();
        assert!(convert(from, to, number, &mut slowly), "{from} {number:?}");
        assert_eq!(quickly, slowly, "{from} {number:?} as {to}");
    }

    #[test]
    fn every_number_of_up_to_16_bits_is_as_one_by_one() {
        for from in Number::ALL.iter().filter(|number| number.width() <= 2) {
            let tos = Number::ALL.iter().filter(|to| quick(*from, **to).is_some());
            for to in tos {
                for bits in (0..=u16::MAX).step_by(if cfg!(miri) { 997 } else { 1 }) {
                    check(*from, *to, &bits.to_le_bytes()[..from.width()]);
                }
            }
        }
    }

    #[test]
    fn numbers_around_every_tie_are_as_one_by_one() {
        // Halfway between neighbors of 16 bits, and next to that on either side.
        for bits in (0..=u16::MAX).step_by(if cfg!(miri) { 4999 } else { 7 }) {
            let brain = u32::from(bits) << 16 | 0x8000;
            let half = f16::from_bits(bits).to_f32().to_bits() | 0x1000;
            for single in [brain - 1, brain, brain + 1, half - 1, half, half + 1] {
                let number = f32::from_bits(single);
                for to in [Number::F64, Number::F16, Number::Bf16] {
                    check(Number::F32, to, &number.to_le_bytes());
                }
                let double = f64::from(number).to_bits();
                for double in [double.wrapping_sub(1), double, double + 1] {
                    for to in [Number::F32, Number::F16, Number::Bf16] {
                        check(Number::F64, to, &double.to_le_bytes());
                    }
                }
            }
        }
    }

    #[test]
    fn any_numbers_are_as_one_by_one() {
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            for from in Number::ALL {
                for to in Number::ALL.iter().filter(|to| quick(*from, **to).is_some()) {
                    check(*from, *to, &random.to_le_bytes()[..from.width()]);
                }
            }
        }
    }

    #[test]
    fn a_block_with_a_number_that_has_no_room_or_is_none_is_given_up() {
        let gives_up = |number: f64| {
            !quick(Number::F64, Number::F16).unwrap()(&number.to_le_bytes(), &mut [0; 2])
        };
        assert!(gives_up(65520.0) && gives_up(f64::NAN) && gives_up(1e300));
        assert!(!gives_up(65519.0));
    }
}
