//! Files that describe much in few bytes, for every command in 1 GiB of address space: each is read or refused,
//! and none ends a process by a signal.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::Mutex;

use crate::arena::{amount, assert_faultless, errors, limited, tree};
use crate::bomb_files::{Bomb, bombs};
use crate::scene::is_readable;

/// Kibibytes of address space: libraries, threads and the budget for work, and hardly more.
const MEMORY: u32 = 1 << 20;

/// What each command is asked to do with a bomb, which is `@`; the folder is its own.
const COMMANDS: &[&[&str]] = &[
    &["info", "@"],
    &["verify", "@"],
    &["show", "@"],
    &["stats", "@"],
    &["hash", "@"],
    &["diff", "@", "@"],
    &["convert", "@", "out.zt"],
    &["convert", "@", "--out-dir", "out", "--to", "npy"],
    &["verify", "@", "--salvage", "out.zt"],
    &["edit", "@", "--set", "a=b", "-o", "out.file"],
    &["compress", "@", "out.blz"],
    &["reconstruct", "@", "out.npy"],
    &["tt", "info", "@"],
    &["plot", "@", "-o", "out.png"],
];

fn run(folder: &Path, bomb: &Bomb, words: &[&str]) -> Output {
    let options: Vec<String> = { bomb.options.iter() }
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let mut all: Vec<&str> = words.to_vec();
    for word in &mut all {
        if *word == "@" {
            *word = "bomb";
        }
    }
    all.extend(["--format", bomb.format]);
    for option in &options {
        all.extend(["--opt", option.as_str()]);
    }
    // More tensors than usual are asked for, so that it is memory that ends it.
    all.extend(["--max-tensors", "100000000"]);
    let limits = format!("ulimit -v {MEMORY}; ulimit -t 60");
    limited(folder, &limits, &all).output().unwrap()
}

/// What is wrong with how a run ended.
fn fault(output: &Output) -> Option<String> {
    let said = errors(output);
    match output.status.code() {
        None => Some(format!("ended by a signal, {}: {said}", output.status)),
        // 0: what has nothing to build is read; 1: refused; 2: memory; 3: nothing to convert it to.
        Some(0..=3) => {
            let failed = said.lines().filter(|line| line.starts_with("tenfold: "));
            if said.contains("panicked") || said.contains("memory allocation of") {
                Some(format!("no error of the program: {said}"))
            } else if matches!(output.status.code(), Some(1 | 2)) && !is_readable(&said) {
                Some(format!("not readable: {said:?}"))
            } else if output.status.code() == Some(2) && failed.count() != 1 {
                Some(format!("not one line: {said:?}"))
            } else {
                None
            }
        }
        Some(code) => Some(format!("exit code {code}: {said}")),
    }
}

#[test]
fn no_bomb_ends_a_command_but_by_an_error() {
    // Every bomb and every command by turns in the quick version, all with all in the long one.
    let (bomb_step, turns) = (amount(4, 1), amount(1, COMMANDS.len()));
    let makers = Mutex::new(bombs().enumerate().step_by(bomb_step));
    let found = Mutex::new((Vec::new(), 0, 0));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        loop {
            let next = makers.lock().unwrap().next();
            let Some((number, bomb)) = next else { return };
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("bomb"), &bomb.bytes).unwrap();
            for turn in 0..turns {
                let place = number / bomb_step + turn;
                let Some(words) = COMMANDS.get(place % COMMANDS.len()) else {
                    continue;
                };
                let output = run(folder.path(), &bomb, words);
                let mut found = found.lock().unwrap();
                found.1 += 1;
                found.2 += u32::from(output.status.code() == Some(1));
                let mut fault = fault(&output);
                if output.status.code() != Some(0) && tree(folder.path()).len() > 1 {
                    fault = fault.or_else(|| Some("something was left behind".into()));
                }
                if let Some(fault) = fault {
                    let what = format!("{}: {} {}", bomb.format, bomb.name, words.join(" "));
                    found.0.push(format!("{what}: {fault}"));
                }
                drop(found);
                let made = tree(folder.path())
                    .into_keys()
                    .filter(|name| name != "bomb");
                for name in made {
                    fs::remove_file(folder.path().join(name)).unwrap();
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
    let (faults, count, refused) = found.into_inner().unwrap();
    assert_faultless(format!("{count} runs, {refused} refused"), &faults);
    assert!(refused > 0, "no bomb was refused");
}
