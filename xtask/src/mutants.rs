//! `cargo xtask mutants [--quick] [--minutes N] [PATH…]`: mutation tests. Each mutant is the
//! library with one comparison, condition, method or check changed; the tests have to fail. All
//! mutants are built at once, into a copy of the sources, and an environment variable selects one,
//! so that trying it needs no build. They are tried in a scattered order, until the time is over;
//! results are kept in `target/mutants`, and the next run continues after them. `--quick` runs only
//! the tests of the module and of the corpus, which detect most in seconds; a mutant that survives
//! them is a suspect, and the next run without it tries it again.

mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::command::{program, root};
use schema::Mutant;

/// Default duration.
const MINUTES: u64 = 60;
/// Default paths: the code that reads untrusted bytes.
const CHECKS: [&str; 8] = [
    "io",
    "bytes",
    "wire",
    "formats/tens",
    "formats/ztensor",
    "formats/blz",
    "formats/vespa",
    "formats/primitiv",
];
/// The test programs, fast ones first, and whether they check the source text itself.
const TESTS: [&str; 5] = ["--lib", "--test", "it", "--test", "memory"];
const ABOUT_SOURCES: [&str; 2] = ["--skip", "layering"];
/// Timeout as a multiple of the time without a mutant: a mutant that loops is detected.
const PATIENCE: u32 = 5;
/// The folder of the sources in the copy.
const SOURCES: &str = "crates/tenfold/src";

/// Parses the arguments and runs the mutants.
pub(crate) fn mutants(words: &[&str]) -> Result<(), String> {
    let (is_quick, words) = match words {
        ["--quick", rest @ ..] => (true, rest),
        all => (false, all),
    };
    let (minutes, only) = match words {
        ["--minutes", minutes, only @ ..] => {
            let minutes = minutes.parse();
            (minutes.map_err(|_| "--minutes wants a number")?, only)
        }
        only => (MINUTES, only),
    };
    let work = Work {
        tree: root().join("target/mutants/tree"),
        results: root().join("target/mutants/results"),
        paths: if only.is_empty() { &CHECKS } else { only },
    };
    work.copy_tree()?;
    let mut mutants = work.build()?;
    let tests = work.tests()?;
    let began = Instant::now();
    if let Some(stage) = work.first_failure(&tests, &stages("", is_quick), 0, Duration::MAX)? {
        return Err(format!("{stage:?} fails without any mutant"));
    }
    let patience = began.elapsed().saturating_mul(PATIENCE);
    eprintln!(
        "{} mutants; the tests take {:?}",
        mutants.len(),
        began.elapsed()
    );
    mutants.sort_by_key(|(name, _)| scattered(name));
    let mut done = work.done();
    let all = mutants.len();
    let end = Instant::now() + Duration::from_secs(minutes.saturating_mul(60));
    for (name, mutant) in &mutants {
        if Instant::now() > end {
            break;
        }
        let before = done.get(name).map(String::as_str);
        if before.is_none() || (before == Some(SUSPECT) && !is_quick) {
            let stages = stages(&module(name), is_quick);
            let found = work.first_failure(&tests, &stages, mutant.id, patience)?;
            let outcome = match found {
                Some((_, Ended::Failed)) => "caught",
                Some((_, _)) => "timed out",
                None if is_quick => SUSPECT,
                None => "missed",
            };
            work.keep(name, outcome)?;
            done.insert(name.clone(), outcome.to_owned());
        }
    }
    let known: BTreeSet<&String> = mutants.iter().map(|(name, _)| name).collect();
    done.retain(|name, _| known.contains(name));
    println!("{}", summary(&done, all));
    Ok(())
}

/// A hash that orders mutants independently of their position in the code, the same on every run.
fn scattered(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// A mutant for which only the fast tests were run.
const SUSPECT: &str = "suspect";

/// The outcome of tests.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ended {
    Passed,
    Failed,
    TimedOut,
}

/// Tests to run: the index of a program in [`TESTS`], and a filter on test names.
type Stage = (usize, String);

