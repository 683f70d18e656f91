//! The examples of the help and of the documentation: each is run as it stands, those of the help and those
//! of a page one after the other, in a folder that the demo has made.
#![expect(clippy::unwrap_used, reason = "helpers of tests use it")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::tenfold;

/// Examples that are not run, by how they begin, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("tenfold view ", "serves a page until it is interrupted"),
    ("tenfold completions ", "writes below the home folder"),
    (
        "tenfold man",
        "needs a pager, or writes below the home folder",
    ),
    ("tenfold demo", "makes the folder in which all others run"),
];

/// Examples of which the answer is no, or a refusal: the exit code of each.
const OTHER_EXITS: &[(&str, i32)] = &[
    ("tenfold convert catalogue.tbf catalogue.npy", 3),
    ("tenfold diff weights.zt weights-next.zt", 1),
    (
        "tenfold diff model.model weights.zt --map 'encoder/*=encoder.*' --only 'encoder.*' --top 5",
        1,
    ),
    ("tenfold stats --fail-on nan,inf *.zt", 1),
    ("tenfold stats weights-next.zt --fail-on nan", 1),
];

/// The commands, and those below them.
const COMMANDS: &[&str] = &[
    "info",
    "verify",
    "show",
    "convert",
    "compress",
    "reconstruct",
    "tt",
    "tt info",
    "tt round",
    "tt add",
    "tt sub",
    "tt distance",
    "tt dot",
    "tt norm",
    "stats",
    "hash",
    "diff",
    "edit",
    "view",
    "plot",
    "demo",
    "completions",
    "man",
    "formats",
];

/// Examples that follow each other, and where they stand.
struct Block {
    /// What a reader tries from one end to the other, in one folder: the help, or a page.
    source: String,
    place: String,
    lines: Vec<String>,
}

#[test]
fn every_example_does_what_it_says() {
    let demo = tempfile::tempdir().unwrap();
    let made = demo.path().join("demo");
    let ran = tenfold(["demo".into(), made.clone()]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let blocks: Vec<Block> = in_help().into_iter().chain(in_documents()).collect();
    let mut used: HashSet<&str> = HashSet::new();
    let mut faults = Vec::new();
    let mut folder = tempfile::tempdir().unwrap();
    let mut source = "";
    for block in &blocks {
        if source != block.source {
            folder = tempfile::tempdir().unwrap();
            copy(&made, folder.path());
            source = &block.source;
        }
        for line in &block.lines {
            if let Some((begin, _)) = NOT_RUN.iter().find(|(begin, _)| line.starts_with(begin)) {
                used.insert(begin);
                continue;
            }
            let known = OTHER_EXITS.iter().find(|(known, _)| line == known);
            used.extend(known.map(|(known, _)| known));
            let wanted = known.map_or(0, |(_, code)| *code);
            let output = run(line, folder.path());
            if output.status.code() != Some(wanted) {
                let errors = String::from_utf8_lossy(&output.stderr);
                faults.push(format!(
                    "{}: {line}\n{}\n{errors}",
                    block.place, output.status
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let listed = NOT_RUN.iter().map(|(begin, _)| *begin);
    let listed = listed.chain(OTHER_EXITS.iter().map(|(line, _)| *line));
    let idle: Vec<&str> = listed.filter(|line| !used.contains(line)).collect();
    assert!(idle.is_empty(), "no example is like {idle:?}");
    let count: usize = blocks.iter().map(|block| block.lines.len()).sum();
    assert!(count > 100, "{count} examples were found");
}

/// Runs a line in a shell, where `tenfold` is the program under test.
fn run(line: &str, folder: &Path) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("tenfold() {{ \"$TENFOLD\" \"$@\"; }}; {line}"))
        .env("TENFOLD", env!("CARGO_BIN_EXE_tenfold"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// The examples at the end of every help text.
fn in_help() -> Vec<Block> {
    let block = |command: &&str| {
        let words = command.split(' ').chain(["--help"]);
        let help = tenfold(words).text();
        let (_, examples) = help.split_once("Example:\n").unwrap_or_default();
        let lines = examples.lines().map(str::trim);
        let lines: Vec<String> = lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        assert!(!lines.is_empty(), "{command} has no example");
        // A line that is too long for the help would be wrapped.
        let is_whole = |line: &String| line.starts_with("tenfold ");
        assert!(lines.iter().all(is_whole), "{command}: {lines:?}");
        Block {
            source: "the help".into(),
            place: format!("tenfold {command} --help"),
            lines,
        }
    };
    COMMANDS.iter().map(block).collect()
}

/// The examples of the README and of all pages.
fn in_documents() -> Vec<Block> {
    let root = Path::new("../..");
    let pages = fs::read_dir(root.join("docs")).unwrap();
    let mut pages: Vec<_> = pages.map(|page| page.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages.push(root.join("README.md"));
    pages.sort();
    pages.iter().flat_map(|page| in_document(page)).collect()
}

fn in_document(page: &Path) -> Vec<Block> {
    let text = fs::read_to_string(page).unwrap().replace("\\\n", " ");
    let (mut blocks, mut is_fenced) = (Vec::new(), false);
    let mut lines: Vec<String> = Vec::new();
    for (number, line) in (1..).zip(text.lines().chain([""])) {
        is_fenced ^= line.trim_start().starts_with("```");
        match example(line, is_fenced) {
            Some(example) => lines.push(example.to_owned()),
            None if lines.is_empty() => {}
            None => blocks.push(Block {
                source: page.display().to_string(),
                place: format!("{}:{number}", page.display()),
                lines: std::mem::take(&mut lines),
            }),
        }
    }
    blocks
}

/// The command of a line of code, or of the first column of a table.
fn example(line: &str, is_fenced: bool) -> Option<&str> {
    if let Some(cell) = line.strip_prefix("| `") {
        let (code, _) = cell.split_once("` |")?;
        return Some(code).filter(|code| code.starts_with("tenfold "));
    }
    let code = if is_fenced {
        line
    } else {
        line.strip_prefix("    ")?
    };
    let code = code.strip_prefix("$ ").unwrap_or(code);
    code.starts_with("tenfold ").then_some(code)
}
