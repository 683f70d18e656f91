//! `tenfold show --csv`.

use insta::assert_snapshot;

use crate::support::{corpus, tenfold};

fn csv(file: &str, flag: &str) -> String {
    tenfold(["show".to_owned(), flag.into(), corpus(file)]).to_string()
}

#[test]
fn tensors_become_tables_or_lists_of_cells() {
    for (name, file) in [
        ("matrix", "npy/good/fortran.npy"),
        ("specials", "npy/good/c128_specials.npy"),
        ("labelled", "vespa/good/mixed_f32.tbf"),
        ("sparse", "mtx/good/skew_sparse.mtx"),
        ("train", "blz/good/page_example.blz"),
        ("f128", "tens/good/f128_specials.tens"),
        ("several", "ztensor/good/scalars.zt"),
        ("added_up", "torch/good/sparse_coo_repeated.pt"),
    ] {
        assert_snapshot!(name, csv(file, "--csv"));
    }
}

#[test]
fn the_form_can_be_chosen() {
    assert_snapshot!("sparse_wide", csv("mtx/good/skew_sparse.mtx", "--csv=wide"));
    assert_snapshot!(
        "labelled_long",
        csv("vespa/good/mixed_f32.tbf", "--csv=long")
    );
    assert_snapshot!(
        "cube_wide",
        csv("tens/good/pairs_sparse_flags.tens", "--csv=wide")
    );
}
