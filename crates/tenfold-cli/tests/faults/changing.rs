//! Files that change while they are read, and several programs at one file.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::arena::{Chance, amount, assert_faultless, errors, npy, tenfold, tree};
use crate::scene::is_readable;

/// What reads every byte of a file.
const READERS: &[&[&str]] = &[
    &[
        "convert",
        "in.npy",
        "out.npy",
        "--force",
        "--no-sync",
        "--cast",
        "f32",
    ],
    &["convert", "in.npy", "out.npy", "--force", "--no-sync"],
    &[
        "convert",
        "in.npy",
        "out.safetensors",
        "--force",
        "--no-sync",
        "--memory",
        "1MiB",
    ],
    &["verify", "in.npy"],
    &["stats", "in.npy"],
    &["diff", "in.npy", "same.npy"],
    &["hash", "in.npy"],
    &["show", "in.npy", "--json"],
];

const COUNT: u32 = 1_500_000;
const SHAPE: &str = "(1500, 1000)";

type Change = fn(&Path);

/// What somebody may do to a file meanwhile.
const CHANGES: &[(&str, Change)] = &[
    ("made empty", |file| {
        OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(file)
            .unwrap();
    }),
    ("cut in half", |file| {
        let file = OpenOptions::new().write(true).open(file).unwrap();
        file.set_len(u64::from(COUNT) * 4).unwrap();
    }),
    ("cut within the header", |file| {
        OpenOptions::new()
            .write(true)
            .open(file)
            .unwrap()
            .set_len(40)
            .unwrap();
    }),
    ("written over", |file| {
        let mut file = OpenOptions::new().write(true).open(file).unwrap();
        file.seek(SeekFrom::Start(4000)).unwrap();
        file.write_all(&vec![0xff; 5_000_000]).unwrap();
    }),
    ("replaced by rubbish", |file| {
        let rubbish = file.with_extension("rubbish");
        fs::write(&rubbish, b"\x93NUMPY rubbish").unwrap();
        fs::rename(rubbish, file).unwrap();
    }),
    ("removed", |file| fs::remove_file(file).unwrap()),
    ("made longer", |file| {
        let mut file = OpenOptions::new().append(true).open(file).unwrap();
        file.write_all(&[7; 1000]).unwrap();
    }),
];

fn fault(output: &Output) -> Option<String> {
    let said = errors(output);
    match output.status.code() {
        None => Some(format!("ended by a signal, {}", output.status)),
        _ if said.contains("panicked") => Some(format!("a panic: {said}")),
        Some(0) => None,
        Some(1 | 2) if said.is_empty() || is_readable(&said) => None,
        Some(code) => Some(format!("exit code {code}: {said}")),
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error_or_has_new_bytes() {
    let original = npy(SHAPE, true, COUNT);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("same.npy"), &original).unwrap();
    let mut chance = Chance::of(4);
    let (mut faults, mut failed, mut passed) = (Vec::new(), 0, 0);
    for round in 0..amount(1, 12) {
        for words in READERS {
            for (what, change) in CHANGES {
                fs::write(at("in.npy"), &original).unwrap();
                let _ = (
                    fs::remove_file(at("out.npy")),
                    fs::remove_file(at("out.safetensors")),
                );
                let child = tenfold(folder.path(), words)
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap();
                sleep(Duration::from_micros(chance.below(25_000)));
                change(&at("in.npy"));
                let output = child.wait_with_output().unwrap();
                if output.status.success() {
                    passed += 1
                } else {
                    failed += 1
                }
                let is_half = tree(folder.path())
                    .keys()
                    .any(|name| name.contains(".tenfold-"));
                let litter = is_half.then(|| "a hidden file is left".to_owned());
                if let Some(why) = fault(&output).or(litter) {
                    faults.push(format!("{words:?}, {what}, round {round}: {why}"));
                }
            }
        }
    }
    let what = format!("changed files: {passed} read, {failed} refused");
    assert_faultless(what, &faults);
    assert!(failed > 0);
}

/// Two files that differ in every value.
fn two_files(folder: &Path) -> [Vec<u8>; 2] {
    let first = npy("(40000,)", false, 40_000);
    let head = first.iter().take(128).copied();
    let second: Vec<u8> = head.chain(std::iter::repeat_n(0x40, 320_000)).collect();
    fs::write(folder.join("a.npy"), &first).unwrap();
    fs::write(folder.join("b.npy"), &second).unwrap();
    [first, second]
}

#[test]
fn two_writers_and_a_reader_always_find_one_of_two_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = two_files(folder.path());
    let out = folder.path().join("out.npy");
    fs::copy(folder.path().join("a.npy"), &out).unwrap();
    let rounds = amount(25, 600);
    let write = |from: &str| {
        for _ in 0..rounds {
            let words = [
                "convert",
                from,
                "out.npy",
                "--force",
                "--no-sync",
                "--quiet",
            ];
            let output = tenfold(folder.path(), &words).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    };
    std::thread::scope(|scope| {
        let writers = [
            scope.spawn(|| write("a.npy")),
            scope.spawn(|| write("b.npy")),
        ];
        let (mut reads, mut verified) = (0, 0);
        while writers.iter().any(|writer| !writer.is_finished()) {
            let found = fs::read(&out).unwrap();
            assert!(found == first || found == second, "a mixture");
            reads += 1;
            if reads % 8 == 0 {
                let output = tenfold(folder.path(), &["verify", "out.npy"])
                    .output()
                    .unwrap();
                assert!(output.status.success(), "{output:?}");
                verified += 1;
            }
        }
        eprintln!(
            "two writers: {rounds} saves each, {reads} reads and {verified} checks between them"
        );
    });
    let names: Vec<String> = tree(folder.path()).into_keys().collect();
    assert_eq!(names, ["a.npy", "b.npy", "out.npy"]);
}

#[test]
fn of_two_writers_of_a_new_file_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = two_files(folder.path());
    for _ in 0..amount(10, 200) {
        let begin = |from| {
            tenfold(folder.path(), &["convert", from, "out.npy", "--quiet"])
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let both = [begin("a.npy"), begin("b.npy")];
        let both = both.map(|child| child.wait_with_output().unwrap());
        let codes = both.each_ref().map(|output| output.status.code().unwrap());
        let found = fs::read(folder.path().join("out.npy")).unwrap();
        match codes {
            [0, 2] => assert!(found == first),
            [2, 0] => assert!(found == second),
            other => panic!("{other:?}: {both:?}"),
        }
        fs::remove_file(folder.path().join("out.npy")).unwrap();
    }
}

#[test]
fn a_save_goes_on_while_another_program_holds_the_old_file_open() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = two_files(folder.path());
    let out = folder.path().join("out.npy");
    fs::copy(folder.path().join("a.npy"), &out).unwrap();
    let mut held = File::open(&out).unwrap();
    let words = ["convert", "b.npy", "out.npy", "--force"];
    assert!(
        tenfold(folder.path(), &words)
            .output()
            .unwrap()
            .status
            .success()
    );
    let mut old = Vec::new();
    std::io::Read::read_to_end(&mut held, &mut old).unwrap();
    assert!(old == first);
    assert!(fs::read(&out).unwrap() == second);
}
