//! Whatever a format says it holds comes back from it with the same meaning.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tenfold::{
    Address, Arity, Bundle, Bytes, Cell, DType, Dim, DimNames, Endian, Format, Key, Limits, Mode,
    Names, Number, Numbers, Order, ReadOptions, RecordsBuilder, Size, Storage, StorageKind,
    Symmetry, Tensor, Value,
};

use crate::support::{verify, write};

/// Bytes from which a test case is made: shorter tapes make simpler cases, so that failures shrink.
struct Tape<'a>(&'a [u8]);

impl Tape<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        (usize::from(self.byte()) * 256 + usize::from(self.byte())) % bound.max(1)
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    fn text(&mut self) -> String {
        let letters = ["a", "b", "/", "\\", "@", ".", "é", "\0", "\n", "重", ""];
        (0..self.below(4)).map(|_| self.pick(&letters)).collect()
    }
}

/// A bundle that `format` holds.
fn bundle(format: &dyn Format, tape: &mut Tape) -> Bundle {
    let holds = &format.info().holds;
    let mut bundle = Bundle::new();
    let count = if holds.names == Names::One {
        1
    } else {
        tape.below(4)
    };
    for number in 0..count {
        let key = match holds.names {
            Names::One => Key::root(),
            // The number keeps names apart.
            Names::Flat => Key::flat(format!("{}{number}", tape.text())),
            Names::Tree => {
                let levels = tape.below(3);
                let mut path: Vec<String> =
                    (0..levels).map(|_| format!("{}-", tape.text())).collect();
                path.push(format!("{}{number}", tape.text()));
                Key::tree(path)
            }
        };
        let mut one = tensor(format, tape);
        if holds.meta.tensor {
            for _ in 0..tape.below(3) {
                one.meta.set(format!("own-{}", tape.text()), value(tape, 3));
            }
        }
        bundle.push(key.clone(), one);
        if holds.state {
            for statistic in 0..tape.below(3) {
                bundle.push(key.statistic(format!("m{statistic}")), tensor(format, tape));
            }
        }
    }
    bundle
}

fn value(tape: &mut Tape, depth: usize) -> Value {
    match tape.below(if depth == 0 { 7 } else { 10 }) {
        0 => Value::Null,
        1 => Value::Bool(tape.flag()),
        2 => Value::Int(i128::from(u64::from_le_bytes(
            tape.bytes(8).try_into().unwrap(),
        ))),
        3 => Value::Int(-1 - i128::from(tape.byte())),
        4 => Value::Text(tape.text()),
        5 => Value::Bytes(tape.bytes(3)),
        6 => Value::Float {
            bits: u64::from(u32::from_le_bytes(tape.bytes(4).try_into().unwrap())),
            width: 32,
        },
        7 => Value::List((0..tape.below(3)).map(|_| value(tape, depth - 1)).collect()),
        8 => Value::Map(
            (0..tape.below(3))
                .map(|n| {
                    (
                        Value::Text(format!("{}{n}", tape.text())),
                        value(tape, depth - 1),
                    )
                })
                .collect(),
        ),
        _ => Value::Tag(tape.byte().into(), Box::new(value(tape, depth - 1))),
    }
}

fn tensor(format: &dyn Format, tape: &mut Tape) -> Tensor {
    let holds = &format.info().holds;
    let mut dtype = DType {
        number: tape.pick(holds.numbers),
        arity: tape.pick(holds.arities),
    };
    let ndim = holds.ndim.0 as usize + tape.below(4);
    let least = holds.size.0 as usize;
    // Some formats have rules of their own; `quirks` knows them, so cases are drawn until none
    // speaks.
    for attempt in 0.. {
        let mut dims: Vec<Dim> = (0..ndim)
            .map(|_| Dim::indexed((least + tape.below(4)) as u64))
            .collect();
        if attempt > 0 {
            // The plainest case of all, for a tape that has run out.
            dims.iter_mut().for_each(|dim| dim.size = Size::Indexed(2));
            dtype.number = holds.numbers[0];
        }
        name(&mut dims, holds.dim_names, tape);
        let made = match tape.pick(holds.kinds) {
            StorageKind::Dense => dense(dims, dtype, tape, holds.symmetry),
            StorageKind::Sparse => sparse(dims, dtype, tape, holds.symmetry),
            StorageKind::Labelled => labelled(dims, dtype, tape),
            StorageKind::Train => train(dims, dtype, tape),
            StorageKind::Opaque => opaque(dtype, tape),
        };
        if tenfold::losses(&Bundle::of(made.clone()), format)
            .iter()
            .all(|loss| loss.detail.contains("name"))
        {
            return made;
        }
        assert!(attempt < 50, "no case for {} comes up", format.info().name);
    }
    unreachable!()
}

