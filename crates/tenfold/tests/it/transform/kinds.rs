//! Sparse and dense, labels and positions.

use tenfold::{Cell, Labels, Limits, Numbers, Order, Storage, Tensor};

use super::samples::{all, bytes, dense, labelled, packed, rows, train};
use crate::meaning::meaning;

fn stored(tensor: &Tensor) -> Vec<u8> {
    match tensor.storage() {
        Storage::Sparse { values, .. } => values.bytes.to_vec().unwrap(),
        _ => panic!("not sparse"),
    }
}

#[test]
fn a_tensor_made_sparse_keeps_every_cell_that_is_not_zero() {
    let limits = Limits::default();
    for (name, tensor) in all().into_iter().chain([("train", train())]) {
        let sparse = tensor.to_sparse(&limits).unwrap();
        assert_eq!(bytes(&sparse), bytes(&tensor), "{name}");
        assert_eq!(sparse.storage().as_str(), "sparse");
        assert_eq!(sparse.symmetries(), tensor.symmetries());
        assert!(sparse.check(&limits).unwrap().is_empty(), "{name}");
        let width = tensor.dtype().width();
        let is_there = |cell: &[u8]| cell.iter().any(|byte| *byte != 0);
        let nonzero = if tensor.is_packed() {
            tensor.stored()
        } else {
            let all = bytes(&tensor);
            all.chunks(width).filter(|cell| is_there(cell)).count() as u64
        };
        assert_eq!(sparse.stored(), nonzero, "{name}");
        let density = tensor.density(&limits).unwrap();
        assert_eq!(density.nonzero, nonzero, "{name}");
        let pair = width as u128 + 8;
        assert_eq!(density.sparse_len, u128::from(nonzero) * pair, "{name}");
    }
    let negative = dense::<f64>(&[3], Order::Row, Numbers::from_vec(&[0.0, -0.0, 1.0]));
    let sparse = negative.to_sparse(&limits).unwrap();
    assert_eq!(
        stored(&sparse),
        [(-0.0_f64).to_le_bytes(), 1_f64.to_le_bytes()].concat()
    );
    let error = labelled().to_sparse(&limits).unwrap_err().to_string();
    assert_eq!(error, "a mapped dimension has labels, not positions");
}

#[test]
fn a_tensor_made_dense_has_the_fill_where_no_cell_is() {
    let limits = Limits::default();
    for (name, tensor) in all()
        .into_iter()
        .chain([("rows", rows()), ("train", train())])
    {
        let fill = vec![0xa5; tensor.dtype().width()];
        let zero = vec![0; tensor.dtype().width()];
        let plain = tensor.to_dense(&zero, &limits).unwrap();
        assert_eq!(bytes(&plain), bytes(&tensor), "{name}");
        assert!(plain.storage().as_str() == "dense", "{name}");
        let filled = bytes(&tensor.to_dense(&fill, &limits).unwrap());
        let mut wanted = bytes(&tensor);
        if let Storage::Sparse { .. } = tensor.storage() {
            let mut is_there = vec![false; tensor.cells().unwrap() as usize];
            let sizes = tensor.sizes().unwrap();
            tensor
                .for_each_cell(&limits, &mut |cell| {
                    if let Cell::At { index, .. } = cell {
                        is_there[super::samples::place(&sizes, index)] = true;
                    }
                    Ok(())
                })
                .unwrap();
            for (cell, is_there) in wanted.chunks_mut(fill.len()).zip(is_there) {
                if !is_there {
                    cell.copy_from_slice(&fill);
                }
            }
        }
        assert_eq!(filled, wanted, "{name}");
    }
    let unpacked = packed().to_dense(&[0; 4], &limits).unwrap();
    assert!(unpacked.is_packed(), "a dense tensor stays as it is");
}

fn names(labels: &[&str]) -> Labels {
    labels.iter().collect()
}

#[test]
fn labels_become_positions_in_a_given_order_and_absent_blocks_are_filled() {
    let limits = Limits::default();
    let order = names(&["a", "c", "b"]);
    let given = [(0, &order)];
    let fill = 9_f32.to_le_bytes();
    let placed = labelled().placed_among(&given, &fill, &limits).unwrap();
    assert_eq!(placed.labels, [order, names(&["u", "v"])]);
    assert_eq!(placed.absent, 3);
    let found = placed.tensor.to_vec::<f32>().unwrap();
    let block = |first: f32| (0..6_u8).map(move |n| first + f32::from(n));
    let nines = || std::iter::repeat_n(9.0, 6);
    let wanted: Vec<f32> = nines()
        .chain(block(10.0))
        .chain(nines())
        .chain(nines())
        .chain(block(0.0))
        .chain(block(20.0))
        .collect();
    assert_eq!(found, wanted);
    for (given, why) in [
        (names(&["a"]), "the label \"b\" is not among those given"),
        (names(&["a", "b", "a"]), "the label \"a\" is there twice"),
    ] {
        let error = labelled().placed_among(&[(0, &given)], &[], &limits);
        assert_eq!(error.unwrap_err().to_string(), why);
    }
    let error = labelled()
        .placed_among(&[(2, &Labels::new())], &[], &limits)
        .unwrap_err();
    assert_eq!(error.to_string(), "only a mapped dimension has labels");
}

#[test]
fn labels_that_became_positions_become_labels_again() {
    let limits = Limits::default();
    let placed = labelled().placed_among(&[], &[], &limits).unwrap();
    let given = [(0, &placed.labels[0]), (1, &placed.labels[1])];
    let back = placed.tensor.with_labels(&given, &limits).unwrap();
    let mut blocks = Vec::new();
    back.for_each_cell(&limits, &mut |cell| {
        if let Cell::Labelled { labels, values } = cell {
            blocks.push((labels.join(" "), values.to_vec::<f32>().unwrap()[1]));
        }
        Ok(())
    })
    .unwrap();
    let wanted = [("b u", 1.0), ("b v", 21.0), ("a u", 0.0), ("a v", 11.0)];
    assert_eq!(
        blocks,
        wanted.map(|(labels, value)| (labels.to_owned(), value))
    );
    let again = back.placed_among(&[], &[], &limits).unwrap();
    assert_eq!(meaning(&again.tensor), meaning(&placed.tensor));
}

#[test]
fn every_kind_of_tensor_gets_labels_along_any_dimension() {
    let limits = Limits::default();
    for (name, tensor) in all() {
        let sizes = tensor.sizes().unwrap();
        let labels: Labels = (0..sizes[1]).map(|place| format!("p{place}")).collect();
        let named = tensor
            .with_dim_names(&[None, Some("m".into()), None])
            .unwrap();
        let found = named.with_labels(&[(1, &labels)], &limits).unwrap();
        assert_eq!(found.indexed_sizes(), [sizes[0], sizes[2]], "{name}");
        let placed = found.placed_among(&[], &[], &limits).unwrap().tensor;
        let back = placed.permute(&[1, 0, 2], &limits).unwrap();
        assert_eq!(bytes(&back), bytes(&tensor), "{name}");
    }
    let (_, tensor) = all().remove(0);
    let error = tensor
        .with_labels(&[(0, &names(&["a"]))], &limits)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 positions need as many labels, 1 given"
    );
    let error = tensor
        .with_labels(&[(0, &names(&["a", "a"]))], &limits)
        .unwrap_err();
    assert_eq!(error.to_string(), "the label \"a\" is there twice");
}
