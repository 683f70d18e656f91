//! `tenfold show --as literal`.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Ran, corpus, tenfold, tenfold_with};

fn literal(file: &str) -> Ran {
    tenfold(["show".into(), "--as".into(), "literal".into(), corpus(file)])
}

#[test]
fn tensors_are_printed_to_be_pasted() {
    for (name, file) in [
        ("mixed", "vespa/good/mixed_f32.tbf"),
        ("train", "blz/good/page_example.blz"),
        ("several", "ztensor/good/scalars.zt"),
        ("control", "vespa/good/label_control.tbf"),
        ("no_tensor", "primitiv/good/optimizer_sgd.optimizer"),
    ] {
        assert_snapshot!(name, literal(file));
    }
}

/// The pieces of a literal, sorted, with numbers brought to one spelling: Vespa sorts cells and
/// writes `1.4E-45`, which is no other literal.
fn pieces(text: &str) -> Vec<String> {
    let ends = |letter: char| "{}[],: ".contains(letter);
    let mut pieces: Vec<String> = text
        .trim()
        .split(ends)
        .filter(|piece| !piece.is_empty())
        .map(|piece| match (piece.parse::<f32>(), piece.parse::<f64>()) {
            // Two spellings of one number are not always one number of more digits.
            (Ok(number), _) if text.contains("<float>") => format!("{number:?}"),
            (_, Ok(number)) => format!("{number:?}"),
            _ => piece.to_owned(),
        })
        .collect();
    pieces.sort();
    pieces
}

fn decoded(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn literals_are_as_vespa_prints_them() {
    let named = std::env::var_os("TENFOLD_VECTORS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| "../../../shared/vectors".into());
    let Ok(text) = std::fs::read_to_string(folder.join("vespa.json")) else {
        eprintln!("SKIPPED: no test vectors at {}", folder.display());
        return;
    };
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let vectors = vectors["text_out"].as_array().unwrap();
    assert!(vectors.len() > 40);
    for vector in vectors {
        let name = vector["vector"].as_str().unwrap();
        let bytes = decoded(vector["hex"].as_str().unwrap());
        let words = ["show", "-", "--from", "vespa", "--as", "literal"];
        let ran = tenfold_with(words, bytes);
        let expected = vector["literal_short"].as_str().unwrap();
        assert_eq!(pieces(&ran.text()), pieces(expected), "{name}: {ran}");
    }
}

#[test]
fn invented_names_of_dimensions_are_reported() {
    let ran = literal("npy/good/f64.npy");
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let said = "invented: dimensions are called";
    assert!(ran.errors.contains(said), "{ran}");
}
