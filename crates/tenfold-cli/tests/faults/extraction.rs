//! Names that are made to lead elsewhere, where every tensor becomes a file.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use crate::arena::{Chance, Tree, amount, errors, safetensors, tenfold, tree};
use crate::scene::is_readable;

/// Names that do harm somewhere: to paths, to terminals, to shells, on other systems.
const NAMES: &[&str] = &[
    "",
    ".",
    "..",
    "...",
    "/",
    "//",
    "/etc/passwd",
    "../x",
    "../../x",
    "a/../../x",
    "a/b",
    "a/./b",
    "a//b",
    "a/",
    "/a",
    "./a",
    "~",
    "~/a",
    "a\\b",
    "..\\x",
    "C:\\x",
    "C:x",
    "\\\\server\\x",
    "a\0b",
    "\0",
    "a\nb",
    "\n",
    "a\rb",
    "a\tb",
    "\u{1b}[2J",
    "\u{1b}]0;x\u{7}",
    "a\u{7f}",
    "\u{85}",
    "\u{202e}gnp.x",
    "\u{200b}",
    "\u{feff}a",
    "nul",
    "NUL",
    "con",
    "Con.txt",
    "aux",
    "prn",
    "com1",
    "COM9.x",
    "lpt1",
    "com\u{b9}",
    "conin$",
    "a.",
    "a ",
    " a",
    ".a",
    "-a",
    "--force",
    "a*",
    "a?",
    "a|b",
    "a<b",
    "a>b",
    "a\"b",
    "a'b",
    "a;b",
    "$(x)",
    "`x`",
    "%x%",
    "index",
    "index.json",
    "INDEX",
    "a",
    "A",
    "ä",
    "a\u{308}",
    "Ä",
    "ß",
    "ss",
    "SS",
    "ſ",
    "s",
    "K",
    "\u{212a}",
    "k",
    "ı",
    "i",
    "I",
    "İ",
    "x.tenfold-0",
    ".a.npy.tenfold-0",
    "重み",
    "\u{1f600}",
];

/// A folder with a file of tensors of these names in it, and beside it what must not be touched.
fn set(names: &[String]) -> (TempDir, Tree) {
    let folder = tempfile::tempdir().unwrap();
    let tensors: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), &b"12345678"[..]))
        .collect();
    fs::write(folder.path().join("in.safetensors"), safetensors(&tensors)).unwrap();
    for kept in ["x", "passwd", "a.npy", "index.json"] {
        fs::write(folder.path().join(kept), "kept").unwrap();
    }
    fs::create_dir_all(folder.path().join("deep/out")).unwrap();
    let before = tree(folder.path());
    (folder, before)
}

const WORDS: &[&str] = &[
    "convert",
    "in.safetensors",
    "--out-dir",
    "deep/out",
    "--to",
    "npy",
];

/// Whether a file name is safe wherever it gets to.
fn is_safe(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let is_device = ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(&stem.as_str())
        || ["com", "lpt"].iter().any(|device| {
            stem.strip_prefix(device)
                .is_some_and(|rest| rest.chars().count() == 1 && rest != "0")
        });
    let is_plain = |letter: char| {
        !letter.is_control() && !"/\\:*?\"<>|\u{202e}\u{200b}\u{feff}".contains(letter)
    };
    name.chars().all(is_plain)
        && !name.starts_with(['.', '-', ' ', '~'])
        && !is_device
        && name.len() < 200
}

/// Extracts, and looks at where everything went.
fn extract(names: &[String]) {
    let (folder, before) = set(names);
    let output = tenfold(folder.path(), WORDS).output().unwrap();
    let after = tree(folder.path());
    let new: Vec<&String> = after
        .keys()
        .filter(|name| !before.contains_key(*name))
        .collect();
    for (name, bytes) in &before {
        assert_eq!(after.get(name), Some(bytes), "{name} of {names:?}");
    }
    let said = errors(&output);
    assert!(said.is_empty() || is_readable(&said), "{said:?}");
    assert_eq!(output.status.code(), Some(0), "{names:?}: {said}");
    // One for every tensor and the index, all of them right in the folder.
    assert_eq!(new.len(), names.len() + 1, "{new:?}");
    let mut folded = BTreeSet::new();
    for name in &new {
        assert!(name.starts_with("deep/out/"), "{name} is outside");
        let inside = name.trim_start_matches("deep/out/");
        assert!(is_safe(inside), "{inside:?}");
        assert!(
            folded.insert(inside.to_lowercase()),
            "{inside:?} is like another"
        );
    }
    let index = fs::read(folder.path().join("deep/out/index.json")).unwrap();
    let index: serde_json::Value = serde_json::from_slice(&index).unwrap();
    let listed = index.get("tensors").unwrap().as_array().unwrap();
    let listed: BTreeSet<&str> = listed
        .iter()
        .map(|one| one.get("name").unwrap().as_str().unwrap())
        .collect();
    assert_eq!(listed, names.iter().map(String::as_str).collect());
}

#[test]
fn no_name_of_a_tensor_leads_out_of_the_folder() {
    let all: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    extract(&all);
    for name in NAMES.iter().step_by(amount(7, 1)) {
        extract(&[(*name).to_owned()]);
    }
}

#[test]
fn names_made_of_harmful_pieces_stay_in_the_folder() {
    let pieces = [
        "..", "/", "\\", ".", "\0", "\n", "\u{1b}", "nul", "a", "A", "-", "~", "index", " ", "ſ",
    ];
    let mut chance = Chance::of(5);
    for _ in 0..amount(10, 400) {
        let mut names = BTreeSet::new();
        while names.len() < 40 {
            let mut piece = || pieces[usize::try_from(chance.below(15)).unwrap()];
            names.insert((0..4).map(|_| piece()).collect::<String>());
        }
        extract(&names.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    for force in [false, true] {
        for (link, to) in [
            ("a.npy", "../../x"),
            ("index.json", "../../passwd"),
            ("a.npy", "../../nothing"),
        ] {
            let (folder, before) = set(&["a".to_owned()]);
            symlink(to, folder.path().join("deep/out").join(link)).unwrap();
            let mut command = tenfold(folder.path(), WORDS);
            if force {
                command.arg("--force");
            }
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            assert!(is_readable(&errors(&output)), "{output:?}");
            let mut after = tree(folder.path());
            after.remove(&format!("deep/out/{link}"));
            assert_eq!(after, before, "{link}, {force}");
        }
    }
}

#[test]
fn what_is_there_is_not_written_over_unless_that_is_asked_for() {
    let names = ["a".to_owned(), "b".to_owned()];
    for taken in ["a.npy", "b.npy", "index.json"] {
        let (folder, _) = set(&names);
        let path = folder.path().join("deep/out").join(taken);
        fs::write(&path, "kept").unwrap();
        let before = tree(folder.path());
        let output = tenfold(folder.path(), WORDS).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(tree(folder.path()), before, "{taken}");
        // Nor is a folder of that name taken for a file.
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        for force in [&[][..], &["--force"]] {
            let output = tenfold(folder.path(), WORDS).args(force).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            assert!(path.is_dir());
        }
    }
}

#[test]
fn a_folder_that_is_a_link_is_where_it_leads() {
    let (folder, _) = set(&["a".to_owned()]);
    symlink("out", folder.path().join("deep/link")).unwrap();
    let words = [
        "convert",
        "in.safetensors",
        "--out-dir",
        "deep/link",
        "--to",
        "npy",
    ];
    let output = tenfold(folder.path(), &words).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(folder.path().join("deep/out/a.npy").is_file());
    assert!(Path::new(&folder.path().join("deep/link")).is_symlink());
}
