//! What is opened: files of other kinds, folders of several kinds of files, streams.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{corpus, folder_with, shown, tenfold};

#[test]
fn a_file_of_another_kind_is_named_by_its_content() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, said) in [
        (
            "a.h5",
            &b"\x89HDF\r\n\x1a\n\0\0\0\0"[..],
            "an HDF5 file, which is not read yet",
        ),
        (
            "a.npy",
            b"\x89HDF\r\n\x1a\n\0\0\0\0",
            "an HDF5 file, which is not read yet",
        ),
        ("a.tbf", b"", "an empty file"),
        (
            "a.safetensors",
            b"\x89PNG\r\n\x1a\n0123456789",
            "a PNG image, not a tensor file",
        ),
        (
            "config.json",
            b"{\"model_type\": \"llama\"}",
            "JSON, and no Vespa tensor",
        ),
        (
            "index.json",
            b"{\"a\": [1, 2]}",
            "JSON, and no Vespa tensor",
        ),
        ("values.json", b"[1, 2, 3]", "JSON, and no Vespa tensor"),
        (
            "a.zt",
            b"version https://git-lfs.github.com/spec/v1\noid",
            "a pointer of Git LFS",
        ),
        ("a.gguf", b"<!DOCTYPE html><html><body>404", "an HTML page"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        for command in ["info", "show", "verify", "stats"] {
            let ran = tenfold([command.as_ref(), path.as_os_str()]);
            assert_eq!(ran.exit.code(), 1, "{ran}");
            assert!(ran.errors.contains(said), "{name}: {ran}");
        }
    }
}

#[test]
fn values_alone_are_a_tensor_where_their_type_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values.json");
    fs::write(&path, "[1, 2, 3]").unwrap();
    let path = path.to_str().unwrap();
    let ran = tenfold(["show", path, "--opt", "type=tensor<float>(x[3])"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let later = folder.path().join("later.json");
    fs::write(&later, r#"{"values": [1, 2], "type": "tensor(x[2])"}"#).unwrap();
    assert_eq!(
        tenfold(["verify".as_ref(), later.as_os_str()]).exit.code(),
        0
    );
}

#[test]
fn a_zarr_store_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("x.zarr");
    fs::create_dir(&store).unwrap();
    fs::write(store.join(".zarray"), "{\"zarr_format\": 2}").unwrap();
    fs::write(store.join("0.0"), [1; 8]).unwrap();
    let ran = tenfold(["info".as_ref(), store.as_os_str()]);
    assert_eq!(ran.exit.code(), 1);
    assert!(
        ran.errors.contains("a Zarr store, which is not read yet"),
        "{ran}"
    );
}

/// A folder of several formats, with files that are none.
fn mixed() -> TempDir {
    let folder = folder_with(&[
        ("a.npy", "npy/good/f32.npy"),
        ("b.blz", "blz/good/two_dims.blz"),
        (
            "c.safetensors",
            "safetensors/good/types_in_order.safetensors",
        ),
    ]);
    fs::write(folder.path().join("config.json"), "{\"a\": 1}").unwrap();
    fs::write(folder.path().join("tokenizer.json"), "{\"b\": 1}").unwrap();
    fs::write(folder.path().join("README.md"), "# Words\n").unwrap();
    fs::write(folder.path().join(".hidden"), "x").unwrap();
    folder
}

#[test]
fn a_folder_of_several_formats_is_opened_file_by_file_and_the_others_are_listed() {
    let folder = mixed();
    let path = folder.path().as_os_str();
    for command in ["info", "verify", "stats", "hash"] {
        let ran = tenfold([command.as_ref(), path]);
        assert_eq!(ran.exit.code(), 0, "{command}: {ran}");
        for name in ["a.npy", "b.blz", "c.safetensors"] {
            assert!(ran.text().contains(name), "{command}: {ran}");
        }
        let said = shown(&folder, &ran);
        let others = "@: left out config.json, tokenizer.json: JSON, and no Vespa tensor";
        assert!(said.contains(others), "{said}");
        assert!(
            said.contains("@: left out README.md: no known format"),
            "{said}"
        );
        assert!(!said.contains("hidden"), "{said}");
    }
    // The folder in place of a command.
    assert_eq!(tenfold([path]).exit.code(), 0);
    let lines = tenfold(["info".as_ref(), "--json".as_ref(), path]).text();
    let formats: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["format"].clone())
        .collect();
    assert_eq!(formats, ["npy", "blz", "safetensors"]);
}

