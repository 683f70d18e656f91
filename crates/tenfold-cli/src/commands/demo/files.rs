//! Small realistic files, identical on every run.

use tenfold::{
    Address, Bundle, Dim, Element, Endian, Key, Limits, Number, Numbers, Order, RecordsBuilder,
    Result, Storage, Symmetry, Tensor, Tolerance, Value,
};

/// A file to write.
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) format: &'static str,
    pub(super) about: &'static str,
    pub(super) options: &'static [(&'static str, &'static str)],
    pub(super) content: Content,
}

/// The content of a file.
pub(super) enum Content {
    Bundle(Bundle),
    /// Bytes as another program would write them.
    Bytes(&'static [u8]),
}

/// All files.
pub(super) fn all() -> Result<Vec<File>> {
    const SMALL_AND_SAFE: &[(&str, &str)] = &[("compress", "zstd"), ("checksum", "crc32c")];
    let file = |name, format, about, bundle| File {
        name,
        format,
        about,
        options: &[],
        content: Content::Bundle(bundle),
    };
    let mut files = vec![
        file(
            "integrals.tens",
            "tens",
            "repulsion of electrons in a molecule: each number stands for up to eight cells",
            Bundle::of(integrals()?),
        ),
        file(
            "model.model",
            "primitiv",
            "a small neural network with the statistics of its optimizer",
            model()?,
        ),
        file(
            "adam.optimizer",
            "primitiv",
            "the optimizer itself: named numbers, no tensors",
            optimizer(),
        ),
        File {
            options: SMALL_AND_SAFE,
            ..file(
                "weights.zt",
                "ztensor",
                "the weights of the network, compressed, with checksums",
                weights(false)?,
            )
        },
        File {
            options: SMALL_AND_SAFE,
            ..file(
                "weights-next.zt",
                "ztensor",
                "the same weights after a step of training that went wrong",
                weights(true)?,
            )
        },
        file(
            "catalogue.tbf",
            "vespa",
            "products by brand and kind, three features each",
            Bundle::of(catalogue()?),
        ),
        file(
            "field.npy",
            "npy",
            "a smooth wave in space, every point of it",
            Bundle::of(field()?),
        ),
        file(
            "field.blz",
            "blz",
            "the same wave as a tensor train, in a seventieth of the space",
            Bundle::of(train()?),
        ),
        file(
            "phases.npy",
            "npy",
            "a hermitian matrix of complex numbers",
            Bundle::of(phases()?),
        ),
        file(
            "arrays.npz",
            "npz",
            "a slice of the wave and the points that it is at",
            arrays()?,
        ),
        file(
            "weights.safetensors",
            "safetensors",
            "the weights of the network for other programs",
            weights(false)?,
        ),
        file(
            "words.gguf",
            "gguf",
            "a language model in small: embeddings quantized to 8 bits",
            words()?,
        ),
        file(
            "overlap.yaml",
            "cc4s",
            "how much six orbitals overlap, with overlap.elements beside it",
            Bundle::of(overlap()?),
        ),
        file(
            "measured.dat",
            "raw",
            "32 singles and nothing that says so",
            Bundle::of(dense(&[32], Order::Row, &Noise(7).many(32, 1.0))?),
        ),
    ];
    files.extend(made_by_others());
    Ok(files)
}

/// Files in text formats or in formats that only other programs write.
fn made_by_others() -> impl Iterator<Item = File> {
    let file = |(name, format, about, bytes)| File {
        name,
        format,
        about,
        options: &[],
        content: Content::Bytes(bytes),
    };
    let files: [(_, _, _, &'static [u8]); 6] = [
        (
            "checkpoint.pt",
            "torch",
            "a checkpoint of PyTorch: a model, its optimizer, an epoch",
            include_bytes!("samples/checkpoint.pt"),
        ),
        (
            "query.json",
            "vespa-text",
            "a tensor to rank the products by, as JSON",
            include_bytes!("samples/query.json"),
        ),
        (
            "documents.jsonl",
            "vespa-feed",
            "three documents with embeddings, to be fed to Vespa",
            include_bytes!("samples/documents.jsonl"),
        ),
        (
            "graph.mtx",
            "mtx",
            "a sparse symmetric matrix as text",
            include_bytes!("samples/graph.mtx"),
        ),
        (
            "ratings.tns",
            "tns",
            "ratings by user, film and month: six cells of many",
            include_bytes!("samples/ratings.tns"),
        ),
        (
            "molecule.fcidump",
            "fcidump",
            "all integrals of a hydrogen molecule",
            include_bytes!("samples/molecule.fcidump"),
        ),
    ];
    files.into_iter().map(file)
}

/// Two-electron integrals (pq|rs) of six orbitals along a chain.
fn integrals() -> Result<Tensor> {
    const ORBITALS: u32 = 6;
    /// Smaller ones are omitted, as is usual in chemistry.
    const SMALL: f64 = 1e-4;
    let (mut places, mut values) = (Vec::new(), Vec::new());
    for place in 0..ORBITALS.pow(4) {
        let [p, q, r, s] = [1, 6, 36, 216].map(|step| f64::from(place / step % ORBITALS));
        let value = repulsion(p, q, r, s);
        if value > SMALL {
            places.push(u64::from(place));
            values.push(value);
        }
    }
    let dims = ["p", "q", "r", "s"].map(|name| Dim::indexed(ORBITALS.into()).named(name));
    let storage = Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(&places)),
        values: Numbers::from_vec(&values),
    };
    let dtype = f64::DTYPE;
    let tensor = Tensor::new(dims.to_vec(), dtype, vec![], storage)?;
    // (pq|rs) = (qp|rs) = (pq|sr) = (rs|pq)
    let swaps = [[1, 0, 2, 3], [0, 1, 3, 2], [2, 3, 0, 1]].map(|permutation| Symmetry {
        permutation: permutation.to_vec(),
        operation: "x".into(),
        packed: true,
    });
    let packing = tensor.pack(&swaps, Tolerance::Exact, &Limits::default())?;
    Ok(packing.tensor)
}

