//! Files that cannot be read: every call that looks for a file, looks at it or reads it fails, is interrupted
//! or gives fewer bytes than it was asked for.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::arena::{Chance, amount, assert_faultless, tree};
use crate::questions::{QUESTIONS, Question};
use crate::tracer::is_there;

/// The calls by which files are found, opened, looked at and read.
const CALLS: &[&str] = &[
    "open",
    "openat",
    "read",
    "readv",
    "pread64",
    "preadv",
    "mmap",
    "stat",
    "lstat",
    "statx",
    "fstat",
    "newfstatat",
    "lseek",
    "getdents64",
    "readlink",
    "readlinkat",
    "access",
    "faccessat2",
];

/// Those of them that a signal interrupts.
const INTERRUPTED: &[&str] = &["open", "openat", "read", "readv", "pread64", "preadv"];

/// The calls of a run that concern files of the folder, or temporary ones: their names, and the how
/// manieth of its name in its thread each is, which is how the tracer counts.
fn calls(question: &Question) -> BTreeSet<(String, usize)> {
    let folder = question.set();
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-y", "-o"]).arg(log.path());
    command
        .arg("-e")
        .arg(format!("trace=?{}", CALLS.join(",?")));
    question.put(folder.path(), Some(command));
    let text = std::fs::read_to_string(log.path()).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    let mut found = BTreeSet::new();
    for line in text.lines() {
        // As in "123 openat(AT_FDCWD</tmp/a>, …"; the end of a call that another interrupted begins with "<".
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, rest)) = call.trim_start().split_once('(') else {
            continue;
        };
        if !CALLS.contains(&name) {
            continue;
        }
        let count = counts.entry((thread, name)).or_insert(0_usize);
        *count += 1;
        if concerns(name, rest, folder.path()) {
            found.insert((name.to_owned(), *count));
        }
    }
    found
}

/// Whether a call is about a file of the folder or a temporary one.
fn concerns(name: &str, rest: &str, folder: &Path) -> bool {
    let by_path = ![
        "read", "readv", "pread64", "preadv", "mmap", "fstat", "lseek",
    ]
    .contains(&name);
    let rest = match rest.strip_prefix("AT_FDCWD<") {
        Some(rest) => rest.split_once('>').map_or("", |(_, rest)| rest),
        None => rest,
    };
    let temporary = std::env::temp_dir();
    let is_open = rest.contains(&format!("<{}", temporary.display()));
    let path = rest.split('"').nth(1).filter(|path| !path.is_empty());
    let is_ours = |path: &str| !path.starts_with('/') || Path::new(path).starts_with(folder);
    is_open || by_path && path.is_some_and(is_ours)
}

fn tampered(injection: &str) -> Command {
    let call = injection.split(':').next().unwrap_or_default();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "--seccomp-bpf"]);
    command.arg("-e").arg(format!("trace={call}"));
    command.arg("-e").arg(format!("inject={injection}"));
    command
}

#[test]
fn what_cannot_be_read_is_an_error_or_makes_no_difference() {
    if !is_there("reads that fail") {
        return;
    }
    let (mut faults, mut n_errors, mut n_interrupted) = (Vec::new(), 0, 0);
    let mut chance = Chance::of(31);
    for question in QUESTIONS {
        let folder = question.set();
        let before = tree(folder.path());
        let right = question.put(folder.path(), None);
        let is_asked = matches!(right.code(), Some(0 | 1));
        assert!(is_asked, "{:?}: {right:?}", question.words);
        let all: Vec<(String, usize)> = calls(question).into_iter().collect();
        // A command that reads nothing of ours would make this test one of nothing.
        assert!(!all.is_empty(), "{:?}", question.words);
        let most = u64::try_from(all.len()).unwrap();
        let some = amount(2, usize::MAX);
        let chosen: Vec<&(String, usize)> = if some < all.len() {
            let mut draw = || {
                all.get(usize::try_from(chance.below(most)).unwrap())
                    .unwrap()
            };
            (0..some).map(|_| draw()).collect()
        } else {
            all.iter().collect()
        };
        for (call, when) in chosen {
            for error in ["EIO", "EINTR"] {
                let is_interrupted = error == "EINTR";
                if is_interrupted && !INTERRUPTED.contains(&call.as_str()) {
                    continue;
                }
                let injection = format!("{call}:error={error}:when={when}");
                let folder = question.set();
                let answer = question.put(folder.path(), Some(tampered(&injection)));
                // The same number of a call may be the loader's in another thread; it gives up in its own words.
                if answer.code() == Some(127) {
                    continue;
                }
                let judged = if is_interrupted {
                    n_interrupted += 1;
                    let is_same = answer == right;
                    is_same
                        .then_some(())
                        .ok_or(format!("another answer: {answer:?}"))
                } else {
                    n_errors += 1;
                    right.judge(&answer, question, &before)
                };
                if let Err(why) = judged {
                    faults.push(format!("{:?}, {injection}: {why}", question.words));
                }
            }
        }
    }
    let what = format!("reads that fail: {n_errors} errors, {n_interrupted} interruptions");
    assert_faultless(what, &faults);
}

#[test]
fn reads_that_give_fewer_bytes_are_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (
        folder.path().join("short_reads.c"),
        folder.path().join("short.so"),
    );
    std::fs::write(&source, include_str!("short_reads.c")).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        eprintln!("skipped: short reads: no C compiler");
        return;
    }
    let (mut faults, mut runs) = (Vec::new(), 0);
    let mut chance = Chance::of(32);
    for question in QUESTIONS {
        let right = question.put(question.set().path(), None);
        for _ in 0..amount(1, 40) {
            let mut command = Command::new("env");
            command.arg(format!("LD_PRELOAD={}", library.display()));
            command.arg(format!("SHORT_READS={}", chance.below(u64::MAX)));
            let answer = question.put(question.set().path(), Some(command));
            runs += 1;
            if answer != right {
                faults.push(format!("{:?}: {answer:?}", question.words));
            }
        }
    }
    assert_faultless(format!("short reads: {runs} runs"), &faults);
}