#[test]
fn what_needs_one_input_names_the_formats_of_a_mixed_folder() {
    let folder = mixed();
    let out = folder.path().join("out.zt");
    let ran = tenfold([
        "convert".as_ref(),
        folder.path().as_os_str(),
        out.as_os_str(),
    ]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
    let said = "a folder with files of several formats (blz, npy, safetensors)";
    assert!(ran.errors.contains(said), "{ran}");
}

#[test]
fn a_damaged_file_of_a_folder_keeps_no_other_from_being_looked_at() {
    let folder = mixed();
    fs::write(folder.path().join("b.blz"), b"BLZ1\x01\x00").unwrap();
    let ran = tenfold(["verify".as_ref(), folder.path().as_os_str()]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    assert!(ran.errors.contains("b.blz: not a valid blz file"), "{ran}");
    assert!(ran.text().contains("c.safetensors: ok"), "{ran}");
}

#[test]
fn a_glob_in_place_of_a_command_is_described() {
    let folder = folder_with(&[("a.npy", "npy/good/f32.npy"), ("b.npy", "npy/good/f32.npy")]);
    let ran = tenfold([folder.path().join("*.npy")]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert!(ran.text().contains("2 tensors"), "{ran}");
}

#[test]
fn the_name_decides_the_format_wherever_the_file_lies() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("skipped: no folder can be made in /dev/shm");
        return;
    };
    let out = folder.path().join("x.zt");
    let model = corpus("npy/good/f32.npy");
    let ran = tenfold([
        "convert".as_ref(),
        Path::new(&model).as_os_str(),
        out.as_os_str(),
    ]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert!(ran.errors.contains("ztensor"), "{ran}");
    assert!(fs::read(&out).unwrap().starts_with(b"ZTEN"));
    // As everywhere, a file that is there is not written over.
    let ran = tenfold([
        "convert".as_ref(),
        Path::new(&model).as_os_str(),
        out.as_os_str(),
    ]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
}

#[test]
fn a_damaged_file_among_files_of_one_format_leaves_the_others() {
    let folder = folder_with(&[
        ("a.npy", "npy/good/f32.npy"),
        ("b.npy", "npy/good/f32.npy"),
        ("c.npy", "npy/good/f32.npy"),
    ]);
    let bad = folder.path().join("b.npy");
    let bytes = fs::read(&bad).unwrap();
    fs::write(&bad, &bytes[..bytes.len() - 1]).unwrap();
    for command in ["info", "verify", "stats", "hash"] {
        let ran = tenfold([command.as_ref(), folder.path().as_os_str()]);
        assert_eq!(ran.exit.code(), 1, "{command}: {ran}");
        for name in ["a.npy", "c.npy"] {
            assert!(ran.text().contains(name), "{command}: {ran}");
        }
        assert!(ran.errors.contains("b.npy: not a valid npy file"), "{ran}");
    }
}

#[test]
fn folders_in_a_folder_are_listed_with_the_others() {
    let folder = folder_with(&[("a.npy", "npy/good/f32.npy")]);
    for name in ["x.zarr", "more", ".hidden"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("x.zarr/.zarray"), "{}").unwrap();
    let ran = tenfold(["info".as_ref(), folder.path().as_os_str()]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let said = shown(&folder, &ran);
    let wanted = "@: left out x.zarr: a Zarr store, which is not read yet";
    assert!(said.contains(wanted), "{said}");
    assert!(said.contains("@: left out more: a folder"), "{said}");
    assert!(!said.contains("hidden"), "{said}");
}

#[test]
fn an_index_of_files_that_are_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("m.safetensors.index.json");
    fs::write(&index, r#"{"weight_map": {"w": "w.safetensors"}}"#).unwrap();
    for word in [folder.path(), &index] {
        let ran = tenfold(["info".as_ref(), word.as_os_str()]);
        assert_eq!(ran.exit.code(), 1, "{ran}");
        let said = shown(&folder, &ran);
        let wanted = "@/m.safetensors.index.json: none of the files that the index names";
        assert!(said.contains(wanted), "{said}");
    }
}