fn name(dims: &mut [Dim], names: DimNames, tape: &mut Tape) {
    match names {
        DimNames::Letter if tape.flag() => {
            for (dim, letter) in dims.iter_mut().zip("pqrstuvw".chars()) {
                dim.name = Some(letter.into());
            }
        }
        DimNames::Required => {
            for (dim, letter) in dims.iter_mut().zip('k'..) {
                dim.name = Some(format!("{letter}{}", tape.below(100)));
            }
        }
        _ => {}
    }
}

fn sizes(dims: &[Dim]) -> Vec<u64> {
    dims.iter().filter_map(Dim::indexed_size).collect()
}

fn numbers(dtype: DType, cells: u64, tape: &mut Tape) -> Numbers {
    let endian = if tape.flag() {
        Endian::Big
    } else {
        Endian::Little
    };
    let len = cells as usize * dtype.width();
    let bytes = if dtype.number == Number::Bool {
        tape.bytes(len).iter().map(|byte| byte & 1).collect()
    } else {
        tape.bytes(len)
    };
    Numbers {
        number: dtype.number,
        endian,
        bytes: Bytes::memory(bytes),
    }
}

/// A transposition of two dimensions of one size, or a rotation of three.
fn symmetry(dims: &[Dim], dtype: DType, rotations: bool, tape: &mut Tape) -> Option<Symmetry> {
    let mut permutation: Vec<usize> = (0..dims.len()).collect();
    match dims {
        [a, b, ..] if a.size == b.size => permutation.swap(0, 1),
        _ => return None,
    }
    if let [_, b, c, ..] = dims
        && b.size == c.size
        && rotations
        && tape.flag()
    {
        permutation.swap(1, 2);
    }
    // What an integer may not be negated to is a matter of `check`, not of the round trip.
    let is_float = dtype.number.kind() == tenfold::Kind::Float;
    let operation = if is_float {
        tape.pick(&["x", "-x", "x*", "-x*"])
    } else {
        "x"
    };
    Some(Symmetry {
        permutation,
        operation: operation.into(),
        packed: true,
    })
}

fn dense(dims: Vec<Dim>, dtype: DType, tape: &mut Tape, symmetric: bool) -> Tensor {
    let found = if symmetric && tape.flag() {
        symmetry(&dims, dtype, true, tape)
    } else {
        None
    };
    let order = if found.is_some() || tape.flag() {
        Order::Column
    } else {
        Order::Row
    };
    let all: u64 = sizes(&dims).iter().product();
    let symmetries: Vec<Symmetry> = found.into_iter().collect();
    // How many cells are stored is not for the test to work out: the one count that fits is found.
    for cells in (0..=all).rev() {
        let mut copy = Tape(tape.0);
        let values = numbers(dtype, cells, &mut copy);
        let storage = Storage::Dense { order, values };
        if let Ok(tensor) = Tensor::new(dims.clone(), dtype, symmetries.clone(), storage) {
            tape.0 = copy.0;
            return tensor;
        }
    }
    panic!("no number of cells fits {dims:?} {symmetries:?}")
}

