//! The same input gives the same bytes: wherever, whenever and by whomever it is written.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::arena::{Tree, amount, corpus, npy, program, tree};

/// What is written: words for `convert`, for every writer and some of its options.
const WRITERS: &[&[&str]] = &[
    &["in.npy", "out.npy"],
    &["in.npy", "out.npy.gz"],
    &["in.npy", "out.npz"],
    &["in.npy", "out.npz", "--opt", "compress=deflate"],
    &["in.npy", "out.safetensors"],
    &["in.npy", "out.zt", "--to", "ztensor"],
    &["in.npy", "out.zt", "--to", "ztensor@2"],
    &["in.npy", "out.tens"],
    &["in.npy", "out.gguf", "--cast", "f32"],
    &["in.npy", "out.mtx"],
    &["in.npy", "out.tns", "--sparse"],
    &["in.npy", "out.yaml", "--to", "cc4s"],
    &["in.npy", "out.bin", "--to", "raw"],
    &["in.npy", "out.vespa", "--to", "vespa", "--allow", "all"],
    &["in.npy", "out.txt", "--to", "vespa-text", "--allow", "all"],
    &[
        "in.npy",
        "out.jsonl",
        "--to",
        "vespa-feed",
        "--allow",
        "all",
    ],
    &[
        "in.npy",
        "out.primitiv",
        "--to",
        "primitiv",
        "--cast",
        "f32",
    ],
    &["train.blz", "out.blz"],
    &["integrals.fcidump", "out.fcidump", "--to", "fcidump"],
    &["several.npz", "out.safetensors", "--max-size", "16"],
    &["several.npz", "--out-dir", "out", "--to", "npy"],
    &["large.npy", "out.safetensors", "--memory", "1MiB"],
    &["large.npy", "out.zt", "--to", "ztensor@2"],
    &["large.npy", "out.npz", "--opt", "compress=deflate"],
];

/// Writes the inputs into a folder.
fn set(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("in.npy"), npy("(3, 4)", false, 12)).unwrap();
    fs::write(folder.join("large.npy"), npy("(700, 600)", true, 420_000)).unwrap();
    let copy = |from: &str, to: &str| {
        fs::copy(corpus().join(from), folder.join(to)).unwrap();
    };
    copy("blz/good/page_example.blz", "train.blz");
    copy("npz/good/several.npz", "several.npz");
    copy("fcidump/good/h2.fcidump", "integrals.fcidump");
}

/// A way of running the program that must make no difference.
struct Way {
    name: &'static str,
    folder: &'static str,
    variables: &'static [(&'static str, &'static str)],
    wrapper: &'static str,
    mask: &'static str,
    pause: Duration,
}

const USUAL: Way = Way {
    name: "the usual way",
    folder: "here",
    variables: &[("LC_ALL", "C"), ("TZ", "UTC")],
    wrapper: "",
    mask: "022",
    pause: Duration::ZERO,
};

const WAYS: &[Way] = &[
    Way {
        name: "in another language and zone",
        variables: &[
            ("LC_ALL", "tr_TR.UTF-8"),
            ("LANG", "de_DE.UTF-8"),
            ("TZ", "Asia/Tokyo"),
        ],
        ..USUAL
    },
    Way {
        name: "on one core",
        wrapper: "taskset -c 0",
        ..USUAL
    },
    Way {
        name: "in a folder of another name",
        folder: "elsewhere/with a longer name",
        ..USUAL
    },
    Way {
        name: "with another umask",
        mask: "077",
        ..USUAL
    },
    Way {
        name: "some seconds later",
        // The clock of zip archives ticks every two seconds.
        pause: Duration::from_millis(2100),
        ..USUAL
    },
    Way {
        name: "by somebody else",
        variables: &[
            ("USER", "nobody"),
            ("HOME", "/nonexistent"),
            ("SOURCE_DATE_EPOCH", "1"),
        ],
        ..USUAL
    },
];

/// What all writers write, by the number of the writer and the name of the file.
fn written(way: &Way) -> Tree {
    let root = tempfile::tempdir().unwrap();
    sleep(way.pause);
    let mut all = Tree::new();
    for (number, words) in WRITERS.iter().enumerate() {
        let folder = root.path().join(way.folder).join(number.to_string());
        set(&folder);
        let before = tree(&folder);
        let script = format!(
            "umask {}; exec {} \"$0\" convert \"$@\"",
            way.mask, way.wrapper
        );
        let output = Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(program())
            .args(*words)
            .envs(way.variables.iter().copied())
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        let new = tree(&folder)
            .into_iter()
            .filter(|(name, _)| !before.contains_key(name));
        all.extend(new.map(|(name, bytes)| (format!("{number} {name}"), bytes)));
    }
    all
}

#[test]
fn the_same_input_gives_the_same_bytes_however_it_is_run() {
    let usual = written(&USUAL);
    assert!(usual.len() >= WRITERS.len());
    for _ in 0..amount(1, 5) {
        for way in WAYS {
            let found = written(way);
            let differs = |name: &&String| found.get(*name) != usual.get(*name);
            let other: Vec<&String> = usual.keys().chain(found.keys()).filter(differs).collect();
            assert!(other.is_empty(), "{}: {other:?}", way.name);
        }
    }
}

#[test]
fn what_is_printed_is_the_same_in_every_language() {
    let folder = tempfile::tempdir().unwrap();
    set(folder.path());
    let run = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = Command::new(program());
        command
            .args(words)
            .envs(variables.iter().copied())
            .current_dir(folder.path());
        command.output().unwrap().stdout
    };
    for words in [
        &["info", "several.npz"][..],
        &["show", "in.npy"],
        &["stats", "in.npy"],
        &["hash", "in.npy"],
    ] {
        let other = run(words, &[("LC_ALL", "de_DE.UTF-8"), ("LANG", "tr_TR.UTF-8")]);
        assert!(run(words, &[("LC_ALL", "C")]) == other, "{words:?}");
    }
}
