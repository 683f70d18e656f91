//! Files written by the real programs, generation 0.1.

use tenfold::{Mode, Storage};

use crate::support::{hex, how, json, read, vectors, verify, write};

#[test]
fn every_file_of_the_reference_gives_its_values_and_raw_ones_their_bytes() {
    let Some(folder) = vectors() else { return };
    let all = json(&folder.join("ztensor/manifest.json"));
    let cases: Vec<_> = all["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|file| file["format"] == "0.1")
        .collect();
    assert_eq!(cases.len(), 9);
    for case in cases {
        let name = case["path"].as_str().unwrap();
        let bytes = std::fs::read(folder.join("ztensor").join(name)).unwrap();
        let opened = verify("ztensor", &bytes, &how(Mode::Strict, case))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = case["tensors"].as_array().unwrap();
        assert_eq!(opened.bundle.entries().len(), expected.len(), "{name}");
        for ((key, tensor), expected) in opened.bundle.entries().iter().zip(expected) {
            assert_eq!(key.flat_name(), expected["name"].as_str(), "{name}");
            let sizes: Vec<u64> = expected["shape"]
                .as_array()
                .unwrap()
                .iter()
                .map(|n| n.as_u64().unwrap())
                .collect();
            assert_eq!(tensor.sizes().unwrap(), sizes, "{name} {key}");
            let data = &expected["parts"]["data"];
            assert_eq!(
                tensor.dtype().to_string(),
                data["dtype"].as_str().unwrap(),
                "{name} {key}"
            );
            let Storage::Dense { .. } = tensor.storage() else {
                continue;
            };
            let mut found = Vec::new();
            tensor
                .for_each(1000, &tenfold::Limits::default(), &mut |piece| {
                    found.extend_from_slice(piece);
                    Ok(())
                })
                .unwrap();
            if let Some(wanted) = data["le_hex"].as_str() {
                assert_eq!(found, hex(wanted), "{name} {key}");
            }
            let sum = <sha2::Sha256 as sha2::Digest>::digest(&found);
            let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(Some(sum.as_str()), data["sha256"].as_str(), "{name} {key}");
        }
        let mut notes = opened.bundle.notes().iter();
        if notes.any(|note| note.kind == tenfold::NoteKind::DuplicateName) {
            let refused = write("ztensor", &opened.bundle).unwrap_err();
            assert!(
                refused.to_string().contains("used twice"),
                "{name}: {refused}"
            );
        } else {
            let again = write("ztensor", &opened.bundle).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(again == bytes, "{name} is rewritten differently");
        }
    }
}

/// Files made by hand: whether they open, whether their values can be read, how many are skipped.
const PROBES: &[(&str, bool, bool, usize)] = &[
    ("bool_nonzero.zt", true, true, 0),
    ("cbor_tag_custom.zt", true, true, 0),
    ("definite_ok.zt", true, true, 0),
    ("endian_on_zstd_big.zt", true, true, 0),
    ("indef_array.zt", true, true, 0),
    ("index_size_zero_16B.zt", false, false, 0),
    ("magic_only.zt", false, false, 0),
    ("out_of_bounds.zt", false, false, 0),
    ("overlap.zt", true, true, 0),
    ("pad_before_index.zt", true, true, 0),
    ("root_is_map.zt", false, false, 0),
    ("sha256_bad.zt", true, false, 0),
    ("size_mismatch.zt", false, false, 0),
    ("truncated_15B.zt", false, false, 0),
    ("unknown_checksum.zt", true, true, 0),
    ("unknown_layout.zt", true, true, 0),
    ("zstd_too_long.zt", true, false, 0),
    ("zstd_trailing_garbage.zt", true, false, 0),
    ("zstd_with_content_size.zt", true, true, 0),
];

#[test]
fn hand_made_probes_are_read_or_refused_as_ruled() {
    let Some(folder) = vectors() else { return };
    let listed = json(&folder.join("ztensor/v0.1/hand/hand_results.json"));
    assert_eq!(listed["files"].as_object().unwrap().len(), PROBES.len());
    for (name, opens, verifies, skipped) in PROBES {
        let bytes = std::fs::read(folder.join("ztensor/v0.1/hand").join(name)).unwrap();
        let strict = how(Mode::Strict, &serde_json::Value::Null);
        let opened = read("ztensor", &bytes, &strict);
        assert_eq!(
            opened.is_ok(),
            *opens,
            "{name}: {:?}",
            opened.err().map(|e| e.to_string())
        );
        let sound = verify("ztensor", &bytes, &strict);
        assert_eq!(
            sound.is_ok(),
            *verifies,
            "{name}: {:?}",
            sound.err().map(|e| e.to_string())
        );
        if let Ok(opened) = sound {
            let notes = opened.bundle.notes().iter();
            let found = notes
                .filter(|note| note.kind == tenfold::NoteKind::Skipped)
                .count();
            assert_eq!(found, *skipped, "{name}");
            if name.contains("ok") {
                let tensor = opened.bundle.get("t").unwrap();
                assert_eq!(tensor.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
            }
        }
    }
}
