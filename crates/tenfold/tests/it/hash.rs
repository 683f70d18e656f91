//! Content hashes, compared with `docs/hash.md` step by step.

use proptest::prelude::*;
use sha2::{Digest, Sha256};
use tenfold::{
    Address, Bundle, Bytes, ContentHash, DType, Dim, Endian, Limits, Mode, Number, Numbers, Order,
    ReadOptions, RecordsBuilder, SparseHashing, Storage, Symmetry, Tensor, file_hash,
    tensor_hashes,
};

use crate::generate::{Tape, bundle};
use crate::support::{verify, write};

fn hash_as(tensor: &Tensor, sparse: SparseHashing) -> ContentHash {
    let bundle = Bundle::of(tensor.clone());
    tensor_hashes(&bundle, sparse, &Limits::default()).unwrap()[0]
}

fn hash(tensor: &Tensor) -> ContentHash {
    hash_as(tensor, SparseHashing::Cells)
}

/// What the definition says goes before the values.
fn head(kind: &str, dtype: &str, sizes: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in ["tenfold.hash/1", kind, dtype] {
        text(word, &mut bytes);
    }
    for number in [sizes.len() as u64].iter().chain(sizes) {
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

fn text(word: &str, bytes: &mut Vec<u8>) {
    bytes.extend((word.len() as u64).to_le_bytes());
    bytes.extend(word.as_bytes());
}

fn sha(bytes: &[u8]) -> ContentHash {
    ContentHash(Sha256::digest(bytes).into())
}

fn indexed(sizes: &[u64]) -> Vec<Dim> {
    sizes.iter().map(|size| Dim::indexed(*size)).collect()
}

fn matrix(order: Order, values: &[i16]) -> Tensor {
    let values = Numbers::from_vec(values);
    let storage = Storage::Dense { order, values };
    Tensor::new(indexed(&[2, 3]), DType::real(Number::I16), vec![], storage).unwrap()
}

fn cells(order: Order, places: &[u64], values: &[f32]) -> Tensor {
    let storage = Storage::Sparse {
        order,
        address: Address::Linear(Numbers::from_vec(places)),
        values: Numbers::from_vec(values),
    };
    Tensor::new(indexed(&[2, 3]), DType::real(Number::F32), vec![], storage).unwrap()
}

#[test]
fn dense_values_are_hashed_row_major_and_little_endian() {
    let mut bytes = head("dense", "i16", &[2, 3]);
    (1_i16..=6).for_each(|value| bytes.extend(value.to_le_bytes()));
    let row = matrix(Order::Row, &[1, 2, 3, 4, 5, 6]);
    assert_eq!(hash(&row), sha(&bytes));
    assert_eq!(
        hash(&matrix(Order::Column, &[1, 4, 2, 5, 3, 6])),
        sha(&bytes)
    );
    let mut named = row.clone();
    named.meta.set("unit", "m");
    assert_eq!(hash(&named), sha(&bytes));
    let big = Numbers {
        number: Number::I16,
        endian: Endian::Big,
        bytes: Bytes::memory((1_i16..=6).flat_map(i16::to_be_bytes).collect()),
    };
    let storage = Storage::Dense {
        order: Order::Row,
        values: big,
    };
    let dims = vec![Dim::indexed(2).named("y"), Dim::indexed(3).named("x")];
    let big = Tensor::new(dims, row.dtype(), vec![], storage).unwrap();
    assert_eq!(hash(&big), sha(&bytes));
}

#[test]
fn a_truth_is_one_whatever_byte_says_so_and_stays_when_it_is_written() {
    let truths = |bytes: &[u8]| {
        let values = Numbers {
            number: Number::Bool,
            endian: Endian::Little,
            bytes: Bytes::memory(bytes.to_vec()),
        };
        let order = Order::Row;
        let storage = Storage::Dense { order, values };
        Tensor::new(indexed(&[4]), DType::real(Number::Bool), vec![], storage).unwrap()
    };
    let mut bytes = head("dense", "bool", &[4]);
    bytes.extend([0, 1, 1, 1]);
    let odd = truths(&[0, 1, 2, 255]);
    assert_eq!(hash(&odd), sha(&bytes));
    assert_eq!(hash(&truths(&[0, 1, 1, 1])), sha(&bytes));
    let mut bundle = Bundle::new();
    bundle.push(tenfold::Key::flat("mask"), odd);
    let written = write("ztensor", &bundle).unwrap();
    let again = verify("ztensor", &written, &ReadOptions::default()).unwrap();
    let (_, again) = &again.bundle.entries()[0];
    assert_eq!(hash(again), sha(&bytes));
}

#[test]
fn any_value_type_or_size_counts() {
    let one = |sizes: &[u64], dtype: &str, bytes: &[u8]| {
        let dtype: DType = dtype.parse().unwrap();
        let values = Numbers {
            number: dtype.number,
            endian: Endian::Little,
            bytes: Bytes::memory(bytes.to_vec()),
        };
        let storage = Storage::Dense {
            order: Order::Row,
            values,
        };
        hash(&Tensor::new(indexed(sizes), dtype, vec![], storage).unwrap())
    };
    let mut seen = std::collections::HashSet::new();
    for hash in [
        one(&[4], "u8", &[0, 0, 0, 0]),
        one(&[4], "u8", &[0, 0, 0, 1]),
        one(&[4], "i8", &[0, 0, 0, 0]),
        one(&[2, 2], "u8", &[0, 0, 0, 0]),
        one(&[4, 1], "u8", &[0, 0, 0, 0]),
        one(&[1], "f32", &[0, 0, 0, 0]),
        one(&[1], "f32", &[0, 0, 0, 0x80]),
        one(&[], "f32", &[0, 0, 0, 0]),
        one(&[1], "complex<f16>", &[0, 0, 0, 0]),
    ] {
        assert!(seen.insert(hash));
    }
}

#[test]
fn sparse_cells_are_sorted_and_zeros_left_out() {
    let mut bytes = head("sparse", "f32", &[2, 3]);
    for (place, value) in [(1_u64, 5.0_f32), (3, -0.0), (5, f32::NAN)] {
        bytes.extend(place.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    let row = cells(Order::Row, &[1, 3, 5], &[5.0, -0.0, f32::NAN]);
    assert_eq!(hash(&row), sha(&bytes));
    let mixed = cells(Order::Row, &[5, 2, 1, 3], &[f32::NAN, 0.0, 5.0, -0.0]);
    assert_eq!(hash(&mixed), sha(&bytes));
    // The same cells with the first dimension fastest: (0, 1), (1, 0), (1, 2).
    let column = cells(Order::Column, &[2, 1, 5], &[5.0, -0.0, f32::NAN]);
    assert_eq!(hash(&column), sha(&bytes));
    let values = Numbers::from_vec(&[0.0, 5.0, 0.0, -0.0, 0.0, f32::NAN]);
    let storage = Storage::Dense {
        order: Order::Row,
        values,
    };
    let dense = Tensor::new(indexed(&[2, 3]), row.dtype(), vec![], storage).unwrap();
    assert_ne!(hash(&row), hash(&dense));
    assert_eq!(hash_as(&mixed, SparseHashing::Dense), hash(&dense));
}

#[test]
fn a_cell_given_twice_is_a_fault() {
    let twice = Bundle::of(cells(Order::Row, &[1, 0, 1], &[5.0, 1.0, 5.0]));
    let error = tensor_hashes(&twice, SparseHashing::Cells, &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("is given twice"), "{error}");
}

#[test]
fn packed_tensors_are_hashed_unpacked() {
    let symmetry = Symmetry {
        permutation: vec![1, 0],
        operation: "-x".into(),
        packed: true,
    };
    let make = |symmetries, storage| {
        Tensor::new(
            indexed(&[2, 2]),
            DType::real(Number::I8),
            symmetries,
            storage,
        )
        .unwrap()
    };
    let dense = |order, values: &[i8]| Storage::Dense {
        order,
        values: Numbers::from_vec(values),
    };
    let sparse = |places: &[u64], values: &[i8]| Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(places)),
        values: Numbers::from_vec(values),
    };
    let packed = make(vec![symmetry.clone()], dense(Order::Column, &[7]));
    let full = make(vec![], dense(Order::Row, &[0, -7, 7, 0]));
    assert_eq!(hash(&packed), hash(&full));
    let packed = make(vec![symmetry], sparse(&[1], &[7]));
    let cells = make(vec![], sparse(&[2, 1], &[-7, 7]));
    assert_eq!(hash(&packed), hash(&cells));
    assert_eq!(hash_as(&packed, SparseHashing::Dense), hash(&full));
}

#[test]
fn labelled_blocks_are_sorted_by_their_own_hashes() {
    let labelled = |blocks: &[(&str, [u8; 2])], name: &str| {
        let mut records = RecordsBuilder::new(1, 2);
        for (label, cells) in blocks {
            records.push(&[label], cells).unwrap();
        }
        let values = Numbers {
            number: Number::U8,
            endian: Endian::Little,
            bytes: records.finish().unwrap(),
        };
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values,
        };
        let dims = vec![Dim::mapped(name), Dim::indexed(2)];
        hash(&Tensor::new(dims, DType::real(Number::U8), vec![], storage).unwrap())
    };
    let block = |label: &str, cells: &[u8]| {
        let mut bytes = Vec::new();
        ["tenfold.hash/1", "block", label]
            .iter()
            .for_each(|word| text(word, &mut bytes));
        bytes.extend(cells);
        sha(&bytes).0
    };
    let mut blocks = [block("red", &[1, 2]), block("blue", &[0, 0])];
    blocks.sort_unstable();
    let mut bytes = head("labelled", "u8", &[u64::MAX, 2]);
    text("colour", &mut bytes);
    text("", &mut bytes);
    blocks.iter().for_each(|block| bytes.extend(block));
    let found = labelled(&[("red", [1, 2]), ("blue", [0, 0])], "colour");
    assert_eq!(found, sha(&bytes));
    assert_eq!(
        labelled(&[("blue", [0, 0]), ("red", [1, 2])], "colour"),
        found
    );
    assert_ne!(
        labelled(&[("blue", [0, 0]), ("red", [1, 2])], "color"),
        found
    );
    assert_ne!(labelled(&[("red", [1, 2])], "colour"), found);
}

#[test]
fn trains_are_hashed_by_their_cores_and_opaque_ones_by_their_parts() {
    let storage = Storage::Train {
        ranks: vec![1, 1, 1],
        cores: vec![
            Numbers::from_vec(&[1.0_f64, 2.0]),
            Numbers::from_vec(&[3.0_f64]),
        ],
    };
    let dtype = DType::real(Number::F64);
    let train = Tensor::new(indexed(&[2, 1]), dtype, vec![], storage).unwrap();
    let mut bytes = head("train", "f64", &[2, 1]);
    [1_u64; 3]
        .iter()
        .for_each(|rank| bytes.extend(rank.to_le_bytes()));
    [1.0_f64, 2.0, 3.0]
        .iter()
        .for_each(|value| bytes.extend(value.to_le_bytes()));
    assert_eq!(hash(&train), sha(&bytes));
    let storage = Storage::Opaque {
        layout: "odd".into(),
        parts: vec![("a".into(), Numbers::from_vec(&[258_u16]))],
    };
    let opaque = Tensor::new(indexed(&[2]), dtype, vec![], storage).unwrap();
    let mut bytes = head("opaque", "f64", &[2]);
    text("odd", &mut bytes);
    bytes.extend(1_u64.to_le_bytes());
    text("a", &mut bytes);
    text("u16", &mut bytes);
    bytes.extend(2_u64.to_le_bytes());
    bytes.extend([2, 1]);
    assert_eq!(hash(&opaque), sha(&bytes));
}

#[test]
fn a_file_is_its_names_and_tensors_in_order_unless_it_has_one() {
    let (a, b) = (sha(b"a"), sha(b"b"));
    assert_eq!(file_hash(&[("any", a)]).unwrap(), a);
    let mut bytes = Vec::new();
    text("tenfold.hash/1", &mut bytes);
    text("file", &mut bytes);
    bytes.extend(2_u64.to_le_bytes());
    text("x", &mut bytes);
    bytes.extend(b.0);
    text("y", &mut bytes);
    bytes.extend(a.0);
    assert_eq!(file_hash(&[("y", a), ("x", b)]).unwrap(), sha(&bytes));
    assert_ne!(file_hash(&[("y", a), ("z", b)]).unwrap(), sha(&bytes));
    let none: [(&str, ContentHash); 0] = [];
    assert_ne!(
        file_hash(&none).unwrap(),
        file_hash(&[("x", a), ("x", a)]).unwrap()
    );
}

fn named(bundle: &Bundle) -> ContentHash {
    let hashes = tensor_hashes(bundle, SparseHashing::Cells, &Limits::default()).unwrap();
    let names = bundle.entries().iter().map(|(key, _)| key.to_string());
    file_hash(&names.zip(hashes).collect::<Vec<_>>()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_a_format_holds_has_one_hash_before_and_after(tape in prop::collection::vec(any::<u8>(), 0..600)) {
        for format in tenfold::formats::ALL {
            let before = bundle(*format, &mut Tape(&tape));
            let Ok(bytes) = write(format.info().name, &before) else { continue };
            let how = ReadOptions { mode: Mode::Lenient, ..ReadOptions::default() };
            let after = verify(format.info().name, &bytes, &how).unwrap().bundle;
            prop_assert_eq!(named(&before), named(&after), "{}", format.info().name);
        }
    }
}
