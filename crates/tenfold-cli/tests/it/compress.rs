//! `tenfold compress`.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use tempfile::TempDir;
use tenfold_cli::Exit;

use crate::support::{Ran, corpus, npy, tenfold, tenfold_with};

/// 1 / (1 + i + 2 j + 3 k): smooth, and of no exact rank.
pub(crate) fn smooth(sizes: [u8; 3]) -> Vec<f64> {
    let [first, second, third] = sizes;
    let mut cells = Vec::new();
    for i in 0..first {
        for j in 0..second {
            for k in 0..third {
                cells.push(1.0 / (1.0 + f64::from(i) + 2.0 * f64::from(j) + 3.0 * f64::from(k)));
            }
        }
    }
    cells
}

pub(crate) fn doubles(folder: &TempDir, name: &str, shape: &str, cells: &[f64]) -> PathBuf {
    let bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
    npy(folder, name, "<f8", shape, &bytes)
}

/// Runs a command in a folder, and takes its name and all times out of what it says.
pub(crate) fn ran_in(folder: &TempDir, words: &[&str]) -> Ran {
    let words = words.iter().map(|word| match word.strip_prefix('@') {
        Some(name) => folder.path().join(name).display().to_string(),
        None => (*word).into(),
    });
    let mut ran = tenfold(words);
    let place = format!("{}/", folder.path().display());
    let lines = ran
        .errors
        .lines()
        .map(|line| match line.split_once("  time ") {
            Some((before, after)) => {
                let route = after.split(" s, ").nth(1).unwrap_or_default();
                format!("{before}  time SECONDS, {route}\n")
            }
            None => format!("{}\n", without_rounding(line)),
        });
    ran.errors = lines.collect::<String>().replace(&place, "");
    ran
}

/// A line without an error that only rounding has made: it depends on the machine.
fn without_rounding(line: &str) -> String {
    let parts = line
        .split_once("at most ")
        .and_then(|(before, after)| Some((before, after.split_once(" of the norm")?)));
    match parts {
        Some((before, (error, after))) if error.parse::<f64>().unwrap() < 1e-12 => {
            format!("{before}at most ROUNDING of the norm{after}")
        }
        _ => line.into(),
    }
}

/// The doubles of a file that NumPy would read.
pub(crate) fn cells_of(file: &Path) -> Vec<f64> {
    let opened = tenfold::open(file).unwrap();
    opened.bundle.only().unwrap().to_vec().unwrap()
}

/// The norm of the difference as a part of the norm, worked out cell by cell.
pub(crate) fn distance(one: &[f64], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len());
    let norm = |cells: &mut dyn Iterator<Item = f64>| cells.map(|cell| cell * cell).sum::<f64>();
    let difference = norm(&mut one.iter().zip(other).map(|(one, other)| one - other));
    (difference / norm(&mut one.iter().copied())).sqrt()
}

fn json(ran: &Ran) -> serde_json::Value {
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    serde_json::from_str(&ran.text()).unwrap()
}

#[test]
fn a_tensor_becomes_a_train_that_is_as_near_as_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let cells = smooth([20, 24, 22]);
    doubles(&folder, "a.npy", "(20, 24, 22)", &cells);
    let words = ["compress", "@a.npy", "@a.blz", "--eps", "1e-6", "--verify"];
    assert_snapshot!(ran_in(&folder, &words));
    let ran = ran_in(&folder, &["reconstruct", "@a.blz", "@b.npy"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let found = distance(&cells, &cells_of(&folder.path().join("b.npy")));
    assert!(found <= 1e-6, "{found}");

    // What --verify measured is what an independent computation finds.
    let words = [
        "compress", "@a.npy", "@c.blz", "--eps", "1e-6", "--verify", "--json",
    ];
    let report = json(&ran_in(&folder, &words));
    let train = &report["tensors"][0]["train"];
    let measured = train["measured"]["relative_error"].as_f64().unwrap();
    assert!(
        (measured - found).abs() < found * 1e-6,
        "{measured} {found}"
    );
    assert!(found <= train["relative_error"].as_f64().unwrap());
    assert_eq!(report["schema"], "tenfold.compress/1");
    assert_eq!(report["tensors"][0]["stored_bytes"], 20 * 24 * 22 * 8);
    let same = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(same("a.blz"), same("c.blz"));
}

#[test]
fn sizes_are_told_as_stored_and_as_doubles() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = smooth([16, 16, 16])
        .into_iter()
        .flat_map(|cell| format!("{cell}").parse::<f32>().unwrap().to_le_bytes())
        .collect();
    npy(&folder, "single.npy", "<f4", "(16, 16, 16)", &bytes);
    let words = ["compress", "@single.npy", "@a.blz", "--eps", "1e-3"];
    assert_snapshot!(ran_in(&folder, &words));
}

