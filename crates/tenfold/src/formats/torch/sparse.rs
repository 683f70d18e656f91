//! Sparse tensors: the call of a function with a layout and dense tensors.
#![deny(clippy::arithmetic_side_effects)]

use super::calls::{Calls, Found};
use crate::bytes::to_u64;
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::tensor::{Address, Dim, Order, Storage, Tensor};
use crate::wire::pickle::{Id, Item};

impl<'a> Calls<'a> {
    /// `_rebuild_sparse_tensor(layout, parts)`.
    pub(super) fn sparse(&self, id: Id, args: &'a [Id]) -> Result<Found<'a>> {
        let [layout, parts] = args else {
            return self.fail(id, "a sparse tensor needs a layout and its parts");
        };
        let layout = match self.pickle.call(*layout) {
            Some(("torch.serialization", "_get_layout", [name])) => self.pickle.text(*name),
            _ => None,
        };
        let parts = self.pickle.sequence(*parts);
        match (layout, parts) {
            (Some("torch.sparse_coo"), Some([indices, values, sizes, rest @ ..])) => {
                let flag = rest.first().map(|flag| self.pickle.item(*flag));
                let is_coalesced = matches!(flag, Some(Item::Bool(true)));
                self.coordinates(id, [*indices, *values], *sizes, is_coalesced)
            }
            (Some("torch.sparse_csr"), Some([starts, columns, values, sizes])) => {
                self.rows(id, [*starts, *columns, *values], *sizes)
            }
            (Some(layout), Some(_)) => self.unsupported(format!("the layout {layout}")),
            _ => self.fail(id, "a sparse tensor needs a layout and its parts"),
        }
    }

    /// Indices as a matrix, one row per dimension, and values; if they are not coalesced, several
    /// may share a cell.
    fn coordinates(
        &self,
        id: Id,
        [indices, values]: [Id; 2],
        sizes: Id,
        is_coalesced: bool,
    ) -> Result<Found<'a>> {
        let (indices, values) = (self.plain(indices)?, self.plain(values)?);
        let sizes = self.numbers(sizes)?;
        let (ndim, count) = match indices.tensor.sizes()?.as_slice() {
            [ndim, count] if *ndim == to_u64(sizes.len()) => (*ndim, *count),
            [ndim, _] if *ndim < to_u64(sizes.len()) => {
                return self.unsupported("a sparse tensor of dense blocks");
            }
            _ => return self.fail(id, "the indices of a sparse tensor have a row a dimension"),
        };
        if values.tensor.sizes()? != [count] {
            return self.fail(id, "a sparse tensor has as many values as indices");
        }
        let all = self.positions(id, &indices.tensor)?;
        let len = count.saturating_mul(to_u64(all.number.width()));
        let mut columns = Vec::new();
        for row in 0..ndim {
            let start = row.saturating_mul(len);
            let Some(bytes) = all.bytes.run_within(start..start.saturating_add(len)) else {
                return self.unsupported("a deflated storage of indices");
            };
            columns.push(Numbers {
                bytes,
                ..all.clone()
            });
        }
        let found = self.put(id, &sizes, Address::Coordinates(columns), [indices, values])?;
        if is_coalesced {
            return Ok(found);
        }
        match found.tensor.coalesced(self.limits) {
            Ok((tensor, n_added)) => Ok(Found {
                tensor,
                n_added,
                ..found
            }),
            // Indices out of bounds are found again when the values are read.
            Err(Error::Malformed { .. }) => Ok(found),
            Err(error) => Err(error),
        }
    }

    /// Compressed rows of a matrix.
    fn rows(&self, id: Id, parts: [Id; 3], sizes: Id) -> Result<Found<'a>> {
        let [starts, columns, values] = parts;
        let (starts, columns) = (self.plain(starts)?, self.plain(columns)?);
        let values = self.plain(values)?;
        let sizes = self.numbers(sizes)?;
        if sizes.len() != 2 || values.tensor.dims().len() != 1 {
            return self.unsupported("compressed rows of other than a matrix of numbers");
        }
        let address = Address::Rows {
            starts: self.positions(id, &starts.tensor)?,
            columns: self.positions(id, &columns.tensor)?,
        };
        let mut found = self.put(id, &sizes, address, [columns, values])?;
        found.uses.extend(starts.uses);
        Ok(found)
    }

    /// Indices are signed but not negative; a negative one, read as unsigned, is out of bounds of
    /// any tensor, and verification of the values finds it.
    fn positions(&self, id: Id, tensor: &Tensor) -> Result<Numbers> {
        let number = match tensor.dtype() {
            dtype if dtype == DType::real(Number::I64) => Number::U64,
            dtype if dtype == DType::real(Number::I32) => Number::U32,
            _ => return self.fail(id, "indices of a sparse tensor are int64 or int32"),
        };
        let values = tensor.dense(Order::Row, self.limits)?;
        Ok(Numbers { number, ..values })
    }

    fn put(
        &self,
        id: Id,
        sizes: &[u64],
        address: Address,
        [other, values]: [Found<'a>; 2],
    ) -> Result<Found<'a>> {
        let dtype = values.tensor.dtype();
        if matches!(values.tensor.storage(), Storage::Opaque { .. }) {
            return self.unsupported("a sparse tensor of small floats");
        }
        let storage = Storage::Sparse {
            order: Order::Row,
            address,
            values: values.tensor.dense(Order::Row, self.limits)?,
        };
        let dims = sizes.iter().copied().map(Dim::indexed).collect();
        let Ok(tensor) = Tensor::within(dims, dtype, vec![], storage, self.limits) else {
            return self.fail(id, "the parts of a sparse tensor do not fit each other");
        };
        let mut uses = values.uses;
        uses.extend(other.uses);
        Ok(Found {
            tensor,
            uses,
            class: None,
            n_added: 0,
        })
    }
}
