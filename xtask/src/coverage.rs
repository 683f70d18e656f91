//! `cargo xtask coverage`: lines and branches of the library and the command that the tests reach.
//! The tests of the Rust crates run once with instrumentation; only the code counts, without the
//! tests in the same files. `--report` prints the last run's table again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::command::{program, root, run};
use crate::tools;

/// Only this compiler counts branches.
const TOOLCHAIN: &str = "+nightly";
/// Required line coverage of the code that reads untrusted bytes, per thousand.
const LEAST: u64 = 950;
/// The code that reads untrusted bytes.
const READERS: [&str; 2] = ["tenfold/formats/", "tenfold/wire/"];
/// These count the system calls of a program, and an instrumented one makes more.
const CALLS_ARE_COUNTED: [&str; 4] = ["--skip", "injected", "--skip", "killed"];

/// Runs the tests, prints the table, and fails if the coverage of the readers is too low.
pub(crate) fn measure() -> Result<(), String> {
    if let Err(why) = llvm_tools() {
        println!("SKIPPED: coverage: {why}");
        return Ok(());
    }
    let path = tools::path_with("cargo-llvm-cov")?;
    let mut clean = program("cargo", &[TOOLCHAIN, "llvm-cov", "clean", "--workspace"]);
    clean.arg("--profraw-only").env("PATH", &path);
    run(clean)?;
    let mut test = program("cargo", &[TOOLCHAIN, "llvm-cov", "test", "--branch"]);
    test.args(["--no-report", "--ignore-run-fail", "--workspace", "--"]);
    test.args(CALLS_ARE_COUNTED).env("PATH", &path);
    // The tests start the command thousands of times: all processes share a few profile files.
    test.env("LLVM_PROFILE_FILE_NAME", "tenfold-%4m.profraw");
    run(test)?;
    report()
}

/// Prints the table of the last run.
pub(crate) fn report() -> Result<(), String> {
    let path = tools::path_with("cargo-llvm-cov")?;
    let lcov = root().join("target/coverage.lcov");
    let mut report = program("cargo", &[TOOLCHAIN, "llvm-cov", "report", "--branch"]);
    report.args(["--lcov", "--output-path"]).arg(&lcov);
    report.env("PATH", path);
    run(report)?;
    let text = std::fs::read_to_string(&lcov).map_err(|error| error.to_string())?;
    let files = read(&text, &|path| std::fs::read_to_string(path).ok());
    println!("{}", table(&files));
    let unreached = root().join("target/coverage.unreached");
    std::fs::write(&unreached, missing(&files)).map_err(|error| error.to_string())?;
    println!("\nwhat is not reached: {}", unreached.display());
    let readers = files.iter().filter(|(path, _)| is_reader(path));
    let total: Count = readers.map(|(_, file)| file.lines()).sum();
    match total.per_mille() {
        reached if reached < LEAST => Err(format!(
            "{} of the lines of the readers are reached, 95 % are wanted",
            total.percent()
        )),
        _ => Ok(()),
    }
}

fn llvm_tools() -> Result<(), String> {
    let mut rustc = program("rustc", &[TOOLCHAIN, "--print", "sysroot"]);
    let said = rustc.stderr(Stdio::null()).output();
    let said = said
        .ok()
        .filter(|said| said.status.success())
        .ok_or("there is no nightly compiler")?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
    let targets = std::fs::read_dir(sysroot.join("lib/rustlib")).into_iter();
    let has_it = targets
        .flatten()
        .flatten()
        .any(|target| target.path().join("bin/llvm-profdata").is_file());
    let add = "`rustup component add llvm-tools --toolchain nightly` has to be run first";
    has_it.then_some(()).ok_or_else(|| add.into())
}

/// The total, and the number reached.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Count {
    all: u64,
    reached: u64,
}

impl Count {
    fn of<'a>(times: impl Iterator<Item = &'a u64>) -> Count {
        times.fold(Count::default(), |count, times| Count {
            all: count.all.saturating_add(1),
            reached: count.reached.saturating_add(u64::from(*times > 0)),
        })
    }

    fn per_mille(self) -> u64 {
        self.reached.saturating_mul(1000) / self.all.max(1)
    }

    fn percent(self) -> String {
        match self.all {
            0 => "–".into(),
            _ => format!("{}.{} %", self.per_mille() / 10, self.per_mille() % 10),
        }
    }
}

