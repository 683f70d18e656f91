//! Test tensors of every kind.

use tenfold::{
    Address, Algorithm, Arity, Bytes, Capabilities, Digest, Dim, DimNames, Endian, Info, Key,
    MetaSupport, Names, Number, Numbers, OptionInfo, Order, RecordsBuilder, SidecarSlot, Storage,
    StorageKind, Symmetry, Tensor, Value, When,
};

/// A flat format with options.
pub(crate) static MADE_UP: Info = Info {
    name: "made-up",
    title: "for tests",
    extensions: &["up"],
    magic: b"",
    versions: &["1", "2"],
    only_read: &[],
    options: &[
        OptionInfo {
            name: "endian",
            when: When::Read,
            values: "little|big",
            about: "the byte order",
        },
        OptionInfo {
            name: "level",
            when: When::Write,
            values: "1 to 22",
            about: "the effort",
        },
    ],
    holds: Capabilities {
        names: Names::Flat,
        numbers: &[Number::U8, Number::U16, Number::F32],
        arities: &[Arity::Real, Arity::Complex],
        kinds: &[StorageKind::Dense, StorageKind::Sparse],
        orders: &[Order::Row],
        ndim: (0, 8),
        size: (0, u64::MAX),
        dim_names: DimNames::No,
        symmetry: true,
        state: false,
        meta: MetaSupport {
            file: true,
            tensor: false,
        },
        carries: SidecarSlot::No,
    },
};

fn indexed(sizes: &[u64]) -> Vec<Dim> {
    sizes.iter().map(|size| Dim::indexed(*size)).collect()
}

fn transposition(operation: &str, packed: bool) -> Symmetry {
    Symmetry {
        permutation: vec![1, 0],
        operation: operation.into(),
        packed,
    }
}

/// A column-major matrix with a named dimension and metadata.
pub(crate) fn dense() -> (Key, Tensor) {
    let values = Numbers::from_vec(&[1.0_f32, 2.0, 0.1, f32::NAN, 5.0, -0.0]);
    let storage = Storage::Dense {
        order: Order::Column,
        values,
    };
    let dims = vec![Dim::indexed(2).named("x"), Dim::indexed(3)];
    let mut tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
    tensor.meta.set("unit", "m/s\u{1b}[2J");
    tensor.hints.set("made-up:order", Value::Bytes(vec![1, 2]));
    tensor.hints.set("unit", "hidden");
    (Key::flat("enc/w"), tensor)
}

/// The strict lower triangle of an antisymmetric matrix.
pub(crate) fn packed() -> (Key, Tensor) {
    let storage = Storage::Dense {
        order: Order::Column,
        values: Numbers::from_vec(&[1_i16, 2, 3]),
    };
    let symmetries = vec![transposition("-x", true)];
    let tensor = Tensor::new(
        indexed(&[3, 3]),
        "i16".parse().unwrap(),
        symmetries,
        storage,
    );
    (Key::flat("antisymmetric"), tensor.unwrap())
}

/// Two complex cells of a matrix, each with its conjugate on the other side.
pub(crate) fn sparse() -> (Key, Tensor) {
    let storage = Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(&[0_u64, 3])),
        values: Numbers::from_vec(&[1.0_f64, 0.0, 2.0, -3.5]),
    };
    let symmetries = vec![transposition("x*", true)];
    let tensor = Tensor::new(
        indexed(&[100, 100]),
        "c128".parse().unwrap(),
        symmetries,
        storage,
    );
    (Key::flat("hermitian"), tensor.unwrap())
}

/// Two rows under labels.
pub(crate) fn labelled() -> (Key, Tensor) {
    let mut records = RecordsBuilder::new(1, 2);
    records.push(&["red"], &[1, 2]).unwrap();
    records.push(&["light\nblue"], &[3, 4]).unwrap();
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Labels,
        values: Numbers {
            number: Number::U8,
            endian: Endian::Little,
            bytes: records.finish().unwrap(),
        },
    };
    let dims = vec![Dim::mapped("colour"), Dim::indexed(2).named("x")];
    let tensor = Tensor::new(dims, "u8".parse().unwrap(), vec![], storage);
    (Key::root(), tensor.unwrap())
}

/// Opaque parts.
pub(crate) fn opaque() -> (Key, Tensor) {
    let storage = Storage::Opaque {
        layout: "sparse_blocked".into(),
        parts: vec![
            ("indices".into(), Numbers::from_vec(&[1_u16, 500])),
            ("values".into(), Numbers::from_vec(&[0.5_f64])),
        ],
    };
    let tensor = Tensor::new(
        indexed(&[4, 4]),
        "f64".parse().unwrap(),
        vec![transposition("x", false)],
        storage,
    );
    (Key::flat("odd"), tensor.unwrap())
}

/// Values whose checksum is wrong.
pub(crate) fn damaged(n_values: u16) -> Tensor {
    let values: Vec<u16> = (0..n_values).collect();
    let mut values = Numbers::from_vec(&values);
    let digest = Digest {
        algorithm: Algorithm::Crc32c,
        expected: vec![0; 4],
        over: None,
    };
    let bytes: Bytes = values.bytes.with_digest(Some(digest));
    values.bytes = bytes;
    let storage = Storage::Dense {
        order: Order::Row,
        values,
    };
    Tensor::new(
        indexed(&[n_values.into()]),
        "u16".parse().unwrap(),
        vec![],
        storage,
    )
    .unwrap()
}
