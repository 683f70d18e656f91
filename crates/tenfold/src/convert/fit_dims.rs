//! Fits the names and the order of dimensions to the target.

use serde_json::{Value as Json, json};

use super::fit::Step;
use crate::error::Result;
use crate::format::DimNames;
use crate::loss::{Aspect, Tier};
use crate::tensor::{Dim, Storage, Tensor};

/// The tensor with dimensions that the target accepts; `None` if it has such already.
pub(crate) fn lower(step: &mut Step, tensor: &Tensor) -> Result<Option<Tensor>> {
    match step.info.holds.dim_names {
        DimNames::No => without(step, tensor, |_, _| false),
        DimNames::Batch => {
            let last = tensor.dims().len().saturating_sub(1);
            without(step, tensor, move |place, name| {
                place == last && name == "batch"
            })
        }
        DimNames::Letter => {
            let are_letters = tensor
                .dims()
                .iter()
                .all(|dim| dim.name.as_deref().is_some_and(is_letter))
                && step.has_dim_names(tensor)?;
            without(step, tensor, move |_, _| are_letters)
        }
        DimNames::Any => Ok(None),
        DimNames::Required => {
            let named = named(step, tensor)?;
            let sorted = in_sorted_order(step, named.as_ref().unwrap_or(tensor))?;
            Ok(sorted.or(named))
        }
    }
}

fn is_letter(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next().map(u32::from);
    first.is_some_and(|code| code < 256) && letters.next().is_none()
}

/// The same tensor with other dimensions of the same sizes.
fn with_dims(step: &Step, tensor: &Tensor, dims: Vec<Dim>) -> Result<Tensor> {
    let symmetries = tensor.symmetries().to_vec();
    let storage = tensor.storage().clone();
    let limits = &step.how.limits;
    let renamed = Tensor::within(dims, tensor.dtype(), symmetries, storage, limits)?;
    Ok(renamed.with_meta_of(tensor))
}

/// Drops the names that `keep` rejects.
fn without(
    step: &mut Step,
    tensor: &Tensor,
    keep: impl Fn(usize, &str) -> bool,
) -> Result<Option<Tensor>> {
    // The name of a mapped dimension is dropped along with its labels.
    let is_lost = |(place, dim): (usize, &Dim)| {
        dim.indexed_size().is_some() && dim.name.as_deref().is_some_and(|name| !keep(place, name))
    };
    if !tensor.dims().iter().enumerate().any(is_lost) {
        return Ok(None);
    }
    let mut dims = tensor.dims().to_vec();
    let mut lost = Vec::new();
    for (place, dim) in dims.iter_mut().enumerate() {
        if is_lost((place, dim)) {
            lost.extend(dim.name.take());
        }
    }
    // Dropping default names is no loss.
    if !are_default(tensor.dims()) {
        let tier = if step.carry("dims", names_json(tensor.dims())) {
            Tier::Carried
        } else {
            Tier::Said
        };
        let verb = if tier == Tier::Carried {
            "carried"
        } else {
            "dropped"
        };
        let detail = format!("the names of dimensions are {verb}: {}", lost.join(", "));
        step.change(tier, Aspect::DimNames, detail);
    }
    with_dims(step, tensor, dims).map(Some)
}

fn names_json(dims: &[Dim]) -> Json {
    dims.iter().map(|dim| json!(dim.name)).collect()
}

/// The default name of dimension `place` of `ndim`: `a`, `b`, `c`, …
fn default_name(place: usize, ndim: usize) -> String {
    match ('a'..='z').nth(place) {
        Some(letter) if ndim <= 26 => letter.into(),
        _ => format!("d{place:03}"),
    }
}

/// Whether all dimensions have their default names.
fn are_default(dims: &[Dim]) -> bool {
    let is_default = |(place, dim): (usize, &Dim)| {
        dim.name.as_deref() == Some(default_name(place, dims.len()).as_str())
    };
    dims.iter().enumerate().all(is_default)
}

/// Names unnamed dimensions: a, b, c, … if none has a name.
fn named(step: &mut Step, tensor: &Tensor) -> Result<Option<Tensor>> {
    let mut dims = tensor.dims().to_vec();
    let ndim = dims.len();
    if dims.iter().all(|dim| dim.name.is_some()) {
        return Ok(None);
    }
    // Beside given names, letters could be mistaken for names of the same kind.
    let is_mixed = dims.iter().any(|dim| dim.name.is_some());
    let mut invented = Vec::new();
    for (place, dim) in dims.iter_mut().enumerate() {
        if dim.name.is_none() {
            let name = if is_mixed {
                format!("d{place:03}")
            } else {
                default_name(place, ndim)
            };
            invented.push(name.clone());
            dim.name = Some(name);
        }
    }
    let detail = format!("dimensions are called {}", invented.join(", "));
    step.change(Tier::Said, Aspect::Invented, detail);
    with_dims(step, tensor, dims).map(Some)
}

/// Transposes a tensor so that its dimensions are sorted by name, mapped ones first.
fn in_sorted_order(step: &mut Step, tensor: &Tensor) -> Result<Option<Tensor>> {
    let is_labelled = tensor.n_mapped() > 0;
    if !is_labelled && !matches!(tensor.storage(), Storage::Dense { .. }) {
        return Ok(None);
    }
    let mut axes: Vec<usize> = (0..tensor.dims().len()).collect();
    axes.sort_by_key(|axis| {
        let dim = tensor.dims().get(*axis);
        dim.map(|dim| (dim.indexed_size().is_some(), dim.name.clone()))
    });
    if axes.is_sorted() {
        return Ok(None);
    }
    let permuted = tensor
        .permute(&axes, &step.how.limits)?
        .with_label_sizes_of(tensor, &axes);
    let dims = permuted.dims().iter();
    let names: Vec<&str> = dims.filter_map(|dim| dim.name.as_deref()).collect();
    step.change(
        Tier::Said,
        Aspect::DimOrder,
        format!("dimensions are transposed to {}", names.join(", ")),
    );
    Ok(Some(permuted))
}
