//! Several files that are one: folders, indices, globs, and `--max-size`.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Ran, corpus, tenfold};

fn run(words: &[&str], paths: &[&Path]) -> Ran {
    let words = words.iter().map(PathBuf::from);
    tenfold(
        words
            .chain(paths.iter().map(PathBuf::from))
            .collect::<Vec<_>>(),
    )
}

fn made(words: &[&str], paths: &[&Path]) -> Ran {
    let ran = run(words, paths);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    ran
}

/// A model of several types in one file.
fn model() -> PathBuf {
    corpus("safetensors/good/types_in_order.safetensors").into()
}

/// The same model in shards of 100 bytes of values, with an index, in a folder.
fn sharded(folder: &Path) -> PathBuf {
    let out = folder.join("model.safetensors");
    made(
        &["convert", "--no-sync", "--max-size", "100"],
        &[&model(), &out],
    );
    folder.join("model.safetensors.index.json")
}

#[test]
fn a_model_is_cut_and_put_together_again_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let index = sharded(folder.path());
    let said: Value = serde_json::from_slice(&fs::read(&index).unwrap()).unwrap();
    let map = said["weight_map"].as_object().unwrap();
    assert_eq!(
        (map.len(), &said["metadata"]),
        (44, &json!({ "total_size": 496 }))
    );
    let first = "model-00001-of-00006.safetensors";
    assert_eq!(map["A.U64"], first);
    let glob = folder.path().join("model-*-of-?????.safetensors");
    for set in [folder.path(), &index, &glob] {
        let out = tempfile::tempdir().unwrap();
        let whole = out.path().join("whole.safetensors");
        made(&["convert", "--no-sync"], &[set, &whole]);
        assert_eq!(fs::read(&whole).unwrap(), fs::read(model()).unwrap());
        let zt = out.path().join("whole.zt");
        let flags = ["convert", "--no-sync", "--exclude", "*C64"];
        // Small floats are bytes to version 0.1, and numbers to version 2.
        let ran = run(&flags, &[set, &zt]);
        assert_eq!(ran.exit.code(), 3, "{ran}");
        assert!(ran.errors.contains("--allow opaque"), "{ran}");
        let flags = [&flags[..], &["--allow", "opaque"]].concat();
        made(&flags, &[set, &zt]);
    }
}

#[test]
fn a_set_is_described_shown_verified_and_compared_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let index = sharded(folder.path());
    let ran = made(&["info", "--json"], &[folder.path()]);
    let info: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(info["totals"]["tensors"], 44);
    assert_eq!(info["totals"]["stored_bytes"], 496);
    made(&["verify"], &[&index]);
    made(&["diff"], &[&index, &model()]);
    let mut word = index.clone().into_os_string();
    word.push(":a.U8[0:2]");
    let ran = made(&["show", "--json"], &[Path::new(&word)]);
    let shown: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(shown["tensors"][0]["shape"], json!([2]));
}

/// What is said of an index.
fn refused(index: &Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(model(), folder.path().join("a.safetensors")).unwrap();
    let path = folder.path().join("x.safetensors.index.json");
    fs::write(&path, index.to_string()).unwrap();
    let ran = run(&["verify"], &[&path]);
    assert_eq!(
        (ran.exit.code(), ran.errors.lines().count()),
        (1, 1),
        "{ran}"
    );
    ran.errors
}

#[test]
fn an_index_names_files_beside_it_and_what_is_in_them() {
    for file in [
        "../a.safetensors",
        "/etc/passwd",
        "..",
        "",
        "sub/a.safetensors",
        "a\\b",
    ] {
        let said = refused(&json!({ "weight_map": { "a.U8": file } }));
        assert!(said.contains("not in a file beside the index"), "{said}");
    }
    for index in [json!([]), json!({}), json!({ "weight_map": [] })] {
        let said = refused(&index);
        assert!(said.contains("no weight_map"), "{said}");
    }
    let said = refused(&json!({ "weight_map": { "a.U8": 7 } }));
    assert!(said.contains("not in a file beside the index"), "{said}");
    let said = refused(&json!({ "weight_map": { "w": "a.safetensors" } }));
    assert!(said.contains("the index says that \"w\" is here"), "{said}");
}

