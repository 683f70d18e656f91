//! The byte vectors of TENS.

use tenfold::{Mode, Order, Storage};

use crate::support::{hex, how, json, read, vectors, verify, write};

#[test]
fn every_vector_gives_its_values_and_canonical_ones_their_bytes() {
    let Some(folder) = vectors() else { return };
    let all = json(&folder.join("tens.json"));
    let cases = all["vectors"].as_array().unwrap();
    assert_eq!(cases.len(), 55);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let bytes = hex(case["hex"].as_str().unwrap());
        let expected = &case["expected"];
        let opened = verify("tens", &bytes, &how(Mode::Strict, case))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let tensor = opened.bundle.only().unwrap();
        let sizes: Vec<u64> = expected["lengths"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap())
            .collect();
        assert_eq!(tensor.sizes().unwrap(), sizes, "{name}");
        assert_eq!(
            tensor.stored().to_string(),
            expected["stored_elements"].to_string(),
            "{name}"
        );
        let is_pairs = matches!(tensor.storage(), Storage::Sparse { .. });
        assert_eq!(
            is_pairs,
            expected["index_value"].as_bool().unwrap(),
            "{name}"
        );
        let found: Vec<_> = tensor
            .symmetries()
            .iter()
            .map(|s| (s.operation.as_str(), s.packed))
            .collect();
        let claims = expected["symmetries"].as_array().unwrap().iter();
        let claims: Vec<_> = claims
            .map(|s| (s["op"].as_str().unwrap(), s["packed"].as_bool().unwrap()))
            .collect();
        assert_eq!(found, claims, "{name}");
        if let Some(dense) = expected["dense_le_hex"].as_str() {
            let values = tensor
                .dense(Order::Column, &tenfold::Limits::default())
                .unwrap();
            let mut found = values.bytes.to_vec().unwrap();
            if values.endian == tenfold::Endian::Big {
                found
                    .chunks_mut(values.number.width())
                    .for_each(<[u8]>::reverse);
            }
            assert_eq!(found, hex(dense), "{name}");
        }
        if let Some(pairs) = expected["pairs"].as_array() {
            let mut found = Vec::new();
            tensor
                .for_each_cell(&tenfold::Limits::default(), &mut |cell| {
                    let tenfold::Cell::At { index, value } = cell else {
                        panic!("{name}")
                    };
                    let global = index
                        .iter()
                        .zip(&sizes)
                        .rev()
                        .fold(0, |sum, (place, size)| sum * size + place);
                    found.push((global, value.to_vec()));
                    Ok(())
                })
                .unwrap();
            found.sort();
            found.retain(|(_, value)| value.iter().any(|byte| *byte != 0));
            let wanted: Vec<(u64, Vec<u8>)> = pairs
                .iter()
                .map(|pair| {
                    (
                        pair[0].as_str().unwrap().parse().unwrap(),
                        hex(pair[1].as_str().unwrap()),
                    )
                })
                .filter(|(_, value)| value.iter().any(|byte| *byte != 0))
                .collect();
            assert_eq!(found, wanted, "{name}");
        }
        if case["canonical"] == true {
            let again =
                write("tens", &opened.bundle).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(again, bytes, "{name}");
        }
    }
}

#[test]
fn every_reject_is_refused_and_lenient_ones_are_forgiven() {
    let Some(folder) = vectors() else { return };
    let all = json(&folder.join("tens.json"));
    let cases = all["rejects"].as_array().unwrap();
    assert_eq!(cases.len(), 55);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let bytes = hex(case["hex"].as_str().unwrap());
        assert!(
            verify("tens", &bytes, &how(Mode::Strict, case)).is_err(),
            "{name} is accepted"
        );
        let lenient = verify("tens", &bytes, &how(Mode::Lenient, case));
        let lenient = lenient.map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(
            lenient.is_ok(),
            case["level"] == "strict",
            "{name}: {lenient:?}"
        );
        let _ = read("tens", &bytes, &how(Mode::Lenient, case));
    }
}
