//! Trains are carried by formats that have none: as their cores, and made whole again.

use tenfold::{
    Allow, Bundle, Dim, Key, Limits, NoteKind, Numbers, Order, ReadOptions, Sink, Slice, Storage,
    Symmetry, Tensor, Tier, WriteOptions,
};

use crate::meaning::{meaning, meanings};
use crate::support::{files, project, read, write};

/// A train of sizes 2, 3, 2 and ranks 2, 3, of complex numbers if `parts` is 2.
fn train(parts: usize) -> Tensor {
    let dtype = if parts == 2 { "c128" } else { "f64" };
    let core = |len: usize, from: f64| {
        let values = (0..len * parts).map(|n| from + f64::from(u32::try_from(n).unwrap()));
        Numbers::from_vec(&values.collect::<Vec<f64>>())
    };
    let storage = Storage::Train {
        ranks: vec![1, 2, 3, 1],
        cores: vec![core(4, 1.0), core(18, -4.5), core(6, 0.25)],
    };
    let dims = [2, 3, 2].map(Dim::indexed).to_vec();
    Tensor::new(dims, dtype.parse().unwrap(), vec![], storage).unwrap()
}

fn dense(sizes: &[u64], values: &[f64]) -> Tensor {
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(values),
    };
    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
    Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap()
}

fn names(bundle: &Bundle) -> Vec<String> {
    let keys = bundle.entries().iter();
    keys.map(|(key, _)| key.to_string()).collect()
}

fn opened(bytes: &[u8], skip_restore: bool) -> Bundle {
    let how = ReadOptions {
        skip_restore,
        ..ReadOptions::default()
    };
    read("ztensor", bytes, &how).unwrap().bundle
}

