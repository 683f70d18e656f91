//! Files written by the real programs, generations 1.0 to 2, and the conformance files of the last.

use std::path::Path;

use serde_json::Value as Json;
use tenfold::{
    Address, Mode, Numbers, Opened, ReadOptions, Sink, Source, Storage, Tensor, WriteOptions,
};

use crate::meaning::{little_endian, meanings};
use crate::support::{hex, how, json, read, vectors, verify, write};

/// The arrays of a tensor as the generations after the first have them.
fn parts(tensor: &Tensor) -> Vec<(&str, Vec<u8>)> {
    let joined = |columns: &[Numbers]| columns.iter().flat_map(little_endian).collect();
    match tensor.storage() {
        Storage::Dense { values, .. } => vec![("data", little_endian(values))],
        Storage::Sparse {
            address, values, ..
        } => {
            let mut parts = vec![("values", little_endian(values))];
            match address {
                Address::Rows { starts, columns } => {
                    parts.push(("indptr", little_endian(starts)));
                    parts.push(("indices", little_endian(columns)));
                }
                Address::Coordinates(columns) => parts.push(("coords", joined(columns))),
                other => panic!("{other:?}"),
            }
            parts
        }
        Storage::Opaque { parts, .. } => {
            let parts = parts.iter();
            parts
                .map(|(name, part)| (name.as_str(), little_endian(part)))
                .collect()
        }
        Storage::Train { .. } => panic!("no generation has trains"),
    }
}

fn check(name: &str, opened: &Opened, case: &Json) {
    let expected = case["tensors"].as_array().unwrap();
    assert_eq!(opened.bundle.entries().len(), expected.len(), "{name}");
    for expected in expected {
        let key = expected["name"].as_str().unwrap();
        let tensor = opened
            .bundle
            .get(key)
            .unwrap_or_else(|| panic!("{name}: {key}"));
        assert_eq!(
            Json::from(tensor.sizes().unwrap()),
            expected["shape"],
            "{name} {key}"
        );
        let wanted = expected["parts"].as_object().unwrap();
        let found = parts(tensor);
        assert_eq!(found.len(), wanted.len(), "{name} {key}");
        for (part, bytes) in found {
            let wanted = &wanted[part];
            if matches!(part, "data" | "values") {
                let dtype = expected["type"].as_str().or(wanted["dtype"].as_str());
                assert_eq!(
                    Some(tensor.dtype().to_string().as_str()),
                    dtype,
                    "{name} {key}"
                );
            }
            if let Some(digits) = wanted["le_hex"].as_str() {
                assert_eq!(bytes, hex(digits), "{name} {key} {part}");
            }
            let sum = <sha2::Sha256 as sha2::Digest>::digest(&bytes);
            let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(
                Some(sum.as_str()),
                wanted["sha256"].as_str(),
                "{name} {key}"
            );
        }
    }
    for (attribute, value) in case["attributes"].as_object().into_iter().flatten() {
        assert_eq!(opened.bundle.meta.text(attribute), value.as_str(), "{name}");
    }
}

/// Every file that the list has of a generation, and its content.
fn cases(folder: &Path, generation: &str) -> Vec<(String, Json)> {
    let all = json(&folder.join("ztensor/manifest.json"));
    let files = all["files"].as_array().unwrap().iter();
    let of = files.filter(|file| file["format"] == generation);
    of.map(|file| (file["path"].as_str().unwrap().to_owned(), file.clone()))
        .collect()
}

/// Opens a file by its name, so that its shards are found, and checks its values.
fn opened(path: &Path) -> tenfold::Result<Opened> {
    let format = tenfold::by_name("ztensor").unwrap();
    let opened = tenfold::read(&Source::open(path)?, format, &ReadOptions::default())?;
    let notes = opened.bundle.check(&tenfold::Limits::default())?;
    // The first tensor of a name that was added twice is still there, and from 1.0 on in no index.
    let expected: &[_] =
        if path.ends_with("duplicate.zt") && !path.ends_with("py0.1.4/duplicate.zt") {
            &["bytes that belong to nothing: 120"]
        } else {
            &[]
        };
    let found: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(found, expected, "{}", path.display());
    Ok(opened)
}

