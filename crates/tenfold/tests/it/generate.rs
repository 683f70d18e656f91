//! Bundles that a format says it holds, drawn from a tape of bytes.

use tenfold::{
    Address, Aspect, Bundle, Bytes, DType, Dim, DimNames, Endian, Format, Key, Names, Number,
    Numbers, Order, RecordsBuilder, Size, Storage, StorageKind, Symmetry, Tensor, Value,
};

/// Bytes from which a test case is made: shorter tapes make simpler cases, so that failures shrink.
pub(crate) struct Tape<'a>(pub(crate) &'a [u8]);

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

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (usize::from(self.byte()) * 256 + usize::from(self.byte())) % bound.max(1)
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    fn text(&mut self) -> String {
        let letters = ["a", "b", "/", "\\", "@", ".", "é", "\0", "\n", "重", ""];
        (0..self.below(4)).map(|_| self.pick(&letters)).collect()
    }
}

/// A bundle that `format` holds.
pub(crate) fn bundle(format: &dyn Format, tape: &mut Tape) -> Bundle {
    if format.info().name == "fcidump" {
        return crate::integrals::drawn(tape);
    }
    let holds = &format.info().holds;
    let mut bundle = Bundle::new();
    if format.info().name == "primitiv" {
        // As of a file of its own: its names are segments already.
        bundle.hints.set("primitiv:type", "model");
    }
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
                let name = match tape.below(8) {
                    // Where a format carries, this name is taken.
                    7 => "tenfold".into(),
                    _ => format!("own-{}", tape.text()),
                };
                one.meta.set(name, value(tape, 3));
            }
        }
        bundle.push(key.clone(), one);
        if holds.state {
            for statistic in 0..tape.below(3) {
                bundle.push(key.statistic(format!("m{statistic}")), tensor(format, tape));
            }
        }
    }
    if holds.meta.file {
        for _ in 0..tape.below(3) {
            let mut alone = Bundle::new();
            alone.meta.set(tape.text(), tape.text().as_str());
            let losses = tenfold::losses(&alone, format).unwrap();
            if losses.iter().all(|loss| loss.aspect != Aspect::Metadata) {
                let (name, value) = alone.meta.iter().next().unwrap();
                bundle.meta.set(name, value.clone());
            }
        }
    }
    bundle
}

/// Adds what the format of a bundle has no word for, but some other may.
pub(crate) fn decorate(bundle: &Bundle, tape: &mut Tape) -> Bundle {
    let mut decorated = Bundle::new();
    decorated.meta = bundle.meta.clone();
    for _ in 0..tape.below(3) {
        let name = tape.pick(&["tenfold", "about", "primitiv:uint_configs", "x:y"]);
        decorated.meta.set(name, value(tape, 2));
    }
    let is_tree = tape.flag();
    for (number, (key, tensor)) in bundle.entries().iter().enumerate() {
        let mut key = key.clone();
        let mut tensor = tensor.clone();
        if is_tree {
            let mut path = key.path().to_vec();
            path.push(format!("{}{number}", tape.text()));
            path.insert(0, tape.text());
            key = Key::tree(path).with_state(key.state);
        }
        if tape.flag() {
            let name = tape.pick(&["tenfold", "name", "shape", "about"]);
            tensor.meta.set(name, value(tape, 2));
        }
        if tape.flag() {
            let large = Value::Int(i128::MIN + i128::from(tape.byte()));
            tensor.meta.set("large", large);
        }
        decorated.push(key, declared(tensor, tape));
    }
    decorated
}

