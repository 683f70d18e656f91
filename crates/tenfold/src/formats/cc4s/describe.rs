//! The description of a tensor in a yaml.
#![deny(clippy::arithmetic_side_effects)]

use std::path::Path;

use super::{BINARY, NAME, TEXT, VERSION, meta};
use crate::bytes::to_u64;
use crate::dtype::{Arity, DType, Number};
use crate::error::{Error, Result};
use crate::format::{Mode, ReadOptions};
use crate::io::Sibling;
use crate::meta::{Meta, Value};
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, product};
use crate::wire::yaml::Node;

/// A described tensor.
pub(super) struct Described {
    pub(super) dims: Vec<Dim>,
    pub(super) dtype: DType,
    /// Length of all its cells in bytes.
    pub(super) len: u64,
    pub(super) file: Elements,
    /// Whether the elements are doubles rather than text.
    pub(super) is_binary: bool,
    pub(super) meta: Meta,
    pub(super) hints: Meta,
    /// The condition of its sparsity, and the offset of that.
    pub(super) condition: Option<(Value, u64)>,
    pub(super) notes: Vec<Note>,
}

/// The file of the elements.
pub(super) enum Elements {
    /// The file whose name has this ending.
    Ending(String),
    /// The file of this name.
    Called(String),
}

/// The keys allowed in the map of a tensor.
const KEYS: &[&str] = &[
    "version",
    "type",
    "scalarType",
    "dimensions",
    "elements",
    "unit",
    "metaData",
    "nonZeroCondition",
];

/// The keys of a yaml of 2020, besides metadata.
const OLD_KEYS: &[&str] = &[
    "version",
    "scalarType",
    "dimensions",
    "data",
    "binary",
    "unit",
];

/// Whether a map is a tensor in the form of 2020.
pub(super) fn is_old(node: &Node) -> bool {
    let version = node.get("version").and_then(Node::text);
    version.is_some_and(|version| version.starts_with('v')) && node.get("type").is_none()
}

/// Fails unless the version is supported.
pub(super) fn check_version(node: &Node) -> Result<()> {
    let version = node.need("version")?;
    if version.value().as_u64() == Some(VERSION) {
        return Ok(());
    }
    Err(Error::Unsupported {
        format: NAME,
        what: format!("version {}", version.text().unwrap_or("that is no scalar")),
    })
}

impl Described {
    /// Reads the map of a tensor whose elements are in a file whose name ends with `ending`.
    pub(super) fn read(node: &Node, ending: String, how: &ReadOptions) -> Result<Described> {
        check_version(node)?;
        let mut described = Described::begin(node, Elements::Ending(ending), how)?;
        described.is_binary = described.elements(node)?;
        described.unit(node, how)?;
        if let Some(data) = node.get("metaData") {
            described.meta_data(data)?;
        }
        if let Some(condition) = node.get("nonZeroCondition") {
            described.non_zero(condition)?;
        }
        for (key, _) in node.pairs().unwrap_or_default() {
            let name = key.text().unwrap_or_default();
            if !KEYS.contains(&name) {
                let text = format!("the key {name:?} has no meaning here");
                described.note(NoteKind::IgnoredField, text, key.at);
            }
        }
        Ok(described)
    }

    /// Reads a yaml in the form of 2020.
    pub(super) fn read_old(node: &Node, how: &ReadOptions) -> Result<Described> {
        let data = node.need("data")?;
        let is_beside = |name: &&str| Sibling::Called(name).path(Path::new("x.yaml")).is_some();
        let file = data.text().filter(is_beside);
        let file = file.ok_or_else(|| data.wrong("is no name of a file beside this one"))?;
        let mut described = Described::begin(node, Elements::Called(file.into()), how)?;
        described.is_binary = match node.get("binary") {
            None => false,
            Some(binary) => match binary.value() {
                Value::Int(number @ (0 | 1)) => number == 1,
                Value::Bool(truth) => truth,
                _ => return Err(binary.wrong("is neither 0 nor 1")),
            },
        };
        described.unit(node, how)?;
        let pairs = node.pairs().unwrap_or_default().iter();
        let more = pairs.filter_map(|(key, value)| {
            let name = key.text().filter(|name| !OLD_KEYS.contains(name))?;
            Some((name.to_owned(), value.value()))
        });
        described.meta = std::mem::take(&mut described.meta).joined(more.collect());
        Ok(described)
    }

    fn begin(node: &Node, file: Elements, how: &ReadOptions) -> Result<Described> {
        let dtype = scalar_type(node.need("scalarType")?)?;
        let dimensions = node.need("dimensions")?;
        let dims = read_dims(dimensions, how)?;
        let sizes: Vec<u64> = dims.iter().filter_map(Dim::indexed_size).collect();
        let width = u128::from(to_u64(dtype.width()));
        let len = product(&sizes).and_then(|cells| cells.checked_mul(width));
        let Some(len) = len.and_then(|len| u64::try_from(len).ok()) else {
            let why = "elements of 2^64 bytes or more";
            return Err(Error::malformed(dimensions.at, why));
        };
        Ok(Described {
            dims,
            dtype,
            len,
            file,
            is_binary: true,
            meta: Meta::new(),
            hints: Meta::new(),
            condition: None,
            notes: Vec::new(),
        })
    }

