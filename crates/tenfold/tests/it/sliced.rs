//! Parts of tensors, against a naive loop over all their cells.

use tenfold::{
    Address, Cell, Dim, Endian, IndexExpr, Limits, Numbers, Order, Storage, Tensor, formats,
};

use crate::support::project;

/// What may stand for a dimension, the places it takes, and whether the dimension stays.
fn choices(size: u64) -> Vec<(&'static str, Vec<u64>, bool)> {
    let mut choices = vec![
        (":", (0..size).collect(), true),
        ("::-1", (0..size).rev().collect(), true),
        ("1:", (1..size).collect(), true),
        ("::2", (0..size).step_by(2).collect(), true),
        ("-2:0:-1", (1..size.saturating_sub(1)).rev().collect(), true),
        ("7:3", vec![], true),
    ];
    if size > 0 {
        choices.push(("0", vec![0], false));
        choices.push(("-1", vec![size - 1], false));
    }
    choices
}

/// All values, row-major, little-endian, an item a cell.
fn cells(tensor: &Tensor) -> Vec<Vec<u8>> {
    let mut cells = Vec::new();
    tensor
        .for_each(1 << 16, &Limits::default(), &mut |piece| {
            cells.extend(piece.chunks(tensor.dtype().width()).map(<[u8]>::to_vec));
            Ok(())
        })
        .unwrap();
    cells
}

/// Whether doubles are the same but for rounding, where `all` of them are this large.
fn assert_close(found: &[Vec<u8>], expected: &[Vec<u8>], all: &[Vec<u8>]) {
    let doubles = |cells: &[Vec<u8>]| -> Vec<f64> {
        let numbers = cells.concat();
        let numbers = numbers.chunks(8);
        numbers
            .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    };
    let (found, expected) = (doubles(found), doubles(expected));
    let most = doubles(all).into_iter().map(f64::abs).fold(0.0, f64::max);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        let is_same = found == expected || found.is_nan() && expected.is_nan();
        let is_close = (found - expected).abs() <= 1e-14 * most;
        assert!(is_same || is_close, "{found} {expected}");
    }
}

/// Compares the slice that `turn` chooses with the cells that it should have.
fn check(tensor: &Tensor, all: &[Vec<u8>], turn: usize) {
    let sizes = tensor.sizes().unwrap();
    let mut text = Vec::new();
    let mut kept = Vec::new();
    let mut places: Vec<Vec<u64>> = vec![vec![]];
    for (dim, size) in sizes.iter().enumerate() {
        let choices = choices(*size);
        let (word, taken, stays) = &choices[(turn * (dim + 1) + turn / 7 + dim) % choices.len()];
        text.push(*word);
        kept.extend(stays.then_some(u64::try_from(taken.len()).unwrap()));
        places = places
            .iter()
            .flat_map(|prefix| taken.iter().map(|place| [&prefix[..], &[*place]].concat()))
            .collect();
    }
    let text = text.join(", ");
    let expected: Vec<Vec<u8>> = places
        .iter()
        .map(|place| {
            let linear = place
                .iter()
                .zip(&sizes)
                .fold(0, |sum, (p, size)| sum * size + p);
            all[usize::try_from(linear).unwrap()].clone()
        })
        .collect();
    let picks = IndexExpr::list(&text).unwrap();
    let sliced = tensor.sliced(&picks, &Limits::default()).unwrap();
    assert_eq!(sliced.sizes().unwrap(), kept, "{text} of {sizes:?}");
    match tensor.storage() {
        // Cores are multiplied in another order.
        Storage::Train { .. } => assert_close(&cells(&sliced), &expected, all),
        _ => assert_eq!(cells(&sliced), expected, "{text} of {sizes:?}"),
    }
    assert_eq!(sliced.dtype(), tensor.dtype());
    assert_eq!(sliced.meta, tensor.meta);
}

#[test]
fn every_small_tensor_of_the_corpus_is_sliced_as_a_loop_would() {
    let (mut n_dense, mut n_sparse, mut n_trains, mut n_packed) = (0, 0, 0, 0);
    for format in formats::ALL {
        let folder = project().join(format!("corpus/{}/good", format.info().name));
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Ok(opened) = tenfold::open(&path) else {
                continue;
            };
            for (_, tensor) in opened.bundle.entries() {
                let is_small = tensor.n_mapped() == 0
                    && tensor.cells().is_some_and(|cells| cells < 3000)
                    && !tensor.dims().is_empty()
                    && tensor.indexed_sizes().iter().all(|size| *size < 3000);
                if !is_small || tensor.dense(Order::Row, &Limits::default()).is_err() {
                    continue;
                }
                match tensor.storage() {
                    Storage::Dense { .. } if tensor.is_packed() => n_packed += 1,
                    Storage::Dense { .. } => n_dense += 1,
                    Storage::Sparse { .. } => n_sparse += 1,
                    _ => n_trains += 1,
                }
                let all = cells(tensor);
                (0..40).for_each(|turn| check(tensor, &all, turn));
            }
        }
    }
    assert!(n_dense > 50, "{n_dense}");
    assert!(n_sparse > 8, "{n_sparse}");
    assert!(n_trains > 3, "{n_trains}");
    assert!(n_packed > 8, "{n_packed}");
}

