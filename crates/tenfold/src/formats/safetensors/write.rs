//! Writes safetensors as the reference does: the header first, as all sizes are known, and then the
//! values.

use std::cmp::Reverse;
use std::io::Write as _;

use super::{EMPTY, FORMAT, METADATA, MOST_HEADER, Type};
use crate::bundle::Bundle;
use crate::bytes::{Endian, to_u64};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::memory;
use crate::meta::Meta;
use crate::tensor::{Storage, Tensor};

/// Alignment of the values.
const ALIGNMENT: usize = 8;

/// The programs that a file can be declared for.
const FORMATS: &[(&str, &str)] = &[
    ("pt", "pt"),
    ("tf", "tf"),
    ("flax", "flax"),
    ("np", "np"),
    ("mlx", "mlx"),
];

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let mut meta = bundle.meta.clone();
    if let Some(format) = how.options.choose(FORMAT, FORMATS)? {
        meta.set(FORMAT, format);
    }
    let plans = plans(bundle)?;
    let is_empty = bundle.hints.get(EMPTY).is_some();
    let header = header((is_empty || !meta.is_empty()).then_some(&meta), &plans)?;
    let len = to_u64(header.len());
    if len > MOST_HEADER {
        let why = format!("a header of {len} bytes, safetensors allows {MOST_HEADER}");
        return Err(Error::invalid(why));
    }
    out.write(&len.to_le_bytes())?;
    out.write(&header)?;
    out.make_room(plans.iter().map(|plan| &plan.values.bytes));
    plans
        .iter()
        .try_for_each(|plan| plan.values.write(out, Endian::Little))
}

/// A tensor to be written.
struct Plan<'a> {
    name: &'a str,
    tensor: &'a Tensor,
    /// The index of its type among all types.
    rank: usize,
    dtype: &'static Type,
    values: &'a Numbers,
}

/// The tensors in the order in which the reference writes them.
fn plans(bundle: &Bundle) -> Result<Vec<Plan<'_>>> {
    let plan = |(key, tensor)| Plan::new(key, tensor);
    let entries = bundle.entries().iter();
    let named = entries.map(|(key, tensor)| (key.flat_name(), tensor));
    let mut plans = memory::gathered(named.map(plan))?;
    memory::sort_by(&mut plans, |one, other| {
        (Reverse(one.rank), one.name).cmp(&(Reverse(other.rank), other.name))
    })?;
    Ok(plans)
}

impl<'a> Plan<'a> {
    fn new(name: Option<&'a str>, tensor: &'a Tensor) -> Result<Plan<'a>> {
        let name = name.ok_or_else(|| Error::invalid("a tensor without a plain name"))?;
        let unknown = || Error::invalid(format!("safetensors has no {}", tensor.dtype()));
        let (rank, dtype) = Type::of(tensor).ok_or_else(unknown)?;
        let values = match tensor.storage() {
            Storage::Dense { values, .. } => Some(values),
            Storage::Opaque { parts, .. } => parts.first().map(|(_, part)| part),
            Storage::Sparse { .. } | Storage::Train { .. } => None,
        };
        let values = values.ok_or_else(|| Error::invalid("safetensors holds dense values"))?;
        Ok(Plan {
            name,
            tensor,
            rank,
            dtype,
            values,
        })
    }
}

/// The object and its padding.
fn header(meta: Option<&Meta>, plans: &[Plan]) -> Result<Vec<u8>> {
    let mut json = vec![b'{'];
    if let Some(meta) = meta {
        text(&mut json, METADATA)?;
        json.push(b':');
        texts(&mut json, meta)?;
    }
    let mut offset = 0_u64;
    for plan in plans {
        let sizes = plan.tensor.dims().len().saturating_mul(DIGITS);
        room(&mut json, plan.name, sizes)?;
        if json.len() > 1 {
            json.push(b',');
        }
        text(&mut json, plan.name)?;
        let end = offset.saturating_add(plan.values.bytes.len());
        write!(json, r#":{{"dtype":"{}","shape":["#, plan.dtype.name)?;
        for (place, size) in plan.tensor.sizes()?.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(json, "{comma}{size}")?;
        }
        write!(json, r#"],"data_offsets":[{offset},{end}]}}"#)?;
        offset = end;
    }
    json.push(b'}');
    json.resize(json.len().next_multiple_of(ALIGNMENT), b' ');
    Ok(json)
}

/// Most digits of a number, and a comma.
const DIGITS: usize = 21;

/// Reserves memory for a text, for `more` bytes and for the words around them, as the writer cannot
/// report a failed allocation.
fn room(json: &mut Vec<u8>, text: &str, more: usize) -> Result<()> {
    /// Longest escape of a character.
    const ESCAPED: usize = 6;
    const WORDS: usize = 128;
    let text = text.len().saturating_mul(ESCAPED);
    memory::reserve(json, text.saturating_add(more).saturating_add(WORDS))
}

fn texts(json: &mut Vec<u8>, meta: &Meta) -> Result<()> {
    json.push(b'{');
    for (place, (name, value)) in meta.iter().enumerate() {
        let value = value.as_text();
        let value = value.ok_or_else(|| Error::invalid(format!("metadata {name} is no text")))?;
        if place > 0 {
            json.push(b',');
        }
        room(json, name, 0)?;
        text(json, name)?;
        json.push(b':');
        room(json, value, 0)?;
        text(json, value)?;
    }
    json.push(b'}');
    Ok(())
}

/// Appends a text in JSON.
fn text(json: &mut Vec<u8>, text: &str) -> Result<()> {
    serde_json::to_writer(json, text).map_err(|error| Error::invalid(error.to_string()))
}
