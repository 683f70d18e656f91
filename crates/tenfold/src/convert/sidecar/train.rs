//! A tensor train split into its cores, for targets without trains that carry text.
//!
//! Every core is written as a dense tensor (rank, size, next rank), with the name of the train
//! followed by `.core.0`, `.core.1`, … By the carried text of the first they are joined to a train
//! again. In a target without complex numbers, the components are a last dimension.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{HashMap, HashSet};

use serde_json::{Value as Json, json};

use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, to_u64};
use crate::convert::fit::has_place;
use crate::convert::fit_names::KeyNames;
use crate::dtype::{Arity, DType, Numbers};
use crate::error::{Error, Result};
use crate::format::{Format, Names, StorageKind};
use crate::key::Key;
use crate::limits::Limits;
use crate::loss::Aspect;
use crate::meta::Meta;
use crate::tensor::{Dim, Order, Storage, Tensor};

/// The name of its field in the text.
pub(crate) const FIELD: &str = "train";

/// Whether a tensor is a train that the target could hold as cores.
pub(crate) fn can_be_parted(tensor: &Tensor, format: &dyn Format) -> bool {
    let Storage::Train { ranks, cores } = tensor.storage() else {
        return false;
    };
    let (dtype, holds) = (tensor.dtype(), &format.info().holds);
    let fits = |size: &u64| (holds.size.0..=holds.size.1).contains(size);
    let ndim = core_dims([1; 3], dtype, format).len();
    !cores.is_empty()
        && !holds.kinds.contains(&StorageKind::Train)
        && holds.kinds.contains(&StorageKind::Dense)
        && holds.names == Names::Flat
        && holds.orders.contains(&Order::Row)
        && holds.numbers.contains(&dtype.number)
        && holds.arities.contains(&core_dtype(dtype, format).arity)
        && (holds.ndim.0..=holds.ndim.1).contains(&to_u64(ndim))
        && ranks.iter().chain(&tensor.indexed_sizes()).all(fits)
        && !tensor.is_packed()
}

/// The description of a train in the text of its first core.
pub(crate) fn train_json(tensor: &Tensor, suffix: &str) -> Json {
    json!({
        "cores": tensor.dims().len(),
        "suffix": suffix,
        "dtype": tensor.dtype().to_string(),
    })
}

/// The element type of cores in the target.
fn core_dtype(dtype: DType, format: &dyn Format) -> DType {
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers {
            number: dtype.number,
            endian: Endian::Little,
            bytes: Bytes::memory(vec![0; dtype.width()]),
        },
    };
    // A format need not have every number type in every arity.
    let has_place =
        |scalar| has_place(format, &Bundle::of(scalar), &[Aspect::Number]).is_ok_and(|has| has);
    let is_held = format.info().holds.arities.contains(&dtype.arity)
        && Tensor::new(vec![], dtype, vec![], storage).is_ok_and(has_place);
    if is_held {
        dtype
    } else {
        DType::real(dtype.number)
    }
}

/// The dimensions of a core in the target.
fn core_dims(sizes: [u64; 3], dtype: DType, format: &dyn Format) -> Vec<Dim> {
    let parts = if core_dtype(dtype, format) == dtype {
        None
    } else {
        Some(to_u64(dtype.arity.count()))
    };
    sizes.into_iter().chain(parts).map(Dim::indexed).collect()
}

/// The cores of a train, as the target holds them; the first has its metadata.
pub(crate) fn parted(tensor: &Tensor, format: &dyn Format, limits: &Limits) -> Result<Vec<Tensor>> {
    let Storage::Train { ranks, cores } = tensor.storage() else {
        return Err(Error::invalid("only a train has cores"));
    };
    let sizes = tensor.sizes()?;
    let links = ranks.iter().zip(ranks.iter().skip(1));
    let mut parts = Vec::with_capacity(cores.len());
    for ((values, size), (rank, next)) in cores.iter().zip(sizes).zip(links) {
        let storage = Storage::Dense {
            order: Order::Row,
            values: values.clone(),
        };
        let dims = core_dims([*rank, size, *next], tensor.dtype(), format);
        let dtype = core_dtype(tensor.dtype(), format);
        let mut part = Tensor::within(dims, dtype, vec![], storage, limits)?;
        part.hints.clone_from(&tensor.hints);
        parts.push(part);
    }
    if let Some(first) = parts.first_mut() {
        *first = first.clone().with_meta_of(tensor);
    }
    Ok(parts)
}

