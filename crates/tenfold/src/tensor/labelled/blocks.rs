//! Labelled blocks derived from others.

use crate::bytes::{Endian, Extent, PIECE, RecordsBuilder, to_u64};
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::tensor::read::Cell;
use crate::tensor::storage::{Address, Order, Storage};
use crate::tensor::{Tensor, product};

impl Tensor {
    /// The order of the cells in labelled blocks, and the blocks.
    pub(crate) fn labelled(&self) -> Option<(Order, &Numbers)> {
        match self.storage() {
            Storage::Sparse {
                order,
                address: Address::Labels,
                values,
            } => Some((*order, values)),
            _ => None,
        }
    }

    /// Labelled blocks with their labels in the order `labels`, and cells computed by `cells`:
    /// elements of `dtype`. They are stored in memory or a temporary file.
    pub(crate) fn with_blocks(
        &self,
        labels: &[usize],
        dtype: DType,
        limits: &Limits,
        cells: &dyn Fn(Numbers) -> Result<Numbers>,
    ) -> Result<Numbers> {
        let no_labels = || Error::invalid("the tensor has no labels");
        let (_, values) = self.labelled().ok_or_else(no_labels)?;
        let Extent::Records(records) = values.bytes.extent() else {
            return Err(no_labels());
        };
        let width = product(&self.indexed_sizes())
            .and_then(|cells| cells.checked_mul(to_u64(dtype.width()).into()))
            .and_then(|width| u64::try_from(width).ok())
            .ok_or_else(|| Error::invalid("a block has more cells than can be counted"))?;
        let mut made = RecordsBuilder::like(records, width);
        self.for_each_cell(limits, &mut |cell| {
            let Cell::Labelled {
                labels: own,
                values,
            } = cell
            else {
                return Err(no_labels());
            };
            let names: Vec<&String> = labels.iter().filter_map(|place| own.get(*place)).collect();
            made.start(&names)?;
            let numbers = cells(values)?;
            numbers.for_each(Endian::Little, dtype.width(), PIECE, &mut |piece| {
                made.cells(piece)
            })
        })?;
        Ok(Numbers {
            number: dtype.number,
            endian: Endian::Little,
            bytes: made.finish()?,
        })
    }
}
