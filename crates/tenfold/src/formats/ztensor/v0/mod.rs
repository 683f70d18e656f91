//! Generation 0.1: one blob per tensor, described by a list of maps.

mod blob;
mod entries;
mod read;
mod sparse;
mod write;

pub(super) use read::{ENCODINGS, LAYOUTS, read};
pub(super) use write::{keeps_checksum, write};

use super::hint;
use crate::bundle::Bundle;
use crate::dtype::{Number, Numbers};
use crate::error::Result;
use crate::loss::{Aspect, Loss};
use crate::meta::Value;
use crate::tensor::{Storage, Tensor};

pub(super) const MAGIC: &[u8; 8] = b"ZTEN0001";
const ALIGNMENT: u64 = 64;

/// The sparse layouts, which the programs have and the specification lacks.
const COORDINATES: &str = "sparsecoo";
const ROWS: &str = "sparsecsr";
/// The name of the only part of an opaque tensor.
const PART: &str = "data";

/// The fields of a tensor's map that are not user metadata.
const FIELDS: &[&str] = &[
    "name",
    "offset",
    "size",
    "dtype",
    "layout",
    "shape",
    "encoding",
    "data_endianness",
    "checksum",
];

/// The number types and their names.
pub(super) const DTYPES: &[(&str, Number)] = &[
    ("float64", Number::F64),
    ("float32", Number::F32),
    ("float16", Number::F16),
    ("bfloat16", Number::Bf16),
    ("int64", Number::I64),
    ("int32", Number::I32),
    ("int16", Number::I16),
    ("int8", Number::I8),
    ("uint64", Number::U64),
    ("uint32", Number::U32),
    ("uint16", Number::U16),
    ("uint8", Number::U8),
    ("bool", Number::Bool),
];

/// The losses of a bundle.
pub(super) fn format_losses(bundle: &Bundle) -> Result<Vec<Loss>> {
    let mut losses = Vec::new();
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        for (name, value) in tensor.meta.iter() {
            if FIELDS.contains(&name) {
                add(
                    Aspect::Metadata,
                    format!("metadata called {name}, which the format uses"),
                );
            }
            if !fits_cbor(value) {
                add(
                    Aspect::Metadata,
                    format!("metadata {name} has an integer beyond 64 bits"),
                );
            }
        }
        match tensor.storage() {
            // The specification has no sparse layout, and no reader supports those of its own
            // writer: they are copied, but not created.
            Storage::Sparse { .. } if !sparse::is_blob(tensor)? => {
                add(Aspect::Sparsity, "sparse cells".into());
            }
            Storage::Opaque { layout, parts } if !is_own(tensor, layout, parts) => {
                add(
                    Aspect::Skipped,
                    format!("the layout {layout:?} is not one of its own"),
                );
            }
            _ => {}
        }
    }
    Ok(losses)
}

/// Whether opaque bytes are such as a file of this generation has.
fn is_own(tensor: &Tensor, layout: &str, parts: &[(String, Numbers)]) -> bool {
    let is_bytes = |part: &Numbers| part.number == Number::U8;
    let has_one = matches!(parts, [(name, part)] if name == PART && is_bytes(part));
    let hints = [hint::LAYOUT, hint::DTYPE, hint::ENCODING];
    let said: Vec<&str> = { hints.iter() }
        .filter_map(|hint| tensor.hints.text(hint))
        .collect();
    has_one && tensor.hints.text(hint::LAYOUT).is_some() && said.contains(&layout)
}

pub(super) fn fits_cbor(value: &Value) -> bool {
    match value {
        Value::Int(number) => minicbor::data::Int::try_from(*number).is_ok(),
        Value::List(items) => items.iter().all(fits_cbor),
        Value::Map(pairs) => pairs
            .iter()
            .all(|(key, value)| fits_cbor(key) && fits_cbor(value)),
        Value::Tag(_, item) => fits_cbor(item),
        Value::Null
        | Value::Bool(_)
        | Value::Float { .. }
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Simple(_) => true,
    }
}
