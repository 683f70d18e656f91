//! Lists of files and tensors, and properties of a tensor.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use serde_json::{Value, json};
use tenfold::{Address, Algorithm, Bundle, Cell, Dim, Key, Limits, Meta, Order, Storage, Tensor};

use super::query::Query;
use super::response::{HttpError, Json, count};
use super::state::{AppState, File, place};
use super::tasks::work;
use crate::image::{drawable, float};

type Answer = Result<Json, HttpError>;

/// The files.
pub(super) async fn files(State(world): State<Arc<AppState>>) -> Answer {
    let files = world.files.iter().map(|file| {
        let (info, bundle) = (file.opened.format.info(), &file.opened.bundle);
        let notes = bundle
            .notes()
            .iter()
            .map(|note| (world.wording.note)(info, note));
        json!({
            "name": file.name,
            "path": file.is_whole.then_some(&file.word),
            "format": info.name,
            "version": version(bundle),
            "bytes": count(file.len),
            "tensors": bundle.entries().len(),
            "metadata": metadata(&world, &bundle.meta, &bundle.hints),
            "notes": notes.collect::<Vec<String>>(),
        })
    });
    let files: Vec<Value> = files.collect();
    Ok(Json(
        json!({ "schema": "tenfold.view.files/1", "files": files }),
    ))
}

/// The format version declared by a file.
fn version(bundle: &Bundle) -> Option<String> {
    let mut all = bundle.hints.iter().chain(bundle.meta.iter());
    let is_version = |name: &str| name == "version" || name.ends_with(":version");
    all.find_map(|(name, value)| {
        if is_version(name) {
            match (value.as_text(), value.as_u64()) {
                (Some(text), _) => Some(text.to_owned()),
                (None, Some(number)) => Some(number.to_string()),
                (None, None) => None,
            }
        } else {
            None
        }
    })
}

fn metadata(world: &AppState, meta: &Meta, hints: &Meta) -> Value {
    let text = (world.wording.metadata)(meta, hints);
    serde_json::from_str(&text).unwrap_or_default()
}

/// The tensors of a file, as columns.
pub(super) async fn tensors(State(world): State<Arc<AppState>>, uri: Uri) -> Answer {
    let file = Query::of(&uri).wanted("file")?;
    work(world, move |world, _| {
        let file = world.file(file)?;
        let entries = file.opened.bundle.entries();
        let names: Vec<String> = entries.iter().map(|(key, _)| name(file, key)).collect();
        let dtypes: Vec<String> = entries.iter().map(|(_, tensor)| dtype(tensor)).collect();
        let shapes: Vec<Value> = entries.iter().map(|(_, tensor)| shape(tensor)).collect();
        let kinds: Vec<&str> = entries.iter().map(|(_, tensor)| kind(tensor)).collect();
        Ok(Json(json!({
            "schema": "tenfold.view.tensors/1",
            "names": names,
            "dtypes": dtypes,
            "shapes": shapes,
            "kinds": kinds,
        })))
    })
    .await
}

fn name(file: &File, key: &Key) -> String {
    file.opened.format.info().name_of(key)
}

/// The element type; for quantized tensors, the block type.
fn dtype(tensor: &Tensor) -> String {
    match tensor.storage() {
        Storage::Opaque { layout, .. } if tensor.is_quantized() => layout.clone(),
        _ => tensor.dtype().to_string(),
    }
}

fn shape(tensor: &Tensor) -> Value {
    let sizes = tensor.dims().iter().map(|dim| match dim.indexed_size() {
        Some(size) => count(size),
        None => Value::Null,
    });
    Value::from_iter(sizes)
}

fn kind(tensor: &Tensor) -> &'static str {
    match tensor.storage() {
        Storage::Dense { .. } if tensor.is_packed() => "packed",
        Storage::Dense { .. } => "dense",
        Storage::Sparse {
            address: Address::Labels,
            ..
        } => "labelled",
        Storage::Sparse { .. } => "sparse",
        Storage::Train { .. } => "train",
        Storage::Opaque { .. } => "opaque",
    }
}

