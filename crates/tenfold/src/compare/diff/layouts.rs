//! Tests: equality across storage layouts.

use super::tests::dense;
use crate::bytes::RecordsBuilder;
use crate::compare::diff::*;
use crate::dtype::{DType, Number};
use crate::tensor::{Address, Dim, Symmetry};

fn verdict(a: &Tensor, b: &Tensor) -> Verdict {
    compare(a, b, &DiffOptions::default()).unwrap().verdict
}

fn measured(a: &Tensor, b: &Tensor) -> Measures {
    let found = compare(a, b, &DiffOptions::default()).unwrap();
    found.measures.unwrap()
}

const SIZES: [u64; 3] = [7, 301, 97];

/// Any values, in row-major order.
fn values() -> Vec<f32> {
    let mut state = 1_u32;
    let cells = SIZES.iter().product::<u64>();
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from_bits(0x3f80_0000 | state >> 9) - 1.5
    };
    (0..cells).map(next).collect()
}

/// The same in column-major order.
fn columns(values: &[f32]) -> Vec<f32> {
    let [depth, rows, columns] = SIZES.map(|size| usize::try_from(size).unwrap());
    let mut turned = Vec::new();
    for column in 0..columns {
        for row in 0..rows {
            for plane in 0..depth {
                turned.push(values[(plane * rows + row) * columns + column]);
            }
        }
    }
    turned
}

#[test]
fn a_changed_cell_is_found_wherever_it_is_and_whatever_the_order() {
    let values = values();
    let row = dense(&SIZES, Order::Row, &values);
    let column = dense(&SIZES, Order::Column, &columns(&values));
    assert_eq!(verdict(&row, &row), Verdict::Identical);
    assert_eq!(verdict(&row, &column), Verdict::Identical);
    assert_eq!(verdict(&column, &column), Verdict::Identical);
    let [_, rows, columns_] = SIZES.map(|size| usize::try_from(size).unwrap());
    for index in [[0, 0, 0], [3, 150, 50], [6, 300, 96]] {
        let mut other = values.clone();
        other[(index[0] * rows + index[1]) * columns_ + index[2]] += 2.0;
        let index = index.map(|place| u64::try_from(place).unwrap());
        let other_row = dense(&SIZES, Order::Row, &other);
        let other_column = dense(&SIZES, Order::Column, &columns(&other));
        for (a, b) in [
            (&row, &other_row),
            (&row, &other_column),
            (&column, &other_row),
            (&column, &other_column),
        ] {
            let measures = measured(a, b);
            assert_eq!((measures.unequal, measures.changed), (1, 1));
            assert!((measures.largest - 2.0).abs() < 1e-6);
            assert_eq!(measures.worst.unwrap().index, index);
        }
    }
}

#[test]
fn sums_over_many_pieces_are_those_of_a_plain_loop() {
    let a = values();
    let b: Vec<f32> = a.iter().map(|x| x * 1.5 + 0.25).collect();
    let measures = measured(
        &dense(&SIZES, Order::Row, &a),
        &dense(&SIZES, Order::Row, &b),
    );
    let wide = |values: &[f32]| values.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
    let (a, b) = (wide(&a), wide(&b));
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    let (norm_a, norm_b) = (inner(&a, &a).sqrt(), inner(&b, &b).sqrt());
    let wanted = inner(&apart, &apart).sqrt() / norm_a;
    assert!((measures.relative_norm / wanted - 1.0).abs() < 1e-10);
    let wanted = inner(&a, &b) / (norm_a * norm_b);
    assert!((measures.cosine / wanted - 1.0).abs() < 1e-10);
}

fn sparse(sizes: &[u64], order: Order, cells: &[(u64, f64)]) -> Tensor {
    let (places, values): (Vec<u64>, Vec<f64>) = cells.iter().copied().unzip();
    let storage = Storage::Sparse {
        order,
        address: Address::Linear(Numbers::from_vec(&places)),
        values: Numbers::from_vec(&values),
    };
    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
    Tensor::new(dims, DType::real(Number::F64), vec![], storage).unwrap()
}

#[test]
fn sparse_tensors_are_compared_by_their_cells_however_many_there_are() {
    let sizes = [1 << 20, 1 << 20, 1 << 20];
    let last = (1_u64 << 60) - 1;
    let a = sparse(&sizes, Order::Row, &[(5, 3.0), (last, 4.0)]);
    // In another order, with a zero that need not be stored.
    let same = sparse(&sizes, Order::Row, &[(last, 4.0), (9, 0.0), (5, 3.0)]);
    assert_eq!(verdict(&a, &same), Verdict::Identical);
    let b = sparse(&sizes, Order::Row, &[(5, 3.0), (last, 5.0), (7, 0.0)]);
    let measures = measured(&a, &b);
    assert_eq!((measures.cells, measures.changed), (1 << 60, 1));
    assert!((measures.relative_norm - 0.2).abs() < 1e-15);
    let end = (1 << 20) - 1;
    assert_eq!(measures.worst.unwrap().index, [end, end, end]);
    // With the first index varying fastest, cell 5 is another one.
    let column = sparse(&sizes, Order::Column, &[(5, 3.0), (last, 4.0)]);
    let measures = measured(&a, &column);
    assert_eq!(measures.changed, 2);
    assert_eq!(measures.worst.unwrap().index, [0, 0, 5]);
}

