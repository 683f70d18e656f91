//! Quantised tensors of GGUF files, as they are and worked out.

use insta::assert_snapshot;

use crate::support::{corpus, tenfold};

fn blocks() -> String {
    corpus("gguf/good/several.gguf")
}

#[test]
fn quantised_tensors_are_described_by_their_blocks() {
    assert_snapshot!(tenfold(["info", &blocks()]));
    assert_snapshot!(
        "quantised_and_shown",
        tenfold(["show", &format!("{}:w", blocks())])
    );
}

#[test]
fn quantised_values_are_worked_out_where_they_are_asked_for() {
    let part = format!("{}:w[0, :4]", blocks());
    assert_snapshot!(tenfold(["show", &part, "--dequantize"]));
    assert_snapshot!("as_bf16", tenfold(["show", &part, "--dequantize", "bf16"]));
    assert_snapshot!("as_what", tenfold(["show", &part, "--dequantize", "i8"]));
    assert_snapshot!(
        "dequantized_info",
        tenfold(["info", "--dequantize=f16", &blocks()])
    );
}

#[test]
fn a_model_goes_to_safetensors_as_typed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("m.safetensors");
    let out = out.to_str().unwrap();
    tenfold(["convert", &blocks(), out, "--dequantize", "bf16"]);
    let said = tenfold(["info", out]).to_string();
    let said = said.replace(&*folder.path().to_string_lossy(), "@");
    assert_snapshot!(said);
}

#[test]
fn what_cannot_hold_blocks_says_what_can_be_done() {
    let part = format!("{}:w", blocks());
    assert_snapshot!(tenfold(["convert", &part, "-", "--to", "npy"]));
    assert_snapshot!("stats_of_blocks", tenfold(["stats", &part]));
}

#[test]
fn every_way_of_reading_can_dequantize() {
    for command in ["info", "stats", "verify", "hash"] {
        let said = tenfold([command, &blocks(), "--dequantize"]).to_string();
        assert!(!said.contains("Q8_0"), "{said}");
    }
}

#[test]
fn a_type_that_is_not_known_is_left_out_where_the_refusal_says_how() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("u.model");
    let out = out.to_str().unwrap();
    let unknown = corpus("gguf/good/type_42.gguf");
    let ran = tenfold(["convert", &unknown, out]);
    assert_eq!(ran.exit.code(), 3, "{ran}");
    assert!(ran.errors.contains("--exclude leaves it out"), "{ran}");
    let flags = ["--exclude", "x", "--exclude", "y"];
    let words = ["convert", &unknown, out].into_iter().chain(flags);
    let ran = tenfold(words);
    assert_eq!(ran.exit.code(), 0, "{ran}");
}

#[test]
fn a_slice_of_quantized_values_names_the_flag_that_computes_them() {
    let ran = tenfold(["show", &format!("{}:w[0]", blocks())]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
    assert!(ran.errors.contains("--dequantize"), "{ran}");
}
