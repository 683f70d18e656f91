//! `tenfold convert` with several inputs or several outputs, and with other names.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use tempfile::{TempDir, tempdir};

use crate::support::{Ran, corpus, folder_with, shown, tenfold};

/// Runs `convert` with words that may name files in `folder` by `@`.
fn convert(folder: &TempDir, words: &[&str]) -> Ran {
    let at = format!("{}/", folder.path().display());
    let words = words.iter().map(|word| word.replace("@/", &at));
    tenfold(
        ["convert".to_owned(), "--no-sync".into()]
            .into_iter()
            .chain(words),
    )
}

/// The names of the tensors of a file.
fn names(file: &Path) -> Vec<String> {
    let opened = tenfold::open(file).unwrap();
    let entries = opened.bundle.entries().iter();
    entries.map(|(key, _)| key.to_string()).collect()
}

/// The names of the files of a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn scalars() -> String {
    corpus("ztensor/good/tensors_25.zt")
}

#[test]
fn several_files_become_one() {
    let folder = folder_with(&[
        ("a.npy", "npy/good/matrix.npy"),
        ("b.zt", "ztensor/good/row_major.zt"),
        ("c.model", "primitiv/good/model_tree.model"),
    ]);
    let ran = convert(
        &folder,
        &["@/a.npy", "@/b.zt:w[0]", "@/c.model", "@/all.zt"],
    );
    assert_snapshot!(shown(&folder, &ran));
    assert_snapshot!("several_files_become_one_info", {
        let info = tenfold(["info".into(), folder.path().join("all.zt")]);
        shown(&folder, &info)
    });
    let ran = convert(&folder, &["-o", "@/two.zt", "@/a.npy", "@/b.zt"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert_eq!(names(&folder.path().join("two.zt")), ["a", "w"]);
}

#[test]
fn a_name_in_two_files_is_refused_and_parted_by_their_stems() {
    let folder = folder_with(&[
        ("a.zt", "ztensor/good/row_major.zt"),
        ("b.zt", "ztensor/good/row_major.zt"),
    ]);
    let ran = convert(&folder, &["@/a.zt", "@/b.zt", "@/all.zt"]);
    assert_snapshot!(shown(&folder, &ran));
    let twice = convert(&folder, &["@/a.zt", "@/a.zt", "@/all.zt"]);
    assert!(twice.errors.contains("give one of them another"), "{twice}");
    let ran = convert(&folder, &["@/a.zt", "@/b.zt", "@/all.zt", "--prefix-stem"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert_eq!(names(&folder.path().join("all.zt")), ["a.w", "b.w"]);
}

#[test]
fn what_is_for_one_input_is_refused_for_several() {
    let folder = folder_with(&[("a.npy", "npy/good/matrix.npy")]);
    let ran = convert(&folder, &["@/a.npy", "@/a.npy", "@/x.zt", "--slice", "0"]);
    assert_snapshot!(ran);
    assert_snapshot!(convert(&folder, &["@/a.npy"]));
    let ran = convert(&folder, &["@/a.npy", "@/a.npy", "@/x.zt", "--only", "b"]);
    assert_snapshot!(shown(&folder, &ran));
}

#[test]
fn metadata_that_differs_is_kept_of_the_first_when_permitted() {
    let folder = folder_with(&[
        ("a.optimizer", "primitiv/good/optimizer_adam.optimizer"),
        ("b.optimizer", "primitiv/good/optimizer_sgd.optimizer"),
    ]);
    let words = ["@/a.optimizer", "@/b.optimizer", "@/c.optimizer"];
    let ran = convert(&folder, &words);
    assert_snapshot!(shown(&folder, &ran));
    let ran = convert(&folder, &[&words[..], &["--allow", "metadata"]].concat());
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let same = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(same("a.optimizer"), same("c.optimizer"));
}

#[test]
fn a_part_of_a_tensor_is_converted() {
    let folder = tempdir().unwrap();
    let from = corpus("ztensor/good/row_major.zt");
    let forms: [&[&str]; 2] = [
        &[&format!("{from}:w[:, 1, ::-2]"), "@/a.npy"],
        &[&from, "@/b.npy", "--tensor", "w", "--slice", ":, 1, ::-2"],
    ];
    for words in forms {
        let ran = convert(&folder, words);
        assert_eq!(ran.exit.code(), 0, "{ran}");
    }
    let [a, b] = ["a.npy", "b.npy"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(a, b);
    let ran = tenfold(["show".into(), folder.path().join("a.npy")]);
    assert_eq!(ran.text(), "u16 [2, 2] dense\n[[ 7  5]\n [19 17]]\n");
}

#[test]
fn names_are_changed_by_rules() {
    let folder = folder_with(&[("m.model", "primitiv/good/model_tree.model")]);
    let before = names(&folder.path().join("m.model"));
    let rules = ["--rename", "s|/|.|g", "--rename", "s/^/net./"];
    let ran = convert(&folder, &[&["@/m.model", "@/flat.zt"][..], &rules].concat());
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let flat: Vec<String> = before
        .iter()
        .map(|name| format!("net.{}", name.replace('/', ".")))
        .collect();
    assert_eq!(names(&folder.path().join("flat.zt")), flat);
    // And back: for a tree a slash parts the path.
    let rules = ["--rename", r"s/^net\.//", "--rename", "s|[.]|/|g"];
    let ran = convert(
        &folder,
        &[&["@/flat.zt", "@/back.model"][..], &rules].concat(),
    );
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert_eq!(names(&folder.path().join("back.model")), before);
}

#[test]
fn rules_that_do_not_work_say_why() {
    let folder = tempdir().unwrap();
    let rename = |rule| convert(&folder, &[&scalars(), "@/out.zt", "--rename", rule]);
    assert_snapshot!(rename("s/[0-9]+//"));
    assert_snapshot!(rename("s/u/v/"));
    let ran = rename("s/(/v/");
    assert_eq!(ran.exit.code(), 2, "{ran}");
    assert!(ran.errors.contains("unclosed group"), "{ran}");
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_folder_takes_a_file_for_every_tensor() {
    let folder = tempdir().unwrap();
    let from = corpus("ztensor/good/names.zt");
    let words = [&from, "--out-dir", "@/out", "--to", "npy"];
    let ran = convert(&folder, &words);
    assert_snapshot!(shown(&folder, &ran));
    let out = folder.path().join("out");
    assert_snapshot!(files(&out).join("\n"));
    let index = fs::read_to_string(out.join("index.json")).unwrap();
    assert_snapshot!(index);
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    let opened = tenfold::open(&from).unwrap();
    let tensors = index["tensors"].as_array().unwrap();
    assert_eq!(tensors.len(), opened.bundle.entries().len());
    for (entry, (key, tensor)) in tensors.iter().zip(opened.bundle.entries()) {
        assert_eq!(entry["key"][0].as_str(), key.flat_name());
        let file = out.join(entry["file"].as_str().unwrap());
        let values = tenfold::open(file)
            .unwrap()
            .bundle
            .only()
            .unwrap()
            .to_vec::<u8>();
        assert_eq!(values.unwrap(), tensor.to_vec::<u8>().unwrap());
    }
    // A second time nothing is replaced, unless by force.
    let ran = convert(&folder, &words);
    assert!(
        ran.errors.contains("exists already; --force replaces it"),
        "{ran}"
    );
    assert_eq!(
        convert(&folder, &[&words[..], &["--force"]].concat())
            .exit
            .code(),
        0
    );
}

#[test]
fn a_folder_is_left_empty_when_one_tensor_is_refused() {
    let folder = tempdir().unwrap();
    let from = corpus("ztensor/good/scalars.zt");
    let ran = convert(&folder, &[&from, "--out-dir", "@/out", "--to", "blz"]);
    assert_eq!(ran.exit.code(), 3, "{ran}");
    assert!(!folder.path().join("out").exists());
    let ran = convert(&folder, &[&from, "--out-dir", "@/out"]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
    assert!(ran.errors.contains("--to"), "{ran}");
    let skipped = corpus("ztensor/good/v2_encoding_unknown.zt");
    let ran = convert(
        &folder,
        &[&skipped, "--out-dir", "@/out", "--to", "ztensor"],
    );
    assert_eq!(ran.exit.code(), 3, "{ran}");
}

#[test]
fn a_link_in_the_folder_is_not_written_through() {
    let folder = tempdir().unwrap();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let precious = folder.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, out.join("w.npy")).unwrap();
    let from = corpus("ztensor/good/row_major.zt");
    let words = [&from, "--out-dir", "@/out", "--to", "npy"];
    assert_eq!(convert(&folder, &words).exit.code(), 2);
    let ran = convert(&folder, &[&words[..], &["--force"]].concat());
    assert_eq!(ran.exit.code(), 2, "{ran}");
    assert!(ran.errors.contains("is a link"), "{ran}");
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    assert_eq!(files(&out), ["w.npy"]);
}

#[test]
fn a_large_file_is_cut_into_several_that_merge_again() {
    let folder = tempdir().unwrap();
    let ran = convert(&folder, &[&scalars(), "@/all.zt", "--max-size", "10"]);
    assert_snapshot!(shown(&folder, &ran));
    let shards: Vec<String> = files(folder.path())
        .iter()
        .map(|name| format!("@/{name}"))
        .collect();
    let mut words: Vec<&str> = shards.iter().map(String::as_str).collect();
    words.push("@/again.zt");
    assert_eq!(convert(&folder, &words).exit.code(), 0);
    let ran = convert(&folder, &[&scalars(), "@/whole.zt", "--max-size", "5GB"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let bytes = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("again.zt"), bytes("whole.zt"));
}

#[test]
fn a_tensor_and_its_statistics_stay_in_one_file() {
    let folder = folder_with(&[("m.model", "primitiv/good/model_adam.model")]);
    let ran = convert(&folder, &["@/m.model", "@/s.model", "--max-size", "1"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let all: Vec<PathBuf> = files(folder.path())
        .iter()
        .filter(|name| name.starts_with("s-"))
        .map(|name| folder.path().join(name))
        .collect();
    let total: usize = all.iter().map(|file| names(file).len()).sum();
    assert_eq!(total, names(&folder.path().join("m.model")).len());
    for file in &all {
        let names = names(file);
        let owner = names[0].split('@').next().unwrap();
        assert!(
            names
                .iter()
                .all(|name| name.split('@').next() == Some(owner)),
            "{names:?}"
        );
    }
}

#[test]
fn what_cannot_be_cut_says_so() {
    let folder = tempdir().unwrap();
    assert_snapshot!(convert(
        &folder,
        &[&scalars(), "@/x.npy", "--max-size", "1k"]
    ));
    assert_snapshot!(convert(&folder, &[&scalars(), "-", "--max-size", "1k"]));
}

#[test]
fn the_name_of_the_output_says_its_format_or_has_to() {
    let folder = folder_with(&[
        ("a.tens", "tens/good/matrix.tens"),
        ("old.bin", "tens/good/v09_f64.bin"),
        ("a.other", "blz/good/page_example.blz"),
        ("plain", "blz/good/page_example.blz"),
        ("m.npy", "npy/good/version_2.npy"),
    ]);
    let lines: Vec<String> = [
        &["@/m.npy", "@/x.bin"][..],
        &["@/m.npy", "@/x.unknown"],
        &["@/m.npy", "@/x"],
        &["@/a.tens", "@/m.npy", "-"],
        &["@/a.tens", "@/x.bin"],
        &["@/old.bin", "@/again.bin"],
        &["@/old.bin", "@/new.tens", "--to", "tens@1.0"],
        &["@/a.other", "@/b.other"],
        &["@/plain", "@/plain2"],
        &["@/m.npy", "@/n.npy"],
        &["@/m.npy", "@/n.zt"],
    ]
    .iter()
    .map(|words| shown(&folder, &convert(&folder, words)))
    .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn number_types_have_many_spellings() {
    let folder = tempdir().unwrap();
    let from = corpus("npy/good/f64.npy");
    for (place, word) in ["float16", "half", "<f2", "FP16"].iter().enumerate() {
        let out = format!("@/{place}.npy");
        let ran = convert(&folder, &[&from, &out, "--dtype", word]);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let info = tenfold(["info".into(), folder.path().join(format!("{place}.npy"))]);
        assert!(info.text().contains(" f16 "), "{info}");
    }
    let ran = convert(&folder, &[&from, "@/x.npy", "--cast", ">f4"]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
    assert!(
        ran.errors
            .contains("the byte order is the format's own affair: say f32"),
        "{ran}"
    );
}
