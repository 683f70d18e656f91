//! Bundles of integrals, which have names and symmetries of their own.

use tenfold::{
    Address, Bundle, Bytes, DType, Dim, Endian, Key, Number, Numbers, Order, Storage, Symmetry,
    Tensor, Value,
};

use crate::generate::Tape;

/// The places of cells, each an index, and their values.
type Cells = Vec<(Vec<u64>, Vec<f64>)>;

fn symmetry(permutation: &[usize], operation: &str) -> Symmetry {
    Symmetry {
        permutation: permutation.to_vec(),
        operation: operation.into(),
        packed: true,
    }
}

fn symmetries(ndim: usize, is_complex: bool) -> Vec<Symmetry> {
    match (ndim, is_complex) {
        (4, false) => [[1, 0, 2, 3], [0, 1, 3, 2], [2, 3, 0, 1]]
            .map(|permutation| symmetry(&permutation, "x"))
            .to_vec(),
        (4, true) => vec![symmetry(&[2, 3, 0, 1], "x"), symmetry(&[1, 0, 3, 2], "x*")],
        (2, false) => vec![symmetry(&[1, 0], "x")],
        (2, true) => vec![symmetry(&[1, 0], "x*")],
        _ => vec![],
    }
}

fn numbers(values: &[f64]) -> Numbers {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    Numbers {
        number: Number::F64,
        endian: Endian::Little,
        bytes: Bytes::memory(bytes.collect()),
    }
}

fn dtype(is_complex: bool) -> DType {
    if is_complex {
        DType::complex(Number::F64)
    } else {
        DType::real(Number::F64)
    }
}

fn sparse(norb: u64, ndim: usize, is_complex: bool, cells: &Cells) -> Tensor {
    let places: Vec<u64> = { cells.iter() }
        .map(|(index, _)| index.iter().rev().fold(0, |sum, place| sum * norb + place))
        .collect();
    let values: Vec<f64> = cells.iter().flat_map(|(_, value)| value.clone()).collect();
    let storage = Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(&places)),
        values: numbers(&values),
    };
    let dims = vec![Dim::indexed(norb); ndim];
    let symmetries = symmetries(ndim, is_complex);
    Tensor::new(dims, dtype(is_complex), symmetries, storage).unwrap()
}

fn scalar(value: &[f64]) -> Tensor {
    let storage = Storage::Dense {
        order: Order::Column,
        values: numbers(value),
    };
    Tensor::new(vec![], dtype(value.len() == 2), vec![], storage).unwrap()
}

/// The hydrogen molecule in two orbitals.
pub(crate) fn hydrogen() -> Bundle {
    let cell = |index: &[u64], value: f64| (index.to_vec(), vec![value]);
    let two = vec![
        cell(&[0, 0, 0, 0], 0.6744931033260081),
        cell(&[1, 0, 1, 0], 0.1812875358123322),
        cell(&[1, 1, 0, 0], 0.6634720448605567),
        cell(&[1, 1, 1, 1], 0.6973979494693358),
    ];
    let one = vec![
        cell(&[0, 0], -1.252477303982209),
        cell(&[1, 1], -0.4759344611440753),
    ];
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("two"), sparse(2, 4, false, &two));
    bundle.push(Key::flat("one"), sparse(2, 2, false, &one));
    bundle.push(Key::flat("core"), scalar(&[0.7137758743754461]));
    bundle.meta.set("fcidump:NELEC", 2_u64);
    bundle.meta.set("fcidump:MS2", 0_u64);
    let kinds = Value::List(vec![Value::Int(1), Value::Int(1)]);
    bundle.meta.set("fcidump:ORBSYM", kinds);
    bundle
}

/// Integrals of a few orbitals, one of every orbit at most, none that has to be real.
pub(crate) fn drawn(tape: &mut Tape) -> Bundle {
    let norb = tape.below(4) as u64;
    let is_complex = tape.flag();
    let value = |tape: &mut Tape| -> Vec<f64> {
        let count = if is_complex { 2 } else { 1 };
        let number = |tape: &mut Tape| f64::from_le_bytes(tape.bytes(8).try_into().unwrap());
        (0..count).map(|_| number(tape)).collect()
    };
    let pairs: Vec<[u64; 2]> = { 0..norb }
        .flat_map(|i| (0..=i).map(move |j| [i, j]))
        .collect();
    let may_be = |pair: &[u64; 2]| !is_complex || pair[0] > pair[1];
    let (mut two, mut one, mut energies) = (Cells::new(), Cells::new(), Cells::new());
    for [i, j] in pairs.iter().filter(|pair| may_be(pair)) {
        for [k, l] in pairs.iter().filter(|pair| **pair <= [*i, *j]) {
            if tape.flag() {
                // Now and then not as a writer would choose.
                let index = if tape.flag() {
                    [*i, *j, *k, *l]
                } else {
                    [*k, *l, *i, *j]
                };
                two.push((index.to_vec(), value(tape)));
            }
        }
        if tape.flag() {
            one.push((vec![*i, *j], value(tape)));
        }
    }
    for orbital in 0..norb {
        if tape.flag() {
            energies.push((vec![orbital], value(tape)));
        }
    }
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("two"), sparse(norb, 4, is_complex, &two));
    bundle.push(Key::flat("one"), sparse(norb, 2, is_complex, &one));
    if !energies.is_empty() {
        let energies = sparse(norb, 1, is_complex, &energies);
        bundle.push(Key::flat("energies"), energies);
    }
    // Of nothing else a reader can tell whether values are complex.
    let is_silent = is_complex && two.is_empty() && one.is_empty();
    if is_silent || tape.flag() {
        bundle.push(Key::flat("core"), scalar(&value(tape)));
    }
    bundle.meta.set("fcidump:NELEC", Value::Int(2));
    bundle.meta.set("fcidump:MS2", Value::Int(-1));
    if tape.flag() {
        bundle.meta.set("fcidump:ISYM", Value::Int(1));
    }
    bundle
}