#[test]
fn cells_may_be_split_into_other_dimensions() {
    let folder = tempfile::tempdir().unwrap();
    let cells: Vec<f64> = (0..4096_u16)
        .map(|n| (f64::from(n) / 100.0).sin())
        .collect();
    doubles(&folder, "line.npy", "(4096,)", &cells);
    let said = |flags: &[&str]| {
        let words = [
            "compress",
            "@line.npy",
            "@a.blz",
            "--force",
            "--eps",
            "1e-9",
        ];
        ran_in(&folder, &[&words[..], flags].concat())
    };
    assert_snapshot!("one_dimension", said(&[]));
    assert_snapshot!("qubits", said(&["--qubits", "12"]));
    assert_snapshot!("reshape", said(&["--reshape", "64,-1"]));
    assert_snapshot!("wrong_qubits", said(&["--qubits", "10"]));
    assert_snapshot!("wrong_shape", said(&["--reshape", "64x65"]));
    doubles(&folder, "odd.npy", "(12, 7, 1, 9)", &cells[..756]);
    let words = ["compress", "@odd.npy", "@b.blz", "--qtt", "--eps", "1e-9"];
    assert_snapshot!("qtt", ran_in(&folder, &words));
    let words = [
        "compress", "@odd.npy", "@c.blz", "--qubits", "9", "--eps", "1",
    ];
    assert_snapshot!("no_qubits", ran_in(&folder, &words));
}

#[test]
fn a_train_that_is_not_smaller_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 1_u32;
    let cells: Vec<f64> = (0..4096)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8)
        })
        .collect();
    doubles(&folder, "noise.npy", "(16, 16, 16)", &cells);
    let words = ["compress", "@noise.npy", "@a.blz", "--eps", "1e-6"];
    let ran = ran_in(&folder, &words);
    assert_snapshot!(ran);
    assert!(!folder.path().join("a.blz").exists());
    let forced = ran_in(&folder, &[&words[..], &["--force"]].concat());
    assert_eq!(forced.exit, Exit::Fine, "{forced}");
    assert!(folder.path().join("a.blz").exists());
}

#[test]
fn a_train_that_cannot_be_smaller_is_refused_before_it_is_made() {
    let folder = tempfile::tempdir().unwrap();
    // A hundredth of the energy may be left out; each direction has a sixteenth of it.
    let cells = (0..256_u16).map(|n| f32::from(u8::from(n % 17 == 0)));
    let cells: Vec<u8> = cells.flat_map(f32::to_le_bytes).collect();
    npy(&folder, "eye.npy", "<f4", "(16, 16)", &cells);
    let words = ["compress", "@eye.npy", "@eye.blz", "--eps", "1e-1"];
    assert_snapshot!(ran_in(&folder, &words));
    let forced = ran_in(&folder, &[&words[..], &["--force"]].concat());
    assert_eq!(forced.exit, Exit::Fine, "{forced}");
}

#[test]
fn ranks_and_a_tolerance_that_exclude_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    doubles(&folder, "a.npy", "(20, 24, 22)", &smooth([20, 24, 22]));
    let words = [
        "compress",
        "@a.npy",
        "@a.blz",
        "--eps",
        "1e-9",
        "--max-rank",
        "3",
    ];
    assert_snapshot!("rank_limit", ran_in(&folder, &words));
    assert!(!folder.path().join("a.blz").exists());
    let words = [&words[..], &["--best-effort"]].concat();
    assert_snapshot!("best_effort", ran_in(&folder, &words));
    let words = ["compress", "@a.npy", "@b.blz", "--max-rank", "2,4"];
    assert_snapshot!("ranks_alone", ran_in(&folder, &words));
    let words = ["compress", "@a.npy", "@c.blz", "--abs-error", "1e-3"];
    assert_snapshot!("absolute", ran_in(&folder, &words));
    let words = ["compress", "@a.npy", "@d.blz", "--max-rank", "2,4,2"];
    assert_snapshot!("too_many_ranks", ran_in(&folder, &words));
}

#[test]
fn a_cell_that_is_not_finite_is_named_as_the_tensor_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut cells = smooth([4, 6, 8]);
    cells[2 * 48 + 3 * 8 + 5] = f64::NAN;
    doubles(&folder, "nan.npy", "(4, 6, 8)", &cells);
    let words = ["compress", "@nan.npy", "@a.blz", "--eps", "1e-3"];
    assert_snapshot!("nan", ran_in(&folder, &words));
    let split = ran_in(&folder, &[&words[..], &["--qtt"]].concat());
    assert_eq!(split.errors, ran_in(&folder, &words).errors);
}

#[test]
fn a_part_of_a_file_is_compressed_whichever_way_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = doubles(&folder, "a.npy", "(20, 24, 22)", &smooth([20, 24, 22]));
    let sliced = format!("{}[:10, 1, :]", file.display());
    let flags = ["--eps", "1e-8", "--no-sync"];
    for words in [
        &["compress", &sliced, "@b.blz", "--force"][..],
        &["compress", "@a.npy", ":10, 1, :", "@b.blz", "--force"],
        &[
            "compress",
            "@a.npy",
            "@b.blz",
            "--slice",
            ":10, 1, :",
            "--force",
        ],
        &["compress", "@a.npy", ":10, 1, :", "-o", "@b.blz", "--force"],
    ] {
        let ran = ran_in(&folder, &[words, &flags].concat());
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        assert!(ran.errors.contains("f64 [10, 22] becomes a train"), "{ran}");
    }
}