/// The names of the cores of trains in the target.
pub(crate) struct CoreNames {
    taken: HashSet<String>,
    /// The suffix for each train, by its name.
    suffixes: HashMap<String, String>,
}

impl CoreNames {
    pub(crate) fn of(bundle: &Bundle, names: &KeyNames) -> CoreNames {
        let is_train = |tensor: &Tensor| matches!(tensor.storage(), Storage::Train { .. });
        let mut taken = HashSet::new();
        if bundle.entries().iter().any(|(_, tensor)| is_train(tensor)) {
            let all = bundle.entries().iter();
            let all = all.map(|(key, tensor)| names.name(key, tensor));
            taken.extend(all.filter_map(|name| name.flat_name().map(str::to_owned)));
        }
        CoreNames {
            taken,
            suffixes: HashMap::new(),
        }
    }

    /// The text between the name of a train and the numbers of its cores: `.core.`, unless that
    /// would collide. Trains of the same name keep the same name.
    pub(crate) fn suffix(&mut self, name: &Key, tensor: &Tensor) -> String {
        let stem = name.flat_name().unwrap_or_default();
        if let Some(known) = self.suffixes.get(stem) {
            return known.clone();
        }
        let count = tensor.dims().len();
        let mut suffix = ".core.".to_owned();
        // At most as many tries as there are names, each of which can collide once.
        for number in 2..=self.taken.len().saturating_add(2) {
            let mut all = (0..count).map(|core| format!("{stem}{suffix}{core}"));
            if !all.any(|name| self.taken.contains(&name)) {
                break;
            }
            suffix = format!(".core-{number}.");
        }
        let all = (0..count).map(|core| format!("{stem}{suffix}{core}"));
        self.taken.extend(all);
        self.suffixes.insert(stem.to_owned(), suffix.clone());
        suffix
    }
}

/// The name of a core.
pub(crate) fn core_name(name: &Key, suffix: &str, core: usize) -> Key {
    let stem = name.flat_name().unwrap_or_default();
    Key::flat(format!("{stem}{suffix}{core}"))
}

/// A train joined from its cores.
pub(crate) struct Joined {
    /// Its name.
    pub(crate) name: Key,
    pub(crate) tensor: Tensor,
    /// The indices of its cores among the entries, after the first.
    pub(crate) others: Vec<usize>,
}

/// The tensors of a file, among which the cores of trains are looked up.
pub(crate) struct Cores<'a> {
    entries: &'a [(Key, Tensor)],
    /// The index of each name; `None` if it is duplicate.
    places: HashMap<&'a str, Option<usize>>,
}

