//! Canonical-form constraints that `verify` checks, e.g. bools are 0 or 1, CSR columns ascend.
//!
//! A boolean stored as 2 means the same as one stored as 1, and so do the columns of a compressed
//! row in any order; some formats allow one form alone. Only the values show whether a file
//! conforms, so [`Tensor::check`] checks them.

use super::Tensor;
use super::sparse::Sparse;
use super::storage::{Address, Storage};
use crate::bytes::{PIECE, to_u64};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::limits::Limits;

/// A constraint on the stored form of a tensor's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constraint {
    /// Booleans are 0 or 1.
    BoolIs0Or1,
    /// Column indices ascend in each compressed row.
    SortedColumns,
    /// The upper half of the last byte is zero.
    ZeroPadding,
}

impl Tensor {
    /// Adds a constraint on the values of this tensor; tensors derived from it are free of it.
    pub(crate) fn demand(&mut self, demand: Constraint) {
        self.demands.push(demand);
    }

    pub(super) fn check_demands(&self, limits: &Limits) -> Result<()> {
        for demand in &self.demands {
            match (demand, self.storage()) {
                (
                    Constraint::BoolIs0Or1,
                    Storage::Dense { values, .. } | Storage::Sparse { values, .. },
                ) => {
                    check_truths(values)?;
                }
                (Constraint::SortedColumns, Storage::Sparse { address, .. }) => {
                    self.check_rising(address)?
                }
                (Constraint::ZeroPadding, storage) => {
                    let parts = storage.parts();
                    parts.iter().try_for_each(|part| check_half(part, limits))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_rising(&self, address: &Address) -> Result<()> {
        let Address::Rows { columns, .. } = address else {
            return Ok(());
        };
        match self.first_fall()? {
            None => Ok(()),
            Some(cell) => {
                let at = cell.saturating_mul(to_u64(columns.number.width()));
                let at = columns.bytes.offset_of(at);
                Err(Error::malformed(at, "the columns of a row do not rise"))
            }
        }
    }

    /// The first cell of a sparse matrix whose column index is not greater than that of the
    /// previous cell in the same row.
    pub(crate) fn first_fall(&self) -> Result<Option<u64>> {
        let sizes = self.sizes()?;
        let Some(sparse) = Sparse::of(self.storage(), &sizes, self.dtype()) else {
            return Ok(None);
        };
        let (mut last, mut fall) = (None, None);
        sparse.for_each(&mut |cell, index, _| {
            let place = (index.first().copied(), index.last().copied());
            let falls = |(row, column)| row == place.0 && column >= place.1;
            if fall.is_none() && last.is_some_and(falls) {
                fall = Some(cell);
            }
            last = Some(place);
            Ok(())
        })?;
        Ok(fall)
    }
}

fn check_truths(values: &Numbers) -> Result<()> {
    let mut seen = 0_u64;
    values.bytes.for_each(PIECE, &mut |piece| {
        if let Some(place) = piece.iter().position(|byte| *byte > 1) {
            let at = values.bytes.offset_of(seen.saturating_add(to_u64(place)));
            return Err(Error::malformed(at, "a truth that is neither 0 nor 1"));
        }
        seen = seen.saturating_add(to_u64(piece.len()));
        Ok(())
    })
}

fn check_half(part: &Numbers, limits: &Limits) -> Result<()> {
    let Some(last) = part.bytes.len().checked_sub(1) else {
        return Ok(());
    };
    let mut byte = [0];
    part.bytes.settled(limits)?.read_at(last, &mut byte)?;
    match byte {
        [0..=0x0f] => Ok(()),
        _ => {
            let at = part.bytes.offset_of(last);
            Err(Error::malformed(
                at,
                "half a byte that no number needs is not zero",
            ))
        }
    }
}
