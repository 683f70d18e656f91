//! The program itself, with real files and pipes on its streams.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::{Command, Output, Stdio};

use crate::support::{corpus, train};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tenfold"))
}

fn example() -> String {
    corpus("blz/good/page_example.blz")
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn exit_codes_reach_the_shell() {
    let good = program().arg("verify").arg(example()).output().unwrap();
    let line = format!("{}: ok, blz, 1 tensor\n", example());
    assert_eq!(said(&good), (Some(0), line, String::new()));
    let bad = corpus("blz/bad/ndim_1.blz");
    let bad = program().arg("verify").arg(bad).output().unwrap();
    assert_eq!(bad.status.code(), Some(1));
    let none = program().output().unwrap();
    assert_eq!(none.status.code(), Some(2));
}

#[test]
fn a_file_on_standard_input_is_read_from_where_it_stands() {
    let ok = "-: ok, blz, 1 tensor\n";
    let file = File::open(example()).unwrap();
    let output = program()
        .args(["verify", "-"])
        .stdin(file)
        .output()
        .unwrap();
    assert_eq!(said(&output).1, ok);

    let mut later = tempfile::tempfile().unwrap();
    later.write_all(b"something before").unwrap();
    let at = later.stream_position().unwrap();
    later.write_all(&std::fs::read(example()).unwrap()).unwrap();
    later.seek(SeekFrom::Start(at)).unwrap();
    let output = program()
        .args(["verify", "-"])
        .stdin(later)
        .output()
        .unwrap();
    assert_eq!(said(&output).1, ok);
}

#[test]
fn a_pipe_is_spooled_and_written_on() {
    let mut child = program()
        .args(["convert", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes = std::fs::read(example()).unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, bytes);
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.blz");
    std::fs::write(&path, train(&vec![0.1; 300_000], &[1.0])).unwrap();
    let mut child = program()
        .args(["show", "--json"])
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = [0; 10];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut start).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(said(&output), (Some(0), String::new(), String::new()));
    assert_eq!(&start, b"{\"schema\":");
}
