//! Metadata values as JSON, and abbreviated as text.

use std::collections::HashSet;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tenfold::{Number, Value, write_number};

use super::json::quoted;
use crate::terminal::plain;

/// Appends a metadata value as JSON.
///
/// A value that JSON cannot represent is an object with one name that begins with `$`: `$bytes` in
/// base64, `$tag` with the tag's number and its value, `$simple`, and `$map` for a map that is not
/// a valid object.
pub(crate) fn value(item: &Value, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match item {
        Value::Null => write!(out, "null"),
        Value::Bool(truth) => write!(out, "{truth}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Float { bits, width } => return float(*bits, *width, out),
        Value::Text(text) => write!(out, "{}", quoted(text)),
        Value::Bytes(bytes) => write!(out, r#"{{"$bytes":"{}"}}"#, STANDARD.encode(bytes)),
        Value::Simple(number) => write!(out, r#"{{"$simple":{number}}}"#),
        Value::List(items) => return list(items, out, value),
        Value::Map(pairs) => return map(pairs, out),
        Value::Tag(tag, inner) => {
            let _ = write!(out, r#"{{"$tag":[{tag},"#);
            value(inner, out);
            write!(out, "]}}")
        }
    };
}

fn float(bits: u64, width: u8, out: &mut String) {
    let number = match width {
        16 => Number::F16,
        32 => Number::F32,
        _ => Number::F64,
    };
    write_number(number, &bits.to_le_bytes(), out);
}

fn list<T>(items: &[T], out: &mut String, each: impl Fn(&T, &mut String)) {
    out.push('[');
    joined(items, out, each);
    out.push(']');
}

fn joined<T>(items: &[T], out: &mut String, each: impl Fn(&T, &mut String)) {
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        each(item, out);
    }
}

fn map(pairs: &[(Value, Value)], out: &mut String) {
    if let Some(named) = by_name(pairs) {
        out.push('{');
        joined(&named, out, |(name, item), out| {
            out.push_str(&quoted(name));
            out.push(':');
            value(item, out);
        });
        out.push('}');
        return;
    }
    out.push_str(r#"{"$map":"#);
    list(pairs, out, |(key, item), out| {
        list(&[key, item], out, |item, out| value(item, out));
    });
    out.push('}');
}

/// The pairs by name, if the names are distinct texts and none is reserved.
fn by_name(pairs: &[(Value, Value)]) -> Option<Vec<(&str, &Value)>> {
    let named: Vec<(&str, &Value)> = pairs
        .iter()
        .map(|(key, item)| Some((key.as_text()?, item)))
        .collect::<Option<_>>()?;
    let mut seen = HashSet::new();
    let is_ours = matches!(
        named.as_slice(),
        [("$bytes" | "$tag" | "$simple" | "$map", _)]
    );
    (!is_ours && named.iter().all(|(name, _)| seen.insert(*name))).then_some(named)
}

/// A metadata value as text: its JSON, abbreviated if long; a long list with its length.
pub(crate) fn short_value(item: &Value) -> String {
    /// Longer values are abbreviated.
    const LETTERS: usize = 72;
    let mut text = String::new();
    match item {
        // Each item takes at least one character.
        Value::List(items) => list(items.get(..LETTERS).unwrap_or(items), &mut text, value),
        item => value(item, &mut text),
    }
    let text = plain(&text);
    let Some((end, _)) = text.char_indices().nth(LETTERS) else {
        return text;
    };
    let start = text.get(..end).unwrap_or_default();
    match item {
        Value::List(items) => format!("{start}… ({} items)", items.len()),
        _ => format!("{start}…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(item: &Value) -> String {
        let mut out = String::new();
        value(item, &mut out);
        out
    }

    #[test]
    fn numbers_keep_their_width_and_their_length() {
        let half = Value::Float {
            bits: 0x2e66,
            width: 16,
        };
        assert_eq!(json(&half), "0.1");
        assert_eq!(json(&Value::f32(0.1)), "0.1");
        let nan = Value::Float {
            bits: f64::NAN.to_bits(),
            width: 64,
        };
        assert_eq!(json(&nan), "\"NaN\"");
        assert_eq!(
            json(&Value::Int(-(1 << 100))),
            "-1267650600228229401496703205376"
        );
    }

    #[test]
    fn what_json_has_no_word_for_has_a_name_with_a_dollar() {
        let items = Value::List(vec![
            Value::Bytes(vec![0, 255]),
            Value::Tag(1, Box::new(Value::from(7))),
            Value::Simple(99),
            Value::Null,
        ]);
        let text = r#"[{"$bytes":"AP8="},{"$tag":[1,7]},{"$simple":99},null]"#;
        assert_eq!(json(&items), text);
    }

    #[test]
    fn a_map_is_an_object_where_an_object_can_hold_it() {
        let pair = |key: &str| (Value::from(key), Value::from(true));
        let object = Value::Map(vec![pair("b"), pair("a\u{1}")]);
        assert_eq!(json(&object), r#"{"b":true,"a\u0001":true}"#);
        let twice = Value::Map(vec![pair("b"), pair("b")]);
        assert_eq!(json(&twice), r#"{"$map":[["b",true],["b",true]]}"#);
        let number = Value::Map(vec![(Value::from(1), Value::from("x"))]);
        assert_eq!(json(&number), r#"{"$map":[[1,"x"]]}"#);
        let ours = Value::Map(vec![pair("$bytes")]);
        assert_eq!(json(&ours), r#"{"$map":[["$bytes",true]]}"#);
        assert_eq!(json(&Value::Map(vec![])), "{}");
    }

    #[test]
    fn a_person_is_shown_the_start_of_a_long_value() {
        let long = Value::Text("ä".repeat(100));
        let short = short_value(&long);
        assert_eq!(short.chars().count(), 73);
        assert!(short.ends_with('…'));
        let list = Value::List(vec![Value::from(1); 100_000]);
        let short = short_value(&list);
        assert!(
            short.starts_with("[1,1,") && short.ends_with(",1… (100000 items)"),
            "{short}"
        );
        assert_eq!(short_value(&Value::List(vec![Value::from(1)])), "[1]");
    }
}
