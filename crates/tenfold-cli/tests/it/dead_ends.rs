//! Every storage kind and element type into every format: a conversion changes nothing in silence, and the flags that
//! a refusal names lift it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tenfold::{
    Address, Arity, Bundle, Bytes, DType, Dim, Endian, Format, Key, Names, Number, Numbers, Order,
    RecordsBuilder, Storage, Symmetry, Tensor, WriteOptions,
};

use crate::facts::{Facts, encoded};
use crate::support::{Ran, corpus, tenfold, train};

/// A file to convert, with the flags that it takes to read it.
struct Input {
    name: String,
    words: Vec<String>,
    /// What its only tensor is, if its values are understood.
    facts: Option<Facts>,
}

/// Rows and columns.
const SIZE: u64 = 2;
/// A matrix that is not its own transpose, row by row.
const MATRIX: [u8; 4] = [1, 0, 3, 2];

/// How cells are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Dense,
    Packed,
    Linear,
    Coordinates,
    Rows,
    PackedSparse,
    Labelled,
    Train,
}

impl Kind {
    const ALL: [Kind; 8] = [
        Kind::Dense,
        Kind::Packed,
        Kind::Linear,
        Kind::Coordinates,
        Kind::Rows,
        Kind::PackedSparse,
        Kind::Labelled,
        Kind::Train,
    ];

    /// Whether that is how a file has its only tensor.
    fn is_of(self, path: &Path) -> bool {
        let opened = tenfold::open(path).unwrap();
        let tensor = opened.bundle.only().unwrap();
        let found = match tensor.storage() {
            Storage::Dense { .. } => Kind::Dense,
            Storage::Train { .. } => Kind::Train,
            Storage::Sparse { address, .. } => match address {
                Address::Linear(_) => Kind::Linear,
                Address::Coordinates(_) => Kind::Coordinates,
                Address::Rows { .. } => Kind::Rows,
                Address::Labels => Kind::Labelled,
            },
            Storage::Opaque { .. } => return false,
        };
        match (found, tensor.is_packed()) {
            (Kind::Dense, true) => self == Kind::Packed,
            (_, true) => self == Kind::PackedSparse,
            (found, false) => self == found,
        }
    }
}

fn dtypes() -> impl Iterator<Item = DType> {
    let of = |arity: &'static Arity| {
        let numbers = Number::ALL.iter();
        numbers.map(|number| DType {
            number: *number,
            arity: *arity,
        })
    };
    let all = Arity::ALL.iter().flat_map(of);
    all.filter(|dtype| dtype.arity == Arity::Real || dtype.number != Number::Bool)
}

/// Small whole numbers as elements, whose other components are their multiples.
fn values(dtype: DType, values: &[u8]) -> Numbers {
    let number = dtype.number;
    let components = 1..=u8::try_from(dtype.arity.count()).unwrap();
    let of_cell = |value: &u8| {
        components
            .clone()
            .map(|times| times * *value)
            .collect::<Vec<u8>>()
    };
    let numbers = values.iter().flat_map(of_cell);
    let bytes = numbers.flat_map(|value| encoded(number, value)).collect();
    Numbers {
        number,
        endian: Endian::Little,
        bytes: Bytes::memory(bytes),
    }
}