#[test]
fn every_train_comes_back_from_ztensor_with_the_same_bytes() {
    let mut count = 0;
    for folder in ["corpus/blz/good", "corpus/blz/huge"] {
        for file in files(&project().join(folder)) {
            let bytes = std::fs::read(&file).unwrap();
            let Ok(opened_blz) = read("blz", &bytes, &ReadOptions::default()) else {
                continue;
            };
            // A verdict has no tensor that anything could be carried with.
            if opened_blz.bundle.entries().is_empty() {
                continue;
            }
            let mut out = Sink::memory();
            let ztensor = tenfold::by_name("ztensor").unwrap();
            let how = WriteOptions {
                strict: true,
                ..WriteOptions::default()
            };
            let said = tenfold::write_to(&opened_blz.bundle, &mut out, ztensor, &how).unwrap();
            assert!(
                said.iter().all(|loss| loss.tier == Tier::Carried),
                "{said:?}"
            );
            let carried = out.finish().unwrap().into_memory().unwrap();
            let bundle = opened(&carried, false);
            assert!(bundle.notes().is_empty(), "{file:?} {:?}", bundle.notes());
            assert_eq!(meanings(&bundle), meanings(&opened_blz.bundle), "{file:?}");
            // What only the newer container says has no place in the older one.
            if bytes.starts_with(b"BLZ1") {
                assert_eq!(write("blz", &bundle).unwrap(), bytes, "{file:?}");
            }
            assert_eq!(write("ztensor", &bundle).unwrap(), carried, "{file:?}");
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
}

#[test]
fn trains_come_back_from_safetensors_too() {
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("z"), train(1));
    bundle.push(Key::flat("b"), dense(&[2], &[1.0, 2.0]));
    bundle.push(Key::tree(vec!["enc".into(), "w".into()]), train(2));
    let bytes = write("safetensors", &bundle).unwrap();
    let found = read("safetensors", &bytes, &ReadOptions::default());
    let found = found.unwrap().bundle;
    assert!(found.notes().is_empty(), "{:?}", found.notes());
    for (key, tensor) in bundle.entries() {
        let back = found.get(&key.to_string()).unwrap();
        assert_eq!(meaning(back), meaning(tensor), "{key}");
    }
    assert_eq!(found.entries().len(), 3);
    // Its tensors are sorted, so that the text has another order; from then on it keeps that.
    let again = write("safetensors", &found).unwrap();
    let found = read("safetensors", &again, &ReadOptions::default()).unwrap();
    assert_eq!(write("safetensors", &found.bundle).unwrap(), again);
}

#[test]
fn trains_among_other_tensors_keep_their_order_and_all_they_have() {
    let mut named = train(2);
    let dims = ["x", "y", "z"].iter().zip([2, 3, 2]);
    let dims = dims.map(|(name, size)| Dim::indexed(size).named(*name));
    let symmetry = Symmetry {
        permutation: vec![2, 1, 0],
        operation: "x".into(),
        packed: false,
    };
    let storage = named.storage().clone();
    named = Tensor::new(dims.collect(), named.dtype(), vec![symmetry], storage).unwrap();
    named.meta.set("about", "a field");
    named.meta.set("tenfold", "somebody's own");
    let mut bundle = Bundle::new();
    bundle.meta.set("of", "all");
    bundle.push(Key::tree(vec!["enc".into(), "w".into()]), train(1));
    bundle.push(Key::flat("b"), dense(&[2], &[1.0, 2.0]));
    bundle.push(
        Key::tree(vec!["enc".into(), "v".into()]).statistic("m"),
        named,
    );
    bundle.push(Key::flat("c"), dense(&[], &[3.0]));
    let bytes = write("ztensor", &bundle).unwrap();
    let plain = names(&opened(&bytes, true)).join(" ");
    let expected = "enc\\/w.core.0 enc\\/w.core.1 enc\\/w.core.2 b \
                    enc\\/v\\@m.core.0 enc\\/v\\@m.core.1 enc\\/v\\@m.core.2 c";
    assert_eq!(plain, expected);
    let found = opened(&bytes, false);
    assert!(found.notes().is_empty(), "{:?}", found.notes());
    assert_eq!(meanings(&found), meanings(&bundle));
    assert_eq!(names(&found), names(&bundle));
    assert_eq!(found.meta, bundle.meta);
    assert_eq!(write("ztensor", &found).unwrap(), bytes);
}

#[test]
fn the_names_of_cores_are_nobody_elses() {
    let mut bundle = Bundle::new();
    for name in ["w.core.1", "w", "w.core.", "w.core", "w.core-2.0", ""] {
        bundle.push(Key::flat(name), train(1));
    }
    bundle.push(Key::flat("w.core.2.core.0"), dense(&[1], &[0.0]));
    bundle.push(Key::flat(".core.2"), dense(&[1], &[0.0]));
    let bytes = write("ztensor", &bundle).unwrap();
    let plain = names(&opened(&bytes, true));
    assert!(plain.contains(&"w.core-3.0".to_owned()), "{plain:?}");
    assert!(plain.contains(&".core-2.0".to_owned()), "{plain:?}");
    let found = opened(&bytes, false);
    assert!(found.notes().is_empty(), "{:?}", found.notes());
    assert_eq!(names(&found), names(&bundle));
    assert_eq!(meanings(&found), meanings(&bundle));

    let mut twice = Bundle::new();
    twice.push(Key::flat("w"), train(1));
    twice.push(Key::flat("w"), train(2));
    let error = write("ztensor", &twice).unwrap_err().to_string();
    assert!(error.contains("the name is used twice"), "{error}");
}

#[test]
fn compressed_cores_with_checksums_are_read_in_part_and_written_the_same() {
    let mut out = Sink::memory();
    let mut how = WriteOptions::default();
    how.options.set("compress", "zstd");
    how.options.set("checksum", "sha256");
    let bundle = Bundle::of(train(1));
    let ztensor = tenfold::by_name("ztensor").unwrap();
    tenfold::write_to(&bundle, &mut out, ztensor, &how).unwrap();
    let bytes = out.finish().unwrap().into_memory().unwrap();
    let found = opened(&bytes, false);
    let (tensor, own) = (found.only().unwrap(), bundle.only().unwrap());
    let limits = Limits::default();
    let part = [Slice::one(1), Slice::range(1..3), Slice::all(2)];
    assert_eq!(
        tensor.read_box::<f64>(&part, &limits).unwrap(),
        own.read_box::<f64>(&part, &limits).unwrap()
    );
    assert_eq!(
        tensor.to_vec::<f64>().unwrap(),
        own.to_vec::<f64>().unwrap()
    );
    assert_eq!(write("ztensor", &found).unwrap(), bytes);
}

#[test]
fn where_nothing_is_carried_a_train_is_refused_as_ever() {
    let ztensor = tenfold::by_name("ztensor").unwrap();
    let how = |allow| WriteOptions {
        skip_carry: true,
        allow,
        ..WriteOptions::default()
    };
    let bundle = Bundle::of(train(1));
    let refused = tenfold::forecast(&bundle, ztensor, &how(Allow::Nothing));
    let error = refused.unwrap_err().to_string();
    let hint = "To go ahead: --allow train, or tenfold reconstruct IN.blz OUT";
    assert!(error.ends_with(hint), "{error}");
    let (lowered, _) = tenfold::forecast(&bundle, ztensor, &how(Allow::Everything)).unwrap();
    assert_eq!(lowered.only().unwrap().storage().as_str(), "dense");
    let dense = Bundle::of(dense(&[2, 2], &[0.0; 4]));
    let error = write("blz", &dense).unwrap_err().to_string();
    let hint = "--eps 1e-6 makes a train";
    assert!(error.contains(hint), "{error}");
}

/// Tensors by name, to be spoiled.
type Named = Vec<(String, Tensor)>;

/// A file of the cores of [`train`], of which the first has `text`; `change` may spoil it.
fn file(text: &str, change: &dyn Fn(&mut Named)) -> Vec<u8> {
    let mut cores: Named = vec![
        ("w.core.0".to_owned(), dense(&[1, 2, 2], &[1.0; 4])),
        ("w.core.1".to_owned(), dense(&[2, 3, 3], &[2.0; 18])),
        ("w.core.2".to_owned(), dense(&[3, 2, 1], &[3.0; 6])),
    ];
    cores[0].1.meta.set("tenfolx", text);
    change(&mut cores);
    let mut bundle = Bundle::new();
    for (name, core) in cores {
        bundle.push(Key::flat(name), core);
    }
    let mut out = Sink::memory();
    let how = WriteOptions {
        allow: Allow::Everything,
        ..WriteOptions::default()
    };
    let ztensor = tenfold::by_name("ztensor").unwrap();
    tenfold::write_to(&bundle, &mut out, ztensor, &how).unwrap();
    let mut bytes = out.finish().unwrap().into_memory().unwrap();
    while let Some(at) = bytes.windows(7).position(|bytes| bytes == b"tenfolx") {
        bytes[at..at + 7].copy_from_slice(b"tenfold");
    }
    bytes
}

fn text(train: &str) -> String {
    format!(r#"{{"version":1,"name":"w.core.0","shape":[1,2,2],"train":{train}}}"#)
}

const TRAIN: &str = r#"{"cores":3,"suffix":".core.","dtype":"f64"}"#;

#[test]
fn cores_that_others_moved_or_renamed_alike_are_still_a_train() {
    let bundle = opened(&file(&text(TRAIN), &|cores| cores.reverse()), false);
    assert!(bundle.notes().is_empty(), "{:?}", bundle.notes());
    assert_eq!(bundle.get("w").unwrap().storage().as_str(), "train");
    let renamed = file(&text(TRAIN), &|cores| {
        for (name, _) in cores {
            name.insert_str(0, "model.");
        }
    });
    let bundle = opened(&renamed, false);
    assert!(bundle.notes().is_empty(), "{:?}", bundle.notes());
    assert_eq!(names(&bundle), ["model.w"]);
    assert_eq!(bundle.only().unwrap().sizes().unwrap(), [2, 3, 2]);
}

#[test]
fn cores_that_are_no_train_stay_what_they_are() {
    let nothing = |_: &mut Named| {};
    let announced = [
        "null",
        "[]",
        r#"{"cores":0,"suffix":".core.","dtype":"f64"}"#,
        r#"{"cores":-3,"suffix":".core.","dtype":"f64"}"#,
        r#"{"cores":2,"suffix":".core.","dtype":"f64"}"#,
        r#"{"cores":4,"suffix":".core.","dtype":"f64"}"#,
        r#"{"cores":255,"suffix":".core.","dtype":"f64"}"#,
        r#"{"cores":256,"suffix":".core.","dtype":"f64"}"#,
        r#"{"cores":18446744073709551615,"suffix":".core.","dtype":"f64"}"#,
        r#"{"cores":3,"suffix":".core.","dtype":"f32"}"#,
        r#"{"cores":3,"suffix":".core.","dtype":"c128"}"#,
        r#"{"cores":3,"suffix":".core.","dtype":"f63"}"#,
        r#"{"cores":3,"suffix":"","dtype":"f64"}"#,
        r#"{"cores":3,"suffix":"x.core.","dtype":"f64"}"#,
        r#"{"cores":3,"suffix":".core.1","dtype":"f64"}"#,
        r#"{"cores":3,"dtype":"f64"}"#,
        r#"{"cores":3,"suffix":".core."}"#,
    ];
    let mut cases: Vec<Vec<u8>> = announced
        .iter()
        .map(|train| file(&text(train), &nothing))
        .collect();
    let with = |more: &str| text(&format!("{TRAIN},{more}"));
    cases.extend([
        file(&with(r#""labels":{"dims":[["a","b"]]}"#), &nothing),
        file(&with(r#""dims":["x","y"]"#), &nothing),
        file(
            &with(r#""symmetries":[{"permutation":[2,1,0],"operation":"x","packed":true}]"#),
            &nothing,
        ),
        file(&text(TRAIN).replace("[1,2,2]", "[2,2,1]"), &nothing),
    ]);
    let spoiled: [&dyn Fn(&mut Named); 9] = [
        &|cores| drop(cores.remove(1)),
        &|cores| cores[1].0 = "w.core.01".into(),
        &|cores| cores[0].0 = "other".into(),
        &|cores| cores[1].1 = dense(&[2, 9], &[0.0; 18]),
        &|cores| cores[1].1 = dense(&[3, 2, 3], &[0.0; 18]),
        &|cores| cores[2].1 = dense(&[3, 2, 2], &[0.0; 12]),
        &|cores| cores[2].1 = dense(&[3, 2, 0], &[]),
        &|cores| cores.push(("w.core.1".into(), dense(&[2, 3, 3], &[0.0; 18]))),
        &|cores| cores[1].1.meta.set("own", true),
    ];
    cases.extend(spoiled.iter().map(|change| file(&text(TRAIN), *change)));
    for (number, bytes) in cases.iter().enumerate() {
        let bundle = opened(bytes, false);
        let kinds = bundle.notes().iter().map(|note| note.kind);
        let count = kinds.filter(|kind| *kind == NoteKind::NotRestored).count();
        assert_eq!(count, 1, "case {number}: {:?}", bundle.notes());
        assert_eq!(names(&bundle), names(&opened(bytes, true)), "case {number}");
        for (_, tensor) in bundle.entries() {
            assert_eq!(tensor.storage().as_str(), "dense", "case {number}");
        }
    }
}

#[test]
fn no_core_belongs_to_two_trains() {
    let bytes = file(&text(TRAIN), &|cores| {
        let text = text(r#"{"cores":2,"suffix":".core.","dtype":"f64"}"#);
        cores[1].1.meta.set("tenfolx", text.as_str());
    });
    let bundle = opened(&bytes, false);
    let kinds: Vec<NoteKind> = bundle.notes().iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [NoteKind::NotRestored; 2]);
    let (_, first) = &bundle.entries()[0];
    assert_eq!(
        meaning(first).content,
        meaning(&dense(&[1, 2, 2], &[1.0; 4])).content
    );
}

#[test]
fn a_nan_in_a_core_is_one_in_its_cells_alone() {
    let storage = Storage::Train {
        ranks: vec![1, 1, 1, 1],
        cores: vec![
            Numbers::from_vec(&[1e-200, f64::NAN, 1.0]),
            Numbers::from_vec(&[1e-200, 1.0]),
            Numbers::from_vec(&[1e300, 1.0]),
        ],
    };
    let dims = [3, 2, 2].map(Dim::indexed).to_vec();
    let tensor = Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap();
    let found = tensor.to_vec::<f64>().unwrap();
    let (finite, nan): (Vec<f64>, Vec<f64>) = found.iter().partition(|cell| !cell.is_nan());
    assert!(nan.len() == 4 && found.iter().skip(4).take(4).all(|cell| cell.is_nan()));
    let wanted = [1e-100, 0.0, 1e100, 1e-200, 1e100, 1e-200, 1e300, 1.0];
    for (cell, wanted) in finite.iter().zip(wanted) {
        assert!((cell - wanted).abs() <= wanted * 1e-14, "{found:?}");
    }
}
