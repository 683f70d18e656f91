//! Writes `.blz`, cores bit for bit.

use super::v2::Verdict;
use super::{COMPRESSED, DTYPE_COMPLEX, DTYPE_F64, MAGIC, MAGIC_2, RESERVED, VERSION, certificate};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Endian};
use crate::dtype::{Arity, Numbers};
use crate::error::{Error, Result};
use crate::io::Sink;
use crate::tensor::{Storage, Tensor};

/// Writes `BLZ1`.
pub(super) fn write(bundle: &Bundle, out: &mut Sink) -> Result<()> {
    let train = Parts::of(bundle)?;
    out.write(MAGIC)?;
    out.write(&[VERSION, train.dtype, train.ndim])?;
    out.write(&[0; RESERVED])?;
    train.write_sizes(out)?;
    train.write_cores(out)
}

/// Writes `BLZ2`.
pub(super) fn write_2(bundle: &Bundle, out: &mut Sink) -> Result<()> {
    if let Some(verdict) = Verdict::of(bundle) {
        return verdict.write(bundle, out);
    }
    let train = Parts::of(bundle)?;
    out.start_digest(Some(Algorithm::Sha256));
    out.write(MAGIC_2)?;
    out.write(&[VERSION, train.dtype, train.ndim, COMPRESSED])?;
    let lens = train.cores.iter().map(|core| core.bytes.len());
    certificate::write(bundle, train.tensor, lens.sum(), out)?;
    train.write_sizes(out)?;
    train.write_cores(out)?;
    let digest = out.take_digest().unwrap_or_default();
    out.write(&digest)
}

/// A train as stored in both versions.
struct Parts<'a> {
    tensor: &'a Tensor,
    dtype: u8,
    ndim: u8,
    sizes: Vec<u64>,
    ranks: &'a [u64],
    cores: &'a [Numbers],
}

impl Parts<'_> {
    fn of(bundle: &Bundle) -> Result<Parts<'_>> {
        let tensor = bundle.only()?;
        let Storage::Train { ranks, cores } = tensor.storage() else {
            return Err(Error::invalid("only a tensor train can be written as blz"));
        };
        let sizes = tensor.sizes()?;
        let ndim = u8::try_from(sizes.len());
        Ok(Parts {
            tensor,
            dtype: if tensor.dtype().arity == Arity::Real {
                DTYPE_F64
            } else {
                DTYPE_COMPLEX
            },
            ndim: ndim.map_err(|_| Error::invalid("more than 255 dimensions"))?,
            sizes,
            ranks,
            cores,
        })
    }

    fn write_sizes(&self, out: &mut Sink) -> Result<()> {
        let mut numbers = self.sizes.iter().chain(self.ranks);
        numbers.try_for_each(|number| out.write(&number.to_le_bytes()))
    }

    fn write_cores(&self, out: &mut Sink) -> Result<()> {
        let mut cores = self.cores.iter();
        cores.try_for_each(|core| core.write(out, Endian::Little))
    }
}