fn dense(order: Order, sizes: &[u64]) -> Tensor {
    let count = u32::try_from(sizes.iter().product::<u64>()).unwrap();
    let bytes: Vec<u8> = (0..count).flat_map(u32::to_be_bytes).collect();
    let values = Numbers {
        endian: Endian::Big,
        bytes: tenfold::Bytes::memory(bytes),
        number: tenfold::Number::U32,
    };
    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
    let storage = Storage::Dense { order, values };
    Tensor::new(dims, "u32".parse().unwrap(), vec![], storage).unwrap()
}

#[test]
fn either_order_and_either_end_first_is_sliced() {
    for order in [Order::Row, Order::Column] {
        for sizes in [&[4, 3, 5][..], &[2, 1, 3, 4], &[6], &[3, 0, 2]] {
            let tensor = dense(order, sizes);
            let all = cells(&tensor);
            (0..200).for_each(|turn| check(&tensor, &all, turn));
        }
    }
}

fn sliced(tensor: &Tensor, text: &str) -> tenfold::Result<Tensor> {
    tensor.sliced(&IndexExpr::list(text)?, &Limits::default())
}

#[test]
fn slowest_places_that_follow_each_other_stay_where_they_are() {
    let rows = dense(Order::Row, &[4, 3, 5]);
    let columns = dense(Order::Column, &[4, 3, 5]);
    let is_run = |tensor: &Tensor, text| match sliced(tensor, text).unwrap().storage() {
        Storage::Dense { values, .. } => values.bytes.as_slice().is_some(),
        _ => false,
    };
    for text in ["1:3", "2", "1,1:", "1,2,3:5", "-1:", "3::7", "9:"] {
        assert!(is_run(&rows, text), "{text}");
    }
    for text in ["...,1:3", "...,2", ":,1:,1"] {
        assert!(is_run(&columns, text), "{text}");
    }
    for text in ["::2", "::-1", ":,1", ":,:,0:2"] {
        assert!(!is_run(&rows, text), "{text}");
    }
}

#[test]
fn ranges_leave_a_train_a_train_and_sparse_cells_sparse() {
    let train = tenfold::open(project().join("corpus/blz/good/page_example.blz")).unwrap();
    let (_, train) = &train.bundle.entries()[0];
    let kind = |text| sliced(train, text).unwrap().storage().as_str();
    assert_eq!((kind("::-1, 1:"), kind("0")), ("train", "dense"));

    let storage = Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(&[5_u64, 0, 11])),
        values: Numbers::from_vec(&[1_u8, 2, 3]),
    };
    let dims = vec![Dim::indexed(3).named("x"), Dim::indexed(4).named("y")];
    let sparse = Tensor::new(dims, "u8".parse().unwrap(), vec![], storage).unwrap();
    let part = sliced(&sparse, "y=1:").unwrap();
    assert_eq!((part.stored(), part.storage().as_str()), (2, "sparse"));
    assert_eq!(part.to_vec::<u8>().unwrap(), [0, 0, 0, 0, 0, 0, 1, 0, 3]);
    let names: Vec<_> = part.dims().iter().map(|dim| dim.name.as_deref()).collect();
    assert_eq!(names, [Some("x"), Some("y")]);
    assert_eq!(sliced(&sparse, "2,1").unwrap().to_vec::<u8>().unwrap(), [1]);
}

#[test]
fn labelled_blocks_are_taken_by_label() {
    let mut records = tenfold::RecordsBuilder::new(2, 3);
    for (labels, block) in [
        (["a", "x"], [1, 2, 3]),
        (["b", "x"], [4, 5, 6]),
        (["a", "y"], [7, 8, 9]),
    ] {
        records.push(&labels, &block).unwrap();
    }
    let values = Numbers {
        number: tenfold::Number::I8,
        endian: Endian::Little,
        bytes: records.finish().unwrap(),
    };
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Labels,
        values,
    };
    let dims = vec![
        Dim::mapped("k"),
        Dim::mapped("l"),
        Dim::indexed(3).named("n"),
    ];
    let tensor = Tensor::new(dims, "i8".parse().unwrap(), vec![], storage).unwrap();

    let mut found = Vec::new();
    let part = sliced(&tensor, "k=a, n=::-2").unwrap();
    part.for_each_cell(&Limits::default(), &mut |cell| {
        if let Cell::Labelled { labels, values } = cell {
            found.push((labels.to_vec(), values.to_vec::<i8>().unwrap()));
        }
        Ok(())
    })
    .unwrap();
    let expected = [
        (vec!["x".to_owned()], vec![3, 1]),
        (vec!["y".to_owned()], vec![9, 7]),
    ];
    assert_eq!(found, expected);

    let one = sliced(&tensor, "k=b, l=x").unwrap();
    assert_eq!(one.to_vec::<i8>().unwrap(), [4, 5, 6]);
    let why = |text| sliced(&tensor, text).unwrap_err().to_string();
    assert_eq!(why("k=c"), "no block has these labels");
    assert_eq!(
        why("0"),
        "dimension 0 (k) has labels: take one with k=LABEL"
    );
}

