//! A tensor of another number type.

use super::Tensor;
use super::storage::{Address, Storage};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{DType, Number, Overflow};

impl Tensor {
    /// The same tensor with its numbers as another type, lazily: exact where that is possible,
    /// else rounded to the nearest, ties to even. What has no room is found when it is read.
    ///
    /// # Errors
    /// [`Error::Invalid`] for labelled blocks, trains and what is not understood.
    pub fn cast(&self, number: Number, over: Overflow, limits: &Limits) -> Result<Tensor> {
        if self.dtype().number == number {
            return Ok(self.clone());
        }
        let storage = match self.storage() {
            Storage::Dense { order, values } => Storage::Dense {
                order: *order,
                values: values.cast(number, over, limits)?,
            },
            Storage::Sparse {
                order,
                address,
                values,
            } if !matches!(address, Address::Labels) => Storage::Sparse {
                order: *order,
                address: address.clone(),
                values: values.cast(number, over, limits)?,
            },
            other => {
                let why = format!("the numbers of a {} tensor cannot be cast", other.as_str());
                return Err(Error::invalid(why));
            }
        };
        let dtype = DType {
            number,
            ..self.dtype()
        };
        let symmetries = self.symmetries().to_vec();
        let cast = Tensor::within(self.dims().to_vec(), dtype, symmetries, storage, limits)?;
        Ok(cast.described_like(self))
    }
}
