//! Sources of every kind give the same train.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use half::f16;
use tenfold::{Bytes, Dim, Endian, Limits, Number, Numbers, Order, Storage, Tensor};
use tenfold_train::{
    Access, AnySource, AnyTrain, Cells, Complex64, Error, Method, Options, Promote, Result, Source,
    Train, compress, compress_tensor,
};

use crate::support::{Dice, difference, low_rank, norm, real, tensor, unravel};

const SHAPE: [usize; 4] = [12, 10, 14, 16];

/// Whole numbers that every number type holds.
fn whole() -> Vec<u8> {
    let cells = tensor(&SHAPE, |i| (i[0] + 2 * i[1] + i[2] * i[3] / 4) % 120);
    cells
        .iter()
        .map(|cell| u8::try_from(*cell).unwrap())
        .collect()
}

fn train_of<E: Promote<f64>>(cells: &[E]) -> Train<f64> {
    let options = Options::relative(1e-3);
    compress(&Cells::new(&SHAPE, cells).unwrap(), &options)
        .unwrap()
        .train
}

#[test]
fn every_number_type_in_memory_gives_the_train_of_the_doubles() {
    let whole = whole();
    let doubles: Vec<f64> = whole.iter().map(|cell| f64::from(*cell)).collect();
    let wanted = train_of(&doubles);
    assert!(wanted.len() < doubles.len());
    macro_rules! check {
        ($($type:ty),*) => {$(
            let cells: Vec<$type> = whole.iter().map(|cell| <$type>::from(*cell)).collect();
            assert!(train_of(&cells) == wanted, stringify!($type));
        )*};
    }
    check!(u8, u16, u32, u64, u128, i16, i32, i64, i128, f32, f16);
}

#[test]
fn column_major_cells_give_the_same_tensor() {
    let cells: Vec<f64> = whole().iter().map(|cell| f64::from(*cell)).collect();
    let reversed: Vec<usize> = SHAPE.iter().rev().copied().collect();
    let turned = tensor(&reversed, |i| {
        cells[((i[3] * 10 + i[2]) * 14 + i[1]) * 16 + i[0]]
    });
    let source = Cells::column_major(&SHAPE, &turned).unwrap();
    for eps in [1e-3, 1e-8] {
        let found = compress(&source, &Options::relative(eps)).unwrap();
        assert_eq!(found.train.shape(), SHAPE);
        let error = difference(&found.train.full().unwrap(), &cells);
        assert!(error <= eps * norm(&cells));
        assert!(found.train.distance(&source).unwrap().relative() <= eps);
    }
}

fn dense(number: Number, endian: Endian, order: Order, bytes: Vec<u8>, dtype: &str) -> Tensor {
    let dims = SHAPE
        .iter()
        .map(|size| Dim::indexed(u64::try_from(*size).unwrap()));
    let values = Numbers {
        number,
        endian,
        bytes: Bytes::memory(bytes),
    };
    let storage = Storage::Dense { order, values };
    Tensor::new(dims.collect(), dtype.parse().unwrap(), vec![], storage).unwrap()
}

fn compressed(tensor: &Tensor, options: &Options) -> Train<f64> {
    match compress_tensor(tensor, options, &Limits::default()).unwrap() {
        (AnyTrain::Real(train), _) => train,
        (AnyTrain::Complex(_), _) => panic!("a real tensor became complex"),
    }
}

#[test]
fn tensors_in_any_order_and_byte_order_give_the_train_of_the_doubles() {
    let whole = whole();
    let doubles: Vec<f64> = whole.iter().map(|cell| f64::from(*cell)).collect();
    let wanted = train_of(&doubles);
    let options = Options::relative(1e-3);
    let cases: [(Number, Endian, Vec<u8>, &str); 5] = [
        (
            Number::F64,
            Endian::Little,
            doubles.iter().flat_map(|x| x.to_le_bytes()).collect(),
            "f64",
        ),
        (
            Number::F64,
            Endian::Big,
            doubles.iter().flat_map(|x| x.to_be_bytes()).collect(),
            "f64",
        ),
        (
            Number::I16,
            Endian::Big,
            whole
                .iter()
                .flat_map(|x| i16::from(*x).to_be_bytes())
                .collect(),
            "i16",
        ),
        (
            Number::F32,
            Endian::Little,
            whole
                .iter()
                .flat_map(|x| f32::from(*x).to_le_bytes())
                .collect(),
            "f32",
        ),
        (Number::U8, Endian::Little, whole.clone(), "u8"),
    ];
    for (number, endian, bytes, dtype) in cases {
        let tensor = dense(number, endian, Order::Row, bytes.clone(), dtype);
        assert!(
            compressed(&tensor, &options) == wanted,
            "{number} {endian:?}"
        );
        // Column-major bytes of the same tensor.
        let width = number.width();
        let mut turned = vec![0; bytes.len()];
        for at in 0..doubles.len() {
            let i = unravel(at, &SHAPE);
            let to = ((i[3] * 14 + i[2]) * 10 + i[1]) * 12 + i[0];
            turned[to * width..(to + 1) * width]
                .copy_from_slice(&bytes[at * width..(at + 1) * width]);
        }
        let tensor = dense(number, endian, Order::Column, turned, dtype);
        let train = compressed(&tensor, &options);
        assert!(difference(&train.full().unwrap(), &doubles) <= 1e-3 * norm(&doubles));
    }
}

