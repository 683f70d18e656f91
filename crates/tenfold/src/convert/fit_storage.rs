//! Fits the storage of values to the target: densified, unpacked, with positions for labels.

use serde_json::{Value as Json, json};

use super::fit::{Step, rebuilt};
use super::sidecar::opaque;
use super::sidecar::train::{FIELD, train_json};
use super::sidecar::write::symmetries_json;
use crate::bytes::to_u64;
use crate::dtype::{Arity, DType, is_exact};
use crate::error::{Error, Result, amount};
use crate::format::StorageKind;
use crate::loss::{Aspect, Tier};
use crate::tensor::{
    Address, Labels, MOST_BLOCKS, Numbering, Order, Placed, Storage, Symmetry, Tensor, product,
};
use crate::units::{bytes_text, percent_text};

/// Densifies storage that the target cannot hold otherwise, and drops symmetries it cannot express;
/// `None` if nothing changes.
pub(crate) fn lower(step: &mut Step, tensor: &Tensor) -> Result<Option<Tensor>> {
    if let Some(bytes) = opaque::as_bytes(step, tensor)? {
        return Ok(Some(bytes));
    }
    let holds = &step.info.holds;
    let has = |kind| holds.kinds.contains(&kind);
    let loses_symmetry = !tensor.symmetries().is_empty() && !step.has_symmetries(tensor)?;
    // Formats that have only labelled blocks label the rows of dense cells.
    let is_dense = has(StorageKind::Dense) || has(StorageKind::Labelled);
    let lowered = match tensor.storage() {
        Storage::Train { ranks, .. } if carries_cores(step, tensor) => {
            let most = ranks.iter().max().copied().unwrap_or(1);
            let count = tensor.dims().len();
            let detail = format!("a tensor train of rank {most} is carried as {count} cores");
            step.change(Tier::Carried, Aspect::Train, detail);
            if !loses_symmetry {
                return Ok(None);
            }
            say_symmetry(step, tensor);
            let storage = tensor.storage().clone();
            rebuilt(tensor, tensor.dtype(), vec![], storage, &step.how.limits)
        }
        Storage::Train { ranks, .. } if !has(StorageKind::Train) && is_dense => {
            let most = ranks.iter().max().copied().unwrap_or(1);
            let len = bytes_text(dense_len(tensor));
            let detail = format!("a tensor train of rank {most} is expanded to {len}");
            step.change(Tier::Refused, Aspect::Train, detail);
            if loses_symmetry {
                say_symmetry(step, tensor);
            }
            made_dense(step, tensor)
        }
        Storage::Sparse {
            address: Address::Labels,
            ..
        } if !has(StorageKind::Labelled) && (is_dense || has(StorageKind::Sparse)) => {
            unlabelled(step, tensor, is_dense)
        }
        Storage::Sparse { address, .. }
            if !matches!(address, Address::Labels) && is_dense && !step.has_cells(tensor)? =>
        {
            if loses_symmetry {
                say_symmetry(step, tensor);
            }
            if has(StorageKind::Labelled) && keeps_cells(step, tensor, dense_len(tensor))? {
                labelled(step, tensor)
            } else {
                say_density(step, tensor)?;
                made_dense(step, tensor)
            }
        }
        Storage::Dense { .. } if loses_symmetry && tensor.is_packed() => {
            say_symmetry(step, tensor);
            made_dense(step, tensor)
        }
        _ if loses_symmetry => {
            say_symmetry(step, tensor);
            let full = tensor.unpacked(&step.how.limits)?;
            let storage = full.storage().clone();
            rebuilt(tensor, tensor.dtype(), vec![], storage, &step.how.limits)
        }
        _ => return Ok(None),
    };
    step.within_limits(lowered).map(Some)
}

/// Splits complex numbers into real ones on request: their components become a last dimension.
pub(crate) fn split(step: &mut Step, tensor: &Tensor) -> Result<Option<Tensor>> {
    let dtype = tensor.dtype();
    let is_train = matches!(tensor.storage(), Storage::Train { .. });
    let is_opaque = matches!(tensor.storage(), Storage::Opaque { .. });
    if !step.how.split_complex || dtype.arity == Arity::Real || is_train || is_opaque {
        return Ok(None);
    }
    if !tensor.symmetries().is_empty() {
        say_symmetry(step, tensor);
    }
    let real = DType::real(dtype.number);
    let count = dtype.arity.count();
    let detail = format!("{dtype} becomes {real} with a last dimension of {count}");
    let is_carried = step.carry("elements", dtype.to_string().into());
    let tier = if is_carried {
        Tier::Carried
    } else {
        Tier::Said
    };
    step.change(tier, Aspect::Number, detail);
    tensor.split_components(&step.how.limits).map(Some)
}

