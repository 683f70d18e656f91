//! Number types in their usual spellings.

use tenfold::Number;

/// Aliases of number types.
const WORDS: &[(&str, Number)] = &[
    ("boolean", Number::Bool),
    ("byte", Number::U8),
    ("char", Number::I8),
    ("short", Number::I16),
    ("long", Number::I64),
    ("half", Number::F16),
    ("bfloat", Number::Bf16),
    ("bfloat16", Number::Bf16),
    ("single", Number::F32),
    ("float", Number::F32),
    ("double", Number::F64),
    ("quad", Number::F128),
];

/// Parses the name of a number type: `f32`, but also `float32`, `fp32`, `F32`, `f4`, `<f4`,
/// `single`.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    let word = text.trim().to_ascii_lowercase();
    if let Some(code) = word.strip_prefix('>') {
        let own = by_code(code).map_or("its name", Number::as_str);
        return Err(format!(
            "the byte order is the format's own affair: say {own}"
        ));
    }
    if word == "f8" {
        return Err("f8 is f64 to NumPy and has 8 bits elsewhere: say f64".into());
    }
    let code = word.strip_prefix(['<', '=', '|']);
    let found = match code {
        Some(code) => by_code(code),
        None => by_word(&word).or_else(|| by_code(&word)),
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = Number::ALL.iter().map(|number| number.as_str()).collect();
        format!("the number types are {}", names.join(", "))
    })
}

/// Parses the name of a floating-point type.
pub(crate) fn float(text: &str) -> Result<Number, String> {
    let floats = [Number::F32, Number::F16, Number::Bf16, Number::F64];
    let found = number(text).ok().filter(|found| floats.contains(found));
    found.ok_or_else(|| "the number types are f32, f16, bf16, f64".into())
}

fn by_name(name: &str) -> Option<Number> {
    let mut all = Number::ALL.iter().copied();
    all.find(|number| number.as_str() == name)
}

fn by_word(word: &str) -> Option<Number> {
    let known = WORDS.iter().find(|(known, _)| *known == word);
    let long = || {
        let prefixes = [("float", "f"), ("fp", "f"), ("uint", "u"), ("int", "i")];
        prefixes.iter().find_map(|(long, short)| {
            let bits = word.strip_prefix(long)?;
            by_name(&format!("{short}{bits}"))
        })
    };
    known
        .map(|(_, number)| *number)
        .or_else(|| by_name(word))
        .or_else(long)
}

/// Parses a NumPy type code, a letter and a byte count; NumPy's 16-byte float is not binary128.
fn by_code(code: &str) -> Option<Number> {
    if code == "?" || code == "b1" {
        return Some(Number::Bool);
    }
    let kind = code
        .get(..1)
        .filter(|kind| ["f", "i", "u"].contains(kind))?;
    let bits = match code.get(1..)? {
        "1" => 8,
        "2" => 16,
        "4" => 32,
        "8" => 64,
        _ => return None,
    };
    by_name(&format!("{kind}{bits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_type_has_many_spellings() {
        for (number_type, spellings) in [
            (
                Number::F32,
                &[
                    "f32", "F32", "float32", "fp32", "f4", "<f4", "=f4", "float", "single",
                ][..],
            ),
            (
                Number::F16,
                &["f16", "fp16", "half", "float16", "<f2", "f2"],
            ),
            (Number::Bf16, &["bf16", "bfloat16", "BF16", "BFloat16"]),
            (
                Number::F64,
                &["f64", "double", "float64", "<f8", "fp64", "F64"],
            ),
            (Number::F128, &["f128", "quad", "float128", "fp128"]),
            (Number::I8, &["i8", "int8", "i1", "|i1", "I8"]),
            (Number::I64, &["i64", "int64", "<i8", "long"]),
            (Number::U8, &["u8", "uint8", "byte", "|u1", "UINT8"]),
            (Number::U64, &["u64", "<u8", "uint64"]),
            (Number::I128, &["i128", "int128"]),
            (Number::Bool, &["bool", "|b1", "BOOL", "?", "boolean"]),
        ] {
            for spelling in spellings {
                assert_eq!(number(spelling), Ok(number_type), "{spelling}");
            }
        }
    }

    #[test]
    fn what_has_no_single_meaning_is_refused() {
        assert_eq!(
            number(">f4").unwrap_err(),
            "the byte order is the format's own affair: say f32"
        );
        assert_eq!(
            number("f8").unwrap_err(),
            "f8 is f64 to NumPy and has 8 bits elsewhere: say f64"
        );
        for text in [
            "", "colour", "f32x", "float8", "<f3", "c8", "int", "f", "<i16", "<f16", "é",
        ] {
            let error = number(text).unwrap_err();
            assert!(
                error.starts_with("the number types are bool, u8, "),
                "{text}: {error}"
            );
        }
    }
}
