//! Trains whose products leave the range of doubles, hold what is no number, or have no cells.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use tempfile::TempDir;
use tenfold_cli::Exit;

use crate::compress::{cells_of, doubles, ran_in};
use crate::support::{Ran, corpus, npy};

/// The bytes of a train of rank 1.
fn rank_one(cores: &[&[f64]]) -> Vec<u8> {
    let mut file = b"BLZ1\x01\x00".to_vec();
    file.push(u8::try_from(cores.len()).unwrap());
    file.extend([0; 8]);
    let sizes = cores.iter().map(|core| core.len());
    let ranks = std::iter::repeat_n(1, cores.len() + 1);
    for number in sizes.chain(ranks) {
        file.extend(u64::try_from(number).unwrap().to_le_bytes());
    }
    for number in cores.iter().copied().flatten() {
        file.extend(number.to_le_bytes());
    }
    file
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, cores: &[&[f64]]| {
        std::fs::write(folder.path().join(name), rank_one(cores)).unwrap();
    };
    save("plain.blz", &[&[1.0, 2.0], &[1.0, 3.0]]);
    save("large.blz", &[&[1e200, 2e200], &[1e200, 3e200]]);
    save("small.blz", &[&[1e-200, 2e-200], &[1e-200, 3e-200]]);
    save(
        "uneven.blz",
        &[
            &[1e-200, 2e-200],
            &[1e-200, 3e-200],
            &[1e200, 1e200],
            &[1e200, 2e200],
        ],
    );
    save("part.blz", &[&[1e200, 1.0], &[1e200, 1e-200]]);
    save("nan.blz", &[&[1.0, f64::NAN], &[1.0, 2.0]]);
    save("empty.blz", &[&[], &[1.0, 2.0, 3.0]]);
    folder
}

fn assert_says(ran: &Ran, exit: Exit, words: &[&str]) {
    assert_eq!(ran.exit, exit, "{ran}");
    for word in words {
        assert!(ran.errors.contains(word), "{word:?}: {ran}");
    }
}

#[test]
fn a_cell_that_is_no_double_is_an_error_and_never_infinite() {
    let folder = folder();
    let run = |words: &[&str]| ran_in(&folder, words);
    let large = [
        "large.blz: cell [0, 0] of the train is",
        "no double holds it",
    ];
    for words in [
        &["reconstruct", "@large.blz", "@x.npy"][..],
        &["reconstruct", "@large.blz", "@x.tens"],
        &["convert", "@large.blz", "@x.npy", "--allow", "train"],
        &["show", "@large.blz"],
        &["stats", "@large.blz"],
    ] {
        let ran = run(words);
        assert!(
            ran.errors.contains(large[0]) && ran.errors.contains(large[1]),
            "{words:?}: {ran}"
        );
        assert_ne!(ran.exit, Exit::Fine, "{ran}");
    }
    assert!(!folder.path().join("x.npy").exists());
    let ran = run(&["reconstruct", "@small.blz", "@x.npy"]);
    assert_says(
        &ran,
        Exit::Refused,
        &["small.blz: the cells of the train are about 2^-13"],
    );
    // What is in range is shown, whatever lies beside it.
    let shown = run(&["show", "@part.blz", "[1, :]"]).text();
    assert!(shown.contains("1e200 1e-200"), "{shown}");
    let ran = run(&["show", "@part.blz", "[:, 0]"]);
    assert_says(&ran, Exit::Refused, &["part.blz: cell [0, 0] of the train"]);
}

#[test]
fn cells_in_range_are_right_wherever_their_products_go() {
    let folder = folder();
    let wanted = [
        1.0, 2.0, 1.0, 2.0, 3.0, 6.0, 3.0, 6.0, 2.0, 4.0, 2.0, 4.0, 6.0, 12.0, 6.0, 12.0,
    ];
    for (number, words) in [
        &["reconstruct", "@uneven.blz"][..],
        &["convert", "@uneven.blz", "--allow", "train"],
        &["convert", "@uneven.blz", "--dense"],
    ]
    .iter()
    .enumerate()
    {
        let out = format!("{number}.npy");
        let ran = ran_in(&folder, &[*words, &["-o", &format!("@{out}")]].concat());
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        for (found, wanted) in cells_of(&folder.path().join(out)).iter().zip(wanted) {
            assert!(
                (found / wanted - 1.0_f64).abs() < 1e-14,
                "{found} for {wanted}"
            );
        }
    }
    // Places taken out of it leave a train that stands for the same cells.
    for (slice, wanted) in [
        ("[1, ...]", &wanted[8..]),
        ("[..., 1]", &[2.0, 2.0, 6.0, 6.0]),
    ] {
        let part = format!("@uneven.blz:{slice}");
        let words = ["convert", &part, "@part.blz", "--force", "-q"];
        assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
        let words = ["reconstruct", "@part.blz", "@part.npy", "--force", "-q"];
        assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
        let found = cells_of(&folder.path().join("part.npy"));
        for (found, wanted) in found.iter().zip(wanted) {
            assert!(
                (found / wanted - 1.0_f64).abs() < 1e-14,
                "{slice}: {found} for {wanted}"
            );
        }
    }
}

