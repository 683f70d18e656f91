//! Where the cells of a tensor come from.
//!
//! A [`Source`] hands out runs of cells, widened to the numbers that cores are made of. What lies
//! in memory as such numbers is borrowed; everything else is read and widened a panel at a time.

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
    /// What reading gives.
    fn cells<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> Result<&'a [T]>;

    /// Fills `out` with the cells from `first` on.
    ///
    /// # Errors
    /// What reading gives.
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

    /// All cells, if they lie in memory as they are.
    fn all(&self) -> Option<&[T]> {
        None
    }

    /// How cells far from each other are best read.
    fn access(&self) -> Access {
        Access::Memory
    }

    /// Whether the modes are in reverse: the tensor is meant with its first mode varying fastest.
    fn is_reversed(&self) -> bool {
        false
    }
}

/// How cells far from each other are best read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// In any order, at no cost.
    Memory,
    /// In any order, in long runs.
    Positioned,
    /// From first to last; anything else is slow.
    Forward,
}
