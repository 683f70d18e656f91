//! Every bad file there is, under a roof on memory and a clock.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::arena::{amount, assert_faultless, corpus, errors, limited};
use crate::scene::is_readable;

/// Kibibytes of address space that a run may take: threads, libraries and all.
const MEMORY: u32 = 256 << 10;
/// How long a run may take on an idle machine.
const TIME: Duration = Duration::from_secs(2);

/// The files in a folder of every format, but for those that lie beside one, each with its format.
fn files(kind: &str) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for format in fs::read_dir(corpus()).unwrap() {
        let format = format.unwrap().path();
        let Ok(entries) = fs::read_dir(format.join(kind)) else {
            continue;
        };
        let name = format.file_name().unwrap().to_string_lossy().into_owned();
        for entry in entries {
            let path = entry.unwrap().path();
            let expected = format!("{}.json", path.display());
            if Path::new(&expected).is_file() {
                files.push((name.clone(), path));
            }
        }
    }
    files.sort();
    files
}

/// The options with which a file is bad.
fn options(file: &str) -> Vec<String> {
    let expected = fs::read_to_string(format!("{file}.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
    let options = expected
        .get("options")
        .and_then(|options| options.as_object());
    let options = options.into_iter().flatten();
    let options = options.map(|(name, value)| format!("{name}={}", value.as_str().unwrap()));
    options.collect()
}

fn run(command: &str, file: &str, format: &str, options: &[String]) -> (Output, Duration) {
    let mut words = vec![command, file, "--format", format];
    for option in options {
        words.extend(["--opt", option.as_str()]);
    }
    let began = Instant::now();
    let limits = format!("ulimit -v {MEMORY}; ulimit -t 4");
    let output = limited(Path::new("."), &limits, &words).output().unwrap();
    (output, began.elapsed())
}

/// What is wrong with how a bad file was refused.
fn fault(output: &Output, took: Duration, codes: &[i32]) -> Option<String> {
    let said = errors(output);
    let shown: String = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        None => Some(format!("ended by a signal, {}", output.status)),
        Some(code) if !codes.contains(&code) => Some(format!("exit code {code}: {said}")),
        _ if said.contains("panicked") => Some(format!("a panic: {said}")),
        _ if !is_readable(&said) => Some(format!("not readable: {said:?}")),
        _ if said.lines().count() != 1 => Some(format!("several lines: {said:?}")),
        _ if shown
            .chars()
            .any(|letter| letter.is_control() && letter != '\n') =>
        {
            Some(format!("control characters: {shown:?}"))
        }
        _ if took > TIME => Some(format!("took {took:?}")),
        _ => None,
    }
}

/// Looks at all files on as many cores as there are; gives the faults and the longest time.
fn examine(
    files: &[(String, PathBuf)],
    look: impl Fn(&str, &Path) -> (Option<String>, Duration) + Sync,
) {
    let left = Mutex::new(files.iter());
    let found = Mutex::new((Vec::new(), Duration::ZERO));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((format, file)) = next else { return };
                    let (fault, took) = look(format, file);
                    let mut found = found.lock().unwrap();
                    found.1 = found.1.max(took);
                    if let Some(fault) = fault {
                        found.0.push(format!("{}: {fault}", file.display()));
                    }
                }
            });
        }
    });
    let (faults, longest) = found.into_inner().unwrap();
    let what = format!("{} files, the slowest took {longest:?}", files.len());
    assert_faultless(what, &faults);
}

#[test]
fn a_bad_file_is_refused_in_one_line_in_little_memory_and_time() {
    let files = files("bad");
    assert!(files.len() > 1000, "{} files", files.len());
    examine(&files, |format, file| {
        let file = file.to_str().unwrap();
        let (output, took) = run("verify", file, format, &options(file));
        (fault(&output, took, &[1]), took)
    });
}

#[test]
fn a_bad_file_does_no_harm_to_the_other_commands() {
    let files = files("bad");
    // Some of each in the quick version: what they share is read by the same code.
    let step = amount(11, 1);
    let some: Vec<(String, PathBuf)> = files.into_iter().step_by(step).collect();
    examine(&some, |format, file| {
        let file = file.to_str().unwrap();
        let mut longest = Duration::ZERO;
        for command in ["info", "show", "stats", "hash"] {
            let (output, took) = run(command, file, format, &options(file));
            longest = longest.max(took);
            // What only a look at every value finds may be shown, where values are not looked at.
            let found = match output.status.code() {
                Some(0) => None,
                _ => fault(&output, took, &[1]),
            };
            if let Some(found) = found {
                return (Some(format!("{command}: {found}")), longest);
            }
        }
        (None, longest)
    });
}

#[test]
fn a_roof_on_memory_is_one() {
    // If this passed, the others would prove nothing.
    let limits = "ulimit -v 4096";
    let output = limited(Path::new("."), limits, &["formats"])
        .output()
        .unwrap();
    assert!(!output.status.success());
}