/// Two charge clouds, each where two orbitals overlap.
fn repulsion(p: f64, q: f64, r: f64, s: f64) -> f64 {
    let overlap = |a: f64, b: f64| (-0.4 * (a - b) * (a - b)).exp();
    let distance = (p + q - r - s) / 2.0;
    // Parenthesized so that exchanging the clouds gives the same bits.
    0.8 * (overlap(p, q) * overlap(r, s)) / (1.0 + distance * distance).sqrt()
}

/// Pseudorandom numbers between -1 and 1.
struct Noise(u32);

impl Noise {
    fn next(&mut self) -> f32 {
        // A linear congruential generator: its upper bits look random enough.
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let upper = u16::try_from(self.0 >> 16).unwrap_or(0);
        f32::from(upper) / 32768.0 - 1.0
    }

    fn many(&mut self, count: u64, scale: f32) -> Vec<f32> {
        (0..count).map(|_| self.next() * scale).collect()
    }
}

/// The layers of the network: names and sizes.
const LAYERS: [(&str, &str, &[u64]); 4] = [
    ("encoder", "weight", &[16, 8]),
    ("encoder", "bias", &[16]),
    ("decoder", "weight", &[8, 16]),
    ("decoder", "bias", &[8]),
];

fn dense(sizes: &[u64], order: Order, values: &[f32]) -> Result<Tensor> {
    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
    let values = Numbers::from_vec(values);
    Tensor::new(dims, f32::DTYPE, vec![], Storage::Dense { order, values })
}

fn model() -> Result<Bundle> {
    let mut noise = Noise(1);
    let mut bundle = Bundle::new();
    for (layer, name, sizes) in LAYERS {
        let key = Key::tree(vec![layer.into(), name.into()]);
        let count = sizes.iter().product();
        let values = noise.many(count, 0.5);
        bundle.push(key.clone(), dense(sizes, Order::Column, &values)?);
        let gradient = noise.many(count, 0.01);
        let squares: Vec<f32> = gradient.iter().map(|number| number * number).collect();
        for (state, values) in [("Adam.m1", &gradient), ("Adam.m2", &squares)] {
            bundle.push(key.statistic(state), dense(sizes, Order::Column, values)?);
        }
    }
    Ok(bundle)
}

