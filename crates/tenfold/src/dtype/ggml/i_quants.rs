//! I-quants: blocks of 256 cells, as entries of a codebook for four or eight cells each.

use half::f16;

use super::bits::{Fields, byte};
use super::codebooks::{FOURS_256, FOURS_512, TERNARY_2048, TWOS_256, TWOS_512, TWOS_1024};
use super::legacy::nibble;

/// Values of the digits in codebooks such as [`TWOS_256`].
const TWOS: [i8; 4] = [0x08, 0x19, 0x2b, 0];
/// Values of the digits of [`FOURS_256`].
const FOURS: [i8; 8] = [0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c, 0x34, 0x3e];
/// Values of the digits of [`FOURS_512`].
const ODDS: [i8; 8] = [0x01, 0x03, 0x05, 0x07, 0x09, 0x0b, 0x0d, 0x0f];
/// Offset of the cells of [`iq1_s`] and [`iq1_m`] from integers.
const OFF: f32 = 0.125;

/// Entry `place` of a codebook.
fn entry(book: &[u16], place: usize) -> u16 {
    book.get(place).copied().unwrap_or_default()
}

/// Digit `place` of an entry, `bits` bits wide.
fn digit(entry: u16, bits: usize, place: usize) -> usize {
    usize::from(entry >> (bits * place)) & ((1 << bits) - 1)
}

/// A value of a table, negated if bit `place` of `signs` is set. The sign is applied to the
/// integer: a scale that is NaN keeps its own.
fn value(table: &[i8], digit: usize, signs: u8, place: usize) -> f32 {
    let value = table.get(digit).copied().unwrap_or_default();
    f32::from(if signs >> place & 1 == 1 {
        -value
    } else {
        value
    })
}

/// Eight sign bits from seven: the number of set bits is even.
fn eight_signs(seven: u32) -> u8 {
    let [seven, ..] = (seven & 0x7f).to_le_bytes();
    let odd = seven.count_ones() % 2 == 1;
    if odd { seven | 0x80 } else { seven }
}

/// Eight cells of an entry with digits of 2 bits.
fn eight(out: &mut [f32], unit: f32, entry: u16, signs: u8) {
    for (place, out) in out.iter_mut().enumerate() {
        *out = unit * value(&TWOS, digit(entry, 2, place), signs, place);
    }
}

/// Eight cells of two entries with digits of 3 bits that take up 4.
fn twice_four(out: &mut [f32], unit: f32, table: &[i8], entries: [u16; 2], signs: u8) {
    for (place, out) in out.iter_mut().enumerate() {
        let [first, second] = entries;
        let entry = if place < 4 { first } else { second };
        let digit = digit(entry, 4, place % 4);
        *out = unit * value(table, digit, signs, place);
    }
}

/// Eight cells of a ternary entry.
fn eight_ternary(out: &mut [f32], unit: f32, entry: u16, off: f32) {
    for (place, out) in out.iter_mut().enumerate() {
        let value = value(&[-1, 0, 1, 0], digit(entry, 2, place), 0, 0);
        *out = unit * (value + off);
    }
}

/// The scale, then eight times four indices, four times seven signs and a scale of 4 bits.
pub(super) fn iq2_xxs(fields: &mut Fields, out: &mut [f32]) {
    let unit = fields.half();
    for out in out.chunks_mut(32) {
        let (places, more) = (fields.bytes(4), fields.u32());
        let unit = unit * (0.5 + scale_on_top(more)) * 0.25;
        for ((out, place), shift) in out.chunks_mut(8).zip(places).zip([0, 7, 14, 21]) {
            let entry = entry(&TWOS_256, usize::from(*place));
            eight(out, unit, entry, eight_signs(more >> shift));
        }
    }
}

/// The upper 4 bits.
fn scale_on_top(bits: u32) -> f32 {
    let [.., top] = bits.to_le_bytes();
    f32::from(top >> 4)
}

/// The scale, 32 times index and seven signs, sixteen scales of 4 bits.
pub(super) fn iq2_xs(fields: &mut Fields, out: &mut [f32]) {
    let unit = fields.half();
    let (mut places, scales) = (Fields(fields.bytes(64)), fields.bytes(8));
    for (group, out) in out.chunks_mut(16).enumerate() {
        let unit = unit * (0.5 + f32::from(nibble(scales, group))) * 0.25;
        for out in out.chunks_mut(8) {
            let both = places.u16();
            let entry = entry(&TWOS_512, usize::from(both & 511));
            eight(out, unit, entry, eight_signs(u32::from(both >> 9)));
        }
    }
}

