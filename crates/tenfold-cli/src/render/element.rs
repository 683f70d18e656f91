//! Tensor elements as text.

use tenfold::{Arity, DType, Kind, Number, write_number};

/// Digits printed in text output.
const DIGITS: usize = 8;

/// Appends elements, given by their little-endian bytes, as comma-separated JSON values: an element
/// of several numbers becomes a list.
pub(crate) fn elements(dtype: DType, bytes: &[u8], out: &mut String) {
    for (place, element) in bytes.chunks_exact(dtype.width()).enumerate() {
        if place > 0 {
            out.push(',');
        }
        if dtype.arity == Arity::Real {
            write_number(dtype.number, element, out);
            continue;
        }
        out.push('[');
        for (place, number) in element.chunks_exact(dtype.number.width()).enumerate() {
            if place > 0 {
                out.push(',');
            }
            write_number(dtype.number, number, out);
        }
        out.push(']');
    }
}

/// An element as text: rounded, complex numbers as `1.0-2.0i`.
pub(crate) fn element(dtype: DType, bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes
        .chunks_exact(dtype.number.width())
        .map(|bytes| number(dtype.number, bytes))
        .collect();
    match (dtype.arity, numbers.as_slice()) {
        (Arity::Real, [number]) => number.clone(),
        (Arity::Complex, [real, imaginary]) => {
            let plus = if imaginary.starts_with('-') { "" } else { "+" };
            format!("{real}{plus}{imaginary}i")
        }
        _ => format!("({})", numbers.join(", ")),
    }
}

fn number(number: Number, bytes: &[u8]) -> String {
    let mut exact = String::new();
    write_number(number, bytes, &mut exact);
    let exact = exact.trim_matches('"');
    match exact {
        "NaN" => return "nan".into(),
        "Infinity" => return "inf".into(),
        "-Infinity" => return "-inf".into(),
        _ => {}
    }
    if number.kind() != Kind::Float {
        return exact.into();
    }
    rounded(exact).unwrap_or_else(|| exact.into())
}

/// The number rounded, if it has more digits than text output shows.
fn rounded(exact: &str) -> Option<String> {
    let mantissa = exact.split('e').next()?;
    if mantissa.chars().filter(char::is_ascii_digit).count() <= DIGITS {
        return None;
    }
    let near: f64 = exact.parse().ok()?;
    let digits = DIGITS.saturating_sub(1);
    let near: f64 = format!("{near:.digits$e}").parse().ok()?;
    if !near.is_finite() || near == 0.0 {
        return None; // out of range of a double
    }
    // For integers, trailing zeros would look exact.
    let is_long = near.abs() >= 1e7;
    Some(if is_long {
        format!("{near:e}")
    } else {
        format!("{near:?}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold::{Element, F128};

    fn shown<T: Element>(value: T) -> String {
        let mut bytes = Vec::new();
        value.to_le(&mut bytes);
        element(T::DTYPE, &bytes)
    }

    #[test]
    fn a_person_is_shown_eight_digits() {
        assert_eq!(shown(1.0_f64 / 3.0), "0.33333333");
        assert_eq!(shown(123_456.789_012_f64), "123456.79");
        assert_eq!(shown(190_500_290.123_f64), "1.9050029e8");
        assert_eq!(shown(0.1_f32), "0.1");
        assert_eq!(shown(-1.5e-300_f64), "-1.5e-300");
        assert_eq!(shown(f64::NAN), "nan");
        assert_eq!(shown(f32::NEG_INFINITY), "-inf");
        assert_eq!(shown(u64::MAX), "18446744073709551615");
        assert_eq!(shown("1e-4000".parse::<F128>().unwrap()), "1e-4000");
    }

    #[test]
    fn elements_of_several_numbers_are_told_apart() {
        let mut bytes = Vec::new();
        for part in [1.0_f32, -2.5] {
            part.to_le(&mut bytes);
        }
        assert_eq!(element("c64".parse().unwrap(), &bytes), "1.0-2.5i");
        let quaternion: DType = "quaternion<u8>".parse().unwrap();
        assert_eq!(element(quaternion, &[1, 2, 3, 4]), "(1, 2, 3, 4)");
        let mut json = String::new();
        elements(quaternion, &[1, 2, 3, 4, 5, 6, 7, 8], &mut json);
        assert_eq!(json, "[1,2,3,4],[5,6,7,8]");
    }
}