/// A tensor of this kind, where there is one: only columns are packed, and only doubles are a train's.
fn tensor(kind: Kind, dtype: DType, order: Order) -> Option<Tensor> {
    let exchange = Symmetry {
        permutation: vec![1, 0],
        operation: "x".into(),
        packed: true,
    };
    let places = |places: &[u64]| Numbers::from_vec(places);
    let cells: &[u8] = match (kind, order) {
        (Kind::Dense, Order::Row) => &MATRIX,
        (Kind::Dense, Order::Column) => &[1, 3, 0, 2],
        (Kind::Packed, _) => &[1, 0, 2],
        (Kind::PackedSparse | Kind::Train, _) => &[1, 2],
        _ => &[1, 3, 2],
    };
    let values = values(dtype, cells);
    let address = match kind {
        Kind::Dense | Kind::Packed | Kind::Train => None,
        Kind::PackedSparse => Some(Address::Linear(places(&[0, 3]))),
        Kind::Linear => Some(Address::Linear(match order {
            Order::Row => places(&[0, 2, 3]),
            Order::Column => places(&[0, 1, 3]),
        })),
        Kind::Coordinates => Some(Address::Coordinates(vec![
            places(&[0, 1, 1]),
            places(&[0, 0, 1]),
        ])),
        Kind::Rows => Some(Address::Rows {
            starts: places(&[0, 1, 3]),
            columns: places(&[0, 0, 1]),
        }),
        Kind::Labelled => Some(Address::Labels),
    };
    let storage = match address {
        Some(Address::Labels) => labelled(dtype),
        Some(address) => Storage::Sparse {
            order,
            address,
            values,
        },
        None if kind == Kind::Train => Storage::Train {
            ranks: vec![1, 1, 1],
            cores: vec![values.clone(), values],
        },
        None => Storage::Dense { order, values },
    };
    let symmetries = match kind {
        Kind::Packed | Kind::PackedSparse => vec![exchange],
        _ => vec![],
    };
    let mut dims = vec![Dim::indexed(SIZE); 2];
    if kind == Kind::Labelled {
        dims = vec![Dim::mapped("word"), Dim::indexed(SIZE).named("place")];
    }
    Tensor::new(dims, dtype, symmetries, storage).ok()
}

/// The rows of the matrix as blocks with labels.
fn labelled(dtype: DType) -> Storage {
    let mut records = RecordsBuilder::new(1, 2 * dtype.width());
    for (label, row) in ["one", "two"].iter().zip(MATRIX.chunks(2)) {
        let row = values(dtype, row).bytes.to_vec().unwrap();
        records.push(&[label], &row).unwrap();
    }
    Storage::Sparse {
        order: Order::Row,
        address: Address::Labels,
        values: Numbers {
            number: dtype.number,
            endian: Endian::Little,
            bytes: records.finish().unwrap(),
        },
    }
}

/// Saves a tensor in the first format that holds it as it is.
fn saved(folder: &TempDir, name: &str, kind: Kind, dtype: DType) -> Option<Input> {
    let formats = [
        ("tens", "1.0", Order::Column),
        ("ztensor", "2", Order::Row),
        ("ztensor", "1.2", Order::Row),
        ("vespa", "1", Order::Row),
        ("blz", "1", Order::Row),
    ];
    for (format, version, order) in formats {
        let format = tenfold::by_name(format).unwrap();
        let key = match format.info().holds.names {
            Names::One => Key::root(),
            Names::Flat | Names::Tree => Key::flat("w"),
        };
        let mut bundle = Bundle::new();
        bundle.push(key, tensor(kind, dtype, order)?);
        let how = WriteOptions {
            version: Some(version.into()),
            strict: true,
            skip_carry: true,
            ..WriteOptions::default()
        };
        let extension = format.info().extensions.first().unwrap();
        let path = folder.path().join(format!("{name}.{extension}"));
        if tenfold::save(&bundle, &path, format, &how, true).is_ok() && kind.is_of(&path) {
            return Some(Input {
                name: name.into(),
                words: vec![path.display().to_string()],
                facts: Facts::read(&path),
            });
        }
    }
    None
}

/// Dense values of types that no format with a header holds.
fn raw(folder: &TempDir, name: &str, dtype: DType) -> Input {
    let path = folder.path().join(format!("{name}.bytes"));
    fs::write(&path, values(dtype, &MATRIX).bytes.to_vec().unwrap()).unwrap();
    let how = format!("dtype={dtype},shape={SIZE}x{SIZE}");
    let tensor = tensor(Kind::Dense, dtype, Order::Row).unwrap();
    Input {
        name: name.into(),
        words: vec![path.display().to_string(), "--raw".into(), how],
        facts: Facts::of("", &tensor),
    }
}