#[test]
fn complex_tensors_keep_their_conjugates_apart() {
    let mut dice = Dice::new(5);
    let cells: Vec<Complex64> = low_rank(&SHAPE, 3, &mut dice);
    let bytes = cells
        .iter()
        .flat_map(|x| [x.re, x.im])
        .flat_map(f64::to_le_bytes)
        .collect();
    let tensor = dense(Number::F64, Endian::Little, Order::Row, bytes, "c128");
    let options = Options::relative(1e-9);
    let (train, report) = compress_tensor(&tensor, &options, &Limits::default()).unwrap();
    let AnyTrain::Complex(train) = train else {
        panic!("a complex tensor became real");
    };
    assert!(difference(&train.full().unwrap(), &cells) <= report.error);
    let conjugate: Vec<Complex64> = cells.iter().map(Complex64::conj).collect();
    let error = difference(&train.conjugate().full().unwrap(), &conjugate);
    assert!(error <= 1e-9 * norm(&cells));
    assert!(difference(&train.full().unwrap(), &conjugate) > 0.1);
}

#[test]
fn sparse_tensors_and_trains_are_sources_too() {
    let dims = [6, 7, 8].map(Dim::indexed).to_vec();
    let (places, values): (Vec<u64>, Vec<f64>) = (0..40_u32)
        .map(|n| (u64::from(n * 8 % 336 + n / 42), f64::from(n) + 0.5))
        .unzip();
    let storage = Storage::Sparse {
        order: Order::Row,
        address: tenfold::Address::Linear(Numbers::from_vec(&places)),
        values: Numbers::from_vec(&values),
    };
    let tensor = Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap();
    let mut cells = vec![0.0; 336];
    for (place, value) in places.iter().zip(&values) {
        cells[usize::try_from(*place).unwrap()] = *value;
    }
    for options in [
        Options::relative(1e-8),
        Options::relative(1e-8).with_memory(0),
    ] {
        let train = compressed(&tensor, &options);
        assert!(difference(&train.full().unwrap(), &cells) <= 1e-8 * norm(&cells));
        let again = compressed(&train.to_tensor().unwrap(), &options);
        assert!(difference(&again.full().unwrap(), &cells) <= 2e-8 * norm(&cells));
    }
}

#[test]
fn a_file_larger_than_the_memory_allowed_is_read_in_order_through_blz_and_npy() {
    let mut dice = Dice::new(6);
    let shape = [32, 32, 32, 16];
    let cells: Vec<f64> = low_rank(&shape, 4, &mut dice);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.npy");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (32, 32, 32, 16), }";
    file.extend(format!("{header:<117}\n").bytes());
    file.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
    std::fs::write(&path, file).unwrap();
    let opened = tenfold::open(&path).unwrap();
    let (_, tensor) = opened.bundle.entries().first().unwrap();
    for eps in [1e-2, 1e-8, 0.0] {
        for memory in [1 << 30, 1 << 20] {
            let options = Options::relative(eps).with_memory(memory);
            let (train, report) = compress_tensor(tensor, &options, &Limits::default()).unwrap();
            let ranks = train.ranks();
            if eps > 0.0 {
                assert_eq!(ranks, [1, 4, 4, 4, 1], "{eps:e} {memory}");
            } else {
                // Exactly as it is, with what rounding put into the cells.
                assert!(ranks.iter().all(|rank| *rank < 8), "{ranks:?} {memory}");
            }
            let blz = train.to_tensor().unwrap();
            let AnyTrain::Real(back) = AnyTrain::from_tensor(&blz).unwrap() else {
                panic!("a real train became complex");
            };
            assert_eq!(AnyTrain::Real(back.clone()), train);
            assert!(difference(&back.full().unwrap(), &cells) <= report.error);
            let AnySource::Real(source) = AnySource::new(tensor, &Limits::default()).unwrap()
            else {
                panic!("a real tensor became complex");
            };
            let distance = back.distance(&source).unwrap();
            assert!((distance.norm - 1.0).abs() < 1e-12 && distance.error <= report.error);
            assert_eq!(source.shape(), shape);
            if memory == 1 << 20 && eps > 0.0 {
                assert_eq!(report.route, Method::VerifiedPass);
                let passes = real(usize::try_from(report.read).unwrap()) / real(cells.len());
                assert!(passes < 1.5, "{passes} passes");
            }
        }
    }
}

