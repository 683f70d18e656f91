//! The byte vectors of Vespa's own programs.

use serde_json::Value as Json;
use tenfold::{Bundle, Cell, Endian, Limits, Mode, NoteKind, Result, Size, Tensor};

use crate::support::{self, how, json, vectors, verify, write};

/// A block: its labels and its cells.
type Block = (Vec<String>, Vec<f64>);

fn hex(text: &Json) -> Vec<u8> {
    support::hex(text.as_str().unwrap())
}

fn read(bytes: &[u8], mode: Mode) -> Result<Bundle> {
    verify("vespa", bytes, &how(mode, &Json::Null)).map(|opened| opened.bundle)
}

fn note_kinds(bundle: &Bundle) -> Vec<&'static str> {
    let notes = bundle.notes().iter();
    notes.map(|note| note.kind.as_str()).collect()
}

/// The cells of all blocks; those of a dense tensor are one block without labels.
fn blocks(tensor: &Tensor) -> Vec<Block> {
    let number = tensor.dtype().number;
    let numbers = |bytes: &[u8]| -> Vec<f64> {
        let cells = bytes.chunks(number.width());
        cells.map(|cell| number.to_f64(cell)).collect()
    };
    let mut found = Vec::new();
    let limits = Limits::default();
    if tensor.n_mapped() == 0 {
        let mut all = Vec::new();
        let mut add = |piece: &[u8]| {
            all.extend(numbers(piece));
            Ok(())
        };
        tensor.for_each(1 << 20, &limits, &mut add).unwrap();
        return vec![(Vec::new(), all)];
    }
    tensor
        .for_each_cell(&limits, &mut |cell| {
            let Cell::Labelled { labels, values } = cell else {
                panic!("a cell without labels");
            };
            let mut all = Vec::new();
            values.for_each(Endian::Little, number.width(), 1 << 10, &mut |piece| {
                all.extend(numbers(piece));
                Ok(())
            })?;
            found.push((labels.to_vec(), all));
            Ok(())
        })
        .unwrap();
    found
}

fn texts(list: &Json) -> Vec<String> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item.as_str().unwrap().into()).collect()
}

fn numbers(list: &Json) -> Vec<f64> {
    let items = list.as_array().unwrap().iter();
    items
        .map(|item| match item {
            Json::String(text) => text.parse().unwrap(),
            number => number.to_string().parse().unwrap(),
        })
        .collect()
}

/// Cells as bits, so that the signs of zeros count; all NaNs are one.
fn bits(blocks: &[Block]) -> Vec<(Vec<String>, Vec<u64>)> {
    let bits = |cell: &f64| if cell.is_nan() { f64::NAN } else { *cell }.to_bits();
    blocks
        .iter()
        .map(|(labels, cells)| (labels.clone(), cells.iter().map(bits).collect()))
        .collect()
}

#[test]
fn every_vector_gives_its_blocks_and_the_canonical_bytes() {
    let Some(folder) = vectors() else { return };
    let all = json(&folder.join("vespa.json"));
    let cases = all["vectors"].as_array().unwrap();
    assert!(cases.len() >= 87);
    for case in cases {
        let (name, expected) = (&case["name"], &case["expected"]);
        let canonical = hex(&case["hex"]);
        let others = case["alt_hex"].as_array().unwrap().iter().map(hex);
        let wanted: Vec<Block> = expected["blocks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| (texts(&block["labels"]), numbers(&block["cells"])))
            .collect();
        for bytes in std::iter::once(canonical.clone()).chain(others) {
            let bundle = read(&bytes, Mode::Strict).unwrap_or_else(|e| panic!("{name}: {e}"));
            let tensor = bundle.only().unwrap();
            compare_type(name, tensor, expected);
            let (mut found, mut wanted) = (bits(&blocks(tensor)), bits(&wanted));
            if bytes != canonical {
                found.sort();
                wanted.sort();
            } else {
                assert_eq!(write("vespa", &bundle).unwrap(), canonical, "{name}");
            }
            assert_eq!(found, wanted, "{name}");
        }
    }
}

fn compare_type(name: &Json, tensor: &Tensor, expected: &Json) {
    let number = match expected["cell_type"].as_str().unwrap() {
        "double" => "f64",
        "float" => "f32",
        "bfloat16" => "bf16",
        "int8" => "i8",
        other => panic!("{other}"),
    };
    assert_eq!(tensor.dtype().to_string(), number, "{name}");
    let (mut mapped, mut indexed) = (Vec::new(), Vec::new());
    for dim in tensor.dims() {
        let name = dim.name.clone().unwrap();
        match dim.size {
            Size::Mapped => mapped.push(name),
            Size::Indexed(size) => indexed.push(Json::from(vec![name.into(), Json::from(size)])),
        }
    }
    assert_eq!(Json::from(mapped), expected["mapped"], "{name}");
    assert_eq!(Json::from(indexed), expected["indexed"], "{name}");
}

#[test]
fn what_all_of_vespas_readers_refuse_is_refused() {
    let Some(folder) = vectors() else { return };
    let all = json(&folder.join("vespa.json"));
    let cases = all["rejects"].as_array().unwrap();
    assert!(cases.len() >= 64);
    for case in cases {
        for mode in [Mode::Strict, Mode::Lenient] {
            let bytes = hex(&case["hex"]);
            assert!(read(&bytes, mode).is_err(), "{} is accepted", case["name"]);
        }
    }
}

#[test]
fn where_vespas_readers_disagree_the_recommendation_is_followed() {
    let Some(folder) = vectors() else { return };
    let all = json(&folder.join("vespa.json"));
    let cases = all["divergent"].as_array().unwrap();
    assert!(cases.len() >= 21);
    for case in cases {
        let name = &case["name"];
        let advice = case["recommend"].as_str().unwrap();
        let bytes = hex(&case["hex"]);
        let strict = read(&bytes, Mode::Strict);
        let lenient = read(&bytes, Mode::Lenient);
        if advice.starts_with("reject by default") || advice.starts_with("as scalar_float_sparse") {
            assert!(strict.is_err(), "{name} is accepted");
            assert_eq!(note_kinds(&lenient.unwrap()), ["lenient"], "{name}");
        } else if name
            .as_str()
            .is_some_and(|name| name.starts_with("trailing_"))
        {
            // All of Vespa's readers stop where the tensor ends: a lenient one does so too.
            assert!(strict.is_err(), "{name} is accepted");
            assert_eq!(note_kinds(&lenient.unwrap()), ["lenient"], "{name}");
        } else if advice.starts_with("reject") {
            assert!(strict.is_err() && lenient.is_err(), "{name} is accepted");
        } else if advice == "as dim_name_space" {
            let bundle = strict.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(bundle.notes()[0].kind, NoteKind::OddName, "{name}");
            assert!(write("vespa", &bundle).is_err(), "{name} is written");
        } else {
            assert!(advice.starts_with("accept"), "{name}: {advice}");
            let bundle = strict.unwrap_or_else(|error| panic!("{name}: {error}"));
            let is_warned = !bundle.notes().is_empty();
            assert_eq!(is_warned, advice.contains("warn"), "{name}");
        }
    }
}
