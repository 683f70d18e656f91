//! `tenfold convert`.

use std::fs;
use std::io;
use std::path::PathBuf;

use insta::assert_snapshot;
use tenfold::formats::ALL;
use tenfold_cli::{Exit, Streams, run};

use crate::support::{Ran, Shared, corpus, tenfold, words};

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
        ("c.other", &[]),
        ("d", &["--to", "blz@1"]),
    ] {
        let out = folder.path().join(name);
        assert_snapshot!("nothing_is_said", convert(example(), out.clone(), flags));
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
fn other_formats_are_not_there_yet() {
    for format in ALL.iter().map(|format| format.info()) {
        if format.name == "blz" {
            continue;
        }
        let said = format!(
            "tenfold: converting blz to {} is not there yet\n",
            format.name
        );
        let ran = convert(example(), "never-written".into(), &["--to", format.name]);
        assert_eq!((ran.exit, ran.errors), (Exit::Trouble, said));
    }
}

#[test]
fn what_cannot_be_kept_is_refused() {
    for (name, file) in [
        ("skipped", "ztensor/good/layout_unknown.zt"),
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
fn an_extension_of_another_format_is_not_there_yet() {
    assert_snapshot!(convert(example(), "never-written.zt".into(), &[]));
}
