//! `tenfold hash`.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use tenfold_cli::Exit;

use crate::support::{corpus, tenfold};

/// The hash that a command prints of a file.
fn hash(path: &Path, flags: &[&str]) -> String {
    let words = ["hash".into(), path.to_owned()];
    let ran = tenfold(words.into_iter().chain(flags.iter().map(PathBuf::from)));
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let text = ran.text();
    text.split("  ").next().unwrap().to_owned()
}

fn convert(from: &Path, to: &Path, flags: &[&str]) {
    let words = [
        "convert".into(),
        from.to_owned(),
        to.to_owned(),
        "--no-sync".into(),
    ];
    let ran = tenfold(words.into_iter().chain(flags.iter().map(PathBuf::from)));
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
}

#[test]
fn a_tensor_has_one_hash_in_every_format_order_and_compression() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = PathBuf::from(corpus("tens/good/matrix.tens")); // column-major
    let wanted = hash(&source, &[]);
    for (name, flags) in [
        ("a.npy", &[][..]),
        ("b.zt", &[]),
        ("c.zt", &["--opt", "compress=zstd"]),
        ("d.tbf", &[]),
        ("e.tens", &["--to", "tens@0.9"]),
    ] {
        convert(&source, &path(name), flags);
        assert_eq!(hash(&path(name), &[]), wanted, "{name}");
    }
    convert(&path("b.zt"), &path("f.npy"), &[]); // row-major
    assert_eq!(hash(&path("f.npy"), &[]), wanted);
    convert(&source, &path("g.npy"), &["--cast", "f32"]);
    assert_ne!(hash(&path("g.npy"), &[]), wanted);
}

#[test]
fn packing_and_sparsity_are_seen_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let packed = PathBuf::from(corpus("tens/good/packed_symmetric.tens"));
    convert(&packed, &path("full.npy"), &[]);
    assert_eq!(hash(&packed, &[]), hash(&path("full.npy"), &[]));
    let pairs = PathBuf::from(corpus("tens/good/chunk_before_pairs.tens"));
    convert(&pairs, &path("dense.npy"), &[]);
    let dense = hash(&path("dense.npy"), &[]);
    assert_ne!(hash(&pairs, &[]), dense);
    assert_eq!(hash(&pairs, &["--dense"]), dense);
}

#[test]
fn a_path_and_the_name_it_becomes_have_one_hash() {
    let folder = tempfile::tempdir().unwrap();
    let source = PathBuf::from(corpus("primitiv/good/model_adam.model"));
    let flat = folder.path().join("a.zt");
    convert(&source, &flat, &[]);
    assert_eq!(hash(&source, &[]), hash(&flat, &[]));
}

#[test]
fn lines_are_those_of_sha256sum() {
    let (one, many) = (
        corpus("blz/good/page_example.blz"),
        corpus("ztensor/good/tensors_25.zt"),
    );
    assert_snapshot!("files", tenfold(["hash", &one, &many]));
    assert_snapshot!(
        "tensors",
        tenfold(["hash", "--tensors", &many, "--only", "t1?"])
    );
    let ran = tenfold(["hash", "--json", &many, "--only", "t2?"]);
    serde_json::from_str::<serde_json::Value>(&ran.text()).unwrap();
    assert_snapshot!("json", ran);
}

#[test]
fn trouble_is_named() {
    assert_snapshot!("nothing_to_hash", tenfold(["hash"]));
    let (bad, good) = (
        corpus("blz/bad/cut_at_55.blz"),
        corpus("blz/good/rank_one.blz"),
    );
    assert_snapshot!("malformed", tenfold(["hash", &bad, &good]));
    let ran = tenfold(["hash", &corpus("ztensor/good/v2_encoding_unknown.zt")]);
    assert_snapshot!("skipped", ran);
}

#[test]
fn lists_of_hashes_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let sums = folder.path().join("SUMS");
    let check = || tenfold(["hash", "--check", sums.to_str().unwrap()]);
    let (one, many) = (
        corpus("blz/good/page_example.blz"),
        corpus("ztensor/good/tensors_25.zt"),
    );
    let files = tenfold(["hash", &one, &many]).text();
    let tensors = tenfold(["hash", "--tensors", &many, "--only", "t24"]).text();
    fs::write(&sums, files.clone() + &tensors).unwrap();
    assert_snapshot!("all_ok", check());
    let (right, wrong) = (
        &tensors[..2],
        if &tensors[..2] == "00" { "ff" } else { "00" },
    );
    fs::write(&sums, files + &tensors.replacen(right, wrong, 1)).unwrap();
    assert_snapshot!("one_differs", check());
    fs::write(&sums, "no hash  file\n").unwrap();
    let ran = check();
    assert_eq!(ran.exit, Exit::Trouble);
    assert!(
        ran.errors
            .ends_with("SUMS: line 1 is no hash, two spaces and a file\n"),
        "{ran}"
    );
}
