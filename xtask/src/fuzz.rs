//! `cargo xtask fuzz --seconds N|--runs N [--jobs N] [TARGET…]`: every target of `fuzz/`, two at a
//! time, until each has had N seconds of CPU time in all, or has done N runs. Findings and CPU
//! times are kept in `target/fuzz`, so that an interrupted run continues where it was.

mod dictionary;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use crate::command::{program, root, run};
use crate::tools;

/// Default number of parallel targets.
const AT_ONCE: usize = 2;
/// Wall-clock seconds after which a target is stopped, counted and continued.
const SPELL: u64 = 60;
/// Interval between reads of a target's CPU time.
const GLANCE: Duration = Duration::from_millis(20);
/// In MB: a single allocation of this size is a finding. The total of one run is limited by the
/// targets themselves (`fuzz/src/memory.rs`).
const LARGEST_ALLOCATION: u64 = 64;
/// The toolchain for the targets; only nightly has the sanitizer.
const TOOLCHAIN: &str = "+nightly";
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Parses the arguments and runs the fuzzer.
pub(crate) fn fuzz(words: &[&str]) -> Result<(), String> {
    const USAGE: &str = "usage: cargo xtask fuzz --seconds N|--runs N [--jobs N] [TARGET…]";
    let number = |text: &str| text.parse().map_err(|_| USAGE.to_owned());
    let (effort, rest) = match words {
        ["--seconds", count, rest @ ..] => (Effort::Seconds(number(count)?), rest),
        ["--runs", count, rest @ ..] => (Effort::Runs(number(count)?), rest),
        _ => return Err(USAGE.into()),
    };
    match rest {
        ["--jobs", count, only @ ..] => {
            let jobs = usize::try_from(number(count)?).unwrap_or(AT_ONCE);
            try_all(effort, jobs, only)
        }
        only => try_all(effort, AT_ONCE, only),
    }
}

/// The amount of work of one session.
#[derive(Clone, Copy)]
enum Effort {
    /// A number of runs with a fixed seed.
    Tries(u64),
    /// Total CPU seconds, with a new seed each time.
    Seconds(u64),
    /// Total runs, with a new seed each time.
    Runs(u64),
}

/// Enough for all seeds and some thousand mutations of them, in a few seconds.
const FEW: Effort = Effort::Tries(5000);

/// A few seconds of every target, where the toolchain is installed.
pub(crate) fn check() -> Result<(), String> {
    let mut version = program("cargo", &[TOOLCHAIN, "--version"]);
    version.stdout(Stdio::null()).stderr(Stdio::null());
    if run(version).is_err() {
        println!("SKIPPED: fuzzing: there is no nightly compiler");
        return Ok(());
    }
    try_all(FEW, AT_ONCE, &[])
}

fn try_all(effort: Effort, jobs: usize, only: &[&str]) -> Result<(), String> {
    build()?;
    let work = root().join("target/fuzz");
    let seeds = work.join("seeds");
    let mut make = program("python3", &["fuzz/seeds.py"]);
    make.arg(&seeds);
    run(make)?;
    let is_wanted = |name: &String| only.is_empty() || only.contains(&name.as_str());
    let queue: VecDeque<String> = targets()?.into_iter().filter(is_wanted).collect();
    if queue.is_empty() {
        return Err("there is no such target in fuzz/targets".into());
    }
    println!("| target | seconds | executions | edges | |\n|---|---:|---:|---:|---|");
    let queue = Mutex::new(queue);
    let failures = Mutex::new(Vec::new());
    let worker = || {
        while let Some(name) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
            match Target::new(&work, name).run(effort, &seeds) {
                Ok(line) => println!("{line}"),
                Err(why) => {
                    println!("{why}");
                    failures
                        .lock()
                        .into_iter()
                        .for_each(|mut all| all.push(why.clone()));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(worker);
        }
    });
    match failures.into_inner() {
        Ok(none) if none.is_empty() => Ok(()),
        Ok(some) => Err(some.join("\n")),
        Err(_) => Err("a thread that ran targets broke off".into()),
    }
}

