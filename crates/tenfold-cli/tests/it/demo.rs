//! `tenfold demo`.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::support::{Ran, tenfold};

/// Runs `demo` and says `DIR` for where it is.
fn demo(folder: &Path) -> Ran {
    let mut ran = tenfold(["demo".into(), folder.to_owned()]);
    let name = folder.display().to_string();
    ran.out = ran.text().replace(&name, "DIR").into_bytes();
    ran.errors = ran.errors.replace(&name, "DIR");
    // How long it takes, and what rounding does at 1e-15, depends on the machine.
    let is_same = |line: &&str| !line.starts_with("  time ") && !line.starts_with("  error ");
    let lines = ran.errors.lines().filter(is_same);
    ran.errors = lines.map(|line| format!("{line}\n")).collect();
    // Sines and exponentials may differ in their last bit between machines, and so may hashes.
    let is_hash = |word: &&str| word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
    let text = ran.text();
    let hashes: Vec<&str> = text.split_whitespace().filter(is_hash).collect();
    if let [first, second] = hashes.as_slice() {
        assert_eq!(first, second);
        ran.out = text.replace(first, "HASH").into_bytes();
    }
    ran
}

#[test]
fn every_command_does_what_it_should_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo");
    let ran = demo(&path);
    assert_snapshot!(ran);
    assert_eq!(demo(&path).text(), ran.text());
    for entry in fs::read_dir(&path).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        // No tensor file, and a part of another one.
        if ["README.txt", "overlap.elements"].contains(&name.as_str()) {
            continue;
        }
        let raw = name.ends_with(".dat").then_some("--raw=dtype=f32");
        let words = ["verify".into(), file.into_os_string()];
        let ran = tenfold(words.into_iter().chain(raw.map(Into::into)));
        assert_eq!(ran.exit.code(), 0, "{ran}");
    }
}

#[test]
fn there_is_a_file_of_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo");
    assert_eq!(
        tenfold(["-q".into(), "demo".into(), path.clone()])
            .exit
            .code(),
        0
    );
    let described = tenfold(["info".into(), "--json".into(), path.into_os_string()]).text();
    for format in tenfold::formats::ALL {
        let name = format!("\"format\":\"{}\"", format.info().name);
        assert!(described.contains(&name), "{name}\n{described}");
    }
}

#[test]
fn a_folder_that_is_somebody_elses_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("README.txt"), "mine").unwrap();
    let ran = demo(folder.path());
    assert_eq!(ran.exit.code(), 2);
    let said = "tenfold: DIR exists and was not made by a demo: name another folder\n";
    assert_eq!(ran.errors, said);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