#[test]
fn every_file_of_the_later_references_gives_its_values() {
    let Some(folder) = vectors() else { return };
    for (generation, count) in [("1.0", 6), ("1.1", 15), ("1.2", 17), ("2", 22)] {
        let cases = cases(&folder, generation);
        assert_eq!(cases.len(), count, "{generation}");
        for (name, case) in cases {
            let path = folder.join("ztensor").join(&name);
            let opened = opened(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            check(&name, &opened, &case);
            let said = opened.bundle.hints.text("ztensor:version");
            assert_eq!(said, Some(generation), "{name}");
        }
    }
}

/// Files whose bytes are more than what they say: a program left something out or put it elsewhere.
const NOT_REWRITTEN: &[&str] = &["v2/rs2.1.1/model.zt"];

#[test]
fn files_of_the_last_reference_are_rewritten_byte_for_byte() {
    let Some(folder) = vectors() else { return };
    for (name, _) in cases(&folder, "2") {
        let path = folder.join("ztensor").join(&name);
        let again = write("ztensor", &opened(&path).unwrap().bundle).unwrap();
        let is_same = again == std::fs::read(&path).unwrap();
        assert_eq!(is_same, !NOT_REWRITTEN.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn raw_files_of_1_2_are_rewritten_byte_for_byte() {
    let Some(folder) = vectors() else { return };
    let mut rewritten = 0;
    for (name, _) in cases(&folder, "1.2") {
        if name.contains("zstd") {
            continue;
        }
        let path = folder.join("ztensor").join(&name);
        let again = write("ztensor", &opened(&path).unwrap().bundle).unwrap();
        assert!(again == std::fs::read(&path).unwrap(), "{name}");
        rewritten += 1;
    }
    assert_eq!(rewritten, 10);
}

#[test]
fn every_generation_becomes_the_last_and_the_first_with_the_same_values() {
    let Some(folder) = vectors() else { return };
    for generation in ["0.1", "1.0", "1.1", "1.2", "2"] {
        for (name, case) in cases(&folder, generation) {
            let bundle = opened(&folder.join("ztensor").join(&name)).unwrap().bundle;
            for version in ["2", "1.2", "0.1"] {
                let how = WriteOptions {
                    version: Some(version.into()),
                    ..WriteOptions::default()
                };
                let mut out = Sink::memory();
                let format = tenfold::by_name("ztensor").unwrap();
                let written = tenfold::write_to(&bundle, &mut out, format, &how);
                if let Err(error) = written {
                    // Names that are empty or there twice have no place in the later ones.
                    let names = ["duplicate.zt", "shapes_names.zt"];
                    assert!(
                        names.iter().any(|end| name.ends_with(end)),
                        "{name}: {error}"
                    );
                    continue;
                }
                let bytes = out.finish().unwrap().into_memory().unwrap();
                let strict = ReadOptions::default();
                let made = verify("ztensor", &bytes, &strict)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(
                    made.bundle.notes().is_empty(),
                    "{name}: {:?}",
                    made.bundle.notes()
                );
                // Sparse cells have no layout in the first, and come back by their positions.
                if version != "0.1" {
                    check(&format!("{name} as {version}"), &made, &case);
                }
                assert_eq!(meanings(&made.bundle), meanings(&bundle), "{name}");
            }
        }
    }
}

#[test]
fn every_conformance_file_is_accepted_or_refused_as_it_should_be() {
    let Some(folder) = vectors() else { return };
    let folder = folder.join("ztensor/v2/conformance");
    let cases = json(&folder.join("cases.json"));
    let (mut accepted, mut refused) = (0, 0);
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let expected = case["expect"].as_str().unwrap();
        let is_refused = expected.starts_with("Reject");
        let side = if is_refused { "reject" } else { "valid" };
        let bytes = std::fs::read(folder.join(side).join(format!("{name}.zt"))).unwrap();
        let strict = how(Mode::Strict, &Json::Null);
        // What is said of opening is seen when opening, the rest when the values are read.
        let result = if case["op"] == "Open" {
            read("ztensor", &bytes, &strict)
        } else {
            let opens = read("ztensor", &bytes, &strict);
            assert!(opens.is_ok(), "{name}: {}", opens.err().unwrap());
            verify("ztensor", &bytes, &strict)
        };
        match (is_refused, result) {
            (true, Err(_)) => refused += 1,
            (true, Ok(_)) => panic!("{name} is accepted, {expected} was expected"),
            (false, Ok(_)) => accepted += 1,
            (false, Err(error)) => panic!("{name}: {error}"),
        }
    }
    assert_eq!((accepted, refused), (19, 57));
}
