//! Files of integrals, from end to end.

use insta::assert_snapshot;

use crate::support::{corpus, tenfold};

/// Packs integrals by all their symmetries.
const PACKED: [&str; 6] = [
    "--pack", "two=bacd", "--pack", "two=abdc", "--pack", "two=cdab",
];

#[test]
fn integrals_are_described_with_their_symmetries_and_settings() {
    assert_snapshot!(tenfold([
        "info".into(),
        corpus("fcidump/good/h2.fcidump"),
        corpus("fcidump/good/complex.fcidump"),
        corpus("fcidump/good/both_orders.fcidump"),
    ]));
}

#[test]
fn refusals_name_the_line_and_the_byte() {
    let files = [
        "no_namelist",
        "cut_in_namelist",
        "no_norb",
        "norb_gigantic",
        "IUHF_1",
        "more_after_end",
        "orbital_beyond",
        "orbitals_1110",
        "three_orbitals",
        "real_among_complex",
        "core_twice",
        "integral_twice_by_symmetry",
    ];
    let files = files.map(|name| corpus(&format!("fcidump/bad/{name}.fcidump")));
    let words = std::iter::once("verify".to_owned()).chain(files);
    assert_snapshot!(tenfold(words));
}

#[test]
fn what_is_not_packed_is_refused_and_packed_where_it_is_asked_for() {
    let both = corpus("fcidump/good/both_orders.fcidump");
    let words = ["convert", &both, "-", "--to", "fcidump"];
    assert_snapshot!("not_packed", tenfold(words));
    let words = words.into_iter().chain(PACKED);
    let words = words.chain(["--symmetry-tol", "1e-12"]);
    assert_snapshot!("packed", tenfold(words));
}

#[test]
fn arrays_become_integrals_where_they_have_the_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, arrays, back) = (
        corpus("fcidump/good/h2.fcidump"),
        path("h2.npz"),
        path("back.fcidump"),
    );
    tenfold(["convert", &file, &arrays, "--no-carry"]);
    let refused = tenfold(["convert", &arrays, "-", "--to", "fcidump"]).to_string();
    assert_snapshot!("arrays", refused.replace(&arrays, "h2.npz"));
    let words = ["convert", &arrays, &back, "--sparse=???"];
    let words = words.into_iter().chain(PACKED);
    tenfold(words.chain(["--pack", "one=ba"]));
    let text = std::fs::read_to_string(&back).unwrap();
    let own = std::fs::read_to_string(&file).unwrap();
    let integrals = |text: &str| text.split("&END\n").last().unwrap().to_owned();
    assert_eq!(integrals(&text), integrals(&own));
    let other = corpus("npz/good/deflated.npz");
    assert_snapshot!(
        "other_names",
        tenfold(["convert", &other, "-", "--to", "fcidump"])
    );
}
