//! Writes the values alone.

use super::layout::{Layout, shape_word};
use crate::bundle::Bundle;
use crate::bytes::{PIECE, to_u64};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::format::{Adapted, WriteOptions, cast_loss, overflow};
use crate::io::Sink;
use crate::loss::{Aspect, Tier};
use crate::memory;
use crate::tensor::{Storage, Tensor};

/// Casts to the given type, transposes to the given order, and reports what the file does not
/// record.
pub(super) fn adapt(tensor: &Tensor, how: &WriteOptions) -> Result<Option<Adapted>> {
    let Storage::Dense { order, .. } = tensor.storage() else {
        return Ok(None);
    };
    // A packed tensor has fewer values than cells, and the file cannot say which.
    if tensor.is_packed() {
        return Ok(None);
    }
    let layout = Layout::of(&how.options)?;
    let sizes = tensor.sizes()?;
    check_shape(&layout, &sizes).map_err(Error::mismatch)?;
    let mut said = Vec::new();
    let cast = match layout.dtype {
        Some(dtype) => cast(tensor, dtype, how, &mut said).map_err(Error::mismatch)?,
        None => tensor.clone(),
    };
    let ordered = if *order == layout.order || sizes.len() < 2 {
        cast
    } else {
        let storage = Storage::Dense {
            order: layout.order,
            values: cast.dense(layout.order, &how.limits)?,
        };
        let symmetries = cast.symmetries().to_vec();
        let dims = cast.dims().to_vec();
        Tensor::within(dims, cast.dtype(), symmetries, storage, &how.limits)?.with_meta_of(&cast)
    };
    let words = layout.words(ordered.dtype(), &sizes);
    let detail = format!("the file does not say what it holds: --raw {words} does");
    said.push((Tier::Said, Aspect::Shape, detail));
    Ok(Some((ordered, said)))
}

fn check_shape(layout: &Layout, sizes: &[u64]) -> Result<()> {
    let Some(shape) = &layout.shape else {
        return Ok(());
    };
    let fits = |(wanted, own): (&Option<u64>, &u64)| wanted.is_none_or(|size| size == *own);
    if shape.len() == sizes.len() && shape.iter().zip(sizes).all(fits) {
        return Ok(());
    }
    let own = match sizes {
        [] => "a scalar".to_owned(),
        sizes => shape_word(sizes),
    };
    let wanted: Vec<String> = { shape.iter() }
        .map(|size| size.map_or("?".to_owned(), |size| size.to_string()))
        .collect();
    let wanted = wanted.join("x");
    Err(Error::invalid(format!(
        "the tensor is {own}, and not of the shape {wanted}"
    )))
}

/// Values out of range of the type are refused unless that is permitted.
fn cast(
    tensor: &Tensor,
    dtype: DType,
    how: &WriteOptions,
    said: &mut Vec<(Tier, Aspect, String)>,
) -> Result<Tensor> {
    let own = tensor.dtype();
    if dtype.arity != own.arity {
        let why = format!("elements are {own}, and cannot be cast to {dtype}");
        return Err(Error::invalid(why));
    }
    if dtype == own {
        return Ok(tensor.clone());
    }
    said.push(cast_loss(own.number, dtype.number));
    tensor.cast(dtype.number, overflow(&how.allow), &how.limits)
}

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let layout = Layout::of(&how.options)?;
    let Storage::Dense { values, .. } = bundle.only()?.storage() else {
        return Err(Error::invalid("only a dense tensor can be written as raw"));
    };
    let zeros = memory::zeros(PIECE)?;
    let mut left = layout.offset;
    while left > 0 {
        let len = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        out.write(zeros.get(..len).unwrap_or_default())?;
        left = left.saturating_sub(to_u64(len));
    }
    values.write(out, layout.endian)
}
