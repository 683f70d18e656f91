//! `tenfold edit`.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::support::{Ran, corpus, tenfold};

/// A copy of a file of the corpus, to be changed.
fn copy(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let from = PathBuf::from(corpus(name));
    let path = folder.path().join(from.file_name().unwrap());
    fs::copy(&from, &path).unwrap();
    (folder, path)
}

/// Runs `edit` and says `FILE` for where the file is.
fn edit(path: &Path, flags: &[&str]) -> Ran {
    let flags = flags.iter().map(PathBuf::from);
    let mut ran = tenfold(["edit".into(), path.into()].into_iter().chain(flags));
    let name = path.display().to_string();
    ran.out = ran.text().replace(&name, "FILE").into_bytes();
    ran.errors = ran.errors.replace(&name, "FILE");
    ran
}

fn info(path: &Path) -> String {
    let text = tenfold(["info".into(), path.to_owned()]).text();
    text.replace(&path.display().to_string(), "FILE")
}

#[test]
fn names_and_metadata_change_in_place() {
    let (_folder, path) = copy("ztensor/good/tensors_25.zt");
    let flags = [
        "--rename",
        r"s/^t(\d)$/small.\1/",
        "--drop",
        "t1*",
        "--drop",
        "t2?",
        "--set",
        "t3:unit=mV",
        "--set",
        "t3:scale=0.5",
    ];
    assert_snapshot!("changes", edit(&path, &flags));
    assert_snapshot!("changed", info(&path));
    let flags = [
        "--set",
        "small.3:unit=V",
        "--unset",
        "small.3:scale",
        "--json",
    ];
    assert_snapshot!("changes_json", edit(&path, &flags));
}

#[test]
fn nothing_is_written_when_only_asked() {
    let (_folder, path) = copy("ztensor/good/tensors_25.zt");
    let before = fs::read(&path).unwrap();
    assert_snapshot!(edit(&path, &["--drop", "t1", "--dry-run"]));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn statistics_go_alone_or_with_their_owner() {
    let (folder, path) = copy("primitiv/good/model_adam.model");
    let out = folder.path().join("small.model");
    let to = out.to_str().unwrap();
    let ran = edit(&path, &["--strip-state", "-o", to]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert_snapshot!("stripped", info(&out));
    let again = edit(&out, &["--strip-state"]);
    let why = format!("tenfold: {to}: there are no statistics to strip\n");
    assert_eq!(again.errors.replace("FILE", to), why);
    assert_snapshot!(
        "a_path_is_renamed_with_its_statistics",
        edit(&path, &["--drop", "out", "--rename", "s|enc/w|dec/in/v|"])
    );
    assert_snapshot!("renamed", info(&path));
}

#[test]
fn the_values_of_an_optimizer_keep_their_types() {
    let (_folder, path) = copy("primitiv/good/optimizer_adam.optimizer");
    let flags = ["--set", "epoch=7", "--set", "Adam.alpha=0.01"];
    assert_snapshot!("optimizer", edit(&path, &flags));
    let json = tenfold(["show".into(), "--json".into(), path.clone()]).text();
    assert!(json.contains("\"Optimizer.epoch\":7"), "{json}");
    assert!(json.contains("\"Adam.alpha\":0.01"), "{json}");
    assert_snapshot!("unknown", edit(&path, &["--set", "lr=0.01"]));
    assert_snapshot!("no_number", edit(&path, &["--set", "epoch=0.5"]));
    assert_snapshot!("too_large", edit(&path, &["--set", "epoch=4294967296"]));
}

#[test]
fn metadata_of_a_file_is_carried_where_the_format_has_none() {
    let (_folder, path) = copy("ztensor/good/names.zt");
    assert_snapshot!("file_metadata", edit(&path, &["--set", "unit=mV"]));
    let info = info(&path);
    assert!(info.contains("unit: \"mV\""), "{info}");
}

#[test]
fn what_makes_no_sense_is_said_and_changes_nothing() {
    let (_folder, path) = copy("ztensor/good/names.zt");
    let before = fs::read(&path).unwrap();
    for (name, flags) in [
        ("nothing", &[][..]),
        ("no_match", &["--drop", "nothing*"]),
        ("no_rename", &["--rename", "s/nothing/x/"]),
        ("no_rule", &["--rename", "y/a/b/"]),
        ("twins", &["--rename", "s/enc.w/x/"]),
        ("no_such_key", &["--unset", "enc.w:unit"]),
        ("other_format", &["--drop", "enc.w", "-o", "x.npy"]),
        ("to_a_dash", &["--drop", "enc.w", "-o", "-"]),
    ] {
        assert_snapshot!(name, edit(&path, flags));
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_dry_run_refuses_what_the_run_would() {
    let (_folder, path) = copy("fcidump/good/both_orders.fcidump");
    for flags in [&["--dry-run"][..], &[]] {
        let ran = edit(&path, &[&["--unset", "fcidump:NELEC"], flags].concat());
        assert_eq!(ran.exit.code(), 3, "{ran}");
        assert!(ran.errors.contains("no NELEC"), "{ran}");
    }
}

#[test]
fn a_dry_run_refuses_a_destination_that_the_run_would() {
    let (folder, path) = copy("ztensor/good/tensors_25.zt");
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("there.zt"), "").unwrap();
    fs::create_dir(at("folder.zt")).unwrap();
    for out in ["there.zt", "folder.zt", "nowhere/x.zt"] {
        for flags in [&["--dry-run"][..], &[]] {
            let words = ["--set", "a=b", "-o", &at(out)];
            let ran = edit(&path, &[&words, flags].concat());
            assert_eq!(ran.exit.code(), 2, "{ran}");
            assert!(ran.errors.contains(out), "{ran}");
        }
    }
    let ran = edit(&path, &["--set", "a=b", "-o", &at("new.zt"), "--dry-run"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
}

#[test]
fn what_an_edit_loses_is_reported() {
    let (_folder, path) = copy("vespa/good/dense_2d.tbf");
    for flags in [&["--dry-run"][..], &[]] {
        let words = ["--set", "a=b", "--allow", "metadata"];
        let ran = edit(&path, &[&words, flags].concat());
        assert_eq!(ran.exit.code(), 0, "{ran}");
        assert!(
            ran.errors.contains("metadata: file metadata a is dropped"),
            "{ran}"
        );
    }
}

#[test]
fn a_list_stays_a_list() {
    let (_folder, path) = copy("fcidump/good/h2.fcidump");
    let ran = edit(&path, &["--set", "fcidump:ORBSYM=banana"]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
    let why = "FILE: fcidump:ORBSYM: \"banana\" is not a list of whole numbers, such as [1,2]";
    assert!(ran.errors.contains(why), "{ran}");
    let ran = edit(&path, &["--set", "fcidump:ORBSYM=[2,1]"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
}

#[test]
fn a_dry_run_refuses_options_that_the_run_refuses() {
    let (_folder, path) = copy("ztensor/good/tensors_25.zt");
    let before = fs::read(&path).unwrap();
    for option in ["compress=zstd,level=99", "compress=best", "checksum=xxh3"] {
        let flags = ["--drop", "t1", "--opt", option];
        let real = edit(&path, &flags);
        let dry = edit(&path, &[&flags[..], &["-n"]].concat());
        assert_ne!(real.exit.code(), 0, "{real}");
        assert_eq!(dry.to_string(), real.to_string());
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