fn optimizer() -> Bundle {
    let pair = |name: &str, value| (Value::from(name), value);
    let floats = [
        ("Optimizer.lr_scale", 1.0),
        ("Optimizer.l2_strength", 0.0),
        ("Optimizer.clip_threshold", 5.0),
        ("Adam.alpha", 0.001),
        ("Adam.beta1", 0.9),
        ("Adam.beta2", 0.999),
        ("Adam.eps", 1e-8),
    ];
    let floats = floats.map(|(name, number)| pair(name, Value::f32(number)));
    let uints = vec![pair("Optimizer.epoch", Value::Int(12))];
    let mut bundle = Bundle::new();
    bundle.meta.set("primitiv:uint_configs", Value::Map(uints));
    bundle
        .meta
        .set("primitiv:float_configs", Value::Map(floats.to_vec()));
    bundle
}

/// The weights before and after a step: some moved slightly, one became NaN.
fn weights(is_next: bool) -> Result<Bundle> {
    let (mut noise, mut step) = (Noise(1), Noise(2));
    let mut bundle = Bundle::new();
    for (layer, name, sizes) in LAYERS {
        let mut values = noise.many(sizes.iter().product(), 0.5);
        if is_next && layer == "decoder" {
            values
                .iter_mut()
                .for_each(|value| *value += step.next() * 0.001);
        }
        if let Some(last) = values.last_mut().filter(|_| is_next && name == "bias") {
            *last = if layer == "decoder" { f32::NAN } else { *last };
        }
        let key = Key::flat(format!("{layer}.{name}"));
        bundle.push(key, dense(sizes, Order::Row, &values)?);
    }
    Ok(bundle)
}

/// Embeddings in blocks of 32 8-bit numbers with a 16-bit scale, and a norm.
fn words() -> Result<Bundle> {
    const WORDS: u64 = 4;
    const BLOCK: u64 = 32;
    let mut noise = Noise(3);
    let mut blocks = Vec::new();
    for _ in 0..WORDS {
        // 2^-7 in half precision.
        blocks.extend(0x2000_u16.to_le_bytes());
        for number in noise.many(BLOCK, 127.0) {
            let near = (-127..=127_i8).find(|near| f32::from(*near) >= number);
            blocks.extend(near.unwrap_or(127).to_le_bytes());
        }
    }
    let storage = Storage::Opaque {
        layout: "Q8_0".into(),
        parts: vec![("data".into(), Numbers::from_vec(&blocks))],
    };
    let dims = vec![Dim::indexed(WORDS), Dim::indexed(BLOCK)];
    let quantized = Tensor::new(dims, u8::DTYPE, vec![], storage)?;
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("token_embd.weight"), quantized);
    let norm = dense(&[BLOCK], Order::Row, &noise.many(BLOCK, 0.5))?;
    bundle.push(Key::flat("output_norm.weight"), norm);
    bundle.meta.set("general.architecture", "llama");
    bundle.meta.set("general.name", "four words");
    Ok(bundle)
}

/// The overlap of the orbitals along the chain of [`integrals`].
fn overlap() -> Result<Tensor> {
    let orbitals = || (0..6_u8).map(f64::from);
    let cells = orbitals().flat_map(|a| orbitals().map(move |b| (-0.4 * (a - b) * (a - b)).exp()));
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&cells.collect::<Vec<f64>>()),
    };
    let dims = vec![Dim::indexed(6).named("State"); 2];
    Tensor::new(dims, f64::DTYPE, vec![], storage)
}

/// exp(i (x - y)), whose real and imaginary parts are a symmetric and an antisymmetric matrix.
fn phases() -> Result<Tensor> {
    let lines = points().flat_map(|x| points().map(move |y| x - y));
    let cells: Vec<f64> = lines.flat_map(|line| [line.cos(), line.sin()]).collect();
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&cells),
    };
    let dims = vec![Dim::indexed(POINTS.into()); 2];
    Tensor::new(dims, "c128".parse()?, vec![], storage)
}

fn arrays() -> Result<Bundle> {
    let matrix = points().flat_map(|x| points().map(move |y| (x + y).sin()));
    let vector = |values: Vec<f64>, sizes: &[u32]| {
        let dims = sizes.iter().map(|size| Dim::indexed((*size).into()));
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(&values),
        };
        Tensor::new(dims.collect(), f64::DTYPE, vec![], storage)
    };
    let mut bundle = Bundle::new();
    let slice = vector(matrix.collect(), &[POINTS, POINTS])?;
    bundle.push(Key::flat("slice"), slice);
    bundle.push(Key::flat("points"), vector(points().collect(), &[POINTS])?);
    Ok(bundle)
}

