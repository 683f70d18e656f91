//! All `unsafe` code of the project is in the table of SECURITY.md.

use std::path::Path;

use crate::support::project;

/// How often a source file says `unsafe`, in code.
fn unsafes(text: &str) -> usize {
    let code = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    // What stands in quotes is words.
    code.flat_map(|line| line.split('"').step_by(2))
        .flat_map(|code| code.split(move |letter| !is_word(letter)))
        .filter(|word| *word == "unsafe")
        .count()
}

fn found(folder: &Path, rows: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !["target", "node_modules"].contains(&name) && !name.starts_with('.') {
            found(&path, rows);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let count = unsafes(&std::fs::read_to_string(&path).unwrap());
            let path = path.strip_prefix(project()).unwrap();
            if count > 0 {
                rows.push(format!("| {count} | `{}` |", path.display()));
            }
        }
    }
}

#[test]
fn security_lists_all_unsafe_code() {
    let text = std::fs::read_to_string(project().join("SECURITY.md")).unwrap();
    let table = text.split("\n## Unsafe code\n").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let listed = table.lines().filter(|line| line.contains(".rs`"));
    let mut listed: Vec<String> = listed
        .map(|line| {
            let cells: Vec<&str> = line.splitn(4, '|').collect();
            format!("|{}|{}|", cells[1], cells[2])
        })
        .collect();
    listed.sort();
    let mut rows = Vec::new();
    found(&project(), &mut rows);
    rows.sort();
    assert_eq!(rows, listed);
}

#[test]
fn words_and_comments_are_no_unsafe_code() {
    assert_eq!(unsafes("unsafe { f() } // unsafe\n"), 1);
    assert_eq!(unsafes("#![forbid(unsafe_code)]\n"), 0);
    assert_eq!(unsafes(&format!("{0}unsafe{0}", '"')), 0);
    assert_eq!(unsafes("unsafe impl Send for X {}\nunsafe fn f() {}"), 2);
}
