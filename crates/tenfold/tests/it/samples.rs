//! One file or two of every format that use what it holds.

use tenfold::{
    Address, Bundle, DType, Dim, Element, Endian, Key, Number, Numbers, Order, RecordsBuilder,
    Storage, Symmetry, Tensor, Value,
};

use crate::integrals::hydrogen;

/// A bundle that a format holds.
pub(crate) struct Sample {
    pub(crate) format: &'static str,
    /// What kind of file it is.
    pub(crate) title: &'static str,
    pub(crate) bundle: Bundle,
}

pub(crate) fn samples() -> Vec<Sample> {
    let sample = |format, title, bundle| Sample {
        format,
        title,
        bundle,
    };
    vec![
        sample("tens", "packed by a symmetry, named", Bundle::of(packed())),
        sample("tens", "pairs of index and value", Bundle::of(pairs())),
        sample("ztensor", "one tensor with metadata", weights(1)),
        sample("ztensor", "several, of other types", weights(3)),
        sample("blz", "a train", Bundle::of(train())),
        sample("vespa", "labelled blocks", Bundle::of(labelled())),
        sample("vespa", "dense, named", Bundle::of(field())),
        sample("vespa-text", "blocks by two labels", Bundle::of(labelled())),
        sample("vespa-feed", "documents", Bundle::of(documents())),
        sample(
            "vespa-feed",
            "with labels",
            Bundle::of(labelled_documents()),
        ),
        sample("primitiv", "a model with statistics", model()),
        sample("npy", "Fortran order", Bundle::of(array())),
        sample("npz", "several arrays", arrays()),
        sample("safetensors", "weights with metadata", checkpoint()),
        sample("safetensors", "an 8-bit float", small_floats()),
        sample("gguf", "weights with metadata", language_model(false)),
        sample("gguf", "quantised weights", language_model(true)),
        sample(
            "torch",
            "a nested checkpoint",
            of_corpus("torch/good/nested.pt"),
        ),
        sample("mtx", "sparse and symmetric", Bundle::of(triangle())),
        sample("mtx", "a pattern with comments", pattern()),
        sample("tns", "cells of an order 3 with comments", cells()),
        sample("fcidump", "integrals with eight-fold symmetry", hydrogen()),
        sample("cc4s", "a set with units", vertices()),
        sample("cc4s", "blocks", of_corpus("cc4s/good/spins.yaml")),
    ]
}

/// What is in a file of the corpus, for formats that are only read.
fn of_corpus(file: &str) -> Bundle {
    let path = crate::support::project().join("corpus").join(file);
    tenfold::open(path).unwrap().bundle
}

fn dense<T: Element>(dims: Vec<Dim>, order: Order, values: &[T]) -> Tensor {
    let values = Numbers::from_vec(values);
    let storage = Storage::Dense { order, values };
    Tensor::new(dims, T::DTYPE, vec![], storage).unwrap()
}

fn indexed(sizes: &[u64]) -> Vec<Dim> {
    sizes.iter().map(|size| Dim::indexed(*size)).collect()
}

fn packed() -> Tensor {
    let symmetry = Symmetry {
        permutation: vec![1, 0],
        operation: "x".into(),
        packed: true,
    };
    let dims = ["p", "q"].map(|name| Dim::indexed(3).named(name)).to_vec();
    let storage = Storage::Dense {
        order: Order::Column,
        values: Numbers::from_vec(&[1.0_f64, 0.5, 0.25, 2.0, 0.125, 3.0]),
    };
    Tensor::new(dims, DType::real(Number::F64), vec![symmetry], storage).unwrap()
}

fn pairs() -> Tensor {
    let storage = Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(&[3_u64, 17, 40])),
        values: Numbers::from_vec(&[1.0_f64, -2.0, 0.1]),
    };
    let dims = indexed(&[4, 5, 6]);
    Tensor::new(dims, DType::real(Number::F64), vec![], storage).unwrap()
}