fn inputs(folder: &TempDir) -> Vec<Input> {
    let mut all = Vec::new();
    let mut counts: HashMap<Kind, usize> = HashMap::new();
    for (place, dtype) in dtypes().enumerate() {
        for kind in Kind::ALL {
            let name = format!("{kind:?}-{place}-{}", dtype.number.as_str());
            let input = match saved(folder, &name, kind, dtype) {
                None if kind == Kind::Dense => raw(folder, &name, dtype),
                // No file has such a tensor.
                None => continue,
                Some(input) => input,
            };
            *counts.entry(kind).or_default() += 1;
            all.push(input);
        }
    }
    let count = |kind: Kind| counts.get(&kind).copied().unwrap_or_default();
    assert_eq!(Kind::ALL.map(count), [61, 52, 52, 15, 15, 52, 4, 2]);
    let train_of_doubles = folder.path().join("train.blz");
    fs::write(&train_of_doubles, train(&[1.0, 2.0], &[3.0, -4.0])).unwrap();
    let others = [
        "blz/good/matrix_complex.blz",
        "vespa/good/dense_2d.tbf",
        "vespa/good/label_like_number.tbf",
        "gguf/good/type_42.gguf",
        "gguf/good/type_q4_0.gguf",
        "safetensors/good/type_f8_e4m3.safetensors",
        "ztensor/good/layout_unknown.zt",
        "primitiv/good/parameter_adam.param",
    ];
    let others = others.map(|file| (file.to_owned(), corpus(file)));
    let train_of_doubles = ("train".to_owned(), train_of_doubles.display().to_string());
    for (name, path) in others.into_iter().chain([train_of_doubles]) {
        assert!(Path::new(&path).is_file(), "{path}");
        let facts = Facts::read(Path::new(&path));
        let words = vec![path];
        all.push(Input { name, words, facts });
    }
    all
}

/// Flags that lift a refusal, and how many values follow them. `--only` and `--rename` ask for names; a folder
/// for `--out-dir` is at hand.
const FLAGS: [(&str, usize); 22] = [
    ("--allow", 1),
    ("--alone", 0),
    ("--cast", 1),
    ("--complex", 1),
    ("--dense", 0),
    ("--dequantize", 0),
    ("--eps", 1),
    ("--lenient", 0),
    ("--no-carry", 0),
    ("--no-state", 0),
    ("--opt", 1),
    ("--out-dir", 0),
    ("--pack", 1),
    ("--part", 1),
    ("--permute", 1),
    ("--reshape", 1),
    ("--sep", 1),
    ("--sparse", 0),
    ("--symmetrize", 1),
    ("--symmetry-tol", 1),
    ("--to", 1),
    ("--unpack", 0),
];

/// Flags that may be given several times.
const REPEATED: [&str; 3] = ["--allow", "--opt", "--reshape"];

/// The flags that a refusal names, in its order, those that keep the format first.
fn ways(refusal: &str) -> Vec<Vec<String>> {
    let clean = |word: &str| {
        let word = word.trim_end_matches([',', ';', ')', '.', ':']);
        word.replace('\'', "").split('|').next().unwrap().to_owned()
    };
    let mut found: Vec<Vec<String>> = Vec::new();
    // The usage of a command that was put together wrongly.
    let lines = { refusal.lines() }.filter(|line| !line.starts_with("Usage:"));
    for line in lines {
        let words: Vec<String> = line.split_whitespace().map(clean).collect();
        for (place, word) in words.iter().enumerate() {
            let name = word.split('=').next().unwrap();
            let Some((_, count)) = FLAGS.iter().find(|(flag, _)| *flag == name) else {
                continue;
            };
            let way: Vec<String> = words[place..].iter().take(count + 1).cloned().collect();
            let has_values = way[1..].iter().all(|value| !value.starts_with("--"));
            if has_values && !found.contains(&way) {
                found.push(way);
            }
        }
    }
    found.sort_by_key(|way| way[0] == "--to");
    found
}

/// A conversion of one input into one version of a format.
struct Conversion<'a> {
    folder: &'a TempDir,
    input: &'a Input,
    format: &'static dyn Format,
    version: &'static str,
}