    fn note(&mut self, kind: NoteKind, text: impl Into<String>, at: u64) {
        self.notes.push(Note::new(kind, text).at(at));
    }

    fn elements(&mut self, node: &Node) -> Result<bool> {
        let kind = node.need("elements")?.need("type")?;
        match kind.text() {
            Some(BINARY) => Ok(true),
            Some(TEXT) => {
                self.hints.set(meta::ELEMENTS, "text");
                Ok(false)
            }
            // As cc4s does.
            Some(other) => {
                let text = format!("elements of type {other:?} are taken for text");
                self.note(NoteKind::IgnoredField, text, kind.at);
                self.hints.set(meta::ELEMENTS, "text");
                Ok(false)
            }
            None => Err(kind.wrong("is no type of elements")),
        }
    }

    /// A unit of 1 is no metadata, only a hint that it may be written without a point.
    fn unit(&mut self, node: &Node, how: &ReadOptions) -> Result<()> {
        let Some(unit) = node.get("unit") else {
            let text = "there is no unit";
            return match how.mode {
                Mode::Strict => Err(Error::malformed(node.at, text)),
                Mode::Lenient => {
                    self.note(NoteKind::Lenient, text, node.at);
                    Ok(())
                }
            };
        };
        let value = unit.value();
        match &value {
            Value::Int(1) => self.hints.set(meta::UNIT, value),
            one if is_one(one) => {}
            Value::Int(_) | Value::Float { .. } => self.meta.set(meta::UNIT, value),
            _ => return Err(unit.wrong("is no unit, which is a number")),
        }
        Ok(())
    }

    fn meta_data(&mut self, data: &Node) -> Result<()> {
        if data.value() == Value::Null {
            return Ok(());
        }
        let pairs = data
            .pairs()
            .ok_or_else(|| data.wrong("is no map of metadata"))?;
        let known = std::mem::take(&mut self.meta);
        let own = pairs.iter().map(|(key, value)| {
            let name = key.text().unwrap_or_default();
            (name.to_owned(), value.value())
        });
        let own: Meta = own.collect();
        if let Some((name, _)) = known.iter().find(|(name, _)| own.get(name).is_some()) {
            return Err(data.wrong(&format!("has {name}, which is there already")));
        }
        self.meta = known.joined(own);
        Ok(())
    }

    fn non_zero(&mut self, node: &Node) -> Result<()> {
        let all = node.get("all");
        let all = all.ok_or_else(|| node.wrong("has no conditions under all"))?;
        let conditions = all
            .items()
            .ok_or_else(|| all.wrong("is no list of conditions"))?;
        // Without conditions all blocks exist.
        if !conditions.is_empty() {
            if self.meta.get(meta::CONDITION).is_some() || self.meta.get(meta::TYPES).is_some() {
                return Err(node.wrong("is there already, among metadata"));
            }
            self.condition = Some((node.value(), node.at));
        }
        Ok(())
    }
}

/// Whether a unit is 1.
pub(super) fn is_one(unit: &Value) -> bool {
    match unit {
        Value::Int(number) => *number == 1,
        Value::Float { bits, width } => *width == 64 && *bits == 1_f64.to_bits(),
        _ => false,
    }
}

fn scalar_type(node: &Node) -> Result<DType> {
    let arity = match node.text() {
        Some("Real64" | "real64") => Arity::Real,
        Some("Complex64" | "complex64") => Arity::Complex,
        Some(other @ ("Real128" | "Complex128")) => {
            let what = format!("the scalarType {other}");
            return Err(Error::Unsupported { format: NAME, what });
        }
        _ => return Err(node.wrong("is neither Real64 nor Complex64")),
    };
    Ok(DType {
        number: Number::F64,
        arity,
    })
}

/// The dimensions, in a list, or in a map from their numbers.
fn read_dims(node: &Node, how: &ReadOptions) -> Result<Vec<Dim>> {
    let wrong = || node.wrong("is no list of dimensions");
    let mut numbered: Vec<(u64, &Node)> = match (node.items(), node.pairs()) {
        (Some(items), _) => (0..).zip(items).collect(),
        (None, Some(pairs)) => {
            let number = |(key, dim)| Node::whole(key, "number of a dimension").map(|n| (n, dim));
            pairs
                .iter()
                .map(|(key, dim)| (key, dim))
                .map(number)
                .collect::<Result<_>>()?
        }
        (None, None) => return Err(wrong()),
    };
    how.limits.check_ndim(to_u64(numbered.len()))?;
    numbered.sort_by_key(|(number, _)| *number);
    let mut dims = Vec::with_capacity(numbered.len());
    for (place, (number, dim)) in (0..).zip(numbered) {
        if number != place {
            let why = format!("dimension {number} where {place} is next");
            return Err(Error::malformed(dim.at, why));
        }
        dims.push(read_dim(dim, how)?);
    }
    Ok(dims)
}

fn read_dim(node: &Node, how: &ReadOptions) -> Result<Dim> {
    let dim = Dim::indexed(node.need("length")?.whole("length")?);
    let Some(kind) = node.get("type") else {
        return Ok(dim);
    };
    let name = kind
        .text()
        .ok_or_else(|| kind.wrong("is no type of a dimension"))?;
    how.limits.check_text(to_u64(name.len()))?;
    Ok(dim.named(name))
}