/// Carries the description by which the cores of a train are joined again; false if it cannot be
/// split.
fn carries_cores(step: &mut Step, tensor: &Tensor) -> bool {
    let carried = step.suffix.take().filter(|suffix| {
        let train = train_json(tensor, suffix);
        step.carry(FIELD, train)
    });
    step.suffix = carried;
    step.suffix.is_some()
}

fn made_dense(step: &Step, tensor: &Tensor) -> Result<Tensor> {
    let values = tensor.dense(Order::Row, &step.how.limits)?;
    let kept: Vec<Symmetry> = if step.has_symmetries(tensor)? {
        tensor.symmetries().to_vec()
    } else {
        vec![]
    };
    let order = Order::Row;
    rebuilt(
        tensor,
        tensor.dtype(),
        kept,
        Storage::Dense { order, values },
        &step.how.limits,
    )
}

/// Carries symmetries as they are. Only if cells were explicit are they carried as declared: which
/// cells were left out is no longer known.
fn say_symmetry(step: &mut Step, tensor: &Tensor) {
    let count = tensor.symmetries().len();
    let (is_packed, is_dense) = (
        tensor.is_packed(),
        matches!(tensor.storage(), Storage::Dense { .. }),
    );
    let all: Vec<Symmetry> = tensor
        .symmetries()
        .iter()
        .map(|symmetry| Symmetry {
            packed: symmetry.packed && is_dense,
            ..symmetry.clone()
        })
        .collect();
    let is_carried = step.carry("symmetries", symmetries_json(all.iter()));
    let what = match (is_packed, is_carried) {
        (true, _) => "unpacked",
        (false, true) => "carried",
        (false, false) => "no longer declared",
    };
    let tier = if is_carried && (is_dense || !is_packed) {
        Tier::Carried
    } else {
        Tier::Said
    };
    step.change(
        tier,
        Aspect::Symmetry,
        format!("symmetries {what}: {count}"),
    );
}

/// The length of all cells in bytes.
fn dense_len(tensor: &Tensor) -> u128 {
    let width = to_u64(tensor.dtype().width());
    let cells = tensor.cells().unwrap_or(u128::MAX);
    cells.saturating_mul(width.into())
}

/// Whether densifying blows a tensor up: to more than a gibibyte, and to more than ten times its
/// length.
fn is_too_large(dense: u128, tensor: &Tensor) -> bool {
    const FINE: u128 = 1 << 30;
    let stored = u128::from(tensor.storage().stored_len());
    dense > FINE.max(stored.saturating_mul(10))
}

/// Reports how many cells are explicit and the length of all of them; their explicitness is carried
/// if they can be distinguished from the others again.
fn say_density(step: &mut Step, tensor: &Tensor) -> Result<()> {
    let dense = dense_len(tensor);
    let (stored, cells) = (tensor.stored(), tensor.cells().unwrap_or(u128::MAX));
    let detail = format!(
        "{stored} of {} cells are explicit ({}); dense values take {}",
        amount(cells),
        percent_text(stored, cells, 2),
        bytes_text(dense)
    );
    let (tier, detail) = if is_too_large(dense, tensor) {
        (
            Tier::Refused,
            format!("{detail}, {}", now_and_way(step, tensor)),
        )
    } else if carries_cells(step, tensor)? {
        (Tier::Carried, detail)
    } else {
        (Tier::Said, detail)
    };
    step.change(tier, Aspect::Sparsity, detail);
    Ok(())
}

/// The current length of the cells, and the version of the format that keeps them.
fn now_and_way(step: &Step, tensor: &Tensor) -> String {
    let now = bytes_text(tensor.storage().stored_len());
    match step.version_of(StorageKind::Sparse) {
        Some(version) => format!("now they take {now}; --to {version} keeps the cells"),
        None => format!("now they take {now}"),
    }
}

/// Carries the number of explicit cells, if these are exactly the nonzero cells.
fn carries_cells(step: &mut Step, tensor: &Tensor) -> Result<bool> {
    let own = tensor.dtype().number;
    // Rounding may turn the smallest numbers into zeros.
    let is_rounded = !step.info.holds.numbers.iter().any(|to| is_exact(own, *to));
    if tensor.is_packed() || is_rounded || !step.can_carry() {
        return Ok(false);
    }
    let (stored, limits) = (tensor.stored(), &step.how.limits);
    if tensor.density(limits)?.nonzero != stored {
        return Ok(false);
    }
    Ok(step.carry("sparse", json!({ "cells": stored })))
}

/// Whether the cells of a tensor stay sparse although a format could also hold all of them, which
/// take `dense` bytes: on request, or if these would be too many.
fn keeps_cells(step: &Step, tensor: &Tensor, dense: u128) -> Result<bool> {
    let is_asked = step.how.keeps_cells()?;
    Ok(!tensor.dims().is_empty() && (is_asked || is_too_large(dense, tensor)))
}

