//! Finds the values described by the options.
#![deny(clippy::arithmetic_side_effects)]

use super::layout::Layout;
use crate::bundle::Bundle;
use crate::bytes::{Bytes, to_u64};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::io::Source;
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Storage, Tensor, product};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let layout = Layout::of(&how.options)?;
    let Some(dtype) = layout.dtype else {
        let why = "raw numbers do not say their type: --raw dtype=f32 does";
        return Err(Error::invalid(why));
    };
    let from = layout.offset;
    let Some(left) = source.len().checked_sub(from) else {
        let len = source.len();
        let why = format!("the values begin at byte {from}, and the file has {len} bytes");
        return Err(Error::malformed(None, why));
    };
    let width = to_u64(dtype.width());
    let shape = layout.shape.unwrap_or_else(|| vec![None]);
    how.limits.check_ndim(to_u64(shape.len()))?;
    let sizes = closed(&shape, left, width)?;
    let need = { product(&sizes) }
        .and_then(|count| count.checked_mul(width.into()))
        .and_then(|need| u64::try_from(need).ok());
    let len = match need {
        Some(need) if need <= left => need,
        _ => {
            let need = need.map_or("more than 2^64".to_owned(), |need| need.to_string());
            let why = format!("the values need {need} bytes, {left} are there");
            return Err(Error::malformed(from, why));
        }
    };
    let to = from.saturating_add(len);
    let values = Numbers {
        number: dtype.number,
        endian: layout.endian,
        bytes: Bytes::run(source, from..to)?,
    };
    let dims = sizes.into_iter().map(Dim::indexed).collect();
    let order = layout.order;
    let storage = Storage::Dense { order, values };
    let tensor = Tensor::within(dims, dtype, vec![], storage, &how.limits)?;
    let mut bundle = Bundle::of(tensor);
    if left > len {
        let more = left.saturating_sub(len);
        let text = format!("bytes after the values, which are not read: {more}");
        bundle.note(Note::new(NoteKind::UnreadBytes, text).at(to).len(more));
    }
    Ok(bundle)
}

/// The sizes, with the open one as large as the bytes allow.
fn closed(shape: &[Option<u64>], left: u64, width: u64) -> Result<Vec<u64>> {
    let known: Vec<u64> = shape.iter().copied().flatten().collect();
    let one = product(&known).and_then(|count| count.checked_mul(width.into()));
    let open = match one {
        Some(0) if shape.contains(&None) => {
            let why = "a size that is left open can be anything beside one of 0";
            return Err(Error::invalid(why));
        }
        // More than there is: the size is 0.
        Some(one) => u128::from(left).checked_div(one).unwrap_or(0),
        None => 0,
    };
    let open = u64::try_from(open).unwrap_or(0);
    Ok(shape.iter().map(|size| size.unwrap_or(open)).collect())
}
