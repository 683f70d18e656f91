//! `tenfold convert`.

use std::fs;
use std::io;
use std::path::PathBuf;

use insta::assert_snapshot;
use tenfold_cli::{Exit, Streams, run};

use crate::support::{Ran, Shared, corpus, npy, tenfold, words};

fn example() -> PathBuf {
    corpus("blz/good/page_example.blz").into()
}

fn convert(from: PathBuf, to: PathBuf, flags: &[&str]) -> Ran {
    let flags = flags.iter().map(PathBuf::from);
    let words = ["convert".into(), from, to];
    tenfold(words.into_iter().chain(flags))
}

#[test]
fn a_canonical_file_comes_out_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for (name, flags) in [
        ("a.blz", &[][..]),
        ("b.blz", &["--no-sync"]),
        ("c.other", &["--to", "blz"]),
        ("d", &["--to", "blz@1"]),
    ] {
        let out = folder.path().join(name);
        let ran = convert(example(), out.clone(), flags);
        let wrote = format!("tenfold: wrote {}: blz 1, 1 tensor, 135 B\n", out.display());
        assert_eq!((ran.exit, ran.errors), (Exit::Fine, wrote));
        assert_eq!(fs::read(out).unwrap(), fs::read(example()).unwrap());
    }
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.blz");
    fs::write(&out, "precious").unwrap();
    let ran = convert(example(), out.clone(), &[]);
    assert_eq!(ran.exit, Exit::Trouble);
    assert!(
        ran.errors
            .ends_with("out.blz exists already; --force replaces it\n"),
        "{ran}"
    );
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    assert_eq!(
        convert(example(), out.clone(), &["--force"]).exit,
        Exit::Fine
    );
    assert_eq!(fs::read(&out).unwrap(), fs::read(example()).unwrap());
}

#[test]
fn a_dash_writes_to_standard_output() {
    let ran = convert(example(), "-".into(), &[]);
    assert_eq!(ran.exit, Exit::Fine);
    assert_eq!(ran.out, fs::read(example()).unwrap());
    assert_eq!(ran.errors, "");
}

#[test]
fn bytes_are_not_written_to_a_terminal() {
    let (out, errors) = (Shared::default(), Shared::default());
    let streams = Streams::new(io::empty(), out.clone(), errors.clone());
    let args = words(["convert".into(), example(), "-".into()]);
    assert_eq!(run(args, &mut streams.with_terminal()), Exit::Trouble);
    assert!(out.bytes().is_empty());
    assert_snapshot!(String::from_utf8(errors.bytes()).unwrap());
}

#[test]
fn a_malformed_input_is_named() {
    let input = corpus("blz/bad/cut_at_55.blz").into();
    assert_snapshot!(convert(input, "never-written.blz".into(), &[]));
}

#[test]
fn a_folder_that_does_not_exist_is_trouble() {
    assert_snapshot!(convert(example(), "no/such/folder/out.blz".into(), &[]));
}

#[test]
fn an_unknown_option_is_trouble() {
    let ran = convert(example(), "never-written.blz".into(), &["--opt", "level=3"]);
    assert_snapshot!(ran);
}

#[test]
fn an_unknown_version_is_trouble() {
    let ran = convert(example(), "never-written.blz".into(), &["--to", "blz@7"]);
    assert_eq!(ran.exit, Exit::Trouble);
    assert!(ran.errors.contains("blz is written in version 1"), "{ran}");
}

#[test]
fn what_would_be_lost_is_refused_and_permitted_by_name() {
    assert_snapshot!(
        "a_train_is_not_expanded_unasked",
        convert(example(), "never-written.npy".into(), &[])
    );
    assert_snapshot!(
        "a_train_is_not_made_unasked",
        convert(
            corpus("npy/good/f64.npy").into(),
            "never-written.blz".into(),
            &[]
        )
    );
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("full.zt");
    let flags = ["--allow", "train", "--no-carry"];
    let ran = convert(example(), out.clone(), &flags);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    assert!(
        ran.errors
            .contains("train: a tensor train of rank 2 is expanded"),
        "{ran}"
    );
    let info = tenfold(["info".into(), "--no-restore".into(), out]).text();
    assert!(
        info.contains("page_example  f64    [2, 3]  dense"),
        "{info}"
    );
}

