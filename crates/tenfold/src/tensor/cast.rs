//! A tensor of another number type.

use super::storage::{Address, Storage};
use super::{Tensor, not_understood};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{DType, Number, Numbers, Overflow, Rounding};

impl Tensor {
    /// The same tensor with its numbers as another type, lazily: exact where that is possible,
    /// else rounded to the nearest, ties to even. What has no room is found when it is read.
    ///
    /// # Errors
    /// As [`Tensor::cast_rounded`].
    pub fn cast(&self, number: Number, over: Overflow, limits: &Limits) -> Result<Tensor> {
        self.cast_rounded(number, Rounding::NearestEven, over, limits)
    }

    /// The same tensor with its numbers as another type, lazily: exact where that is possible,
    /// else rounded. What has no room is found when it is read.
    ///
    /// Labelled blocks are cast at once and put aside in memory or a temporary file. The cores of
    /// a train are cast each.
    ///
    /// # Errors
    /// [`Error::Invalid`] for what is not understood.
    pub fn cast_rounded(
        &self,
        number: Number,
        rounding: Rounding,
        over: Overflow,
        limits: &Limits,
    ) -> Result<Tensor> {
        if self.dtype().number == number {
            return Ok(self.clone());
        }
        let dtype = DType {
            number,
            ..self.dtype()
        };
        let cast = |values: &Numbers| values.cast(number, rounding, over, limits);
        let storage = match self.storage() {
            Storage::Dense { order, values } => Storage::Dense {
                order: *order,
                values: cast(values)?,
            },
            Storage::Sparse {
                order,
                address,
                values,
            } => Storage::Sparse {
                order: *order,
                address: address.clone(),
                values: match address {
                    Address::Labels => {
                        let labels: Vec<usize> = (0..self.n_mapped()).collect();
                        self.with_blocks(&labels, dtype, limits, &|block| cast(&block))?
                    }
                    _ => cast(values)?,
                },
            },
            Storage::Train { ranks, cores } => Storage::Train {
                ranks: ranks.clone(),
                cores: cores.iter().map(cast).collect::<Result<_>>()?,
            },
            Storage::Opaque { layout, .. } => {
                return Err(Error::invalid(not_understood(layout)));
            }
        };
        let symmetries = self.symmetries().to_vec();
        let cast = Tensor::within(self.dims().to_vec(), dtype, symmetries, storage, limits)?;
        Ok(cast.described_like(self))
    }
}
