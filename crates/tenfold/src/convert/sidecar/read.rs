//! Reads the sidecar: restores what a conversion carried as text.
//!
//! The text is as untrusted as the rest of a file. One that cannot be read, or does not fit its
//! tensor, stays a text, with a note; the file is read all the same.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json};

use super::train::Cores;
use super::value::meta_of;
use super::write::{MOST, NAME, NAMES_OF_FEED, VERSION, hint};
use super::{opaque, train};
use crate::bundle::Bundle;
use crate::bytes::to_u64;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::format::{Info, SidecarSlot};
use crate::key::Key;
use crate::limits::Limits;
use crate::meta::{Meta, Value};
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Storage, Symmetry, Tensor};

type Fields = Map<String, Json>;

/// The bundle with everything restored that its format carries.
pub(crate) fn restore(bundle: Bundle, info: &Info, limits: &Limits) -> Bundle {
    let mut bundle = match info.holds.carries {
        SidecarSlot::No => bundle,
        _ if !has_any(&bundle) => bundle,
        SidecarSlot::Tensor => from_tensors(&bundle, limits),
        SidecarSlot::File | SidecarSlot::Comment => from_file(bundle, limits),
    };
    for name in NAMES_OF_FEED {
        let text = bundle.meta.text(name).map(str::to_owned);
        if let Some(text) = text {
            bundle.meta.remove(name);
            bundle.hints.set(name, text.as_str());
            for (_, tensor) in bundle.entries_mut() {
                tensor.hints.set(name, text.as_str());
            }
        }
    }
    bundle
}

fn has_any(bundle: &Bundle) -> bool {
    let mut tensors = bundle.entries().iter();
    bundle.meta.get(NAME).is_some() || tensors.any(|(_, tensor)| tensor.meta.get(NAME).is_some())
}

/// Restores from a text per tensor.
fn from_tensors(bundle: &Bundle, limits: &Limits) -> Bundle {
    let cores = Cores::of(bundle);
    let made = bundle.entries().iter().map(|(key, tensor)| {
        let carried = tensor.meta.get(NAME)?;
        let made = parse(carried).and_then(|fields| {
            let meta = file_meta(&fields)?;
            let mut plain = tensor.clone();
            plain.meta = without(&tensor.meta);
            // The text of another core is metadata of its own, and nothing else needs a check.
            let made = Made::of(key, &plain, &fields, &cores, &|_| false, limits)?;
            Ok((made, meta))
        });
        Some(made)
    });
    let made: Vec<Option<Result<(Made, Meta)>>> = made.collect();
    let mut restored = Restored::new(bundle);
    for made in made.iter().flatten().flatten() {
        // It belongs to one tensor.
        if !made.1.is_empty() {
            let own = std::mem::take(&mut restored.bundle.meta);
            restored.bundle.meta = own.joined(made.1.clone());
        }
    }
    let made = made.into_iter();
    let made = made.map(|made| made.map(|made| made.map(|(made, _)| made)));
    restored.push_all(bundle, made.collect());
    restored.finish()
}

/// Restores from one text for the whole file.
fn from_file(mut bundle: Bundle, limits: &Limits) -> Bundle {
    let Some(carried) = bundle.meta.get(NAME) else {
        return bundle;
    };
    let read = parse(carried).and_then(|fields| Ok((file_meta(&fields)?, by_name(&fields)?)));
    let (meta, by_name) = match read {
        Ok(read) => read,
        Err(error) => {
            bundle.note(not_restored(None, &error));
            return bundle;
        }
    };
    bundle.meta = without(&bundle.meta).joined(meta);
    let cores = Cores::of(&bundle);
    let says_more = |name: &str| by_name.contains_key(&Some(name.to_owned()));
    let made = bundle.entries().iter().map(|(key, tensor)| {
        let fields = by_name.get(&key.flat_name().map(str::to_owned))?;
        Some(Made::of(key, tensor, fields, &cores, &says_more, limits))
    });
    let made = made.collect();
    let mut restored = Restored::new(&bundle);
    restored.push_all(&bundle, made);
    restored.finish()
}

