//! Losses of generation 2.

use std::collections::HashSet;

use super::super::NAME;
use super::super::parts::misfit;
use super::super::types::stored_as;
use super::{DIALECT, FILE_LEVELS, LEVELS, LONGEST_NAME, OBJECT_LEVELS, is_name};
use crate::bundle::Bundle;
use crate::format::elements_of;
use crate::loss::{Aspect, Loss};
use crate::meta::{Meta, Value};
use crate::tensor::{Storage, Tensor};
use crate::wire::cbor::{Out, deterministic};

pub(super) fn format_losses(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = Vec::new();
    for detail in misfits(&bundle.meta, LEVELS.saturating_sub(FILE_LEVELS)) {
        let detail = format!("file {detail}");
        losses.push(Loss::impossible(None, Aspect::Metadata, detail));
    }
    let mut seen = HashSet::new();
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        if key.flat_name().is_some_and(|name| !is_name(name)) {
            let why = format!("a name has 1 to {LONGEST_NAME} bytes and none that is zero");
            add(Aspect::Keys, why);
        }
        if !seen.insert(key) {
            add(Aspect::Keys, "a name that is used twice".into());
        }
        for detail in misfits(&tensor.meta, LEVELS.saturating_sub(OBJECT_LEVELS)) {
            add(Aspect::Metadata, detail);
        }
        for_tensor(tensor, &mut add);
    }
    losses
}

/// Metadata that cannot be attributes, whose values may have so many levels.
fn misfits(meta: &Meta, levels: u64) -> impl Iterator<Item = String> {
    meta.iter().filter_map(move |(name, value)| {
        if !is_name(name) {
            Some(format!(
                "metadata {name:?}: a name has 1 to {LONGEST_NAME} bytes and none that is zero"
            ))
        } else if !is_deterministic(value, levels) {
            Some(format!(
                "metadata {name} has no spelling in deterministic CBOR"
            ))
        } else {
            None
        }
    })
}

fn is_deterministic(value: &Value, levels: u64) -> bool {
    let mut out = Out::new();
    let is_written = out.value(value).is_ok();
    is_written && deterministic::check(&out.finish(), 0, NAME, levels).is_ok()
}

fn for_tensor(tensor: &Tensor, add: &mut dyn FnMut(Aspect, String)) {
    let sizes = tensor.indexed_sizes();
    let cells = sizes
        .iter()
        .try_fold(1_u64, |cells, size| cells.checked_mul(*size));
    if cells.is_none() {
        let why = "a shape of more cells than 64 bits count";
        add(Aspect::Shape, why.into());
    }
    match tensor.storage() {
        Storage::Opaque { layout, parts } => {
            if let Some(why) = misfit(tensor, layout, parts, &DIALECT) {
                add(Aspect::Skipped, why);
            }
        }
        Storage::Sparse { .. } if tensor.dims().is_empty() => {
            add(Aspect::Sparsity, "a sparse scalar".into());
        }
        Storage::Dense { .. } | Storage::Sparse { .. } | Storage::Train { .. } => {}
    }
    let dtype = tensor.dtype();
    let is_held = super::INFO.holds.numbers.contains(&dtype.number)
        && super::INFO.holds.arities.contains(&dtype.arity);
    let is_opaque = matches!(tensor.storage(), Storage::Opaque { .. });
    if is_held && !is_opaque && stored_as(dtype).is_none() {
        add(Aspect::Number, elements_of(dtype));
    }
}
