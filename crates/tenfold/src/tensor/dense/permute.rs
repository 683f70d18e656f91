//! Permutation of dimensions.

use super::read_box::strides;
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::tensor::dim::Dim;
use crate::tensor::storage::{Address, Order, Storage};
use crate::tensor::symmetry::Symmetry;
use crate::tensor::{Size, Tensor, not_understood};

impl Tensor {
    /// Permutes the dimensions: dimension `k` of the result is dimension `axes[k]` of this tensor,
    /// as in NumPy's `transpose`.
    ///
    /// Lazy: dense values are transposed on reading, or not at all if the stored order already is
    /// row-major or column-major in the result. Labelled blocks and compressed rows are stored in
    /// memory or a temporary file. A packed dense tensor is unpacked; symmetries stay declared.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `axes` is no permutation of the dimensions, and for a train unless it
    /// keeps or reverses them.
    pub fn permute(&self, axes: &[usize], limits: &Limits) -> Result<Tensor> {
        let identity: Vec<usize> = (0..self.dims().len()).collect();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if sorted != identity {
            let why = format!("{axes:?} is no order of {} dimensions", identity.len());
            return Err(Error::invalid(why));
        }
        if axes == identity {
            return Ok(self.clone());
        }
        if self.is_packed() && matches!(self.storage(), Storage::Dense { .. }) {
            return self.unpacked(limits)?.permute(axes, limits);
        }
        let dims: Vec<Dim> = pick(self.dims(), axes);
        let storage = match self.storage() {
            Storage::Dense { order, values } => self.permute_dense(*order, values, axes, limits)?,
            Storage::Sparse {
                address: Address::Labels,
                ..
            } => self.permute_blocks(axes, limits)?,
            Storage::Sparse {
                order,
                address,
                values,
            } => {
                let (order, address) = self.permute_address(*order, address, axes)?;
                let values = values.clone();
                Storage::Sparse {
                    order,
                    address,
                    values,
                }
            }
            Storage::Train { ranks, cores } => self.reverse_train(ranks, cores, axes, limits)?,
            Storage::Opaque { layout, .. } => {
                return Err(Error::invalid(not_understood(layout)));
            }
        };
        let symmetries = self.symmetries().iter().map(|own| conjugated(own, axes));
        let symmetries = symmetries.collect();
        let permuted = Tensor::within(dims, self.dtype(), symmetries, storage, limits)?;
        Ok(permuted.with_meta_of(self))
    }

    fn permute_dense(
        &self,
        order: Order,
        values: &Numbers,
        axes: &[usize],
        limits: &Limits,
    ) -> Result<Storage> {
        let sizes = self.sizes()?;
        let seen = pick(&sizes, axes);
        let stored = pick(&strides(&sizes, order), axes);
        for order in [Order::Row, Order::Column] {
            let wanted = strides(&seen, order);
            let mut places = seen.iter().zip(stored.iter().zip(&wanted));
            if places.all(|(size, (stored, wanted))| *size == 1 || stored == wanted) {
                let values = values.clone();
                return Ok(Storage::Dense { order, values });
            }
        }
        Ok(Storage::Dense {
            order: Order::Row,
            values: self.settled(limits)?.permuted(axes, limits)?,
        })
    }

    fn permute_address(
        &self,
        order: Order,
        address: &Address,
        axes: &[usize],
    ) -> Result<(Order, Address)> {
        Ok(match address {
            Address::Coordinates(columns) => (order, Address::Coordinates(pick(columns, axes))),
            Address::Linear(numbers) if is_reversal(axes) => {
                (order.other(), Address::Linear(numbers.clone()))
            }
            _ => (Order::Row, Address::Linear(self.positions(axes)?)),
        })
    }

    fn permute_blocks(&self, axes: &[usize], limits: &Limits) -> Result<Storage> {
        let no_labels = || Error::invalid("the tensor has no labels");
        let (order, _) = self.labelled().ok_or_else(no_labels)?;
        let is_mapped = |axis: &usize| {
            let dim = self.dims().get(*axis);
            dim.is_some_and(|dim| dim.size == Size::Mapped)
        };
        let (mapped, indexed): (Vec<usize>, Vec<usize>) =
            axes.iter().partition(|axis| is_mapped(axis));
        let (labels, places) = (ranks(&mapped), ranks(&indexed));
        if labels.is_sorted() && places.is_sorted() {
            return Ok(self.storage().clone());
        }
        let dims: Vec<Dim> = self.indexed_sizes().into_iter().map(Dim::indexed).collect();
        let values = self.with_blocks(&labels, self.dtype(), limits, &|values| {
            let block = Storage::Dense { order, values };
            let block = Tensor::new(dims.clone(), self.dtype(), vec![], block)?;
            block.permute(&places, limits)?.dense(Order::Row, limits)
        })?;
        Ok(Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values,
        })
    }

    fn reverse_train(
        &self,
        ranks: &[u64],
        cores: &[Numbers],
        axes: &[usize],
        limits: &Limits,
    ) -> Result<Storage> {
        if !is_reversal(axes) {
            let why = "the dimensions of a train can be reversed only; --dense expands it first";
            return Err(Error::invalid(why));
        }
        let sizes = self.sizes()?;
        let links = ranks.iter().zip(ranks.iter().skip(1));
        let mut reversed = Vec::with_capacity(cores.len());
        for ((core, size), (rank, next)) in cores.iter().zip(&sizes).zip(links) {
            let dims = [*rank, *size, *next].map(Dim::indexed).to_vec();
            let order = Order::Row;
            let values = core.clone();
            let core = Tensor::new(dims, self.dtype(), vec![], Storage::Dense { order, values })?;
            reversed.push(core.permute(&[2, 1, 0], limits)?.dense(order, limits)?);
        }
        reversed.reverse();
        let ranks = ranks.iter().rev().copied().collect();
        let cores = reversed;
        Ok(Storage::Train { ranks, cores })
    }
}

/// The items at the indices `axes`.
pub(crate) fn pick<T: Clone>(items: &[T], axes: &[usize]) -> Vec<T> {
    let picked = axes.iter().filter_map(|axis| items.get(*axis));
    picked.cloned().collect()
}

fn is_reversal(axes: &[usize]) -> bool {
    axes.iter().rev().copied().eq(0..axes.len())
}

/// The rank of each item among all of them.
fn ranks(items: &[usize]) -> Vec<usize> {
    let rank = |item: &usize| items.iter().filter(|other| *other < item).count();
    items.iter().map(rank).collect()
}

/// The symmetry after a permutation of the dimensions: the permutation, conjugated.
fn conjugated(symmetry: &Symmetry, axes: &[usize]) -> Symmetry {
    let place_of = |axis: &usize| axes.iter().position(|other| other == axis);
    let permutation = pick(&symmetry.permutation, axes);
    Symmetry {
        permutation: permutation.iter().filter_map(place_of).collect(),
        ..symmetry.clone()
    }
}