/// A matrix of which the cells `index`, counted column by column, are there.
fn matrix<T: Element>(symmetries: Vec<Symmetry>, index: &[u64], values: &[T]) -> Tensor {
    let storage = Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(index)),
        values: Numbers::from_vec(values),
    };
    Tensor::new(indexed(&[3, 3]), T::DTYPE, symmetries, storage).unwrap()
}

fn triangle() -> Tensor {
    let symmetry = Symmetry {
        permutation: vec![1, 0],
        operation: "x".into(),
        packed: true,
    };
    matrix(vec![symmetry], &[0, 2, 4], &[0.1_f64, -2.0, 3.0])
}

fn pattern() -> Bundle {
    let mut bundle = Bundle::of(matrix(vec![], &[1, 5], &[true, true]));
    bundle.meta.set("mtx:comments", " a graph");
    bundle
}

fn cells() -> Bundle {
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Linear(Numbers::from_vec(&[3_u64, 17, 40])),
        values: Numbers::from_vec(&[0.1_f64, -0.0, 5e-324]),
    };
    let dtype = DType::real(Number::F64);
    let tensor = Tensor::new(indexed(&[3, 4, 5]), dtype, vec![], storage).unwrap();
    let mut bundle = Bundle::of(tensor);
    bundle.meta.set("tns:comments", " who, where, what");
    bundle
}

fn vertices() -> Bundle {
    let dims = |size: u64| {
        let names = [("AuxiliaryField", size), ("State", 2)];
        names.map(|(name, size)| Dim::indexed(size).named(name))
    };
    let mut bundle = Bundle::new();
    let mut first = dense(dims(1).to_vec(), Order::Column, &[0.1_f64, -2.0]);
    let unit = 0.5_f64.to_bits();
    first.meta.set(
        "cc4s:unit",
        Value::Float {
            bits: unit,
            width: 64,
        },
    );
    first.meta.set("halfGrid", 1_u64);
    bundle.push(Key::flat("hh"), first);
    let second = dense(dims(2).to_vec(), Order::Column, &[1.0_f64, 2.0, 3.0, 4.0]);
    bundle.push(Key::tree(vec!["p".into(), "h".into()]), second);
    bundle
}

fn weights(count: usize) -> Bundle {
    let mut bundle = Bundle::new();
    let mut first = dense(
        indexed(&[2, 3]),
        Order::Row,
        &[0.1_f32, 1.0, 2.0, 3.0, 4.0, 5.0],
    );
    first.meta.set("epoch", 7_u64);
    first.meta.set("rate", Value::f32(0.001));
    let others = [
        first,
        dense(indexed(&[3]), Order::Row, &[1_i64 << 60, -1, 0]),
        dense(indexed(&[2]), Order::Row, &[true, false]),
    ];
    for (name, tensor) in ["enc.w", "enc.ids", "mask"]
        .into_iter()
        .zip(others)
        .take(count)
    {
        bundle.push(Key::flat(name), tensor);
    }
    bundle
}

fn train() -> Tensor {
    let cores = vec![
        Numbers::from_vec(&[1.0_f64, 2.0, 3.0, 4.0]),
        Numbers::from_vec(&[1.0_f64, 0.0, 0.5, 0.0, 1.0, 0.1]),
    ];
    let ranks = vec![1, 2, 1];
    let storage = Storage::Train { ranks, cores };
    Tensor::new(indexed(&[2, 3]), DType::real(Number::F64), vec![], storage).unwrap()
}

/// Blocks of two numbers by labels, the second of them always the same.
fn blocks<const N: usize>(dims: [&str; N], rows: &[([&str; N], f32)]) -> Tensor {
    let mut records = RecordsBuilder::new(N, 8);
    for (labels, first) in rows {
        let cells = [*first, 0.1].map(f32::to_le_bytes).concat();
        records.push(labels, &cells).unwrap();
    }
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Labels,
        values: Numbers {
            number: Number::F32,
            endian: Endian::Little,
            bytes: records.finish().unwrap(),
        },
    };
    let mapped = dims.map(Dim::mapped).into_iter();
    let dims = mapped.chain([Dim::indexed(2).named("x")]).collect();
    Tensor::new(dims, DType::real(Number::F32), vec![], storage).unwrap()
}

