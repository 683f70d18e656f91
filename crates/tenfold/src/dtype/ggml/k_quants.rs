//! K-quants: blocks of 256 cells, with a scale per group of 16 or 32 in units of the block's scale.

use super::bits::{Fields, byte, minus, nibbles, part};
use super::legacy::{nibble, signed, uneven};

/// The part of the 2-bit numbers with group `group` of 16, and the shift to get at it: 32 bytes
/// hold 128 cells, the lowest bits those of the first 32.
fn pairs(numbers: &[u8], group: usize) -> (&[u8], usize) {
    let bytes = part(numbers, group / 8 * 32 + group % 2 * 16, 16);
    (bytes, group % 8 / 2 * 2)
}

/// Sixteen times scale and minimum of 4 bits, 256 numbers of 2 bits, their two block scales.
pub(super) fn q2_k(fields: &mut Fields, out: &mut [f32]) {
    let (scales, numbers) = (fields.bytes(16), fields.bytes(64));
    let (unit, least) = (fields.half(), fields.half());
    for ((group, out), scale) in out.chunks_mut(16).enumerate().zip(scales) {
        let (bytes, shift) = pairs(numbers, group);
        let (unit, least) = (unit * f32::from(scale & 15), least * f32::from(scale >> 4));
        for (out, byte) in out.iter_mut().zip(bytes) {
            *out = minus(unit * f32::from(byte >> shift & 3), least);
        }
    }
}

/// 256 third bits, 256 numbers of 2 bits, sixteen scales of 6 bits, their block scale.
pub(super) fn q3_k(fields: &mut Fields, out: &mut [f32]) {
    let (thirds, numbers) = (fields.bytes(32), fields.bytes(64));
    let (low, high) = (fields.bytes(8), fields.bytes(4));
    let unit = fields.half();
    for (group, out) in out.chunks_mut(16).enumerate() {
        let low = byte(low, group % 8) >> (group / 8 * 4) & 15;
        let high = byte(high, group % 4) >> (group / 4 * 2) & 3;
        let unit = unit * f32::from(signed(low | high << 4) - 32);
        let (bytes, shift) = pairs(numbers, group);
        let thirds = part(thirds, group % 2 * 16, 16);
        for ((out, byte), third) in out.iter_mut().zip(bytes).zip(thirds) {
            // A set bit means that nothing is subtracted.
            let less = if third >> (group / 2) & 1 == 1 { 0 } else { 4 };
            *out = unit * f32::from(signed(byte >> shift & 3) - less);
        }
    }
}

/// The scale and the minimum of group `group` of eight, 6 bits each, from 12 bytes: those of the
/// first four are stored as they are, those of the others in three parts.
fn scale_and_least(packed: &[u8], group: usize) -> (f32, f32) {
    let (first, second, third) = (
        byte(packed, group % 4),
        byte(packed, group % 4 + 4),
        byte(packed, group % 4 + 8),
    );
    let (scale, least) = match group {
        0..4 => (first & 63, second & 63),
        _ => (third & 15 | first >> 2 & 48, third >> 4 | second >> 2 & 48),
    };
    (f32::from(scale), f32::from(least))
}

/// Two block scales, eight scales and minima, 256 numbers of 4 bits.
pub(super) fn q4_k(fields: &mut Fields, out: &mut [f32]) {
    let (unit, least) = (fields.half(), fields.half());
    let (packed, numbers) = (fields.bytes(12), fields.bytes(128));
    for (group, out) in out.chunks_mut(32).enumerate() {
        let (scale, minimum) = scale_and_least(packed, group);
        let (unit, least) = (unit * scale, least * minimum);
        let shift = group % 2 * 4;
        for (out, byte) in out.iter_mut().zip(part(numbers, group / 2 * 32, 32)) {
            *out = minus(unit * f32::from(byte >> shift & 15), least);
        }
    }
}

/// Two block scales, eight scales and minima, 256 fifth bits, 256 numbers of 4 bits.
pub(super) fn q5_k(fields: &mut Fields, out: &mut [f32]) {
    let (unit, least) = (fields.half(), fields.half());
    let (packed, fifths, numbers) = (fields.bytes(12), fields.bytes(32), fields.bytes(128));
    for (group, out) in out.chunks_mut(32).enumerate() {
        let (scale, minimum) = scale_and_least(packed, group);
        let (unit, least) = (unit * scale, least * minimum);
        let shift = group % 2 * 4;
        let bytes = part(numbers, group / 2 * 32, 32).iter().zip(fifths);
        for (out, (byte, fifth)) in out.iter_mut().zip(bytes) {
            let number = byte >> shift & 15 | (fifth >> group & 1) << 4;
            *out = minus(unit * f32::from(number), least);
        }
    }
}

/// 256 times 4 bits, 256 times 2 bits, sixteen scales of 8 bits, their block scale; minus 32.
pub(super) fn q6_k(fields: &mut Fields, out: &mut [f32]) {
    let (low, high, scales) = (fields.bytes(128), fields.bytes(64), fields.bytes(16));
    let unit = fields.half();
    for ((group, out), scale) in out.chunks_mut(16).enumerate().zip(scales) {
        let unit = unit * f32::from(scale.cast_signed());
        // Halves of the eight runs of 32.
        let (run, half) = (group / 2, group % 2 * 16);
        let low = part(low, run / 4 * 64 + run % 2 * 32 + half, 16);
        let high = part(high, run / 4 * 32 + half, 16);
        let (low_shift, high_shift) = (run % 4 / 2 * 4, run % 4 * 2);
        for ((out, low), high) in out.iter_mut().zip(low).zip(high) {
            let number = low >> low_shift & 15 | (high >> high_shift & 3) << 4;
            *out = unit * f32::from(signed(number) - 32);
        }
    }
}

/// The block scale, eight scales of 6 bits in two parts, 256 indices into a table.
pub(super) fn iq4_xs(fields: &mut Fields, out: &mut [f32]) {
    let unit = fields.half();
    let high = fields.u16().to_le_bytes();
    let (low, numbers) = (fields.bytes(4), fields.bytes(128));
    for ((group, out), bytes) in out.chunks_mut(32).enumerate().zip(numbers.chunks(16)) {
        let high = byte(&high, group / 4) >> (group % 4 * 2) & 3;
        let unit = unit * f32::from(signed(nibble(low, group) | high << 4) - 32);
        nibbles(bytes, out, |q| unit * uneven(q));
    }
}