/// The tests of a module, those of the corpus, and then all.
fn stages(module: &str, is_quick: bool) -> Vec<Stage> {
    let quick = [(0, module), (1, "corpus::")];
    let all = [(0, ""), (1, ""), (2, "")];
    let stages = quick.iter().chain(all.iter().filter(|_| !is_quick));
    stages
        .map(|(test, word)| (*test, (*word).to_owned()))
        .collect()
}

/// The module whose tests cover a mutant: a format, or a module of the layers below.
fn module(mutant: &str) -> String {
    let path = mutant.split_once(".rs:").map_or(mutant, |(path, _)| path);
    path.split('/').take(2).collect::<Vec<_>>().join("::")
}

struct Work<'a> {
    /// A copy of the sources with its own builds: the working tree never contains a mutant.
    tree: PathBuf,
    /// One line per mutant: its outcome, a tab and its name.
    results: PathBuf,
    paths: &'a [&'a str],
}

impl Work<'_> {
    /// Updates the copy; unchanged files keep their times, and are not rebuilt.
    fn copy_tree(&self) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.tree.display());
        std::fs::create_dir_all(&self.tree).map_err(failed)?;
        let listed = program("git", &["ls-files", "-z"]).output();
        let listed = String::from_utf8(listed.map_err(failed)?.stdout);
        let listed = listed.map_err(|error| error.to_string())?;
        let listed_before = self.tree.with_extension("list");
        let before = std::fs::read_to_string(&listed_before).unwrap_or_default();
        for path in before.split('\0').filter(|path| !path.is_empty()) {
            if !root().join(path).is_file() {
                // It may have been removed before.
                let _ = std::fs::remove_file(self.tree.join(path));
            }
        }
        std::fs::write(&listed_before, &listed).map_err(failed)?;
        // These are written with their mutants.
        let mutated: BTreeSet<String> =
            self.files()?.into_iter().chain(["lib.rs".into()]).collect();
        let mutated = |path: &str| {
            let inner = path
                .strip_prefix(SOURCES)
                .and_then(|path| path.strip_prefix('/'));
            inner.is_some_and(|inner| mutated.contains(inner))
        };
        for path in listed
            .split('\0')
            .filter(|path| !mutated(path))
            .map(Path::new)
        {
            let Ok(bytes) = std::fs::read(root().join(path)) else {
                continue; // removed and not yet committed, or a folder
            };
            let to = self.tree.join(path);
            if std::fs::read(&to).is_ok_and(|there| there == bytes) {
                continue;
            }
            let made = to.parent().map_or(Ok(()), std::fs::create_dir_all);
            made.and_then(|()| std::fs::write(&to, bytes))
                .map_err(failed)?;
        }
        Ok(())
    }

    /// Writes all mutants to the copy, omitting those that do not compile; returns the others by
    /// name.
    fn build(&self) -> Result<Vec<(String, Mutant)>, String> {
        let mut left_out = BTreeSet::new();
        loop {
            let mutants = self.mutate(&left_out)?;
            let mut check = program("cargo", &["check", "--package", "tenfold", "--lib"]);
            check.args(["--quiet", "--message-format=short"]);
            let said = self.within(check).output();
            let said = said.map_err(|error| error.to_string())?;
            if said.status.success() {
                eprintln!("{} more do not compile", left_out.len());
                return Ok(mutants);
            }
            let said = String::from_utf8_lossy(&said.stderr);
            let before = left_out.len();
            for (path, line) in errors(&said) {
                let text = std::fs::read_to_string(self.tree.join(path)).unwrap_or_default();
                left_out.extend(blamed(&text, line));
            }
            if left_out.len() == before {
                return Err(format!("the mutants do not compile:\n{said}"));
            }
        }
    }

    /// Writes the sources of the copy with their mutants.
    fn mutate(&self, left_out: &BTreeSet<u32>) -> Result<Vec<(String, Mutant)>, String> {
        let failed = |error: std::io::Error| error.to_string();
        let sources = root().join(SOURCES);
        let lib = std::fs::read_to_string(sources.join("lib.rs")).map_err(failed)?;
        write(
            &self.tree.join(SOURCES).join("lib.rs"),
            &format!("{lib}\nmod mutant;\n"),
        )?;
        write(&self.tree.join(SOURCES).join("mutant.rs"), schema::CHOICE)?;
        let mut all = Vec::new();
        let mut next: u32 = 1;
        for path in self.files()? {
            let text = std::fs::read_to_string(sources.join(&path)).map_err(failed)?;
            let mutated = schema::mutated(&text, next, left_out);
            let (text, mutants) = mutated.map_err(|error| format!("{path}: {error}"))?;
            write(&self.tree.join(SOURCES).join(&path), &text)?;
            // Ids of omitted mutants are kept, so that all others stay the same.
            next = next.saturating_add(schema::MOST_IN_A_FILE);
            let named = mutants.into_iter();
            all.extend(
                named.map(|mutant| (format!("{path}:{} {}", mutant.line, mutant.what), mutant)),
            );
        }
        Ok(all)
    }

    /// The source files below the paths, except for tests.
    fn files(&self) -> Result<Vec<String>, String> {
        let listed = program("git", &["ls-files", SOURCES]).output();
        let listed = String::from_utf8(listed.map_err(|error| error.to_string())?.stdout);
        let listed = listed.map_err(|error| error.to_string())?;
        let below = |path: &&str| {
            let is_wanted = |wanted: &&str| {
                path.strip_prefix(wanted)
                    .is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
            };
            self.paths.iter().any(is_wanted) && path.ends_with(".rs") && !path.contains("tests")
        };
        let inner = listed
            .lines()
            .filter_map(|path| path.strip_prefix(SOURCES)?.strip_prefix('/'));
        Ok(inner.filter(below).map(str::to_owned).collect())
    }

    /// A command that runs in the copy, with its own builds.
    fn within(&self, mut command: std::process::Command) -> std::process::Command {
        command
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", self.tree.join("target"));
        command
    }

    /// Builds the tests; returns the programs.
    fn tests(&self) -> Result<Vec<PathBuf>, String> {
        let mut build = program("cargo", &["test", "--package", "tenfold", "--no-run"]);
        build.args(TESTS);
        let said = self
            .within(build)
            .output()
            .map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&said.stderr);
        let programs = said.lines().filter_map(|line| {
            let path = line.trim().strip_prefix("Executable")?.rsplit_once('(')?.1;
            Some(self.tree.join(path.strip_suffix(')')?))
        });
        let programs: Vec<PathBuf> = programs.collect();
        match programs.len() {
            3 => Ok(programs),
            _ => Err(format!("the tests cannot be built:\n{said}")),
        }
    }

    /// Runs tests with a mutant until some fail.
    fn first_failure(
        &self,
        tests: &[PathBuf],
        stages: &[Stage],
        id: u32,
        patience: Duration,
    ) -> Result<Option<(Stage, Ended)>, String> {
        for stage in stages {
            let test = tests.get(stage.0).ok_or("there is no such test")?;
            match self.attempt(test, &stage.1, id, patience)? {
                Ended::Passed => {}
                ended => return Ok(Some((stage.clone(), ended))),
            }
        }
        Ok(None)
    }

    /// Runs the tests of a program that match a filter, with a mutant.
    fn attempt(
        &self,
        test: &Path,
        word: &str,
        id: u32,
        patience: Duration,
    ) -> Result<Ended, String> {
        let mut command = program(test, &["--quiet", word]);
        command
            .args(ABOUT_SOURCES)
            .env("TENFOLD_MUTANT", id.to_string());
        command.current_dir(self.tree.join("crates/tenfold"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let failed = |error: std::io::Error| format!("{}: {error}", test.display());
        let mut child = command.spawn().map_err(failed)?;
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok(if status.success() {
                    Ended::Passed
                } else {
                    Ended::Failed
                });
            }
            if began.elapsed() > patience {
                child.kill().and_then(|()| child.wait()).map_err(failed)?;
                return Ok(Ended::TimedOut);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The previous results.
    fn done(&self) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(&self.results).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        lines
            .map(|(outcome, name)| (name.to_owned(), outcome.to_owned()))
            .collect()
    }

    fn keep(&self, name: &str, outcome: &str) -> Result<(), String> {
        use std::io::Write as _;
        let mut open = std::fs::OpenOptions::new();
        let file = open.append(true).create(true).open(&self.results);
        let written = file.and_then(|mut file| writeln!(file, "{outcome}\t{name}"));
        written.map_err(|error| format!("{}: {error}", self.results.display()))
    }
}

/// Writes a file unless it already has this text, to avoid rebuilding it.
fn write(path: &Path, text: &str) -> Result<(), String> {
    if std::fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The positions of errors in the compiler's output: `path:line:column: error…`.
fn errors(said: &str) -> Vec<(&str, usize)> {
    let places = said.lines().filter(|line| line.contains(": error"));
    fn place(line: &str) -> Option<(&str, usize)> {
        let mut parts = line.splitn(3, ':');
        Some((parts.next()?, parts.next()?.parse().ok()?))
    }
    places.filter_map(place).collect()
}

/// The mutants of a line; if it has none, those of the nearest line before it that does.
fn blamed(text: &str, line: usize) -> Vec<u32> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    let ids = |line: &&str| -> Vec<u32> {
        let calls = line.split("crate::mutant::is(").skip(1);
        calls
            .filter_map(|rest| rest.split_once(')')?.0.parse().ok())
            .collect()
    };
    lines
        .iter()
        .rev()
        .map(ids)
        .find(|ids| !ids.is_empty())
        .unwrap_or_default()
}

/// The number of mutants per outcome, and the undetected ones.
fn summary(done: &BTreeMap<String, String>, all: usize) -> String {
    let mut text = format!("{} of {all} mutants tried", done.len());
    for outcome in ["caught", "timed out", SUSPECT, "missed"] {
        let count = done.values().filter(|end| *end == outcome).count();
        // Text is never full.
        let _ = write!(text, ", {count} {outcome}");
    }
    for (name, end) in done
        .iter()
        .filter(|(_, end)| ["missed", SUSPECT].contains(&end.as_str()))
    {
        let _ = write!(text, "\n{end}: {name}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_blamed_on_the_mutants_before_them() {
        let said = "src/a.rs:3:9: error[E0308]: mismatched types\nsrc/a.rs:1:1: warning: unused\n";
        assert_eq!(errors(said), [("src/a.rs", 3)]);
        let text = "x\nif crate::mutant::is(7) { a } else if crate::mutant::is(8) { b }\nc\n";
        assert_eq!(blamed(text, 3), [7, 8]);
        assert_eq!(blamed(text, 1), Vec::<u32>::new());
    }

    #[test]
    fn what_was_missed_is_named() {
        let done = [
            ("a.rs:1 x", "missed"),
            ("b.rs:2 y", "caught"),
            ("c.rs:3 z", "timed out"),
        ];
        let done = done
            .map(|(name, end)| (name.to_owned(), end.to_owned()))
            .into();
        let wanted =
            "3 of 9 mutants tried, 1 caught, 1 timed out, 0 suspect, 1 missed\nmissed: a.rs:1 x";
        assert_eq!(summary(&done, 9), wanted);
    }

    #[test]
    fn the_quick_tests_are_those_of_the_module_and_of_the_corpus() {
        let quick = stages(&module("formats/tens/read.rs:7 < as <=: a < b"), true);
        assert_eq!(quick, [(0, "formats::tens".into()), (1, "corpus::".into())]);
        assert_eq!(module("bytes/scan.rs:1 x"), "bytes::scan");
        assert_eq!(stages("wire::zip", false).len(), 5);
    }
}
