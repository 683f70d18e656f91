//! Formatting of numbers as text that other programs can read.

use std::fmt::Write;

use half::{bf16, f16};

use super::{Arity, DType, Element, F128, Number};

/// Appends a number, given by its little-endian bytes, as a JSON value.
/// Integers are written in full whatever their size, floats as the shortest decimal that reads back
/// to the same bits of that width, the three values that JSON cannot represent as the strings
/// `"NaN"`, `"Infinity"` and `"-Infinity"`, and binary128 as a string.
pub fn write_number(number: Number, bytes: &[u8], out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match number {
        Number::Bool => write!(out, "{}", bool::from_le(bytes)),
        Number::U8 => write!(out, "{}", <u8 as Element>::from_le(bytes)),
        Number::U16 => write!(out, "{}", <u16 as Element>::from_le(bytes)),
        Number::U32 => write!(out, "{}", <u32 as Element>::from_le(bytes)),
        Number::U64 => write!(out, "{}", <u64 as Element>::from_le(bytes)),
        Number::U128 => write!(out, "{}", <u128 as Element>::from_le(bytes)),
        Number::I8 => write!(out, "{}", <i8 as Element>::from_le(bytes)),
        Number::I16 => write!(out, "{}", <i16 as Element>::from_le(bytes)),
        Number::I32 => write!(out, "{}", <i32 as Element>::from_le(bytes)),
        Number::I64 => write!(out, "{}", <i64 as Element>::from_le(bytes)),
        Number::I128 => write!(out, "{}", <i128 as Element>::from_le(bytes)),
        Number::F16 => {
            let value = f16::from_le(bytes);
            write_narrow(
                value.to_f32(),
                |text| f16::from_f64(text).to_bits() == value.to_bits(),
                out,
            )
        }
        Number::Bf16 => {
            let value = bf16::from_le(bytes);
            write_narrow(
                value.to_f32(),
                |text| bf16::from_f64(text).to_bits() == value.to_bits(),
                out,
            )
        }
        Number::F32 => {
            let value = f32::from_le(bytes);
            if value.is_finite() {
                write!(out, "{value:?}")
            } else {
                write_special(value.into(), out)
            }
        }
        Number::F64 => {
            let value = f64::from_le(bytes);
            if value.is_finite() {
                write!(out, "{value:?}")
            } else {
                write_special(value, out)
            }
        }
        Number::F128 => write!(out, "\"{}\"", F128::from_le(bytes)),
    };
}

/// Appends an element, given by its little-endian bytes, as it appears in tables: the digits of
/// [`write_number`] without quotes, `NaN`, `inf` and `-inf`, complex numbers as Python writes them,
/// as in `1.5-2.0j`, and quaternions and octonions as components separated by spaces.
pub fn write_element(dtype: DType, element: &[u8], out: &mut String) {
    let mut numbers = element.chunks_exact(dtype.number.width());
    match (dtype.arity, numbers.next(), numbers.next()) {
        (Arity::Complex, Some(real), Some(imaginary)) => {
            write_bare(dtype.number, real, out);
            let middle = out.len();
            write_bare(dtype.number, imaginary, out);
            if !out.get(middle..).is_some_and(|text| text.starts_with('-')) {
                out.insert(middle, '+');
            }
            out.push('j');
        }
        _ => {
            for (place, number) in element.chunks_exact(dtype.number.width()).enumerate() {
                if place > 0 {
                    out.push(' ');
                }
                write_bare(dtype.number, number, out);
            }
        }
    }
}

/// Appends a number without quotes. Values that JSON cannot represent, and those with more digits
/// than a double, have quotes in JSON but not here.
fn write_bare(number: Number, bytes: &[u8], out: &mut String) {
    let start = out.len();
    write_number(number, bytes, out);
    if out.ends_with('"') {
        let word = match out.get(start..).unwrap_or_default().trim_matches('"') {
            "Infinity" => "inf".to_owned(),
            "-Infinity" => "-inf".to_owned(),
            other => other.to_owned(),
        };
        out.truncate(start);
        out.push_str(&word);
    }
}

