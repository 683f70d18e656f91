//! Cells as text: parsing and formatting.
#![deny(clippy::arithmetic_side_effects)]

use std::fmt::Write;

use half::bf16;

use crate::dtype::{Element, Number, convert};

/// Appends the big-endian bytes of a number given as text; false if it is none, or out of range.
pub(in crate::formats) fn parse(number: Number, text: &str, out: &mut Vec<u8>) -> bool {
    let is_spelled = |is_finite: bool| is_finite || !text.bytes().any(|byte| byte.is_ascii_digit());
    match number {
        Number::F32 => match text.parse::<f32>() {
            Ok(value) if is_spelled(value.is_finite()) => out.extend(value.to_be_bytes()),
            _ => return false,
        },
        Number::I8 => match text.parse::<i8>() {
            Ok(value) => out.extend(value.to_be_bytes()),
            Err(_) => return parse_whole(text, out),
        },
        Number::Bf16 => match text.parse::<f64>().map(bf16::from_f64) {
            Ok(value) if is_spelled(value.is_finite()) => out.extend(value.to_be_bytes()),
            _ => return false,
        },
        _ => match text.parse::<f64>() {
            Ok(value) if is_spelled(value.is_finite()) => out.extend(value.to_be_bytes()),
            _ => return false,
        },
    }
    true
}

/// An int8 written as a double, such as `-95.0`.
fn parse_whole(text: &str, out: &mut Vec<u8>) -> bool {
    match text.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 => {
            convert(Number::F64, Number::I8, &value.to_le_bytes(), out)
        }
        _ => false,
    }
}

/// Appends a cell, given by its little-endian bytes, in JSON: infinities and NaN as texts.
pub(in crate::formats) fn put_json(number: Number, bytes: &[u8], out: &mut String) {
    let value = number.to_f64(bytes);
    if value.is_finite() {
        return put_finite(number, shortest(number, bytes), out);
    }
    out.push('"');
    put_special(value, out);
    out.push('"');
}

/// Appends a cell, given by its little-endian bytes, in the notation of literals.
pub(super) fn put_literal(number: Number, bytes: &[u8], out: &mut String) {
    let value = number.to_f64(bytes);
    if value.is_finite() {
        put_finite(number, shortest(number, bytes), out);
    } else {
        put_special(value, out);
    }
}

/// The double with the fewest digits that is read as the same single. A bfloat16 is written as a
/// single too: Vespa truncates what it reads, so that fewer digits could give the next value toward
/// zero.
fn shortest(number: Number, bytes: &[u8]) -> f64 {
    let single = match number {
        Number::F32 => bytes.to_vec(),
        Number::Bf16 => [&[0, 0], bytes].concat(),
        _ => return number.to_f64(bytes),
    };
    let mut text = String::new();
    crate::dtype::write_number(Number::F32, &single, &mut text);
    let exact = number.to_f64(bytes);
    let short: f64 = text.parse().unwrap_or(exact);
    // Some readers do not parse the digits as a single directly: they may round twice.
    if is_single_when_rounded_again(short, &single) {
        short
    } else {
        exact
    }
}

/// Whether a double near a single rounds to it, which it does unless it is halfway to the next one.
fn is_single_when_rounded_again(double: f64, single: &[u8]) -> bool {
    const REST: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    if double.abs() >= f32::MIN_POSITIVE.into() && double.to_bits() & REST != HALF {
        return true;
    }
    let mut again = Vec::new();
    convert(Number::F64, Number::F32, &double.to_le_bytes(), &mut again);
    again == single
}

fn put_special(value: f64, out: &mut String) {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let word = if value.is_nan() { "NaN" } else { "Infinity" };
    out.push_str(sign);
    out.push_str(word);
}

