//! Dense to sparse, and the density that tells whether it pays off.

use super::builder::CooBuilder;
use crate::bytes::{Endian, PIECE, to_u64};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::tensor::Tensor;
use crate::tensor::storage::{Address, Order, Storage};
use crate::tensor::symmetry::group::Group;

/// The share of nonzero cells of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Density {
    /// Cells of a dense storage: all, or for a packed tensor one of every orbit.
    pub cells: u128,
    /// Cells among them with a nonzero byte.
    pub nonzero: u64,
    /// Length of the dense values in bytes.
    pub dense_len: u128,
    /// Length of the nonzero cells in bytes, with a position of 8 bytes each.
    pub sparse_len: u128,
}

impl Tensor {
    /// Counts the nonzero cells, in one pass over the stored values.
    ///
    /// # Errors
    /// [`Error::Invalid`] for labelled tensors, [`Error::Limit`] if a train would have more cells
    /// than `limits` allow.
    pub fn density(&self, limits: &Limits) -> Result<Density> {
        let (mut stored, mut nonzero) = (0_u64, 0_u64);
        self.for_each_stored(limits, &mut |_, value| {
            stored = stored.saturating_add(1);
            nonzero = nonzero.saturating_add(value.iter().any(|byte| *byte != 0).into());
            Ok(())
        })?;
        let cells = match self.storage() {
            Storage::Sparse { .. } => self.cells().unwrap_or(u128::MAX),
            _ => stored.into(),
        };
        let width = u128::from(to_u64(self.dtype().width()));
        Ok(Density {
            cells,
            nonzero,
            dense_len: cells.saturating_mul(width),
            sparse_len: u128::from(nonzero).saturating_mul(width.saturating_add(8)),
        })
    }

    /// The same tensor with only the cells that have a nonzero byte: a negative zero stays. They
    /// are stored in memory or a temporary file. A packed tensor stays packed.
    ///
    /// # Errors
    /// As [`Tensor::density`].
    pub fn to_sparse(&self, limits: &Limits) -> Result<Tensor> {
        let order = match self.storage() {
            Storage::Sparse { address, .. } if !matches!(address, Address::Labels) => {
                return Ok(self.clone());
            }
            Storage::Dense { order, .. } => *order,
            _ => Order::Row,
        };
        let mut listed = CooBuilder::new(self.dtype().number, order);
        self.for_each_stored(limits, &mut |place, value| {
            if value.iter().any(|byte| *byte != 0) {
                listed.push(place, value)
            } else {
                Ok(())
            }
        })?;
        let (dims, symmetries) = (self.dims().to_vec(), self.symmetries().to_vec());
        let storage = listed.finish()?;
        let sparse = Tensor::within(dims, self.dtype(), symmetries, storage, limits)?;
        Ok(sparse.with_meta_of(self))
    }

    /// Calls `each` with every stored cell: its position in the tensor's order (of sparse cells,
    /// their number) and its little-endian value. The cells of a train are computed.
    fn for_each_stored(
        &self,
        limits: &Limits,
        each: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let sizes = self.sizes()?;
        if let Some(sparse) = self.sparse(&sizes, limits)? {
            return sparse.for_each(&mut |cell, _, value| each(cell, value));
        }
        let values = match self.storage() {
            Storage::Dense { values, .. } => values.clone(),
            _ => self.dense(Order::Row, limits)?,
        };
        if !self.is_packed() {
            let mut place = 0_u64;
            return self.for_each_value(&values, &mut |value| {
                each(place, value)?;
                place = place.saturating_add(1);
                Ok(())
            });
        }
        let mut places = Places::new(self.packed_group(limits)?, sizes);
        self.for_each_value(&values, &mut |value| {
            let place = places.next();
            each(
                place.ok_or_else(|| Error::invalid("too many values"))?,
                value,
            )
        })
    }

    fn for_each_value(
        &self,
        values: &Numbers,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let width = self.dtype().width();
        values.for_each(Endian::Little, width, PIECE, &mut |piece| {
            piece.chunks_exact(width).try_for_each(&mut *each)
        })
    }
}

/// The positions of packed cells, in order.
struct Places {
    group: Group,
    sizes: Vec<u64>,
    index: Vec<u64>,
    is_done: bool,
}

impl Places {
    fn new(group: Group, sizes: Vec<u64>) -> Places {
        Places {
            group,
            index: vec![0; sizes.len()],
            is_done: sizes.contains(&0),
            sizes,
        }
    }

    fn next(&mut self) -> Option<u64> {
        while !self.is_done {
            let global = self.group.global(&self.index);
            let origin = self.group.origin(&self.index);
            self.is_done = !crate::tensor::symmetry::group::advance(&mut self.index, &self.sizes);
            if origin.index == global && !origin.zero {
                return Some(global);
            }
        }
        None
    }
}
