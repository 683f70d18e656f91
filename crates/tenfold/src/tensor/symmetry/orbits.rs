//! Orbits: the cells of a packed tensor that are stored, and those that follow from them.

use super::group::Group;
use crate::error::Result;
use crate::limits::Limits;
use crate::tensor::Tensor;

/// The orbits of the packed symmetries of a tensor: at most one cell of each is stored.
#[derive(Debug, Clone)]
pub struct Orbits(Group);

impl Tensor {
    /// The orbits of its packed symmetries; without any, every cell is an orbit of its own.
    ///
    /// ```
    /// use tenfold::{Dim, Limits, Numbers, Order, Storage, Symmetry, Tensor};
    ///
    /// let values = Numbers::from_vec(&[1.0_f64, 2.0, 3.0]);
    /// let storage = Storage::Dense { order: Order::Column, values };
    /// let swap = Symmetry { permutation: vec![1, 0], operation: "x".into(), packed: true };
    /// let dims = vec![Dim::indexed(2), Dim::indexed(2)];
    /// let tensor = Tensor::new(dims, "f64".parse()?, vec![swap], storage)?;
    /// let orbits = tensor.orbits(&Limits::default())?;
    /// assert!(orbits.is_stored(&[1, 0]) && !orbits.is_stored(&[0, 1]));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if the symmetries generate too large a group.
    pub fn orbits(&self, limits: &Limits) -> Result<Orbits> {
        self.packed_group(limits).map(Orbits)
    }
}

impl Orbits {
    /// Whether the cell at `index` is the stored one of its orbit.
    #[must_use]
    pub fn is_stored(&self, index: &[u64]) -> bool {
        let origin = self.0.origin(index);
        origin.index == self.0.global(index) && !origin.zero
    }
}