fn labelled() -> Tensor {
    let rows = [
        (["acme", "hat"], 1.0),
        (["acme", "shoe"], 2.0),
        (["zeta", "hat"], 3.0),
    ];
    blocks(["brand", "cat"], &rows)
}

fn documents() -> Tensor {
    blocks(["id"], &[(["hat"], 1.0), (["shoe"], -0.0)])
}

fn labelled_documents() -> Tensor {
    let rows = [
        (["warm", "hat"], 1.0),
        (["red", "hat"], -0.0),
        (["red", "shoe"], 2.5),
    ];
    blocks(["category", "id"], &rows)
}

fn field() -> Tensor {
    let dims = ["lat", "lon"]
        .map(|name| Dim::indexed(2).named(name))
        .to_vec();
    dense(dims, Order::Row, &[0.1_f32, 0.2, 0.3, 0.4])
}

fn model() -> Bundle {
    let mut bundle = Bundle::new();
    let path = |names: &[&str]| Key::tree(names.iter().map(|name| (*name).into()).collect());
    let weight = path(&["enc", "l0", "w"]);
    let matrix = || dense(indexed(&[2, 2]), Order::Column, &[0.1_f32, 0.2, 0.3, 0.4]);
    bundle.push(weight.clone(), matrix());
    bundle.push(weight.statistic("Adam.m1"), matrix());
    bundle.push(weight.statistic("Adam.m2"), matrix());
    bundle.push(
        path(&["out"]),
        dense(indexed(&[2]), Order::Column, &[1.0_f32, -1.0]),
    );
    bundle
}

fn checkpoint() -> Bundle {
    let mut bundle = Bundle::new();
    bundle.meta.set("format", "pt");
    let weight = dense(indexed(&[2, 2]), Order::Row, &[0.1_f32, 0.2, 0.3, 0.4]);
    bundle.push(Key::flat("enc.w"), weight);
    bundle.push(
        Key::flat("enc.ids"),
        dense(indexed(&[2]), Order::Row, &[-1_i64, 7]),
    );
    bundle
}

fn small_floats() -> Bundle {
    let storage = Storage::Opaque {
        layout: "F8_E4M3".into(),
        parts: vec![("data".into(), Numbers::from_vec(&[0_u8, 0x38, 0x7f, 0x80]))],
    };
    let tensor = Tensor::new(indexed(&[2, 2]), DType::real(Number::U8), vec![], storage).unwrap();
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("w"), tensor);
    bundle
}

fn language_model(is_quantised: bool) -> Bundle {
    let mut bundle = Bundle::new();
    bundle.meta.set("general.architecture", "llama");
    bundle.meta.set("llama.block_count", 2_u64);
    bundle.meta.set("llama.epsilon", Value::f32(1e-5));
    let tokens = ["<s>", "a"].map(Value::from).to_vec();
    bundle
        .meta
        .set("tokenizer.ggml.tokens", Value::List(tokens));
    let norm = dense(indexed(&[3]), Order::Row, &[0.1_f32, 0.2, 0.3]);
    bundle.push(Key::flat("norm.weight"), norm);
    if is_quantised {
        let blocks: Vec<u8> = (0..36).collect();
        let storage = Storage::Opaque {
            layout: "Q4_0".into(),
            parts: vec![("data".into(), Numbers::from_vec(&blocks))],
        };
        let dtype = DType::real(Number::U8);
        let weight = Tensor::new(indexed(&[2, 32]), dtype, vec![], storage).unwrap();
        bundle.push(Key::flat("output.weight"), weight);
    }
    bundle
}

fn arrays() -> Bundle {
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("enc/w"), array());
    bundle.push(
        Key::flat("ids"),
        dense(indexed(&[2]), Order::Row, &[-1_i64, 7]),
    );
    bundle
}

fn array() -> Tensor {
    dense(
        indexed(&[2, 3]),
        Order::Column,
        &[0.1_f64, 1.0, 2.0, 3.0, 4.0, 5.0],
    )
}