#[test]
fn what_survives_is_said_and_refused_when_strict() {
    let folder = tempfile::tempdir().unwrap();
    let packed = PathBuf::from(corpus("tens/good/packed_symmetric.tens"));
    let out = folder.path().join("a.zt");
    let ran = convert(packed.clone(), out, &["--no-carry", "--no-sync"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    assert!(
        ran.errors.contains("symmetry: symmetries unpacked: 1"),
        "{ran}"
    );
    let out = folder.path().join("b.zt");
    let strict = convert(packed, out, &["--no-carry", "--strict"]);
    assert_eq!(strict.exit, Exit::Refused, "{strict}");
    assert!(
        strict.errors.contains("--allow invented,symmetry"),
        "{strict}"
    );
    assert!(!folder.path().join("b.zt").exists());
}

#[test]
fn two_changes_of_a_kind_are_both_reported() {
    let folder = tempfile::tempdir().unwrap();
    let input = corpus("primitiv/good/parameter_adam.param").into();
    let out = folder.path().join("a.zt");
    let ran = convert(input, out, &["--no-carry", "--no-sync"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    for statistic in ["@Adam.m1", "@Adam.m2"] {
        let line = format!("state: {statistic}: the statistic becomes a tensor");
        assert!(ran.errors.contains(&line), "{ran}");
    }
    assert!(!ran.errors.contains("more)"), "{ran}");
}

#[test]
fn labels_become_positions_only_when_permitted() {
    let labelled = PathBuf::from(corpus("vespa/good/mixed_f32.tbf"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.npy");
    let ran = convert(labelled.clone(), out.clone(), &[]);
    assert_snapshot!("labels_are_not_dropped_unasked", ran);
    assert!(!out.exists());
    let ran = convert(labelled, out.clone(), &["--allow", "labels"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    assert!(out.exists());
}

#[test]
fn what_a_target_cannot_express_is_not_permitted() {
    let many = corpus("ztensor/good/tensors_25.zt").into();
    let ran = convert(many, "never-written.tbf".into(), &["--allow", "all"]);
    assert_eq!(ran.exit, Exit::Refused, "{ran}");
    assert!(
        ran.errors
            .contains("count      25 tensors where one is needed"),
        "{ran}"
    );
    assert!(ran.errors.ends_with("Nothing was written.\n"), "{ran}");
}

#[test]
fn tensors_are_chosen_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let many = PathBuf::from(corpus("ztensor/good/tensors_25.zt"));
    let flags = ["--only", "t1*", "--exclude", "t1?", "--no-sync"];
    let out = folder.path().join("one.npy");
    let ran = convert(many.clone(), out.clone(), &flags);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let shown = tenfold(["show".into(), out]).text();
    assert_eq!(shown, "u8 [] dense\n1\n");
    let ran = convert(many, "never-written.npy".into(), &["--only", "t1_"]);
    assert_eq!(ran.exit, Exit::Trouble, "{ran}");
    let text = "no tensor matches \"t1_\"; there are \"t1\", \"t10\", \"t11\", \"t12\", \"t13\", …";
    assert!(ran.errors.contains(text), "{ran}");
}

#[test]
fn numbers_are_cast_when_asked_and_overflow_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let input = PathBuf::from(corpus("tens/good/matrix.tens"));
    let out = folder.path().join("a.npy");
    let ran = convert(input, out.clone(), &["--cast", "f16", "--no-sync"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    assert_eq!(ran.errors.lines().count(), 1, "{ran}");
    assert!(
        ran.errors.contains("a.npy: npy 1.0, 1 tensor, 140 B"),
        "{ran}"
    );
    assert!(
        tenfold(["show".into(), out.clone()])
            .text()
            .starts_with("f16 [2, 3] dense")
    );
    let large = PathBuf::from(corpus("tens/good/f64_specials.tens"));
    let ran = convert(large.clone(), out.clone(), &["--cast", "f32", "--force"]);
    assert_snapshot!("overflow_is_refused", ran);
    let flags = ["--cast", "*=f32", "--allow", "precision", "--force"];
    assert_eq!(convert(large, out, &flags).exit, Exit::Fine);
}

#[test]
fn an_unknown_aspect_is_trouble() {
    let ran = convert(
        example(),
        "never-written.zt".into(),
        &["--allow", "train,colour"],
    );
    assert_eq!(ran.exit, Exit::Trouble);
    assert!(ran.errors.contains("invalid value 'colour'"), "{ran}");
}

#[test]
fn what_cannot_be_kept_is_refused() {
    for (name, file) in [
        ("skipped", "ztensor/good/v2_encoding_unknown.zt"),
        ("duplicate", "ztensor/good/name_twice.zt"),
    ] {
        let ran = convert(corpus(file).into(), "never-written.zt".into(), &[]);
        assert_snapshot!(name, ran);
    }
}

#[test]
fn options_and_versions_reach_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new.zt");
    let input = PathBuf::from(corpus("ztensor/good/bool.zt"));
    let ran = convert(input.clone(), out.clone(), &["--opt", "checksum=crc32c"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let info = tenfold(["info".into(), out.clone()]).text();
    assert!(info.contains("ztensor:checksum: \"crc32c\""), "{info}");
    let ran = convert(input, out, &["--opt", "checksum=md5", "--force"]);
    assert_snapshot!(ran);

    let out = folder.path().join("old.bin");
    let input = corpus("tens/good/matrix.tens").into();
    let ran = convert(input, out.clone(), &["--to", "tens@0.9"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let info = tenfold(["info".into(), out]).text();
    assert!(info.contains("tens:version: \"0.9\""), "{info}");
}

#[test]
fn a_cast_reports_what_it_changes_and_fractions_are_not_lost_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let values = [0.5_f64, 0.1, 1.0 / 3.0, 2.0]
        .map(f64::to_le_bytes)
        .concat();
    let input = npy(&folder, "a.npy", "<f8", "(4,)", &values);
    let out = folder.path().join("b.npy");
    let ran = convert(input.clone(), out.clone(), &["--cast", "f32", "--no-sync"]);
    let largest = (1.0 / 3.0 - f64::from(1.0_f32 / 3.0)).abs();
    let said = format!("precision: 2 of 4 values are rounded, by {largest:.2e} at most");
    assert!(ran.errors.contains(&said), "{ran}");
    for number in ["i32", "u8", "bool"] {
        let flags = ["--cast", number, "--no-sync", "--force"];
        let ran = convert(input.clone(), out.clone(), &flags);
        assert_eq!(ran.exit, Exit::Refused, "{ran}");
        assert!(ran.errors.contains("fractions are lost"), "{ran}");
        assert!(ran.errors.contains("--allow precision"), "{ran}");
    }
    let flags = [
        "--cast",
        "i32",
        "--no-sync",
        "--force",
        "--allow",
        "precision",
    ];
    let ran = convert(input.clone(), out.clone(), &flags);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    assert!(
        ran.errors
            .contains("3 of 4 values are rounded, by 0.5 at most"),
        "{ran}"
    );
    // What the target rounds is counted too.
    let param = folder.path().join("b.param");
    let flags = ["--no-sync", "--allow", "precision"];
    let ran = convert(input, param, &flags);
    assert!(ran.errors.contains("2 of 4 values are rounded"), "{ran}");
}
