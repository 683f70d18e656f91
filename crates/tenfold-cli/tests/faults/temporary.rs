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

/// A file of integrals: each once, in the order in which programs write them, or (ij|kl) and (kl|ij).
fn integrals(are_mirrored: bool) -> Vec<u8> {
    let n_orbitals = if are_mirrored { 30 } else { 36 };
    let pairs: Vec<(u32, u32)> = (1..=n_orbitals)
        .flat_map(|first| (1..=first).map(move |second| (first, second)))
        .collect();
    let mut text = format!("&FCI NORB={n_orbitals},NELEC=2,MS2=0,\n&END\n");
    for (place, (i, j)) in pairs.iter().enumerate() {
        let count = if are_mirrored { pairs.len() } else { place + 1 };
        for (k, l) in pairs.iter().take(count) {
            // Of both images the same.
            let value = (i + j * 50) * (k + l * 50);
            text += &format!("{value}.5 {i} {j} {k} {l}\n");
        }
    }
    for (i, j) in pairs {
        text += &format!("0.5 {i} {j} 0 0\n");
    }
    text.into_bytes()
}

/// Documents with a label and a row each.
fn feed() -> Vec<u8> {
    let line = |number: u32| {
        format!(
            "{{\"put\":\"id:s:d::{number}\",\"fields\":{{\"v\":{{\"type\":\"tensor<float>(x[4])\",\"values\":[1,2,3,{number}]}}}}}}\n"
        )
    };
    lines("", line)
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
        (
            "blocks.json",
            format!(
                "{{\"type\":\"tensor<float>(a{{}},x[4])\",\"blocks\":{{{}}}}}",
                (0..COUNT)
                    .map(|label| format!("\"{label}\":[1,2,3,{label}]"))
                    .collect::<Vec<String>>()
                    .join(",")
            )
            .into_bytes(),
        ),
        ("feed.jsonl", feed()),
        ("eight.fcidump", integrals(false)),
        ("four.fcidump", integrals(true)),
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
            // Mirror images are compared by walks over the text, more than a compressed file is decompressed for.
            if name != "four.fcidump" && packed(folder, name, (program, words)) {
                names.push(format!("{name}.{ending}"));
            }
        }
        for name in &names {
            let output = run(folder, &["info", name]);
            assert!(output.status.success(), "{name}: {}", errors(&output));
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            let count = if name.contains("fcidump") {
                "2 tensors"
            } else {
                "1 tensor"
            };
            assert!(shown.contains(count), "{name}: {shown}");
            let is_folded = name.starts_with("four.");
            assert_eq!(shown.contains("four-fold"), is_folded, "{name}");
        }
    }
    // The values of a text are put aside to be read, which is not possible here.
    let refused = run(folder, &["stats", "matrix.mtx"]);
    assert_eq!(refused.status.code(), Some(2), "{}", errors(&refused));
}
