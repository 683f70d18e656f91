//! The parts as which a tensor is written, in all generations but the first.

use super::object::{Layout, opaque_number};
use super::types::{Means, Type, is_stored, stored_as};
use super::{TYPES, dense_len};
use crate::bytes::{Endian, PIECE, to_u64};
use crate::dtype::{DType, Number, Numbers, bools};
use crate::error::{Error, Result};
use crate::io::Sink;
use crate::limits::Limits;
use crate::memory;
use crate::meta::Value;
use crate::tensor::{Address, Cell, Storage, Tensor};

/// The name of the only part of a dense object.
const DATA: &str = "data";
/// The layout of dense objects.
pub(super) const DENSE: &str = "dense";

/// How a generation describes objects.
pub(super) struct Dialect {
    /// The layout of compressed rows.
    pub(super) rows: &'static str,
    /// The layout of coordinates.
    pub(super) coordinates: &'static str,
    /// Whether 32-bit indices stay 32-bit.
    pub(super) has_short_indices: bool,
    /// Whether booleans are a dtype of their own, not a logical type over bytes.
    pub(super) has_bool: bool,
    /// Whether the values of sparse objects come first; otherwise the parts are sorted by name.
    pub(super) has_values_first: bool,
    /// Whether a text is a valid name of a part.
    pub(super) is_name: fn(&str) -> bool,
}

impl Dialect {
    /// The meaning of a layout.
    pub(super) fn layout(&self, name: &str) -> Layout {
        if name == DENSE {
            Layout::Dense
        } else if name == self.rows {
            Layout::Rows
        } else if name == self.coordinates {
            Layout::Coordinates
        } else {
            Layout::Other
        }
    }
}

/// One array of an object.
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    /// The stored numbers; `Bool` if booleans are a dtype.
    pub(super) number: Number,
    pub(super) type_name: Option<&'a str>,
    pub(super) content: Content<'a>,
}

/// The bytes of a part.
pub(super) enum Content<'a> {
    /// Numbers, little-endian.
    Numbers(&'a Numbers),
    /// Booleans, as 0 and 1.
    BoolIs0Or1(&'a Numbers),
    /// Indices, one column after another, each with this width.
    Indices(Vec<&'a Numbers>, Number),
    /// The coordinates of sparse cells in 64 bits, one dimension after another.
    Coordinates(&'a Tensor),
}

/// The layout and the parts of a tensor, in the order of writing.
pub(super) fn parts<'a>(tensor: &'a Tensor, dialect: &Dialect) -> Result<(&'a str, Vec<Part<'a>>)> {
    match tensor.storage() {
        Storage::Dense { values, .. } => {
            let part = elements(DATA, tensor, values, dialect)?;
            Ok((DENSE, vec![part]))
        }
        Storage::Sparse {
            address, values, ..
        } => {
            let values = elements("values", tensor, values, dialect)?;
            let (layout, mut parts) = sparse(tensor, address, values, dialect)?;
            if dialect.has_values_first {
                parts.rotate_right(1);
            }
            Ok((layout, parts))
        }
        Storage::Opaque { layout, parts } => Ok(opaque(tensor, layout, parts)),
        Storage::Train { .. } => Err(Error::invalid("ztensor holds no trains")),
    }
}

fn elements<'a>(
    name: &'a str,
    tensor: &Tensor,
    values: &'a Numbers,
    dialect: &Dialect,
) -> Result<Part<'a>> {
    let dtype = tensor.dtype();
    if dialect.has_bool && dtype == DType::real(Number::Bool) {
        return Ok(Part {
            name,
            number: Number::Bool,
            type_name: None,
            content: Content::Numbers(values),
        });
    }
    let stored = stored_as(dtype);
    let (number, found) =
        stored.ok_or_else(|| Error::invalid(format!("ztensor has no {dtype}")))?;
    let content = match dtype.number {
        Number::Bool => Content::BoolIs0Or1(values),
        _ => Content::Numbers(values),
    };
    Ok(Part {
        name,
        number,
        type_name: found.map(|found| found.name),
        content,
    })
}

