//! What `tenfold convert` carries, and what it calls tensors.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use tenfold_cli::Exit;

use crate::support::{Ran, corpus, tenfold};

fn convert(from: &Path, to: &Path, flags: &[&str]) -> Ran {
    let words = ["convert".into(), from.to_owned(), to.to_owned()];
    let flags = flags.iter().map(PathBuf::from);
    tenfold(words.into_iter().chain(flags).chain(["--no-sync".into()]))
}

/// Converts there and back; gives both files, after nothing was said but that they
/// are written.
fn there_and_back(file: &str, flags: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let from = PathBuf::from(corpus(file));
    let extension = from.extension().unwrap();
    let there = folder.path().join("there.zt");
    let back = folder.path().join("back").with_extension(extension);
    for (from, to) in [(&from, &there), (&there, &back)] {
        let ran = convert(from, to, flags);
        assert_eq!(ran.exit, Exit::Fine, "{file}: {ran}");
        let mut lines = ran.errors.lines();
        assert!(
            lines.all(|line| line.starts_with("tenfold: wrote ")),
            "{file}: {ran}"
        );
    }
    (fs::read(from).unwrap(), fs::read(back).unwrap())
}

#[test]
fn what_ztensor_carries_comes_back_byte_for_byte() {
    for file in [
        "tens/good/packed_symmetric.tens",
        "tens/good/matrix.tens",
        "vespa/good/mixed_f32.tbf",
        "primitiv/good/parameter_adam.param",
        "primitiv/good/model_tree.model",
        "blz/good/five_dims.blz",
        "blz/good/four_dims_complex.blz",
        "blz/good/empty_everywhere.blz",
        "blz/huge/most_dims.blz",
    ] {
        // What is carried is no loss, so that the strictest has nothing against it.
        for flags in [&[][..], &["--strict"], &["--sep", "."]] {
            let (before, after) = there_and_back(file, flags);
            assert!(before == after, "{file} {flags:?}");
        }
    }
}

#[test]
fn a_file_that_carries_is_rewritten_byte_for_byte_whatever_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    for (file, flags) in [
        ("tens/good/packed_symmetric.tens", &[][..]),
        ("primitiv/good/model_tree.model", &["--sep", "."]),
    ] {
        let (one, two) = (folder.path().join("one.zt"), folder.path().join("two.zt"));
        let input = PathBuf::from(corpus(file));
        assert_eq!(convert(&input, &one, flags).exit, Exit::Fine);
        let renamed = folder.path().join("renamed.zt");
        fs::rename(&one, &renamed).unwrap();
        assert_eq!(convert(&renamed, &two, &[]).exit, Exit::Fine);
        assert!(
            fs::read(&renamed).unwrap() == fs::read(&two).unwrap(),
            "{file}"
        );
        fs::remove_file(two).unwrap();
    }
}

#[test]
fn what_is_carried_is_shown_as_text_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let input = PathBuf::from(corpus("tens/good/packed_symmetric.tens"));
    let out = folder.path().join("a.zt");
    assert_eq!(convert(&input, &out, &[]).exit, Exit::Fine);
    let plain = tenfold(["info".into(), "--no-restore".into(), out.clone()]).text();
    let restored = tenfold(["info".into(), out]).text();
    let folder = folder.path().display().to_string();
    assert_snapshot!((plain + &restored).replace(&folder, "…"));
}

#[test]
fn names_are_joined_stripped_and_split() {
    let folder = tempfile::tempdir().unwrap();
    let model = PathBuf::from(corpus("primitiv/good/model_tree.model"));
    let flat = folder.path().join("flat.zt");
    let ran = convert(&model, &flat, &["--sep", ".", "--no-carry"]);
    assert_snapshot!("joined", said(&ran, folder.path()));
    let names = tenfold(["info".into(), flat.clone()]).text();
    assert_snapshot!(
        "names",
        names.replace(&folder.path().display().to_string(), "…")
    );
    // Nothing but the names was left of the paths: they are split again when that is asked for.
    let tree = folder.path().join("tree.model");
    let ran = convert(&flat, &tree, &["--sep", "."]);
    assert_eq!(
        (ran.exit, ran.errors.lines().count()),
        (Exit::Fine, 1),
        "{ran}"
    );
    assert!(fs::read(model).unwrap() == fs::read(tree).unwrap());
}

#[test]
fn a_prefix_that_cannot_go_is_trouble() {
    let many = PathBuf::from(corpus("ztensor/good/tensors_25.zt"));
    let out = Path::new("never-written.zt");
    for (name, prefix) in [
        ("no_prefix", "enc."),
        ("nothing_left", "t1"),
        ("twice", "t"),
    ] {
        let ran = match name {
            "twice" => {
                let folder = tempfile::tempdir().unwrap();
                let stripped = folder.path().join("a.zt");
                let ran = convert(&many, &stripped, &["--strip-prefix", prefix]);
                assert_eq!(ran.exit, Exit::Fine, "{ran}");
                // 10 without its 1 is the 0 that is there already.
                convert(&stripped, out, &["--exclude", "1", "--strip-prefix", "1"])
            }
            _ => convert(&many, out, &["--strip-prefix", prefix]),
        };
        assert_snapshot!(name, ran.errors);
        assert_eq!(ran.exit, Exit::Trouble);
    }
}

#[test]
fn statistics_are_left_out_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let adam = PathBuf::from(corpus("primitiv/good/parameter_adam.param"));
    let out = folder.path().join("a.param");
    let ran = convert(&adam, &out, &["--no-state"]);
    assert_snapshot!(said(&ran, folder.path()));
    assert_eq!(ran.exit, Exit::Fine);
    let info = tenfold(["info".into(), out]).text();
    assert!(!info.contains('@'), "{info}");
}

fn said(ran: &Ran, folder: &Path) -> String {
    ran.to_string().replace(&folder.display().to_string(), "…")
}

#[test]
fn many_trains_live_in_one_file_beside_other_tensors() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("all.zt");
    let words: [PathBuf; 6] = [
        "convert".into(),
        corpus("blz/good/five_dims.blz").into(),
        corpus("ztensor/good/row_major.zt").into(),
        corpus("blz/good/four_dims_complex.blz").into(),
        out.clone(),
        "--no-sync".into(),
    ];
    let ran = tenfold(words);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let about = |flags: &[&str]| {
        let words = ["info".into(), out.clone()].into_iter();
        let text = tenfold(words.chain(flags.iter().map(PathBuf::from))).to_string();
        text.replace(&folder.path().display().to_string(), "@")
    };
    assert_snapshot!([about(&[]), about(&["--no-restore"])].join("\n"));
    // One of them, out of it and as it was.
    let back = folder.path().join("back.blz");
    let ran = convert(&out, &back, &["--only", "five_dims"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let before = fs::read(corpus("blz/good/five_dims.blz")).unwrap();
    assert!(fs::read(back).unwrap() == before);
}
