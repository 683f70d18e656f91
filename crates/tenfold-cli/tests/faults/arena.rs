//! Folders to work in, the program to run there, and chance that can be repeated.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program under test.
pub(crate) fn program() -> PathBuf {
    let other = std::env::var_os("TENFOLD_PROGRAM").map(PathBuf::from);
    other.unwrap_or_else(|| env!("CARGO_BIN_EXE_tenfold").into())
}

/// Whether the long version of a test is wanted.
pub(crate) fn is_long() -> bool {
    std::env::var_os("TENFOLD_SOAK").is_some()
}

/// How much of something a test does: `quick`, or `long` when that is wanted.
pub(crate) fn amount(quick: usize, long: usize) -> usize {
    if is_long() { long } else { quick }
}

/// The folder of the corpus.
pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// All files of a folder and those below it, by their names in it.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

/// Reads all files below a folder; of a link, where it points to.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(&inner).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap();
            let name = name.to_string_lossy().into_owned();
            if path.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(name, target.into_os_string().into_encoded_bytes());
            } else if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// What a run printed where people read.
pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The program, about to run in a folder, in English and in no hurry to draw anything.
pub(crate) fn tenfold(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(words).current_dir(folder);
    command
}

/// The same under limits that a shell sets first, such as `ulimit -f 8`.
pub(crate) fn limited(folder: &Path, limits: &str, words: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{limits}; exec \"$0\" \"$@\""));
    command.arg(program()).args(words).current_dir(folder);
    command
}

/// A file of NumPy with as many numbers, each half of its place, and of this shape.
pub(crate) fn npy(shape: &str, is_fortran: bool, count: u32) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let mut head = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': {shape}, }}");
    while head.len() < 117 {
        head.push(' ');
    }
    head.push('\n');
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(head.as_bytes());
    for place in 0..count {
        file.extend((f64::from(place) * 0.5).to_le_bytes());
    }
    file
}

/// A file of safetensors with tensors of one byte a cell, of these names and bytes.
pub(crate) fn safetensors(tensors: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut head, mut at) = (serde_json::Map::new(), 0);
    for (name, bytes) in tensors {
        let end = at + bytes.len();
        let about = serde_json::json!({
            "dtype": "U8", "shape": [bytes.len()], "data_offsets": [at, end],
        });
        head.insert((*name).into(), about);
        at = end;
    }
    let mut head = serde_json::Value::Object(head).to_string();
    while !head.len().is_multiple_of(8) {
        head.push(' ');
    }
    let mut file = u64::try_from(head.len()).unwrap().to_le_bytes().to_vec();
    file.extend(head.as_bytes());
    for (_, bytes) in tensors {
        file.extend(*bytes);
    }
    file
}

/// Numbers that are the same in every run and look like none.
pub(crate) struct Chance(u64);

impl Chance {
    /// Other numbers for every test, and for every round of the long versions.
    pub(crate) fn of(test: u64) -> Chance {
        let round = std::env::var("TENFOLD_SOAK").ok();
        let round: u64 = round.and_then(|round| round.parse().ok()).unwrap_or(0);
        Chance(round << 32 | test)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}

/// Says what was tried; none of it may have come to a fault.
pub(crate) fn assert_faultless(what: impl std::fmt::Display, faults: &[String]) {
    eprintln!("{what}, {} faults", faults.len());
    let all = faults.join("\n");
    assert!(faults.is_empty(), "{} faults\n{all}", faults.len());
}