/// Perhaps the same tensor with a symmetry that is only declared, and names of any kind.
fn declared(tensor: Tensor, tape: &mut Tape) -> Tensor {
    if tensor.is_packed() || tensor.n_mapped() > 0 || tape.flag() {
        return tensor;
    }
    let mut dims = tensor.dims().to_vec();
    for (place, dim) in dims.iter_mut().enumerate() {
        // No two names are the same, which some formats demand.
        dim.name = tape.flag().then(|| format!("{}{place}", tape.text()));
    }
    let mut symmetries: Vec<Symmetry> = symmetry(&dims, tensor.dtype(), true, tape)
        .into_iter()
        .collect();
    symmetries
        .iter_mut()
        .for_each(|symmetry| symmetry.packed = false);
    let storage = tensor.storage().clone();
    let mut made = Tensor::new(dims, tensor.dtype(), symmetries, storage).unwrap();
    made.meta = tensor.meta.clone();
    made
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
    let ndim = (holds.ndim.0 as usize + tape.below(4)).min(holds.ndim.1 as usize);
    let least = holds.size.0 as usize;
    // Some formats have rules of their own; `format_losses` knows them, so cases are drawn until none
    // speaks.
    for attempt in 0.. {
        let mut dims: Vec<Dim> = (0..ndim)
            .map(|_| Dim::indexed((least + tape.below(4)) as u64))
            .collect();
        if attempt > 0 {
            // The plainest case of all, for a tape that has run out.
            dims.iter_mut().for_each(|dim| dim.size = Size::Indexed(2));
            dtype = DType {
                number: holds.numbers[0],
                arity: holds.arities[0],
            };
        }
        name(&mut dims, holds.dim_names, tape);
        let made = match tape.pick(holds.kinds) {
            StorageKind::Dense => dense(dims, dtype, tape, holds.symmetry),
            StorageKind::Sparse => sparse(dims, dtype, tape, holds.symmetry),
            StorageKind::Labelled => labelled(format, dims, dtype, tape),
            StorageKind::Train => train(dims, dtype, tape),
            StorageKind::Opaque => opaque(format, dtype, tape),
        };
        if tenfold::losses(&Bundle::of(made.clone()), format)
            .unwrap()
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
            // Not always in the order of the alphabet, which one format demands.
            let letters = if tape.flag() { "pqrstuvw" } else { "qwpvrut" };
            for (dim, letter) in dims.iter_mut().zip(letters.chars()) {
                dim.name = Some(letter.into());
            }
        }
        DimNames::Any if tape.flag() => {
            // Several may have one name, and some none.
            for dim in dims.iter_mut() {
                if tape.flag() {
                    dim.name = Some(format!("State {}", tape.below(3)));
                }
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
    let is_in_rows = dims.len() == 2 && found.is_none() && tape.flag();
    if is_in_rows {
        // Rows ascend, and the columns of each rise or fall.
        let (size, falls) = (sizes[0].max(1), tape.flag());
        cells.sort_by_key(|cell| {
            let (row, column) = (cell % size, cell / size);
            (row, if falls { u64::MAX - column } else { column })
        });
    }
    let values = numbers(dtype, cells.len() as u64, tape);
    let order = Order::Column;
    let address = if is_in_rows {
        rows(&cells, &sizes, tape)
    } else if tape.flag() || dims.is_empty() {
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
    Tensor::new(
        dims,
        dtype,
        found.into_iter().collect(),
        Storage::Sparse {
            order,
            address,
            values,
        },
    )
    .unwrap()
}

/// Compressed rows of cells that come row by row, with indices of either width.
fn rows(cells: &[u64], sizes: &[u64], tape: &mut Tape) -> Address {
    let starts = (0..=sizes[0]).map(|row| {
        let before = cells.iter().filter(|cell| *cell % sizes[0].max(1) < row);
        before.count() as u64
    });
    let starts: Vec<u64> = starts.collect();
    let columns: Vec<u64> = cells.iter().map(|cell| cell / sizes[0]).collect();
    let is_narrow = tape.flag();
    let numbers = |all: &[u64]| {
        if is_narrow {
            Numbers::from_vec(&all.iter().map(|one| *one as u32).collect::<Vec<u32>>())
        } else {
            Numbers::from_vec(all)
        }
    };
    Address::Rows {
        starts: numbers(&starts),
        columns: numbers(&columns),
    }
}

fn labelled(format: &dyn Format, mut dims: Vec<Dim>, dtype: DType, tape: &mut Tape) -> Tensor {
    // Some labels of a feed are the ids of its documents, of which there is one.
    let is_feed = format.info().name == "vespa-feed";
    let mapped = 1 + tape.below(2);
    for number in 0..mapped {
        let name = if is_feed && number == 0 {
            "id".into()
        } else {
            format!("m{number}")
        };
        dims.insert(number, Dim::mapped(name));
    }
    let cells: u64 = sizes(&dims).iter().product();
    let width = cells as usize * dtype.width();
    let mut records = RecordsBuilder::new(mapped, width);
    for number in 0..usize::from(is_feed) + tape.below(4) {
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

/// Bytes that only the format they come from can place: compressed rows of what is no matrix, small
/// floats, parts of an unknown layout.
fn opaque(format: &dyn Format, dtype: DType, tape: &mut Tape) -> Tensor {
    let mut dims = vec![Dim::indexed(2); 3];
    let byte = DType::real(Number::U8);
    let info = format.info();
    let (layout, dtype, len) = match (info.name, info.versions) {
        ("ztensor", ["2"]) => {
            let (layout, len) = tape.pick(&[("F8_E4M3", 8), ("F4", 4), ("x.own/1", 7)]);
            (layout, byte, len)
        }
        ("safetensors", _) => {
            let (layout, len) = tape.pick(&[("F8_E4M3", 8), ("F4", 4), ("F6_E3M2", 6)]);
            (layout, byte, len)
        }
        ("gguf", _) => {
            let (layout, len) = tape.pick(&[("Q4_0", 72), ("Q8_0", 136), ("MXFP4", 68)]);
            dims.pop();
            dims.push(Dim::indexed(32));
            (layout, byte, len)
        }
        _ => ("sparsecsr", dtype, tape.below(20) as u64),
    };
    let mut parts = vec![("data".into(), numbers(byte, len, tape))];
    if layout == "x.own/1" {
        parts.push(("scales".into(), numbers(DType::real(Number::F16), 2, tape)));
    }
    let layout = layout.into();
    Tensor::new(dims, dtype, vec![], Storage::Opaque { layout, parts }).unwrap()
}