/// The carried fields by tensor name; that of a file with a single unnamed tensor has none.
fn by_name(fields: &Fields) -> Result<HashMap<Option<String>, Fields>> {
    let Some(tensors) = fields.get("tensors") else {
        return Ok(HashMap::new());
    };
    let tensors = tensors.as_array().ok_or_else(|| wrong("tensors"))?.iter();
    let named = |json: &Json| {
        let fields = json.as_object()?;
        let name = match fields.get("name")? {
            Json::Null => None,
            name => Some(name.as_str()?.to_owned()),
        };
        Some((name, fields.clone()))
    };
    let all: Option<HashMap<Option<String>, Fields>> = tensors.map(named).collect();
    all.ok_or_else(|| wrong("tensors"))
}

/// A bundle being restored.
struct Restored {
    bundle: Bundle,
    /// The name of each tensor in the file, and its original key, if that differs.
    keys: Vec<(Key, Option<Key>)>,
    tensors: Vec<Tensor>,
}

impl Restored {
    fn new(bundle: &Bundle) -> Restored {
        let mut empty = Bundle::new();
        (empty.meta, empty.hints) = (bundle.meta.clone(), bundle.hints.clone());
        for note in bundle.notes() {
            empty.note(note.clone());
        }
        Restored {
            bundle: empty,
            keys: Vec::new(),
            tensors: Vec::new(),
        }
    }

    /// Adds every tensor as restored, or unchanged; the cores of a train are joined.
    fn push_all(&mut self, bundle: &Bundle, made: Vec<Option<Result<Made>>>) {
        let whole = made.iter().flatten().flatten();
        let joined: HashSet<usize> = whole.flat_map(|made| made.others.iter().copied()).collect();
        for (place, ((key, tensor), made)) in bundle.entries().iter().zip(made).enumerate() {
            match made {
                _ if joined.contains(&place) => {}
                Some(Ok(made)) => self.push(made),
                Some(Err(error)) => {
                    self.bundle.note(not_restored(Some(key), &error));
                    self.keep(key, tensor);
                }
                None => self.keep(key, tensor),
            }
        }
    }

    fn keep(&mut self, key: &Key, tensor: &Tensor) {
        self.keys.push((key.clone(), None));
        self.tensors.push(tensor.clone());
    }

    fn push(&mut self, made: Made) {
        if let Some(separator) = made.separator {
            self.bundle.hints.set(hint::SEPARATOR, separator.as_str());
        }
        self.keys.push((made.name, made.key));
        self.tensors.push(made.tensor);
    }

    /// Applies the original keys, unless two tensors would have the same.
    fn finish(mut self) -> Bundle {
        let mut counts: HashMap<&Key, u64> = HashMap::new();
        for (name, key) in &self.keys {
            let count = counts.entry(key.as_ref().unwrap_or(name)).or_default();
            *count = count.saturating_add(1);
        }
        let is_alone = |key: &Key| counts.get(key).is_none_or(|count| *count < 2);
        let chosen: Vec<Key> = self
            .keys
            .iter()
            .map(|(name, key)| match key {
                Some(key) if is_alone(key) => key.clone(),
                _ => name.clone(),
            })
            .collect();
        for ((name, key), chosen) in self.keys.iter().zip(&chosen) {
            if key.as_ref().is_some_and(|key| key != chosen) {
                let why = Error::invalid("another tensor has its key");
                self.bundle.note(not_restored(Some(name), &why));
            }
        }
        for (key, tensor) in chosen.into_iter().zip(self.tensors) {
            self.bundle.push(key, tensor);
        }
        self.bundle
    }
}

/// A tensor with everything restored that it carries.
struct Made {
    /// Its name in the file; for a train, the common prefix of its cores' names.
    name: Key,
    /// Its original key, if that differs.
    key: Option<Key>,
    separator: Option<String>,
    tensor: Tensor,
    /// The indices of a train's cores in the file, except for the first.
    others: Vec<usize>,
}