#[test]
fn a_sparse_tensor_is_compared_with_its_dense_twin() {
    let mut values = [0.0_f64; 6];
    (values[1], values[5]) = (3.0, -4.0);
    for (order, first) in [(Order::Row, 1), (Order::Column, 2)] {
        let cells = [(5, -4.0), (first, 3.0)];
        let sparse = sparse(&[2, 3], order, &cells);
        let full = dense(&[2, 3], Order::Row, &values);
        assert_eq!(verdict(&sparse, &full), Verdict::Identical);
        assert_eq!(verdict(&full, &sparse), Verdict::Identical);
        values[2] = 1.0;
        let other = dense(&[2, 3], Order::Row, &values);
        values[2] = 0.0;
        let worst = measured(&sparse, &other).worst.unwrap();
        assert_eq!((worst.index, worst.apart), (vec![0, 2], 1.0));
    }
}

#[test]
fn a_packed_tensor_is_compared_with_its_full_twin() {
    let packed = |values: &[f64]| {
        let symmetry = Symmetry {
            permutation: vec![1, 0],
            operation: "-x".into(),
            packed: true,
        };
        let storage = Storage::Dense {
            order: Order::Column,
            values: Numbers::from_vec(values),
        };
        let dims = vec![Dim::indexed(3), Dim::indexed(3)];
        Tensor::new(dims, DType::real(Number::F64), vec![symmetry], storage).unwrap()
    };
    // The group decides which of the two cells of a pair is stored: compare with the full tensor.
    let a = packed(&[1.0, 2.0, 3.0]);
    let mut full = a.to_vec::<f64>().unwrap();
    assert_eq!(
        verdict(&a, &dense(&[3, 3], Order::Row, &full)),
        Verdict::Identical
    );
    assert_eq!(verdict(&a, &packed(&[1.0, 2.0, 3.0])), Verdict::Identical);
    full[0] = 0.5;
    let worst = measured(&a, &dense(&[3, 3], Order::Row, &full)).worst;
    assert_eq!(worst.unwrap().index, [0, 0]);
    // A stored cell stands for two.
    assert_eq!(measured(&a, &packed(&[1.0, 2.0, 4.0])).changed, 2);
}

#[test]
fn named_dimensions_are_matched_by_name() {
    let named = |names: [&str; 2], sizes: [u64; 2], values: &[u8]| {
        let dims = sizes.iter().zip(names);
        let dims = dims.map(|(size, name)| Dim::indexed(*size).named(name));
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(values),
        };
        Tensor::new(dims.collect(), DType::real(Number::U8), vec![], storage).unwrap()
    };
    let a = named(["x", "y"], [2, 3], &[1, 2, 3, 4, 5, 6]);
    let b = named(["y", "x"], [3, 2], &[1, 4, 2, 5, 3, 6]);
    let found = compare(&a, &b, &DiffOptions::default()).unwrap();
    assert_eq!(
        (found.verdict, found.axes),
        (Verdict::Identical, Some(vec![1, 0]))
    );
    let b = named(["y", "x"], [3, 2], &[1, 4, 2, 5, 9, 6]);
    assert_eq!(measured(&a, &b).worst.unwrap().index, [0, 2]);
    // Different names do not matter.
    let b = named(["u", "v"], [2, 3], &[1, 2, 3, 4, 5, 6]);
    assert_eq!(verdict(&a, &b), Verdict::Identical);
    // Square, and transposed: only the names tell.
    let a = named(["x", "y"], [2, 2], &[1, 2, 3, 4]);
    assert_eq!(
        verdict(&a, &named(["y", "x"], [2, 2], &[1, 3, 2, 4])),
        Verdict::Identical
    );
}

