//! What a tensor is, cell by cell, so that a conversion is held to what it reports.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

use std::collections::BTreeMap;
use std::path::Path;

use tenfold::ops::{Input, OpenOptions};
use tenfold::{
    Arity, Aspect, Bundle, Cell, DType, Dim, Endian, Limits, Number, ReadOptions, Storage, Tensor,
};

/// A tensor without the way in which it is stored, and that way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Facts {
    name: String,
    dtype: DType,
    /// Labels count as positions, in the order in which they first appear.
    sizes: Vec<u64>,
    n_mapped: usize,
    dim_names: Vec<Option<String>>,
    storage: &'static str,
    symmetries: usize,
    is_packed: bool,
    meta: BTreeMap<String, String>,
    /// All numbers of all cells, row-major.
    numbers: Vec<f64>,
}

impl Facts {
    /// Of the only tensor of a file or a folder, or the only one that is not zero throughout; `None` if its values
    /// are not understood.
    pub(crate) fn read(path: &Path) -> Option<Facts> {
        let input = Input::find(path, &OpenOptions::default()).unwrap();
        let opened = input.read(&ReadOptions::default()).unwrap();
        Facts::of_bundle(&opened.bundle)
    }

    fn of_bundle(bundle: &Bundle) -> Option<Facts> {
        let entries = bundle.entries().iter();
        let all = entries.map(|(key, tensor)| Facts::of(&key.to_string(), tensor));
        let mut all: Vec<Facts> = all.collect::<Option<_>>()?;
        if all.len() > 1 {
            all.retain(|facts| facts.numbers.iter().any(|number| *number != 0.0));
        }
        all.pop().filter(|_| all.is_empty())
    }

    pub(crate) fn of(name: &str, tensor: &Tensor) -> Option<Facts> {
        if matches!(tensor.storage(), Storage::Opaque { .. }) {
            return None;
        }
        let (sizes, bytes) = if tensor.n_mapped() > 0 {
            labelled(tensor)
        } else {
            (tensor.sizes().unwrap(), dense(tensor))
        };
        let number = tensor.dtype().number;
        let numbers = bytes.chunks(number.width());
        let dims = tensor.dims().iter();
        let meta = tensor.meta.iter();
        Some(Facts {
            name: name.into(),
            dtype: tensor.dtype(),
            sizes,
            n_mapped: tensor.n_mapped(),
            dim_names: dims.map(|dim| dim.name.clone()).collect(),
            storage: tensor.storage().as_str(),
            symmetries: tensor.symmetries().len(),
            is_packed: tensor.is_packed(),
            meta: meta
                .map(|(name, value)| (name.into(), format!("{value:?}")))
                .collect(),
            numbers: numbers.map(|bytes| number.to_f64(bytes)).collect(),
        })
    }