fn indices<'a>(name: &'a str, columns: Vec<&'a Numbers>, number: Number) -> Part<'a> {
    Part {
        name,
        number,
        type_name: None,
        content: Content::Indices(columns, number),
    }
}

/// The narrower of the two index types that holds all of these, if there are two.
fn width(columns: &[&Numbers], dialect: &Dialect) -> Number {
    let is_narrow = |column: &&Numbers| column.number != Number::U64;
    if dialect.has_short_indices && columns.iter().all(is_narrow) {
        Number::U32
    } else {
        Number::U64
    }
}

fn sparse<'a>(
    tensor: &'a Tensor,
    address: &'a Address,
    values: Part<'a>,
    dialect: &Dialect,
) -> Result<(&'a str, Vec<Part<'a>>)> {
    let coords = match address {
        Address::Rows { starts, columns } if tensor.first_fall()?.is_none() => {
            let number = width(&[starts, columns], dialect);
            let parts = vec![
                indices("indices", vec![columns], number),
                indices("indptr", vec![starts], number),
                values,
            ];
            return Ok((dialect.rows, parts));
        }
        Address::Coordinates(columns) => {
            let columns: Vec<&Numbers> = columns.iter().collect();
            let number = width(&columns, dialect);
            indices("coords", columns, number)
        }
        Address::Rows { .. } | Address::Linear(_) | Address::Labels => Part {
            name: "coords",
            number: Number::U64,
            type_name: None,
            content: Content::Coordinates(tensor),
        },
    };
    Ok((dialect.coordinates, vec![coords, values]))
}

fn opaque<'a>(
    tensor: &'a Tensor,
    layout: &'a str,
    parts: &'a [(String, Numbers)],
) -> (&'a str, Vec<Part<'a>>) {
    let small = Type::of_layout(layout);
    let types = tensor.meta.get(TYPES);
    let part = |(name, numbers): &'a (String, Numbers)| Part {
        name,
        number: numbers.number,
        type_name: match small {
            Some(small) => Some(small.name),
            None => types.and_then(|types| types.get(name)?.as_text()),
        },
        content: Content::Numbers(numbers),
    };
    let layout = if small.is_some() { DENSE } else { layout };
    (layout, parts.iter().map(part).collect())
}

/// Whether a metadata entry declares the logical types of a tensor's parts.
pub(super) fn is_types(tensor: &Tensor, name: &str) -> bool {
    name == TYPES && matches!(tensor.storage(), Storage::Opaque { .. })
}

/// The reason why opaque bytes cannot be written such that they are read back the same.
pub(super) fn misfit(
    tensor: &Tensor,
    layout: &str,
    parts: &[(String, Numbers)],
    dialect: &Dialect,
) -> Option<String> {
    let refuse = |why: &str| Some(format!("the layout {layout:?} {why}"));
    if tensor.dtype() != DType::real(opaque_number(parts)) {
        return refuse("is of another type than its parts");
    }
    let types = tensor.meta.get(TYPES);
    let sizes = tensor.indexed_sizes();
    if let Some(Means::Small { per_byte, .. }) = Type::of_layout(layout).map(|found| &found.means) {
        let len = dense_len(&sizes, 1).map(|cells| cells.div_ceil((*per_byte).max(1)));
        let fits = match parts {
            [(name, part)] => {
                name == DATA && part.number == Number::U8 && Some(part.bytes.len()) == len
            }
            _ => false,
        };
        return if fits && types.is_none() {
            None
        } else {
            refuse("has other bytes than its shape needs")
        };
    }
    let sparse = ["sparsecoo", "sparsecsr", dialect.rows, dialect.coordinates];
    if sparse.contains(&layout) {
        return refuse("is one whose parts do not fit");
    }
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    let is_sorted = names.is_sorted_by(|first, second| first < second);
    let are_stored = parts.iter().all(|(_, part)| is_stored(part.number));
    if names.is_empty()
        || !names.iter().all(|name| (dialect.is_name)(name))
        || !is_sorted
        || !are_stored
    {
        return refuse("has parts that have no place");
    }
    if !types.is_none_or(|types| are_types(types, parts)) {
        return refuse("has types that are not those of its parts");
    }
    let is_unknown = types.is_some_and(|types| match types.get(DATA) {
        Some(Value::Text(name)) => Type::named(name).is_none(),
        _ => false,
    });
    if layout == DENSE && !(names == [DATA] && is_unknown) {
        refuse("would be understood")
    } else {
        None
    }
}

