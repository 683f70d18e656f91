//! The field of every document, gathered into one tensor.
#![deny(clippy::arithmetic_side_effects)]

use super::ID;
use crate::bytes::{Endian, Extent, PIECE, RecordsBuilder};
use crate::dtype::{DType, Number, Numbers};
use crate::error::Result;
use crate::limits::Limits;
use crate::tensor::{Address, Dim, Order, Storage, Tensor};

/// The values of the field in all documents.
pub(super) struct Rows {
    /// The dimensions of the field.
    pub(super) dims: Vec<Dim>,
    /// The position of the id among the labels of a block, which are sorted by dimension.
    id_place: usize,
    pub(super) blocks: RecordsBuilder,
    /// The ids, if a document has no block or several.
    pub(super) ids: RecordsBuilder,
    /// The number of documents without a block.
    pub(super) n_empty: u64,
}

impl Rows {
    /// An empty collection for fields like this one.
    pub(super) fn like(field: &Tensor, limits: &Limits) -> Rows {
        let dims = field.dims().to_vec();
        let mapped = dims.iter().filter(|dim| dim.indexed_size().is_none());
        let before = mapped.filter(|dim| dim.name.as_deref() < Some(ID));
        let width = match field.storage() {
            Storage::Sparse { values, .. } => match values.bytes.extent() {
                Extent::Records(records) => records.width(),
                _ => 0,
            },
            Storage::Dense { values, .. } => values.bytes.len(),
            Storage::Train { .. } | Storage::Opaque { .. } => 0,
        };
        Rows {
            id_place: before.count(),
            blocks: RecordsBuilder::of_width(field.n_mapped().saturating_add(1), width)
                .bounded(limits),
            ids: RecordsBuilder::of_width(1, 0).bounded(limits),
            dims,
            n_empty: 0,
        }
    }

    /// Adds the field of a document.
    pub(super) fn push(&mut self, label: &str, field: &Tensor) -> Result<()> {
        let (Storage::Dense { values, .. } | Storage::Sparse { values, .. }) = field.storage()
        else {
            return Ok(());
        };
        let Extent::Records(records) = values.bytes.extent() else {
            self.blocks.begin(&[label])?;
            let blocks = &mut self.blocks;
            return values
                .bytes
                .for_each(PIECE, &mut |piece| blocks.cells(piece));
        };
        self.ids.begin(&[label])?;
        if records.count() == 0 {
            self.n_empty = self.n_empty.saturating_add(1);
        }
        records.for_each(values.bytes.source(), &mut |_, labels, scan| {
            let (before, after) = labels.split_at_checked(self.id_place).unwrap_or_default();
            let all = before.iter().map(String::as_str).chain([label]);
            let all: Vec<&str> = all.chain(after.iter().map(String::as_str)).collect();
            self.blocks.begin(&all)?;
            let blocks = &mut self.blocks;
            scan.pieces(records.width(), PIECE, &mut |piece| blocks.cells(piece))
        })
    }

    /// The tensor of all rows, or duplicate labels.
    pub(super) fn finish(
        self,
        number: Number,
        limits: &Limits,
    ) -> Result<std::result::Result<Tensor, String>> {
        if let Err(id) = self.ids.finish_unless_twice()? {
            return Ok(Err(id.concat()));
        }
        let bytes = match self.blocks.finish_unless_twice()? {
            Ok(bytes) => bytes,
            Err(labels) => return Ok(Err(labels.concat())),
        };
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values: Numbers {
                number,
                endian: Endian::Big,
                bytes,
            },
        };
        let mut dims = self.dims;
        dims.insert(self.id_place, Dim::mapped(ID));
        Tensor::within(dims, DType::real(number), vec![], storage, limits).map(Ok)
    }
}
