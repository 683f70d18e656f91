//! The corpus and, where they are at hand, files that primitiv itself wrote or judged.

use std::path::PathBuf;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::Primitiv;
use crate::bundle::Bundle;
use crate::bytes::{Sink, Source};
use crate::error::{Error, Result};
use crate::format::{Format, Match, Mode, ReadOptions, WriteOptions};
use crate::key::Key;
use crate::meta::Value;
use crate::note::NoteKind;
use crate::tensor::{Storage, Tensor};

fn read(file: &[u8], mode: Mode) -> Result<Bundle> {
    let how = ReadOptions {
        mode,
        ..ReadOptions::default()
    };
    Primitiv.read(&Source::memory(file.to_vec()), &how)
}

/// The file that a bundle becomes; `None` if something would be lost.
fn write(bundle: &Bundle) -> Option<Vec<u8>> {
    let mut out = Sink::memory();
    if !Primitiv.quirks(bundle).is_empty() {
        return None;
    }
    let how = WriteOptions::default();
    Primitiv.write(bundle, &mut out, &how).unwrap();
    Some(out.finish().unwrap().into_memory().unwrap())
}

fn list(json: &Json) -> &[Json] {
    json.as_array().unwrap()
}

fn is_float(found: f32, wanted: &Json) -> bool {
    match wanted {
        Json::String(special) if special == "NaN" => found.is_nan(),
        Json::String(special) => {
            found == special.replace("Infinity", "inf").parse::<f32>().unwrap()
        }
        number => found.to_bits() == number.to_string().parse::<f32>().unwrap().to_bits(),
    }
}

fn are_floats(found: &[f32], wanted: &[Json]) -> bool {
    found.len() == wanted.len() && found.iter().zip(wanted).all(|(f, w)| is_float(*f, w))
}

fn is_value(found: &Value, wanted: &Json) -> bool {
    match found {
        Value::Int(number) => u64::try_from(*number).ok() == wanted.as_u64(),
        Value::Float { bits, width: 32 } => {
            is_float(f32::from_bits((*bits).try_into().unwrap()), wanted)
        }
        Value::List(items) => {
            items.len() == list(wanted).len()
                && items.iter().zip(list(wanted)).all(|(f, w)| is_value(f, w))
        }
        Value::Map(pairs) => {
            let wanted = wanted.as_object().unwrap();
            let is_pair = |(name, value): &(Value, Value)| {
                wanted
                    .get(name.as_text().unwrap())
                    .is_some_and(|wanted| is_value(value, wanted))
            };
            pairs.len() == wanted.len() && pairs.iter().all(is_pair)
        }
        other => panic!("{other:?} in the metadata of a primitiv file"),
    }
}

