//! Builder of a tensor from parsed values: dense, or of labelled blocks.
#![deny(clippy::arithmetic_side_effects)]

use super::super::vespa::spec::Spec;
use super::gather::Gather;
use super::values::{Spelling, Values};
use crate::bytes::{Bytes, Endian, RecordsBuilder, to_u64};
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::io::Spool;
use crate::tensor::{Address, Dim, Order, Storage, Tensor};
use crate::wire::json::Json;

/// A tensor being built.
pub(in crate::formats) struct Target<'a> {
    how: &'a ReadOptions,
    pub(super) mapped: Vec<String>,
    pub(super) indexed: Vec<(String, Option<u64>)>,
    pub(super) values: Values,
    dense: Spool,
    /// The number of dense cells read.
    n_dense: Option<u64>,
    pub(super) blocks: RecordsBuilder,
    /// Labels that two blocks have: the second of them is searched for.
    twice: Option<Vec<String>>,
    times: u64,
    /// The offset of the first empty label of a tensor without indexed dimensions.
    pub(super) empty_at: Option<u64>,
}

/// The result of building.
pub(in crate::formats) enum Made {
    Tensor(Box<Tensor>),
    /// Two blocks have these labels.
    Twice(Vec<String>),
}

impl<'a> Target<'a> {
    /// A builder for a type whose values come in the order of its dimensions.
    pub(in crate::formats) fn new(
        spec: &Spec,
        spelling: Spelling,
        twice: Option<Vec<String>>,
        how: &'a ReadOptions,
    ) -> Result<Target<'a>> {
        how.limits.check_ndim(to_u64(spec.dims.len()))?;
        let (mapped, indexed) = (spec.mapped(), spec.indexed());
        let values = Values {
            spelling,
            number: spec.number,
            sizes: indexed.iter().map(|(_, size)| *size).collect(),
        };
        let n_unbound = values.sizes.iter().filter(|size| size.is_none()).count();
        if n_unbound > 1 || n_unbound > 0 && !mapped.is_empty() {
            let why = format!("{spec} has a size that cannot be inferred: give it");
            return Err(Error::malformed(None, why));
        }
        let width = to_u64(spec.number.width());
        let all = indexed.iter().filter_map(|(_, size)| *size);
        let mut len = Some(width);
        for size in all {
            len = len.and_then(|len| len.checked_mul(size));
        }
        let Some(len) = len else {
            let why = format!("{spec} has blocks of 2^64 bytes or more");
            return Err(Error::malformed(None, why));
        };
        Ok(Target {
            how,
            blocks: RecordsBuilder::of_width(mapped.len(), len).bounded(&how.limits),
            mapped,
            indexed,
            values,
            dense: Spool::of_text(&how.limits),
            n_dense: None,
            twice,
            times: 0,
            empty_at: None,
        })
    }

    /// Reads the values of a tensor without mapped dimensions.
    pub(super) fn read_dense(&mut self, json: &mut Json) -> Result<()> {
        if !self.mapped.is_empty() {
            return json.unexpected("labelled values");
        }
        if self.n_dense.is_some() {
            return json.scan.fail("the values stand twice");
        }
        let dense = &mut self.dense;
        let found = self.values.read(json, &mut |cells| dense.write(cells))?;
        self.n_dense = Some(found);
        Ok(())
    }

    /// Begins a block, whose labels are at offset `at`.
    fn begin(&mut self, json: &Json, at: u64, labels: &[String]) -> Result<()> {
        if self.twice.as_deref() == Some(labels) {
            self.times = self.times.saturating_add(1);
            if self.times > 1 {
                let why = "a block has the labels of an earlier one";
                return json.scan.fail_at(at, why);
            }
        }
        if self.indexed.is_empty() && labels.iter().any(String::is_empty) {
            self.empty_at.get_or_insert(at);
        }
        self.blocks.begin(labels)?;
        self.how.limits.check_labels(self.blocks.count())
    }

    /// Reads the values of a block, whose labels are at offset `at`.
    pub(super) fn read_block(&mut self, json: &mut Json, at: u64, labels: &[String]) -> Result<()> {
        self.begin(json, at, labels)?;
        let blocks = &mut self.blocks;
        self.values.read(json, &mut |cells| blocks.cells(cells))?;
        Ok(())
    }

    /// Adds a block of one cell.
    pub(super) fn push_cell(
        &mut self,
        json: &Json,
        at: u64,
        labels: &[String],
        cell: &[u8],
    ) -> Result<()> {
        self.begin(json, at, labels)?;
        self.blocks.cells(cell)
    }

    /// Takes the gathered cells; all others are zero.
    pub(super) fn take_gathered(&mut self, json: &Json, gather: Gather) -> Result<()> {
        let Some(count) = self.values.count() else {
            return json
                .scan
                .fail("a size cannot be inferred from single cells: give it");
        };
        let len = count.saturating_mul(to_u64(self.values.number.width()));
        let blocks = gather.n_blocks();
        let all = u128::from(len).saturating_mul(blocks.into());
        let limits = &self.how.limits;
        limits.check_decoded("cells that are not given would be made", all)?;
        let stored = json.at();
        limits.check_ratio(stored, u64::try_from(all).unwrap_or(u64::MAX))?;
        limits.check_labels(blocks)?;
        let all = u64::try_from(all).unwrap_or(u64::MAX);
        limits.meter().count_decoded(all);
        if self.mapped.is_empty() {
            let dense = &mut self.dense;
            gather.pour(json, len, &mut |_| Ok(()), &mut |cells| dense.write(cells))?;
            self.n_dense = Some(count);
            return Ok(());
        }
        let blocks = std::cell::RefCell::new(&mut self.blocks);
        gather.pour(
            json,
            len,
            &mut |labels| blocks.borrow_mut().start(labels),
            &mut |cells| blocks.borrow_mut().cells(cells),
        )
    }

    /// Returns the tensor with its dimensions sorted.
    pub(in crate::formats) fn finish(self, json: &Json) -> Result<Made> {
        let number = self.values.number;
        let known = self.values.sizes.iter().flatten();
        let known = known.fold(1_u64, |all, size| all.saturating_mul(*size));
        let inferred = self.n_dense.and_then(|count| count.checked_div(known));
        let indexed = self.indexed.iter().map(|(name, size)| {
            let size = size.or(inferred).unwrap_or(1);
            Dim::indexed(size).named(name.clone())
        });
        let dims: Vec<Dim> = self.mapped.iter().map(Dim::mapped).chain(indexed).collect();
        let numbers = |bytes| Numbers {
            number,
            endian: Endian::Big,
            bytes,
        };
        let order = Order::Row;
        let storage = if self.mapped.is_empty() {
            if self.n_dense.is_none() {
                return json.scan.fail("no values");
            }
            let values = numbers(Bytes::whole(self.dense.finish()?));
            Storage::Dense { order, values }
        } else {
            let values = match self.blocks.finish_unless_twice()? {
                Ok(bytes) => numbers(bytes),
                Err(labels) => return Ok(Made::Twice(labels)),
            };
            let address = Address::Labels;
            Storage::Sparse {
                order,
                address,
                values,
            }
        };
        let limits = &self.how.limits;
        let tensor = Tensor::within(dims, DType::real(number), vec![], storage, limits)?;
        let mut axes: Vec<usize> = (0..tensor.dims().len()).collect();
        axes.sort_by_key(|axis| {
            let dim = tensor.dims().get(*axis);
            dim.map(|dim| (dim.indexed_size().is_some(), dim.name.clone()))
        });
        if axes.is_sorted() {
            Ok(Made::Tensor(Box::new(tensor)))
        } else {
            Ok(Made::Tensor(Box::new(tensor.permute(&axes, limits)?)))
        }
    }

    /// The position denoted by a label of an indexed dimension.
    pub(super) fn position(&self, json: &Json, at: u64, place: usize, label: &str) -> Result<u64> {
        let size = self.indexed.get(place).and_then(|(_, size)| *size);
        let position = label.parse::<u64>().ok();
        match position.filter(|position| size.is_none_or(|size| *position < size)) {
            Some(position) => Ok(position),
            None => {
                let size = size.map_or_else(|| "unknown".into(), |size| size.to_string());
                let why = format!("{label:?} is no position in a dimension of size {size}");
                json.scan.fail_at(at, why)
            }
        }
    }

    /// Checks the memory of gathered cells.
    pub(super) fn check_gathered(&self, gather: &Gather) -> Result<()> {
        let why = "cells that come one by one have to be sorted";
        self.how.limits.check_memory(why, gather.held())
    }

    /// The offset of a cell in its block.
    pub(super) fn offset(&self, positions: &[u64]) -> u64 {
        let sizes = self.indexed.iter().map(|(_, size)| size.unwrap_or(1));
        positions
            .iter()
            .zip(sizes)
            .fold(0, |sum: u64, (position, size)| {
                sum.saturating_mul(size).saturating_add(*position)
            })
    }

    /// A new collection of cells.
    pub(super) fn gather(&self) -> Gather {
        Gather::new(self.values.number.width(), !self.mapped.is_empty())
    }
}
