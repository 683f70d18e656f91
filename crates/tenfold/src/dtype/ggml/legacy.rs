//! Blocks with one scale, and perhaps a minimum.

use super::bits::{Fields, byte, nibbles, plus};

/// The scale, then 32 numbers of 4 bits, minus 8.
pub(super) fn q4_0(fields: &mut Fields, out: &mut [f32]) {
    let scale = fields.half();
    nibbles(fields.bytes(16), out, |q| scale * f32::from(signed(q) - 8));
}

/// Scale, minimum, 32 numbers of 4 bits.
pub(super) fn q4_1(fields: &mut Fields, out: &mut [f32]) {
    let (scale, least) = (fields.half(), fields.half());
    let value = |q| plus(scale * f32::from(q), least);
    nibbles(fields.bytes(16), out, value);
}

/// The scale, 32 fifth bits, the other bits as in [`q4_0`]; minus 16.
pub(super) fn q5_0(fields: &mut Fields, out: &mut [f32]) {
    let scale = fields.half();
    with_fifth_bits(fields, out, |q| scale * f32::from(signed(q) - 16));
}

/// Scale, minimum, 32 fifth bits, the other bits.
pub(super) fn q5_1(fields: &mut Fields, out: &mut [f32]) {
    let (scale, least) = (fields.half(), fields.half());
    with_fifth_bits(fields, out, |q| plus(scale * f32::from(q), least));
}

fn with_fifth_bits(fields: &mut Fields, out: &mut [f32], value: impl Fn(u8) -> f32) {
    let bits = fields.u32();
    let mut numbers = [0; 32];
    let (low, high) = numbers.split_at_mut(16);
    for ((low, high), byte) in low.iter_mut().zip(high).zip(fields.bytes(16)) {
        *low = byte & 15;
        *high = byte >> 4;
    }
    for ((out, number), place) in out.iter_mut().zip(numbers).zip(0_u32..) {
        let fifth = if bits >> place & 1 == 1 { 16 } else { 0 };
        *out = value(number | fifth);
    }
}

/// The scale, then 32 numbers of 8 bits.
pub(super) fn q8_0(fields: &mut Fields, out: &mut [f32]) {
    let scale = fields.half();
    for (out, q) in out.iter_mut().zip(fields.bytes(32)) {
        *out = f32::from(q.cast_signed()) * scale;
    }
}

/// The values of 4-bit indices; they are denser around zero.
pub(super) const UNEVEN: [i8; 16] = [
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
];

/// The scale, then 32 indices into [`UNEVEN`].
pub(super) fn iq4_nl(fields: &mut Fields, out: &mut [f32]) {
    let scale = fields.half();
    nibbles(fields.bytes(16), out, |q| scale * at(&UNEVEN, q));
}

/// Twice the values of a float with two bits of exponent and one of mantissa.
const E2M1: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// An exponent of 8 bits, then 32 floats of 4 bits.
pub(super) fn mxfp4(fields: &mut Fields, out: &mut [f32]) {
    let exponent = u32::from(fields.byte());
    // Half of 2^(exponent - 127), as the table is doubled; the two smallest are subnormal.
    let scale = f32::from_bits(match exponent {
        0 | 1 => 0x0020_0000 << exponent,
        _ => (exponent - 1) << 23,
    });
    nibbles(fields.bytes(16), out, |q| scale * at(&E2M1, q));
}

/// Four scales of 8 bits, then four times 16 floats of 4 bits.
pub(super) fn nvfp4(fields: &mut Fields, out: &mut [f32]) {
    let (scales, numbers) = (fields.bytes(4), fields.bytes(32));
    for ((out, scale), bytes) in out.chunks_mut(16).zip(scales).zip(numbers.chunks(8)) {
        let scale = half_of_e4m3(*scale);
        nibbles(bytes, out, |q| scale * at(&E2M1, q));
    }
}

/// Half of a float with four bits of exponent and three of mantissa; its sign is ignored.
fn half_of_e4m3(bits: u8) -> f32 {
    if bits == 0x7f {
        return 0.0;
    }
    let mantissa = f32::from(bits & 7);
    match bits >> 3 & 15 {
        0 => mantissa / 512.0 * 0.5,
        exponent => {
            // The power of two with an exponent 7 less, which singles bias by 127.
            let power = f32::from_bits((u32::from(exponent) + 127 - 7) << 23);
            (1.0 + mantissa / 8.0) * power * 0.5
        }
    }
}

fn at(table: &[i8; 16], place: u8) -> f32 {
    let value = table.get(usize::from(place)).copied();
    f32::from(value.unwrap_or_default())
}

/// A number of few bits as a signed one.
pub(super) fn signed(number: u8) -> i16 {
    i16::from(number)
}

/// The value of [`UNEVEN`] at an index.
pub(super) fn uneven(place: u8) -> f32 {
    at(&UNEVEN, place)
}

/// Number `place` among numbers of 4 bits, the lower half of each byte first.
pub(super) fn nibble(bytes: &[u8], place: usize) -> u8 {
    let pair = byte(bytes, place / 2);
    match place % 2 {
        0 => pair & 15,
        _ => pair >> 4,
    }
}
