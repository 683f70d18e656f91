//! Test tensors of every kind of storage, with their cells from plain loops.

use tenfold::{Address, Bytes, Dim, Endian, Number, Numbers, Order, Storage, Symmetry, Tensor};

/// A tensor and its cells as doubles, row-major.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) tensor: Tensor,
    pub(crate) sizes: Vec<u64>,
    /// The components of all cells; those of one element are contiguous.
    pub(crate) cells: Vec<f64>,
    /// The stored cells, if known.
    pub(crate) stored: Vec<Option<bool>>,
}

impl Sample {
    /// The components of the cell at an index.
    pub(crate) fn at(&self, index: &[u64]) -> &[f64] {
        let parts = self.tensor.dtype().arity.count();
        let cell = self.place(index);
        &self.cells[cell * parts..(cell + 1) * parts]
    }

    /// The row-major offset of a cell.
    pub(crate) fn place(&self, index: &[u64]) -> usize {
        let place = |so_far, (at, size): (&u64, &u64)| so_far * size + at;
        usize::try_from(index.iter().zip(&self.sizes).fold(0, place)).unwrap()
    }
}

fn dims(sizes: &[u64]) -> Vec<Dim> {
    sizes.iter().map(|size| Dim::indexed(*size)).collect()
}

/// Numbers that are neither sorted nor distinct, with NaN and infinities among them.
fn numbers(count: usize) -> Vec<f64> {
    let mut numbers: Vec<f64> = (0..count)
        .map(|n| f64::from(u32::try_from(n * 7919 % 1009).unwrap()) / 8.0 - 50.0)
        .collect();
    numbers[3] = f64::NAN;
    numbers[count / 2] = f64::INFINITY;
    numbers[count - 2] = f64::NEG_INFINITY;
    numbers[5] = 0.0;
    numbers
}

fn dense(name: &'static str, order: Order, endian: Endian) -> Sample {
    let sizes = vec![5, 7, 6];
    let cells = numbers(210);
    let mut bytes = Vec::new();
    let each = |i: usize, j: usize, k: usize| (i * 7 + j) * 6 + k;
    let mut put = |cell: usize| {
        let bits = cells[cell].to_bits();
        bytes.extend(match endian {
            Endian::Little => bits.to_le_bytes(),
            Endian::Big => bits.to_be_bytes(),
        });
    };
    match order {
        Order::Row => (0..210).for_each(&mut put),
        Order::Column => {
            for k in 0..6 {
                for j in 0..7 {
                    (0..5).for_each(|i| put(each(i, j, k)));
                }
            }
        }
    }
    let values = Numbers {
        number: Number::F64,
        endian,
        bytes: Bytes::memory(bytes),
    };
    let storage = Storage::Dense { order, values };
    let dtype = "f64".parse().unwrap();
    Sample {
        name,
        tensor: Tensor::new(dims(&sizes), dtype, vec![], storage).unwrap(),
        sizes,
        cells,
        stored: vec![Some(true); 210],
    }
}

/// A matrix stored as its lower triangle, column by column.
fn packed() -> Sample {
    let size = 9_usize;
    let triangle = numbers(size * (size + 1) / 2);
    let mut cells = vec![0.0; size * size];
    let mut stored = vec![Some(false); size * size];
    let mut next = triangle.iter();
    for column in 0..size {
        for row in column..size {
            let number = *next.next().unwrap();
            cells[row * size + column] = number;
            cells[column * size + row] = number;
            stored[row * size + column] = Some(true);
        }
    }
    let symmetry = Symmetry {
        permutation: vec![1, 0],
        operation: "x".into(),
        packed: true,
    };
    let storage = Storage::Dense {
        order: Order::Column,
        values: Numbers::from_vec(&triangle),
    };
    let dtype = "f64".parse().unwrap();
    Sample {
        name: "packed",
        tensor: Tensor::new(dims(&[9, 9]), dtype, vec![symmetry], storage).unwrap(),
        sizes: vec![9, 9],
        cells,
        stored,
    }
}