#[test]
fn what_an_index_does_not_name_is_left_out_and_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(model(), folder.path().join("a.safetensors")).unwrap();
    let index = folder.path().join("x.index.json");
    fs::write(
        &index,
        json!({ "weight_map": { "a.U8": "a.safetensors" } }).to_string(),
    )
    .unwrap();
    let ran = made(&["info"], &[folder.path()]);
    let note = "note (left-out): tensors that the index does not name: 43";
    assert!(ran.text().contains(note), "{ran}");
}

#[test]
fn a_tensor_of_a_set_is_converted_as_one_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let index = sharded(folder.path());
    let glob = folder.path().join("model-*-of-?????.safetensors");
    let of = |file: &Path, part: &str| {
        let mut word = file.to_path_buf().into_os_string();
        word.push(part);
        PathBuf::from(word)
    };
    let out = tempfile::tempdir().unwrap();
    let (wanted, found) = (out.path().join("wanted.npy"), out.path().join("found.npy"));
    for part in [":a.U8", ":a.U8[0:2]", ":A.I16"] {
        made(
            &["convert", "--no-sync", "--force"],
            &[&of(&model(), part), &wanted],
        );
        for set in [folder.path(), &index, &glob] {
            made(
                &["convert", "--no-sync", "--force"],
                &[&of(set, part), &found],
            );
            assert_eq!(
                fs::read(&found).unwrap(),
                fs::read(&wanted).unwrap(),
                "{part}"
            );
        }
    }
    let ran = run(&["convert"], &[&of(&glob, ":a.U9"), &found]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
    assert!(
        ran.to_string().contains("no tensor is called \"a.U9\""),
        "{ran}"
    );
}

#[test]
fn an_index_that_names_a_pipe_is_refused_and_nobody_waits() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("w.safetensors");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let index = folder.path().join("model.safetensors.index.json");
    fs::write(&index, r#"{"weight_map": {"w": "w.safetensors"}}"#).unwrap();
    let ran = run(&["info"], &[&index]);
    assert!(
        ran.to_string().contains("w.safetensors is no regular file"),
        "{ran}"
    );
}

#[test]
#[cfg(unix)]
fn files_beside_others_are_of_the_same_folder_and_are_not_quoted() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["run", "elsewhere", "cache"] {
        fs::create_dir(at(name)).unwrap();
    }
    let secret = "root:$6$top-secret\n";
    fs::write(at("elsewhere/secret"), secret).unwrap();
    // A description in which another file stands for the numbers.
    let good = corpus("cc4s/good/text_real.yaml");
    fs::copy(&good, at("run/t.yaml")).unwrap();
    fs::write(at("run/t.elements"), secret).unwrap();
    for command in ["verify", "stats"] {
        let ran = run(&[command], &[&at("run/t.yaml")]);
        assert_ne!(ran.exit.code(), 0, "{ran}");
        assert!(ran.to_string().contains("is no number"), "{ran}");
        assert!(!ran.to_string().contains("secret"), "{ran}");
    }
    fs::remove_file(at("run/t.elements")).unwrap();
    symlink(at("elsewhere/secret"), at("run/t.elements")).unwrap();
    let ran = run(&["info"], &[&at("run/t.yaml")]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    let why = "t.elements is a link to a file in another folder";
    assert!(ran.to_string().contains(why), "{ran}");
    // The same of an index, unless all is of links, as in the caches of model hubs.
    let tensors = corpus("safetensors/good/types_in_order.safetensors");
    fs::copy(&tensors, at("elsewhere/blob-1")).unwrap();
    let index = "model.safetensors.index.json";
    let text = r#"{"weight_map": {"A.U64": "w.safetensors"}}"#;
    fs::write(at("run").join(index), text).unwrap();
    symlink(at("elsewhere/blob-1"), at("run/w.safetensors")).unwrap();
    let ran = run(&["info"], &[&at("run").join(index)]);
    let why = "w.safetensors is a link to a file in another folder";
    assert!(ran.to_string().contains(why), "{ran}");
    fs::write(at("elsewhere/blob-2"), text).unwrap();
    symlink(at("elsewhere/blob-1"), at("cache/w.safetensors")).unwrap();
    symlink(at("elsewhere/blob-2"), at("cache").join(index)).unwrap();
    let ran = run(&["info"], &[&at("cache").join(index)]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
}
