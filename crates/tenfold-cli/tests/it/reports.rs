//! What commands report: which file is at fault, what was chosen, what was lost, what was written.
#![expect(clippy::unwrap_used, reason = "helpers of tests use it")]

use std::fs;

use tempfile::TempDir;

use crate::support::{corpus, folder_with, npy, tenfold, tenfold_in};

fn doubles(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// A folder with what the demo makes.
fn demo() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ran = tenfold_in(&folder, &["-q", "demo", "@/demo"]);
    assert_eq!((ran.exit.code(), ran.to_string().as_str()), (0, "[exit 0]"));
    folder
}

#[test]
fn a_fault_in_values_is_one_of_the_file_that_has_it() {
    let folder = folder_with(&[
        ("good.npy", "npy/good/aligned_already.npy"),
        ("bad.tens", "tens/bad/index_out_of_range.tens"),
    ]);
    let file = folder.path().join("bad.tens").display().to_string();
    let said = format!("tenfold: {file}: not a valid tens file: index 4 lies outside the tensor");
    for words in [
        &["convert", "@/bad.tens", "@/x.npy"][..],
        &["convert", "@/bad.tens", "@/good.npy", "@/x.zt"],
        &["convert", "@/good.npy", "@/bad.tens", "@/x.zt"],
        &["convert", "@/bad.tens", "-", "--to", "npy"],
        &[
            "convert",
            "@/bad.tens",
            "@/x.npy",
            "--dense",
            "--reshape=-1",
        ],
        &["compress", "@/bad.tens", "@/x.blz", "--eps", "1e-3"],
    ] {
        let ran = tenfold_in(&folder, words);
        assert!(ran.errors.contains(&said), "{words:?}\n{ran}");
        assert_eq!(ran.exit.code(), 1, "{words:?}");
    }
}

#[test]
fn a_file_that_ends_too_early_is_called_truncated() {
    let folder = tempfile::tempdir().unwrap();
    npy(&folder, "short.npy", "<f8", "(12,)", &[7; 22]);
    let ran = tenfold_in(&folder, &["info", "@/short.npy"]);
    let said = "truncated: 96 bytes of values expected, 22 found (byte 128)";
    assert!(ran.errors.contains(said), "{ran}");
    let ran = tenfold(["info", &corpus("blz/bad/cut_at_86.blz")]);
    let said = "truncated: 32 bytes of values expected, 31 found (byte 55)";
    assert!(ran.errors.contains(said), "{ran}");
}

#[test]
fn floats_become_integers_only_when_that_is_permitted() {
    let folder = tempfile::tempdir().unwrap();
    npy(
        &folder,
        "a.npy",
        "<f8",
        "(2, 2)",
        &doubles(&[1.5, 2.0, -3.25, f64::NAN]),
    );
    npy(
        &folder,
        "i.npy",
        "<i8",
        "(1,)",
        &((1_i64 << 53) + 1).to_le_bytes(),
    );
    for target in [
        &["@/a.zt", "--cast", "i32"][..],
        &["@/a.dat", "--raw", "dtype=i32"],
    ] {
        let words = [&["convert", "@/a.npy"][..], target].concat();
        let ran = tenfold_in(&folder, &words);
        assert_eq!(ran.exit.code(), 3, "{ran}");
        assert!(
            ran.errors
                .contains("f64 becomes i32: any fractions are lost"),
            "{ran}"
        );
        let ran = tenfold_in(&folder, &[&words[..], &["--allow", "precision"]].concat());
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let said = "3 of 4 values are rounded, NaN becomes a number";
        assert!(ran.errors.contains(said), "{ran}");
    }
    // The difference is exact, also where doubles cannot tell the two numbers apart.
    let ran = tenfold_in(&folder, &["convert", "@/i.npy", "@/i.zt", "--cast", "f64"]);
    assert!(
        ran.errors
            .contains("1 of 1 values are rounded, by 1 at most"),
        "{ran}"
    );
}

