//! The flags of `tenfold convert` that change tensors.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::support::{Ran, corpus, tenfold};

/// Converts a file of the corpus; shows what was said, and the result if there is one.
fn converted(folder: &TempDir, from: &Path, to: &str, flags: &[&str]) -> String {
    let out = folder.path().join(to);
    let words = [
        "convert".into(),
        from.to_owned(),
        out.clone(),
        "--no-sync".into(),
    ];
    let ran = tenfold(words.into_iter().chain(flags.iter().map(PathBuf::from)));
    let shown = if out.exists() {
        tenfold(["show".into(), out.clone()]).text()
    } else {
        String::new()
    };
    let _ = fs::remove_file(out);
    let here = folder.path().display().to_string();
    let said = Ran { out: vec![], ..ran }.to_string();
    format!("{}\n{shown}", said.replace(&format!("{here}/"), ""))
}

/// What comes of several sets of flags, one after the other.
fn story(folder: &TempDir, from: &Path, cases: &[(&str, &[&str])]) -> String {
    let mut text = String::new();
    for (to, flags) in cases {
        let came = converted(folder, from, to, flags);
        text.push_str(&format!("$ {} {to}\n{came}\n", flags.join(" ")));
    }
    text
}

/// A symmetric matrix, nearly: two cells are a little apart.
fn nearly_symmetric(folder: &TempDir) -> PathBuf {
    array(folder, "<f8", "(2, 2)", &[1.0, 3.0, 3.5, 4.0])
}

/// An array as NumPy saves it, of doubles.
fn array(folder: &TempDir, descr: &str, shape: &str, numbers: &[f64]) -> PathBuf {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").bytes());
    for number in numbers {
        file.extend(number.to_le_bytes());
    }
    let path = folder.path().join("near.npy");
    fs::write(&path, file).unwrap();
    path
}

#[test]
fn dimensions_are_permuted_reshaped_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = PathBuf::from(corpus("tens/good/matrix.tens"));
    assert_snapshot!(story(
        &folder,
        &matrix,
        &[
            ("a.npy", &["--permute", "1,0"]),
            ("a.npy", &["--permute", "ba"]),
            ("a.npy", &["--permute", "*=b,a"]),
            ("a.npy", &["--reshape", "3x-1"]),
            ("a.npy", &["--reshape", "-1"]),
            ("a.zt", &["--reshape", "3,2", "--permute", "1,0"]),
            ("a.tens", &["--dims", "x,y"]),
            ("a.tbf", &["--dims", "row,col"]),
        ]
    ));
}

#[test]
fn what_cannot_be_done_is_said_with_what_would_help() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = PathBuf::from(corpus("tens/good/matrix.tens"));
    assert_snapshot!(story(
        &folder,
        &matrix,
        &[
            ("a.npy", &["--permute", "ab,c"]),
            ("a.npy", &["--permute", "aa"]),
            ("a.npy", &["--permute", "0"]),
            ("a.npy", &["--permute", "w*=ba"]),
            ("a.npy", &["--reshape", "4,-1"]),
            ("a.npy", &["--reshape", "-1,-1"]),
            ("a.npy", &["--dims", "x"]),
            ("a.npy", &["--dims", "x,x"]),
            ("a.tens", &["--pack", "ba"]),
            ("a.tens", &["--sparse", "--fill", "1"]),
            ("a.npy", &["--dense", "--fill", "one"]),
            ("a.npy", &["--fill", "1"]),
            ("a.npy", &["--labels-out", "a=never-written.txt"]),
        ]
    ));
    let train = PathBuf::from(corpus("blz/good/page_example.blz"));
    assert_snapshot!(
        "trains",
        story(&folder, &train, &[("a.blz", &["--reshape", "-1"])])
    );
}

#[test]
fn a_matrix_is_packed_only_by_a_symmetry_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let near = nearly_symmetric(&folder);
    assert_snapshot!(story(
        &folder,
        &near,
        &[
            ("a.tens", &["--pack", "ba", "--symmetry-tol", "0.2"]),
            ("a.zt", &["--pack", "ba", "--symmetry-tol", "0.2"]),
        ]
    ));
    let ran = tenfold([
        "convert".into(),
        near,
        "never-written.tens".into(),
        "--pack".into(),
        "-ba".into(),
    ]);
    let said = "symmetry   the values lack the symmetry [1, 0] -x";
    assert!(ran.errors.contains(said), "{ran}");
    assert_eq!(ran.exit.code(), 3);
}

#[test]
fn a_matrix_is_given_a_symmetry_and_can_be_packed_then() {
    let folder = tempfile::tempdir().unwrap();
    let near = nearly_symmetric(&folder);
    assert_snapshot!(story(
        &folder,
        &near,
        &[
            ("a.tens", &["--symmetrize", "ba"]),
            ("a.npy", &["--symmetrize", "*=1,0"]),
            ("a.tens", &["--symmetrize", "-ba"]),
            ("a.tens", &["--symmetrize", "ba", "--pack", "ba"]),
            ("a.tens", &["--symmetrize=-ba", "--pack=-ba"]),
            ("a.tens", &["--symmetrize", "ba", "--sparse"]),
            ("a.tens", &["--symmetrize", "bb"]),
            ("a.tens", &["--symmetrize", "x*=ba"]),
        ]
    ));
    let matrix = PathBuf::from(corpus("tens/good/matrix.tens"));
    assert_snapshot!(
        "not_square",
        story(&folder, &matrix, &[("a.tens", &["--symmetrize", "ba"])])
    );
}

