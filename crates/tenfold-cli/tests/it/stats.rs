//! `tenfold stats`.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::support::{corpus, npy, tenfold};

fn singles(folder: &tempfile::TempDir, name: &str, values: &[f32]) -> PathBuf {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    npy(folder, name, "<f4", &format!("({},)", values.len()), &bytes)
}

fn in_folder(args: &[&str]) -> String {
    // What a snapshot shows must not name a temporary folder.
    let ran = tenfold(args);
    let text = ran.to_string();
    let folder = std::path::Path::new(args[1]).parent().unwrap();
    text.replace(&format!("{}/", folder.display()), "")
}

#[test]
fn several_tensors_are_a_table_after_what_is_wrong() {
    assert_snapshot!(tenfold(["stats", &corpus("ztensor/good/name_twice.zt")]));
    assert_snapshot!(
        "kinds",
        tenfold(["stats", &corpus("primitiv/good/parameter_adam.param")])
    );
}

#[test]
fn a_lone_tensor_is_told_in_full() {
    assert_snapshot!(tenfold(["stats", &corpus("tens/good/f64_specials.tens")]));
    assert_snapshot!(
        "packed",
        tenfold(["stats", &corpus("tens/good/packed_symmetric.tens")])
    );
    assert_snapshot!(
        "labelled",
        tenfold(["stats", &corpus("vespa/good/mixed_f32.tbf")])
    );
    assert_snapshot!(
        "train",
        tenfold(["stats", &corpus("blz/good/page_example.blz")])
    );
    assert_snapshot!(
        "complex",
        tenfold(["stats", &corpus("tens/good/complex_f64.tens")])
    );
}

#[test]
fn values_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<f32> = (0..100_u8)
        .map(|n| f32::from(n % 10) * f32::from(n / 10))
        .collect();
    let path = singles(&folder, "a.npy", &values);
    let path = path.to_str().unwrap();
    assert_snapshot!(
        "drawn",
        in_folder(&["stats", path, "--hist", "--bins", "9"])
    );
    assert_snapshot!(
        "drawn_log",
        in_folder(&["stats", path, "--hist", "--bins", "9", "--log"])
    );
    let ran = tenfold(["stats", path, "--bins", "9"]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
}

#[test]
fn constant_and_zero_tensors_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let zero = singles(&folder, "zero.npy", &[0.0; 8]);
    let constant = singles(&folder, "constant.npy", &[2.5; 8]);
    let (zero, constant) = (zero.to_str().unwrap(), constant.to_str().unwrap());
    assert_snapshot!("zero", in_folder(&["stats", zero, "--fail-on", "zero"]));
    assert_snapshot!(
        "constant",
        in_folder(&["stats", constant, "--fail-on", "nan,inf,zero"])
    );
    let ran = tenfold(["stats", constant, zero, "--fail-on", "constant"]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
}

#[test]
fn json_keeps_exact_numbers() {
    let ran = tenfold(["stats", "--json", &corpus("tens/good/f64_specials.tens")]);
    serde_json::from_str::<serde_json::Value>(&ran.text()).unwrap();
    assert_snapshot!("json", ran);
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = [i64::MIN, 3, i64::MAX]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    let path = npy(&folder, "a.npy", "<i8", "(3,)", &bytes);
    let words = [
        "stats",
        path.to_str().unwrap(),
        "--json",
        "--hist",
        "--bins",
        "2",
    ];
    assert_snapshot!("json_integers", in_folder(&words));
}

#[test]
fn a_layout_that_is_not_understood_is_said() {
    let files = fs::read_dir(corpus("ztensor/good")).unwrap();
    let opaque = files.filter_map(|entry| {
        let path = entry.unwrap().path();
        let info = tenfold(["info".into(), path.clone()]).text();
        info.contains("opaque").then_some(path)
    });
    let path = opaque.min().unwrap();
    assert_snapshot!(tenfold(["stats".into(), path.clone()]));
    let ran = tenfold(["stats".into(), path, "--json".into()]);
    assert!(ran.text().contains("\"stats\":null"), "{ran}");
}

#[test]
fn trouble_is_named() {
    assert_snapshot!(
        "malformed",
        tenfold(["stats", &corpus("blz/bad/cut_at_55.blz")])
    );
    let file = corpus("tens/good/matrix.tens");
    assert_snapshot!(
        "no_such_fault",
        tenfold(["stats", &file, "--fail-on", "slow"])
    );
    assert_snapshot!("no_such_tensor", tenfold(["stats", &file, "--only", "w"]));
    let ran = tenfold([
        "stats",
        &corpus("blz/good/page_example.blz"),
        "--max-decoded",
        "8",
    ]);
    assert_snapshot!("too_large", ran);
}

#[test]
fn tensors_that_were_not_read_are_counted_first_and_fail() {
    let quantized = corpus("gguf/good/several.gguf");
    let ran = tenfold(["stats", &quantized]);
    let first = ran.text().lines().next().unwrap().to_owned();
    assert!(
        first.ends_with("1 tensor not read; no NaN and no Inf in 2 tensors"),
        "{first}"
    );
    let ran = tenfold(["stats", &quantized, "--fail-on", "nan"]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    assert!(ran.errors.contains("--skip-unreadable"), "{ran}");
    for more in ["--skip-unreadable", "--dequantize"] {
        let ran = tenfold(["stats", &quantized, "--fail-on", "nan", more]);
        assert_eq!(ran.exit.code(), 0, "{ran}");
    }
    let json = tenfold(["stats", &quantized, "--json"]).text();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["unread"], 1);
}

#[test]
fn what_is_not_finite_comes_before_what_is_only_remarkable() {
    let folder = tempfile::tempdir().unwrap();
    let ones = singles(&folder, "norm.npy", &[1.0; 8]);
    let zeros = singles(&folder, "bias.npy", &[0.0; 8]);
    let bad = singles(
        &folder,
        "w.npy",
        &[1.0, 2.0, f32::NEG_INFINITY, f32::NAN, f32::NAN],
    );
    let out = folder.path().join("model.npz");
    let files = [&ones, &zeros, &bad, &out].map(|path| path.to_str().unwrap());
    let ran = tenfold([&["convert", "--no-sync"], &files[..]].concat());
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let ran = tenfold(["stats", files[3]]);
    let text = ran.text();
    let lines: Vec<&str> = text.lines().take(4).collect();
    assert!(
        lines[0].ends_with(": NaN or Inf in 1 of 3 tensors"),
        "{text}"
    );
    assert_eq!(
        lines[1..],
        [
            "  w: 2 NaN, first at [3]; 1 Inf, first at [2]",
            "  all zero: bias",
            "  constant: norm (1.0)",
        ]
    );
    // Remarks fail only where they are asked for.
    assert_eq!(
        tenfold(["stats", files[0], "--fail-on", "nan,inf"])
            .exit
            .code(),
        0
    );
    assert_eq!(
        tenfold(["stats", files[0], "--fail-on", "constant"])
            .exit
            .code(),
        1
    );
}