fn build() -> Result<(), String> {
    let mut build = program(
        "cargo",
        &[TOOLCHAIN, "fuzz", "build", "--target-dir", "target/fuzz"],
    );
    build.env("PATH", tools::path_with("cargo-fuzz")?);
    run(build)
}

/// The names of all targets, readers first.
fn targets() -> Result<Vec<String>, String> {
    let listed =
        std::fs::read_dir(root().join("fuzz/targets")).map_err(|error| error.to_string())?;
    let mut names: Vec<String> = listed
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort_by_key(|name| (!name.starts_with("read_"), name.clone()));
    Ok(names)
}

/// The CPU time of a target, and its result.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    milliseconds: u64,
    executions: u64,
    edges: u64,
}

impl Tally {
    /// Patterns in the output of the fuzzer.
    fn of(log: &str, milliseconds: u64) -> Tally {
        let after = |mark: &str| {
            let rest = log.rsplit_once(mark)?.1.trim_start();
            rest.split(|letter: char| !letter.is_ascii_digit())
                .next()?
                .parse()
                .ok()
        };
        Tally {
            milliseconds,
            executions: after("stat::number_of_executed_units:").unwrap_or(0),
            edges: after(" cov: ").unwrap_or(0),
        }
    }

    fn read(path: &Path) -> Option<Tally> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut words = text.split_whitespace().map(str::parse);
        let mut next = || words.next()?.ok();
        Some(Tally {
            milliseconds: next()?,
            executions: next()?,
            edges: next()?,
        })
    }

    fn write(&self, path: &Path) -> Result<(), String> {
        let text = format!("{} {} {}\n", self.milliseconds, self.executions, self.edges);
        std::fs::write(path, text).map_err(|error| error.to_string())
    }
}

struct Target {
    name: String,
    /// The corpus: inputs with new coverage; grows from run to run.
    corpus: PathBuf,
    /// The same for one short session, which has to be reproducible.
    few: PathBuf,
    /// Crashing inputs.
    findings: PathBuf,
    /// The CPU time so far.
    tally: PathBuf,
    /// The last output.
    log: PathBuf,
    /// Its merged dictionary.
    dictionaries: PathBuf,
    binary: PathBuf,
}

impl Target {
    fn new(work: &Path, name: String) -> Target {
        Target {
            corpus: work.join("corpus").join(&name),
            few: work.join("few").join(&name),
            findings: work.join("findings").join(&name),
            tally: work.join("tally").join(&name),
            log: work.join("log").join(&name),
            dictionaries: work.join("dictionaries"),
            binary: work.join(TRIPLE).join("release").join(&name),
            name,
        }
    }

    /// Runs the remaining work; returns a line of the table.
    fn run(&self, effort: Effort, seeds: &Path) -> Result<String, String> {
        let seeds = seeds.join(&self.name);
        let tally = match effort {
            Effort::Tries(_) => self.try_for(effort, &seeds)?,
            Effort::Seconds(_) | Effort::Runs(_) => self.go_on(effort, &seeds)?,
        };
        let Tally {
            milliseconds,
            executions,
            edges,
        } = tally;
        let (name, seconds) = (&self.name, milliseconds / 1000);
        Ok(format!(
            "| {name} | {seconds} | {executions} | {edges} | nothing found |"
        ))
    }

    /// Runs until the total CPU time or number of runs is reached.
    fn go_on(&self, effort: Effort, seeds: &Path) -> Result<Tally, String> {
        let mut tally = Tally::read(&self.tally).unwrap_or_default();
        loop {
            let spell = match effort {
                Effort::Seconds(seconds) => seconds.saturating_sub(tally.milliseconds / 1000),
                Effort::Runs(count) if tally.executions < count => SPELL,
                Effort::Runs(_) | Effort::Tries(_) => 0,
            };
            if spell == 0 {
                return Ok(tally);
            }
            let now = self.try_for(Effort::Seconds(spell.min(SPELL)), seeds)?;
            tally = Tally {
                milliseconds: tally.milliseconds.saturating_add(now.milliseconds),
                executions: tally.executions.saturating_add(now.executions),
                edges: now.edges.max(tally.edges),
            };
            tally.write(&self.tally)?;
        }
    }

