//! `show --json` and `convert` over the corpus, against what its makers say about each file.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use serde_json::Value;
use tenfold::formats::ALL;
use tenfold::{DType, F128, Number};

use crate::support::{Ran, corpus, tenfold};

/// The files of a folder of the corpus, each with what is known about it.
fn files(folder: &str) -> Vec<(PathBuf, Value)> {
    let mut files: Vec<(PathBuf, Value)> = fs::read_dir(corpus(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let mut known = path.clone().into_os_string();
            known.push(".json");
            // What lies beside a file has no sibling of its own.
            let known = fs::read_to_string(known).ok()?;
            Some((path, serde_json::from_str(&known).unwrap()))
        })
        .collect();
    files.sort_by(|(left, _), (right, _)| left.cmp(right));
    files
}

/// Runs a command with the flags that a file of the corpus needs.
fn with_flags(words: &[&Path], format: &str, known: &Value) -> Ran {
    let mut words: Vec<PathBuf> = words.iter().map(|word| (*word).into()).collect();
    words.extend(["--format".into(), format.into()]);
    if known["lenient"] == true {
        words.push("--lenient".into());
    }
    for (name, value) in known["options"].as_object().unwrap() {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        words.extend(["--opt".into(), format!("{name}={value}").into()]);
    }
    tenfold(words)
}

#[test]
fn good_files_show_what_their_makers_meant() {
    let mut faults = Vec::new();
    for format in ALL.iter().map(|format| format.info().name) {
        let files = files(&format!("{format}/good"));
        assert!(files.len() >= 3, "{format}");
        for (path, known) in files {
            let words = [Path::new("show"), Path::new("--json"), &path];
            let ran = with_flags(&words, format, &known);
            assert_eq!(ran.exit.code(), 0, "{}: {ran}", path.display());
            let found: Value = serde_json::from_str(&ran.text()).unwrap();
            let differences = differences(&known["show"], &found).into_iter();
            faults.extend(differences.map(|fault| format!("{}: {fault}", path.display())));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn canonical_files_are_rewritten_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let mut n_files = 0;
    for format in ALL.iter().map(|format| format.info().name) {
        let files = files(&format!("{format}/good"));
        for (path, known) in files
            .into_iter()
            .filter(|(_, known)| known["canonical"] == true)
        {
            let out = folder.path().join(path.file_name().unwrap());
            // The newer container of trains is written where it is asked for.
            let is_second = fs::read(&path).unwrap().starts_with(b"BLZ2");
            let to = if is_second { "blz@2" } else { format };
            let flags = [Path::new("--no-sync"), Path::new("--to"), Path::new(to)];
            let words = [[Path::new("convert"), &path, &out], flags].concat();
            let ran = with_flags(&words, format, &known);
            assert_eq!(ran.exit.code(), 0, "{}: {ran}", path.display());
            let beside = known["beside"].as_array().into_iter().flatten();
            let beside = beside.map(|name| name.as_str().unwrap());
            let name = path.file_name().unwrap().to_str().unwrap();
            for name in beside.chain([name]) {
                let (was, is) = (path.with_file_name(name), out.with_file_name(name));
                let is_same = fs::read(&was).unwrap() == fs::read(&is).unwrap();
                assert!(is_same, "{}", was.display());
                fs::remove_file(is).unwrap();
            }
            n_files += 1;
        }
    }
    assert!(n_files >= 3);
}

#[test]
fn bad_files_are_refused_in_one_line() {
    for format in ALL.iter().map(|format| format.info().name) {
        let files = files(&format!("{format}/bad"));
        assert!(files.len() >= 5, "{format}");
        for (path, known) in files {
            let ran = with_flags(&[Path::new("verify"), &path], format, &known);
            assert_eq!(ran.exit.code(), 1, "{}: {ran}", path.display());
            assert!(ran.out.is_empty(), "{}: {ran}", path.display());
            assert_eq!(ran.errors.lines().count(), 1, "{}: {ran}", path.display());
        }
    }
}

#[test]
fn huge_files_are_described_and_verified_without_being_expanded() {
    for format in ALL.iter().map(|format| format.info().name) {
        if !Path::new(&corpus(&format!("{format}/huge"))).exists() {
            continue;
        }
        for (path, known) in files(&format!("{format}/huge")) {
            for command in ["info", "verify"] {
                let ran = with_flags(&[Path::new(command), &path], format, &known);
                assert_eq!(ran.exit.code(), 0, "{}: {ran}", path.display());
            }
        }
    }
}

/// In what the output of `show --json` is not what was meant.
fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut faults: Vec<String> = ["format", "metadata"]
        .into_iter()
        .filter_map(|name| difference(expected, found, name, None))
        .collect();
    if let Some(kinds) = expected["note_kinds"].as_array() {
        let notes = found["notes"].as_array().unwrap();
        let kinds = sorted(kinds.iter());
        let found = sorted(notes.iter().map(|note| &note["kind"]));
        if kinds != found {
            faults.push(format!("the notes are {found:?}, not {kinds:?}"));
        }
    }
    let tensors = |show: &Value| show["tensors"].as_array().unwrap().clone();
    let (expected, found) = (tensors(expected), tensors(found));
    if expected.len() != found.len() {
        faults.push(format!("{} tensors, not {}", found.len(), expected.len()));
        return faults;
    }
    for (expected, found) in expected.iter().zip(&found) {
        let dtype: DType = expected["dtype"].as_str().unwrap().parse().unwrap();
        let names = expected.as_object().unwrap().keys();
        faults
            .extend(names.filter_map(|name| difference(expected, found, name, Some(dtype.number))));
    }
    faults
}

fn sorted<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut texts: Vec<String> = values.map(Value::to_string).collect();
    texts.sort_unstable();
    texts
}

