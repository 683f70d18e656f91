//! Ways past a refusal: each that a message names is tried.

use std::fs;

use tempfile::TempDir;

use crate::support::{folder_with, npy, tenfold_in};

/// Runs a line that is refused in these words, then the same with the flags that they name.
fn lifted(folder: &TempDir, line: &str, said: &str, flags: &[&str]) {
    let words: Vec<&str> = line.split(' ').collect();
    let ran = tenfold_in(folder, &words);
    assert_ne!(ran.exit.code(), 0, "{line}\n{ran}");
    assert!(ran.errors.contains(said), "{line}\n{ran}");
    let ran = tenfold_in(folder, &[&words, flags].concat());
    assert_eq!(ran.exit.code(), 0, "{line} {flags:?}\n{ran}");
}

#[test]
fn a_statistic_without_its_tensor_is_a_tensor() {
    let folder = folder_with(&[("a.model", "primitiv/good/model_adam.model")]);
    for target in ["@/m1.npy", "@/m1.param", "@/m1.tensor"] {
        let words = ["convert", "@/a.model", target, "--only", "enc/w@Adam.m1"];
        let ran = tenfold_in(&folder, &words);
        assert_eq!(ran.exit.code(), 0, "{target}\n{ran}");
        let said = "the statistic Adam.m1 becomes a tensor by itself";
        assert!(ran.errors.contains(said), "{target}\n{ran}");
        let words = ["diff", "@/a.model:enc/w@Adam.m1", target];
        let ran = tenfold_in(&folder, &words);
        assert_eq!(ran.exit.code(), 0, "{target}\n{ran}");
    }
}

#[test]
fn settings_of_an_optimizer_beside_tensors_can_only_be_dropped() {
    let folder = folder_with(&[
        ("a.model", "primitiv/good/model_adam.model"),
        ("a.optimizer", "primitiv/good/optimizer_adam.optimizer"),
    ]);
    let line = "convert @/a.model @/a.optimizer @/out.model";
    let ran = tenfold_in(&folder, &line.split(' ').collect::<Vec<_>>());
    assert!(!ran.errors.contains("type=optimizer"), "{ran}");
    lifted(
        &folder,
        line,
        "--allow metadata",
        &["--allow", "metadata", "--force"],
    );
    lifted(
        &folder,
        "convert @/a.optimizer @/other.model",
        "--opt type=optimizer",
        &["--opt", "type=optimizer"],
    );
}

#[test]
fn names_that_files_cannot_have_are_changed() {
    let folder = tempfile::tempdir().unwrap();
    npy(&folder, "a.npy", "<f8", "(2,)", &[0; 16]);
    let named = "convert @/a.npy @/slash.zt --allow all --rename s|.*|up/down|";
    let ran = tenfold_in(&folder, &named.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.exit.code(), 0, "{ran}");
    for target in ["@/a.yaml --to cc4s", "--out-dir @/parts --to cc4s"] {
        let line = format!("convert @/slash.zt {target}");
        lifted(&folder, &line, "--rename", &["--rename", "s|/|.|"]);
    }
    let line = "convert @/slash.zt @/b.yaml --to cc4s";
    lifted(&folder, line, "--sep /", &["--sep", "/"]);
}

#[test]
fn dimensions_that_are_called_alike_are_named() {
    let folder = folder_with(&[
        ("real.yaml", "cc4s/good/real.yaml"),
        ("real.elements", "cc4s/good/real.elements"),
    ]);
    let line = "convert @/real.yaml @/a.tbf";
    lifted(&folder, line, "--dims", &["--dims", "a,b"]);
}

#[test]
fn a_shape_that_fits_is_named_for_the_tensor_that_needs_it() {
    let folder = folder_with(&[("a.model", "primitiv/good/model_adam.model")]);
    let ran = tenfold_in(
        &folder,
        &["convert", "@/a.model", "@/a.blz", "--eps", "1e-3"],
    );
    assert!(
        ran.errors.contains("--reshape enc/w=1,2"),
        "the path of the tensor\n{ran}"
    );
    assert!(
        !ran.errors.contains("--eps"),
        "what was given already\n{ran}"
    );
}

