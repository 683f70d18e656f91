//! `tenfold reconstruct`.

use insta::assert_snapshot;
use tenfold_cli::Exit;

use crate::compress::{cells_of, distance, doubles, ran_in, smooth};
use crate::support::{npy, tenfold};

#[test]
fn cells_come_back_in_any_format_and_number_type() {
    let folder = tempfile::tempdir().unwrap();
    let cells = smooth([12, 10, 8]);
    doubles(&folder, "a.npy", "(12, 10, 8)", &cells);
    let words = ["compress", "@a.npy", "@a.blz", "--eps", "1e-7", "--force"];
    assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
    for name in ["b.npy", "b.tens", "b.zt"] {
        let out = format!("@{name}");
        let ran = ran_in(&folder, &["reconstruct", "@a.blz", &out, "--no-sync"]);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        let found = distance(&cells, &cells_of(&folder.path().join(name)));
        assert!(found <= 1e-7, "{name}: {found}");
    }
    let words = ["reconstruct", "@a.blz", "@c.npy", "--cast", "f32"];
    assert_snapshot!("cast", ran_in(&folder, &words));
    let words = ["reconstruct", "@a.npy", "@d.npy"];
    assert_snapshot!("no_train", ran_in(&folder, &words));
}

#[test]
fn like_restores_the_shape_and_the_number_type() {
    let folder = tempfile::tempdir().unwrap();
    // Whole numbers of low rank: i + 2 j.
    let numbers: Vec<i16> = (0..32_i16)
        .flat_map(|i| (0..32).map(move |j| i + 2 * j))
        .collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    npy(&folder, "whole.npy", "<i2", "(32, 32)", &bytes);
    let words = ["compress", "@whole.npy", "@a.blz", "--eps", "1e-5", "--qtt"];
    assert_snapshot!("whole_numbers", ran_in(&folder, &words));
    let words = ["reconstruct", "@a.blz", "@b.npy", "--like", "@whole.npy"];
    assert_snapshot!("like", ran_in(&folder, &words));
    let file = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(file("b.npy"), file("whole.npy"));
    doubles(&folder, "other.npy", "(4, 2)", &[0.0; 8]);
    let words = ["reconstruct", "@a.blz", "@c.npy", "--like", "@other.npy"];
    assert_snapshot!("unlike", ran_in(&folder, &words));
}

#[test]
fn a_value_without_room_is_refused_unless_permitted() {
    let folder = tempfile::tempdir().unwrap();
    let train = crate::support::train(&[1.0, 300.0], &[1.0, 2.0]);
    let path = folder.path().join("a.blz");
    std::fs::write(&path, train).unwrap();
    let words = ["reconstruct", "@a.blz", "@a.npy", "--cast", "u8"];
    assert_snapshot!("no_room", ran_in(&folder, &words));
    let ran = ran_in(&folder, &[&words[..], &["--allow", "precision"]].concat());
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let shown = tenfold(["show".into(), folder.path().join("a.npy")]).text();
    assert_eq!(shown, "u8 [2, 2] dense\n[[  1   2]\n [255 255]]\n");
}

#[test]
fn a_part_of_a_train_is_expanded_alone() {
    let folder = tempfile::tempdir().unwrap();
    let cells = smooth([12, 10, 8]);
    doubles(&folder, "a.npy", "(12, 10, 8)", &cells);
    let words = ["compress", "@a.npy", "@a.blz", "--eps", "1e-7", "--force"];
    assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
    for (slice, shape) in [("3, :, 7", "[10]"), ("3:5, :, :", "[2, 10, 8]")] {
        let words = ["reconstruct", "@a.blz", slice, "@b.npy", "--force"];
        let ran = ran_in(&folder, &words);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        let shown = tenfold(["show".into(), folder.path().join("b.npy")]).text();
        assert!(shown.starts_with(&format!("f64 {shape} dense")), "{shown}");
    }
    let found = cells_of(&folder.path().join("b.npy"));
    assert!(distance(&cells[240..400], &found) < 1e-6);
}

#[test]
fn dimensions_that_were_permuted_are_turned_back_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cells: Vec<f64> = smooth([5, 6, 7]);
    doubles(&folder, "a.npy", "(5, 6, 7)", &cells);
    let fine = |words: &[&str]| {
        let ran = ran_in(&folder, words);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        ran
    };
    let eps = ["--permute", "2,0,1", "--eps", "1e-12", "--force"];
    fine(&[&["compress", "@a.npy", "@t.zt"][..], &eps].concat());
    for like in [&[][..], &["--like", "@a.npy"]] {
        fine(&[&["reconstruct", "@t.zt", "@b.npy", "--force"][..], like].concat());
        fine(&["diff", "@a.npy", "@b.npy", "--atol", "1e-9"]);
    }
    let said = fine(&[&["compress", "@a.npy", "@t.blz"][..], &eps].concat());
    assert!(said.errors.contains("does not keep the order"), "{said}");
    let refused = ran_in(
        &folder,
        &["reconstruct", "@t.blz", "@c.npy", "--like", "@a.npy"],
    );
    assert_eq!(refused.exit.code(), 2, "{refused}");
    assert!(refused.errors.contains("in another order"), "{refused}");
    fine(&["reconstruct", "@t.blz", "@c.npy"]);
    fine(&["convert", "@c.npy", "@d.npy", "--permute", "1,2,0"]);
    fine(&["diff", "@a.npy", "@d.npy", "--atol", "1e-9"]);
}
