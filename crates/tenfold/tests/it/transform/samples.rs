//! Tensors of every kind, and their cells by a plain loop.

use half::bf16;
use num_complex::Complex;
use tenfold::{
    Address, Dim, Element, Endian, F128, Limits, Numbers, Order, RecordsBuilder, Storage, Symmetry,
    Tensor,
};

pub(super) fn dims(sizes: &[u64]) -> Vec<Dim> {
    sizes.iter().map(|size| Dim::indexed(*size)).collect()
}

/// The same numbers with their bytes the other way round.
pub(super) fn big<T: Element>(values: &[T]) -> Numbers {
    let little = Numbers::from_vec(values);
    let mut bytes = little.bytes.to_vec().unwrap();
    bytes
        .chunks_mut(little.number.width())
        .for_each(<[u8]>::reverse);
    Numbers {
        endian: Endian::Big,
        bytes: tenfold::Bytes::memory(bytes),
        ..little
    }
}

pub(super) fn dense<T: Element>(sizes: &[u64], order: Order, values: Numbers) -> Tensor {
    let storage = Storage::Dense { order, values };
    Tensor::new(dims(sizes), T::DTYPE, vec![], storage).unwrap()
}

pub(super) fn sparse<T: Element>(
    sizes: &[u64],
    order: Order,
    address: Address,
    values: &[T],
) -> Tensor {
    let storage = Storage::Sparse {
        order,
        address,
        values: Numbers::from_vec(values),
    };
    Tensor::new(dims(sizes), T::DTYPE, vec![], storage).unwrap()
}

pub(super) fn symmetry(permutation: &[usize], operation: &str, packed: bool) -> Symmetry {
    Symmetry {
        permutation: permutation.to_vec(),
        operation: operation.into(),
        packed,
    }
}

/// Numbers 0.5, 1.5, … as many as there are cells.
pub(super) fn counted(sizes: &[u64]) -> Vec<f64> {
    let cells: u64 = sizes.iter().product();
    (0..cells)
        .map(|cell| f64::from(u32::try_from(cell).unwrap()) + 0.5)
        .collect()
}

/// Tensors of three dimensions, of every kind that has positions.
pub(super) fn all() -> Vec<(&'static str, Tensor)> {
    let sizes = &[2, 3, 4];
    let f64s = counted(sizes);
    let i16s: Vec<i16> = (0..24).map(|n| n * 257 - 1000).collect();
    let halves: Vec<bf16> = f64s.iter().map(|n| bf16::from_f64(*n)).collect();
    let pairs: Vec<Complex<f32>> = (0..24_u8)
        .map(|n| Complex::new(n.into(), -f32::from(n) / 2.0))
        .collect();
    let quads: Vec<F128> = f64s.iter().map(|n| F128::from(*n)).collect();
    let bools: Vec<bool> = (0..24).map(|n| n % 5 == 0).collect();
    let linear = |endian: Endian| {
        Address::Linear(match endian {
            Endian::Little => Numbers::from_vec(&[1_u32, 23, 7, 0]),
            Endian::Big => big(&[1_u64, 23, 7, 0]),
        })
    };
    let coordinates = Address::Coordinates(vec![
        Numbers::from_vec(&[1_u8, 0, 1, 0]),
        big(&[2_u16, 0, 0, 1]),
        Numbers::from_vec(&[3_u64, 1, 0, 2]),
    ]);
    let cells = [1.5_f64, -2.5, f64::NAN, -0.0];
    vec![
        (
            "row f64",
            dense::<f64>(sizes, Order::Row, Numbers::from_vec(&f64s)),
        ),
        (
            "column f64",
            dense::<f64>(sizes, Order::Column, Numbers::from_vec(&f64s)),
        ),
        ("row i16 big", dense::<i16>(sizes, Order::Row, big(&i16s))),
        (
            "column i16 big",
            dense::<i16>(sizes, Order::Column, big(&i16s)),
        ),
        (
            "column bf16",
            dense::<bf16>(sizes, Order::Column, Numbers::from_vec(&halves)),
        ),
        (
            "row c64",
            dense::<Complex<f32>>(sizes, Order::Row, Numbers::from_vec(&pairs)),
        ),
        (
            "column c64",
            dense::<Complex<f32>>(sizes, Order::Column, big(&pairs)),
        ),
        (
            "row f128",
            dense::<F128>(sizes, Order::Row, Numbers::from_vec(&quads)),
        ),
        (
            "row bool",
            dense::<bool>(sizes, Order::Row, Numbers::from_vec(&bools)),
        ),
        (
            "linear row",
            sparse(sizes, Order::Row, linear(Endian::Little), &cells),
        ),
        (
            "linear column",
            sparse(sizes, Order::Column, linear(Endian::Big), &cells),
        ),
        (
            "coordinates",
            sparse(sizes, Order::Row, coordinates, &cells),
        ),
        ("packed", packed()),
        ("packed sparse", packed_sparse()),
    ]
}

