//! What the budget `Limits::memory` promises: work on larger tensors stays within it.

use tenfold::{
    Address, Bundle, Bytes, Dim, Endian, Key, Labels, Limits, Number, Numbers, Order, Overflow,
    Source, Storage, Symmetry, Tensor, WriteOptions,
};

use crate::streaming::{MIB, dense, file};
use crate::{alone, watched};

const MEMORY: usize = 16 * MIB;

/// Pieces on their way, and pages that are read here and there: far less than the 64 MiB that
/// `--memory` allows for besides.
const BESIDES: usize = 20 * MIB;

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.memory = MEMORY as u64;
    limits
}

/// Streams all values; gives how many bytes there were.
#[track_caller]
fn stream(tensor: &Tensor) -> usize {
    let mut len = 0;
    let (streamed, held) = watched(|| {
        tensor.for_each(MIB / 4, &limits(), &mut |piece| {
            len += piece.len();
            Ok(())
        })
    });
    streamed.unwrap();
    assert!(held <= MEMORY + BESIDES, "{held} bytes held");
    len
}

#[test]
fn a_tensor_larger_than_the_budget_is_reordered_within_it() {
    let _alone = alone();
    let data = file(128 * MIB);
    let source = Source::open(data.path()).unwrap();
    for sizes in [&[2048, 8192][..], &[256, 256, 256], &[4, 1024, 4096]] {
        let tensor = dense(&source, sizes, Order::Column);
        assert_eq!(stream(&tensor), 128 * MIB, "{sizes:?}");
    }
}

#[test]
fn a_cast_and_a_reordered_cast_stay_within_the_budget() {
    let _alone = alone();
    let data = file(128 * MIB);
    let source = Source::open(data.path()).unwrap();
    let tensor = dense(&source, &[2048, 8192], Order::Column);
    let cast = tensor
        .cast(Number::F32, Overflow::Saturates, &limits())
        .unwrap();
    assert_eq!(stream(&cast), 64 * MIB);
    let values = tensor.dense(Order::Row, &limits()).unwrap();
    let dims = tensor.dims().to_vec();
    let order = Order::Column;
    let again = Tensor::new(
        dims,
        tensor.dtype(),
        vec![],
        Storage::Dense { order, values },
    );
    assert_eq!(stream(&again.unwrap()), 128 * MIB);
}

#[test]
fn a_sparse_tensor_is_made_dense_within_the_budget() {
    let _alone = alone();
    let indices: Vec<u64> = (0..1000).map(|n| n * 8191).collect();
    let values: Vec<f64> = (0..1000_u32).map(f64::from).collect();
    for order in [Order::Row, Order::Column] {
        let storage = Storage::Sparse {
            order,
            address: Address::Linear(Numbers::from_vec(&indices)),
            values: Numbers::from_vec(&values),
        };
        let dims = vec![Dim::indexed(1024), Dim::indexed(8192)];
        let tensor = Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap();
        assert_eq!(stream(&tensor), 64 * MIB);
    }
}

#[test]
fn a_packed_tensor_is_unpacked_within_the_budget() {
    let _alone = alone();
    let size = 2048_u64;
    let len = size * (size + 1) / 2 * 8;
    let data = file(usize::try_from(len).unwrap().next_multiple_of(4 * MIB));
    data.as_file().set_len(len).unwrap();
    let values = Numbers {
        number: Number::F64,
        endian: Endian::Little,
        bytes: Bytes::whole(Source::open(data.path()).unwrap()),
    };
    let symmetry = Symmetry {
        permutation: vec![1, 0],
        operation: "x".into(),
        packed: true,
    };
    let storage = Storage::Dense {
        order: Order::Column,
        values,
    };
    let dims = vec![Dim::indexed(size); 2];
    let tensor = Tensor::new(dims, "f64".parse().unwrap(), vec![symmetry], storage).unwrap();
    assert_eq!(stream(&tensor), 32 * MIB);
}

#[test]
fn a_train_is_expanded_within_the_budget() {
    let _alone = alone();
    let (size, rank) = (160_u64, 60_u64);
    let core = |len: u64| Numbers::from_vec(&vec![0.5_f64; usize::try_from(len).unwrap()]);
    let storage = Storage::Train {
        ranks: vec![1, rank, rank, 1],
        cores: vec![
            core(size * rank),
            core(rank * size * rank),
            core(rank * size),
        ],
    };
    let dims = vec![Dim::indexed(size); 3];
    let tensor = Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap();
    assert_eq!(stream(&tensor) as u64, size.pow(3) * 8);
}

#[test]
fn many_reordered_tensors_share_the_budget() {
    let _alone = alone();
    let data = file(32 * MIB);
    let source = Source::open(data.path()).unwrap();
    let mut bundle = Bundle::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        let tensor = dense(&source, &[1024, 4096], Order::Column);
        bundle.push(Key::flat(name), tensor);
    }
    let how = WriteOptions {
        skip_sync: true,
        limits: limits(),
        ..WriteOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let format = tenfold::by_name("ztensor").unwrap();
    let (saved, held) = watched(|| tenfold::save(&bundle, &path, format, &how, false));
    saved.unwrap();
    assert!(held <= MEMORY + BESIDES, "{held} bytes held");
}

#[test]
fn labels_become_positions_and_back_within_the_budget_or_are_refused_for_it() {
    let _alone = alone();
    let count = 200_000_u64;
    let labels: Labels = (0..count).map(|n| format!("label {n}")).collect();
    let values: Vec<f32> = (0..2 * count).map(|n| n as f32).collect();
    let dims = vec![Dim::indexed(count).named("x"), Dim::indexed(2).named("y")];
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&values),
    };
    let plain = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
    let limits = limits();

    let (labelled, held) = watched(|| plain.with_labels(&[(0, &labels)], &limits).unwrap());
    assert!(held <= MEMORY + BESIDES, "{held}");
    let (placed, held) = watched(|| labelled.placed_among(&[], &[], &limits).unwrap());
    assert!(held <= MEMORY + BESIDES, "{held}");
    assert_eq!((placed.n_blocks(), placed.absent), (count, 0));
    assert_eq!(placed.labels, [labels]);
    assert!(placed.tensor.to_vec::<f32>().unwrap() == values);

    let mut small = limits.clone();
    small.memory = 8 << 20;
    let (refused, held) = watched(|| labelled.placed_among(&[], &[], &small).unwrap_err());
    assert!(held < 12 << 20, "{held}");
    assert!(refused.to_string().ends_with("raise it with --memory)"));
}