#[test]
fn a_symmetry_that_does_not_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    npy(
        &folder,
        "a.npy",
        "<f8",
        "(2, 2)",
        &doubles(&[1.0, 2.0, 2.99, 4.0]),
    );
    let ran = tenfold_in(&folder, &["convert", "@/a.npy", "@/a.tens", "--pack", "ba"]);
    assert_eq!(ran.exit.code(), 3);
    let said = "cell [1, 0] is off by 0.99, the largest value is 4; --symmetry-tol sets";
    assert!(ran.errors.contains(said), "{ran}");
    let words = [
        "convert",
        "@/a.npy",
        "@/a.tens",
        "--pack",
        "ba",
        "--symmetry-tol",
        "1",
    ];
    let ran = tenfold_in(&folder, &words);
    assert!(
        ran.errors
            .contains("pack: 1 of 4 values change, by 0.99 at most"),
        "{ran}"
    );
    npy(
        &folder,
        "b.npy",
        "<f8",
        "(2, 2)",
        &doubles(&[1.0, 2.0, 2.0, 4.0]),
    );
    let ran = tenfold_in(
        &folder,
        &["convert", "@/b.npy", "@/b.tens", "--symmetrize", "ba"],
    );
    assert!(
        ran.errors
            .contains("symmetrize: values change by 0 at most"),
        "{ran}"
    );
}

#[test]
fn what_a_format_adds_or_leaves_out_by_itself_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    npy(
        &folder,
        "a.npy",
        "<f8",
        "(2, 2)",
        &doubles(&[1.0, 0.0, 0.0, 4.0]),
    );
    let ran = tenfold_in(&folder, &["convert", "@/a.npy", "@/a.tbf"]);
    assert!(
        ran.errors.contains("invented: dimensions are called a, b"),
        "{ran}"
    );
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.5\n1 2 0\n";
    fs::write(folder.path().join("z.mtx"), text).unwrap();
    let ran = tenfold_in(&folder, &["convert", "@/z.mtx", "@/z.tens"]);
    let said =
        "sparsity: 1 of 2 explicit cells are zero and left out; --opt zeros=keep writes them";
    assert!(ran.errors.contains(said), "{ran}");
    let keep = [
        "convert",
        "@/z.mtx",
        "@/k.tens",
        "--opt",
        "zeros=keep",
        "--strict",
    ];
    assert_eq!(tenfold_in(&folder, &keep).exit.code(), 0);
    let strict = tenfold_in(&folder, &["convert", "@/z.mtx", "@/s.tens", "--strict"]);
    assert_eq!(strict.exit.code(), 3, "{strict}");
    assert!(!folder.path().join("s.tens").exists());
}

#[test]
fn types_and_versions_are_named_as_they_are_in_the_file() {
    let folder = folder_with(&[("v.tens", "tens/bad/version_1_1.tens")]);
    npy(&folder, "c.npy", "<c16", "(1,)", &doubles(&[1.0, 2.0]));
    let ran = tenfold_in(&folder, &["convert", "@/c.npy", "@/c.param"]);
    assert!(ran.errors.contains("elements of c128"), "{ran}");
    let mut word = fs::read(folder.path().join("v.tens")).unwrap();
    word[4..8].copy_from_slice(&0x10001_u32.to_le_bytes());
    fs::write(folder.path().join("v.tens"), word).unwrap();
    let ran = tenfold_in(&folder, &["info", "@/v.tens"]);
    assert!(
        ran.errors
            .contains("tens: the version word 0x10001 is not supported"),
        "{ran}"
    );
}

#[test]
fn sizes_too_large_to_count_are_no_numbers() {
    let folder = folder_with(&[("t.blz", "blz/huge/most_dims.blz")]);
    let ran = tenfold_in(&folder, &["convert", "@/t.blz", "@/t.npy"]);
    assert!(
        ran.errors.contains("is expanded to 2^128 B or more"),
        "{ran}"
    );
    let words = ["convert", "@/t.blz", "@/t.npy", "--allow", "train"];
    let ran = tenfold_in(&folder, &words);
    assert!(ran.errors.contains("(2^128 or more wanted, "), "{ran}");
}

