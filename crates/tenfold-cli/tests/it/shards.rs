//! Numbered sets, and folders of files that were written by `--out-dir`.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Ran, corpus, shown, tenfold};

fn run(words: &[&str], paths: &[&Path]) -> Ran {
    let words = words.iter().map(PathBuf::from);
    let paths = paths.iter().map(PathBuf::from);
    tenfold(words.chain(paths).collect::<Vec<_>>())
}

fn made(words: &[&str], paths: &[&Path]) -> Ran {
    let ran = run(words, paths);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    ran
}

/// A GGUF model of three tensors with metadata, whole and in three files.
fn model() -> (TempDir, PathBuf, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.gguf");
    let set = [
        "edit",
        "--set",
        "general.architecture=llama",
        "--set",
        "llama.block_count=3",
        "--output",
    ];
    let several = PathBuf::from(corpus("gguf/good/several.gguf"));
    made(&set, &[&whole, &several]);
    let out = folder.path().join("m.gguf");
    made(
        &["convert", "--no-sync", "--max-size", "10"],
        &[&whole, &out],
    );
    let files = (1..=3).map(|number| folder.path().join(format!("m-0000{number}-of-00003.gguf")));
    let files = files.collect();
    (folder, whole, files)
}

fn info(words: &[&str], paths: &[&Path]) -> Value {
    let ran = made(&[&["info", "--json"], words].concat(), paths);
    serde_json::from_str(&ran.text()).unwrap()
}

#[test]
fn shards_are_numbered_as_llama_cpp_does() {
    let (_folder, _, files) = model();
    for (number, file) in files.iter().enumerate() {
        let info = info(&["--alone"], &[file]);
        let meta = &info["metadata"];
        assert_eq!(meta["split.no"], number);
        assert_eq!(meta["split.count"], 3);
        assert_eq!(meta["split.tensors.count"], 3);
        let types = &meta["gguf:types"];
        assert_eq!(types["split.no"], "u16");
        assert_eq!(types["split.count"], "u16");
        assert_eq!(types["split.tensors.count"], "i32");
        // Everything else stands in the first.
        let architecture = json!("llama");
        let expected = if number == 0 {
            &architecture
        } else {
            &Value::Null
        };
        assert_eq!(
            meta.get("general.architecture").unwrap_or(&Value::Null),
            expected
        );
    }
}

#[test]
fn any_shard_the_folder_and_a_glob_open_the_whole_set() {
    let (folder, whole, files) = model();
    let other = tempfile::tempdir().unwrap();
    let moved = other.path().join("whole.gguf");
    fs::rename(&whole, &moved).unwrap();
    let glob = folder.path().join("m-*.gguf");
    let mut words: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    words.extend([folder.path(), &glob]);
    for word in words {
        let info = info(&[], &[word]);
        assert_eq!(info["totals"]["tensors"], 3, "{word:?}");
        assert_eq!(info["metadata"]["llama.block_count"], 3);
        assert_eq!(info["metadata"].get("split.count"), None);
        made(&["diff", "--meta"], &[word, &moved]);
        let joined = other.path().join("joined.gguf");
        made(&["convert", "--no-sync", "--force"], &[word, &joined]);
        assert_eq!(fs::read(&joined).unwrap(), fs::read(&moved).unwrap());
    }
    // As a shell expands a glob: one set, once.
    let words: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let ran = made(&["info"], &words);
    assert_eq!(ran.text().matches("gguf, ").count(), 1, "{ran}");
    let joined = other.path().join("joined.zt");
    let words = [&words[..], &[&joined]].concat();
    made(&["convert", "--no-sync", "--to", "ztensor@2"], &words);
}

