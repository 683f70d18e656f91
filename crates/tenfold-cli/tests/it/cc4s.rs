//! cc4s' yaml and what lies beside it, from end to end.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::support::{corpus, tenfold};

/// The names of the files of a folder.
fn listed(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn tensors_are_described_with_their_units_and_blocks() {
    assert_snapshot!(tenfold([
        "info".into(),
        corpus("cc4s/good/vertex.yaml"),
        corpus("cc4s/good/nested.yaml"),
        corpus("cc4s/good/spins.yaml"),
        corpus("cc4s/good/of_2020_binary.yaml"),
    ]));
}

#[test]
fn what_was_put_right_is_said() {
    assert_snapshot!(tenfold([
        "verify".into(),
        corpus("cc4s/good/tail.yaml"),
        corpus("cc4s/good/text_torn_tail.yaml"),
        corpus("cc4s/good/sisi4s.yaml"),
        corpus("cc4s/good/unknown_keys.yaml"),
    ]));
}

#[test]
fn refusals_name_the_file_the_line_and_the_byte() {
    let files = [
        "short",
        "dry_run",
        "text_no_number",
        "text_short",
        "anchor",
        "twice",
        "length_fraction",
        "version_later",
        "old_data_above",
        "set_above",
        "property_file",
        "no_such_property",
        "property_file_anchor",
        "blocks_2_24",
    ];
    let files = files.map(|name| corpus(&format!("cc4s/bad/{name}.yaml")));
    let words = std::iter::once("verify".to_owned()).chain(files);
    assert_snapshot!(tenfold(words));
}

#[test]
fn a_set_is_a_yaml_and_a_file_for_each_tensor() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("all.yaml");
    let out = out.to_str().unwrap();
    let ran = tenfold([
        "convert",
        &corpus("cc4s/good/set.yaml"),
        out,
        "--opt",
        "elements=text",
    ]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let names = [
        "all.components.hh.elements",
        "all.components.p.h.elements",
        "all.yaml",
    ];
    assert_eq!(listed(folder.path()), names);
    let text = fs::read_to_string(folder.path().join(names[0])).unwrap();
    assert_eq!(text, "1.0\n-2.5\n");
    assert_snapshot!(fs::read_to_string(out).unwrap());
}

#[test]
fn blocks_come_back_through_another_format_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let source = corpus("cc4s/good/spins.yaml");
    for (from, to) in [(&source, path("a.zt")), (&path("a.zt"), path("spins.yaml"))] {
        let ran = tenfold(["convert", from, &to]);
        assert_eq!(ran.exit.code(), 0, "{ran}");
    }
    for name in ["spins.yaml", "spins.elements", "Spin.yaml"] {
        let was = fs::read(Path::new(&source).with_file_name(name)).unwrap();
        assert!(fs::read(path(name)).unwrap() == was, "{name}");
    }
}

#[test]
fn tens_goes_there_and_back_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let vertex = corpus("cc4s/good/complex.yaml");
    let steps = [
        [vertex.clone(), path("a.bin")],
        [path("a.bin"), path("b.yaml")],
        [path("b.yaml"), path("c.bin")],
    ];
    for [from, to] in &steps {
        let is_tens = to.ends_with(".bin");
        let format = if is_tens { "tens@0.9" } else { "cc4s" };
        let ran = tenfold(["convert", from, to, "--to", format]);
        assert_eq!(ran.exit.code(), 0, "{ran}");
    }
    assert!(fs::read(path("a.bin")).unwrap() == fs::read(path("c.bin")).unwrap());
    let elements = Path::new(&vertex).with_extension("elements");
    assert!(fs::read(path("b.elements")).unwrap() == fs::read(elements).unwrap());
}

#[test]
fn what_is_in_the_way_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let source = corpus("cc4s/good/real.yaml");
    fs::write(path("x.elements"), "mine").unwrap();
    fs::create_dir(path("y.elements")).unwrap();
    let before = listed(folder.path());
    let shown = |words: &[&str]| {
        let ran = tenfold([&["convert", &source], words].concat());
        assert_eq!(ran.exit.code(), 2, "{ran}");
        ran.errors.replace(folder.path().to_str().unwrap(), "DIR")
    };
    let all = [
        shown(&[&path("x.yaml")]),
        shown(&[&path("y.yaml"), "--force"]),
        shown(&[&path("z.elements"), "--to", "cc4s"]),
        shown(&[&path("z.yaml.gz")]),
        shown(&["-", "--to", "cc4s"]),
    ];
    assert_snapshot!(all.concat());
    assert_eq!(listed(folder.path()), before);
    assert_eq!(fs::read(path("x.elements")).unwrap(), b"mine");
}

#[test]
fn elements_are_no_file_of_their_own() {
    let ran = tenfold([
        "info".into(),
        corpus("cc4s/good/set.components.hh.elements"),
    ]);
    assert_snapshot!(ran);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.yaml");
    fs::copy(corpus("cc4s/good/real.yaml"), &path).unwrap();
    let path = path.to_str().unwrap();
    // Without elements there is still something to tell.
    let ran = tenfold(["info", path]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let ran = tenfold(["verify", path]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
    assert!(ran.errors.contains("x.elements: No such file"), "{ran}");
}
