//! Writes `.blz`, cores bit for bit.

use super::{DTYPE_COMPLEX, DTYPE_F64, MAGIC, RESERVED, VERSION};
use crate::bundle::Bundle;
use crate::bytes::{Endian, Sink};
use crate::error::{Error, Result};
use crate::number::Arity;
use crate::tensor::Storage;

pub(super) fn write(bundle: &Bundle, out: &mut Sink) -> Result<()> {
    let tensor = bundle.only()?;
    let Storage::Train { ranks, cores } = tensor.storage() else {
        return Err(Error::invalid("only a tensor train can be written as blz"));
    };
    let sizes = tensor.sizes()?;
    let ndim = u8::try_from(sizes.len()).map_err(|_| Error::invalid("more than 255 dimensions"))?;
    let dtype = if tensor.dtype().arity == Arity::Real {
        DTYPE_F64
    } else {
        DTYPE_COMPLEX
    };
    out.write(MAGIC)?;
    out.write(&[VERSION, dtype, ndim])?;
    out.write(&[0; RESERVED])?;
    for number in sizes.iter().chain(ranks) {
        out.write(&number.to_le_bytes())?;
    }
    cores
        .iter()
        .try_for_each(|core| core.write(out, Endian::Little))
}