fn sparse(dims: Vec<Dim>, dtype: DType, tape: &mut Tape, symmetric: bool) -> Tensor {
    let sizes = sizes(&dims);
    let all: u64 = sizes.iter().product();
    let mut cells: Vec<u64> = (0..all).filter(|_| tape.flag()).collect();
    let found = if symmetric && tape.flag() {
        symmetry(&dims, dtype, false, tape)
    } else {
        None
    };
    if found.is_some() {
        // One cell of an orbit at most, and none that might have to be zero: strictly one side of
        // the diagonal, now and then the other than a writer would choose.
        let side = tape.flag();
        let size = sizes[0];
        cells.retain(|cell| {
            let (row, column) = (cell % size, cell / size % size);
            if side { row < column } else { row > column }
        });
    }
    if tape.flag() {
        cells.reverse();
    }
    let values = numbers(dtype, cells.len() as u64, tape);
    let order = Order::Column;
    let address = if tape.flag() || dims.is_empty() {
        Address::Linear(Numbers::from_vec(&cells))
    } else {
        let mut columns = vec![Vec::new(); dims.len()];
        for cell in &cells {
            let mut rest = *cell;
            for (column, size) in columns.iter_mut().zip(&sizes) {
                column.push(rest % size);
                rest /= size;
            }
        }
        Address::Coordinates(
            columns
                .iter()
                .map(|column| Numbers::from_vec(column))
                .collect(),
        )
    };
    let _ = symmetric;
    Tensor::new(
        dims,
        dtype,
        vec![],
        Storage::Sparse {
            order,
            address,
            values,
        },
    )
    .unwrap()
}

fn labelled(mut dims: Vec<Dim>, dtype: DType, tape: &mut Tape) -> Tensor {
    let mapped = 1 + tape.below(2);
    for number in 0..mapped {
        dims.insert(number, Dim::mapped(format!("m{number}")));
    }
    let cells: u64 = sizes(&dims).iter().product();
    let width = cells as usize * dtype.width();
    let mut records = RecordsBuilder::new(mapped, width);
    for number in 0..tape.below(4) {
        let first = format!("{}{number}", tape.text());
        let labels: Vec<&str> = std::iter::once(first.as_str())
            .chain(["", "x"])
            .take(mapped)
            .collect();
        records.push(&labels, &tape.bytes(width)).unwrap();
    }
    let endian = if tape.flag() {
        Endian::Big
    } else {
        Endian::Little
    };
    let values = Numbers {
        number: dtype.number,
        endian,
        bytes: records.finish().unwrap(),
    };
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Labels,
        values,
    };
    Tensor::new(dims, dtype, vec![], storage).unwrap()
}

fn train(dims: Vec<Dim>, dtype: DType, tape: &mut Tape) -> Tensor {
    let sizes = sizes(&dims);
    let mut ranks: Vec<u64> = (0..=sizes.len())
        .map(|_| 1 + tape.below(3) as u64)
        .collect();
    (ranks[0], ranks[sizes.len()]) = (1, 1);
    let cores = sizes
        .iter()
        .zip(ranks.windows(2))
        .map(|(size, ends)| numbers(dtype, ends[0] * size * ends[1], tape))
        .collect();
    Tensor::new(dims, dtype, vec![], Storage::Train { ranks, cores }).unwrap()
}

/// Bytes that only the format they come from can place: compressed rows of what is no matrix.
fn opaque(dtype: DType, tape: &mut Tape) -> Tensor {
    let dims = vec![Dim::indexed(2); 3];
    let len = tape.below(20) as u64;
    let parts = vec![("data".into(), numbers(DType::real(Number::U8), len, tape))];
    let layout = "sparsecsr".into();
    Tensor::new(dims, dtype, vec![], Storage::Opaque { layout, parts }).unwrap()
}

/// What a tensor means, blind to byte order, cell order and whereabouts.
#[derive(Debug, PartialEq)]
pub(crate) struct Meaning {
    dims: Vec<(Option<String>, Option<u64>)>,
    dtype: DType,
    symmetries: Vec<Symmetry>,
    content: Content,
    meta: tenfold::Meta,
}

#[derive(Debug, PartialEq)]
enum Content {
    Dense(Vec<u8>),
    Sparse(BTreeMap<Vec<u64>, Vec<u8>>),
    Labelled(BTreeMap<Vec<String>, Vec<u8>>),
    Train(Vec<u64>, Vec<Vec<u8>>),
    Opaque(String, Vec<Vec<u8>>),
}