/// The properties of a tensor.
pub(super) async fn tensor(State(world): State<Arc<AppState>>, uri: Uri) -> Answer {
    let place = place(&Query::of(&uri))?;
    work(world, move |world, _| {
        let (file, key, tensor) = world.entry(place)?;
        let why = drawable(tensor).err().map(|error| error.to_string());
        let parts = tensor.dtype().arity.count();
        let said = metadata(world, &tensor.meta, &tensor.hints);
        let labels = labels(tensor, &world.limits)?;
        let mut labels = labels.into_iter();
        let dims = tensor.dims().iter().map(|dim| {
            let n_labels = match dim.indexed_size() {
                Some(_) => None,
                None => labels.next().flatten(),
            };
            described(dim, n_labels)
        });
        Ok(Json(json!({
            "schema": "tenfold.view.tensor/1",
            "name": name(file, key),
            "dtype": dtype(tensor),
            "complex": parts == 2,
            "parts": parts,
            "kind": kind(tensor),
            "dims": dims.collect::<Vec<Value>>(),
            "cells": tensor.cells().filter(|_| tensor.n_mapped() == 0).map(count),
            "stored": count(tensor.stored()),
            "nbytes": count(tensor.storage().stored_len()),
            "density": density(tensor),
            "order": order(tensor),
            "symmetries": symmetries(tensor),
            "metadata": said,
            "checksum": checksum(tensor),
            "train": train(tensor, &said),
            "show": show(file, &name(file, key)),
            "drawable": why.is_none(),
            "why": why,
        })))
    })
    .await
}

fn described(dim: &Dim, labels: Option<usize>) -> Value {
    json!({
        "name": dim.name,
        "size": dim.indexed_size().map(count),
        "labels": labels,
    })
}

/// The number of labels of each mapped dimension; `None` if counting would take long.
fn labels(tensor: &Tensor, limits: &Limits) -> Result<Vec<Option<usize>>, HttpError> {
    /// Labels are not counted above this number of blocks.
    const MANY: u64 = 1 << 20;
    if tensor.n_mapped() == 0 || tensor.stored() > MANY {
        return Ok(vec![None; tensor.n_mapped()]);
    }
    let hasher = RandomState::new();
    let mut seen: Vec<HashSet<u64>> = vec![HashSet::new(); tensor.n_mapped()];
    tensor.for_each_cell(limits, &mut |cell| {
        if let Cell::Labelled { labels, .. } = cell {
            for (label, seen) in labels.iter().zip(&mut seen) {
                seen.insert(hasher.hash_one(label));
            }
        }
        Ok(())
    })?;
    Ok(seen.iter().map(|seen| Some(seen.len())).collect())
}

/// The fraction of cells that a sparse tensor stores.
fn density(tensor: &Tensor) -> Option<f64> {
    let cells = tensor
        .cells()
        .filter(|cells| *cells > 0 && tensor.n_mapped() == 0)?;
    let cells = u64::try_from(cells).ok()?;
    let is_sparse = matches!(tensor.storage(), Storage::Sparse { .. });
    is_sparse.then(|| float(tensor.stored()) / float(cells))
}

fn order(tensor: &Tensor) -> Option<&'static str> {
    match tensor.storage() {
        Storage::Dense { order, .. } => Some(match order {
            Order::Row => "row",
            Order::Column => "column",
        }),
        Storage::Sparse { .. } | Storage::Train { .. } | Storage::Opaque { .. } => None,
    }
}

fn symmetries(tensor: &Tensor) -> Vec<String> {
    let symmetries = tensor.symmetries().iter();
    let text = symmetries.map(|symmetry| {
        let packed = if symmetry.packed { ", packed" } else { "" };
        let (operation, permutation) = (&symmetry.operation, &symmetry.permutation);
        format!("{operation} under {permutation:?}{packed}")
    });
    text.collect()
}

fn checksum(tensor: &Tensor) -> String {
    let parts = tensor.storage().parts();
    let Some(digest) = parts.iter().find_map(|part| part.bytes.digest()) else {
        return "none".into();
    };
    let name = match digest.algorithm {
        Algorithm::Crc32 => "crc32",
        Algorithm::Crc32c => "crc32c",
        Algorithm::Sha256 => "sha256",
        Algorithm::Xxh3 => "xxh3",
    };
    let hex: String = { digest.expected.iter() }
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{name} {hex}")
}

/// The cores of a train; its distance from the original is in the metadata `said`.
fn train(tensor: &Tensor, said: &Value) -> Value {
    let Storage::Train { ranks, .. } = tensor.storage() else {
        return Value::Null;
    };
    let cells = tensor.dims().iter().filter_map(Dim::indexed_size);
    // In floats: a train may represent more cells than can be counted.
    let cells: f64 = cells.map(float).product();
    let ratio = cells / float(tensor.stored().max(1));
    let error = said.as_object().and_then(|said| {
        let found = said.iter().find(|(name, _)| name.ends_with("error"));
        found.map(|(_, value)| value.to_string().trim_matches('"').to_owned())
    });
    json!({
        "sizes": tensor.indexed_sizes().into_iter().map(count).collect::<Vec<Value>>(),
        "ranks": ranks,
        "ratio": ratio.is_finite().then_some(ratio),
        "error": error,
    })
}

/// The shell command that prints the tensor.
fn show(file: &File, name: &str) -> String {
    let word = if file.is_whole && !name.is_empty() {
        format!("{}:{name}", file.word)
    } else {
        file.word.clone()
    };
    format!("tenfold show '{}'", word.replace('\'', r"'\''"))
}
