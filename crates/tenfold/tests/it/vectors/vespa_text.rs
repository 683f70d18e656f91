//! The texts that Vespa's Java code reads and writes.

use serde_json::Value as Json;
use tenfold::{Bundle, Error, Mode, Result, Sink, WriteOptions};

use crate::support::{self, how, json, vectors, verify};

fn cases(name: &str, least: usize) -> Vec<Json> {
    let Some(folder) = vectors() else {
        return Vec::new();
    };
    let all = json(&folder.join("vespa.json"));
    let cases = all[name].as_array().unwrap().clone();
    assert!(cases.len() >= least);
    cases
}

fn read(text: &str, spec: Option<&str>) -> Result<Bundle> {
    let mut how = how(Mode::Strict, &Json::Null);
    if let Some(spec) = spec {
        how.options.set("type", spec);
    }
    verify("vespa-text", text.as_bytes(), &how).map(|opened| opened.bundle)
}

/// A bundle in the binary form, in hexadecimal digits.
fn binary(bundle: &Bundle) -> String {
    let bytes = support::write("vespa", bundle).unwrap();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn written(bundle: &Bundle, form: &str) -> String {
    let mut how = WriteOptions::default();
    how.options.set("form", form);
    let mut out = Sink::memory();
    let format = tenfold::by_name("vespa-text").unwrap();
    tenfold::write_to(bundle, &mut out, format, &how).unwrap();
    String::from_utf8(out.finish().unwrap().into_memory().unwrap()).unwrap()
}

/// Types that one of Vespa's readers takes and this one refuses.
const REFUSED_TYPES: &[&str] = &[
    // The cells of a tensor without dimensions are double.
    "tensor<float>()",
    // Sizes beyond what the binary form has; the second becomes a mapped dimension in C++.
    "tensor(x[2147483648])",
    "tensor(x[4294967295])",
    // A name that is empty.
    "tensor([3])",
    "tensor({})",
    // A comma after the last dimension.
    "tensor(x{},)",
];

#[test]
fn types_are_read_and_spelled_as_both_of_vespas_readers_do() {
    let mut n_spelled = 0;
    for case in cases("type_specs", 52) {
        let spec = case["spec"].as_str().unwrap();
        let theirs = [&case["cpp"], &case["java"]];
        let text = "{\"cells\":[]}";
        let found = match read(text, Some(spec)) {
            // The type is read before the values are.
            Err(Error::Invalid(why)) if why.starts_with("the type ") => None,
            Ok(bundle) => {
                let again: Json = serde_json::from_str(&written(&bundle, "long")).unwrap();
                // A number alone is the tensor without dimensions.
                let is_spelled = theirs.contains(&&again["type"]) || spec == "double";
                assert!(is_spelled, "{spec} becomes {}", again["type"]);
                n_spelled += 1;
                Some(())
            }
            Err(_) => Some(()),
        };
        let is_taken = theirs.iter().any(|other| other.is_string());
        let is_refused = !is_taken || REFUSED_TYPES.contains(&spec);
        assert_eq!(found.is_none(), is_refused, "{spec}");
    }
    assert!(n_spelled >= 21 || vectors().is_none(), "{n_spelled}");
}

#[test]
fn json_is_read_as_vespa_reads_it() {
    for case in cases("json_in", 31) {
        let (spec, text) = (
            case["type"].as_str().unwrap(),
            case["json"].as_str().unwrap(),
        );
        let found = read(text, Some(spec));
        match (spec, text) {
            // Vespa cuts where this rounds.
            ("tensor<bfloat16>(x[1])", "[0.1]") => {
                assert_eq!(binary(&found.unwrap()), "0602010178013dcd");
            }
            // Vespa cuts what is no whole number.
            ("tensor<int8>(x[3])", "[1.9,-1.9,127]") => assert!(found.is_err()),
            _ => {
                let found = found.unwrap_or_else(|error| panic!("{spec} {text}: {error}"));
                assert_eq!(
                    binary(&found),
                    case["hex"].as_str().unwrap(),
                    "{spec} {text}"
                );
            }
        }
    }
}

#[test]
fn literals_are_read_as_vespa_reads_them() {
    for case in cases("literal_in", 22) {
        let text = case["literal"].as_str().unwrap();
        let found = read(text, None).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(binary(&found), case["hex"].as_str().unwrap(), "{text}");
        // What Vespa prints of it means the same, but where its type has no size.
        let printed = case["java_prints"].as_str().unwrap();
        if !printed.contains("[]") {
            let again = read(printed, None).unwrap_or_else(|error| panic!("{printed}: {error}"));
            assert_eq!(
                sorted(&binary(&again)),
                sorted(&binary(&found)),
                "{printed}"
            );
        }
    }
}

/// The digits of a file in any order: blocks have none.
fn sorted(digits: &str) -> Vec<char> {
    let mut digits: Vec<char> = digits.chars().collect();
    digits.sort_unstable();
    digits
}

/// What Vespa writes, with the words for what it loses as `null`, and floats without the digits that only a double has.
fn with_words(name: &str, text: &str) -> String {
    match name {
        "edge_special_float" => text
            .replace("1.401298464324817E-45", "1.0E-45")
            .replace("1.1754943508222875E-38", "1.1754944E-38")
            .replace("3.4028234663852886E38", "3.4028235E38")
            .replace("0.10000000149011612", "0.1")
            .replacen("null", "\"Infinity\"", 1)
            .replacen("null", "\"-Infinity\"", 1)
            .replacen("null", "\"NaN\"", 1),
        _ => text.to_owned(),
    }
}

#[test]
fn texts_are_written_as_vespa_writes_them_and_read_back() {
    for case in cases("text_out", 49) {
        let name = case["vector"].as_str().unwrap();
        let hex = case["hex"].as_str().unwrap();
        let bytes = support::hex(hex);
        let opened = verify("vespa", &bytes, &how(Mode::Strict, &Json::Null)).unwrap();
        for (form, key) in [
            ("long", "json_long"),
            ("short", "json_short"),
            ("hex", "json_short_hex"),
        ] {
            let text = written(&opened.bundle, form);
            let wanted = with_words(name, case[key].as_str().unwrap());
            assert_eq!(text, format!("{wanted}\n"), "{name}, {form}");
            let again = read(&text, None).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(binary(&again), hex, "{name}, {form}");
        }
        let value = case["json_short_value"].as_str().unwrap();
        let spec: Json = serde_json::from_str(case["json_short"].as_str().unwrap()).unwrap();
        let again = read(&with_words(name, value), spec["type"].as_str()).unwrap();
        assert_eq!(binary(&again), hex, "{name}, {value}");

        let literal = written(&opened.bundle, "literal");
        assert_eq!(
            binary(&read(&literal, None).unwrap()),
            hex,
            "{name}: {literal}"
        );
        for key in ["literal_short", "literal_long"] {
            let theirs = case[key].as_str().unwrap();
            let again = read(theirs, None).unwrap_or_else(|error| panic!("{theirs}: {error}"));
            assert_eq!(sorted(&binary(&again)), sorted(hex), "{name}: {theirs}");
            if key == "literal_short" && !OTHER_LITERALS.contains(&name) {
                // Cells of int8 are whole numbers here too.
                let theirs = if name.contains("int8") {
                    theirs.replace(".0", "")
                } else {
                    theirs.to_owned()
                };
                assert_eq!(literal, format!("{theirs}\n"), "{name}");
            }
        }
    }
}

/// Literals that are spelled otherwise, and mean the same.
const OTHER_LITERALS: &[&str] = &[
    // Java before 19 has more digits than it takes.
    "edge_special_float",
    // Cells come block by block.
    "edge_interleaved_dims",
    // A block of one cell keeps its brackets.
    "edge_mixed_dim_size_1",
];
