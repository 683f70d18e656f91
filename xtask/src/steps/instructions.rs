//! Instruction counts of the jobs of `benches/instructions`, compared with the recorded ones.
//! Unlike times they do not depend on the load of the machine.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use crate::command::{cargo, root, run};

/// Jobs are counted in parallel, each on one core.
const AT_ONCE: usize = 2;
/// In percent: the variation by random seeds and addresses, with a margin.
const SLACK: u64 = 5;

/// Counts all jobs; fails if a count has increased.
pub(crate) fn check() -> Result<(), String> {
    if let Err(why) = valgrind() {
        println!("SKIPPED: counting instructions: {why}");
        return Ok(());
    }
    let recorded = Counts::read()?;
    let found = Counts::take()?;
    let (lines, slower) = found.beside(&recorded);
    println!("{lines}");
    if found.compiler != recorded.compiler {
        println!(
            "SKIPPED: judging them: they were recorded with {}",
            recorded.compiler
        );
        return Ok(());
    }
    if slower.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "more instructions than recorded: {}; where that is meant, `cargo xtask instructions --record`",
            slower.join(", ")
        ))
    }
}

/// Counts all jobs and records the results.
pub(crate) fn record() -> Result<(), String> {
    valgrind()?;
    Counts::take()?.write()
}

/// The instruction count of each job, and the compiler it was built with.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    compiler: String,
    jobs: BTreeMap<String, u64>,
}

impl Counts {
    fn path() -> PathBuf {
        root().join("benches/instructions/counts.txt")
    }

    fn read() -> Result<Counts, String> {
        let text = std::fs::read_to_string(Counts::path());
        Counts::parse(&text.map_err(|error| error.to_string())?)
    }

    fn parse(text: &str) -> Result<Counts, String> {
        let mut counts = Counts::default();
        for line in text.lines() {
            match line.rsplit_once(' ') {
                _ if line.starts_with("rustc") => counts.compiler = line.to_owned(),
                Some((job, count)) => {
                    let count = count.parse().map_err(|_| format!("no count: {line}"))?;
                    counts.jobs.insert(job.trim().to_owned(), count);
                }
                None => return Err(format!("no job with its count: {line}")),
            }
        }
        Ok(counts)
    }

    fn write(&self) -> Result<(), String> {
        let mut text = format!("{}\n", self.compiler);
        for (job, count) in &self.jobs {
            // Text is never full.
            let _ = writeln!(text, "{job} {count}");
        }
        std::fs::write(Counts::path(), text).map_err(|error| error.to_string())
    }

    fn take() -> Result<Counts, String> {
        run(cargo(&["build", "--release", "--package", "instructions"]))?;
        let binary = root().join("target/release/instructions");
        let names = said(Command::new(&binary))?;
        let queue: Mutex<VecDeque<&str>> = Mutex::new(names.lines().collect());
        let jobs = Mutex::new(Ok(BTreeMap::new()));
        let worker = || {
            while let Some(job) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
                let count = count(&binary, job);
                let Ok(mut jobs) = jobs.lock() else { return };
                match (count, jobs.as_mut()) {
                    (Ok(count), Ok(jobs)) => drop(jobs.insert(job.to_owned(), count)),
                    (Err(why), Ok(_)) => *jobs = Err(why),
                    (_, Err(_)) => return,
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(worker);
            }
        });
        let jobs = jobs.into_inner().map_err(|error| error.to_string())??;
        let mut rustc = Command::new("rustc");
        rustc.arg("--version");
        let compiler = said(rustc)?.trim().to_owned();
        Ok(Counts { compiler, jobs })
    }

    /// A table of these beside older ones, and the names of those that increased.
    fn beside(&self, older: &Counts) -> (String, Vec<String>) {
        let mut lines = "| job | instructions | in percent of before |\n|---|---:|---:|".to_owned();
        let mut slower = Vec::new();
        for (job, now) in &self.jobs {
            let before = older.jobs.get(job);
            let percent = before.map(|before| now.saturating_mul(100) / (*before).max(1));
            let beside = percent.map_or("new".into(), |percent| percent.to_string());
            let _ = write!(lines, "\n| {job} | {now} | {beside} |");
            let most = before.map(|before| before.saturating_add(before / 100 * SLACK));
            if most.is_none_or(|most| *now > most) {
                slower.push(job.clone());
            }
        }
        let gone = older
            .jobs
            .keys()
            .filter(|job| !self.jobs.contains_key(*job));
        slower.extend(gone.map(|job| format!("{job} (is gone)")));
        (lines, slower)
    }
}

/// Whether instructions can be counted on this machine.
fn valgrind() -> Result<(), String> {
    let mut version = Command::new("valgrind");
    version.arg("--version");
    said(version)
        .map(drop)
        .map_err(|_| "there is no valgrind".into())
}

/// The instructions of one repetition: the difference between three and one, so that setup does not
/// count.
fn count(binary: &std::path::Path, job: &str) -> Result<u64, String> {
    let of = |times: &str| {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", "0", "valgrind", "--tool=callgrind"]);
        command
            .arg("--callgrind-out-file=/dev/null")
            .arg(binary)
            .args([job, times]);
        let output = command
            .output()
            .map_err(|error| format!("taskset: {error}"))?;
        let words = String::from_utf8_lossy(&output.stderr);
        let counted = words
            .lines()
            .find_map(|line| line.split_once("Collected : "));
        let counted = counted.and_then(|(_, count)| count.trim().parse::<u64>().ok());
        counted
            .filter(|_| output.status.success())
            .ok_or_else(|| format!("{job} was not counted: {words}"))
    };
    Ok(of("3")?.saturating_sub(of("1")?) / 2)
}

/// The output of a command.
fn said(mut command: Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Counts {
        Counts::parse(&format!("rustc 1.0\n{text}")).unwrap()
    }

    #[test]
    fn jobs_that_grew_or_are_new_or_gone_are_named() {
        let before = counts("same 1000\ngrown 1000\nshrunk 1000\ngone 1\n");
        let now = counts("same 1049\ngrown 1051\nshrunk 100\nnew 1\n");
        let (lines, slower) = now.beside(&before);
        assert_eq!(slower, ["grown", "new", "gone (is gone)"]);
        assert!(lines.contains("| shrunk | 100 | 10 |"), "{lines}");
    }

    #[test]
    fn what_is_no_count_is_refused() {
        assert!(Counts::parse("job many\n").is_err());
        assert!(Counts::parse("job\n").is_err());
        assert_eq!(counts("a-b 5\n").jobs.get("a-b"), Some(&5));
    }
}
