//! Matrix Market's text, from end to end.

use insta::assert_snapshot;

use crate::support::{corpus, tenfold, tenfold_in};

#[test]
fn a_matrix_is_described_with_its_symmetry_and_comments() {
    assert_snapshot!(tenfold([
        "info".into(),
        corpus("mtx/good/skew_sparse.mtx"),
        corpus("mtx/good/comments.mtx"),
        corpus("mtx/good/array_complex.mtx"),
    ]));
}

#[test]
fn refusals_name_the_line_and_the_byte() {
    let files = [
        "row_beyond",
        "too_many",
        "too_few",
        "twice",
        "skew_diagonal",
        "value_too_large",
        "integer_fraction",
        "field",
        "cells_2_64",
    ];
    let files = files.map(|name| corpus(&format!("mtx/bad/{name}.mtx")));
    let words = std::iter::once("verify".to_owned()).chain(files);
    assert_snapshot!(tenfold(words));
}

#[test]
fn what_has_no_word_is_carried_in_comments() {
    let packed = corpus("tens/good/packed_antihermitian.tens");
    let said = tenfold(["convert", &packed, "-", "--to", "mtx"]);
    assert_snapshot!(said);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.mtx");
    let path = path.to_str().unwrap();
    tenfold(["convert", &packed, path]);
    let same = tenfold(["diff", &packed, path]).to_string();
    assert!(
        same.contains("dtype c64 -> c128, all values equal"),
        "{same}"
    );
}

#[test]
fn a_sparse_matrix_keeps_its_triangle() {
    let pairs = corpus("tens/good/packed_pairs_symmetric.tens");
    assert_snapshot!(tenfold(["convert", &pairs, "-", "--to", "mtx"]));
    let order_3 = corpus("tens/good/pairs_sparse_flags.tens");
    assert_snapshot!(
        "no_matrix",
        tenfold(["convert", &order_3, "-", "--to", "mtx"])
    );
    let truths = corpus("npy/good/bool.npy");
    assert_snapshot!(
        "no_pattern",
        tenfold(["convert", &truths, "-", "--to", "mtx"])
    );
}

#[test]
fn zeros_that_are_stored_are_counted_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1.0\n2 1 0\n3 2 2.5\n";
    std::fs::write(folder.path().join("a.mtx"), text).unwrap();
    let ran = tenfold_in(&folder, &["convert", "@/a.mtx", "@/b.mtx", "--sparse"]);
    let said = "sparse: it is already, 3 stored cells, 1 of them zero";
    assert!(ran.exit.code() == 0 && ran.errors.contains(said), "{ran}");
}
