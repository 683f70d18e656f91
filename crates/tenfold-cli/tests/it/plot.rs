//! `tenfold plot`.
#![expect(clippy::indexing_slicing, reason = "only tests use it")]

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::support::{Ran, folder_with, npy, shown, tenfold_in};

/// A folder with `hill.npy`, 12 × 24 numbers that rise towards the middle, a row of it, and others.
fn folder() -> TempDir {
    let folder = folder_with(&[("train.blz", "blz/good/two_dims.blz")]);
    let far = |at: i16, middle: i16| f64::from((at - middle).abs());
    let cell = |place: i16| {
        let (row, column) = (place / 24, place % 24);
        10.0 - far(row, 6).max(far(column, 12) / 2.0)
    };
    let mut numbers: Vec<f64> = (0..12 * 24).map(cell).collect();
    (numbers[0], numbers[30]) = (f64::NAN, f64::INFINITY);
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    npy(&folder, "hill.npy", "<f8", "(12, 24)", &bytes);
    npy(
        &folder,
        "row.npy",
        "<f8",
        "(24,)",
        &bytes[6 * 24 * 8..7 * 24 * 8],
    );
    folder
}

fn plot(folder: &TempDir, words: &[&str]) -> Ran {
    tenfold_in(folder, &[&["plot"], words].concat())
}

#[test]
fn a_terminal_shows_a_heat_map_a_line_and_a_histogram() {
    let folder = folder();
    let term = |words: &[&str]| {
        let ran = plot(&folder, &[words, &["--term", "--size", "48x12"]].concat());
        shown(&folder, &ran)
    };
    assert_snapshot!("heat", term(&["@/hill.npy"]));
    assert_snapshot!("line", term(&["@/row.npy"]));
    assert_snapshot!("histogram", term(&["@/hill.npy", "--kind", "histogram"]));
    assert_snapshot!("part", term(&["@/hill.npy[4:8, ::6]", "--range", "5:10"]));
}

#[test]
fn pictures_are_written_once_unless_they_are_to_be_replaced() {
    let folder = folder();
    for (name, start) in [("a.png", &b"\x89PNG\r\n\x1a\n"[..]), ("a.SVG", b"<svg ")] {
        let output = format!("@/{name}");
        let ran = plot(&folder, &["@/hill.npy", "-o", &output]);
        assert_eq!(ran.to_string(), "[exit 0]");
        let file = folder.path().join(name);
        let bytes = std::fs::read(&file).unwrap();
        assert!(bytes.starts_with(start), "{name}");
        let again = plot(&folder, &["@/row.npy", "-o", &output]);
        assert_eq!(again.exit.code(), 2, "{again}");
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
        let ran = plot(&folder, &["@/row.npy", "-o", &output, "--force"]);
        assert_eq!(ran.to_string(), "[exit 0]");
        assert_ne!(std::fs::read(&file).unwrap(), bytes);
    }
    let ran = plot(
        &folder,
        &["@/train.blz", "-o", "@/train.png", "--size", "320x200"],
    );
    assert_eq!(ran.to_string(), "[exit 0]");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let folder = folder_with(&[("labels.tbf", "vespa/good/blocks_130.tbf")]);
    npy(&folder, "row.npy", "<f4", "(1,)", &[0; 4]);
    for (name, words) in [
        ("no_output", &["@/row.npy"][..]),
        ("labels", &["@/labels.tbf", "--term"]),
        ("ending", &["@/row.npy", "-o", "@/row.gif"]),
        ("folder", &["@/row.npy", "-o", "@/none/row.png"]),
        ("colors", &["@/row.npy", "--term", "--colors", "jet"]),
        ("range", &["@/row.npy", "--term", "--range", "2:1"]),
        ("size", &["@/row.npy", "--term", "--size", "1x1"]),
        (
            "component",
            &["@/row.npy", "--term", "--component", "phase"],
        ),
    ] {
        assert_snapshot!(name, shown(&folder, &plot(&folder, words)));
    }
}
