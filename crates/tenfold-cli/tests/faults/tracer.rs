//! `strace`, which makes system calls fail, or ends a program at one.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::scene::Stage;

/// Whether calls can be tampered with here. If not, says so: a test that was not done shall not look
/// like one that passed.
pub(crate) fn is_there(test: &str) -> bool {
    let tried = Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "inject=fsync:error=EIO",
        ])
        .arg("true")
        .output();
    let is_there = tried.is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: {test}: strace is missing, or may not trace");
    }
    is_there
}

/// How often each system call is made while a scene is played, with other calls tampered with.
pub(crate) fn calls(stage: &Stage, also: &[&str]) -> BTreeMap<String, usize> {
    let folder = stage.set();
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(log.path());
    for injection in also {
        command.arg("-e").arg(format!("inject={injection}"));
    }
    stage.cast(&mut command, folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(log.path()).unwrap();
    let mut calls = BTreeMap::new();
    for line in text.lines() {
        // As in "123 openat(AT_FDCWD, …"; the end of a call that another interrupted begins with "<".
        let call = line.split_once(' ').map(|(_, call)| call.trim_start());
        let name = call
            .and_then(|call| call.split_once('('))
            .map(|(name, _)| name);
        if let Some(name) =
            name.filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
        {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
    }
    calls
}

/// Plays a scene in a folder while calls are tampered with, as in `fsync:error=EIO:when=1`.
pub(crate) fn tamper(stage: &Stage, folder: &Path, injections: &[&str]) -> Output {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null"]);
    // Quicker, but signals are not sent in this way.
    if !injections
        .iter()
        .any(|injection| injection.contains("signal="))
    {
        command.arg("--seccomp-bpf");
    }
    let names = injections
        .iter()
        .map(|text| text.split(':').next().unwrap());
    let names: Vec<&str> = names.collect();
    command.arg("-e").arg(format!("trace={}", names.join(",")));
    for injection in injections {
        command.arg("-e").arg(format!("inject={injection}"));
    }
    stage.cast(&mut command, folder);
    command.output().unwrap()
}

/// Up to `most` of the numbers from 1 to `count`, the ends among them.
pub(crate) fn some_of(count: usize, most: usize) -> Vec<usize> {
    let last = most.min(count).saturating_sub(1);
    let place = |number: usize| 1 + number * (count - 1) / last.max(1);
    (0..=last).map(place).collect()
}