    /// The differences to what a conversion made of it that neither a flag asked for nor the report names.
    pub(crate) fn unreported(&self, after: &Facts, flags: &[String], report: &str) -> Vec<String> {
        let is_said = |aspect: &Aspect| report.contains(&format!(": {}: ", aspect.as_str()));
        let is_asked = |flag: &&str| {
            let names = flags.iter().map(|given| given.split('=').next().unwrap());
            names.into_iter().any(|given| given == *flag)
        };
        let mut found = Vec::new();
        let mut check = |what: &str, differs: bool, aspects: &[Aspect], asking: &[&str]| {
            if differs && !aspects.iter().any(is_said) && !asking.iter().any(is_asked) {
                found.push(what.to_owned());
            }
        };
        // A name is given to what has none by its file, and lies beside what has no place for it.
        let has_other_name = !self.name.is_empty() && self.name != after.name;
        check(
            "the name",
            has_other_name,
            &[Aspect::Keys, Aspect::State],
            &["--sep"],
        );
        check(
            "the type",
            self.dtype != after.dtype,
            &[Aspect::Number, Aspect::Precision],
            &["--cast", "--part", "--complex", "--eps"],
        );
        check(
            "the shape",
            self.sizes != after.sizes,
            &[Aspect::Shape],
            &["--reshape", "--complex", "--permute"],
        );
        check(
            "labels",
            self.n_mapped != after.n_mapped,
            &[Aspect::Labels],
            &[],
        );
        let is_called = |dims: &[Option<String>]| dims.iter().any(Option::is_some);
        let has_other_names = self.dim_names != after.dim_names
            && (is_called(&self.dim_names) || is_called(&after.dim_names));
        check(
            "names of dimensions",
            has_other_names,
            &[
                Aspect::DimNames,
                Aspect::DimOrder,
                Aspect::Invented,
                Aspect::Labels,
            ],
            &["--dims", "--reshape"],
        );
        let changes_to = |kind| (self.storage == kind) != (after.storage == kind);
        let asking = ["--dense", "--sparse", "--eps"];
        check("a train", changes_to("train"), &[Aspect::Train], &asking);
        check(
            "explicit cells",
            changes_to("sparse") && self.n_mapped + after.n_mapped == 0,
            &[Aspect::Sparsity],
            &["--dense", "--sparse", "--eps"],
        );
        check(
            "symmetries",
            (self.symmetries, self.is_packed) != (after.symmetries, after.is_packed),
            &[Aspect::Symmetry],
            &["--pack", "--unpack", "--reshape", "--part", "--complex"],
        );
        check(
            "metadata",
            self.meta != after.meta,
            &[Aspect::Metadata],
            &["--no-carry"],
        );
        // The mean of mirror images is as good as their values, where it is reported.
        let is_of_mean =
            is_asked(&"--symmetrize") && report.contains("symmetrize: values change by ");
        if is_of_mean || is_asked(&"--pack") && report.contains(" values change, by ") {
            return found;
        }
        let wanted = self.wanted(flags);
        let tolerance = if is_asked(&"--eps") {
            1e-6 * wanted
                .iter()
                .map(|number| number * number)
                .sum::<f64>()
                .sqrt()
        } else {
            0.0
        };
        let is_near = |(wanted, found): (&f64, &f64)| (wanted - found).abs() <= tolerance;
        if wanted.len() != after.numbers.len() || !wanted.iter().zip(&after.numbers).all(is_near) {
            found.push(format!("values: {wanted:?} became {:?}", after.numbers));
        }
        found
    }

    /// The numbers that the flags ask for.
    fn wanted(&self, flags: &[String]) -> Vec<f64> {
        let value = |flag: &str| {
            let place = flags.iter().position(|given| given == flag)?;
            flags.get(place + 1).map(String::as_str)
        };
        let mut numbers = self.numbers.clone();
        let count = self.dtype.arity.count();
        if let Some(part) = value("--part") {
            let cells = numbers.chunks(count).map(|cell| match part {
                "re" => cell[0],
                "im" => cell[1],
                _ => cell.iter().map(|one| one * one).sum::<f64>().sqrt(),
            });
            numbers = cells.collect();
        }
        if value("--cast") == Some("bool") {
            numbers
                .iter_mut()
                .for_each(|number| *number = number.min(1.0));
        }
        numbers
    }
}

/// All cells of a tensor, row-major, little-endian.
fn dense(tensor: &Tensor) -> Vec<u8> {
    let mut all = Vec::new();
    let mut each = |piece: &[u8]| {
        all.extend_from_slice(piece);
        Ok(())
    };
    tensor
        .for_each(1000, &Limits::default(), &mut each)
        .unwrap();
    all
}

