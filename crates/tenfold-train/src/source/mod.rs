//! Sources of tensor cells.
//!
//! A [`Source`] hands out runs of cells, converted to the scalar type of the cores. Cells already
//! in memory in that type are borrowed; all others are read and converted a panel at a time.

mod adapters;
mod slice;
mod tensor;

use std::ops::Range;

use crate::error::{Error, Result};
use crate::scalar::Scalar;

pub(crate) use adapters::{Loaded, Scaled};
pub use slice::{Cells, Promote};
pub use tensor::{AnySource, TensorSource};

/// A dense tensor that can be read in runs.
pub trait Source<T: Scalar>: Sync {
    /// The sizes of the modes, the last varying fastest in the order of the cells.
    fn shape(&self) -> &[usize];

    /// The cells of a range, borrowed where they lie or read into `room`.
    ///
    /// # Errors
    /// Those of reading.
    fn cells<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> Result<&'a [T]>;

    /// Fills `out` with the cells from `first` on.
    ///
    /// # Errors
    /// Those of reading.
    fn read(&self, first: usize, out: &mut [T]) -> Result<()> {
        let mut room = Vec::new();
        let cells = self.cells(first..first + out.len(), &mut room)?;
        if cells.len() != out.len() {
            let why = format!("{} cells read of {}", cells.len(), out.len());
            return Err(Error::invalid(why));
        }
        out.copy_from_slice(cells);
        Ok(())
    }

    /// All cells, if they are in memory in the scalar type.
    fn all(&self) -> Option<&[T]> {
        None
    }

    /// The access pattern that suits the source.
    fn access(&self) -> Access {
        Access::Memory
    }

    /// Whether the modes are reversed: in the tensor itself, the first mode varies fastest.
    fn is_reversed(&self) -> bool {
        false
    }
}

/// The access pattern that suits a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Random access at no cost.
    Memory,
    /// Random access in long runs.
    Positioned,
    /// Sequential; any other order is slow.
    Forward,
}