#[test]
fn taking_everything_changes_nothing() {
    let path = project().join("corpus/tens/good/packed_symmetric.tens");
    let opened = tenfold::open(path).unwrap();
    let (_, tensor) = &opened.bundle.entries()[0];
    let n_symmetries = tensor.symmetries().len();
    assert_eq!(
        sliced(tensor, "...").unwrap().symmetries().len(),
        n_symmetries
    );
    assert_eq!(sliced(tensor, "::-1").unwrap().symmetries().len(), 0);
}

/// A train of `ndim` dimensions of size 3 and rank 2, all of whose values are positive.
fn positive_train(ndim: usize, dtype: &str) -> Tensor {
    let parts = if dtype == "c128" { 2 } else { 1 };
    let mut seed = 7_u32;
    let mut core = |count: usize| {
        let values = (0..count).flat_map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // The imaginary part small, so that nothing cancels.
            let value = 0.1 + f64::from(seed >> 8) / f64::from(1 << 24);
            [value, value / 1024.0].into_iter().take(parts)
        });
        Numbers::from_vec(&values.collect::<Vec<f64>>())
    };
    let mut ranks = vec![2; ndim + 1];
    (ranks[0], ranks[ndim]) = (1, 1);
    let counts = ranks.windows(2).map(|ends| ends[0] * 3 * ends[1]);
    let counts: Vec<usize> = counts
        .map(|count| usize::try_from(count).unwrap())
        .collect();
    let cores = counts.into_iter().map(&mut core).collect();
    let dims = vec![Dim::indexed(3); ndim];
    let storage = Storage::Train { ranks, cores };
    Tensor::new(dims, dtype.parse().unwrap(), vec![], storage).unwrap()
}

#[test]
fn a_part_of_a_train_is_a_train_whose_cells_are_those_of_the_whole() {
    let limits = Limits::default();
    for dtype in ["f64", "c128"] {
        let train = positive_train(6, dtype);
        let all = cells(&train);
        for (text, sizes) in [
            ("1, ...", vec![3; 5]),
            ("..., 2", vec![3; 5]),
            ("2, 0, 1:, :, ::2, -1", vec![2, 3, 2]),
            (":, 1, ...", vec![3; 5]),
            (":, 0, 1, 2, 0, ::-1", vec![3, 3]),
            ("1, :, 2, :, 0, :", vec![3, 3, 3]),
            ("0:0, 1, ...", vec![0, 3, 3, 3, 3]),
        ] {
            let picks = IndexExpr::list(text).unwrap();
            let sliced = train.sliced(&picks, &limits).unwrap();
            assert_eq!(sliced.storage().as_str(), "train", "{text}");
            assert_eq!(sliced.sizes().unwrap(), sizes, "{text}");
            // The same places of the tensor with all its cells.
            let values = Numbers {
                number: tenfold::Number::F64,
                endian: Endian::Little,
                bytes: tenfold::Bytes::memory(all.concat()),
            };
            let order = Order::Row;
            let whole = Storage::Dense { order, values };
            let whole = Tensor::new(train.dims().to_vec(), train.dtype(), vec![], whole).unwrap();
            let expected = cells(&whole.sliced(&picks, &limits).unwrap());
            let found = cells(&sliced);
            assert_close(&found, &expected, &expected);
        }
    }
}

#[test]
fn a_part_of_an_astronomical_train_costs_nothing() {
    let limits = Limits::default();
    let train = positive_train(255, "f64");
    let indices = |n: usize| vec!["1"; n].join(",");
    let started = std::time::Instant::now();
    let half = format!(":,{},:,...", indices(100));
    let half = train
        .sliced(&IndexExpr::list(&half).unwrap(), &limits)
        .unwrap();
    assert_eq!((half.storage().as_str(), half.dims().len()), ("train", 155));
    let cell = half.cell::<f64>(&[1; 155], &limits).unwrap();
    let own = train.cell::<f64>(&[1; 255], &limits).unwrap();
    assert!((cell - own).abs() <= 1e-12 * own, "{cell} {own}");
    let line = format!("{},:", indices(254));
    let line = train
        .sliced(&IndexExpr::list(&line).unwrap(), &limits)
        .unwrap();
    assert_eq!(line.storage().as_str(), "dense");
    assert_eq!(line.to_vec::<f64>().unwrap()[1], own);
    let point = train
        .sliced(&IndexExpr::list(&indices(255)).unwrap(), &limits)
        .unwrap();
    assert_eq!(point.to_vec::<f64>().unwrap(), [own]);
    assert!(started.elapsed().as_secs() < 5);
}