/// The files of a folder of the corpus, each with what its maker says about it.
fn corpus(folder: &str) -> Vec<(String, Vec<u8>, Json)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/primitiv");
    let mut files = Vec::new();
    for file in std::fs::read_dir(root.join(folder)).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.ends_with(".json") {
            let about = std::fs::read(path.with_file_name(format!("{name}.json"))).unwrap();
            let about = serde_json::from_slice(&about).unwrap();
            files.push((name, std::fs::read(&path).unwrap(), about));
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

/// Checks that a bundle is what `show` describes.
fn check_shown(name: &str, bundle: &Bundle, show: &Json) {
    let wanted = show["metadata"].as_object().unwrap();
    let data_type = wanted["primitiv:type"].as_str();
    assert_eq!(bundle.hints.text("primitiv:type"), data_type, "{name}");
    assert_eq!(bundle.meta.len(), wanted.len() - 1, "{name}");
    for (key, value) in bundle.meta.iter() {
        assert!(is_value(value, &wanted[key]), "{name}: {key} is {value:?}");
    }
    let tensors = list(&show["tensors"]);
    assert_eq!(bundle.entries().len(), tensors.len(), "{name}");
    for ((key, tensor), wanted) in bundle.entries().iter().zip(tensors) {
        check_shown_tensor(name, key, tensor, wanted);
    }
}

fn check_shown_tensor(name: &str, key: &Key, tensor: &Tensor, wanted: &Json) {
    let path: Vec<&str> = list(&wanted["key"])
        .iter()
        .map(|segment| segment.as_str().unwrap())
        .collect();
    assert_eq!(key.path, path, "{name}");
    assert_eq!(key.state.as_deref(), wanted["state"].as_str(), "{name}");
    assert_eq!(key.to_string(), wanted["name"].as_str().unwrap(), "{name}");
    let dims = list(&wanted["dims"]);
    assert_eq!(tensor.dims().len(), dims.len(), "{name}");
    for (dim, wanted) in tensor.dims().iter().zip(dims) {
        assert_eq!(dim.name.as_deref(), wanted["name"].as_str(), "{name}");
        assert_eq!(dim.indexed_size(), wanted["size"].as_u64(), "{name}");
    }
    let values = tensor.to_vec::<f32>().unwrap();
    let is_same = are_floats(&values, list(&wanted["data"]));
    assert!(is_same, "{name}: {values:?}");
}

#[test]
fn every_good_file_of_the_corpus_reads_as_its_maker_says() {
    let files = corpus("good");
    assert_eq!(files.len(), 87);
    for (name, file, about) in files {
        let bundle = if about["lenient"] == true {
            let error = read(&file, Mode::Strict).unwrap_err();
            check_malformed(&name, &error, &about["strict_at"]);
            let bundle = read(&file, Mode::Lenient).unwrap();
            let kinds: Vec<NoteKind> = bundle.notes().iter().map(|note| note.kind).collect();
            assert_eq!(kinds, [NoteKind::Lenient], "{name}");
            bundle
        } else {
            let source = Source::memory(file.clone());
            assert_eq!(Primitiv.probe(&source), Match::Yes, "{name}");
            let bundle = read(&file, Mode::Strict).unwrap();
            assert_eq!(bundle.notes(), [], "{name}");
            bundle
        };
        check_shown(&name, &bundle, &about["show"]);
    }
}

#[test]
fn a_file_of_the_corpus_that_is_rewritten_means_the_same_and_canonical_ones_are_the_same() {
    let mut refused = Vec::new();
    for (name, file, about) in corpus("good") {
        let bundle = read(&file, Mode::Lenient).unwrap();
        let Some(written) = write(&bundle) else {
            refused.push(name);
            continue;
        };
        // The maker leaves parameters unmarked; they have no other form than their own.
        let is_canonical = about["canonical"] == true || name.starts_with("parameter_");
        assert_eq!(written == file, is_canonical, "{name}");
        let mut again = read(&written, Mode::Strict).unwrap();
        if name == "lenient_key_empty.model" {
            // A model cannot have the key, so it becomes a file that is its tensor.
            assert_eq!(again.hints.text("primitiv:type"), Some("tensor"));
            again.hints.set("primitiv:type", "model");
        }
        if name != "model_unsorted.model" {
            check_shown(&name, &again, &about["show"]);
        }
    }
    let conflicts = [
        "lenient_key_conflict.model",
        "lenient_key_conflict_above.model",
    ];
    assert_eq!(refused, conflicts);
}

fn check_malformed(name: &str, error: &Error, wanted: &Json) {
    let Error::Malformed { at, .. } = error else {
        panic!("{name}: {error}");
    };
    if !wanted.is_null() {
        assert_eq!(*at, wanted.as_u64(), "{name}: {error}");
    }
}

#[test]
fn every_bad_file_of_the_corpus_is_refused_at_the_byte_its_maker_marked() {
    let files = corpus("bad");
    assert_eq!(files.len(), 81);
    for (name, file, about) in files {
        assert_eq!(about["by"], "open", "{name}");
        assert_eq!(about["lenient_ok"], false, "{name}");
        for mode in [Mode::Strict, Mode::Lenient] {
            let error = read(&file, mode).unwrap_err();
            if about["kind"] == "unsupported" {
                assert!(
                    matches!(error, Error::Unsupported { .. }),
                    "{name}: {error}"
                );
            } else {
                check_malformed(&name, &error, &about["at"]);
            }
        }
    }
}

#[test]
fn a_file_cut_after_its_versions_is_still_recognised() {
    let header = b"\xce\0\0\0\0\xce\0\0\0\x01\xce\0\0\x03\0";
    for len in 0..=header.len() {
        let expected = if len < 10 { Match::No } else { Match::Yes };
        let source = Source::memory(header[..len].to_vec());
        assert_eq!(Primitiv.probe(&source), expected, "{len}");
    }
    for other in [
        b"\xce\0\0\0\0\xce\0\0\0\x01\xce\0\0\x05\0",
        b"\xce\0\0\0\0\xce\0\0\0\x01\xce\0\0\x03\x01",
        b"\xce\0\0\0\0\xce\0\0\0\x02\xce\0\0\x03\0",
    ] {
        assert_eq!(Primitiv.probe(&Source::memory(other.to_vec())), Match::No);
    }
}

/// Files with what primitiv says about them; `None`, and a line that says so, if they are not here.
fn vectors(manifest: &str) -> Option<Vec<(String, Vec<u8>, Json)>> {
    let root = std::env::var_os("TENFOLD_VECTORS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors"),
        PathBuf::from,
    );
    let root = root.join("primitiv");
    let Ok(manifest) = std::fs::read(root.join(manifest)) else {
        println!("skipped: TENFOLD_VECTORS has no primitiv/{manifest}");
        return None;
    };
    let manifest: Json = serde_json::from_slice(&manifest).unwrap();
    let files = list(&manifest["files"]).iter().map(|about| {
        let name = about["file"].as_str().unwrap();
        let file = std::fs::read(root.join(name)).unwrap();
        (name.to_owned(), file, about.clone())
    });
    Some(files.collect())
}