impl Conversion<'_> {
    fn output(&self) -> String {
        let extension = self.format.info().extensions.first().unwrap_or(&"bin");
        let path = self.folder.path().join(format!("out.{extension}"));
        path.display().to_string()
    }

    fn run(&self, flags: &[String]) -> Ran {
        let (path, reading) = self.input.words.split_first().unwrap();
        let has = |name: &str| flags.iter().any(|flag| flag == name);
        let mut words = vec!["convert".to_owned(), path.clone()];
        if !has("--out-dir") {
            words.push(self.output());
        }
        words.extend(["--force".into(), "--no-sync".into()]);
        words.extend(reading.iter().chain(flags).cloned());
        if !has("--to") {
            let to = format!("{}@{}", self.format.info().name, self.version);
            words.extend(["--to".into(), to]);
        }
        tenfold(words)
    }

    /// Tries the conversion with these flags, then with each flag that its refusal names, and theirs;
    /// gives what is wrong with what is written then, or all refusals where none leads anywhere.
    fn attempt(&self, flags: &[String], depth: usize) -> Result<Option<String>, Vec<String>> {
        const DEEPEST: usize = 6;
        let ran = self.run(flags);
        if ran.exit.code() == 0 {
            return Ok(self.fault(flags, &ran));
        }
        let mut refusals = vec![format!("{flags:?}\n{}", ran.errors)];
        if ran.errors.contains("convert with --cast f64 first") {
            return self.cast_first();
        }
        if depth == DEEPEST {
            return Err(refusals);
        }
        for mut way in ways(&ran.errors) {
            if flags.contains(&way[0]) && !REPEATED.contains(&way[0].as_str()) {
                continue;
            }
            if way[0] == "--out-dir" {
                way.push(self.folder.path().join("parts").display().to_string());
            }
            if flags.windows(way.len()).any(|own| own == way) {
                continue;
            }
            match self.attempt(&[flags, &way].concat(), depth + 1) {
                Ok(fault) => return Ok(fault),
                Err(others) => refusals.extend(others),
            }
        }
        Err(refusals)
    }

    /// The same of a file of doubles, where a refusal names that as the first of two conversions.
    fn cast_first(&self) -> Result<Option<String>, Vec<String>> {
        let first = self.folder.path().join("first.tens").display().to_string();
        let flags = ["--cast=f64", "--allow=precision", "--force", "--no-sync"];
        let ran = tenfold(
            ["convert", &self.input.words[0], &first]
                .into_iter()
                .chain(flags),
        );
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let input = Input {
            name: self.input.name.clone(),
            facts: Facts::read(Path::new(&first)),
            words: vec![first],
        };
        let conversion = Conversion {
            input: &input,
            ..*self
        };
        conversion.attempt(&[], 0)
    }

    /// What is wrong with the file that was written: it is not sound, or differs in what no flag asked for and the
    /// report does not name.
    fn fault(&self, flags: &[String], ran: &Ran) -> Option<String> {
        let name = &self.input.name;
        let output = if flags.iter().any(|flag| flag == "--out-dir") {
            self.folder.path().join("parts").display().to_string()
        } else {
            self.output()
        };
        let about = format!(
            "{name} as {}@{} with {flags:?}: {ran}",
            self.format.info().name,
            self.version
        );
        let check = tenfold(["verify", &output]);
        if check.exit.code() != 0 {
            return Some(format!("{about}\n{check}"));
        }
        let after = Facts::read(Path::new(&output));
        if let (Some(before), Some(after)) = (&self.input.facts, after) {
            let found = before.unreported(&after, flags, &ran.errors);
            if !found.is_empty() {
                return Some(format!("{about}\n{found:?}\n{before:?}\n{after:?}"));
            }
        }
        // `diff` pairs cells by position and tensors by name, and would read both files as raw.
        let renames = [": labels: ", ": keys: ", "the tensor is called"];
        let is_renamed = renames.iter().any(|name| ran.errors.contains(name));
        if let ([path], [], false) = (self.input.words.as_slice(), flags, is_renamed) {
            let same = tenfold(["diff", path, &output, "--quiet", "--ignore-dtype"]);
            if same.exit.code() != 0 {
                return Some(format!("{about}\n{same}"));
            }
        }
        None
    }
}

#[test]
fn every_refusal_is_lifted_by_the_flags_that_it_names_and_every_change_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs(&folder);
    let mut faults = Vec::new();
    for format in tenfold::formats::ALL.iter().copied() {
        for version in format.info().versions {
            for input in &inputs {
                let conversion = Conversion {
                    folder: &folder,
                    input,
                    format,
                    version,
                };
                let name = format.info().name;
                match conversion.attempt(&[], 0) {
                    Ok(fault) => faults.extend(fault),
                    Err(refusals) => faults.push(format!(
                        "{} as {name}@{version}:\n{}",
                        input.name,
                        refusals.join("\n")
                    )),
                }
            }
        }
    }
    let count = faults.len();
    assert!(faults.is_empty(), "{count}:\n{}", faults.join("\n\n"));
}