#[test]
fn norms_and_products_beyond_the_range_name_the_files() {
    let folder = folder();
    let run = |words: &[&str]| ran_in(&folder, words);
    for (words, said) in [
        (
            ["tt", "distance", "@large.blz", "@plain.blz"],
            "the norm of the train is",
        ),
        (
            ["tt", "distance", "@plain.blz", "@large.blz"],
            "the norm of the train is",
        ),
        (
            ["tt", "dot", "@large.blz", "@large.blz"],
            "the inner product is",
        ),
        (
            ["tt", "dot", "@nan.blz", "@plain.blz"],
            "the train holds NaN, at [0, 1, 0] of core 1 of 2",
        ),
        (
            ["tt", "distance", "@nan.blz", "@plain.blz"],
            "the train holds NaN",
        ),
    ] {
        let ran = run(&words);
        let both = format!("{} and {}: {said}", &words[2][1..], &words[3][1..]);
        assert_says(&ran, Exit::Refused, &[&both]);
        assert_eq!(ran.text(), "");
    }
    for words in [
        &["tt", "norm", "@nan.blz"][..],
        &["tt", "info", "@nan.blz"],
        &["tt", "round", "@nan.blz", "@x.blz", "--eps", "1e-3"],
    ] {
        let said = "nan.blz: the train holds NaN, at [0, 1, 0] of core 1 of 2";
        assert_says(&run(words), Exit::Refused, &[said]);
    }
    for command in ["add", "sub"] {
        let ran = run(&["tt", command, "@plain.blz", "@uneven.blz", "@x.blz"]);
        let said = "plain.blz and uneven.blz: one tensor has shape [2, 2], the other [2, 2, 2, 2]";
        assert_says(&ran, Exit::Trouble, &[said]);
    }
}