impl<'a> Cores<'a> {
    pub(crate) fn of(bundle: &'a Bundle) -> Cores<'a> {
        let entries = bundle.entries();
        let mut places = HashMap::new();
        for (place, (key, _)) in entries.iter().enumerate() {
            if let Some(name) = key.flat_name() {
                places
                    .entry(name)
                    .and_modify(|place| *place = None)
                    .or_insert(Some(place));
            }
        }
        Cores { entries, places }
    }

    /// The train whose first core is `first`, named `name`, if all others exist, fit each other and
    /// carry nothing else; `says_more` tells whether something else is carried for a name.
    pub(crate) fn join(
        &self,
        name: &Key,
        first: &Tensor,
        train: &Json,
        says_more: &dyn Fn(&str) -> bool,
        limits: &Limits,
    ) -> Result<Joined> {
        let (count, suffix, dtype) = announced(train)?;
        let stem = name
            .flat_name()
            .filter(|name| self.places.get(name).is_some_and(Option::is_some))
            .and_then(|name| name.strip_suffix(&format!("{suffix}0")))
            .ok_or_else(|| Error::invalid("its name is not that of one first core"))?;
        limits.check_ndim(count)?;
        let (mut others, mut joint) = (Vec::new(), Joint::of(dtype));
        joint.push(first)?;
        let mut hints = first.hints.clone();
        for number in 1..count {
            let name = format!("{stem}{suffix}{number}");
            let place = match self.places.get(name.as_str()) {
                Some(Some(place)) => *place,
                Some(None) => return Err(unfit(number, "is there twice")),
                None => return Err(unfit(number, "is missing")),
            };
            let Some((_, core)) = self.entries.get(place) else {
                return Err(unfit(number, "is missing"));
            };
            if !core.meta.is_empty() || says_more(&name) {
                return Err(unfit(number, "has metadata of its own"));
            }
            joint.push(core)?;
            hints = shared(&hints, &core.hints);
            others.push(place);
        }
        let mut tensor = joint.finish(limits)?;
        (tensor.meta, tensor.hints) = (first.meta.clone(), hints);
        Ok(Joined {
            name: Key::flat(stem),
            tensor,
            others,
        })
    }
}

fn unfit(core: u64, why: &str) -> Error {
    Error::invalid(format!("core {core} of its train {why}"))
}

/// The number of cores of a train, the suffix of their names before the number, and its element
/// type.
fn announced(train: &Json) -> Result<(u64, &str, DType)> {
    let count = train.get("cores").and_then(Json::as_u64);
    let suffix = train.get("suffix").and_then(Json::as_str);
    let dtype = train.get("dtype").and_then(Json::as_str);
    let dtype = dtype.and_then(|dtype| dtype.parse().ok());
    // After a digit, the number of one core could be part of another's.
    let is_apart = |suffix: &&str| suffix.ends_with(|last: char| !last.is_ascii_digit());
    match (count, suffix.filter(is_apart), dtype) {
        (Some(count), Some(suffix), Some(dtype)) if count > 0 => Ok((count, suffix, dtype)),
        _ => Err(Error::invalid("its train cannot be read")),
    }
}

/// The hints on which all cores agree: only these apply to the train.
fn shared(first: &Meta, second: &Meta) -> Meta {
    let both = first.iter();
    both.filter(|(name, value)| second.get(name) == Some(value))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

/// Consecutive cores.
struct Joint {
    dtype: DType,
    sizes: Vec<u64>,
    ranks: Vec<u64>,
    cores: Vec<Numbers>,
}

impl Joint {
    fn of(dtype: DType) -> Joint {
        Joint {
            dtype,
            sizes: Vec::new(),
            ranks: vec![1],
            cores: Vec::new(),
        }
    }

    /// Adds a core, if it fits the last one.
    fn push(&mut self, core: &Tensor) -> Result<()> {
        let number = to_u64(self.cores.len());
        let parts = to_u64(self.dtype.arity.count());
        let own = core.dtype();
        let is_plain = core.symmetries().is_empty() && core.dims().iter().all(|d| d.name.is_none());
        let Storage::Dense {
            order: Order::Row,
            values,
        } = core.storage()
        else {
            return Err(unfit(number, "is not dense"));
        };
        let (rank, size, next) = match core.indexed_sizes().as_slice() {
            [rank, size, next] if own == self.dtype && is_plain => (*rank, *size, *next),
            // The components of a number side by side.
            [rank, size, next, last]
                if *last == parts
                    && self.dtype.arity != Arity::Real
                    && own == DType::real(self.dtype.number)
                    && is_plain =>
            {
                (*rank, *size, *next)
            }
            _ => return Err(unfit(number, "has another shape or other elements")),
        };
        if self.ranks.last() != Some(&rank) {
            return Err(unfit(number, "does not fit the one before it"));
        }
        if next == 0 {
            return Err(unfit(number, "has a rank of 0"));
        }
        self.sizes.push(size);
        self.ranks.push(next);
        self.cores.push(values.clone());
        Ok(())
    }

    fn finish(self, limits: &Limits) -> Result<Tensor> {
        let dims = self.sizes.into_iter().map(Dim::indexed).collect();
        let (ranks, cores) = (self.ranks, self.cores);
        let storage = Storage::Train { ranks, cores };
        Tensor::within(dims, self.dtype, vec![], storage, limits)
    }
}