impl Made {
    fn of(
        name: &Key,
        tensor: &Tensor,
        fields: &Fields,
        cores: &Cores,
        says_more: &dyn Fn(&str) -> bool,
        limits: &Limits,
    ) -> Result<Made> {
        let sizes: Vec<Json> = tensor.sizes()?.into_iter().map(Json::from).collect();
        if fields.get("shape").and_then(Json::as_array) != Some(&sizes) {
            return Err(Error::invalid("it was written for another shape"));
        }
        // A tensor that was renamed after the conversion keeps its new name.
        let is_renamed = fields.get("name").and_then(Json::as_str) != name.flat_name();
        let (name, plain, others) = match fields.get(train::FIELD) {
            None => (name.clone(), tensor.clone(), Vec::new()),
            Some(train) => {
                let joined = cores.join(name, tensor, train, says_more, limits)?;
                (joined.name, joined.tensor, joined.others)
            }
        };
        let mut made = match fields.get("opaque") {
            Some(opaque) => opaque::restored(&plain, opaque, limits)?,
            None => {
                let made = named(&plain, fields)?;
                let made = joined(made, fields, limits)?;
                let made = labelled(made, fields, limits)?;
                let made = sparse(made, fields, limits)?;
                with_symmetries(made, fields, limits)?
            }
        };
        if let Some(metadata) = fields.get("metadata") {
            let metadata = meta_of(metadata).ok_or_else(|| wrong("metadata"))?;
            made.meta = made.meta.joined(metadata);
        }
        let key = fields.get("key").map(key_of).transpose()?;
        let key = key.filter(|_| !is_renamed);
        if let (Some(key), Some(name)) = (&key, name.flat_name())
            && key.is_empty()
        {
            made.hints.set(hint::NAME, name);
        }
        let separator = fields.get("separator").and_then(Json::as_str);
        let separator = separator.filter(|text| key.is_some() && text.chars().count() == 1);
        Ok(Made {
            separator: separator.map(str::to_owned),
            name,
            key,
            tensor: made,
            others,
        })
    }
}

/// Parses a text as a JSON object.
fn parse(carried: &Value) -> Result<Fields> {
    let text = carried
        .as_text()
        .ok_or_else(|| Error::invalid("it is no text"))?;
    if text.len() > MOST {
        return Err(Error::invalid(format!("it is longer than {MOST} bytes")));
    }
    // The parser itself stops at 128 levels.
    let Ok(Json::Object(fields)) = serde_json::from_str(text) else {
        return Err(Error::invalid("it is no JSON object"));
    };
    match fields.get("version").and_then(Json::as_u64) {
        Some(VERSION) => Ok(fields),
        Some(version) => Err(Error::invalid(format!(
            "it has version {version}, {VERSION} is known"
        ))),
        None => Err(Error::invalid("it has no version")),
    }
}

pub(crate) fn wrong(field: &str) -> Error {
    Error::invalid(format!("its {field} cannot be read"))
}

fn not_restored(key: Option<&Key>, error: &Error) -> Note {
    let text = format!("what the field {NAME} carries is not restored: {error}");
    let note = Note::new(NoteKind::NotRestored, text);
    match key {
        Some(key) => note.on(key),
        None => note,
    }
}

