//! Objects of several parts, in all generations but the first.
#![deny(clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::sync::Arc;

use super::types::{Element, Means};
use super::{TYPES, dense_len};
use crate::bytes::{Bytes, Endian, to_u64};
use crate::dtype::{DType, Number, Numbers};
use crate::error::Result;
use crate::limits::Limits;
use crate::meta::{Meta, Value};
use crate::tensor::{Address, Constraint, Dim, Order, Storage, Tensor};

/// An object: one tensor.
pub(super) struct Object<'a> {
    /// The file's name for the layout of the parts.
    pub(super) layout: Cow<'a, str>,
    /// The offset of the shape in the file.
    pub(super) shape_at: u64,
    pub(super) sizes: Vec<u64>,
    /// The dimensions.
    pub(super) dims: Arc<[Dim]>,
    /// The parts, by name, in the order of their bytes.
    pub(super) parts: Vec<Part<'a>>,
}

/// One array of an object.
pub(super) struct Part<'a> {
    pub(super) name: Cow<'a, str>,
    /// The offset of its description in the file.
    pub(super) at: u64,
    pub(super) number: Number,
    /// The logical type of the stored numbers.
    pub(super) type_name: Option<Cow<'a, str>>,
    pub(super) bytes: Bytes,
}

/// The reason why an object does not match its layout, with the offset in the file.
pub(super) struct Misfit {
    pub(super) at: u64,
    pub(super) why: String,
}

/// The supported layouts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Dense,
    /// Compressed rows.
    Rows,
    /// Coordinates, one dimension after another.
    Coordinates,
    Other,
}

fn misfit<T>(at: u64, why: impl Into<String>) -> Result<T, Misfit> {
    let why = why.into();
    Err(Misfit { at, why })
}

impl Part<'_> {
    fn numbers(&self, number: Number) -> Numbers {
        Numbers {
            number,
            endian: Endian::Little,
            bytes: self.bytes.clone(),
        }
    }

    /// The numbers with random access, as sparse cells need it.
    fn at_hand(&self, number: Number, limits: &Limits) -> Result<Numbers, Misfit> {
        let mut numbers = self.numbers(number);
        if self.bytes.is_compressed() {
            let window = self.bytes.window(0..self.bytes.len(), limits);
            numbers.bytes = window.or_else(|error| misfit(self.at, error.to_string()))?;
        }
        Ok(numbers)
    }

    /// The stored numbers for an opaque tensor, and their type.
    fn kept(&self) -> (Numbers, Option<&str>) {
        match self.number {
            Number::Bool => (self.numbers(Number::U8), Some("bool")),
            number => (self.numbers(number), self.type_name.as_deref()),
        }
    }

    fn element(&self) -> Result<Element, Misfit> {
        match Element::of(self.number, self.type_name.as_deref()) {
            Some(element) => Ok(element),
            None => {
                let name = self.type_name.as_deref().unwrap_or_default();
                misfit(self.at, format!("the type {name} over {}", self.number))
            }
        }
    }
}