#[test]
fn files_beside_the_one_that_is_written_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    npy(&folder, "a.npy", "<f8", "(64, 64)", &[0; 64 * 64 * 8]);
    let ran = tenfold_in(&folder, &["convert", "@/a.npy", "@/a.yaml"]);
    assert!(
        ran.errors
            .contains("a.elements: cc4s 100, 1 tensor, 32.1 KiB"),
        "{ran}"
    );
    let ran = tenfold_in(&folder, &["info", "@/a.yaml"]);
    assert!(
        ran.text().contains("a.yaml: cc4s, 32.1 KiB, 1 tensor"),
        "{ran}"
    );
    fs::remove_file(folder.path().join("a.yaml")).unwrap();
    let ran = tenfold_in(&folder, &["info", "@/a.elements"]);
    assert!(
        ran.errors
            .contains("a.yaml should describe, which is not there"),
        "{ran}"
    );
}

#[test]
fn only_some_tensors_are_described_shown_and_verified() {
    let folder = demo();
    let info = tenfold_in(&folder, &["info", "@/demo/weights.zt", "--only", "enc*"]);
    assert!(
        info.text().contains("2 tensors") && !info.text().contains("decoder"),
        "{info}"
    );
    let show = tenfold_in(&folder, &["show", "@/demo/weights.zt", "--exclude", "enc*"]);
    assert!(
        show.text().contains("decoder") && !show.text().contains("encoder"),
        "{show}"
    );
    let verify = tenfold_in(&folder, &["verify", "@/demo/weights.zt", "--only", "*bias"]);
    assert!(
        verify.text().ends_with("ok, ztensor, 2 tensors\n"),
        "{verify}"
    );
    for command in ["info", "show", "verify", "view"] {
        let words = [command, "@/demo/weights.zt", "--only", "nothing*"];
        let ran = tenfold_in(&folder, &words);
        assert_ne!(ran.exit.code(), 0, "{command}");
        assert!(ran.errors.contains("nothing*"), "{command}: {ran}");
    }
}

#[test]
fn bytes_are_told_for_each_element_type() {
    let folder = demo();
    let ran = tenfold_in(&folder, &["info", "@/demo/words.gguf"]);
    assert!(
        ran.text()
            .contains("264 B of values (Q8_0 136 B, f32 128 B)"),
        "{ran}"
    );
    let ran = tenfold_in(&folder, &["info", "--json", "@/demo/words.gguf"]);
    let said = "\"bytes_by_dtype\":{\"Q8_0\":136,\"f32\":128}";
    assert!(ran.text().contains(said), "{ran}");
}

#[test]
fn a_tensor_is_compressed_in_another_order() {
    let folder = demo();
    let words = [
        "compress",
        "@/demo/arrays.npz:slice[:, 4:]",
        "@/s.blz",
        "--eps",
        "1e-9",
    ];
    let ran = tenfold_in(&folder, &[&words[..], &["--permute", "1,0"]].concat());
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let info = tenfold_in(&folder, &["info", "@/s.blz"]);
    assert!(info.text().contains("[20, 24]"), "{info}");
    let words = ["compress", "@/demo/arrays.npz", "@/s.zt", "--eps", "1e-3"];
    let ran = tenfold_in(&folder, &[&words[..], &["--permute", "sl*=1,0"]].concat());
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let ran = tenfold_in(
        &folder,
        &[&words[..], &["--permute", "x*=1,0", "--force"]].concat(),
    );
    assert!(ran.errors.contains("x*"), "{ran}");
}

#[test]
fn settings_are_found_by_the_names_that_their_format_has() {
    let folder = demo();
    let file = "@/demo/molecule.fcidump";
    for key in ["NELEC=4", "nelec=4", "fcidump:NELEC=4"] {
        let ran = tenfold_in(&folder, &["edit", file, "--set", key, "--dry-run"]);
        assert!(
            ran.text().contains("set  fcidump:NELEC  = 4, was 2"),
            "{ran}"
        );
    }
}