fn labelled(dims: Vec<Dim>, n_labels: usize, blocks: &[(&[&str], &[u8])]) -> Tensor {
    let width = blocks.first().map_or(1, |(_, cells)| cells.len());
    let mut records = RecordsBuilder::new(n_labels, width);
    for (labels, cells) in blocks {
        records.push(labels, cells).unwrap();
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
    Tensor::new(dims, DType::real(Number::U8), vec![], storage).unwrap()
}

#[test]
fn labelled_blocks_are_matched_by_their_labels() {
    let dims = || {
        vec![
            Dim::mapped("k"),
            Dim::mapped("l"),
            Dim::indexed(2).named("n"),
        ]
    };
    let a = labelled(
        dims(),
        2,
        &[
            (&["a", "x"], &[1, 2]),
            (&["b", "x"], &[3, 4]),
            (&["c", "y"], &[5, 6]),
        ],
    );
    let b = labelled(
        dims(),
        2,
        &[
            (&["d", "z"], &[0, 0]),
            (&["b", "x"], &[3, 9]),
            (&["a", "x"], &[1, 2]),
        ],
    );
    assert_eq!(verdict(&a, &a), Verdict::Identical);
    let found = compare(&a, &b, &DiffOptions::default()).unwrap();
    let blocks = found.blocks.unwrap();
    assert_eq!((blocks.shared, blocks.only_a, blocks.only_b), (2, 1, 1));
    assert_eq!(blocks.first_a, [["c", "y"]]);
    assert_eq!(blocks.first_b, [["d", "z"]]);
    let measures = found.measures.unwrap();
    assert_eq!((measures.cells, measures.changed), (4, 1));
    // Over the blocks that both have, including equal ones: ‖1, 2, 3, 4‖ = √30.
    assert!((measures.relative_norm - 5.0 / 30.0_f64.sqrt()).abs() < 1e-15);
    let worst = measures.worst.unwrap();
    assert_eq!(
        (worst.labels, worst.index),
        (vec!["b".into(), "x".into()], vec![1])
    );
    // The same blocks with the labels exchanged.
    let turned = vec![
        Dim::indexed(2).named("n"),
        Dim::mapped("l"),
        Dim::mapped("k"),
    ];
    let c = labelled(
        turned,
        2,
        &[
            (&["x", "b"], &[3, 4]),
            (&["y", "c"], &[5, 6]),
            (&["x", "a"], &[1, 2]),
        ],
    );
    assert_eq!(verdict(&a, &c), Verdict::Identical);
}

fn train(ranks: &[u64], sizes: &[u64], cores: &[&[f64]]) -> Tensor {
    let storage = Storage::Train {
        ranks: ranks.to_vec(),
        cores: cores.iter().map(|core| Numbers::from_vec(core)).collect(),
    };
    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
    Tensor::new(dims, DType::real(Number::F64), vec![], storage).unwrap()
}

#[test]
fn trains_are_compared_by_their_cells_and_by_their_cores_where_those_are_too_many() {
    let a = train(&[1, 1, 1], &[2, 2], &[&[1.0, 2.0], &[3.0, 4.0]]);
    let same = train(&[1, 1, 1], &[2, 2], &[&[0.5, 1.0], &[6.0, 8.0]]);
    assert_eq!(verdict(&a, &a), Verdict::Identical);
    assert_eq!(verdict(&a, &same), Verdict::Identical);
    assert_eq!(
        verdict(&a, &dense(&[2, 2], Order::Row, &[3.0, 4.0, 6.0, 8.0])),
        Verdict::Identical
    );
    let ranks = vec![1; 41];
    let core = [1.0, 2.0];
    let mut cores: Vec<&[f64]> = vec![&core; 40];
    let long = train(&ranks, &[2; 40], &cores);
    assert_eq!(verdict(&long, &long), Verdict::Identical);
    cores[7] = &[1.0, 3.0];
    let other = train(&ranks, &[2; 40], &cores);
    let found = compare(&long, &other, &DiffOptions::default()).unwrap();
    assert_eq!(
        (found.basis, found.verdict),
        (Basis::Cores, Verdict::Changed)
    );
    assert_eq!(found.measures.unwrap().worst.unwrap().index, [7, 0, 1, 0]);
    let mut ranks = ranks;
    ranks[1] = 2;
    cores[0] = &[1.0, 2.0, 1.0, 2.0];
    cores[1] = &[1.0, 2.0, 1.0, 2.0];
    let wider = train(&ranks, &[2; 40], &cores);
    let error = compare(&long, &wider, &DiffOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}

#[test]
fn bytes_that_are_not_understood_are_compared_as_bytes() {
    let opaque = |values: &[u8]| {
        let storage = Storage::Opaque {
            layout: "odd".into(),
            parts: vec![("data".into(), Numbers::from_vec(values))],
        };
        Tensor::new(
            vec![Dim::indexed(4)],
            DType::real(Number::F32),
            vec![],
            storage,
        )
        .unwrap()
    };
    assert_eq!(
        verdict(&opaque(&[1, 2]), &opaque(&[1, 2])),
        Verdict::Identical
    );
    let found = compare(&opaque(&[1, 2]), &opaque(&[1, 3]), &DiffOptions::default()).unwrap();
    assert_eq!(
        (found.verdict, found.basis),
        (Verdict::Changed, Basis::Bytes)
    );
}
