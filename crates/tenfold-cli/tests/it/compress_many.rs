//! `tenfold compress` and `reconstruct` of files with many tensors.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use insta::assert_snapshot;
use tempfile::TempDir;
use tenfold_cli::Exit;

use crate::compress::{distance, doubles, ran_in, smooth};
use crate::support::npy;

/// A folder with `model.zt`: tensors that get smaller as trains, and others.
fn model() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let cells = smooth([12, 10, 8]);
    doubles(&folder, "smooth.npy", "(12, 10, 8)", &cells);
    let singles: Vec<u8> = smooth([24, 20, 1])
        .into_iter()
        .flat_map(|cell| format!("{cell}").parse::<f32>().unwrap().to_le_bytes())
        .collect();
    npy(&folder, "single.npy", "<f4", "(24, 20)", &singles);
    doubles(&folder, "line.npy", "(8,)", &[1.0; 8]);
    let eye: Vec<f64> = (0..64_u8)
        .map(|n| f64::from(u8::from(n % 9 == 0)))
        .collect();
    doubles(&folder, "eye.npy", "(8, 8)", &eye);
    let mut holed = vec![1.0; 64];
    *holed.get_mut(19).unwrap() = f64::INFINITY;
    doubles(&folder, "holed.npy", "(8, 8)", &holed);
    let whole: Vec<u8> = (0..64_i16).flat_map(i16::to_le_bytes).collect();
    npy(&folder, "whole.npy", "<i2", "(16, 4)", &whole);
    let words = [
        "convert",
        "@smooth.npy",
        "@single.npy",
        "@line.npy",
        "@eye.npy",
        "@holed.npy",
        "@whole.npy",
        "@model.zt",
        "-q",
    ];
    assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
    folder
}

fn cells(folder: &TempDir, file: &str, name: &str) -> Vec<f64> {
    let opened = tenfold::open(folder.path().join(file)).unwrap();
    opened.bundle.get(name).unwrap().to_vec().unwrap()
}

#[test]
fn each_tensor_that_gets_smaller_becomes_a_train() {
    let folder = model();
    let words = [
        "compress",
        "@model.zt",
        "@small.zt",
        "--eps",
        "1e-4",
        "--verify",
    ];
    assert_snapshot!("many", ran_in(&folder, &words));
    let words = ["reconstruct", "@small.zt", "@back.zt"];
    assert_snapshot!("many_back", ran_in(&folder, &words));
    let before = cells(&folder, "model.zt", "smooth");
    let found = distance(&before, &cells(&folder, "back.zt", "smooth"));
    assert!(found > 0.0 && found <= 1e-4, "{found}");
    // The single is one again, and everything else is what it was.
    let words = [
        "diff",
        "@model.zt",
        "@back.zt",
        "--rtol",
        "1e-2",
        "--equal-nan",
    ];
    let ran = ran_in(&folder, &words);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
}

#[test]
fn names_choose_what_is_compressed_and_the_others_stay() {
    let folder = model();
    let words = [
        "compress",
        "@model.zt",
        "@small.zt",
        "--eps",
        "1e-2",
        "--only",
        "whole",
        "--only",
        "s*",
        "--exclude",
        "single",
    ];
    assert_snapshot!("chosen", ran_in(&folder, &words));
}

#[test]
fn what_cannot_be_done_with_many_is_said() {
    let folder = model();
    let words = [
        "compress",
        "@model.zt",
        "@a.blz",
        "--eps",
        "1e-2",
        "--only",
        "smooth",
    ];
    assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
    let words = [
        "compress",
        "@model.zt",
        "@b.zt",
        "--eps",
        "0",
        "--only",
        "eye",
    ];
    assert_snapshot!("none_smaller", ran_in(&folder, &words));
    let words = [
        "compress",
        "@model.zt",
        "@b.zt",
        "--eps",
        "0",
        "--only",
        "eye",
        "--only",
        "holed",
    ];
    let ran = ran_in(&folder, &words);
    for reason in [
        "eye is kept, a train would be",
        "; holed is kept, cell [2, 3] is inf",
    ] {
        assert!(ran.errors.contains(reason), "{reason}\n{ran}");
    }
    let words = [
        "compress",
        "@model.zt",
        "@b.zt",
        "--eps",
        "1",
        "--qubits",
        "6",
    ];
    assert_snapshot!("one_shape_for_many", ran_in(&folder, &words));
}

#[test]
fn a_conversion_refuses_files_that_exist_before_it_computes_trains() {
    let folder = model();
    let to_file = ["convert", "@model.zt", "@out.zt", "--eps", "1e-4"];
    let to_folder = [
        "convert",
        "@model.zt",
        "--out-dir",
        "@parts",
        "--to",
        "ztensor",
        "--eps",
        "1e-4",
    ];
    for words in [&to_file[..], &to_folder] {
        let ran = ran_in(&folder, words);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        let ran = ran_in(&folder, words);
        assert_eq!(ran.exit.code(), 2, "{ran}");
        // What became of the tensors is not said, as nothing was computed.
        assert_eq!(ran.errors.lines().count(), 1, "{ran}");
        assert!(ran.errors.contains("exists already"), "{ran}");
        let ran = ran_in(&folder, &[words, &["--force"]].concat());
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        assert!(ran.errors.lines().count() > 1, "{ran}");
    }
}