/// A number as Java prints a double: always with a point, and with an exponent from 10^7 on and
/// below 10^-3.
fn put_finite(number: Number, value: f64, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match value.abs() {
        _ if number == Number::I8 => write!(out, "{value}"),
        0.0 | 1e-3..1e7 => write!(out, "{value:?}"),
        _ => {
            let text = format!("{value:e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let point = if digits.contains('.') { "" } else { ".0" };
            write!(out, "{digits}{point}E{exponent}")
        }
    };
}

/// Whether a NaN has bits that cannot be written as text.
pub(super) fn is_odd_nan(number: Number, bytes: &[u8]) -> bool {
    match number {
        Number::F64 => {
            let value = f64::from_le(bytes);
            value.is_nan() && value.to_bits() & !(1 << 63) != 0x7ff8 << 48
        }
        Number::F32 => {
            let value = f32::from_le(bytes);
            value.is_nan() && value.to_bits() & !(1 << 31) != 0x7fc0 << 16
        }
        Number::Bf16 => {
            let value = bf16::from_le(bytes);
            value.is_nan() && value.to_bits() & !(1 << 15) != 0x7fc0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(value: f64) -> String {
        let mut out = String::new();
        put_json(Number::F64, &value.to_le_bytes(), &mut out);
        out
    }

    #[test]
    fn doubles_are_spelled_as_java_does() {
        for (value, wanted) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.001, "0.001"),
            (0.00099, "9.9E-4"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (-1.5e300, "-1.5E300"),
            (f64::NAN, "\"NaN\""),
            (f64::NEG_INFINITY, "\"-Infinity\""),
        ] {
            assert_eq!(json(value), wanted);
        }
    }

    #[test]
    fn every_bfloat16_reads_back() {
        for bits in 0..=u16::MAX {
            let bytes = bits.to_le_bytes();
            if is_odd_nan(Number::Bf16, &bytes) {
                continue;
            }
            let (mut wide, mut short) = (String::new(), String::new());
            put_json(Number::Bf16, &bytes, &mut wide);
            put_literal(Number::Bf16, &bytes, &mut short);
            for text in [wide.trim_matches('"'), &short] {
                let mut again = Vec::new();
                assert!(parse(Number::Bf16, text, &mut again), "{text}");
                assert_eq!(again, bits.to_be_bytes(), "{text}");
                // Vespa reads a double or a single, and truncates.
                let double: f64 = text.parse().unwrap();
                let mut single = Vec::new();
                convert(Number::F64, Number::F32, &double.to_le_bytes(), &mut single);
                let direct: f32 = text.parse().unwrap();
                for cut in [
                    u32::from_le_bytes(single.try_into().unwrap()),
                    direct.to_bits(),
                ] {
                    assert!(double.is_nan() || cut >> 16 == u32::from(bits), "{text}");
                }
            }
        }
    }

    #[test]
    fn singles_have_no_needless_digits() {
        for (value, wanted) in [
            (0.1_f32, "0.1"),
            (1e-45, "1.0E-45"),
            (f32::MAX, "3.4028235E38"),
            (16_777_216.0, "1.6777216E7"),
            (-0.0, "-0.0"),
        ] {
            let mut out = String::new();
            put_json(Number::F32, &value.to_le_bytes(), &mut out);
            assert_eq!(out, wanted);
        }
        let mut out = String::new();
        put_literal(Number::Bf16, &0x3dcd_u16.to_le_bytes(), &mut out);
        assert_eq!(out, "0.100097656");
    }

    #[test]
    fn what_is_no_number_or_has_no_room_is_refused() {
        let parsed = |number, text| parse(number, text, &mut Vec::new());
        assert!(!parsed(Number::I8, "1.5"));
        assert!(!parsed(Number::I8, "128"));
        assert!(!parsed(Number::I8, "nan"));
        assert!(!parsed(Number::F32, "1e39"));
        assert!(!parsed(Number::Bf16, "3.4e38"));
        assert!(!parsed(Number::F64, "1e400"));
        assert!(!parsed(Number::F64, "one"));
        assert!(parsed(Number::I8, "-95.0"));
        assert!(parsed(Number::F32, "-INFINITY"));
    }
}
