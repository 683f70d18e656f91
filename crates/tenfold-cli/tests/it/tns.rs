//! FROSTT's text, from end to end.

use insta::assert_snapshot;

use crate::support::{corpus, tenfold};

#[test]
fn a_sparse_tensor_is_described_with_its_comments() {
    assert_snapshot!(tenfold([
        "info".into(),
        corpus("tns/good/order_3.tns"),
        corpus("tns/good/extended.tns"),
        corpus("tns/good/comments_between.tns"),
        corpus("tns/good/no_entries.tns"),
    ]));
}

#[test]
fn refusals_name_the_line_and_the_byte() {
    let files = [
        "empty",
        "value_alone",
        "index_zero",
        "fewer_fields",
        "twice",
        "cells_2_64",
        "shape_exceeded",
        "extended_too_few",
        "extended_too_many",
        "extended_size_missing",
        "value_fortran",
    ];
    let files = files.map(|name| corpus(&format!("tns/bad/{name}.tns")));
    let words = std::iter::once("verify".to_owned()).chain(files);
    assert_snapshot!(tenfold(words));
}

#[test]
fn a_header_is_written_where_it_is_asked_for() {
    let plain = corpus("tns/good/shape_said.tns");
    let said = tenfold([
        "convert",
        &plain,
        "-",
        "--to",
        "tns",
        "--opt",
        "header=extended",
    ]);
    assert_snapshot!(said);
    let extended = corpus("tns/good/extended_comments.tns");
    let said = tenfold([
        "convert",
        &extended,
        "-",
        "--to",
        "tns",
        "--opt",
        "header=none",
    ]);
    assert_snapshot!("without", said);
}

#[test]
fn dense_values_are_listed_where_it_is_asked_for() {
    let array = corpus("npy/good/f64.npy");
    assert_snapshot!("dense", tenfold(["convert", &array, "-", "--to", "tns"]));
    assert_snapshot!(
        "sparse",
        tenfold(["convert", &array, "-", "--to", "tns", "--sparse"])
    );
}

#[test]
fn a_file_goes_to_another_format_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in [
        "order_4",
        "shape_said",
        "comments",
        "specials",
        "no_entries",
    ] {
        let file = corpus(&format!("tns/good/{name}.tns"));
        let (there, back) = (path(&format!("{name}.zt")), path(&format!("{name}.tns")));
        tenfold(["convert", &file, &there, "--to", "ztensor@2"]);
        tenfold(["convert", &there, &back]);
        let (file, back) = (std::fs::read(file).unwrap(), std::fs::read(back).unwrap());
        assert_eq!(file, back, "{name}");
    }
    let (text, packed) = (corpus("tns/good/matrix.tns"), path("m.tns.gz"));
    tenfold(["convert", &text, &packed]);
    let same = tenfold(["diff", &text, &packed]).to_string();
    assert!(same.contains("same"), "{same}");
}