/// A few cells of many.
fn sparse() -> Sample {
    let sizes = [4_u64, 10, 3];
    let places: Vec<u64> = vec![7, 30, 31, 64, 119, 2];
    let values = [1.5, -3.0, f64::NAN, 0.0, f64::INFINITY, 8.25];
    let mut cells = vec![0.0; 120];
    let mut stored = vec![Some(false); 120];
    for (place, value) in places.iter().zip(values) {
        let place = usize::try_from(*place).unwrap();
        (cells[place], stored[place]) = (value, Some(true));
    }
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Linear(Numbers::from_vec(&places)),
        values: Numbers::from_vec(&values),
    };
    let dtype = "f64".parse().unwrap();
    Sample {
        name: "sparse",
        tensor: Tensor::new(dims(&sizes), dtype, vec![], storage).unwrap(),
        sizes: sizes.to_vec(),
        cells,
        stored,
    }
}

fn complex() -> Sample {
    let cells = numbers(60);
    let singles: Vec<f32> = cells
        .iter()
        .map(|n| format!("{n}").parse().unwrap())
        .collect();
    let values = Numbers::from_vec(&singles);
    let order = Order::Row;
    let storage = Storage::Dense { order, values };
    let dtype = "c64".parse().unwrap();
    Sample {
        name: "complex",
        tensor: Tensor::new(dims(&[5, 6]), dtype, vec![], storage).unwrap(),
        sizes: vec![5, 6],
        cells,
        stored: vec![Some(true); 30],
    }
}

fn whole_numbers() -> Sample {
    let values: Vec<i16> = (0..77).map(|n| n * 311 % 257 - 100).collect();
    let cells = values.iter().map(|value| f64::from(*value)).collect();
    let order = Order::Row;
    let values = Numbers::from_vec(&values);
    let storage = Storage::Dense { order, values };
    let dtype = "i16".parse().unwrap();
    Sample {
        name: "i16",
        tensor: Tensor::new(dims(&[7, 11]), dtype, vec![], storage).unwrap(),
        sizes: vec![7, 11],
        cells,
        stored: vec![Some(true); 77],
    }
}

/// A train of ranks 1, 2, 3, 1, whose products are exact.
fn train() -> Sample {
    let small = |count: usize, by: usize| -> Vec<f64> {
        let number = |n: usize| f64::from(u32::try_from(n * by % 7).unwrap()) - 3.0;
        (0..count).map(number).collect()
    };
    let (first, second, third) = (small(4 * 2, 3), small(2 * 5 * 3, 5), small(3 * 6, 2));
    let mut cells = Vec::new();
    for i in 0..4 {
        for j in 0..5 {
            for k in 0..6 {
                let mut sum = 0.0;
                for a in 0..2 {
                    for b in 0..3 {
                        sum += first[i * 2 + a] * second[(a * 5 + j) * 3 + b] * third[b * 6 + k];
                    }
                }
                cells.push(sum);
            }
        }
    }
    let cores = [first, second, third].map(|core| Numbers::from_vec(&core));
    let storage = Storage::Train {
        ranks: vec![1, 2, 3, 1],
        cores: cores.to_vec(),
    };
    let dtype = "f64".parse().unwrap();
    Sample {
        name: "train",
        tensor: Tensor::new(dims(&[4, 5, 6]), dtype, vec![], storage).unwrap(),
        sizes: vec![4, 5, 6],
        cells,
        stored: vec![None; 120],
    }
}

/// One of every kind.
pub(crate) fn all() -> Vec<Sample> {
    vec![
        dense("row-major", Order::Row, Endian::Little),
        dense("column-major", Order::Column, Endian::Little),
        dense("big-endian", Order::Row, Endian::Big),
        packed(),
        sparse(),
        complex(),
        whole_numbers(),
        train(),
    ]
}