#[test]
fn trains_flow_through_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let file = doubles(&folder, "a.npy", "(20, 24, 22)", &smooth([20, 24, 22]));
    let bytes = std::fs::read(file).unwrap();
    let ran = tenfold_with(["compress", "-", "-", "--eps", "1e-6", "-q"], bytes.clone());
    assert_eq!(
        (ran.exit, ran.errors.as_str()),
        (Exit::Fine, ""),
        "{}",
        ran.errors
    );
    assert!(ran.out.starts_with(b"BLZ1"));
    let back = tenfold_with(["reconstruct", "-", "-"], ran.out);
    assert!(back.out.starts_with(b"\x93NUMPY"), "{}", back.errors);
    let ran = tenfold_with(["compress", "-", "-", "--eps", "1", "--json"], bytes);
    assert_snapshot!("json_and_bytes", ran);
}

#[test]
fn what_is_asked_for_must_make_sense() {
    let folder = tempfile::tempdir().unwrap();
    doubles(&folder, "a.npy", "(20, 24, 22)", &smooth([20, 24, 22]));
    let many = corpus("ztensor/good/tensors_25.zt");
    let snap = |words: &[&str]| ran_in(&folder, words);
    assert_snapshot!("no_tolerance", snap(&["compress", "@a.npy", "@a.blz"]));
    let words = ["compress", "@a.npy", "@b.npy", "--eps", "1"];
    assert_snapshot!("no_room_for_trains", snap(&words));
    let words = ["compress", many.as_str(), "@a.blz", "--eps", "1"];
    assert_snapshot!("one_of_many", snap(&words));
    let words = ["compress", "@a.npy", "@a.blz", "--eps", "1e-3"];
    assert_eq!(snap(&words).exit, Exit::Fine);
    assert_snapshot!("exists", snap(&words));
    let words = ["compress", "@a.npy", "@a.foo", "--eps", "1e-3"];
    assert_snapshot!("no_format", snap(&words));
}

#[test]
fn a_sweep_shows_what_tolerances_cost() {
    let folder = tempfile::tempdir().unwrap();
    let cells = smooth([20, 24, 22]);
    doubles(&folder, "a.npy", "(20, 24, 22)", &cells);
    let words = ["compress", "@a.npy", "--sweep", "1e-1..1e-8"];
    let drawn = ran_in(&folder, &words).to_string();
    assert_snapshot!(drawn.replace(&format!("{}/", folder.path().display()), ""));
    let report = json(&ran_in(&folder, &[&words[..], &["--json"]].concat()));
    assert_eq!(report["schema"], "tenfold.sweep/1");
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 8);
    // Each step is what compress gives.
    for step in steps {
        let eps = step["eps"].as_f64().unwrap().to_string();
        let words = [
            "compress", "@a.npy", "@a.blz", "--eps", &eps, "--json", "--force",
        ];
        let alone = json(&ran_in(&folder, &words));
        assert_eq!(alone["tensors"][0]["train"]["ranks"], step["ranks"]);
    }
}

#[test]
fn a_source_larger_than_the_memory_allowed_is_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    // 8 MiB, of rank 2: sin(x + y) over a line of 2^20 points.
    let cells: Vec<f64> = (0..1_u32 << 20)
        .map(|n| (f64::from(n) / 1e4).sin())
        .collect();
    doubles(&folder, "a.npy", "(64, 16, 1024)", &cells);
    let words = [
        "compress", "@a.npy", "@a.blz", "--eps", "1e-10", "--memory", "1MiB", "--verify", "--json",
    ];
    let report = json(&ran_in(&folder, &words));
    let train = &report["tensors"][0]["train"];
    assert_eq!(train["ranks"], serde_json::json!([1, 2, 2, 1]));
    assert!(train["measured"]["relative_error"].as_f64().unwrap() < 1e-10);
    let words = ["reconstruct", "@a.blz", "@b.npy", "--memory", "1MiB"];
    assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
    assert!(distance(&cells, &cells_of(&folder.path().join("b.npy"))) < 1e-10);
}

#[test]
fn convert_makes_trains_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    doubles(&folder, "a.npy", "(20, 24, 22)", &smooth([20, 24, 22]));
    let words = ["convert", "@a.npy", "@a.blz"];
    assert_snapshot!("convert_names_compress", ran_in(&folder, &words));
    let words = [&words[..], &["--eps", "1e-6"]].concat();
    let ran = ran_in(&folder, &words);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let words = ["compress", "@a.npy", "@b.blz", "--eps", "1e-6"];
    assert_eq!(
        ran_in(&folder, &words).errors.replace("b.blz", "a.blz"),
        ran.errors
    );
    let words = ["convert", "@a.npy", "@b.npy", "--eps", "1e-6"];
    assert_eq!(ran_in(&folder, &words).exit, Exit::Trouble);
}