#[test]
fn a_set_that_lacks_files_opens_with_a_note_and_is_not_converted() {
    let (folder, _, files) = model();
    fs::remove_file(&files[1]).unwrap();
    let note = "1 of 3 files of the set are missing: m-00002-of-00003.gguf";
    for command in ["info", "show"] {
        let ran = made(&[command], &[&files[2]]);
        assert!(ran.to_string().contains(note), "{ran}");
    }
    let ran = run(&["verify"], &[&files[0]]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    assert!(ran.errors.contains(note), "{ran}");
    let ran = run(&["verify", "--json"], &[&files[0]]);
    let verdict: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(
        (&verdict["ok"], &verdict["error"]["kind"]),
        (&json!(false), &json!("incomplete"))
    );
    let out = folder.path().join("out.gguf");
    let ran = run(&["convert", "--no-sync"], &[&files[0], &out]);
    assert_eq!(ran.exit.code(), 3, "{ran}");
    assert!(ran.errors.contains("--alone"), "{ran}");
    made(&["convert", "--no-sync", "--alone"], &[&files[0], &out]);
    made(&["verify", "--alone"], &[&files[0]]);
    let ran = run(&["stats", "--fail-on", "nan"], &[&files[0]]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    assert!(
        ran.text().contains("files of the set missing; no NaN"),
        "{ran}"
    );
    made(
        &["stats", "--fail-on", "nan", "--skip-unreadable"],
        &[&files[0]],
    );
}

#[test]
fn the_files_of_integrals_and_of_raw_numbers_are_read_back_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let molecule = PathBuf::from(corpus("fcidump/good/h2.fcidump"));
    made(
        &["convert", "--no-sync", "--to", "fcidump", "--out-dir"],
        &[&at("parts"), &molecule],
    );
    made(&["diff"], &[&molecule, &at("parts")]);
    made(
        &["convert", "--no-sync"],
        &[&at("parts"), &at("again.fcidump")],
    );
    made(&["diff"], &[&molecule, &at("again.fcidump")]);
    // A vector that was cut short is not what the index says.
    fs::write(at("v.raw"), [0; 16]).unwrap();
    let as_singles = ["convert", "--no-sync", "--raw", "dtype=f32"];
    made(&as_singles, &[&at("v.raw"), &at("v.zt")]);
    made(
        &["convert", "--no-sync", "--to", "raw", "--out-dir"],
        &[&at("raw"), &at("v.zt")],
    );
    made(&["diff"], &[&at("v.zt"), &at("raw")]);
    let stored = fs::read_dir(at("raw"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let stored = { stored }.find(|path| path.extension().is_some_and(|end| end == "raw"));
    fs::write(stored.unwrap(), [0; 8]).unwrap();
    let ran = run(&["verify"], &[&at("raw")]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
}

#[test]
fn files_of_a_folder_that_are_left_out_are_reported_and_named_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("run")).unwrap();
    fs::copy(
        corpus("safetensors/good/types_in_order.safetensors"),
        at("run/a.safetensors"),
    )
    .unwrap();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n";
    fs::write(at("run/lfs.safetensors"), pointer).unwrap();
    let page = "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n";
    fs::write(at("run/page.safetensors"), page).unwrap();
    let ran = run(&["convert", "--no-sync"], &[&at("run"), &at("out.zt")]);
    for said in [
        "lfs.safetensors: a pointer of Git LFS",
        "page.safetensors: ",
    ] {
        assert!(ran.errors.contains(said), "{ran}");
    }
    let ran = run(&["info"], &[&at("run/page.safetensors")]);
    assert!(ran.errors.contains("HTML"), "{ran}");
}

#[test]
fn a_set_that_is_not_as_it_says_is_malformed() {
    let (folder, _, files) = model();
    for (setting, why) in [
        ("split.no=2", "file 3 of 3"),
        ("split.count=4", "file 2 of 4, and is called file 2 of 3"),
    ] {
        let kept = fs::read(&files[1]).unwrap();
        made(&["edit", "--set", setting], &[&files[1]]);
        let ran = run(&["info"], &[&files[0]]);
        assert_eq!(ran.exit.code(), 1, "{ran}");
        assert!(ran.errors.contains(why), "{ran}");
        assert!(ran.errors.contains("m-00002-of-00003.gguf"), "{ran}");
        fs::write(&files[1], kept).unwrap();
    }
    made(&["edit", "--set", "split.tensors.count=4"], &[&files[0]]);
    let ran = run(&["verify"], &[&files[0]]);
    assert!(ran.errors.contains("has 3"), "{}", shown(&folder, &ran));
    assert_eq!(ran.exit.code(), 1, "{ran}");
}

#[test]
fn a_file_that_names_itself_one_of_three_is_no_whole_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x-00001-of-00003.safetensors");
    fs::copy(corpus("safetensors/good/types_in_order.safetensors"), &path).unwrap();
    let ran = run(&["verify"], &[&path]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    assert!(
        ran.errors.contains("2 of 3 files of the set are missing"),
        "{ran}"
    );
    made(&["verify", "--alone"], &[&path]);
}

#[test]
fn a_folder_of_single_tensors_is_read_back_under_the_true_names() {
    let folder = tempfile::tempdir().unwrap();
    let model = two_matrices(folder.path());
    let mut n_targets = 0;
    for format in tenfold::formats::named() {
        let info = format.info();
        if !info.is_written() || ["blz", "fcidump", "primitiv"].contains(&info.name) {
            continue;
        }
        let out = folder.path().join(format!("out-{}", info.name));
        let allow = [
            "--allow",
            "all",
            "--no-sync",
            "--to",
            info.name,
            "--out-dir",
        ];
        let ran = run(&[&["convert"], &allow[..]].concat(), &[&out, &model]);
        if ran.exit.code() == 3 {
            // Sparse formats hold no dense tensors.
            assert!(["mtx", "tns"].contains(&info.name), "{ran}");
            let allow = [&["--sparse"], &allow[..]].concat();
            made(&[&["convert"], &allow[..]].concat(), &[&out, &model]);
        }
        if info.name == "vespa-feed" {
            // Rows of documents have ids for positions; the names are the true ones.
            let names = made(&["info"], &[&out]).text();
            assert!(
                names.contains("enc..layer:0 w") && names.contains("B"),
                "{names}"
            );
        } else {
            let ran = run(&["diff", "--ignore-dtype"], &[&model, &out]);
            assert_eq!(ran.exit.code(), 0, "{}: {ran}", info.name);
        }
        let index = out.join("index.json");
        made(&["diff", "--ignore-dtype"], &[&index, &out]);
        n_targets += 1;
    }
    assert!(n_targets >= 9, "{n_targets}");
}

/// A file of two matrices, one of which has a name that no file could have.
fn two_matrices(folder: &Path) -> PathBuf {
    let path = folder.join("two.zt");
    let (a, b) = (folder.join("a.npy"), folder.join("b.npy"));
    let raw = folder.join("matrix.raw");
    let numbers = [1.5_f32, -2.0, 3.25, 0.5, 7.0, -0.125];
    fs::write(&raw, numbers.map(f32::to_le_bytes).concat()).unwrap();
    for file in [&a, &b] {
        made(
            &["convert", "--no-sync", "--raw", "dtype=f32,shape=2x3"],
            &[&raw, file],
        );
    }
    let names = ["--rename", "s/^a$/enc..layer:0 w/", "--rename", "s/^b$/B/"];
    let convert = [&["convert", "--no-sync"], &names[..]].concat();
    made(&convert, &[&a, &b, &path]);
    path
}

#[test]
fn files_of_two_sets_are_never_joined() {
    let (folder, whole, files) = model();
    let others: Vec<PathBuf> = { files.iter() }
        .map(|file| {
            let name = file.file_name().unwrap().to_str().unwrap();
            let other = file.with_file_name(name.replace("m-", "n-"));
            fs::copy(file, &other).unwrap();
            other
        })
        .collect();
    let glob = folder.path().join("*.gguf");
    let out = folder.path().join("out.gguf");
    for word in [folder.path(), &glob] {
        let ran = made(&["info"], &[word]);
        assert_eq!(ran.text().matches("3 tensors").count(), 3, "{ran}");
        made(&["verify"], &[word]);
        let ran = run(&["convert", "--no-sync"], &[word, &out]);
        assert_eq!(ran.exit.code(), 2, "{ran}");
        assert!(ran.errors.contains("m-00001-of-00003.gguf"), "{ran}");
        assert!(ran.errors.contains("n-00001-of-00003.gguf"), "{ran}");
    }
    fs::remove_file(&whole).unwrap();
    made(&["convert", "--no-sync"], &[&others[1], &out]);
    assert_eq!(info(&[], &[&out])["totals"]["tensors"], 3);
}

#[test]
fn a_file_that_is_taken_out_of_its_set_says_no_more_that_it_is_of_one() {
    let (folder, whole, files) = model();
    fs::remove_file(&whole).unwrap();
    let out = folder.path().join("out/x.gguf");
    fs::create_dir(out.parent().unwrap()).unwrap();
    let ran = made(&["convert", "--no-sync", "--alone"], &[&files[1], &out]);
    assert!(
        ran.errors.contains("that it is file 2 of 3 is dropped"),
        "{ran}"
    );
    assert_eq!(info(&[], &[&out])["metadata"].get("split.count"), None);
    made(&["verify"], &[&out]);
    // The advice holds for a folder, too.
    fs::remove_file(&files[2]).unwrap();
    let convert = ["convert", "--no-sync", "--force"];
    let ran = run(&convert, &[folder.path(), &out]);
    assert_eq!(ran.exit.code(), 3, "{ran}");
    assert!(ran.errors.contains("--alone"), "{ran}");
    made(
        &[&convert[..], &["--alone"]].concat(),
        &[folder.path(), &out],
    );
    assert_eq!(info(&[], &[&out])["totals"]["tensors"], 2);
    assert_eq!(info(&[], &[&out])["metadata"].get("split.count"), None);
}

#[test]
fn a_file_of_a_set_that_was_renamed_is_told_so() {
    let (folder, _, files) = model();
    let other = folder.path().join("other.gguf");
    fs::copy(&files[1], &other).unwrap();
    let ran = run(&["verify"], &[&other]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    let said = "file 2 of 3, whose name does not lead to the others";
    assert!(ran.errors.contains(said), "{ran}");
    fs::copy(&files[1], &files[0]).unwrap();
    let ran = run(&["verify"], &[&files[0]]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    let said = "it says that it is file 2 of 3, and is called file 1 of 3";
    assert!(ran.errors.contains(said), "{ran}");
}

#[test]
fn cells_in_vespas_formats_are_positions_again_when_the_folder_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // The last row and the last column are empty: what is listed does not say that they are there.
    let matrix = "%%MatrixMarket matrix coordinate real general\n4 5 2\n1 1 0.5\n3 2 -2\n";
    fs::write(at("a.mtx"), matrix).unwrap();
    made(&["convert", "--no-sync"], &[&at("a.mtx"), &at("a.tens")]);
    for format in ["vespa", "vespa-text", "vespa-feed"] {
        let parts = at(format);
        let mut words = vec!["convert", "--no-sync", "--sparse", "--to", format];
        if format == "vespa-feed" {
            words.extend(["--dims", "id,x", "--opt", "id-dim=id"]);
        }
        words.push("--out-dir");
        made(&words, &[&parts, &at("a.tens")]);
        made(&["diff"], &[&at("a.tens"), &parts]);
        let told = run(&["info", "--json"], &[&parts]);
        let told: serde_json::Value = serde_json::from_slice(&told.out).unwrap();
        let shape = &told["tensors"][0]["shape"];
        assert_eq!(shape, &serde_json::json!([4, 5]), "{format}: {told}");
    }
    // What is sorted by name has its sizes in the order of the names.
    let parts = at("sorted");
    let flags = [
        "convert",
        "--no-sync",
        "--sparse",
        "--dims",
        "y,x",
        "--to",
        "vespa",
    ];
    let ran = run(
        &[&flags[..], &["--out-dir"]].concat(),
        &[&parts, &at("a.tens")],
    );
    assert!(ran.errors.contains("shape=5x4"), "{ran}");
    let turned = ["convert", "--no-sync", "--permute", "1,0"];
    made(&turned, &[&at("a.tens"), &at("turned.tens")]);
    made(&["diff"], &[&at("turned.tens"), &parts]);
}
