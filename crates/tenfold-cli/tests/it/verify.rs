//! `tenfold verify`.

use std::io;

use insta::assert_snapshot;
use tenfold_cli::{Exit, Streams, run};

use crate::support::{Failing, Shared, corpus, tenfold, tenfold_with, words};

#[test]
fn sound_files_are_ok() {
    let ran = tenfold([
        "verify".into(),
        corpus("blz/good/page_example.blz"),
        corpus("blz/huge/most_dims.blz"),
    ]);
    assert_snapshot!(ran);
}

#[test]
fn all_files_are_checked_and_the_worst_exit_code_wins() {
    let (good, bad) = (
        corpus("blz/good/page_example.blz"),
        corpus("blz/bad/cut_at_55.blz"),
    );
    assert_snapshot!(tenfold(["verify", &bad, &good]));
    let ran = tenfold(["verify", "no/such/file.blz", &bad, &good]);
    assert_eq!(ran.exit.code(), 2);
    assert_eq!(ran.errors.lines().count(), 2);
}

#[test]
fn json_has_one_object_a_file() {
    let ran = tenfold([
        "verify".into(),
        "--json".into(),
        corpus("blz/good/page_example.blz"),
        corpus("blz/bad/cut_at_55.blz"),
        corpus("blz/bad/version_2.blz"),
        corpus("blz/bad/magic.blz"),
        "no/such/file.blz".into(),
    ]);
    for line in ran.text().lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    assert_snapshot!(ran);
}

#[test]
fn what_a_lenient_reader_forgives_is_a_note() {
    let file = corpus("blz/good/lenient_reserved.blz");
    assert_snapshot!("strict_by_default", tenfold(["verify", &file]));
    assert_snapshot!("lenient", tenfold(["verify", "--lenient", &file]));
    assert_snapshot!(
        "lenient_json",
        tenfold(["verify", "--lenient", "--json", &file])
    );
}

#[test]
fn strict_and_lenient_exclude_each_other() {
    let ran = tenfold(["verify", "--strict", "--lenient", "x.blz"]);
    assert_eq!(ran.exit.code(), 2);
    assert!(ran.errors.contains("cannot be used with"), "{ran}");
}

#[test]
fn a_file_without_notes_passes_strictly() {
    let file = corpus("blz/good/page_example.blz");
    assert_eq!(tenfold(["verify", "--strict", &file]).exit.code(), 0);
}

#[test]
fn a_named_format_overrides_what_the_content_shows() {
    let ran = tenfold_with(["verify", "-", "--from", "blz"], b"hello".to_vec());
    assert_snapshot!(ran);
}

#[test]
fn control_characters_in_a_file_name_stay_out_of_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a\u{1b}[2J\n.blz");
    std::fs::write(&path, b"BLZ1\x07").unwrap();
    let ran = tenfold(["verify".into(), path.clone()]);
    assert_eq!(ran.exit.code(), 1);
    assert_eq!(ran.errors.lines().count(), 1);
    assert!(ran.errors.contains("a\\u{1b}[2J\\n.blz: "), "{ran}");
}

#[test]
fn a_closed_pipe_does_not_hide_a_bad_file() {
    let errors = Shared::default();
    let bad = corpus("blz/bad/cut_at_55.blz");
    let good = corpus("blz/good/page_example.blz");
    let mut streams = Streams::new(io::empty(), Failing(io::ErrorKind::BrokenPipe), errors);
    let exit = run(words(["verify", &bad, &good]), &mut streams);
    assert_eq!(exit, Exit::No);
}

#[test]
fn a_note_is_said_and_only_strictly_a_fault() {
    let file = corpus("ztensor/good/checksum_md5.zt");
    assert_snapshot!("note", tenfold(["verify", &file]));
    assert_snapshot!("note_strict", tenfold(["verify", "--strict", &file]));
    let ran = tenfold(["verify", "--strict", "--json", &file]);
    assert_snapshot!("note_strict_json", ran);
}

#[test]
fn values_that_break_their_symmetry_are_forgiven_leniently() {
    let file = corpus("tens/bad/antihermitian_diagonal.tens");
    assert_snapshot!("broken_symmetry", tenfold(["verify", &file]));
    let ran = tenfold(["verify", "--lenient", &file]);
    assert_snapshot!("broken_symmetry_lenient", ran);
}

#[test]
fn bytes_that_belong_to_nothing_are_noted_with_their_place_and_refused_strictly() {
    // What does not begin as an archive is one where its name says so.
    let file = corpus("npz/good/bytes_before.npz");
    let ran = tenfold(["verify", &file]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let said = "note (unread-bytes): bytes that belong to nothing: 10 (byte 0)";
    assert!(ran.errors.contains(said), "{ran}");
    let ran = tenfold(["verify", "--from", "npz", "--json", &file]);
    let json: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(
        (&json["ok"], json["notes"].as_array().unwrap().len()),
        (&true.into(), 1)
    );
    let note = &json["notes"][0];
    assert_eq!((&note["at"], &note["len"]), (&0.into(), &10.into()));
    let ran = tenfold(["verify", "--from", "npz", "--strict", &file]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    assert!(ran.errors.contains("as --strict demands"), "{ran}");
    // Who does not ask whether it is sound is told nothing.
    assert_eq!(
        tenfold(["info", "--from", "npz", "--strict", &file])
            .exit
            .code(),
        0
    );
}

#[test]
fn the_checksum_of_a_member_that_no_tensor_is_made_of_counts() {
    let file = corpus("torch/bad/checksum_of_version.pt");
    assert_eq!(tenfold(["info", &file]).exit.code(), 0);
    let ran = tenfold(["verify", &file]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    let said = "the member \"a/version\": checksum is 00000007";
    assert!(ran.errors.contains(said), "{ran}");
}
