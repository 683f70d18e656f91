//! Metadata as YAML in a form that all readers interpret alike.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::scalar;
use crate::meta::Value;

/// Deepest nesting that is written, well below what a reader allows.
const DEEP: u32 = 32;

/// Whether a value survives a round trip.
pub(crate) fn fits(value: &Value) -> bool {
    fits_at(value, 0)
}

fn fits_at(value: &Value, depth: u32) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Text(_) => true,
        Value::Float { bits, width: 64 } => {
            // Only one NaN can be written.
            !f64::from_bits(*bits).is_nan() || *bits == f64::NAN.to_bits()
        }
        Value::List(items) => {
            depth < DEEP
                && items
                    .iter()
                    .all(|item| fits_at(item, depth.saturating_add(1)))
        }
        Value::Map(pairs) => {
            let keys: HashSet<String> = pairs.iter().map(|(key, _)| letters(key)).collect();
            let is_scalar = |key: &Value| !matches!(key, Value::List(_) | Value::Map(_));
            let fit = |(key, value): &(Value, Value)| {
                is_scalar(key) && fits_at(key, DEEP) && fits_at(value, depth.saturating_add(1))
            };
            depth < DEEP && keys.len() == pairs.len() && pairs.iter().all(fit)
        }
        Value::Float { .. } | Value::Bytes(_) | Value::Tag(..) | Value::Simple(_) => false,
    }
}

/// The text of a scalar without quotes, by which keys are distinguished.
fn letters(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => scalar_text(other),
    }
}

/// Appends `key: value` and the end of the line, at a depth of `indent`; both must survive a round
/// trip.
pub(crate) fn write_pair(key: &str, value: &Value, indent: usize, out: &mut String) {
    push_indent(indent, out);
    write_text(key, out);
    out.push(':');
    write_after(value, indent, out);
}

/// Appends the value after the colon of a key or the dash of an item.
fn write_after(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Map(pairs) if !pairs.is_empty() => {
            out.push('\n');
            write_pairs(pairs, indent.saturating_add(1), out);
        }
        Value::List(items) if !is_flat(items) => {
            out.push('\n');
            for item in items {
                push_indent(indent.saturating_add(1), out);
                out.push('-');
                match item {
                    // The first pair is on the line of the dash.
                    Value::Map(pairs) if !pairs.is_empty() => {
                        let mut inner = String::new();
                        write_pairs(pairs, indent.saturating_add(2), &mut inner);
                        out.push(' ');
                        out.push_str(inner.trim_start_matches(' '));
                    }
                    item => write_after(item, indent.saturating_add(1), out),
                }
            }
        }
        flat => {
            out.push(' ');
            write_flat(flat, out);
            out.push('\n');
        }
    }
}

fn write_pairs(pairs: &[(Value, Value)], indent: usize, out: &mut String) {
    for (key, value) in pairs {
        push_indent(indent, out);
        out.push_str(&scalar_text(key));
        out.push(':');
        write_after(value, indent, out);
    }
}

/// Whether all items are scalars, or there are none.
fn is_flat(items: &[Value]) -> bool {
    items.iter().all(|item| match item {
        Value::List(items) => items.is_empty(),
        Value::Map(pairs) => pairs.is_empty(),
        _ => true,
    })
}

fn write_flat(value: &Value, out: &mut String) {
    match value {
        Value::List(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push_str(", ");
                }
                write_flat(item, out);
            }
            out.push(']');
        }
        Value::Map(_) => out.push_str("{}"),
        scalar => out.push_str(&scalar_text(scalar)),
    }
}

fn scalar_text(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::Float { bits, .. } => write_float(f64::from_bits(*bits), &mut out),
        Value::Text(text) => write_text(text, &mut out),
        _ => out.push_str("null"),
    }
    out
}

/// With a point, and a sign before the exponent: otherwise readers of YAML 1.1 take it for text.
fn write_float(number: f64, out: &mut String) {
    if number.is_nan() {
        return out.push_str(".nan");
    }
    if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        return out.push_str(&format!("{sign}.inf"));
    }
    let text = format!("{number:?}");
    match text.split_once('e') {
        None => out.push_str(&text),
        Some((digits, exponent)) => {
            let point = if digits.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            // Writing to a string cannot fail.
            let _ = write!(out, "{digits}{point}e{sign}{exponent}");
        }
    }
}

/// Words that some readers take for something else than text.
const TAKEN: &[&str] = &["y", "n", "yes", "no", "on", "off", "null", "true", "false"];

fn write_text(text: &str, out: &mut String) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_taken = TAKEN.iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_text = matches!(scalar::value(text), Value::Text(_));
    if starts && text.chars().all(is_word) && !is_taken && is_text {
        return out.push_str(text);
    }
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' | '\u{a1}'..='\u{d7ff}' if !matches!(letter, '\u{2028}' | '\u{2029}') => {
                out.push(letter);
            }
            letter if u32::from(letter) > 0xffff => {
                let _ = write!(out, "\\U{:08x}", u32::from(letter));
            }
            letter => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
        }
    }
    out.push('"');
}

fn push_indent(indent: usize, out: &mut String) {
    (0..indent).for_each(|_| out.push_str("  "));
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::limits::Limits;

    fn float(number: f64) -> Value {
        Value::Float {
            bits: number.to_bits(),
            width: 64,
        }
    }

    fn again(value: &Value) -> Value {
        let mut text = String::new();
        write_pair("a", value, 0, &mut text);
        let node = parse(&text, &Limits::default());
        let node = node.unwrap_or_else(|error| panic!("{error}\n{text}"));
        node.get("a").unwrap().value()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes an hour there")]
    fn every_value_that_fits_comes_back() {
        let letters: String = (0..0x3000).filter_map(char::from_u32).collect();
        let odd = "\u{feff}\u{fffe}\u{ffff}\u{1f600}\u{10ffff}";
        let texts = [
            "", " ", "-", "- a", "a: b", "#", "yes", "1", "1.0", ".inf", "'", "x y",
        ];
        let mut all: Vec<Value> = texts.map(Value::from).to_vec();
        all.extend([&*letters, odd].map(Value::from));
        all.extend([0.1, -0.0, 1e300, 5e-324, 1.5e-7, f64::INFINITY, f64::NAN].map(float));
        all.extend([Value::Null, Value::Bool(true), Value::Int(i128::MIN)]);
        all.extend([Value::List(vec![]), Value::Map(vec![])]);
        all.push(Value::List(vec![
            Value::List(all.clone()),
            Value::Map(vec![]),
        ]));
        all.push(Value::Map(vec![
            (Value::Int(1), Value::List(all.clone())),
            ("a b".into(), Value::Map(vec![("c".into(), Value::Null)])),
        ]));
        for value in &all {
            assert!(fits(value), "{value:?}");
            assert_eq!(again(value), *value);
        }
        assert_eq!(again(&Value::List(all.clone())), Value::List(all));
    }

    #[test]
    fn what_would_change_does_not_fit() {
        let deep = (0..60).fold(Value::Null, |inner, _| Value::List(vec![inner]));
        let twice = vec![(Value::Int(1), Value::Null), ("1".into(), Value::Null)];
        let odd_key = vec![(Value::List(vec![]), Value::Null)];
        let nan = float(f64::from_bits(f64::NAN.to_bits() | 1));
        let bytes = Value::Bytes(vec![]);
        for value in [
            deep,
            Value::Map(twice),
            Value::Map(odd_key),
            nan,
            bytes,
            Value::f32(1.0),
        ] {
            assert!(!fits(&value), "{value:?}");
        }
    }
}
