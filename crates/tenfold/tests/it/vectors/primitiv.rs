//! Files that primitiv itself wrote or judged.

use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use tenfold::{Bundle, Key, Mode, Result, Storage, Tensor, Value};

use crate::support::{self, how, json, verify, write};

fn read(file: &[u8], mode: Mode) -> Result<Bundle> {
    verify("primitiv", file, &how(mode, &Json::Null)).map(|opened| opened.bundle)
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

/// The files of a manifest with what primitiv says about them.
fn vectors(manifest: &str) -> Option<Vec<(String, Vec<u8>, Json)>> {
    let root = support::vectors()?.join("primitiv");
    let manifest = json(&root.join(manifest));
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
        assert!(write("primitiv", &bundle).unwrap() == file, "{name}");
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