fn check_tensor(name: &str, tensor: &Tensor, wanted: &Json) {
    let mut sizes = list(&wanted["dims"]).to_vec();
    if wanted["batch"] != 1 {
        sizes.push(wanted["batch"].clone());
    }
    assert_eq!(
        Json::from(tensor.sizes().unwrap()),
        Json::from(sizes),
        "{name}"
    );
    let Storage::Dense { values, .. } = tensor.storage() else {
        panic!("{name} is not dense");
    };
    if let Some(wanted) = wanted["data_sha256"].as_str() {
        let digest = Sha256::digest(values.bytes.to_vec().unwrap());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, wanted, "{name}");
    }
    let values = values.to_vec::<f32>().unwrap();
    if let Some(data) = wanted["data"].as_array() {
        assert!(are_floats(&values, data), "{name}: {values:?}");
    } else {
        let (head, tail) = (list(&wanted["data_head"]), list(&wanted["data_tail"]));
        assert!(are_floats(&values[..head.len()], head), "{name}");
        assert!(
            are_floats(&values[values.len() - tail.len()..], tail),
            "{name}"
        );
    }
}

/// Checks a parameter, and gives how many tensors it has.
fn check_parameter(name: &str, bundle: &Bundle, key: &Key, wanted: &Json) -> usize {
    let find = |key: &Key| {
        let entry = bundle.entries().iter().find(|(known, _)| known == key);
        &entry.unwrap_or_else(|| panic!("{name} has no {key}")).1
    };
    check_tensor(name, find(key), &wanted["value"]);
    for statistic in list(&wanted["stats"]) {
        let key = key.statistic(statistic["name"].as_str().unwrap());
        check_tensor(name, find(&key), &statistic["tensor"]);
    }
    if let Some(order) = wanted["stat_order_in_file"].as_array() {
        let found = bundle
            .entries()
            .iter()
            .filter_map(|(known, _)| known.state.as_deref());
        let wanted = order.iter().filter_map(Json::as_str);
        assert!(found.eq(wanted), "{name}");
    }
    list(&wanted["stats"]).len() + 1
}