/// Labels sparse cells by their positions.
fn labelled(step: &mut Step, tensor: &Tensor) -> Result<Tensor> {
    tensor.positions_to_labels(&step.how.limits)
}

/// Says that positions became labels, once their order is the one that is written.
pub(super) fn say_labelled(step: &mut Step, lowered: &Tensor) {
    if let Some(sizes) = lowered.label_sizes() {
        let detail = format!(
            "positions of {} cells become labels, and the sizes are not kept: \
             read with --opt labels=decimal,shape={sizes}",
            lowered.stored(),
        );
        step.change(Tier::Said, Aspect::Labels, detail);
    }
}

/// Turns labels into positions: of all blocks, or of the explicit cells if all would be too many.
fn unlabelled(step: &mut Step, tensor: &Tensor, is_dense: bool) -> Result<Tensor> {
    let has_sparse = step.info.holds.kinds.contains(&StorageKind::Sparse);
    if !has_sparse && step.version_of(StorageKind::Sparse).is_none() {
        return placed(step, tensor);
    }
    let limits = &step.how.limits;
    let sizes = tensor.label_counts(limits)?;
    let dense = product(&sizes).and_then(|blocks| blocks.checked_mul(dense_len(tensor)));
    let dense = dense.unwrap_or(u128::MAX);
    if !has_sparse || (is_dense && !keeps_cells(step, tensor, dense)?) {
        return all_placed(step, tensor, &sizes, dense);
    }
    let cells = tensor.labels_to_positions(Numbering::FirstSeen, limits)?;
    if is_dense && !step.has_cells(&cells)? {
        return all_placed(step, tensor, &sizes, dense);
    }
    let detail = format!(
        "labels become positions ({}), numbered as they first appear",
        sizes_text(&sizes)
    );
    step.change(Tier::Refused, Aspect::Labels, detail);
    let detail = format!("explicit cells: {}", cells.stored());
    step.change(Tier::Said, Aspect::Sparsity, detail);
    Ok(cells)
}

fn sizes_text(sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    sizes.join(" × ")
}

/// Gives all blocks positions; if they are too many, that is refused with a hint to an option that
/// keeps them.
fn all_placed(step: &mut Step, tensor: &Tensor, sizes: &[u64], dense: u128) -> Result<Tensor> {
    let made = placed(step, tensor);
    let has_way = step.version_of(StorageKind::Sparse).is_some();
    if has_way && matches!(made, Err(Error::Limit { .. })) {
        let detail = format!(
            "labels become positions ({}); dense values take {}, {}",
            sizes_text(sizes),
            bytes_text(dense),
            now_and_way(step, tensor)
        );
        step.change(Tier::Refused, Aspect::Labels, detail);
    }
    made
}

/// Gives labelled blocks positions; the labels are carried if they fit.
fn placed(step: &mut Step, tensor: &Tensor) -> Result<Tensor> {
    let placed = tensor.placed(&step.how.limits)?;
    let dense = dense_len(&placed.tensor);
    let is_carried = !is_too_large(dense, tensor) && carry_labels(step, &placed)?;
    let tier = if is_carried {
        Tier::Carried
    } else {
        Tier::Refused
    };
    let mut detail = format!(
        "labels become positions ({}), absent blocks zeros ({}); dense values take {}",
        sizes_text(&placed.sizes),
        placed.absent,
        bytes_text(dense)
    );
    if is_too_large(dense, tensor) {
        detail = format!("{detail}, {}", now_and_way(step, tensor));
    }
    step.change(tier, Aspect::Labels, detail);
    Ok(placed.tensor)
}

/// Carries the labels of the mapped dimensions, and the list of blocks if some are absent.
fn carry_labels(step: &mut Step, placed: &Placed) -> Result<bool> {
    let all = u128::from(placed.n_blocks()).saturating_add(placed.absent);
    let len: usize = placed.labels.iter().map(Labels::text_len).sum();
    // Whether they fit is seen only from the text; building one of these would take too long.
    if all > MOST_BLOCKS || len > MOST_LABELS {
        return Ok(false);
    }
    let blocks = match placed.absent {
        0 => Json::Null,
        _ => json!(placed.blocks()?),
    };
    let lists = placed
        .labels
        .iter()
        .map(|list| list.iter().collect::<Vec<_>>());
    let labels = json!({ "dims": lists.collect::<Vec<_>>(), "blocks": blocks });
    Ok(step.carry("labels", labels))
}

/// Most bytes of labels that are carried.
const MOST_LABELS: usize = 1 << 20;