/// A dense tensor of sizes 3, 3, 2, antisymmetric in the first two dimensions.
pub(super) fn packed() -> Tensor {
    let storage = Storage::Dense {
        order: Order::Column,
        values: Numbers::from_vec(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]),
    };
    let symmetries = vec![symmetry(&[1, 0, 2], "-x", true)];
    Tensor::new(dims(&[3, 3, 2]), f32::DTYPE, symmetries, storage).unwrap()
}

fn packed_sparse() -> Tensor {
    let storage = Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(&[1_u64, 14])),
        values: Numbers::from_vec(&[1.0_f32, 2.0]),
    };
    let symmetries = vec![symmetry(&[1, 0, 2], "x", true)];
    Tensor::new(dims(&[3, 3, 2]), f32::DTYPE, symmetries, storage).unwrap()
}

/// A matrix of three compressed rows.
pub(super) fn rows() -> Tensor {
    let address = Address::Rows {
        starts: Numbers::from_vec(&[0_u32, 2, 2, 3]),
        columns: Numbers::from_vec(&[0_u16, 3, 1]),
    };
    sparse(&[3, 4], Order::Row, address, &[1.0_f64, 2.0, 3.0])
}

/// Two mapped dimensions, k and l, and two indexed ones, x of size 2 and y of size 3.
pub(super) fn labelled() -> Tensor {
    let mut records = RecordsBuilder::new(2, 24);
    for (labels, first) in [(["b", "u"], 0_u8), (["a", "v"], 10), (["b", "v"], 20)] {
        let cells: Vec<u8> = (first..first + 6)
            .flat_map(|n| f32::from(n).to_le_bytes())
            .collect();
        records.push(&labels, &cells).unwrap();
    }
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Labels,
        values: Numbers {
            number: f32::DTYPE.number,
            endian: Endian::Little,
            bytes: records.finish().unwrap(),
        },
    };
    let dims = vec![
        Dim::mapped("k"),
        Dim::mapped("l"),
        Dim::indexed(2).named("x"),
        Dim::indexed(3).named("y"),
    ];
    Tensor::new(dims, f32::DTYPE, vec![], storage).unwrap()
}

/// A train of sizes 2, 3, 2 and ranks 2, 3.
pub(super) fn train() -> Tensor {
    let core = |count: u32, first: u32| -> Numbers {
        let values: Vec<f64> = (first..first + count)
            .map(|n| f64::from(n * n % 17))
            .collect();
        Numbers::from_vec(&values)
    };
    let storage = Storage::Train {
        ranks: vec![1, 2, 3, 1],
        cores: vec![core(4, 1), core(18, 2), core(6, 3)],
    };
    Tensor::new(dims(&[2, 3, 2]), f64::DTYPE, vec![], storage).unwrap()
}

/// All logical values, row-major, little-endian.
pub(super) fn bytes(tensor: &Tensor) -> Vec<u8> {
    let mut all = Vec::new();
    tensor
        .for_each(100, &Limits::default(), &mut |piece| {
            all.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
    all
}

/// All indices, the last running fastest.
pub(super) fn indices(sizes: &[u64]) -> Vec<Vec<u64>> {
    sizes.iter().fold(vec![vec![]], |all, size| {
        let longer = |index: &Vec<u64>| {
            let index = index.clone();
            (0..*size).map(move |place| [index.clone(), vec![place]].concat())
        };
        all.iter().flat_map(longer).collect()
    })
}

/// Where a cell lies among all, the last index running fastest.
pub(super) fn place(sizes: &[u64], index: &[u64]) -> usize {
    let place = sizes
        .iter()
        .zip(index)
        .fold(0, |sum, (size, i)| sum * size + i);
    usize::try_from(place).unwrap()
}