/// Whether metadata declares types for existing parts, and registered ones for their own numbers.
fn are_types(types: &Value, parts: &[(String, Numbers)]) -> bool {
    let fits = |(name, type_name): &(Value, Value)| {
        let (Some(name), Some(type_name)) = (name.as_text(), type_name.as_text()) else {
            return false;
        };
        let part = parts.iter().find(|(known, _)| known == name);
        let over = Type::named(type_name).map(|found| found.over);
        part.is_some_and(|(_, part)| over.is_none_or(|over| over == part.number))
    };
    types
        .as_map()
        .is_some_and(|pairs| !pairs.is_empty() && pairs.iter().all(fits))
}

impl Content<'_> {
    /// The length in bytes.
    pub(super) fn len(&self) -> u64 {
        let count =
            |columns: &[&Numbers]| -> u64 { columns.iter().map(|column| column.len()).sum() };
        match self {
            Content::Numbers(numbers) | Content::BoolIs0Or1(numbers) => numbers.bytes.len(),
            Content::Indices(columns, number) => {
                count(columns).saturating_mul(to_u64(number.width()))
            }
            Content::Coordinates(tensor) => tensor
                .stored()
                .saturating_mul(to_u64(tensor.dims().len()))
                .saturating_mul(8),
        }
    }

    /// Hands out all bytes, in order.
    pub(super) fn for_each(
        &self,
        limits: &Limits,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Content::Numbers(numbers) => {
                numbers.for_each(Endian::Little, numbers.number.width(), PIECE, each)
            }
            Content::BoolIs0Or1(numbers) => numbers
                .bytes
                .for_each(PIECE, &mut |piece| each(&bools(piece))),
            Content::Indices(columns, number) => columns
                .iter()
                .try_for_each(|column| widened(column, number.width(), each)),
            Content::Coordinates(tensor) => {
                (0..tensor.dims().len()).try_for_each(|axis| axis_of(tensor, axis, limits, each))
            }
        }
    }

    /// Writes all bytes; copied unchanged if possible.
    pub(super) fn write(&self, limits: &Limits, out: &mut Sink) -> Result<()> {
        match self {
            Content::Numbers(numbers) => numbers.write(out, Endian::Little),
            _ => self.for_each(limits, &mut |piece| out.write(piece)),
        }
    }
}

/// Hands out indices, each zero-extended to `to` bytes.
fn widened(column: &Numbers, to: usize, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let width = column.number.width();
    column.for_each(Endian::Little, width, PIECE, &mut |piece| {
        if width == to {
            return each(piece);
        }
        let mut wide = memory::with_room((piece.len() / width.max(1)).saturating_mul(to))?;
        for index in piece.chunks_exact(width) {
            wide.extend_from_slice(index);
            wide.extend(std::iter::repeat_n(0, to.saturating_sub(width)));
        }
        each(&wide)
    })
}

/// Hands out one coordinate of every cell.
fn axis_of(
    tensor: &Tensor,
    axis: usize,
    limits: &Limits,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut pending = Vec::new();
    tensor.for_each_cell(limits, &mut |cell| {
        let Cell::At { index, .. } = cell else {
            return Err(Error::invalid("labels have no coordinates"));
        };
        let place = index.get(axis).copied().unwrap_or(0);
        pending.extend(place.to_le_bytes());
        if pending.len() >= PIECE {
            each(&pending)?;
            pending.clear();
        }
        Ok(())
    })?;
    each(&pending)
}
