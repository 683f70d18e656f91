//! `tenfold diff`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "only tests use it"
)]

use std::path::Path;

use insta::assert_snapshot;
use tenfold::{
    Address, Bundle, Dim, Endian, Key, Number, Numbers, Order, RecordsBuilder, Storage, Tensor,
    WriteOptions,
};

use crate::support::{Ran, corpus, tenfold, tenfold_with};

/// Writes a file and gives its name.
fn save(folder: &Path, name: &str, bundle: &Bundle) -> String {
    let path = folder.join(name);
    let format = tenfold::by_extension(&path)[0];
    let how = WriteOptions::default();
    tenfold::save(bundle, &path, format, &how, true).unwrap();
    path.to_str().unwrap().into()
}

/// Runs `diff`, with the folder taken out of what it says.
fn diff(folder: &Path, args: &[&str]) -> Ran {
    let mut ran = tenfold(["diff"].iter().chain(args));
    let folder = format!("{}/", folder.display());
    ran.out = ran.text().replace(&folder, "").into_bytes();
    ran.errors = ran.errors.replace(&folder, "");
    ran
}

fn tensor<T: tenfold::Element>(sizes: &[u64], values: &[T]) -> Tensor {
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(values),
    };
    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
    Tensor::new(dims, T::DTYPE, vec![], storage).unwrap()
}

fn bundle(tensors: Vec<(&str, Tensor)>) -> Bundle {
    let mut bundle = Bundle::new();
    for (name, tensor) in tensors {
        bundle.push(Key::flat(name), tensor);
    }
    bundle
}

/// Two checkpoints of a small model.
fn checkpoints(folder: &Path) -> (String, String) {
    let before = bundle(vec![
        (
            "enc.w",
            tensor(&[2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ),
        ("enc.b", tensor(&[2], &[0.0_f32, 1.0])),
        ("dec.w", tensor(&[4], &[1.0_f32, 1.0, 1.0, 1.0])),
        ("dec.b", tensor(&[2], &[1.0_f32, f32::INFINITY])),
        ("norm", tensor(&[3], &[1.0_f64, 2.0, 3.0])),
        ("head", tensor(&[2], &[1.0_f32, 2.0])),
        ("steps", tensor(&[1], &[u64::MAX])),
        ("old\u{1b}[31m", tensor(&[1], &[1_u8])),
    ]);
    let after = bundle(vec![
        (
            "enc.w",
            tensor(&[2, 3], &[1.0_f32, 2.0, 3.5, 4.0, 5.0, 6.0]),
        ),
        ("enc.b", tensor(&[2], &[-0.0_f32, 1.0])),
        ("dec.w", tensor(&[4], &[1.0_f32, f32::NAN, 1.0, 1.0])),
        ("dec.b", tensor(&[2], &[1.0_f32, f32::INFINITY])),
        ("norm", tensor(&[3], &[1.0_f32, 2.0, 3.0])),
        ("head", tensor(&[3], &[1.0_f32, 2.0, 3.0])),
        ("steps", tensor(&[1], &[u64::MAX - 1])),
        ("new", tensor(&[1], &[1_u8])),
    ]);
    (
        save(folder, "before.zt", &before),
        save(folder, "after.zt", &after),
    )
}

#[test]
fn what_changed_is_listed_by_how_much() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = checkpoints(folder.path());
    let ran = |flags: &[&str]| {
        let mut args = vec![a.as_str(), b.as_str()];
        args.extend(flags);
        diff(folder.path(), &args)
    };
    assert_snapshot!("changed", ran(&[]));
    assert_snapshot!("changed_json", ran(&["--json"]));
    assert_snapshot!("top", ran(&["--top", "1"]));
    assert_snapshot!(
        "tolerance",
        ran(&["--rtol", "0.2", "--ignore-dtype", "--only", "*c.*"])
    );
    assert_snapshot!("only", ran(&["--only", "n*", "--exclude", "norm"]));
    let json = ran(&["--json"]).text();
    serde_json::from_str::<serde_json::Value>(&json).unwrap();
}

#[test]
fn a_file_is_the_same_as_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (a, _) = checkpoints(folder.path());
    assert_snapshot!("itself", diff(folder.path(), &[&a, &a]));
    assert_snapshot!("itself_json", diff(folder.path(), &[&a, &a, "--json"]));
}