/// The nearest double to a number given by its little-endian bytes.
#[expect(
    clippy::as_conversions,
    reason = "integers are rounded to the nearest double, as meant"
)]
pub(crate) fn to_f64(number: Number, bytes: &[u8]) -> f64 {
    match number {
        Number::Bool => bool::from_le(bytes).into(),
        Number::U8 => <u8 as Element>::from_le(bytes).into(),
        Number::U16 => <u16 as Element>::from_le(bytes).into(),
        Number::U32 => <u32 as Element>::from_le(bytes).into(),
        Number::U64 => <u64 as Element>::from_le(bytes) as f64,
        Number::U128 => <u128 as Element>::from_le(bytes) as f64,
        Number::I8 => <i8 as Element>::from_le(bytes).into(),
        Number::I16 => <i16 as Element>::from_le(bytes).into(),
        Number::I32 => <i32 as Element>::from_le(bytes).into(),
        Number::I64 => <i64 as Element>::from_le(bytes) as f64,
        Number::I128 => <i128 as Element>::from_le(bytes) as f64,
        Number::F16 => f16::from_le(bytes).into(),
        Number::Bf16 => bf16::from_le(bytes).into(),
        Number::F32 => f32::from_le(bytes).into(),
        Number::F64 => f64::from_le(bytes),
        Number::F128 => F128::from_le(bytes).to_f64(),
    }
}

fn write_special(value: f64, out: &mut String) -> std::fmt::Result {
    out.write_str(if value.is_nan() {
        "\"NaN\""
    } else if value < 0.0 {
        "\"-Infinity\""
    } else {
        "\"Infinity\""
    })
}

/// Writes a 16-bit float: the fewest digits that still read back to the same bits.
fn write_narrow(
    value: f32,
    reads_back: impl Fn(f64) -> bool,
    out: &mut String,
) -> std::fmt::Result {
    /// Every 16-bit float is recovered from this many digits after the first.
    const ENOUGH: usize = 8;
    if !value.is_finite() {
        return write_special(value.into(), out);
    }
    for digits in 0..ENOUGH {
        let text = format!("{value:.digits$e}");
        if let Ok(short) = text.parse::<f64>()
            && reads_back(short)
        {
            return write!(out, "{short:?}");
        }
    }
    write!(out, "{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: Number, bytes: &[u8]) -> String {
        let mut out = String::new();
        write_number(number, bytes, &mut out);
        out
    }

    #[test]
    fn floats_are_written_shortest_for_their_width() {
        assert_eq!(text(Number::F16, &f16::from_f32(0.1).to_le_bytes()), "0.1");
        assert_eq!(
            text(Number::Bf16, &bf16::from_f32(3.16).to_le_bytes()),
            "3.16"
        );
        assert_eq!(text(Number::F32, &0.1_f32.to_le_bytes()), "0.1");
        assert_eq!(text(Number::F64, &1e300_f64.to_le_bytes()), "1e300");
        assert_eq!(text(Number::F64, &(-0.0_f64).to_le_bytes()), "-0.0");
        assert_eq!(
            text(Number::F32, &f32::NEG_INFINITY.to_le_bytes()),
            "\"-Infinity\""
        );
    }

    #[test]
    fn every_16_bit_float_reads_back() {
        for bits in (0..=u16::MAX).step_by(if cfg!(miri) { 997 } else { 1 }) {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            if half.is_finite() {
                let shown = text(Number::F16, &bits.to_le_bytes());
                assert_eq!(
                    f16::from_f64(shown.parse().unwrap()).to_bits(),
                    bits,
                    "{shown}"
                );
            }
            if brain.is_finite() {
                let shown = text(Number::Bf16, &bits.to_le_bytes());
                assert_eq!(
                    bf16::from_f64(shown.parse().unwrap()).to_bits(),
                    bits,
                    "{shown}"
                );
            }
        }
    }

    #[test]
    fn the_widest_integers_are_written_in_full() {
        let most = "340282366920938463463374607431768211455";
        assert_eq!(text(Number::U128, &u128::MAX.to_le_bytes()), most);
    }

    #[test]
    fn complex_numbers_are_spelled_as_python_reads_them() {
        let complex = DType::complex(Number::F32);
        let bytes = |numbers: [f32; 2]| numbers.map(f32::to_le_bytes).concat();
        for (numbers, text) in [
            ([1.5, -0.0], "1.5-0.0j"),
            ([f32::NAN, f32::INFINITY], "NaN+infj"),
            ([f32::NEG_INFINITY, -2.0], "-inf-2.0j"),
        ] {
            let mut out = String::new();
            write_element(complex, &bytes(numbers), &mut out);
            assert_eq!(out, text);
        }
        let mut out = String::new();
        write_element("quaternion<u8>".parse().unwrap(), &[1, 2, 3, 4], &mut out);
        assert_eq!(out, "1 2 3 4");
    }
}
