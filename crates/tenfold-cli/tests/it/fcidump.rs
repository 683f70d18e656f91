//! Files of integrals, from end to end.

use insta::assert_snapshot;
use tenfold_cli::Exit;

use crate::support::{corpus, npy, tenfold, tenfold_in};

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
        "integral_twice",
        "integral_twice_by_symmetry",
        "mirror_beyond_rounding",
    ];
    let files = files.map(|name| corpus(&format!("fcidump/bad/{name}.fcidump")));
    let words = std::iter::once("verify".to_owned()).chain(files);
    assert_snapshot!(tenfold(words));
}

#[test]
fn images_that_rounding_tells_apart_are_one_where_they_are_written() {
    let both = corpus("fcidump/good/mirror_absent.fcidump");
    assert_snapshot!("described", tenfold(["info".into(), both.clone()]));
    let words = ["convert", &both, "-", "--to", "fcidump"];
    assert_snapshot!("written", tenfold(words));
    let words = words.into_iter().chain(PACKED);
    assert_snapshot!("packed", tenfold(words));
}

#[test]
fn every_command_agrees_about_images_that_differ_or_are_absent() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "mirror_absent",
        "mirror_rounded",
        "mirror_of_one",
        "swapped",
        "both_orders",
    ];
    for name in names {
        let file = corpus(&format!("fcidump/good/{name}.fcidump"));
        let arrays = folder.path().join(format!("{name}.npz"));
        let arrays = arrays.to_str().unwrap();
        for words in [
            vec!["info", file.as_str()],
            vec!["verify", &file],
            vec!["hash", &file],
            vec!["convert", &file, arrays, "--no-carry"],
            vec!["diff", &file, arrays],
        ] {
            let ran = tenfold(&words);
            assert_eq!(ran.exit, Exit::Fine, "{words:?}\n{ran}");
        }
        let hash = |path: &str| {
            let ran = tenfold(["hash", "--dense", path]).text();
            ran.split_whitespace().next().unwrap().to_owned()
        };
        assert_eq!(hash(&file), hash(arrays), "{name}");
    }
    let files = ["mirror_beyond_rounding", "integral_twice", "energy_twice"];
    for name in files {
        let file = corpus(&format!("fcidump/bad/{name}.fcidump"));
        for command in ["info", "verify", "hash", "stats", "show"] {
            let ran = tenfold([command, &file]).to_string();
            assert!(ran.contains("not a valid fcidump file: line "), "{ran}");
            assert!(ran.contains(" on line "), "{ran}");
        }
    }
}

#[test]
fn arrays_become_integrals_with_the_settings_that_programs_ask_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, arrays, back) = (
        corpus("fcidump/good/h2.fcidump"),
        path("h2.npz"),
        path("back.fcidump"),
    );
    tenfold(["convert", &file, &arrays, "--no-carry"]);
    let shown = |ran: String| {
        ran.replace(&arrays, "h2.npz")
            .replace(&back, "back.fcidump")
    };
    let refused = tenfold(["convert", &arrays, &back]).to_string();
    assert_snapshot!("no_settings", shown(refused));
    let wrong = tenfold(["convert", &arrays, &back, "--opt", "nelec=two,ms2=0"]);
    assert_snapshot!("no_number", shown(wrong.to_string()));
    let written = tenfold(["convert", &arrays, &back, "--opt", "nelec=2,ms2=0"]);
    assert_snapshot!("arrays", shown(written.to_string()));
    let text = std::fs::read_to_string(&back).unwrap();
    let own = std::fs::read_to_string(&file).unwrap();
    let integrals = |text: &str| text.split("&END\n").last().unwrap().to_owned();
    assert_eq!(integrals(&text), integrals(&own));
    assert!(text.starts_with(" &FCI NORB=2,NELEC=2,MS2=0,\n"), "{text}");
    // The settings of a file are replaced where that is asked for.
    let again = tenfold(["convert", &back, "-", "--to", "fcidump", "--opt", "nelec=4"]);
    assert_snapshot!("replaced", shown(again.to_string()));
}

#[test]
fn a_matrix_of_any_name_becomes_one_electron_integrals() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = |name: &str, values: [f64; 4]| {
        let values = values.map(f64::to_le_bytes).concat();
        npy(&folder, name, "<f8", "(2, 2)", &values)
            .display()
            .to_string()
    };
    let convert = |input: &str, more: &[&str]| {
        let words = ["convert", input, "-", "--to", "fcidump"];
        let words = words.into_iter().chain(["--opt", "nelec=2,ms2=0"]);
        let ran = tenfold(words.chain(more.iter().copied())).to_string();
        ran.replace(folder.path().to_str().unwrap(), "")
    };
    let symmetric = matrix("a.npy", [1.0, 0.5, 0.5000000000000001, 2.0]);
    assert_snapshot!("symmetric", convert(&symmetric, &[]));
    let other = matrix("b.npy", [1.0, 0.5, 0.25, 2.0]);
    assert_snapshot!("not_symmetric", convert(&other, &[]));
    assert_snapshot!("mean", convert(&other, &["--symmetrize", "ba"]));
    let tolerated = ["--sparse", "--pack", "ba", "--symmetry-tol", "1.4e-1"];
    assert_snapshot!("first", convert(&other, &tolerated));
}

#[test]
fn a_core_energy_in_any_byte_order_is_written_as_the_number_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = 5.5_f64.to_be_bytes();
    npy(&folder, "core.npy", ">f8", "()", &bytes);
    let words = [
        "convert",
        "@/core.npy",
        "@/core.fcidump",
        "--opt",
        "nelec=2,ms2=0",
    ];
    assert_eq!(tenfold_in(&folder, &words).exit, Exit::Fine);
    let text = std::fs::read_to_string(folder.path().join("core.fcidump")).unwrap();
    assert!(text.ends_with("\n5.5 0 0 0 0\n"), "{text}");
}
