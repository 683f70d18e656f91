//! `tenfold tt`.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use insta::assert_snapshot;
use tempfile::TempDir;
use tenfold_cli::Exit;

use crate::compress::{cells_of, distance, doubles, ran_in, smooth};
use crate::support::train;

/// Two trains of rank 1: (1, 2, 3) with (1, -1), and (1, 0, 1) with (2, 2).
fn trains() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, bytes| std::fs::write(folder.path().join(name), bytes).unwrap();
    save("a.blz", train(&[1.0, 2.0, 3.0], &[1.0, -1.0]));
    save("b.blz", train(&[1.0, 0.0, 1.0], &[2.0, 5.0]));
    save("c.blz", train(&[1.0, 0.0], &[2.0, 5.0]));
    folder
}

#[test]
fn products_and_norms_are_those_of_the_cells() {
    let folder = trains();
    let said = |words: &[&str]| ran_in(&folder, words).to_string();
    // (1 + 3) (2 - 5) and the root of 14 times 2.
    assert_eq!(said(&["tt", "dot", "@a.blz", "@b.blz"]), "-12.0\n[exit 0]");
    let norm: f64 = ran_in(&folder, &["tt", "norm", "@a.blz"])
        .text()
        .trim()
        .parse()
        .unwrap();
    assert!((norm - 28_f64.sqrt()).abs() < 1e-14, "{norm}");
    let json = ran_in(&folder, &["tt", "dot", "@a.blz", "@b.blz", "--json"]).text();
    assert!(json.ends_with("\"re\":-12.0,\"im\":0.0}\n"), "{json}");
    assert_snapshot!("shapes_differ", said(&["tt", "dot", "@a.blz", "@c.blz"]));
    let several = ran_in(&folder, &["tt", "norm", "@a.blz", "@b.blz", "--json"]);
    assert_eq!(several.text().lines().count(), 2, "{several}");
}

#[test]
fn sums_and_distances_are_those_of_the_cells() {
    let folder = trains();
    let said = |words: &[&str]| ran_in(&folder, words).to_string();
    let cells = |name: &str| {
        let back = format!("{name}.npy");
        let words = ["reconstruct", &format!("@{name}.blz"), &format!("@{back}")];
        assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
        cells_of(&folder.path().join(back))
    };
    for words in [
        ["tt", "add", "@a.blz", "@b.blz", "@sum.blz", "-q"],
        ["tt", "sub", "@a.blz", "@b.blz", "@difference.blz", "-q"],
    ] {
        assert_eq!(said(&words), "[exit 0]");
        let again = ran_in(&folder, &words).to_string();
        assert!(again.contains("--force"), "{again}");
    }
    assert_eq!(cells("sum"), [3.0, 4.0, 2.0, -2.0, 5.0, 2.0]);
    assert_eq!(cells("difference"), [-1.0, -6.0, 2.0, -2.0, 1.0, -8.0]);
    let number = |words: &[&str]| -> f64 { ran_in(&folder, words).text().trim().parse().unwrap() };
    let found = number(&["tt", "distance", "@a.blz", "@b.blz"]);
    assert!((found - 110_f64.sqrt()).abs() < 1e-13, "{found}");
    assert!(number(&["tt", "distance", "@a.blz", "@a.blz"]) < 1e-15);
    let json = ran_in(&folder, &["tt", "distance", "@a.blz", "@b.blz", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&json.text()).unwrap();
    assert_eq!(report["schema"], "tenfold.tt-distance/1");
    let relative = report["relative"].as_f64().unwrap();
    assert!((relative - (110.0_f64 / 28.0).sqrt()).abs() < 1e-13);
    let wrong = said(&["tt", "add", "@a.blz", "@c.blz", "@e.blz"]);
    assert!(wrong.contains("shape"), "{wrong}");
    let nowhere = said(&["tt", "add", "@a.blz", "@b.blz"]);
    assert!(nowhere.contains("nothing says where to write"), "{nowhere}");
}

#[test]
fn uneven_trains_are_rounded_within_what_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, bytes| std::fs::write(folder.path().join(name), bytes).unwrap();
    save("a.blz", train(&[1.0, 2.0, 3.0], &[1e-16, -1e-16]));
    save("b.blz", train(&[1e-16, 0.0, 1e-16], &[2.0, 5.0]));
    for words in [
        &["tt", "add", "@a.blz", "@b.blz", "@sum.blz", "-q"][..],
        &[
            "tt",
            "round",
            "@sum.blz",
            "@small.blz",
            "--eps",
            "1e-6",
            "-q",
        ],
        &["reconstruct", "@small.blz", "@small.npy", "-q"],
    ] {
        assert_eq!(ran_in(&folder, words).exit, Exit::Fine);
    }
    let wanted = [3.0, 4.0, 2.0, -2.0, 5.0, 2.0].map(|cell| cell * 1e-16);
    let found = distance(&wanted, &cells_of(&folder.path().join("small.npy")));
    assert!(found <= 1e-6, "{found}");
    let norm = ran_in(&folder, &["tt", "norm", "@sum.blz"]).text();
    let norm: f64 = norm.trim().parse().unwrap();
    assert!((norm / 62_f64.sqrt() / 1e-16 - 1.0).abs() < 1e-13, "{norm}");
}