fn without(meta: &Meta) -> Meta {
    let others = meta.iter().filter(|(name, _)| *name != NAME);
    others
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

fn file_meta(fields: &Fields) -> Result<Meta> {
    match fields.get("file") {
        None => Ok(Meta::new()),
        Some(json) => meta_of(json).ok_or_else(|| wrong("file")),
    }
}

fn key_of(json: &Json) -> Result<Key> {
    let state = match json.get("state") {
        None | Some(Json::Null) => Some(None),
        Some(Json::String(state)) => Some(Some(state.clone())),
        Some(_) => None,
    };
    let path = json.get("path").and_then(texts);
    match (path, state) {
        (Some(path), Some(state)) => Ok(Key::tree(path).with_state(state)),
        _ => Err(wrong("key")),
    }
}

fn texts(json: &Json) -> Option<Vec<String>> {
    let items = json.as_array()?.iter();
    items.map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Restores the names of dimensions.
fn named(tensor: &Tensor, fields: &Fields) -> Result<Tensor> {
    let Some(names) = fields.get("dims") else {
        return Ok(tensor.clone());
    };
    let names = names.as_array().ok_or_else(|| wrong("dims"))?;
    let mut dims: Vec<Dim> = tensor.dims().to_vec();
    if names.len() != dims.len() {
        return Err(wrong("dims"));
    }
    for (dim, name) in dims.iter_mut().zip(names) {
        dim.name = match name {
            Json::Null => None,
            Json::String(name) => Some(name.clone()),
            _ => return Err(wrong("dims")),
        };
    }
    let symmetries = tensor.symmetries().to_vec();
    let named = Tensor::new(dims, tensor.dtype(), symmetries, tensor.storage().clone())?;
    Ok(named.with_meta_of(tensor))
}

/// Joins the components of elements.
fn joined(tensor: Tensor, fields: &Fields, limits: &Limits) -> Result<Tensor> {
    match fields.get("elements").map(|dtype| dtype.as_str()) {
        None => Ok(tensor),
        Some(Some(dtype)) => {
            // The numbers may have been cast since.
            let dtype = DType {
                number: tensor.dtype().number,
                ..dtype.parse()?
            };
            tensor.join_components(dtype, limits)
        }
        Some(None) => Err(wrong("elements")),
    }
}

/// Restores the labels of positions.
fn labelled(tensor: Tensor, fields: &Fields, limits: &Limits) -> Result<Tensor> {
    let Some(labels) = fields.get("labels") else {
        return Ok(tensor);
    };
    let dims = labels.get("dims").and_then(Json::as_array);
    let dims: Option<Vec<Vec<String>>> = dims.and_then(|dims| dims.iter().map(texts).collect());
    let blocks: Option<Option<Vec<u64>>> = match labels.get("blocks") {
        None | Some(Json::Null) => Some(None),
        Some(blocks) => blocks.as_array().and_then(|blocks| {
            let blocks: Option<Vec<u64>> = blocks.iter().map(Json::as_u64).collect();
            blocks.map(Some)
        }),
    };
    // A train would have to be expanded for that.
    let is_train = matches!(tensor.storage(), Storage::Train { .. });
    match (dims, blocks) {
        (Some(dims), Some(blocks)) if !dims.is_empty() && !is_train => {
            tensor.woven(&dims, blocks, limits)
        }
        _ => Err(wrong("labels")),
    }
}

/// Restores sparse storage: the nonzero cells become the explicit ones.
fn sparse(tensor: Tensor, fields: &Fields, limits: &Limits) -> Result<Tensor> {
    let Some(sparse) = fields.get("sparse") else {
        return Ok(tensor);
    };
    let cells = sparse.get("cells").and_then(Json::as_u64);
    tensor.nonzero(cells.ok_or_else(|| wrong("sparse"))?, limits)
}

/// Declares symmetries, and packs by those that were packed.
fn with_symmetries(tensor: Tensor, fields: &Fields, limits: &Limits) -> Result<Tensor> {
    let Some(symmetries) = fields.get("symmetries") else {
        return Ok(tensor);
    };
    tensor.repacked(symmetries_of(symmetries, limits)?, limits)
}

pub(crate) fn symmetries_of(json: &Json, limits: &Limits) -> Result<Vec<Symmetry>> {
    let symmetries = json.as_array().ok_or_else(|| wrong("symmetries"))?;
    limits.check_symmetries(to_u64(symmetries.len()))?;
    let one = |json: &Json| {
        let places = json.get("permutation")?.as_array()?.iter();
        let places = places.map(|place| usize::try_from(place.as_u64()?).ok());
        Some(Symmetry {
            permutation: places.collect::<Option<_>>()?,
            operation: json.get("operation")?.as_str()?.to_owned(),
            packed: json.get("packed")?.as_bool()?,
        })
    };
    let symmetries: Option<Vec<Symmetry>> = symmetries.iter().map(one).collect();
    symmetries.ok_or_else(|| wrong("symmetries"))
}
