//! `tenfold info`.

use insta::assert_snapshot;

use crate::support::{corpus, tenfold, tenfold_with};

#[test]
fn files_are_described_one_after_the_other() {
    let ran = tenfold([
        "info".into(),
        corpus("blz/good/page_example.blz"),
        corpus("blz/good/four_dims_complex.blz"),
        corpus("blz/huge/most_dims.blz"),
    ]);
    assert_snapshot!(ran);
}

#[test]
fn json_has_one_object_a_line() {
    let ran = tenfold([
        "info".into(),
        "--json".into(),
        corpus("blz/good/page_example.blz"),
        corpus("blz/huge/beyond_u64.blz"),
    ]);
    for line in ran.text().lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    assert_snapshot!(ran);
}

#[test]
fn notes_belong_to_the_description() {
    let file = corpus("blz/good/lenient_reserved.blz");
    assert_snapshot!(tenfold(["info", "--lenient", &file]));
}

#[test]
fn a_broken_file_does_not_keep_the_others_from_being_described() {
    let ran = tenfold([
        "info".into(),
        corpus("blz/bad/cut_at_54.blz"),
        "no/such/file.blz".into(),
        corpus("blz/good/page_example.blz"),
    ]);
    assert_snapshot!(ran);
}

#[test]
fn standard_input_is_a_dash() {
    let input = std::fs::read(corpus("blz/good/page_example.blz")).unwrap();
    assert_snapshot!(tenfold_with(["info", "-"], input));
}

#[test]
fn standard_input_can_be_read_once() {
    let input = std::fs::read(corpus("blz/good/page_example.blz")).unwrap();
    let ran = tenfold_with(["info", "-", "-"], input);
    assert_eq!(
        ran.errors,
        "tenfold: -: standard input can be read only once\n"
    );
    assert_eq!(ran.exit.code(), 2);
}

#[test]
fn what_no_format_claims_is_not_recognised() {
    assert_snapshot!(tenfold_with(["info", "-"], b"hello".to_vec()));
}

#[test]
fn a_limit_names_the_flag_that_raises_it() {
    let file = corpus("blz/good/page_example.blz");
    assert_snapshot!(tenfold(["info", "--max-ndim", "1", &file]));
    assert_eq!(tenfold(["info", "--max-ndim=1_000", &file]).exit.code(), 0);
}

#[test]
fn a_folder_without_a_tensor_file_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let ran = tenfold(["info".as_ref(), folder.path().as_os_str()]);
    assert!(ran.errors.ends_with(": an empty folder\n"), "{ran}");
    std::fs::write(folder.path().join("README.md"), "# Words\n").unwrap();
    let ran = tenfold(["info".as_ref(), folder.path().as_os_str()]);
    let said = ": no tensor file in it: README.md: no known format\n";
    assert!(ran.errors.ends_with(said) && ran.exit.code() == 1, "{ran}");
}

#[test]
fn names_symmetries_and_metadata_are_told() {
    let files = [
        "ztensor/good/names.zt",
        "ztensor/good/custom_fields.zt",
        "ztensor/good/layout_unknown.zt",
        "primitiv/good/model_adam.model",
        "primitiv/good/optimizer_adam.optimizer",
        "tens/good/packed_pairs_amplitudes.tens",
        "vespa/good/mixed_f32.tbf",
    ];
    let words = std::iter::once("info".to_owned());
    let ran = tenfold(words.chain(files.into_iter().map(corpus)));
    assert!(!ran.text().contains('\u{1b}'));
    assert_snapshot!(ran);
}

#[test]
fn json_counts_packed_cells() {
    let file = corpus("tens/huge/pairs_antisymmetric.tens");
    assert_snapshot!(tenfold(["info", "--json", &file]));
}

#[test]
fn what_a_train_says_of_its_compression_is_metadata() {
    let file = corpus("blz/good/second_capped.blz");
    assert_snapshot!(tenfold(["info", &file]));
    let flipped = corpus("blz/bad/second_flipped_223.blz");
    assert_snapshot!("a_flipped_bit", tenfold(["verify", &flipped]));
}
