//! The cells of a sparse tensor in ascending order, one for every orbit.
//!
//! Cells that come in order are handed on as they are read. Others are sorted in as many passes
//! over the file as memory demands, each taking the cells of one range of indices.

use super::Tensor;
use super::group::Group;
use crate::bytes::wide;
use crate::error::{Error, Result};
use crate::limits::Limits;

/// A sparse tensor that has been looked over once.
pub(crate) struct Sorted<'a> {
    tensor: &'a Tensor,
    sizes: Vec<u64>,
    group: Group,
    is_ascending: bool,
    n_zeros: u64,
    /// How many cells fall into each of equal ranges of the index.
    histogram: Vec<u64>,
    range: u64,
}

const RANGES: u64 = 1 << 16;

/// How many bytes of cells one pass may hold.
const PASS: u64 = 64 << 20;

impl<'a> Sorted<'a> {
    /// Looks over the cells: are they in order, and how are they spread?
    ///
    /// # Errors
    /// [`Error::Malformed`] if a cell lies outside, or is not zero where its symmetry says so.
    pub(crate) fn new(tensor: &'a Tensor, limits: &Limits) -> Result<Sorted<'a>> {
        let sizes = tensor.sizes()?;
        let cells = tensor
            .cells()
            .and_then(|cells| u64::try_from(cells).ok())
            .unwrap_or(u64::MAX);
        let mut sorted = Sorted {
            tensor,
            group: tensor.packed_group(limits)?,
            sizes,
            is_ascending: true,
            n_zeros: 0,
            histogram: Vec::new(),
            range: cells.div_ceil(RANGES).max(1),
        };
        let mut histogram = vec![0_u64; usize::try_from(RANGES).unwrap_or(0)];
        let mut last = None;
        let (mut is_ascending, mut n_zeros) = (true, 0_u64);
        sorted.representatives(&mut |index, value| {
            is_ascending &= last.is_none_or(|last| last < index);
            last = Some(index);
            n_zeros = n_zeros.saturating_add(value.iter().all(|byte| *byte == 0).into());
            let range = usize::try_from(index / sorted.range).unwrap_or(0);
            if let Some(count) = histogram.get_mut(range) {
                *count = count.saturating_add(1);
            }
            Ok(())
        })?;
        (sorted.is_ascending, sorted.n_zeros, sorted.histogram) =
            (is_ascending, n_zeros, histogram);
        Ok(sorted)
    }

    /// How many cells have only zero bytes.
    pub(crate) fn n_zeros(&self) -> u64 {
        self.n_zeros
    }

    /// Calls `each` with the global index (first dimension fastest) and the little-endian value of
    /// the smallest cell of every orbit that has a stored cell, in ascending order.
    ///
    /// # Errors
    /// [`Error::Malformed`] if two stored cells are one, or images of each other.
    pub(crate) fn for_each(&self, each: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        if self.is_ascending {
            return self.representatives(each);
        }
        let width = self.tensor.dtype().width();
        let per_pass = (PASS / wide(width).saturating_add(24)).max(1);
        let mut from = 0_u64;
        let mut held = 0_u64;
        let last = wide(self.histogram.len()).saturating_sub(1);
        for (number, count) in (0..).zip(&self.histogram) {
            held = held.saturating_add(*count);
            let next = self
                .histogram
                .get(usize::try_from(number).unwrap_or(0).saturating_add(1));
            if number == last || held.saturating_add(next.copied().unwrap_or(0)) > per_pass {
                let to = number.saturating_add(1).saturating_mul(self.range);
                if held > 0 {
                    self.pass(from, to, each)?;
                }
                (from, held) = (to, 0);
            }
        }
        Ok(())
    }

    /// Sorts and hands on the cells from index `from` to before `to`.
    fn pass(
        &self,
        from: u64,
        to: u64,
        each: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut cells: Vec<(u64, Vec<u8>)> = Vec::new();
        self.representatives(&mut |index, value| {
            if index >= from && index < to {
                cells.push((index, value.to_vec()));
            }
            Ok(())
        })?;
        cells.sort_by_key(|(index, _)| *index);
        let mut last = None;
        for (index, value) in &cells {
            if last == Some(*index) {
                let why = format!("cell {index}, or an image of it, is given twice");
                return Err(Error::malformed(None, why));
            }
            last = Some(*index);
            each(*index, value)?;
        }
        Ok(())
    }

    /// Calls `each` with the smallest cell of the orbit of every stored cell, in file order.
    fn representatives(&self, each: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let dtype = self.tensor.dtype();
        let not_sparse = || Error::invalid("the tensor is not sparse");
        let sparse = self.tensor.sparse(&self.sizes).ok_or_else(not_sparse)?;
        let mut image = Vec::new();
        sparse.for_each(&mut |_, index, value| {
            let origin = self.group.origin(index);
            if origin.zero && !dtype.is_zero(value) {
                let why = format!("the symmetry forces cell {index:?} to be zero, and it is not");
                return Err(Error::malformed(None, why));
            }
            image.clear();
            image.extend_from_slice(value);
            origin.operation.apply(dtype, &mut image)?;
            each(origin.index, &image)
        })
    }
}