/// Noise that lies nowhere: each cell is worked out from its place.
struct Noise([usize; 3]);

impl Source<f64> for Noise {
    fn shape(&self) -> &[usize] {
        &self.0
    }

    fn cells<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<f64>) -> Result<&'a [f64]> {
        room.clear();
        room.extend(range.map(|place| {
            let mixed = u64::try_from(place)
                .unwrap()
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            f64::from(u32::try_from(mixed >> 32).unwrap()) - 2_147_483_648.0
        }));
        Ok(room)
    }

    fn access(&self) -> Access {
        Access::Positioned
    }
}

#[test]
fn what_does_not_get_smaller_is_refused_before_it_fills_the_memory() {
    // 128 MiB that may take 64.
    let options = Options::relative(1e-6).with_memory(64 << 20);
    let refused = compress(&Noise([64, 512, 512]), &options).err();
    let Some(Error::Memory { needed, allowed }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(allowed, 64 << 20);
    assert!(needed > allowed);
}

/// Smooth cells that lie elsewhere; counts those that are asked for.
struct Counted {
    shape: [usize; 3],
    cells: Vec<f64>,
    access: Access,
    read: AtomicUsize,
}

impl Source<f64> for Counted {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn cells<'a>(&'a self, range: Range<usize>, _: &'a mut Vec<f64>) -> Result<&'a [f64]> {
        self.read.fetch_add(range.len(), Ordering::Relaxed);
        Ok(&self.cells[range])
    }

    fn access(&self) -> Access {
        self.access
    }
}

#[test]
fn what_fits_into_memory_is_read_once_at_loose_tolerances_and_gives_the_same_train() {
    let shape = [96, 80, 72];
    let cells = tensor(&shape, |i| 1.0 / real(i[0] + i[1] * i[2] + 1));
    let here = Cells::new(&shape, &cells).unwrap();
    for options in [
        Options::relative(1e-3),
        Options::absolute(1e-2),
        Options::ranked(5),
    ] {
        let wanted = compress(&here, &options).unwrap();
        for access in [Access::Positioned, Access::Forward] {
            let source = Counted {
                shape,
                cells: cells.clone(),
                access,
                read: AtomicUsize::new(0),
            };
            let found = compress(&source, &options).unwrap();
            assert!(found.train == wanted.train);
            assert_eq!(found.report.error, wanted.report.error);
            assert_eq!(source.read.into_inner(), cells.len());
        }
    }
}

#[test]
fn rows_too_long_to_be_looked_at_within_the_memory_are_refused() {
    // 24 rows of the 32, twice: more than the tensor itself takes.
    let options = Options::relative(1e-6).with_memory(64 << 20);
    let refused = compress(&Noise([2, 16, 1 << 20]), &options).err();
    let Some(Error::Memory { needed, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(needed, 2 * 24 * (8 << 20));
}

#[test]
fn where_no_train_is_small_enough_that_is_proven_and_no_train_is_returned() {
    let source = Noise([4, 128, 512]);
    let bytes = u64::try_from(8 * 4 * 128 * 512).unwrap();
    let found = compress(&source, &Options::relative(1e-1)).unwrap();
    assert!(found.report.train_len > bytes);
    // As doubles they take that many bytes, as single precision half of them.
    for below in [bytes / 2, bytes / 4] {
        let refused = compress(&source, &Options::relative(1e-1).smaller_than(below)).err();
        let Some(Error::NotSmaller { rank, least, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert!(least >= below && least <= found.report.train_len);
        assert!(found.report.bonds.iter().any(|bond| bond.rank >= rank));
    }
    // What does get smaller is not refused, however little may be left out.
    let smooth: Vec<f64> = tensor(&[40, 50, 60], |i| 1.0 / real(i[0] + i[1] + i[2] + 1));
    let source = Cells::new(&[40, 50, 60], &smooth).unwrap();
    for eps in [1e-1, 1e-3, 1e-6, 1e-12] {
        let found = compress(&source, &Options::relative(eps)).unwrap();
        let below = found.report.train_len + 1;
        let again = compress(&source, &Options::relative(eps).smaller_than(below)).unwrap();
        assert!(again.train == found.train);
    }
}
