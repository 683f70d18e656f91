//! `tenfold show`.

use std::io;

use insta::assert_snapshot;
use tenfold_cli::{Exit, Streams, run};

use crate::support::{Failing, Shared, corpus, tenfold, tenfold_with, train, words};

#[test]
fn json_follows_the_contract() {
    let file = corpus("blz/good/page_example.blz");
    assert_snapshot!(tenfold(["show", "--json", &file]));
}

#[test]
fn json_has_words_for_what_is_no_number() {
    let file = corpus("blz/good/specials_complex.blz");
    assert_snapshot!(tenfold(["show", "--json", &file]));
}

#[test]
fn json_has_the_notes() {
    let file = corpus("blz/good/lenient_reserved.blz");
    assert_snapshot!(tenfold(["show", "--json", "--lenient", &file]));
}

#[test]
fn a_small_train_is_multiplied_out() {
    let file = corpus("blz/good/page_example.blz");
    assert_snapshot!(tenfold(["show", &file]));
}

#[test]
fn notes_go_to_the_errors() {
    let file = corpus("blz/good/lenient_reserved.blz");
    assert_snapshot!(tenfold(["show", "--lenient", &file]));
}

#[test]
fn an_empty_tensor_has_empty_brackets() {
    let file = corpus("blz/good/empty.blz");
    assert_snapshot!(tenfold(["show", &file]));
}

#[test]
fn of_a_large_tensor_the_edges_are_shown() {
    let left: Vec<f64> = (0..50).map(f64::from).collect();
    let file = train(&left, &left);
    assert_snapshot!(tenfold_with(["show", "-"], file));
}

#[test]
fn a_malformed_file_shows_nothing() {
    let file = corpus("blz/bad/one_byte_more.blz");
    assert_snapshot!(tenfold(["show", &file]));
}

#[test]
fn a_full_disk_is_said_and_a_closed_pipe_is_not() {
    let file = corpus("blz/good/page_example.blz");
    for (kind, exit, said) in [
        (io::ErrorKind::BrokenPipe, Exit::Fine, ""),
        (
            io::ErrorKind::StorageFull,
            Exit::Trouble,
            "tenfold: standard output: no storage space\n",
        ),
    ] {
        let errors = Shared::default();
        let mut streams = Streams::new(io::empty(), Failing(kind), errors.clone());
        assert_eq!(run(words(["show", &file]), &mut streams), exit);
        assert_eq!(String::from_utf8(errors.bytes()).unwrap(), said);
    }
}

#[test]
fn every_format_has_its_print() {
    for (name, file) in [
        ("tens", "tens/good/packed_pairs_amplitudes.tens"),
        ("ztensor", "ztensor/good/scalars.zt"),
        ("vespa", "vespa/good/label_control.tbf"),
        ("primitiv", "primitiv/good/model_adam.model"),
        ("metadata", "primitiv/good/optimizer_sgd.optimizer"),
    ] {
        assert_snapshot!(name, tenfold(["show".into(), corpus(file)]));
    }
}

#[test]
fn nothing_is_shown_of_a_file_with_a_wrong_checksum() {
    let file = corpus("ztensor/bad/crc32c_wrong.zt");
    assert_snapshot!(tenfold(["show", "--json", &file]));
}

#[test]
fn expanding_too_much_names_the_flag_that_allows_it() {
    let file = corpus("tens/huge/negative_cycle.tens");
    let ran = tenfold(["show", "--json", &file]);
    assert_eq!(ran.exit, Exit::No);
    assert!(ran.errors.contains("raise it with --max-decoded"), "{ran}");
}
