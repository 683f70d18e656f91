//! Metadata values from the command line.

use half::f16;
use tenfold::Value;

/// Parses a value: with the type of the old one if there is one, otherwise as JSON, otherwise as
/// text.
pub(crate) fn parse(text: &str, old: Option<&Value>) -> Result<Value, String> {
    match old {
        Some(Value::Text(_)) => Ok(Value::from(text)),
        Some(Value::Bool(_)) => match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(format!("{text:?} is neither true nor false")),
        },
        Some(Value::Int(_)) => {
            let number = text.parse().map(Value::Int);
            number.map_err(|_| format!("{text:?} is not a whole number"))
        }
        Some(Value::Float { width, .. }) => {
            float(text, *width).ok_or_else(|| format!("{text:?} is not a number"))
        }
        Some(Value::List(old)) => list(text, old),
        Some(Value::Map(_)) => match json(text)? {
            Some(map @ Value::Map(_)) => Ok(map),
            _ => Err(format!("{text:?} is not a map, such as {{\"a\": 1}}")),
        },
        _ => Ok(json(text)?.unwrap_or_else(|| Value::from(text))),
    }
}

/// Parses a list; of integers if the old one is.
fn list(text: &str, old: &[Value]) -> Result<Value, String> {
    let is_whole = |item: &Value| matches!(item, Value::Int(_));
    let is_of_whole = !old.is_empty() && old.iter().all(is_whole);
    match json(text)? {
        Some(Value::List(items)) if !is_of_whole || items.iter().all(is_whole) => {
            Ok(Value::List(items))
        }
        _ if is_of_whole => Err(format!(
            "{text:?} is not a list of whole numbers, such as [1,2]"
        )),
        _ => Err(format!("{text:?} is not a list, such as [1,2]")),
    }
}

/// Parses a value as JSON; `None` if it is not JSON.
fn json(text: &str) -> Result<Option<Value>, String> {
    let json = serde_json::from_str(text).ok();
    json.map(of_json).transpose()
}

fn float(text: &str, width: u8) -> Option<Value> {
    let bits = match width {
        // Through a double: the rare values affected by double rounding are never typed by hand.
        16 => f16::from_f64(text.parse().ok()?).to_bits().into(),
        32 => text.parse::<f32>().ok()?.to_bits().into(),
        _ => text.parse::<f64>().ok()?.to_bits(),
    };
    Some(Value::Float { bits, width })
}

fn of_json(json: serde_json::Value) -> Result<Value, String> {
    use serde_json::Value as Json;
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(truth),
        Json::String(text) => Value::Text(text),
        Json::Number(number) => {
            let text = number.to_string();
            match text.parse() {
                Ok(number) => Value::Int(number),
                Err(_) => float(&text, 64).ok_or("not a number")?,
            }
        }
        Json::Array(items) => {
            Value::List(items.into_iter().map(of_json).collect::<Result<_, _>>()?)
        }
        Json::Object(pairs) => Value::Map(
            pairs
                .into_iter()
                .map(|(name, item)| Ok((Value::Text(name), of_json(item)?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exists_keeps_its_type() {
        let text = Value::from("a");
        assert_eq!(parse("3", Some(&text)), Ok(Value::from("3")));
        assert_eq!(parse("3", Some(&Value::Int(1))), Ok(Value::Int(3)));
        assert_eq!(parse("0.1", Some(&Value::f32(1.0))), Ok(Value::f32(0.1)));
        let half = Value::Float { bits: 0, width: 16 };
        let tenth = Value::Float {
            bits: 0x2e66,
            width: 16,
        };
        assert_eq!(parse("0.1", Some(&half)), Ok(tenth));
        assert!(parse("1.5", Some(&Value::Int(1))).is_err());
        assert!(parse("yes", Some(&Value::Bool(true))).is_err());
        let ones = Value::List(vec![Value::Int(1), Value::Int(1)]);
        assert_eq!(parse("[1, 1]", Some(&ones)), Ok(ones.clone()));
        assert!(parse("one", Some(&ones)).is_err());
        assert!(parse("[1, \"a\"]", Some(&ones)).is_err());
        assert!(parse("[]", Some(&Value::Map(vec![]))).is_err());
        assert!(parse("x", Some(&Value::f32(1.0))).is_err());
    }

    #[test]
    fn what_is_new_is_json_or_text() {
        assert_eq!(parse("3", None), Ok(Value::Int(3)));
        assert_eq!(parse("mV", None), Ok(Value::from("mV")));
        assert_eq!(parse("\"3\"", None), Ok(Value::from("3")));
        assert_eq!(parse("true", None), Ok(Value::Bool(true)));
        let tenth = Value::Float {
            bits: 0.1_f64.to_bits(),
            width: 64,
        };
        assert_eq!(parse("0.1", None), Ok(tenth));
        let list = Value::List(vec![Value::Int(1), Value::Null]);
        assert_eq!(parse("[1,null]", None), Ok(list));
        let map = Value::Map(vec![(Value::from("a"), Value::Int(1 << 70))]);
        assert_eq!(parse("{\"a\": 1180591620717411303424}", None), Ok(map));
    }
}