#[test]
fn a_train_without_cells_has_a_norm_and_is_rounded_as_it_is() {
    let folder = folder();
    let run = |words: &[&str]| ran_in(&folder, words);
    assert_eq!(
        run(&["tt", "norm", "@empty.blz"]).to_string(),
        "0.0\n[exit 0]"
    );
    let info = run(&["tt", "info", "@empty.blz"]);
    assert!(
        info.exit == Exit::Fine && info.text().contains("numbers  3"),
        "{info}"
    );
    let ran = run(&["tt", "round", "@empty.blz", "@same.blz", "--max-rank", "1"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("same.blz") == read("empty.blz"));
    let ran = run(&["tt", "dot", "@empty.blz", "@empty.blz"]);
    assert_says(&ran, Exit::Trouble, &["empty.blz: a train without cells"]);
    npy(&folder, "nothing.npy", "<f8", "(0, 3)", &[]);
    let ran = run(&["compress", "@nothing.npy", "@x.blz", "--eps", "1e-3"]);
    assert_says(
        &ran,
        Exit::Trouble,
        &["nothing.npy: a tensor without cells has no train"],
    );
}

#[test]
fn sums_are_expanded_where_that_is_permitted() {
    let folder = folder();
    let run = |words: &[&str]| ran_in(&folder, words);
    let words = ["tt", "sub", "@plain.blz", "@plain.blz", "@x.npy"];
    assert_says(&run(&words), Exit::Refused, &["--allow train"]);
    let ran = run(&[&words[..], &["--allow", "train"]].concat());
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    assert_eq!(cells_of(&folder.path().join("x.npy")), [0.0; 4]);
    let words = [
        "tt",
        "round",
        "@plain.blz",
        "@y.npy",
        "--eps",
        "1e-3",
        "--allow",
        "train",
    ];
    assert_eq!(run(&words).exit, Exit::Fine);
    assert_eq!(cells_of(&folder.path().join("y.npy")).len(), 4);
}

#[test]
fn trains_of_narrower_numbers_are_computed_and_a_cast_says_what_it_changed() {
    let folder = folder();
    let run = |words: &[&str]| ran_in(&folder, words);
    doubles(&folder, "a.npy", "(2, 3)", &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
    let words = ["compress", "@a.npy", "@a.zt", "--eps", "0", "--force", "-q"];
    assert_eq!(run(&words).exit, Exit::Fine);
    for (number, near) in [("f32", 1e-6), ("bf16", 0.05), ("f16", 1e-2)] {
        let out = format!("@{number}.zt");
        let ran = run(&["convert", "@a.zt", &out, "--cast", number]);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        assert!(ran.errors.contains("values are rounded, by "), "{ran}");
        assert!(run(&["tt", "norm", &out]).exit == Exit::Fine);
        for words in [
            ["reconstruct", &out, "@b.npy", "--cast=f64"],
            ["convert", &out, "@b.npy", "--allow=train"],
        ] {
            let ran = run(&[&words[..], &["--force"]].concat());
            assert_eq!(ran.exit, Exit::Fine, "{ran}");
            let shown = run(&[
                "diff",
                "@a.npy",
                "@b.npy",
                "--ignore-dtype",
                "--atol",
                &near.to_string(),
            ]);
            assert_eq!(shown.exit, Exit::Fine, "{shown}");
        }
    }
    let ran = run(&[
        "convert",
        "@a.zt",
        "@i.zt",
        "--cast",
        "i8",
        "--allow",
        "precision",
    ]);
    assert!(ran.errors.contains("values are rounded, by "), "{ran}");
    let ran = run(&["show", "@i.zt"]);
    assert_says(
        &ran,
        Exit::Trouble,
        &["i.zt: the cells of a train of i8 are not computed: cast it to f64"],
    );
    let ran = run(&["convert", "@i.zt", "@w.zt", "--cast", "f64"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    assert_eq!(run(&["show", "@w.zt"]).exit, Exit::Fine);
    // The corpus has a train of what is no number: its cells are what they are.
    let ran = run(&["show", &corpus("blz/good/specials.blz")]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
}

#[test]
fn cells_smaller_than_any_double_are_never_all_zero_in_silence() {
    let folder = folder();
    for words in [
        vec!["show", "@small.blz"],
        vec!["show", "@small.blz[0]"],
        vec!["stats", "@small.blz"],
        vec!["convert", "@small.blz", "@x.npy", "--allow", "train"],
        vec!["reconstruct", "@small.blz", "@x.npy"],
        vec!["diff", "@small.blz", "@plain.blz"],
    ] {
        let ran = ran_in(&folder, &words);
        assert_ne!(ran.exit, Exit::Fine, "{words:?}: {ran}");
        assert!(
            ran.to_string().contains("no double holds any"),
            "{words:?}: {ran}"
        );
    }
    // Cells that vanish beside others that do not are the nearest doubles.
    let cores: &[&[f64]] = &[&[1e-200, 1.0], &[1e-200, 1.0]];
    std::fs::write(folder.path().join("bump.blz"), rank_one(cores)).unwrap();
    let ran = ran_in(&folder, &["show", "--csv", "@bump.blz[0]"]);
    assert_eq!(ran.text(), "0.0\n1e-200\n", "{ran}");
    let ran = ran_in(&folder, &["show", "--csv", "@bump.blz[0, 0:1]"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
}

#[test]
fn rounding_whose_error_no_double_tells_is_refused() {
    let folder = folder();
    let tiny: &[&[f64]] = &[&[1e-160, 3e-160], &[1e-160, 2e-160]];
    std::fs::write(folder.path().join("tiny.blz"), rank_one(tiny)).unwrap();
    let ran = ran_in(
        &folder,
        &["tt", "round", "@tiny.blz", "@r.blz", "--eps", "1e-6"],
    );
    assert_eq!(ran.exit, Exit::Refused, "{ran}");
    assert!(ran.errors.contains("what rounding leaves out"), "{ran}");
    assert!(!folder.path().join("r.blz").exists());
    let ran = ran_in(&folder, &["tt", "norm", "@large.blz"]);
    assert!(
        ran.errors.contains("is 1.") || ran.errors.contains("is 0.5"),
        "{ran}"
    );
}