#[test]
fn the_same_tensor_is_the_same_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<f64> = (0..24_u8).map(|n| f64::from(n) / 7.0).collect();
    let one = Bundle::of(tensor(&[2, 3, 4], &values));
    let names = ["x.npy", "x.tens", "x.zt"];
    let files = names.map(|name| save(folder.path(), name, &one));
    for a in &files {
        for b in &files {
            let ran = diff(folder.path(), &[a, b]);
            assert_eq!(ran.to_string(), "1 same\n[exit 0]", "{a} {b}");
        }
    }
}

#[test]
fn names_are_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let one = |x: f32| tensor(&[1], &[x]);
    let a = bundle(vec![
        ("model.enc.w", one(1.0)),
        ("model.dec.w", one(2.0)),
        ("x", one(3.0)),
    ]);
    let b = bundle(vec![
        ("enc.w", one(1.0)),
        ("dec.w", one(2.5)),
        ("y", one(3.0)),
    ]);
    let a = save(folder.path(), "a.zt", &a);
    let b = save(folder.path(), "b.zt", &b);
    let ran = |maps: &[&str]| {
        let mut args = vec![a.as_str(), b.as_str()];
        args.extend(maps.iter().flat_map(|map| ["--map", map]));
        diff(folder.path(), &args)
    };
    assert_snapshot!("mapped", ran(&["model.*=*", "x=y"]));
    assert_snapshot!("mapped_from_nothing", ran(&["modle.*=*"]));
    assert_snapshot!("mapped_to_nothing", ran(&["x=z"]));
    assert_snapshot!("map_without_a_pair", ran(&["x"]));
    assert_snapshot!("map_with_too_many_stars", ran(&["x=*"]));
}

#[test]
fn dimensions_are_matched_by_name_and_blocks_by_label() {
    let folder = tempfile::tempdir().unwrap();
    let grid = |names: [&str; 2], sizes: [u64; 2], values: &[f32]| {
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(values),
        };
        let dims = sizes.iter().zip(names);
        let dims = dims.map(|(size, name)| Dim::indexed(*size).named(name));
        let dtype = "f32".parse().unwrap();
        Bundle::of(Tensor::new(dims.collect(), dtype, vec![], storage).unwrap())
    };
    let a = grid(["x", "y"], [2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let b = grid(["y", "x"], [3, 2], &[1.0, 4.0, 2.0, 5.0, 3.5, 6.0]);
    let a = save(folder.path(), "a.tens", &a);
    let b = save(folder.path(), "b.tens", &b);
    assert_snapshot!("turned", diff(folder.path(), &[&a, &b]));

    let catalogue = |blocks: &[(&str, [f32; 2])]| {
        let mut records = RecordsBuilder::new(1, 8);
        for (label, cells) in blocks {
            let bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
            records.push(&[*label], &bytes).unwrap();
        }
        let values = Numbers {
            number: Number::F32,
            endian: Endian::Little,
            bytes: records.finish().unwrap(),
        };
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values,
        };
        let dims = vec![Dim::mapped("brand"), Dim::indexed(2).named("n")];
        Bundle::of(Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap())
    };
    let a = catalogue(&[
        ("nike", [1.0, 2.0]),
        ("puma", [3.0, 4.0]),
        ("asics", [5.0, 6.0]),
    ]);
    let b = catalogue(&[
        ("puma", [3.0, 4.5]),
        ("nike", [1.0, 2.0]),
        ("fila", [0.0, 0.0]),
    ]);
    let a = save(folder.path(), "a.tbf", &a);
    let b = save(folder.path(), "b.tbf", &b);
    assert_snapshot!("blocks", diff(folder.path(), &[&a, &b]));
    assert_snapshot!("blocks_json", diff(folder.path(), &[&a, &b, "--json"]));
}

#[test]
fn metadata_counts_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let with = |unit: &str| {
        let mut tensor = tensor(&[1], &[1.0_f32]);
        tensor.meta.set("unit", unit);
        tensor.meta.set("who", "us");
        bundle(vec![("x", tensor)])
    };
    let a = save(folder.path(), "a.zt", &with("eV"));
    let b = save(folder.path(), "b.zt", &with("Ha"));
    assert_eq!(diff(folder.path(), &[&a, &b]).exit.code(), 0);
    assert_snapshot!("meta", diff(folder.path(), &[&a, &b, "--meta"]));
    assert_snapshot!(
        "meta_json",
        diff(folder.path(), &[&a, &b, "--meta", "--json"])
    );
}