fn difference(
    expected: &Value,
    found: &Value,
    name: &str,
    number: Option<Number>,
) -> Option<String> {
    let expected = in_order(&expected[name]);
    let mut found = in_order(&found[name]);
    if let (Some(meant), Some(shown), "metadata") =
        (expected.as_object(), found.as_object_mut(), name)
    {
        // Makers do not foresee all that a rewrite has to remember.
        shown.retain(|name, _| meant.contains_key(name));
    }
    let is_same = is_same(&expected, &found, number);
    (!is_same).then(|| format!("{name} is {found}, not {expected}"))
}

/// Cells by their address: a file may have them in any order, and the images of packed ones.
fn in_order(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(items) = value.as_array_mut()
        && items.iter().all(|item| item.get("at").is_some())
    {
        items.sort_by_key(|item| item["at"].to_string());
    }
    value
}

/// Whether two JSON values mean the same; numbers are compared in the width they stand for.
fn is_same(expected: &Value, found: &Value, number: Option<Number>) -> bool {
    match (expected, found) {
        (Value::Array(left), Value::Array(right)) => {
            let mut pairs = left.iter().zip(right);
            left.len() == right.len() && pairs.all(|(left, right)| is_same(left, right, number))
        }
        (Value::Object(left), Value::Object(right)) => {
            let mut pairs = left.iter();
            left.len() == right.len()
                && pairs.all(|(name, item)| {
                    right
                        .get(name)
                        .is_some_and(|other| is_same(item, other, number))
                })
        }
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.to_string(), right.to_string());
            left == right || bits(&left, number) == bits(&right, number)
        }
        (Value::String(left), Value::String(right)) if number == Some(Number::F128) => {
            let quad = |text: &str| text.parse::<F128>().ok();
            left == right || quad(left).is_some() && quad(left) == quad(right)
        }
        (left, right) => left == right,
    }
}

/// The bits of a number: metadata holds nothing wider than what its makers' doubles say.
fn bits(text: &str, number: Option<Number>) -> u64 {
    let wide: f64 = text.parse().unwrap();
    match number {
        Some(Number::F16) => f16::from_f64(wide).to_bits().into(),
        Some(Number::Bf16) => bf16::from_f64(wide).to_bits().into(),
        Some(Number::F32) | None => text.parse::<f32>().unwrap().to_bits().into(),
        Some(_) => wide.to_bits(),
    }
}
