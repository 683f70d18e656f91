//! Complex numbers, quaternions and octonions in formats that have none.

use insta::assert_snapshot;

use crate::support::{corpus, folder_with, shown, tenfold, tenfold_in};

#[test]
fn a_refusal_names_the_ways() {
    let folder = folder_with(&[
        ("c.tens", "tens/good/complex_f64.tens"),
        ("q.tens", "tens/good/quaternion_f64.tens"),
    ]);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut said = String::new();
    for (from, to) in [
        ("c.tens", "c.zt"),
        ("c.tens", "c.gguf"),
        ("q.tens", "q.npy"),
    ] {
        said += &format!(
            "{}\n",
            shown(&folder, &tenfold(["convert", &at(from), &at(to)]))
        );
    }
    assert_snapshot!(said);
}

#[test]
fn components_come_back_as_elements_bit_for_bit() {
    for name in [
        "complex_f32",
        "complex_f64",
        "quaternion_f64",
        "octonion_f32",
        "pairs_complex",
    ] {
        let folder = folder_with(&[("a.tens", &format!("tens/good/{name}.tens"))]);
        let at = |name: &str| folder.path().join(name).display().to_string();
        for there in ["b.zt", "b.npz", "b.safetensors", "b.gguf"] {
            let to_split = ["convert", &at("a.tens"), &at(there), "--complex", "split"];
            let ran = tenfold(to_split);
            assert_eq!(ran.exit.code(), 0, "{name} {there}: {ran}");
            let ran = tenfold(["convert", &at(there), &at("back.tens"), "--force"]);
            assert_eq!(ran.exit.code(), 0, "{name} {there}: {ran}");
            let ran = tenfold(["diff", &at("a.tens"), &at("back.tens")]);
            assert_eq!(ran.text(), "1 same\n", "{name} {there}: {ran}");
            let read = |name: &str| std::fs::read(at(name)).unwrap();
            // Which dimensions are flagged as sparse is no part of the content.
            let has_flags = name == "pairs_complex";
            assert!(
                has_flags || read("a.tens") == read("back.tens"),
                "{name} {there}"
            );
        }
    }
}

#[test]
fn where_nothing_can_be_carried_the_last_dimension_is_reported() {
    let folder = folder_with(&[]);
    let out = folder.path().join("c.tbf").display().to_string();
    let file = corpus("tens/good/complex_f64.tens");
    let ran = tenfold(["convert", &file, &out, "--complex", "split"]);
    assert_snapshot!(shown(&folder, &ran));
}

#[test]
fn one_part_is_taken() {
    let file = corpus("tens/good/complex_f64.tens");
    let folder = folder_with(&[]);
    let mut said = tenfold(["show", &file]).to_string();
    for part in ["re", "im", "abs", "arg"] {
        let out = folder
            .path()
            .join(format!("{part}.npy"))
            .display()
            .to_string();
        said += &shown(&folder, &tenfold(["convert", &file, &out, "--part", part]));
        said += &shown(&folder, &tenfold(["show", &out]));
    }
    assert_snapshot!(said);
    let ran = tenfold(["convert", &file, "-", "--to", "npy", "--part", "real"]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
}

#[test]
fn a_shape_for_all_components_is_given_after_they_are_split() {
    let folder = tempfile::tempdir().unwrap();
    let file = corpus("tens/good/packed_quaternion.tens");
    let words = ["convert", &file, "@/q.mtx", "--complex", "split"];
    let refused = tenfold_in(&folder, &words);
    assert!(refused.errors.contains("--reshape 4,4 fits"), "{refused}");
    let ran = tenfold_in(&folder, &[&words[..], &["--reshape", "4,4"]].concat());
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let flat = [
        "convert",
        &file,
        "@/q.npy",
        "--complex",
        "split",
        "--reshape",
        "4",
    ];
    let ran = tenfold_in(&folder, &flat);
    assert!(ran.errors.contains("with a last dimension of 4"), "{ran}");
    let shown = tenfold_in(&folder, &["info", "@/q.npy"]).text();
    assert!(shown.contains("f64    [4, 4]"), "{shown}");
}

/// Pairs of unsigned numbers, which no hermitian matrix can hold but for real ones.
fn unsigned(
    folder: &tempfile::TempDir,
    name: &str,
    pairs: &[(u64, u64)],
    shape: &str,
) -> std::io::Result<()> {
    let halves = pairs.iter().flat_map(|(re, im)| [re, im]);
    let bytes: Vec<u8> = halves.flat_map(|half| half.to_le_bytes()).collect();
    std::fs::write(folder.path().join("pairs.raw"), bytes)?;
    let raw = format!("dtype=complex<u64>,shape={shape}");
    let at = format!("@/{name}");
    let ran = tenfold_in(folder, &["convert", "@/pairs.raw", &at, "--raw", &raw]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    Ok(())
}

#[test]
fn a_symmetry_that_needs_negatives_names_the_cast_that_gives_them() {
    let folder = folder_with(&[]);
    let pairs = [(1, 0), (2, 1), (2, 1), (3, 0)];
    unsigned(&folder, "c.tens", &pairs, "2x2").unwrap();
    let sparse = [
        "convert", "@/c.tens", "@/p.tens", "--pack", "ba*", "--sparse",
    ];
    for words in [&sparse[..5], &sparse] {
        let ran = tenfold_in(&folder, words);
        assert_eq!(ran.exit.code(), 3, "{ran}");
        assert!(!ran.errors.contains("not a valid"), "{ran}");
        assert!(ran.errors.contains("--cast i128"), "{ran}");
        // In the same command, where the cast comes first.
        let flags = ["--cast", "i128", "--symmetry-tol", "1"];
        let ran = tenfold_in(&folder, &[words, &flags].concat());
        assert_eq!(ran.exit.code(), 0, "{ran}");
        std::fs::remove_file(folder.path().join("p.tens")).unwrap();
    }
}

#[test]
fn the_flags_that_fcidump_names_for_unsigned_pairs_work_in_one_command() {
    let folder = folder_with(&[]);
    let pairs = [(1, 0), (2, 1), (3, 2), (9, 0)];
    unsigned(&folder, "c.tens", &pairs, "2x2").unwrap();
    let words = [
        "convert",
        "@/c.tens",
        "@/c.fcidump",
        "--opt",
        "nelec=2,ms2=0",
        "--allow",
        "precision",
    ];
    let ran = tenfold_in(&folder, &words);
    assert_eq!(ran.exit.code(), 3, "{ran}");
    let (mean, first) = ran.errors.split_once(" takes the mean, ").unwrap();
    let mean = &mean[mean.find("--cast f64 --symmetrize").unwrap()..];
    let first = &first[..first.find(" the first of each").unwrap()];
    for flags in [mean, first] {
        let flags: Vec<String> = flags
            .split(' ')
            .map(|word| word.replace('\'', ""))
            .collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let ran = tenfold_in(&folder, &[&words[..], &flags, &["--force"]].concat());
        assert_eq!(ran.exit.code(), 0, "{ran}");
    }
    // What the cast rounds is said although it comes first.
    let pairs = [(1, 0), (2, 0), (2, 0), ((1 << 60) + 1, 0)];
    unsigned(&folder, "large.tens", &pairs, "2x2").unwrap();
    let words = [
        "convert",
        "@/large.tens",
        "@/p.tens",
        "--pack",
        "ba*",
        "--cast",
        "f64",
        "--symmetry-tol",
        "0",
    ];
    let ran = tenfold_in(&folder, &words);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert!(
        ran.errors.contains("values are rounded, by 1 at most"),
        "{ran}"
    );
}