impl std::iter::Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::default(), |sum, count| Count {
            all: sum.all.saturating_add(count.all),
            reached: sum.reached.saturating_add(count.reached),
        })
    }
}

/// A source file: the count of each line, and of each branch by its line and numbers there.
#[derive(Debug, Default, PartialEq)]
struct File {
    lines: BTreeMap<u64, u64>,
    branches: BTreeMap<(u64, String), u64>,
}

impl File {
    fn lines(&self) -> Count {
        Count::of(self.lines.values())
    }

    fn branches(&self) -> Count {
        Count::of(self.branches.values())
    }

    /// Lines that were not reached, adjacent ones joined.
    fn unreached(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let mut before = true;
        for (line, times) in &self.lines {
            match ranges.last_mut() {
                Some(range) if *times == 0 && !before => range.1 = *line,
                _ if *times == 0 => ranges.push((*line, *line)),
                _ => {}
            }
            before = *times > 0;
        }
        ranges
    }
}

/// The files of the crates from an LCOV report, by paths such as `tenfold/wire/zip/read.rs`.
fn read(lcov: &str, source: &dyn Fn(&Path) -> Option<String>) -> BTreeMap<String, File> {
    let mut files = BTreeMap::new();
    for record in lcov.split("end_of_record") {
        let mut lines = record.lines().filter_map(|line| line.split_once(':'));
        let Some((_, path)) = lines.find(|(word, _)| *word == "SF") else {
            continue;
        };
        let crates = root().join("crates");
        let inner = Path::new(path).strip_prefix(crates).ok();
        let Some((name, file)) = inner
            .and_then(Path::to_str)
            .and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if file.ends_with("tests.rs") || file.contains("/tests/") {
            continue;
        }
        let others = source(Path::new(path)).map_or(Vec::new(), |text| other_lines(&text));
        let is_code = |line: u64| !others.iter().any(|range| range.contains(&line));
        let mut counted = File::default();
        for (word, rest) in lines {
            let Some((line, times)) = rest.split_once(',') else {
                continue;
            };
            let Some(line) = line.parse().ok().filter(|line| is_code(*line)) else {
                continue;
            };
            match word {
                "DA" => add(&mut counted.lines, line, times),
                "BRDA" => {
                    let (branch, times) = times.rsplit_once(',').unwrap_or(("", times));
                    add(&mut counted.branches, (line, branch.to_owned()), times);
                }
                _ => {}
            }
        }
        files.insert(format!("{name}/{file}"), counted);
    }
    files
}

/// Adds to a count; `-` stands for a branch that was never evaluated.
fn add<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K, times: &str) {
    let sum = counts.entry(key).or_default();
    *sum = sum.saturating_add(times.parse().unwrap_or(0));
}

/// Lines that no test can reach: the tests themselves, from `#[cfg(test)]` at the margin to the end
/// of the item it belongs to, and constant functions, which the compiler evaluates.
fn other_lines(text: &str) -> Vec<std::ops::RangeInclusive<u64>> {
    let mut found = Vec::new();
    let mut open: Option<(u64, String)> = None;
    for (line, number) in text.lines().zip(1..) {
        match &open {
            None if line == "#[cfg(test)]" => open = Some((number, "}".into())),
            None if is_constant(line) => {
                let margin = line.chars().take_while(|letter| *letter == ' ');
                open = Some((number, margin.chain(['}']).collect()));
            }
            Some((from, end))
                if line == end || (line.starts_with("mod ") && line.ends_with(';')) =>
            {
                found.push(*from..=number);
                open = None;
            }
            _ => {}
        }
    }
    found
}

/// Whether a constant function of several lines begins here.
fn is_constant(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_visible = |word: &&str| word.starts_with("pub");
    let first = words
        .next()
        .filter(|word| !is_visible(word))
        .or_else(|| words.next());
    first == Some("const") && words.next() == Some("fn") && !line.ends_with('}')
}

fn is_reader(path: &str) -> bool {
    READERS.iter().any(|folder| path.starts_with(folder))
}

