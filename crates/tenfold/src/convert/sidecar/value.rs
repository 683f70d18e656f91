//! Typed metadata as JSON, and back.
//!
//! Null, booleans, integers, text and lists are the same in JSON. Everything else is an object with
//! one name: `f16`, `f32`, `f64` (the bits in hexadecimal), `bytes` (hexadecimal), `map` (a list of
//! pairs), `tag` (its number and its value), `simple` (its number).
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;

use serde_json::{Map, Value as Json, json};

use crate::meta::{Meta, Value};

/// Metadata as a list of names and values.
pub(crate) fn meta_json(meta: &[(&str, &Value)]) -> Json {
    let pair = |(name, value): &(&str, &Value)| json!([name, value_json(value)]);
    meta.iter().map(pair).collect()
}

/// Metadata from a list; `None` if an item is no metadata.
pub(crate) fn meta_of(json: &Json) -> Option<Meta> {
    let mut seen = HashSet::new();
    let pair = |pair: &Json| match pair.as_array()?.as_slice() {
        [Json::String(name), value] if seen.insert(name.clone()) => {
            Some((name.clone(), value_of(value)?))
        }
        _ => None,
    };
    let pairs: Option<Vec<(String, Value)>> = json.as_array()?.iter().map(pair).collect();
    pairs.map(Meta::of_unique)
}

fn value_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => json!(truth),
        Value::Int(number) => json!(number),
        Value::Float { bits, width } => {
            let digits = usize::from(*width).div_ceil(4);
            json!({ format!("f{width}"): format!("{bits:0digits$x}") })
        }
        Value::Text(text) => json!(text),
        Value::Bytes(bytes) => json!({ "bytes": hex(bytes) }),
        Value::List(items) => items.iter().map(value_json).collect(),
        Value::Map(pairs) => {
            let pairs: Json = pairs
                .iter()
                .map(|(key, value)| Json::from(vec![value_json(key), value_json(value)]))
                .collect();
            json!({ "map": pairs })
        }
        Value::Tag(number, item) => json!({ "tag": [number, value_json(item)] }),
        Value::Simple(number) => json!({ "simple": number }),
    }
}

fn value_of(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => Value::Int(number.as_i128()?),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(value_of).collect::<Option<_>>()?),
        Json::Object(fields) => wrapped_of(fields)?,
    })
}

/// A value encoded as an object with one name.
fn wrapped_of(fields: &Map<String, Json>) -> Option<Value> {
    let mut all = fields.iter();
    let (Some((name, json)), None) = (all.next(), all.next()) else {
        return None;
    };
    Some(match (name.as_str(), json) {
        ("f16", Json::String(digits)) => float(digits, 16)?,
        ("f32", Json::String(digits)) => float(digits, 32)?,
        ("f64", Json::String(digits)) => float(digits, 64)?,
        ("bytes", Json::String(digits)) => Value::Bytes(bytes(digits)?),
        ("simple", number) => Value::Simple(u8::try_from(number.as_u64()?).ok()?),
        ("map", Json::Array(pairs)) => {
            let pairs = pairs.iter().map(|pair| match pair.as_array()?.as_slice() {
                [key, value] => Some((value_of(key)?, value_of(value)?)),
                _ => None,
            });
            Value::Map(pairs.collect::<Option<_>>()?)
        }
        ("tag", Json::Array(parts)) => match parts.as_slice() {
            [number, item] => Value::Tag(number.as_u64()?, Box::new(value_of(item)?)),
            _ => return None,
        },
        _ => return None,
    })
}

fn float(digits: &str, width: u8) -> Option<Value> {
    let is_whole = digits.len() == usize::from(width).div_ceil(4);
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bits = u64::from_str_radix(digits, 16).ok()?;
    (is_whole && is_hex).then_some(Value::Float { bits, width })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| {
        char::from(*byte)
            .to_digit(16)
            .and_then(|n| u8::try_from(n).ok())
    };
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_comes_back() {
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Int(i128::MIN),
            Value::Int(-1),
            Value::Text("é\0\"".into()),
            Value::Bytes(vec![0, 255]),
            Value::Simple(99),
            Value::f32(-0.0),
            Value::Float {
                bits: 0x7e01,
                width: 16,
            },
            Value::Float {
                bits: 0x7ff8_0000_0000_0001,
                width: 64,
            },
            Value::Tag(u64::MAX, Box::new(Value::List(vec![Value::Null]))),
            Value::Map(vec![(Value::Int(1), Value::Map(vec![]))]),
        ];
        for value in values {
            let text = value_json(&value).to_string();
            let json: Json = serde_json::from_str(&text).unwrap();
            assert_eq!(value_of(&json), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_value_is_none() {
        for text in [
            "1.5",
            "{}",
            r#"{"f32":"3f8"}"#,
            r#"{"f32":"+f800000"}"#,
            r#"{"f32":1}"#,
            r#"{"bytes":"abc"}"#,
            r#"{"bytes":"é"}"#,
            r#"{"map":[[1]]}"#,
            r#"{"tag":[-1,2]}"#,
            r#"{"simple":256}"#,
            r#"{"f32":"3f800000","f16":"0000"}"#,
            "1000000000000000000000000000000000000000000",
        ] {
            let json: Json = serde_json::from_str(text).unwrap();
            assert_eq!(value_of(&json), None, "{text}");
        }
    }
}
