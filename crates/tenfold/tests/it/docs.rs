//! What the documents say about the code is true.

use tenfold::Limits;

use crate::support::project;

#[test]
fn security_lists_every_limit_with_its_default() {
    let text = std::fs::read_to_string(project().join("SECURITY.md")).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let expected: Vec<String> = Limits::ALL
        .iter()
        .map(|limit| {
            let default = limit.default_text();
            format!("| `{}` | {default} | {} |", limit.name, limit.about)
        })
        .collect();
    assert_eq!(rows, expected);
}

#[test]
fn every_format_has_the_four_parts_in_its_module_docs() {
    for format in tenfold::formats::named() {
        let name = format.info().name;
        let path = project()
            .join("crates/tenfold/src/formats")
            .join(name.replace('-', "_"))
            .join("mod.rs");
        let text = std::fs::read_to_string(path).unwrap();
        for part in [
            "//! |---",
            "//! # What it holds",
            "//! # Where the spec is silent",
        ] {
            assert!(text.contains(part), "{name} has no {part:?}");
        }
    }
}
