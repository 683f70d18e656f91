//! Ternary types: blocks of 256 cells with one of three values each.

use super::bits::Fields;
use super::legacy::signed;

/// 48 bytes of five digits and 4 bytes of four digits to the base 3, then the scale. Multiplying
/// the byte, taken as a fraction, by a power of 3 moves a digit to the front.
pub(super) fn tq1_0(fields: &mut Fields, out: &mut [f32]) {
    let (many, some, few) = (fields.bytes(32), fields.bytes(16), fields.bytes(4));
    let scale = fields.half();
    let (first, rest) = out.split_at_mut_checked(160).unwrap_or_default();
    let (second, third) = rest.split_at_mut_checked(80).unwrap_or_default();
    for (digits, out) in [(many, first), (some, second), (few, third)] {
        for (out, power) in out.chunks_mut(digits.len().max(1)).zip([1, 3, 9, 27, 81]) {
            for (out, byte) in out.iter_mut().zip(digits) {
                let digit = (u16::from(byte.wrapping_mul(power)) * 3) >> 8;
                *out = scale * (f32::from(digit) - 1.0);
            }
        }
    }
}

/// 256 numbers of 2 bits, less 1, then the scale.
pub(super) fn tq2_0(fields: &mut Fields, out: &mut [f32]) {
    let numbers = fields.bytes(64);
    let scale = fields.half();
    for (out, bytes) in out.chunks_mut(128).zip(numbers.chunks(32)) {
        for (out, shift) in out.chunks_mut(32).zip([0, 2, 4, 6]) {
            for (out, byte) in out.iter_mut().zip(bytes) {
                *out = scale * f32::from(signed(byte >> shift & 3) - 1);
            }
        }
    }
}