#[test]
fn trouble_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let good = corpus("npy/good/f32.npy");
    assert_snapshot!("absent", tenfold(["diff", &good, "no/such/file.npy"]));
    let bad = corpus("blz/bad/cut_at_55.blz");
    assert_snapshot!("malformed", tenfold(["diff", &good, &bad]));
    assert_snapshot!("no_match", tenfold(["diff", &good, &good, "--only", "w"]));
    assert_snapshot!("no_amount", tenfold(["diff", &good, &good, "--rtol=-1"]));
    let sum = corpus("ztensor/good/crc32c.zt");
    let mut bytes = std::fs::read(&sum).unwrap();
    let info = tenfold::open(&sum).unwrap();
    let at = info.bundle.entries()[0].1.storage().parts()[0].bytes.at();
    bytes[usize::try_from(at).unwrap()] ^= 1;
    let broken = folder.path().join("broken.zt");
    std::fs::write(&broken, bytes).unwrap();
    let broken = broken.to_str().unwrap();
    assert_snapshot!("broken", diff(folder.path(), &[broken, broken]));
    assert_snapshot!(
        "broken_json",
        diff(folder.path(), &[broken, broken, "--json"])
    );
}

#[test]
fn standard_input_is_compared() {
    let file = corpus("npy/good/f32.npy");
    let bytes = std::fs::read(&file).unwrap();
    let ran = tenfold_with(["diff", "-", &file], bytes);
    assert_eq!(ran.to_string(), "1 same\n[exit 0]");
    let ran = tenfold_with(["diff", "-", "-"], Vec::new());
    assert_eq!(ran.exit.code(), 2);
}

#[test]
fn names_are_chosen_as_they_are_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let values = || tensor(&[2], &[1.0_f32, 2.0]);
    let old = bundle(vec![
        ("model.enc.w", values()),
        ("model.dec.w", tensor(&[2], &[9.0_f32, 9.0])),
    ]);
    let new = bundle(vec![("enc.w", values()), ("dec.w", values())]);
    let old = save(folder.path(), "old.zt", &old);
    let new = save(folder.path(), "new.zt", &new);
    // The example of the help.
    let words = [
        &old,
        &new,
        "--map",
        "model.*=*",
        "--only",
        "enc*",
        "--top",
        "5",
    ];
    let ran = diff(folder.path(), &words);
    assert_eq!(
        (ran.exit.code(), ran.text().as_str()),
        (0, "1 same\n"),
        "{ran}"
    );
    let words = [&old, &new, "--map", "model.*=*", "--exclude", "dec*"];
    assert_eq!(diff(folder.path(), &words).exit.code(), 0);
    let words = [&old, &new, "--map", "model.*=*", "--only", "model*"];
    let ran = diff(folder.path(), &words);
    assert_eq!(ran.exit.code(), 2, "{ran}");
}

#[test]
fn an_option_is_for_the_files_that_have_it_or_for_one_side() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("a.json"), "[1, 2]").unwrap();
    std::fs::write(path("b.json"), "[[1], [2]]").unwrap();
    let npy = save(
        folder.path(),
        "a.npy",
        &Bundle::of(tensor(&[2], &[1.0_f64, 2.0])),
    );
    let kind = ["--opt", "type=tensor(x[2])"];
    let ran = diff(folder.path(), &[&path("a.json"), &npy, kind[0], kind[1]]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let sides = [
        "--opt-a",
        "type=tensor(x[2])",
        "--opt-b",
        "type=tensor(x[2],y[1])",
    ];
    let (a, b) = (path("a.json"), path("b.json"));
    let ran = diff(
        folder.path(),
        &[&[a.as_str(), b.as_str()], &sides[..]].concat(),
    );
    assert_eq!(ran.exit.code(), 1, "{ran}");
    assert!(ran.text().contains("shape"), "{ran}");
    let ran = diff(folder.path(), &[&npy, &npy, kind[0], kind[1]]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
}

#[test]
fn a_tensor_without_a_name_is_said_to_have_none() {
    let named = corpus("ztensor/good/tensors_25.zt");
    let ran = tenfold([
        "diff".into(),
        corpus("npy/good/f64.npy"),
        named,
        "--top=2".into(),
    ]);
    assert!(ran.text().contains("only in A: (unnamed)"), "{ran}");
    let ran = tenfold(["info".into(), corpus("npy/good/f64.npy"), "--only=x".into()]);
    assert!(ran.errors.contains("there are (unnamed)"), "{ran}");
}