/// The same of a tensor whose first dimensions have labels, with the number of labels for their sizes.
fn labelled(tensor: &Tensor) -> (Vec<u64>, Vec<u8>) {
    let mut blocks: BTreeMap<Vec<String>, Vec<u8>> = BTreeMap::new();
    let n_mapped = tensor.n_mapped();
    let mut known: Vec<Vec<String>> = vec![Vec::new(); n_mapped];
    let mut each = |cell: Cell| {
        if let Cell::Labelled { labels, values } = cell {
            let mut bytes = values.bytes.to_vec()?;
            if values.endian == Endian::Big {
                bytes
                    .chunks_mut(values.number.width())
                    .for_each(<[u8]>::reverse);
            }
            for (known, label) in known.iter_mut().zip(labels) {
                if !known.contains(label) {
                    known.push(label.clone());
                }
            }
            blocks.insert(labels.to_vec(), bytes);
        }
        Ok(())
    };
    tensor.for_each_cell(&Limits::default(), &mut each).unwrap();
    let (mapped, indexed) = tensor.dims().split_at(n_mapped);
    assert!(mapped.iter().all(|dim| dim.indexed_size().is_none()));
    let mut places: Vec<Vec<String>> = vec![Vec::new()];
    for known in &known {
        let longer = places.iter().flat_map(|place| {
            { known.iter() }.map(|label| [place.as_slice(), std::slice::from_ref(label)].concat())
        });
        places = longer.collect();
    }
    let sizes = indexed.iter().filter_map(Dim::indexed_size);
    let sizes: Vec<u64> = {
        known
            .iter()
            .map(|known| u64::try_from(known.len()).unwrap())
    }
    .chain(sizes)
    .collect();
    let cells: u64 = sizes[n_mapped..].iter().product();
    let absent = vec![0; usize::try_from(cells).unwrap() * tensor.dtype().width()];
    let bytes = places
        .iter()
        .map(|place| blocks.get(place).unwrap_or(&absent).clone());
    (sizes, bytes.flatten().collect())
}

/// A small whole number, little-endian.
pub(crate) fn encoded(number: Number, value: u8) -> Vec<u8> {
    let single = f32::from(value).to_bits();
    // The exponent and the digits behind the first one.
    let exponent = u32::from(value).checked_ilog2();
    let digits = |width: u32| {
        exponent.map_or(0, |exponent| {
            (u128::from(value) << (width - exponent)) & ((1 << width) - 1)
        })
    };
    let float = |bias: u32, width: u32| {
        let exponent = exponent.map_or(0, |exponent| u128::from(exponent + bias));
        exponent << width | digits(width)
    };
    let mut bytes = match number {
        Number::Bool => vec![value.min(1)],
        Number::F16 => float(15, 10).to_le_bytes()[..2].to_vec(),
        Number::Bf16 => single.to_le_bytes()[2..].to_vec(),
        Number::F32 => single.to_le_bytes().to_vec(),
        Number::F64 => f64::from(value).to_le_bytes().to_vec(),
        Number::F128 => float(16383, 112).to_le_bytes().to_vec(),
        _ => vec![value],
    };
    bytes.resize(number.width(), 0);
    bytes
}

#[test]
fn facts_tell_tensors_apart() {
    use tenfold::{Numbers, Order};

    let tensor = |order, values: &[f32]| {
        let values = Numbers::from_vec(values);
        let dims = vec![Dim::indexed(2), Dim::indexed(2)];
        let storage = Storage::Dense { order, values };
        let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
        Facts::of("w", &tensor).unwrap()
    };
    let before = tensor(Order::Row, &[1.0, 0.0, 3.0, 2.0]);
    let alike = tensor(Order::Column, &[1.0, 3.0, 0.0, 2.0]);
    assert_eq!(before, alike);
    assert!(before.unreported(&alike, &[], "").is_empty());
    let turned = tensor(Order::Column, &[1.0, 0.0, 3.0, 2.0]);
    let found = before.unreported(&turned, &["--reshape".into()], ": precision: ");
    assert_eq!(found.len(), 1, "{found:?}");
    let bare = Facts {
        dim_names: vec![],
        name: "v".into(),
        dtype: DType {
            number: Number::F64,
            arity: Arity::Real,
        },
        symmetries: 1,
        n_mapped: 1,
        sizes: vec![4],
        ..before.clone()
    };
    let found = before.unreported(&bare, &[], "");
    let all = ["the name", "the type", "the shape", "labels", "symmetries"];
    assert_eq!(found, all);
    let sparse = Facts {
        storage: "sparse",
        ..before.clone()
    };
    assert_eq!(before.unreported(&sparse, &[], ""), ["explicit cells"]);
    let report = ": keys: , : number: , : shape: , : labels: , : symmetry: ";
    assert!(before.unreported(&bare, &[], report).is_empty());
    for (number, wanted) in [
        (Number::F16, 10),
        (Number::Bf16, 3),
        (Number::F128, 14),
        (Number::I64, 7),
        (Number::F16, 0),
    ] {
        let bytes = encoded(number, wanted);
        assert_eq!(number.to_f64(&bytes), f64::from(wanted), "{number:?}");
    }
}