/// The row of the table for a file: a format, or a folder of a crate.
fn area(path: &str) -> String {
    let depth = if is_reader(path) { 3 } else { 2 };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.split('/').take(depth).collect::<Vec<_>>().join("/")
}

fn table(files: &BTreeMap<String, File>) -> String {
    let mut areas: BTreeMap<String, (Count, Count)> = BTreeMap::new();
    let mut count = |area: String, file: &File| {
        let (lines, branches) = areas.entry(area).or_default();
        *lines = [*lines, file.lines()].into_iter().sum();
        *branches = [*branches, file.branches()].into_iter().sum();
    };
    for (path, file) in files {
        count(area(path), file);
        if is_reader(path) {
            count("**all readers**".into(), file);
        }
        count("**everything**".into(), file);
    }
    let mut text =
        "| code | lines | reached | branches | reached |\n|---|---:|---:|---:|---:|".to_owned();
    for (area, (lines, branches)) in &areas {
        let (l, b) = (lines.percent(), branches.percent());
        // Text is never full.
        let _ = write!(
            text,
            "\n| {area} | {} | {l} | {} | {b} |",
            lines.all, branches.all
        );
    }
    text
}

/// The lines that were not reached, file by file.
fn missing(files: &BTreeMap<String, File>) -> String {
    let mut text = String::new();
    for (path, file) in files {
        let ranges = file.unreached();
        if !ranges.is_empty() {
            let of = file.lines();
            let ranges = ranges.iter().map(|(from, to)| {
                if from == to {
                    from.to_string()
                } else {
                    format!("{from}-{to}")
                }
            });
            let ranges = ranges.collect::<Vec<_>>().join(" ");
            let _ = writeln!(text, "{path} {}/{}: {ranges}", of.all - of.reached, of.all);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_counted_and_the_tests_beside_it_are_not() {
        let source = "const fn x() {\n    1\n}\nfn a() {\n    b();\n    c();\n}\n\n#[cfg(test)]\nmod tests {\n    fn d() {}\n}\n";
        let path = root().join("crates/tenfold/src/wire/x.rs");
        let lcov = format!(
            "SF:{}\nDA:1,0\nDA:2,0\nDA:4,5\nDA:5,0\nDA:6,0\nDA:7,5\nDA:11,1\nBRDA:5,0,0,3\nBRDA:5,0,1,-\nend_of_record\n\
            SF:/elsewhere/src/y.rs\nDA:1,1\nend_of_record\n",
            path.display()
        );
        let files = read(&lcov, &|_| Some(source.into()));
        let file = &files["tenfold/wire/x.rs"];
        assert_eq!(files.len(), 1);
        assert_eq!(file.lines(), Count { all: 4, reached: 2 });
        assert_eq!(file.branches(), Count { all: 2, reached: 1 });
        assert_eq!(file.unreached(), [(5, 6)]);
        assert_eq!(missing(&files), "tenfold/wire/x.rs 2/4: 5-6\n");
        assert!(table(&files).contains("| tenfold/wire | 4 | 50.0 % | 2 | 50.0 % |"));
    }

    #[test]
    fn constant_functions_are_known_by_their_words() {
        for line in [
            "const fn a() -> u8 {",
            "    pub(super) const fn a(",
            "pub const fn a() {",
        ] {
            assert!(is_constant(line), "{line}");
        }
        for line in [
            "const fn a() -> u8 { 1 }",
            "fn a() {",
            "const A: u8 = {",
            "pub fn a() {",
        ] {
            assert!(!is_constant(line), "{line}");
        }
    }

    #[test]
    fn lines_apart_are_ranges_of_their_own() {
        let lines = [(1, 0), (2, 1), (3, 0), (7, 0)].into();
        let file = File {
            lines,
            ..File::default()
        };
        assert_eq!(file.unreached(), [(1, 1), (3, 7)]);
    }

    #[test]
    fn formats_have_rows_of_their_own() {
        assert_eq!(area("tenfold/formats/npy/read.rs"), "tenfold/formats/npy");
        assert_eq!(area("tenfold/wire/zip/read.rs"), "tenfold/wire/zip");
        assert_eq!(area("tenfold/bytes/records/x.rs"), "tenfold/bytes");
        assert_eq!(area("tenfold-cli/main.rs"), "tenfold-cli");
    }
}