#[test]
fn symmetries_are_found_and_declared() {
    let folder = tempfile::tempdir().unwrap();
    let near = nearly_symmetric(&folder);
    assert_snapshot!(story(
        &folder,
        &near,
        &[
            ("a.tens", &["--detect-symmetry"]),
            ("a.tens", &["--detect-symmetry", "--symmetry-tol", "0.2"]),
            ("a.tens", &["--symmetrize", "ba", "--detect-symmetry=*"]),
            (
                "a.tens",
                &["--symmetrize=-y,x", "--detect-symmetry", "--dims", "x,y"]
            ),
            ("a.tens", &["--detect-symmetry=x*"]),
        ]
    ));
    // T[a,b] = T[b,a]*, and the diagonal is real.
    let numbers = [1.0, 0.0, 2.0, -3.0, 2.0, 3.0, 4.0, 0.0];
    let hermitian = array(&folder, "<c16", "(2, 2)", &numbers);
    let out = folder.path().join("h.tens");
    let flags = ["--detect-symmetry", "--no-sync"].map(PathBuf::from);
    let words = ["convert".into(), hermitian, out.clone()];
    let ran = tenfold(words.into_iter().chain(flags));
    assert!(ran.errors.contains("symmetry ba* found"), "{ran}");
    let text = tenfold(["info".into(), out, "--json".into()]).text();
    let declared = r#""permutation":[1,0],"operation":"x*","packed":false"#;
    let packed: String = text.split_whitespace().collect();
    assert!(packed.contains(declared), "{text}");

    let seven = array(&folder, "<f8", "(1, 1, 1, 1, 1, 1, 1)", &[1.0]);
    assert_snapshot!(
        "seven_dimensions",
        story(&folder, &seven, &[("a.npy", &["--detect-symmetry"])])
    );
}

#[test]
fn sparse_and_dense_go_both_ways() {
    let sparse = PathBuf::from(corpus("tens/good/matrix.tens"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("sparse.tens");
    let words = ["convert".into(), sparse, out.clone(), "--sparse".into()];
    let ran = tenfold(words);
    assert!(
        ran.errors
            .contains("sparse: 6 of 6 cells are not zero (100 %), 96 B instead of 48 B"),
        "{ran}"
    );
    let came = converted(&folder, &out, "a.tens", &["--dense", "--fill", "nan"]);
    assert_snapshot!(came);
}

#[test]
fn labels_are_given_and_taken() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("names.txt"), "red\nblue\n").unwrap();
    fs::write(at("order.txt"), "blue\ngreen\nred\n").unwrap();
    fs::write(at("twice.txt"), "red\nred\n").unwrap();
    let matrix = PathBuf::from(corpus("tens/good/matrix.tens"));
    let given = format!("a=@{}", at("names.txt"));
    let mut text = converted(&folder, &matrix, "a.tbf", &["--labels", &given]);
    let labelled = folder.path().join("labelled.tbf");
    tenfold([
        "convert".into(),
        matrix.clone(),
        labelled.clone(),
        "--labels".into(),
        given.clone().into(),
    ]);
    let order = format!("a=@{}", at("order.txt"));
    let twice = format!("a=@{}", at("twice.txt"));
    let out = format!("a={}", at("out.txt"));
    for flags in [
        &["--labels", &order][..],
        &[
            "--labels", &order, "--allow", "labels", "--dense", "--fill", "nan",
        ],
        &["--labels-out", &out, "--allow", "labels"],
    ] {
        text.push_str(&converted(&folder, &labelled, "a.npy", flags));
    }
    let list = fs::read_to_string(at("out.txt")).unwrap();
    text.push_str(&list);
    // As `--labels` spells a file.
    let spelled = out.replacen('=', "=@", 1);
    fs::remove_file(at("out.txt")).unwrap();
    let flags = ["--labels-out", &spelled, "--allow", "labels", "--force"];
    converted(&folder, &labelled, "a.npy", &flags);
    assert_eq!(fs::read_to_string(at("out.txt")).unwrap(), list);
    // Where OUT is not written, neither is the list.
    let unwritten = format!("{}2", out);
    let flags = ["--labels-out", &unwritten, "--allow", "labels"];
    text.push_str(&converted(&folder, &labelled, "no-folder/a.npy", &flags));
    assert!(!folder.path().join("out.txt2").exists());
    for flags in [
        ["--labels", &order],
        ["--labels", &twice],
        ["--labels", "q=@/dev/null"],
    ] {
        text.push_str(&converted(&folder, &matrix, "a.tbf", &flags));
    }
    assert_snapshot!(text);
}

#[test]
fn casts_round_as_they_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let near = nearly_symmetric(&folder);
    assert_snapshot!(story(
        &folder,
        &near,
        &[
            ("a.npy", &["--cast", "i8", "--allow", "precision"]),
            (
                "a.npy",
                &[
                    "--cast",
                    "i8",
                    "--round",
                    "toward-zero",
                    "--permute",
                    "ba",
                    "--allow",
                    "precision"
                ]
            ),
        ]
    ));
}