fn catalogue() -> Result<Tensor> {
    const WIDTH: usize = 12;
    let mut records = RecordsBuilder::new(2, WIDTH);
    for (brand, kind, features) in [
        ("Acme", "anvil", [9.5_f32, 0.1, 3.0]),
        ("Acme", "rocket skates", [0.7, 8.25, 1.5]),
        ("Globex", "anvil", [8.75, 0.2, 2.5]),
        ("Globex", "umbrella", [0.4, 0.9, 7.0]),
        ("Müller & Söhne", "umbrella", [0.5, 1.1, 9.0]),
    ] {
        let cells: Vec<u8> = features
            .iter()
            .flat_map(|cell| cell.to_be_bytes())
            .collect();
        records.push(&[brand, kind], &cells)?;
    }
    let values = Numbers {
        number: Number::F32,
        endian: Endian::Big,
        bytes: records.finish()?,
    };
    let dims = vec![
        Dim::mapped("brand"),
        Dim::mapped("kind"),
        Dim::indexed(3).named("feature"),
    ];
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Labels,
        values,
    };
    Tensor::new(dims, f32::DTYPE, vec![], storage)
}

/// Points of the wave along each axis.
const POINTS: u32 = 24;

fn points() -> impl Iterator<Item = f64> {
    (0..POINTS).map(|place| f64::from(place) / 4.0)
}

fn cube() -> Vec<Dim> {
    vec![Dim::indexed(POINTS.into()); 3]
}

/// sin(x + y + z)
fn field() -> Result<Tensor> {
    let lines = points().flat_map(|x| points().map(move |y| x + y));
    let cells = lines.flat_map(|line| points().map(move |z| (line + z).sin()));
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&cells.collect::<Vec<f64>>()),
    };
    Tensor::new(cube(), f64::DTYPE, vec![], storage)
}

/// The same by the addition theorem for the sine, once for each plus: a train of rank 2.
fn train() -> Result<Tensor> {
    let sines = || points().map(f64::sin);
    let cosines = || points().map(f64::cos);
    let pairs = |left: Vec<f64>, right: Vec<f64>| -> Vec<f64> {
        let pairs = left.into_iter().zip(right);
        pairs.flat_map(|(a, b)| [a, b]).collect()
    };
    let first = pairs(sines().collect(), cosines().collect());
    let minus = sines().map(|sine| -sine);
    let upper = pairs(cosines().collect(), minus.collect());
    let lower = pairs(sines().collect(), cosines().collect());
    let second: Vec<f64> = upper.into_iter().chain(lower).collect();
    let third: Vec<f64> = cosines().chain(sines()).collect();
    let cores = [first, second, third].map(|core| Numbers::from_vec(&core));
    let storage = Storage::Train {
        ranks: vec![1, 2, 2, 1],
        cores: cores.to_vec(),
    };
    Tensor::new(cube(), f64::DTYPE, vec![], storage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_train_is_the_field() {
        let (field, train) = (field().unwrap(), train().unwrap());
        let limits = Limits::default();
        for index in [[0, 0, 0], [1, 2, 3], [23, 23, 23], [7, 0, 19]] {
            let left: f64 = field.cell(&index, &limits).unwrap();
            let right: f64 = train.cell(&index, &limits).unwrap();
            assert!((left - right).abs() < 1e-14, "{left} {right}");
        }
    }

    #[test]
    fn an_integral_stands_for_eight() {
        let tensor = integrals().unwrap();
        let limits = Limits::default();
        let cell = |index: [u64; 4]| tensor.cell::<f64>(&index, &limits).unwrap();
        let value = cell([0, 1, 2, 3]);
        assert!(value > 0.0);
        for index in [
            [1, 0, 2, 3],
            [0, 1, 3, 2],
            [1, 0, 3, 2],
            [2, 3, 0, 1],
            [3, 2, 0, 1],
            [2, 3, 1, 0],
            [3, 2, 1, 0],
        ] {
            assert_eq!(cell(index).to_bits(), value.to_bits());
        }
    }
}
