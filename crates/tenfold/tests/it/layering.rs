//! Which module may use which: the arrows of `docs/architecture.md`.

use std::path::Path;

use crate::support::project;

/// Each module and what it may use of the crate, besides itself.
const ALLOWED: &[(&str, &[&str])] = &[
    ("hint", &[]),
    ("loss", &["key"]),
    ("error", &["hint", "key", "loss"]),
    ("memory", &["error"]),
    ("limits", &["error"]),
    ("units", &[]),
    ("key", &[]),
    ("meta", &[]),
    ("note", &["key"]),
    // One layer in two rooms: copies and hints know byte sequences, and these know where they come from.
    ("io", &["error", "loss", "limits", "memory", "bytes"]),
    ("bytes", &["error", "limits", "memory", "io"]),
    (
        "audit",
        &["error", "limits", "memory", "note", "io", "bytes"],
    ),
    ("dtype", &["error", "limits", "memory", "io", "bytes"]),
    (
        "tensor",
        &[
            "error", "loss", "hint", "limits", "memory", "units", "meta", "note", "io", "bytes",
            "dtype",
        ],
    ),
    (
        "bundle",
        &[
            "audit", "error", "limits", "memory", "key", "meta", "note", "io", "bytes", "tensor",
        ],
    ),
    (
        "format",
        &[
            "error", "loss", "limits", "memory", "key", "meta", "io", "bytes", "dtype", "tensor",
            "bundle",
        ],
    ),
    (
        "wire",
        &["error", "limits", "memory", "meta", "io", "bytes"],
    ),
    ("fuzzing", &["limits", "io", "bytes", "wire"]),
    (
        "formats",
        &[
            "error", "loss", "hint", "limits", "memory", "units", "key", "meta", "note", "io",
            "bytes", "dtype", "tensor", "bundle", "format", "wire",
        ],
    ),
    (
        "compare",
        &[
            "error", "limits", "memory", "key", "io", "bytes", "dtype", "tensor", "bundle",
        ],
    ),
    (
        "convert",
        &[
            "error", "loss", "limits", "memory", "units", "key", "meta", "note", "io", "bytes",
            "dtype", "tensor", "bundle", "format",
        ],
    ),
    (
        "ops",
        &[
            "error", "loss", "limits", "memory", "key", "meta", "note", "io", "bytes", "dtype",
            "tensor", "bundle", "format", "formats", "wire", "read", "Opened",
        ],
    ),
    // Tests alone.
    ("boundaries", &["io", "bytes", "limits", "tensor"]),
];

/// The modules of the crate that a source file uses.
fn used(text: &str) -> Vec<String> {
    let uses = text.split("crate::").skip(1);
    uses.map(|rest| {
        rest.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    })
    .collect()
}

fn walk(path: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            // Doc links and tests may point anywhere.
            let code: Vec<&str> = text
                .lines()
                .take_while(|line| line.trim() != "mod tests {")
                .filter(|line| !line.trim_start().starts_with("//"))
                .collect();
            found.push((path.display().to_string(), code.join("\n")));
        }
    }
}

#[test]
fn modules_use_only_what_stands_below_them() {
    let source = project().join("crates/tenfold/src");
    let mut files = Vec::new();
    walk(&source, &mut files);
    assert!(files.len() > 40, "only {} source files found", files.len());
    for (path, code) in files {
        let inside = path.split("tenfold/src/").last().unwrap();
        let module = inside.split(['/', '.']).next().unwrap();
        if matches!(module, "lib") {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == module) else {
            panic!("{path} belongs to no layer: add it to the list");
        };
        for name in used(&code) {
            assert!(
                name == module || allowed.contains(&name.as_str()),
                "{path} uses crate::{name}"
            );
        }
        for sibling in tenfold::formats::ALL
            .iter()
            .map(|format| format.info().name)
        {
            // The members of an npz are npy files; Vespa's texts have the types of its binary form.
            let is_member = sibling == "npy" && inside.starts_with("formats/npz/")
                || sibling == "vespa" && inside.starts_with("formats/vespa_");
            let is_own = inside.starts_with(&format!("formats/{sibling}/"))
                || inside == "formats/mod.rs"
                || is_member;
            let path_of = format!("formats::{sibling}");
            assert!(
                is_own || !code.contains(&path_of),
                "{path} uses another format, {sibling}"
            );
        }
    }
}
