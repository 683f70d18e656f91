//! The corpus, made from the page alone, and the byte vectors of Vespa's own programs.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::Vespa;
use crate::bundle::Bundle;
use crate::bytes::{Sink, Source};
use crate::error::{Error, Result};
use crate::format::{Format, Match, Mode, ReadOptions, WriteOptions};
use crate::limits::Limits;
use crate::note::NoteKind;
use crate::tensor::{Cell, Size, Tensor};

/// A block: its labels and its cells.
type Block = (Vec<String>, Vec<f64>);

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn json(path: &Path) -> Json {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Every file of a corpus folder with its name and what its sibling says.
fn corpus(folder: &str) -> Vec<(String, Vec<u8>, Json)> {
    let folder = project().join("corpus/vespa").join(folder);
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().unwrap() == "tbf")
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let sibling = json(&path.with_extension("tbf.json"));
            (name, std::fs::read(path).unwrap(), sibling)
        })
        .collect();
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found
}

/// The vectors of Vespa's own programs, which are not part of the project: `TENFOLD_VECTORS` names
/// their folder, or it lies beside the checkout as `shared/vectors`.
fn vectors() -> Option<Json> {
    let named = std::env::var_os("TENFOLD_VECTORS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| project().join("../shared/vectors"));
    let path = folder.join("vespa.json");
    if path.is_file() {
        return Some(json(&path));
    }
    println!(
        "SKIPPED: {} does not exist (set TENFOLD_VECTORS)",
        path.display()
    );
    None
}

fn hex(text: &Json) -> Vec<u8> {
    let digits = text.as_str().unwrap().as_bytes();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn read(bytes: &[u8], mode: Mode) -> Result<Bundle> {
    let how = ReadOptions {
        mode,
        ..ReadOptions::default()
    };
    let bundle = Vespa.read(&Source::memory(bytes.to_vec()), &how)?;
    assert_eq!(bundle.check(&how.limits)?, []);
    Ok(bundle)
}

fn write(bundle: &Bundle) -> Vec<u8> {
    assert_eq!(Vespa.quirks(bundle), []);
    let mut out = Sink::memory();
    let how = WriteOptions::default();
    Vespa.write(bundle, &mut out, &how).unwrap();
    out.finish().unwrap().into_memory().unwrap()
}

fn at(error: &Error) -> Option<u64> {
    match error {
        Error::Malformed { at, .. } => *at,
        other => panic!("{other}"),
    }
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
            found.push((labels.to_vec(), numbers(values)));
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
fn good_files_give_their_values_and_canonical_ones_their_bytes() {
    let files = corpus("good");
    assert_eq!(files.len(), 61);
    for (name, bytes, expected) in files {
        let is_lenient = expected["lenient"] == true;
        let mode = if is_lenient {
            let error = read(&bytes, Mode::Strict).unwrap_err();
            assert_eq!(at(&error), expected["strict_at"].as_u64(), "{name}");
            Mode::Lenient
        } else {
            let claim = Vespa.probe(&Source::memory(bytes.clone()));
            assert_eq!(claim, Match::Maybe, "{name}");
            Mode::Strict
        };
        let bundle = read(&bytes, mode).unwrap_or_else(|error| panic!("{name}: {error}"));
        let shown = &expected["show"];
        if let Some(kinds) = shown.get("note_kinds") {
            assert_eq!(note_kinds(&bundle), texts(kinds), "{name}");
        }
        compare(&name, bundle.only().unwrap(), &shown["tensors"][0]);
        if expected["canonical"] == true {
            assert_eq!(write(&bundle), bytes, "{name}");
        }
    }
}

fn compare(name: &str, tensor: &Tensor, shown: &Json) {
    assert_eq!(shown["dtype"], tensor.dtype().to_string(), "{name}");
    assert_eq!(shown["storage"], tensor.storage().as_str(), "{name}");
    let dims = shown["dims"].as_array().unwrap();
    assert_eq!(dims.len(), tensor.dims().len(), "{name}");
    for (found, wanted) in tensor.dims().iter().zip(dims) {
        assert_eq!(found.name.as_deref(), wanted["name"].as_str(), "{name}");
        assert_eq!(found.indexed_size(), wanted["size"].as_u64(), "{name}");
    }
    let wanted: Vec<Block> = match shown.get("cells") {
        Some(cells) => cells
            .as_array()
            .unwrap()
            .iter()
            .map(|block| (texts(&block["at"]), numbers(&block["data"])))
            .collect(),
        None => vec![(Vec::new(), numbers(&shown["data"]))],
    };
    assert_eq!(bits(&blocks(tensor)), bits(&wanted), "{name}");
}

#[test]
fn bad_files_are_refused_at_the_byte_that_is_wrong() {
    let files = corpus("bad");
    assert_eq!(files.len(), 63);
    for (name, bytes, expected) in files {
        let claim = Vespa.probe(&Source::memory(bytes.clone()));
        assert_eq!(claim, Match::No, "{name}");
        for mode in [Mode::Strict, Mode::Lenient] {
            let error = read(&bytes, mode).err();
            let error = error.unwrap_or_else(|| panic!("{name} is accepted"));
            if let Some(wanted) = expected["at"].as_u64() {
                assert_eq!(at(&error), Some(wanted), "{name}: {error}");
            }
        }
    }
}

#[test]
fn huge_files_are_read_and_rewritten_without_being_expanded() {
    let files = corpus("huge");
    assert_eq!(files.len(), 3);
    for (name, bytes, expected) in files {
        let bundle = read(&bytes, Mode::Strict).unwrap();
        let cells = bundle.only().unwrap().cells().unwrap();
        assert_eq!(expected["cells"], cells.to_string(), "{name}");
        assert_eq!(write(&bundle), bytes, "{name}");
    }
}

#[test]
fn every_prefix_of_a_good_file_is_refused() {
    for (name, bytes, _) in corpus("good") {
        for len in 0..bytes.len() {
            assert!(read(&bytes[..len], Mode::Lenient).is_err(), "{name} {len}");
        }
    }
}

#[test]
fn every_vector_gives_its_blocks_and_the_canonical_bytes() {
    let Some(all) = vectors() else { return };
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
                assert_eq!(write(&bundle), canonical, "{name}");
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
    let Some(all) = vectors() else { return };
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
    let Some(all) = vectors() else { return };
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
        } else if advice.starts_with("reject") || advice == "as trailing_dense" {
            assert!(strict.is_err() && lenient.is_err(), "{name} is accepted");
        } else if advice == "as dim_name_space" {
            let bundle = strict.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(bundle.notes()[0].kind, NoteKind::OddName, "{name}");
            assert!(!Vespa.quirks(&bundle).is_empty(), "{name} is written");
        } else {
            assert!(advice.starts_with("accept"), "{name}: {advice}");
            let bundle = strict.unwrap_or_else(|error| panic!("{name}: {error}"));
            let is_warned = !bundle.notes().is_empty();
            assert_eq!(is_warned, advice.contains("warn"), "{name}");
        }
    }
}
