//! Files that are opened where no temporary file can be made.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::arena::{errors, limited, npy};

/// Numbers of each text: more than a quarter of the memory that a run may take.
const COUNT: u32 = 200_000;

/// What every run is told, so that little is much.
const MEMORY: [&str; 2] = ["--memory", "4MiB"];

fn lines(before: &str, line: impl Fn(u32) -> String) -> Vec<u8> {
    let lines: String = (1..=COUNT).map(line).collect();
    format!("{before}{lines}").into_bytes()
}

/// Texts of numbers, and a file that is longer than what is kept of one that is compressed.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let values: Vec<String> = (0..COUNT).map(|value| value.to_string()).collect();
    let values = values.join(",");
    let head = format!("%%MatrixMarket matrix coordinate real general\n{COUNT} 1 {COUNT}\n");
    vec![
        ("open.tns", lines("", |line| format!("{line} 2 {line}\n"))),
        (
            "matrix.mtx",
            lines(&head, |line| format!("{line} 1 {line}\n")),
        ),
        (
            "dense.json",
            format!("{{\"type\":\"tensor(x[{COUNT}])\",\"values\":[{values}]}}").into_bytes(),
        ),
        ("long.npy", npy("(1500000,)", false, 1_500_000)),
    ]
}

/// Compresses a file by a program of the system; false if there is none.
fn packed(folder: &Path, name: &str, (program, words): (&str, &[&str])) -> bool {
    let run = Command::new(program)
        .args(words)
        .arg(name)
        .current_dir(folder)
        .output();
    match run {
        Ok(output) => {
            assert!(output.status.success(), "{program}: {}", errors(&output));
            true
        }
        Err(_) => {
            eprintln!("skipped: {program} is not installed");
            false
        }
    }
}

fn run(folder: &Path, words: &[&str]) -> Output {
    let words = [words, &MEMORY].concat();
    limited(folder, "ulimit -f 0", &words)
        .env("TMPDIR", folder.join("nowhere"))
        .output()
        .unwrap()
}

#[test]
fn a_file_is_described_without_a_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let programs: [(&str, &[&str]); 3] = [
        ("gzip", &["-1", "-k"]),
        ("zstd", &["-1", "-q", "-k"]),
        ("xz", &["-0", "-k"]),
    ];
    for (name, content) in files() {
        fs::write(folder.join(name), content).unwrap();
        let mut names = vec![name.to_owned()];
        for ((program, words), ending) in programs.iter().zip(["gz", "zst", "xz"]) {
            if packed(folder, name, (program, words)) {
                names.push(format!("{name}.{ending}"));
            }
        }
        for name in &names {
            let output = run(folder, &["info", name]);
            assert!(output.status.success(), "{name}: {}", errors(&output));
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(shown.contains("1 tensor"), "{name}: {shown}");
        }
    }
    // The values of a text are put aside to be read, which is not possible here.
    let refused = run(folder, &["stats", "matrix.mtx"]);
    assert_eq!(refused.status.code(), Some(2), "{}", errors(&refused));
}