#[test]
fn info_says_how_a_train_is_built() {
    let folder = trains();
    doubles(&folder, "d.npy", "(20, 24, 22)", &smooth([20, 24, 22]));
    let words = ["compress", "@d.npy", "@d.blz", "--eps", "1e-3", "-q"];
    assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
    let place = format!("{}/", folder.path().display());
    let said = |words: &[&str]| ran_in(&folder, words).to_string().replace(&place, "");
    assert_snapshot!("info", said(&["tt", "info", "@d.blz"]));
    assert_snapshot!("info_of_rank_1", said(&["tt", "info", "@a.blz"]));
    let ran = ran_in(&folder, &["tt", "info", "@b.blz", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    let built = &report["trains"][0];
    assert_eq!(report["schema"], "tenfold.tt-info/1");
    assert_eq!(built["ranks"], serde_json::json!([1, 1, 1]));
    assert_eq!(
        (&built["numbers"], &built["bytes"]),
        (&5.into(), &40.into())
    );
    for norm in [&built["norm"], &built["spectra"][0][0]] {
        let norm = norm.as_f64().unwrap();
        assert!((norm - 58_f64.sqrt()).abs() < 1e-14, "{norm}");
    }
    assert_snapshot!("no_train", said(&["tt", "info", "@d.npy"]));
}

#[test]
fn rounding_leaves_out_as_much_as_allowed_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let cells = smooth([20, 24, 22]);
    doubles(&folder, "a.npy", "(20, 24, 22)", &cells);
    let words = ["compress", "@a.npy", "@a.blz", "--eps", "1e-10", "-q"];
    assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
    let words = ["tt", "round", "@a.blz", "@b.blz", "--eps", "1e-3"];
    assert_snapshot!("round", ran_in(&folder, &words));
    assert_eq!(
        ran_in(&folder, &["reconstruct", "@b.blz", "@b.npy"]).exit,
        Exit::Fine
    );
    let found = distance(&cells, &cells_of(&folder.path().join("b.npy")));
    assert!((1e-5..=1e-3).contains(&found), "{found}");
    let words = [
        "tt",
        "round",
        "@a.blz",
        "@c.blz",
        "--max-rank",
        "2",
        "--json",
    ];
    let ran = ran_in(&folder, &words);
    let report: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(
        report["trains"][0]["ranks"],
        serde_json::json!([1, 2, 2, 1])
    );
    assert_snapshot!(
        "no_smallness",
        ran_in(&folder, &["tt", "round", "@a.blz", "@d.blz"])
    );
}