#[test]
fn bytes_behind_a_tensor_of_vespa_are_forgiven_if_asked() {
    let folder = demo();
    let path = folder.path().join("demo/catalogue.tbf");
    let bytes = [fs::read(&path).unwrap(), vec![1, 2, 3]].concat();
    fs::write(&path, bytes).unwrap();
    let words = ["info", "@/demo/catalogue.tbf"];
    assert_eq!(tenfold_in(&folder, &words).exit.code(), 1);
    let ran = tenfold_in(&folder, &[&words[..], &["--lenient"]].concat());
    assert_eq!(ran.exit.code(), 0);
    let said = "note (lenient): bytes after the end of the data: 3 (byte 170)";
    assert!(ran.text().contains(said), "{ran}");
}

#[test]
fn conversions_are_told_to_programs() {
    let folder = demo();
    let words = ["convert", "@/demo/catalogue.tbf", "@/c.npy", "--json"];
    let ran = tenfold_in(&folder, &words);
    assert_eq!(ran.exit.code(), 3);
    let json: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(json["schema"], "tenfold.convert/1");
    assert_eq!(
        (&json["written"], &json["files"]),
        (&false.into(), &serde_json::json!([]))
    );
    assert_eq!(json["losses"][0]["aspect"], "labels");
    assert_eq!(json["losses"][0]["verdict"], "refused");
    let ran = tenfold_in(&folder, &[&words[..], &["--allow", "labels"]].concat());
    let json: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    let len = fs::metadata(folder.path().join("c.npy")).unwrap().len();
    assert_eq!(
        (&json["written"], &json["version"]),
        (&true.into(), &"1.0".into())
    );
    assert_eq!(json["files"][0]["bytes"], len);
    assert_eq!(json["losses"][0]["verdict"], "permitted");
    let ran = tenfold_in(
        &folder,
        &[
            "convert",
            "@/demo/field.npy",
            "@/i.zt",
            "--cast",
            "i8",
            "--json",
        ],
    );
    let json: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(
        (ran.exit.code(), &json["losses"][0]["aspect"]),
        (3, &"precision".into())
    );
    let ran = tenfold_in(
        &folder,
        &["reconstruct", "@/demo/field.blz", "@/r.npy", "--json"],
    );
    let json: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(json["schema"], "tenfold.reconstruct/1");
    assert_eq!(json["files"][0]["tensors"], 1);
    let words = ["plot", "@/demo/field.npy[0]", "-o", "@/p.svg", "--json"];
    let ran = tenfold_in(&folder, &words);
    let json: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(json["schema"], "tenfold.plot/1");
    assert_eq!(json["tensor"]["shape"], serde_json::json!([24, 24]));
    let ran = tenfold_in(&folder, &["convert", "@/demo/field.npy", "-", "--json"]);
    assert_eq!(ran.exit.code(), 2);
}

#[test]
fn the_help_says_what_each_loss_is() {
    for command in ["convert", "reconstruct", "edit"] {
        let help = tenfold([command, "--help"]).text();
        for aspect in tenfold::Aspect::ALL {
            assert!(
                help.contains(&format!("- {}:", aspect.as_str())),
                "{command}: {aspect:?}"
            );
        }
    }
}

#[test]
fn all_files_that_were_written_are_listed() {
    let folder = folder_with(&[
        ("a.yaml", "cc4s/good/by_cc4s.yaml"),
        ("a.elements", "cc4s/good/by_cc4s.elements"),
        ("a.tbf", "vespa/good/mixed_f64.tbf"),
    ]);
    let listed = |words: &[&str]| -> Vec<String> {
        let ran = tenfold_in(&folder, words);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let json: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
        let files = json["files"].as_array().unwrap();
        let name = |file: &serde_json::Value| {
            assert_ne!(file["bytes"], 0, "{json}");
            let path = std::path::Path::new(file["file"].as_str().unwrap());
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        files.iter().map(name).collect()
    };
    let words = [
        "convert",
        "@/a.yaml",
        "--out-dir",
        "@/parts",
        "--to",
        "cc4s",
        "--json",
    ];
    assert_eq!(listed(&words), ["a.yaml", "a.elements", "index.json"]);
    let words = [
        "convert",
        "@/a.tbf",
        "@/a.npy",
        "--allow",
        "labels",
        "--labels-out",
        "x=@/x.txt",
        "--json",
    ];
    assert_eq!(listed(&words), ["a.npy", "x.txt"]);
}