/// The scale, 32 indices, their signs, the upper 2 bits of the indices, sixteen scales of 4 bits.
pub(super) fn iq2_s(fields: &mut Fields, out: &mut [f32]) {
    let unit = fields.half();
    let (places, signs) = (fields.bytes(32), fields.bytes(32));
    let (high, scales) = (fields.bytes(8), fields.bytes(8));
    for (run, out) in out.chunks_mut(8).enumerate() {
        let unit = unit * (0.5 + f32::from(nibble(scales, run / 2))) * 0.25;
        let high = byte(high, run / 4) >> (run % 4 * 2) & 3;
        let place = usize::from(high) << 8 | usize::from(byte(places, run));
        eight(out, unit, entry(&TWOS_1024, place), byte(signs, run));
    }
}

/// The scale, 64 indices, eight times four times seven signs and a scale of 4 bits.
pub(super) fn iq3_xxs(fields: &mut Fields, out: &mut [f32]) {
    let unit = fields.half();
    let mut places = Fields(fields.bytes(64));
    for out in out.chunks_mut(32) {
        let more = fields.u32();
        let unit = unit * (0.5 + scale_on_top(more)) * 0.5;
        for (out, shift) in out.chunks_mut(8).zip([0, 7, 14, 21]) {
            let mut next = || entry(&FOURS_256, usize::from(places.byte()));
            let entries = [next(), next()];
            twice_four(out, unit, &FOURS, entries, eight_signs(more >> shift));
        }
    }
}

/// The scale, 64 indices, their ninth bits, the signs, eight scales of 4 bits.
pub(super) fn iq3_s(fields: &mut Fields, out: &mut [f32]) {
    let unit = fields.half();
    let (places, ninths) = (fields.bytes(64), fields.bytes(8));
    let (signs, scales) = (fields.bytes(32), fields.bytes(4));
    for (run, out) in out.chunks_mut(8).enumerate() {
        let unit = unit * f32::from(1 + 2 * nibble(scales, run / 4));
        let place = |number: usize| {
            let ninth = usize::from(byte(ninths, number / 8) >> (number % 8) & 1);
            ninth << 8 | usize::from(byte(places, number))
        };
        let entries = [2 * run, 2 * run + 1].map(|number| entry(&FOURS_512, place(number)));
        twice_four(out, unit, &ODDS, entries, byte(signs, run));
    }
}

/// The scale, 32 indices, then eight times four upper 3 bits of indices, a scale and a sign.
pub(super) fn iq1_s(fields: &mut Fields, out: &mut [f32]) {
    let unit = fields.half();
    let (places, mut more) = (fields.bytes(32), Fields(fields.bytes(16)));
    for (out, places) in out.chunks_mut(32).zip(places.chunks(4)) {
        let more = more.u16();
        let unit = unit * f32::from(2 * (more >> 12 & 7) + 1);
        let off = if more & 0x8000 == 0 { OFF } else { -OFF };
        for ((out, place), shift) in out.chunks_mut(8).zip(places).zip([0, 3, 6, 9]) {
            let place = usize::from(more >> shift & 7) << 8 | usize::from(*place);
            eight_ternary(out, unit, entry(&TERNARY_2048, place), off);
        }
    }
}

/// 32 indices, their upper 3 bits and signs, sixteen scales of 3 bits, and the block's scale in the
/// upper bits of these.
pub(super) fn iq1_m(fields: &mut Fields, out: &mut [f32]) {
    let (places, more) = (fields.bytes(32), fields.bytes(16));
    let scales = [fields.u16(), fields.u16(), fields.u16(), fields.u16()];
    let unit = scales
        .iter()
        .rev()
        .fold(0, |all, next| all << 4 | next >> 12);
    let unit = f16::from_bits(unit).to_f32();
    for (run, out) in out.chunks_mut(8).enumerate() {
        let scale = entry(&scales, run / 8) >> (run / 2 % 4 * 3) & 7;
        let unit = unit * f32::from(2 * scale + 1);
        let more = nibble(more, run);
        let off = if more & 8 == 0 { OFF } else { -OFF };
        let place = usize::from(more & 7) << 8 | usize::from(byte(places, run));
        eight_ternary(out, unit, entry(&TERNARY_2048, place), off);
    }
}