impl Object<'_> {
    fn part(&self, name: &str) -> Result<&Part<'_>, Misfit> {
        match self.parts.iter().find(|part| part.name == name) {
            Some(part) => Ok(part),
            None => misfit(self.shape_at, format!("the object has no part {name:?}")),
        }
    }

    /// Fails unless there are exactly as many parts as the layout has.
    fn has_only(&self, count: usize) -> Result<(), Misfit> {
        if self.parts.len() == count {
            return Ok(());
        }
        let why = format!(
            "{} parts, the layout {:?} has {count}",
            self.parts.len(),
            self.layout
        );
        misfit(self.shape_at, why)
    }

    /// Fails if a logical type has other stored numbers than those it is registered for.
    pub(super) fn check_types(&self) -> Result<(), Misfit> {
        self.parts
            .iter()
            .try_for_each(|part| part.element().map(|_| ()))
    }

    /// The tensor, if its parts fit the layout.
    pub(super) fn tensor(&self, layout: Layout, limits: &Limits) -> Result<Tensor, Misfit> {
        match layout {
            Layout::Dense => self.dense(),
            Layout::Rows => self.rows(limits),
            Layout::Coordinates => self.coordinates(limits),
            Layout::Other => self.opaque(&self.layout),
        }
    }

    fn made(&self, dtype: DType, storage: Storage, at: u64) -> Result<Tensor, Misfit> {
        Tensor::sharing(self.dims.clone(), dtype, storage)
            .or_else(|error| misfit(at, error.to_string()))
    }

    fn dense(&self) -> Result<Tensor, Misfit> {
        let data = self.part("data")?;
        self.has_only(1)?;
        match data.element()? {
            Element::Known(dtype) => {
                let values = data.numbers(dtype.number);
                let order = Order::Row;
                self.made(dtype, Storage::Dense { order, values }, data.at)
            }
            Element::Small(found) => {
                let Means::Small { layout, per_byte } = found.means else {
                    return self.opaque(&self.layout);
                };
                let cells = dense_len(&self.sizes, 1);
                let len = data.bytes.len();
                if cells.map(|cells| cells.div_ceil(per_byte.max(1))) != Some(len) {
                    let why = format!("{len} bytes do not fit the shape of {}", found.name);
                    return misfit(data.at, why);
                }
                let mut tensor = self.opaque(layout)?;
                tensor.meta.remove(TYPES);
                if cells.is_some_and(|cells| !cells.is_multiple_of(per_byte.max(1))) {
                    tensor.demand(Constraint::ZeroPadding);
                }
                Ok(tensor)
            }
            Element::Unknown => self.opaque(&self.layout),
        }
    }

    /// The values of a sparse object: their type, and their number.
    fn values(&self, limits: &Limits) -> Result<Option<(DType, Numbers, u64)>, Misfit> {
        let part = self.part("values")?;
        let Element::Known(dtype) = part.element()? else {
            return Ok(None);
        };
        let (len, width) = (part.bytes.len(), to_u64(dtype.width()));
        match len.checked_div(width) {
            Some(count) if len.is_multiple_of(width) => {
                let values = part.at_hand(dtype.number, limits)?;
                Ok(Some((dtype, values, count)))
            }
            _ => misfit(
                part.at,
                format!("{len} bytes are no whole number of {dtype}"),
            ),
        }
    }

    /// Indices: `count` of them, of 32 or 64 bits.
    fn indices(&self, name: &str, count: Option<u64>, limits: &Limits) -> Result<Numbers, Misfit> {
        let part = self.part(name)?;
        if !matches!(part.number, Number::U32 | Number::U64) || part.type_name.is_some() {
            return misfit(
                part.at,
                format!("indices of {}, not u32 or u64", part.number),
            );
        }
        let wanted = count.and_then(|count| count.checked_mul(to_u64(part.number.width())));
        if wanted == Some(part.bytes.len()) {
            return part.at_hand(part.number, limits);
        }
        let wanted = wanted.map_or_else(|| "more than 2^64".into(), |wanted| wanted.to_string());
        let why = format!("{name} of {} bytes, {wanted} are needed", part.bytes.len());
        misfit(part.at, why)
    }

    fn rows(&self, limits: &Limits) -> Result<Tensor, Misfit> {
        let [rows, _] = self.sizes.as_slice() else {
            return misfit(self.shape_at, "compressed rows of what is no matrix");
        };
        let Some((dtype, values, count)) = self.values(limits)? else {
            return self.opaque(&self.layout);
        };
        let columns = self.indices("indices", Some(count), limits)?;
        let starts = self.indices("indptr", rows.checked_add(1), limits)?;
        self.has_only(3)?;
        if starts.number != columns.number {
            let why = format!("indptr of {}, indices of {}", starts.number, columns.number);
            return misfit(self.shape_at, why);
        }
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Rows { starts, columns },
            values,
        };
        self.made(dtype, storage, self.shape_at)
    }

    fn coordinates(&self, limits: &Limits) -> Result<Tensor, Misfit> {
        let Some((dtype, values, count)) = self.values(limits)? else {
            return self.opaque(&self.layout);
        };
        let all = count.checked_mul(to_u64(self.sizes.len()));
        let coords = self.indices("coords", all, limits)?;
        self.has_only(2)?;
        if self.sizes.is_empty() {
            return misfit(self.shape_at, "coordinates of a scalar");
        }
        let len = count.saturating_mul(to_u64(coords.number.width()));
        let mut columns = Vec::new();
        for axis in 0..to_u64(self.sizes.len()) {
            let start = axis.saturating_mul(len);
            let bytes = coords
                .bytes
                .window(start..start.saturating_add(len), limits);
            match bytes {
                Ok(bytes) => columns.push(Numbers {
                    bytes,
                    ..coords.clone()
                }),
                Err(error) => return misfit(self.shape_at, error.to_string()),
            }
        }
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Coordinates(columns),
            values,
        };
        self.made(dtype, storage, self.shape_at)
    }

    /// The parts unchanged, under the name `layout`, with their types in the metadata.
    pub(super) fn opaque(&self, layout: &str) -> Result<Tensor, Misfit> {
        let named = self.parts.iter();
        let parts: Vec<(String, Numbers)> = named
            .map(|part| (part.name.to_string(), part.kept().0))
            .collect();
        let number = opaque_number(&parts);
        let layout = layout.into();
        let storage = Storage::Opaque { layout, parts };
        let mut tensor = self.made(DType::real(number), storage, self.shape_at)?;
        if let Some(types) = self.types() {
            tensor.meta.set(TYPES, types);
        }
        Ok(tensor)
    }

    /// The types of the parts that have one, in the order of deterministic CBOR.
    fn types(&self) -> Option<Value> {
        let with_type = self.parts.iter();
        let mut types: Vec<(&str, &str)> = with_type
            .filter_map(|part| Some((&*part.name, part.kept().1?)))
            .collect();
        types.sort_by_key(|(name, _)| (name.len(), *name));
        let pairs = types.into_iter();
        let pairs: Vec<(Value, Value)> = pairs
            .map(|(name, type_name)| (name.into(), type_name.into()))
            .collect();
        (!pairs.is_empty()).then_some(Value::Map(pairs))
    }
}

/// The number type of an opaque tensor: that of the part `data`, else of the first.
pub(super) fn opaque_number(parts: &[(String, Numbers)]) -> Number {
    let data = parts.iter().find(|(name, _)| name == "data");
    let part = data.or(parts.first());
    part.map_or(Number::U8, |(_, numbers)| numbers.number)
}

/// Adds the attributes of an object to the metadata of its tensor; `false` if one has the name
/// under which the types of its parts are stored.
pub(super) fn describe(tensor: &mut Tensor, mut attributes: Meta) -> bool {
    let is_opaque = matches!(tensor.storage(), Storage::Opaque { .. });
    if is_opaque && attributes.get(TYPES).is_some() {
        return false;
    }
    if let Some(types) = tensor.meta.remove(TYPES) {
        attributes.set(TYPES, types);
    }
    tensor.meta = attributes;
    true
}