/// Checks that a bundle is what primitiv sees in its file.
fn check_seen(name: &str, bundle: &Bundle, wanted: &Json) {
    let n_tensors = if let Some(shape) = wanted.get("shape") {
        let meta = |name| bundle.meta.get(name).unwrap();
        assert!(is_value(meta("primitiv:dims"), &shape["dims"]), "{name}");
        assert!(is_value(meta("primitiv:batch"), &shape["batch"]), "{name}");
        0
    } else if let Some(tensor) = wanted.get("tensor") {
        check_tensor(name, bundle.only().unwrap(), tensor);
        1
    } else if let Some(parameter) = wanted.get("parameter") {
        check_parameter(name, bundle, &Key::root(), parameter)
    } else if let Some(model) = wanted.get("model") {
        let parameters = list(&model["params"]).iter();
        let n_tensors = parameters.map(|parameter| {
            let path = list(&parameter["key"]).iter();
            let path = path.map(|segment| segment.as_str().unwrap().to_owned());
            check_parameter(name, bundle, &Key::tree(path.collect()), parameter)
        });
        n_tensors.sum()
    } else {
        let optimizer = &wanted["optimizer"];
        check_configs(name, bundle, optimizer.get("raw").unwrap_or(optimizer));
        0
    };
    assert_eq!(bundle.entries().len(), n_tensors, "{name}");
}

fn check_configs(name: &str, bundle: &Bundle, wanted: &Json) {
    for kind in ["uint_configs", "float_configs"] {
        let pairs = list(&wanted[kind]).iter();
        let pairs = pairs.map(|pair| (pair[0].as_str().unwrap().to_owned(), pair[1].clone()));
        let found = bundle.meta.get(&format!("primitiv:{kind}")).unwrap();
        assert!(is_value(found, &pairs.collect()), "{name}: {found:?}");
    }
}

#[test]
fn every_file_that_primitiv_wrote_reads_as_it_says_and_is_rewritten_byte_for_byte() {
    let Some(files) = vectors("manifest.json") else {
        return;
    };
    assert_eq!(files.len(), 37);
    for (name, file, about) in files {
        let bundle = read(&file, Mode::Strict).unwrap();
        assert_eq!(
            bundle.hints.text("primitiv:type"),
            about["type"].as_str(),
            "{name}"
        );
        check_seen(&name, &bundle, &about["expected"]);
        assert!(write(&bundle).unwrap() == file, "{name}");
    }
}

/// Where a strict reader and primitiv differ, and why.
const RULINGS: [(&str, &str); 4] = [
    ("edge/nparams_too_small.model", "bytes after the body"),
    ("edge/stat_dup.param", "a statistic twice"),
    ("edge/volume_wrap_small.tensor", "2^32 cells or more"),
    // primitiv was asked for a parameter, and nobody asks us.
    ("edge/type_tensor_as_param.param", "a sound tensor file"),
];

#[test]
fn a_file_at_the_edge_is_judged_as_primitiv_judges_it_but_for_our_rulings() {
    let Some(files) = vectors("edge/manifest.json") else {
        return;
    };
    assert_eq!(files.len(), 43);
    let mut n_rulings = 0;
    for (name, file, about) in files {
        let found = read(&file, Mode::Strict);
        let accepts = about["primitiv_accepts"] == true;
        if RULINGS.iter().any(|(ruled, _)| *ruled == name) {
            assert_ne!(found.is_ok(), accepts, "{name}");
            n_rulings += 1;
            continue;
        }
        assert_eq!(found.is_ok(), accepts, "{name}: {:?}", found.err());
        if let Ok(bundle) = found {
            check_seen(&name, &bundle, &about["primitiv_sees"]);
        }
    }
    assert_eq!(n_rulings, RULINGS.len());
}
