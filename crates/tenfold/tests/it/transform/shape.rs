//! Orders and sizes of dimensions.

use tenfold::{Address, Element, Limits, Numbers, Order, Source, Storage, Tensor};

use super::samples::{
    all, bytes, counted, dense, dims, indices, labelled, packed, place, rows, sparse, symmetry,
    train,
};
use crate::meaning::meaning;

/// The values of a permuted tensor, cell by cell.
fn permuted(tensor: &Tensor, axes: &[usize]) -> Vec<u8> {
    let sizes = tensor.sizes().unwrap();
    let (own, width) = (bytes(tensor), tensor.dtype().width());
    let seen: Vec<u64> = axes.iter().map(|axis| sizes[*axis]).collect();
    let mut all = Vec::new();
    for index in indices(&seen) {
        let mut from = vec![0; sizes.len()];
        for (axis, place) in axes.iter().zip(index) {
            from[*axis] = place;
        }
        let at = place(&sizes, &from) * width;
        all.extend_from_slice(&own[at..at + width]);
    }
    all
}

const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

#[test]
fn a_permuted_tensor_has_the_cells_of_a_plain_loop() {
    let limits = Limits::default();
    for (name, tensor) in all() {
        for axes in ORDERS {
            let found = tensor.permute(&axes, &limits).unwrap();
            assert_eq!(bytes(&found), permuted(&tensor, &axes), "{name} {axes:?}");
            assert_eq!(found.storage().as_str(), tensor.storage().as_str());
            let notes = found.check(&limits).unwrap();
            assert!(notes.is_empty(), "{name} {axes:?}: {notes:?}");
            assert_eq!(found.symmetries().len(), tensor.symmetries().len());
        }
    }
    let rows = rows();
    let found = rows.permute(&[1, 0], &limits).unwrap();
    assert_eq!(bytes(&found), permuted(&rows, &[1, 0]));
}

#[test]
fn symmetries_follow_their_dimensions() {
    let limits = Limits::default();
    let found = packed().permute(&[2, 1, 0], &limits).unwrap();
    assert_eq!(found.symmetries(), [symmetry(&[0, 2, 1], "-x", false)]);
    let found = packed().permute(&[1, 2, 0], &limits).unwrap();
    assert_eq!(found.symmetries(), [symmetry(&[2, 1, 0], "-x", false)]);
}

#[test]
fn a_reversal_and_a_dimension_of_size_one_cost_nothing() {
    let limits = Limits::default();
    let stored = |tensor: &Tensor| match tensor.storage() {
        Storage::Dense { order, values } => (*order, values.bytes.as_slice().map(<[u8]>::to_vec)),
        _ => panic!("not dense"),
    };
    let tensor = dense::<f64>(
        &[2, 3, 4],
        Order::Row,
        Numbers::from_vec(&counted(&[2, 3, 4])),
    );
    let (_, own) = stored(&tensor);
    assert_eq!(
        stored(&tensor.permute(&[2, 1, 0], &limits).unwrap()),
        (Order::Column, own)
    );
    let thin = dense::<f64>(
        &[2, 1, 4],
        Order::Column,
        Numbers::from_vec(&counted(&[2, 4])),
    );
    let (_, own) = stored(&thin);
    assert_eq!(
        stored(&thin.permute(&[1, 0, 2], &limits).unwrap()),
        (Order::Column, own)
    );
}

#[test]
fn a_train_can_be_reversed_and_nothing_else() {
    let limits = Limits::default();
    let train = train();
    let found = train.permute(&[2, 1, 0], &limits).unwrap();
    assert_eq!(found.storage().as_str(), "train");
    assert_eq!(bytes(&found), permuted(&train, &[2, 1, 0]));
    let error = train.permute(&[1, 0, 2], &limits).unwrap_err();
    let text = "the dimensions of a train can be reversed only; --dense expands it first";
    assert_eq!(error.to_string(), text);
    let error = train.reshape(&[Some(12)], &limits).unwrap_err();
    let text = "a train tensor has no other shape; --dense expands it first";
    assert_eq!(error.to_string(), text);
}

#[test]
fn labelled_blocks_are_permuted_and_so_are_their_labels() {
    let limits = Limits::default();
    let tensor = labelled();
    let found = tensor.permute(&[1, 3, 0, 2], &limits).unwrap();
    let names: Vec<_> = found
        .dims()
        .iter()
        .map(|dim| dim.name.clone().unwrap())
        .collect();
    assert_eq!(names, ["l", "y", "k", "x"]);
    let mut blocks = Vec::new();
    found
        .for_each_cell(&limits, &mut |cell| {
            if let tenfold::Cell::Labelled { labels, values } = cell {
                blocks.push((labels.to_vec(), values.to_vec::<f32>().unwrap()));
            }
            Ok(())
        })
        .unwrap();
    let block =
        |labels: [&str; 2], values: [f32; 6]| (labels.map(String::from).to_vec(), values.to_vec());
    assert_eq!(
        blocks,
        [
            block(["u", "b"], [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
            block(["v", "a"], [10.0, 13.0, 11.0, 14.0, 12.0, 15.0]),
            block(["v", "b"], [20.0, 23.0, 21.0, 24.0, 22.0, 25.0]),
        ]
    );
    let back = found.permute(&[2, 0, 3, 1], &limits).unwrap();
    assert_eq!(meaning(&back), meaning(&tensor));
    // Moving mapped dimensions past indexed ones leaves the blocks where they are.
    let found = tensor.permute(&[0, 2, 1, 3], &limits).unwrap();
    assert_eq!(found.storage().stored_len(), tensor.storage().stored_len());
}

#[test]
fn what_is_no_order_of_the_dimensions_is_refused() {
    let (_, tensor) = all().remove(0);
    for axes in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 3]] {
        let error = tensor.permute(axes, &Limits::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{axes:?} is no order of 3 dimensions")
        );
    }
}

