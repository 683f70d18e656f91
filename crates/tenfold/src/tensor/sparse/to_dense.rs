//! Sparse to dense, with any fill value for absent cells.

use crate::bytes::{Bytes, Endian, to_u64, to_usize};
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::io::{Compute, Source};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::Tensor;
use crate::tensor::storage::{Order, Storage};
use crate::tensor::symmetry::Symmetry;

impl Tensor {
    /// A sparse tensor or a train with all its cells, lazily; `fill` is the little-endian element
    /// of absent cells. Symmetries stay declared. Labels become positions in the order of first
    /// appearance.
    ///
    /// # Errors
    /// [`Error::Limit`] if there would be more cells than `limits` allow.
    pub fn to_dense(&self, fill: &[u8], limits: &Limits) -> Result<Tensor> {
        if self.labelled().is_some() {
            return Ok(self.placed_among(&[], fill, limits)?.tensor);
        }
        let is_zero = fill.iter().all(|byte| *byte == 0);
        let values = match self.storage() {
            Storage::Dense { .. } => return Ok(self.clone()),
            Storage::Sparse { .. } if !is_zero => self.dense_over(fill, limits)?,
            _ => self.dense(Order::Row, limits)?,
        };
        let order = Order::Row;
        let mut symmetries = self.symmetries().to_vec();
        for symmetry in &mut symmetries {
            symmetry.packed = false;
        }
        let (dims, storage) = (self.dims().to_vec(), Storage::Dense { order, values });
        let dense = Tensor::within(dims, self.dtype(), symmetries, storage, limits)?;
        Ok(dense.with_meta_of(self))
    }

    fn dense_over(&self, fill: &[u8], limits: &Limits) -> Result<Numbers> {
        let Storage::Sparse { order, address, .. } = self.storage() else {
            return Err(Error::invalid("the tensor is not sparse"));
        };
        if fill.len() != self.dtype().width() {
            return Err(Error::invalid(format!(
                "the fill value is no {}",
                self.dtype()
            )));
        }
        // A tensor of ones at the same positions tells which cells are explicit.
        let ones = Numbers {
            number: Number::U8,
            endian: Endian::Little,
            bytes: Bytes::whole(Source::computed(Ones(self.stored()))),
        };
        let storage = Storage::Sparse {
            order: *order,
            address: address.clone(),
            values: ones,
        };
        let same = |symmetry: &Symmetry| Symmetry {
            operation: "x".into(),
            ..symmetry.clone()
        };
        let symmetries = self.symmetries().iter().map(same).collect();
        let (dims, dtype) = (self.dims().to_vec(), DType::real(Number::U8));
        let there = Tensor::within(dims, dtype, symmetries, storage, limits)?;
        let values = self.dense(Order::Row, limits)?;
        Ok(Numbers {
            endian: Endian::Little,
            bytes: Bytes::whole(Source::computed(Filled {
                there: there.dense(Order::Row, limits)?.bytes,
                values: values.bytes,
                fill: fill.to_vec(),
            })),
            ..values
        })
    }
}

/// A source of so many ones.
struct Ones(u64);

impl Compute for Ones {
    fn len(&self) -> u64 {
        self.0
    }

    fn depth(&self) -> u32 {
        0
    }

    fn read_at(&self, _: u64, buffer: &mut [u8]) -> Result<()> {
        buffer.fill(1);
        Ok(())
    }
}

/// Dense values with another value for absent cells.
struct Filled {
    /// One byte per cell: zero if it is absent.
    there: Bytes,
    values: Bytes,
    fill: Vec<u8>,
}

impl Compute for Filled {
    fn len(&self) -> u64 {
        self.values.len()
    }

    fn inputs(&self) -> Vec<&Bytes> {
        vec![&self.there, &self.values]
    }

    fn depth(&self) -> u32 {
        let below = self
            .values
            .source()
            .depth()
            .max(self.there.source().depth());
        below.saturating_add(1)
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        self.values.read_at(at, buffer)?;
        let width = self.fill.len().max(1);
        let first = at / to_u64(width);
        let last = at
            .saturating_add(to_u64(buffer.len()))
            .div_ceil(to_u64(width));
        let mut there = memory::zeros(to_usize(last.saturating_sub(first))?)?;
        self.there.read_at(first, &mut there)?;
        let skip = to_usize(at % to_u64(width))?;
        for (place, byte) in buffer.iter_mut().enumerate() {
            let within = place.saturating_add(skip);
            if there.get(within / width) == Some(&0) {
                *byte = self.fill.get(within % width).copied().unwrap_or(0);
            }
        }
        Ok(())
    }
}
