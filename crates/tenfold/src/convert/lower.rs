//! Brings a bundle into the arrangement a format writes, lazily.
//!
//! Only what costs nothing in meaning happens here: the order of dense values.

use crate::bundle::Bundle;
use crate::error::Result;
use crate::format::Info;
use crate::limits::Limits;
use crate::tensor::{Storage, Tensor};

/// Gives the bundle with every dense tensor in an order that the format writes.
pub(super) fn lower(bundle: &Bundle, info: &Info, limits: &Limits) -> Result<Bundle> {
    let mut lowered = Bundle::new();
    lowered.meta = bundle.meta.clone();
    lowered.hints = bundle.hints.clone();
    for (key, tensor) in bundle.entries() {
        lowered.push(key.clone(), in_order(tensor, info, limits)?);
    }
    Ok(lowered)
}

fn in_order(tensor: &Tensor, info: &Info, limits: &Limits) -> Result<Tensor> {
    let Storage::Dense { order, .. } = tensor.storage() else {
        return Ok(tensor.clone());
    };
    let wanted = match info.holds.orders {
        orders if orders.contains(order) || tensor.is_packed() => return Ok(tensor.clone()),
        [first, ..] => *first,
        [] => return Ok(tensor.clone()),
    };
    let values = tensor.dense(wanted, limits)?;
    let storage = Storage::Dense {
        order: wanted,
        values,
    };
    let symmetries = tensor.symmetries().to_vec();
    let mut ordered = Tensor::new(tensor.dims().to_vec(), tensor.dtype(), symmetries, storage)?;
    ordered.meta = tensor.meta.clone();
    ordered.hints = tensor.hints.clone();
    Ok(ordered)
}
