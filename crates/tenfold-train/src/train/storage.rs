//! Conversion between trains and `tenfold` tensors.

use tenfold::{Dim, Numbers, Storage, Tensor};

use super::{Core, Train};
use crate::error::{Error, Result};
use crate::scalar::Scalar;

impl<T: Scalar> Train<T> {
    /// Reads the cores of a tensor that is stored as a train of these numbers.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is stored otherwise, is empty, or holds other numbers; and what
    /// reading gives.
    pub fn from_tensor(tensor: &Tensor) -> Result<Train<T>> {
        let Storage::Train { ranks, cores } = tensor.storage() else {
            let kind = tensor.storage().as_str();
            return Err(Error::invalid(format!("a {kind} tensor is no train")));
        };
        if tensor.dtype() != T::DTYPE {
            return Err(Error::invalid(format!(
                "the cores are {}, not {}",
                tensor.dtype(),
                T::DTYPE
            )));
        }
        let count = |number: u64| {
            usize::try_from(number).map_err(|_| Error::invalid("a size exceeds memory"))
        };
        let sizes = tensor.sizes()?;
        let links = ranks.iter().zip(ranks.iter().skip(1));
        let cores = cores.iter().zip(&sizes).zip(links);
        let cores = cores.map(|((values, size), (left, right))| {
            let values = values.to_vec::<T>()?;
            Core::new(count(*left)?, count(*size)?, count(*right)?, values)
        });
        Train::new(cores.collect::<Result<_>>()?)
    }

    /// The train as a tensor that `tenfold` can write.
    ///
    /// # Errors
    /// None for a train built by this library.
    pub fn to_tensor(&self) -> Result<Tensor> {
        let wide = |count: usize| {
            u64::try_from(count).map_err(|_| Error::invalid("a size exceeds 64 bits"))
        };
        let sizes = self.shape().into_iter().map(wide);
        let dims = sizes.map(|size| size.map(Dim::indexed));
        let ranks = self.ranks().into_iter().map(wide);
        let cores = self
            .cores
            .iter()
            .map(|core| Numbers::from_vec(&core.values));
        let storage = Storage::Train {
            ranks: ranks.collect::<Result<_>>()?,
            cores: cores.collect(),
        };
        let dims = dims.collect::<Result<_>>()?;
        Ok(Tensor::new(dims, T::DTYPE, Vec::new(), storage)?)
    }
}
