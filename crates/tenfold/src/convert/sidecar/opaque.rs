//! Opaque tensors of one format, carried into another as plain bytes.

use serde_json::{Value as Json, json};

use super::read::{symmetries_of, wrong};
use super::value::{meta_json, meta_of};
use super::write::symmetries_json;
use crate::convert::fit::Step;
use crate::dtype::{DType, Number};
use crate::error::{Error, Result};
use crate::format::StorageKind;
use crate::limits::Limits;
use crate::loss::{Aspect, Tier};
use crate::tensor::{Dim, Order, Storage, Tensor};

/// The element type of plain bytes.
const BYTE: DType = DType::real(Number::U8);

/// An opaque tensor as plain bytes, if the target does not know its layout: a loss, even if the
/// layout is carried, as other programs would not use it. `None` for all other tensors.
pub(crate) fn as_bytes(step: &mut Step, tensor: &Tensor) -> Result<Option<Tensor>> {
    let Storage::Opaque { layout, parts } = tensor.storage() else {
        return Ok(None);
    };
    let holds = &step.info.holds;
    let takes_bytes = holds.kinds.contains(&StorageKind::Dense)
        && holds.numbers.contains(&Number::U8)
        && holds.ndim.0 <= 1;
    let (Ok(sizes), [(name, part)]) = (tensor.sizes(), parts.as_slice()) else {
        return Ok(None);
    };
    if part.number != Number::U8 || !takes_bytes || step.has_layout(tensor)? {
        return Ok(None);
    }
    let names: Vec<Option<&str>> = tensor
        .dims()
        .iter()
        .map(|dim| dim.name.as_deref())
        .collect();
    let hints: Vec<_> = tensor.hints.iter().collect();
    let about = json!({
        "layout": layout,
        "part": name,
        "dtype": tensor.dtype().to_string(),
        "shape": sizes,
        "dims": names,
        "symmetries": symmetries_json(tensor.symmetries().iter()),
        "hints": meta_json(&hints),
    });
    let is_carried = step.carry("opaque", about);
    let restored = if is_carried {
        " that only this program reads"
    } else {
        ""
    };
    let way = if tensor.is_quantized() {
        "; --dequantize computes its values"
    } else {
        ""
    };
    let detail = format!("{layout} becomes plain bytes{restored}{way}");
    step.change(Tier::Refused, Aspect::Opaque, detail);
    let dims = vec![Dim::indexed(part.bytes.len())];
    let storage = Storage::Dense {
        order: Order::Row,
        values: part.clone(),
    };
    let mut bytes = Tensor::new(dims, BYTE, vec![], storage)?;
    bytes.meta.clone_from(&tensor.meta);
    Ok(Some(bytes))
}

/// The opaque tensor that plain bytes were made from.
pub(crate) fn restored(tensor: &Tensor, about: &Json, limits: &Limits) -> Result<Tensor> {
    let field = |name: &str| about.get(name).ok_or_else(|| wrong("opaque"));
    let text = |name: &str| field(name)?.as_str().ok_or_else(|| wrong("opaque"));
    let list = |name: &str| field(name)?.as_array().ok_or_else(|| wrong("opaque"));
    let values = match tensor.storage() {
        Storage::Dense { values, .. } if tensor.dtype() == BYTE && tensor.dims().len() == 1 => {
            values
        }
        _ => return Err(Error::invalid("it was written for bytes")),
    };
    let (sizes, names) = (list("shape")?, list("dims")?);
    if sizes.len() != names.len() {
        return Err(wrong("opaque"));
    }
    let dim = |(size, name): (&Json, &Json)| {
        let dim = Dim::indexed(size.as_u64()?);
        match name {
            Json::Null => Some(dim),
            name => Some(dim.named(name.as_str()?)),
        }
    };
    let dims: Option<Vec<Dim>> = sizes.iter().zip(names).map(dim).collect();
    let storage = Storage::Opaque {
        layout: text("layout")?.into(),
        parts: vec![(text("part")?.into(), values.clone())],
    };
    let symmetries = symmetries_of(field("symmetries")?, limits)?;
    let dims = dims.ok_or_else(|| wrong("opaque"))?;
    let mut made = Tensor::within(dims, text("dtype")?.parse()?, symmetries, storage, limits)?;
    made.meta.clone_from(&tensor.meta);
    made.hints = meta_of(field("hints")?).ok_or_else(|| wrong("opaque"))?;
    Ok(made)
}
