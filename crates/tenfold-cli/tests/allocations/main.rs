//! Memory that runs out: every large allocation of small jobs fails once, alone and with all that follow.
//! Each run ends with an error, or as if nothing had been, and leaves no part of its output.
//!
//! Runs are done by another process of this program, so that one that aborts is counted and the rest go on.
#![expect(
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod failing;
mod jobs;

use std::process::{Command, Stdio};

use failing::{Failing, Which, trace, with_failure};
use jobs::{Ran, job, made, make_files, ran};
use tenfold_cli::Exit;

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Which job the other process does, from which allocation on, and whether that one alone, traced.
const ORDER: &str = "TENFOLD_ALLOCATIONS";

/// What is wrong with how a run went that should be like another, or fail.
fn fault(
    ran: &Ran,
    made: &[(String, Vec<u8>)],
    whole: &(Ran, Vec<(String, Vec<u8>)>),
) -> Option<String> {
    let (wanted, wanted_files) = whole;
    if ran.exit == wanted.exit {
        let is_same = ran.output == wanted.output && made == wanted_files;
        return (!is_same).then(|| "a success with another result".into());
    }
    if ran.exit != Exit::Trouble {
        return Some(format!("{:?}: {}", ran.exit, ran.errors));
    }
    let said: Vec<&str> = ran
        .errors
        .lines()
        .filter(|line| line.contains("out of memory"))
        .collect();
    if said.len() != 1 {
        return Some(format!("not one error of memory: {}", ran.errors));
    }
    (!made.is_empty()).then(|| format!("left behind: {:?}", made[0].0))
}

fn clear(made: &[(String, Vec<u8>)]) {
    for (name, _) in made {
        std::fs::remove_file(name).unwrap();
    }
}

/// What the other process does; it prints a line before and after each run.
#[test]
fn a_job() {
    let Ok(order) = std::env::var(ORDER) else {
        return;
    };
    let mut order = order.split(':');
    let mut next = || order.next().unwrap().parse::<i64>().unwrap();
    let (number, first, which, is_traced) = (next(), next(), next(), next() == 1);
    let (words, may_end) = job(usize::try_from(number).unwrap()).unwrap();
    if may_end {
        tenfold_cli::install_signal_handlers();
    }
    let which = if which == 0 {
        Which::One
    } else {
        Which::AllFrom
    };
    let folder = std::env::current_dir().unwrap();
    let look = || {
        let found = made(&folder);
        clear(&found);
        found
    };
    let before = look();
    let whole = (ran(words), look());
    if !before.is_empty() && before != whole.1 {
        println!("fault: half of an output when the process ended");
    }
    if !matches!(whole.0.exit, Exit::Fine | Exit::No) {
        println!("fault: without a failure: {}", whole.0.errors);
        println!("over");
        return;
    }
    if is_traced {
        trace();
    }
    for number in first.. {
        println!("begun {number}");
        let (run, has_failed) =
            with_failure(number, which, || std::panic::catch_unwind(|| ran(words)));
        let found = look();
        let fault = match &run {
            Ok(run) => fault(run, &found, &whole),
            Err(_) => Some("a panic".into()),
        };
        if let Some(fault) = fault {
            println!("fault: {fault}");
        }
        if !has_failed || is_traced {
            println!("over");
            return;
        }
    }
}

/// Has another process do a job from an allocation on; gives what it printed, its errors and its exit code.
fn other(
    folder: &std::path::Path,
    job: usize,
    first: i64,
    which: u8,
    is_traced: bool,
) -> (String, String, Option<i32>) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_job", "--nocapture", "--test-threads", "1"])
        .env(
            ORDER,
            format!("{job}:{first}:{which}:{}", u8::from(is_traced)),
        )
        .env("RUST_BACKTRACE", "0")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code();
    (text(&output.stdout), text(&output.stderr), code)
}

/// The frames of this project in a backtrace.
fn frames(trace: &str) -> String {
    let lines: Vec<&str> = trace.lines().collect();
    let places = lines
        .windows(2)
        .filter(|pair| pair[1].contains("crates/tenfold"));
    let places = places.filter(|pair| !pair[1].contains("tests/allocations"));
    let frames = places.map(|pair| format!("\n      {} {}", pair[0].trim(), pair[1].trim()));
    frames.take(4).collect()
}

/// Whether a process ended for want of memory and said nothing else.
fn has_ended(errors: &str, code: Option<i32>) -> bool {
    let is_of_memory = |line: &str| {
        line.starts_with("memory allocation of ") || line.starts_with("tenfold: out of memory")
    };
    // Rust adds how a backtrace is had.
    let mut lines = errors.lines().filter(|line| !line.starts_with("note: "));
    code == Some(2) && errors.lines().any(is_of_memory) && lines.all(is_of_memory)
}

/// All faults of a job, and how many allocations failed.
fn faults_of(folder: &std::path::Path, number: usize, which: u8) -> (Vec<String>, i64) {
    let (words, may_end) = job(number).unwrap();
    let (mut faults, mut first) = (Vec::new(), 1);
    loop {
        let (said, errors, code) = other(folder, number, first, which, false);
        let mut at = first;
        for line in said.lines() {
            if let Some(number) = line.strip_prefix("begun ") {
                at = number.parse().unwrap();
            }
            if let Some(fault) = line.strip_prefix("fault: ") {
                faults.push(format!("{words} [{at}]: {fault}"));
            }
        }
        if said.lines().any(|line| line == "over") {
            return (faults, at - 1);
        }
        first = at + 1;
        if may_end && has_ended(&errors, code) {
            continue;
        }
        let (_, trace, _) = other(folder, number, at, which, true);
        faults.push(format!(
            "{words} [{at}]: ended by {code:?}{}",
            frames(&trace)
        ));
    }
}

#[test]
fn every_large_allocation_may_fail() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::env::current_dir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    make_files();
    std::env::set_current_dir(own).unwrap();
    let only = std::env::var("TENFOLD_JOB").ok();
    let (mut faults, mut count) = (Vec::new(), 0);
    for number in 0.. {
        let Some((words, _)) = job(number) else { break };
        if only
            .as_ref()
            .is_some_and(|only| !words.contains(only.as_str()))
        {
            continue;
        }
        for which in 0..2 {
            let began = std::time::Instant::now();
            let (found, failed) = faults_of(folder.path(), number, which);
            eprintln!(
                "{words}: {failed} failures, {} faults, {:.1?}",
                found.len(),
                began.elapsed()
            );
            faults.extend(found);
            count += failed;
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults of {count}:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(only.is_some() || count > 200, "{count} failures");
}