#[test]
fn a_reshaped_tensor_has_the_same_cells_in_row_major_order() {
    let limits = Limits::default();
    for (name, tensor) in all() {
        let cells = i64::try_from(tensor.cells().unwrap()).unwrap();
        for sizes in [
            vec![Some(2), None],
            vec![None],
            vec![Some(1), None, Some(3), Some(1)],
        ] {
            let found = tensor.reshape(&sizes, &limits).unwrap();
            assert_eq!(bytes(&found), bytes(&tensor), "{name} {sizes:?}");
            assert_eq!(found.storage().as_str(), tensor.storage().as_str());
            assert!(found.check(&limits).unwrap().is_empty() && found.symmetries().is_empty());
            let known: i64 = sizes
                .iter()
                .flatten()
                .map(|n| i64::try_from(*n).unwrap())
                .product();
            let rest = u64::try_from(cells / known).unwrap();
            let wanted: Vec<u64> = sizes.iter().map(|size| size.unwrap_or(rest)).collect();
            assert_eq!(found.sizes().unwrap(), wanted);
        }
    }
    let found = rows().reshape(&[Some(2), Some(6)], &limits).unwrap();
    assert_eq!(bytes(&found), bytes(&rows()));
}

#[test]
fn sizes_that_do_not_hold_the_cells_are_refused() {
    let limits = Limits::default();
    let (_, tensor) = all().remove(0);
    for (sizes, why) in [
        (vec![Some(5), None], "2 × 3 × 4 cells cannot become 5 × -1"),
        (vec![Some(0), None], "2 × 3 × 4 cells cannot become 0 × -1"),
        (vec![Some(25)], "2 × 3 × 4 cells cannot become 25"),
        (
            vec![None, None],
            "one size at most can be left open with -1",
        ),
        (
            vec![Some(u64::MAX); 3],
            &format!("2 × 3 × 4 cells cannot become {0} × {0} × {0}", u64::MAX),
        ),
    ] {
        assert_eq!(
            tensor.reshape(&sizes, &limits).unwrap_err().to_string(),
            why
        );
    }
    let empty = dense::<f64>(&[0, 3], Order::Column, Numbers::from_vec::<f64>(&[]));
    let found = empty.reshape(&[Some(7), None], &limits).unwrap();
    assert_eq!(found.sizes().unwrap(), [7, 0]);
    let scalar = dense::<f64>(&[], Order::Row, Numbers::from_vec(&[1.0]));
    assert_eq!(
        scalar
            .reshape(&[Some(1), None], &limits)
            .unwrap()
            .sizes()
            .unwrap(),
        [1, 1]
    );
}

#[test]
fn dimensions_get_names_that_differ() {
    let (_, tensor) = all().remove(0);
    let names = |names: [&str; 3]| {
        let named = |name: &str| (name != "_").then(|| name.to_owned());
        tensor.with_dim_names(&names.map(named))
    };
    let named = names(["x", "_", "z"]).unwrap();
    let found: Vec<_> = named.dims().iter().map(|dim| dim.name.as_deref()).collect();
    assert_eq!(found, [Some("x"), None, Some("z")]);
    let error = names(["x", "y", "x"]).unwrap_err().to_string();
    assert_eq!(error, "two dimensions would be called \"x\"");
    let error = tensor.with_dim_names(&[None]).unwrap_err().to_string();
    assert_eq!(error, "3 dimensions need as many names, 1 given");
    let error = labelled()
        .with_dim_names(&[None, None, None, None])
        .unwrap_err();
    assert_eq!(error.to_string(), "a mapped dimension needs a name");
}

#[test]
fn nothing_is_read_before_somebody_asks() {
    let limits = Limits::default();
    let file = tempfile::tempfile().unwrap();
    file.set_len(24 * 16).unwrap();
    let source = Source::file(file.try_clone().unwrap()).unwrap();
    let numbers = |number: tenfold::DType| Numbers {
        number: number.number,
        endian: tenfold::Endian::Little,
        bytes: tenfold::Bytes::whole(source.clone()),
    };
    let full = dense::<tenfold::F128>(&[2, 3, 4], Order::Column, numbers(tenfold::F128::DTYPE));
    let address = Address::Linear(numbers(u64::DTYPE));
    let storage = Storage::Sparse {
        order: Order::Column,
        address,
        values: numbers(f64::DTYPE),
    };
    let listed = Tensor::new(dims(&[4, 3, 4]), f64::DTYPE, vec![], storage).unwrap();
    // From here on every read fails.
    file.set_len(0).unwrap();
    for tensor in [full, listed] {
        let made = tensor.permute(&[1, 2, 0], &limits).unwrap();
        let made = made.reshape(&[Some(6), None], &limits).unwrap();
        let made = made
            .cast(tenfold::Number::F32, tenfold::Overflow::Fails, &limits)
            .unwrap();
        let error = made.for_each(100, &limits, &mut |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("became shorter"), "{error}");
    }
}

#[test]
fn an_address_outside_the_tensor_is_found_when_it_is_read() {
    let limits = Limits::default();
    let address = Address::Linear(Numbers::from_vec(&[24_u64]));
    let broken = sparse(&[2, 3, 4], Order::Row, address, &[1.0_f64]);
    let error = bytes_of(&broken.permute(&[1, 0, 2], &limits).unwrap());
    assert!(
        error.contains("index 24 lies outside the tensor"),
        "{error}"
    );
}

fn bytes_of(tensor: &Tensor) -> String {
    let read = tensor.for_each(100, &Limits::default(), &mut |_| Ok(()));
    read.unwrap_err().to_string()
}
