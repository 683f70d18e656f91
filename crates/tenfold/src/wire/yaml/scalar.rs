//! Types of plain scalars: the core schema of YAML 1.2.
#![deny(clippy::arithmetic_side_effects)]

use crate::meta::Value;

/// Words and their values.
const WORDS: &[(&str, Value)] = &[
    ("", Value::Null),
    ("~", Value::Null),
    ("null", Value::Null),
    ("Null", Value::Null),
    ("NULL", Value::Null),
    ("true", Value::Bool(true)),
    ("True", Value::Bool(true)),
    ("TRUE", Value::Bool(true)),
    ("false", Value::Bool(false)),
    ("False", Value::Bool(false)),
    ("FALSE", Value::Bool(false)),
];

pub(super) fn value(text: &str) -> Value {
    let word = WORDS.iter().find(|(word, _)| *word == text);
    let found = word.map(|(_, value)| value.clone());
    let found = found.or_else(|| whole(text).map(Value::Int));
    found.or_else(|| float(text)).unwrap_or_else(|| text.into())
}

fn whole(text: &str) -> Option<i128> {
    let radix = |prefix, radix| {
        let digits: &str = text.strip_prefix(prefix)?;
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let number = i128::from_str_radix(digits, radix).ok();
        number.filter(|_| is_plain)
    };
    let number = text.parse().ok();
    number
        .or_else(|| radix("0o", 8))
        .or_else(|| radix("0x", 16))
}

fn float(text: &str) -> Option<Value> {
    let (is_negative, bare) = match text.strip_prefix('-') {
        Some(bare) => (true, bare),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let number = match bare {
        ".inf" | ".Inf" | ".INF" => f64::INFINITY,
        ".nan" | ".NaN" | ".NAN" if bare == text => f64::NAN,
        _ => {
            let starts = bare.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            let is_number =
                |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+');
            if !starts || !bare.chars().all(is_number) {
                return None;
            }
            // A number too large for a double is no number here, but the text it is.
            bare.parse()
                .ok()
                .filter(|number: &f64| number.is_finite())?
        }
    };
    // Not by multiplication, which leaves the bits of a NaN to the hardware.
    let number = if is_negative { -number } else { number };
    Some(Value::Float {
        bits: number.to_bits(),
        width: 64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_what_a_scalar_is() {
        let float = |number: f64| Value::Float {
            bits: number.to_bits(),
            width: 64,
        };
        for (text, wanted) in [
            ("~", Value::Null),
            ("true", Value::Bool(true)),
            ("-12", Value::Int(-12)),
            ("007", Value::Int(7)),
            ("0x1F", Value::Int(31)),
            ("0o17", Value::Int(15)),
            ("1.", float(1.0)),
            (".5", float(0.5)),
            ("-0.0", float(-0.0)),
            ("1e3", float(1000.0)),
            ("-.inf", float(f64::NEG_INFINITY)),
            (".nan", float(f64::NAN)),
            ("yes", "yes".into()),
            ("1:30", "1:30".into()),
            ("1_000", "1_000".into()),
            ("inf", "inf".into()),
            ("nan", "nan".into()),
            ("1e999", "1e999".into()),
            ("0x-1", "0x-1".into()),
            ("-.nan", "-.nan".into()),
            (".", ".".into()),
        ] {
            assert_eq!(value(text), wanted, "{text}");
        }
    }
}