pub(crate) fn meaning(tensor: &Tensor) -> Meaning {
    let limits = Limits::default();
    let content = match tensor.storage() {
        Storage::Dense { .. } => {
            let mut all = Vec::new();
            tensor
                .for_each(7, &limits, &mut |piece| {
                    all.extend_from_slice(piece);
                    Ok(())
                })
                .unwrap();
            Content::Dense(all)
        }
        Storage::Sparse { .. } => {
            let (mut cells, mut blocks) = (BTreeMap::new(), BTreeMap::new());
            tensor
                .for_each_cell(&limits, &mut |cell| {
                    match cell {
                        // An explicit zero means what an absent cell does.
                        Cell::At { value, .. } if value.iter().all(|byte| *byte == 0) => {}
                        Cell::At { index, value } => {
                            assert!(cells.insert(index.to_vec(), value.to_vec()).is_none());
                        }
                        Cell::Labelled { labels, values } => {
                            let values = little_endian(&values);
                            assert!(blocks.insert(labels.to_vec(), values).is_none());
                        }
                    }
                    Ok(())
                })
                .unwrap();
            if tensor.n_mapped() > 0 {
                Content::Labelled(blocks)
            } else {
                Content::Sparse(cells)
            }
        }
        Storage::Train { ranks, cores } => {
            Content::Train(ranks.clone(), cores.iter().map(little_endian).collect())
        }
        Storage::Opaque { layout, parts } => {
            let parts = parts.iter().map(|(_, part)| little_endian(part)).collect();
            Content::Opaque(layout.clone(), parts)
        }
    };
    Meaning {
        dims: tensor
            .dims()
            .iter()
            .map(|dim| (dim.name.clone(), dim.indexed_size()))
            .collect(),
        dtype: tensor.dtype(),
        symmetries: tensor.symmetries().to_vec(),
        content,
        meta: tensor.meta.clone(),
    }
}

fn little_endian(numbers: &Numbers) -> Vec<u8> {
    let mut bytes = numbers.bytes.to_vec().unwrap();
    if numbers.endian == Endian::Big {
        bytes
            .chunks_mut(numbers.number.width())
            .for_each(<[u8]>::reverse);
    }
    bytes
}

/// The tensors of a bundle by name: the order of a file is not part of its meaning.
pub(crate) fn meanings(bundle: &Bundle) -> BTreeMap<Key, Meaning> {
    bundle
        .entries()
        .iter()
        .map(|(key, tensor)| (key.clone(), meaning(tensor)))
        .collect()
}

fn comes_back(format: &dyn Format, tape: &[u8]) -> Result<(), TestCaseError> {
    let name = format.info().name;
    let before = bundle(format, &mut Tape(tape));
    let bytes = match write(name, &before) {
        Ok(bytes) => bytes,
        // Names that come up twice, or that a format's own rules exclude, are refused by name.
        Err(tenfold::Error::Refused(refusal)) => {
            prop_assert!(
                refusal
                    .losses
                    .iter()
                    .all(|loss| loss.aspect.as_str().contains("names")
                        || loss.aspect.as_str() == "keys"),
                "{refusal}"
            );
            return Ok(());
        }
        Err(error) => return Err(TestCaseError::fail(format!("{name}: {error}"))),
    };
    // Drawn values need not keep their own symmetries: a lenient reader says so and goes on.
    let how = ReadOptions {
        mode: Mode::Lenient,
        ..ReadOptions::default()
    };
    let after =
        verify(name, &bytes, &how).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(meanings(&before), meanings(&after.bundle));
    prop_assert_eq!(&before.meta, &after.bundle.meta);
    // A file written once is written again byte for byte.
    let again =
        write(name, &after.bundle).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert!(again == bytes, "{} is not canonical", name);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn what_a_format_holds_comes_back(tape in prop::collection::vec(any::<u8>(), 0..600)) {
        for format in tenfold::formats::ALL {
            comes_back(*format, &tape)?;
        }
    }
}

#[test]
fn arities_are_all_tried() {
    // The generator draws from what a format says it holds: a list that lost an entry would go
    // unnoticed by the property above.
    let tens = tenfold::by_name("tens").unwrap().info();
    assert_eq!(
        (tens.holds.numbers.len(), tens.holds.arities),
        (13, Arity::ALL)
    );
    assert_eq!(
        tenfold::by_name("ztensor")
            .unwrap()
            .info()
            .holds
            .numbers
            .len(),
        13
    );
}
