//! `tenfold verify --salvage`.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::support::{folder_with, shown, tenfold_in};

/// A folder with a file of two tensors of which the second is cut off.
fn cut() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let head = br#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}"#;
    let mut file = u64::try_from(head.len()).unwrap().to_le_bytes().to_vec();
    file.extend(head);
    file.extend(b"\x01\x02\x03\x04\x05\x06");
    fs::write(folder.path().join("cut.safetensors"), file).unwrap();
    folder
}

#[test]
fn what_is_whole_is_saved_and_what_is_lost_is_said() {
    let folder = cut();
    let words = [
        "verify",
        "@/cut.safetensors",
        "--salvage",
        "@/out.safetensors",
    ];
    let ran = tenfold_in(&folder, &words);
    assert_snapshot!("salvage", shown(&folder, &ran));
    let ran = tenfold_in(&folder, &["show", "@/out.safetensors:a"]);
    assert_eq!(ran.exit.code(), 0);
    assert!(ran.text().contains("[1 2 3 4]"), "{ran}");
    // What is there is not written over.
    let ran = tenfold_in(&folder, &words);
    assert_eq!(ran.exit.code(), 2);
    assert!(ran.errors.contains("--force replaces it"), "{ran}");
    let again = [&words[..], &["--force", "--json"]].concat();
    let ran = tenfold_in(&folder, &again);
    serde_json::from_slice::<serde_json::Value>(&ran.out).unwrap();
    assert_snapshot!("salvage_json", shown(&folder, &ran));
}

#[test]
fn another_format_may_take_what_is_saved() {
    let folder = cut();
    let ran = tenfold_in(
        &folder,
        &["verify", "@/cut.safetensors", "--salvage", "@/out.npz"],
    );
    assert_eq!(ran.exit.code(), 1, "{ran}");
    let ran = tenfold_in(&folder, &["verify", "@/out.npz"]);
    assert_eq!(ran.text().lines().count(), 1);
    assert_eq!(ran.exit.code(), 0, "{ran}");
}

#[test]
fn of_a_sound_file_all_is_saved() {
    let folder = folder_with(&[("in.npz", "npz/good/several.npz")]);
    let ran = tenfold_in(&folder, &["verify", "@/in.npz", "--salvage", "@/out.npz"]);
    assert_snapshot!("salvage_of_all", shown(&folder, &ran));
}

#[test]
fn where_nothing_can_be_saved_nothing_is_written() {
    let folder = folder_with(&[
        ("bad.blz", "blz/bad/cut_at_55.blz"),
        ("in.npz", "npz/good/plain.npz"),
    ]);
    let ran = tenfold_in(&folder, &["verify", "@/bad.blz", "--salvage", "@/out.blz"]);
    assert_snapshot!("salvage_of_nothing", shown(&folder, &ran));
    assert!(!folder.path().join("out.blz").exists());
    let path = folder.path().join("in.npz");
    let mut file = fs::read(&path).unwrap();
    let place = file.len() - 120;
    file.truncate(place);
    fs::write(&path, file).unwrap();
    let ran = tenfold_in(&folder, &["verify", "@/in.npz", "--salvage", "@/out.npz"]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
}

#[test]
fn a_salvage_is_of_one_file_and_into_one() {
    let folder = cut();
    for words in [
        &[
            "verify",
            "@/cut.safetensors",
            "@/cut.safetensors",
            "--salvage",
            "@/o.npz",
        ][..],
        &["verify", "@/cut.safetensors", "--salvage", "-"],
        &["verify", "@/cut.safetensors", "--force"],
        &[
            "verify",
            "@/cut.safetensors",
            "--strict",
            "--salvage",
            "@/o.npz",
        ],
    ] {
        assert_eq!(tenfold_in(&folder, words).exit.code(), 2, "{words:?}");
    }
}