    fn try_for(&self, effort: Effort, seeds: &Path) -> Result<Tally, String> {
        let corpus = match effort {
            Effort::Tries(_) => &self.few,
            Effort::Seconds(_) | Effort::Runs(_) => &self.corpus,
        };
        // If there is none, there is nothing to remove.
        let _ = std::fs::remove_dir_all(&self.few);
        let around = [&self.tally, &self.log].map(|file| file.parent());
        for folder in [corpus.as_path(), &self.findings]
            .into_iter()
            .chain(around.into_iter().flatten())
        {
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        let mut command = Command::new(&self.binary);
        command.arg(corpus);
        command.args(seeds.is_dir().then_some(seeds));
        match effort {
            Effort::Tries(count) => command.args([format!("-runs={count}"), "-seed=1".into()]),
            Effort::Seconds(seconds) => command.arg(format!("-max_total_time={seconds}")),
            Effort::Runs(count) => command.arg(format!("-runs={count}")),
        };
        let words = dictionary::of(&self.name, &self.dictionaries)?;
        command.arg(format!("-dict={}", words.display()));
        command.arg(format!("-artifact_prefix={}/", self.findings.display()));
        // Wall-clock seconds, which continue while a busy machine lets a target wait.
        command.args(["-timeout=100", "-report_slow_units=100"]);
        command.args(["-rss_limit_mb=1024", "-print_final_stats=1"]);
        command.arg(format!("-malloc_limit_mb={LARGEST_ALLOCATION}"));
        let failed = |error: std::io::Error| format!("{}: {error}", self.name);
        let log = std::fs::File::create(&self.log).map_err(failed)?;
        let child = command.stdout(Stdio::null()).stderr(log).spawn();
        let (status, milliseconds) = child.and_then(attend).map_err(failed)?;
        let log = std::fs::read(&self.log).map_err(failed)?;
        let log = String::from_utf8_lossy(&log);
        if status.success() {
            return Ok(Tally::of(&log, milliseconds));
        }
        let what = log
            .lines()
            .find(|line| line.contains("panicked") || line.contains("ERROR"));
        let what = what.unwrap_or("no reason given");
        let where_it_is = self.findings.display();
        Err(format!(
            "{}: {what}; the input is in {where_it_is}",
            self.name
        ))
    }
}

/// Waits for a process; returns its exit status and its CPU time in milliseconds.
fn attend(mut child: Child) -> std::io::Result<(ExitStatus, u64)> {
    let counter = format!("/proc/{}/schedstat", child.id());
    let mut nanoseconds = 0;
    loop {
        let text = std::fs::read_to_string(&counter).unwrap_or_default();
        // A finished process has no times.
        let now = text
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok());
        nanoseconds = now.unwrap_or(0).max(nanoseconds);
        if let Some(status) = child.try_wait()? {
            return Ok((status, nanoseconds / 1_000_000));
        }
        std::thread::sleep(GLANCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_fuzzer_says_of_itself_is_read() {
        let log = "#2\tINITED cov: 12 ft: 13\n#9\tNEW    cov: 25 ft: 30 corp: 2\n#10\tDONE   cov: 25 ft: 30\n\
            stat::number_of_executed_units: 1234\nstat::average_exec_per_sec: 5\n";
        let wanted = Tally {
            milliseconds: 3,
            executions: 1234,
            edges: 25,
        };
        assert_eq!(Tally::of(log, 3), wanted);
    }

    #[test]
    fn a_program_is_counted_for_its_own_work_alone() {
        let sleeping = Command::new("sleep").arg("0.3").spawn().unwrap();
        let (status, milliseconds) = attend(sleeping).unwrap();
        assert!(status.success() && milliseconds < 200, "{milliseconds}");
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let working = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let (_, milliseconds) = attend(working).unwrap();
        assert!(milliseconds > 30, "{milliseconds}");
    }

    #[test]
    fn a_tally_is_read_as_it_was_written() {
        let folder = std::env::temp_dir().join(format!("tenfold-tally-{}", std::process::id()));
        let tally = Tally {
            milliseconds: 600,
            executions: 7,
            edges: 8,
        };
        tally.write(&folder).unwrap();
        assert_eq!(Tally::read(&folder), Some(tally));
        std::fs::remove_file(folder).unwrap();
    }
}
