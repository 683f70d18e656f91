//! Descriptions of files and tensors, shared by `info` and `show`.

use std::fmt::Write;

use tenfold::ops::UNNAMED;
use tenfold::{Info, Key, Meta, Note, Result, Size, Symmetry, Tensor};

use super::{Json, quoted, short_value, value};
use crate::terminal::plain;

/// The name of a tensor: raw in a flat format, otherwise the path as [`Key`] shows it.
pub(crate) fn shown_name(info: &Info, key: &Key) -> String {
    info.name_of(key)
}

/// The name of a tensor as text, or a placeholder for an unnamed one.
pub(crate) fn name_text(name: &str) -> String {
    if name.is_empty() {
        UNNAMED.into()
    } else {
        name.into()
    }
}

/// Writes the fields that describe a tensor into an open object: `key` to `metadata`.
pub(crate) fn describe(json: &mut Json, info: &Info, key: &Key, tensor: &Tensor) -> Result<()> {
    json.name("key")?.texts(key.path())?;
    json.name("state")?.text_or_null(key.state.as_deref())?;
    json.name("name")?.text(&shown_name(info, key))?;
    json.name("dtype")?.text(&tensor.dtype().to_string())?;
    json.name("shape")?.list(|json| {
        let mut dims = tensor.dims().iter();
        dims.try_for_each(|dim| json.number_or_null(dim.indexed_size()))
    })?;
    json.name("dims")?.list(|json| dims(json, tensor))?;
    json.name("storage")?.text(tensor.storage().as_str())?;
    json.name("symmetries")?.list(|json| {
        let mut symmetries = tensor.symmetries().iter();
        symmetries.try_for_each(|item| symmetry(json, item))
    })?;
    metadata(json, &tensor.meta, &tensor.hints)
}

fn dims(json: &mut Json, tensor: &Tensor) -> Result<()> {
    tensor.dims().iter().try_for_each(|dim| {
        json.object(|json| {
            json.name("name")?.text_or_null(dim.name.as_deref())?;
            match dim.size {
                Size::Indexed(size) => json.name("size")?.number(size),
                Size::Mapped => json.name("mapped")?.number(true),
            }
        })
    })
}

fn symmetry(json: &mut Json, symmetry: &Symmetry) -> Result<()> {
    json.object(|json| {
        json.name("permutation")?.numbers(&symmetry.permutation)?;
        json.name("operation")?.text(&symmetry.operation)?;
        json.name("packed")?.number(symmetry.packed)
    })
}

/// Writes the field `metadata`: the metadata of the file, then hints that it does not repeat.
pub(crate) fn metadata(json: &mut Json, meta: &Meta, hints: &Meta) -> Result<()> {
    json.name("metadata")?.raw(&metadata_object(meta, hints))
}

/// The metadata of the file, then hints that it does not repeat, as a JSON object.
pub(crate) fn metadata_object(meta: &Meta, hints: &Meta) -> String {
    let hints = hints.iter().filter(|(name, _)| meta.get(name).is_none());
    let mut text = String::from("{");
    for (name, item) in meta.iter().chain(hints) {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&quoted(name));
        text.push(':');
        value(item, &mut text);
    }
    text.push('}');
    text
}

/// Metadata and hints as text, one line each.
pub(crate) fn metadata_lines(meta: &Meta, hints: &Meta) -> Vec<String> {
    let hints = hints.iter().filter(|(name, _)| meta.get(name).is_none());
    meta.iter()
        .chain(hints)
        .map(|(name, item)| format!("{name}: {}", short_value(item)))
        .collect()
}

/// Writes a note.
pub(crate) fn note(json: &mut Json, info: Option<&Info>, note: &Note) -> Result<()> {
    let key = note.key.as_ref().map(|key| match info {
        Some(info) => shown_name(info, key),
        None => key.to_string(),
    });
    json.object(|json| {
        json.name("kind")?.text(note.kind.as_str())?;
        if let Some(file) = &note.file {
            json.name("file")?.text(file)?;
        }
        json.name("key")?.text_or_null(key.as_deref())?;
        json.name("at")?.number_or_null(note.at)?;
        json.name("len")?.number_or_null(note.len)?;
        json.name("text")?.text(&note.text)
    })
}

/// A note as text, such as `note (skipped) on enc/w: dtype int4 is not known (byte 7)`.
pub(crate) fn note_text(info: &Info, note: &Note) -> String {
    let mut text = format!("note ({})", note.kind.as_str());
    // Writing to a string cannot fail.
    if let Some(file) = &note.file {
        let _ = write!(text, " in {}", plain(file));
    }
    if let Some(key) = note.key.as_ref().filter(|key| !key.is_empty()) {
        let _ = write!(text, " on {}", shown_name(info, key));
    }
    let _ = write!(text, ": {}", note.text);
    if let Some(at) = note.at {
        let _ = write!(text, " (byte {at})");
    }
    text
}