#[test]
fn one_dimension_is_given_more() {
    let folder = tempfile::tempdir().unwrap();
    npy(&folder, "a.npy", "<f8", "(1024,)", &[0; 8192]);
    for command in ["convert", "compress"] {
        let line = format!("{command} @/a.npy @/{command}.blz --eps 1e-6");
        let flags = ["--reshape", "2,2,2,2,2,2,2,2,2,2"];
        lifted(&folder, &line, "a.npy: a train needs 2 dimensions", &flags);
    }
}

#[test]
fn names_of_files_are_paths_in_a_folder_of_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let header = br#"{"x/a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
    let mut file = u64::try_from(header.len()).unwrap().to_le_bytes().to_vec();
    file.extend(header);
    file.extend(1.5_f64.to_le_bytes());
    fs::write(folder.path().join("a.safetensors"), file).unwrap();
    let line = "convert @/a.safetensors --out-dir @/parts --to cc4s";
    lifted(&folder, line, "--sep /", &["--sep", "/"]);
    let ran = tenfold_in(&folder, &["diff", "@/parts", "@/a.safetensors"]);
    assert_eq!(ran.exit.code(), 0, "the true name\n{ran}");
}

#[test]
fn dimensions_of_one_name_are_those_of_a_train_too() {
    let folder = folder_with(&[("a.yaml", "cc4s/good/real.yaml")]);
    let values = [3.0_f64, 4.0, 6.0, 8.0, 9.0, 12.0];
    let bytes: Vec<u8> = values.into_iter().flat_map(f64::to_le_bytes).collect();
    fs::write(folder.path().join("a.elements"), bytes).unwrap();
    for line in [
        "compress @/a.yaml @/a.zt --eps 1e-9 --force",
        "tt round @/a.zt @/b.zt --eps 1e-9",
        "tt add @/a.zt @/a.zt @/c.zt",
        "reconstruct @/b.zt @/back.zt",
    ] {
        let ran = tenfold_in(&folder, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.exit.code(), 0, "{line}\n{ran}");
    }
    let line = [
        "diff",
        "@/a.yaml",
        "@/back.zt",
        "--rtol",
        "1e-6",
        "--atol",
        "1e-6",
    ];
    let ran = tenfold_in(&folder, &line);
    assert_eq!(ran.exit.code(), 0, "{ran}");
}

#[test]
fn a_cast_that_loses_is_refused_as_a_cast() {
    let folder = tempfile::tempdir().unwrap();
    let value = 1.5_f64.to_le_bytes();
    npy(&folder, "a.npy", "<f8", "(1,)", &value);
    lifted(
        &folder,
        "convert @/a.npy @/b.npy --cast i32",
        "the type asked for cannot hold all of",
        &["--allow", "precision"],
    );
}

#[test]
fn a_checkpoint_is_edited_by_way_of_another_format() {
    let folder = folder_with(&[("a.pt", "torch/good/array_big.pt")]);
    let ran = tenfold_in(&folder, &["edit", "@/a.pt", "--set", "a=b"]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
    assert!(ran.errors.contains("convert the file"), "{ran}");
}

#[test]
fn an_array_in_foreign_byte_order_is_native_in_another_format() {
    let folder = folder_with(&[("big.npy", "npy/good/f64_big_endian.npy")]);
    let has_big = |name: &str| {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        bytes.windows(5).any(|part| part == b"'>f8'")
    };
    for (target, flags, is_kept) in [
        ("@/same.npy", &[][..], true),
        ("@/little.npz", &[], false),
        ("@/big.npz", &["--opt", "endian=big"], true),
    ] {
        let ran = tenfold_in(
            &folder,
            &[&["convert", "@/big.npy", target], flags].concat(),
        );
        assert_eq!(ran.exit.code(), 0, "{ran}");
        assert_eq!(
            has_big(target.trim_start_matches("@/")),
            is_kept,
            "{target}"
        );
    }
    let ran = tenfold_in(&folder, &["convert", "@/big.npz", "@/again.npz"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert!(has_big("again.npz"));
}
