//! Sorting of sparse cells: in ascending order, one for every orbit, or all.
//!
//! Cells that are in order are passed on as they are read. Others are sorted in as many passes over
//! the file as memory requires, each for the cells of one range of indices.

use super::Sparse;
use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::Tensor;
use crate::tensor::index::slice::unravel_in;
use crate::tensor::storage::Order;
use crate::tensor::symmetry::group::Group;

/// A sparse tensor whose cells have been scanned once.
pub(crate) struct SortedCells {
    tensor: Tensor,
    sizes: Vec<u64>,
    group: Group,
    /// The strides of the index, if all cells are wanted.
    strides: Option<Vec<u64>>,
    is_ascending: bool,
    n_zeros: u64,
    /// Bytes of cells that one pass may hold.
    pass: u64,
}

/// Number of equal ranges of the index in which cells are counted, to plan the passes.
const RANGES: u64 = 1 << 16;

/// Most bytes of cells in one pass, however much memory there is.
const PASS: u64 = 64 << 20;
/// Least bytes of cells in one pass, so that there are not too many passes.
const SHORT_PASS: u64 = 4 << 20;

impl SortedCells {
    /// Scans the cells.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a cell is duplicate, out of bounds, or not zero where its symmetry
    /// forces it to be.
    pub(crate) fn new(tensor: &Tensor, limits: &Limits) -> Result<SortedCells> {
        SortedCells::look_over(tensor, None, limits)
    }

    /// Scans the cells, where all of an orbit are wanted; the sort index of each is the dot product
    /// of its index with `strides`.
    pub(crate) fn every(
        tensor: &Tensor,
        strides: Vec<u64>,
        limits: &Limits,
    ) -> Result<SortedCells> {
        SortedCells::look_over(tensor, Some(strides), limits)
    }

    fn look_over(
        tensor: &Tensor,
        strides: Option<Vec<u64>>,
        limits: &Limits,
    ) -> Result<SortedCells> {
        let (sizes, group) = (tensor.sizes()?, tensor.packed_group(limits)?);
        let mut sorted = SortedCells {
            tensor: tensor.distinct(limits)?,
            sizes,
            group,
            strides,
            is_ascending: true,
            n_zeros: 0,
            pass: (limits.memory / 4).clamp(SHORT_PASS, PASS),
        };
        let (mut is_ascending, mut n_zeros, mut last) = (true, 0_u64, None);
        sorted.visit(&mut |index, value| {
            is_ascending &= last.is_none_or(|last| last < index);
            last = Some(index);
            n_zeros = n_zeros.saturating_add(sorted.says_nothing(index, value)?.into());
            Ok(())
        })?;
        (sorted.is_ascending, sorted.n_zeros) = (is_ascending, n_zeros);
        Ok(sorted)
    }

    /// The number of cells whose removal would change nothing.
    pub(crate) fn n_zeros(&self) -> u64 {
        self.n_zeros
    }

    /// Whether a cell has only zero bytes, and so have all images that are determined by it: the
    /// negative of 0.0 is -0.0, which an absent cell is not.
    pub(crate) fn says_nothing(&self, index: u64, value: &[u8]) -> Result<bool> {
        let is_zero = |value: &[u8]| value.iter().all(|byte| *byte == 0);
        if !is_zero(value) || self.strides.is_some() {
            return Ok(is_zero(value));
        }
        let mut places = vec![0; self.sizes.len()];
        unravel_in(index, &self.sizes, Order::Column, &mut places);
        for (_, operation) in self.group.images(&places) {
            let mut image = value.to_vec();
            operation.apply(self.tensor.dtype(), &mut image)?;
            if !is_zero(&image) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Calls `each` with the global index (first dimension fastest) and the little-endian value of
    /// the smallest cell of every orbit that has a stored cell, in ascending order; or with those
    /// of all cells.
    ///
    /// # Errors
    /// Errors of reading the values.
    pub(crate) fn for_each(&self, each: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        if self.is_ascending {
            return self.visit(each);
        }
        for (from, to, count) in self.passes()? {
            self.pass(from, to, count, each)?;
        }
        Ok(())
    }

    /// Consecutive ranges of the index, with the number of cells in each: none with more than a
    /// pass may hold, if possible.
    fn passes(&self) -> Result<Vec<(u64, u64, u64)>> {
        let cells = self
            .tensor
            .cells()
            .and_then(|cells| u64::try_from(cells).ok());
        let range = cells.unwrap_or(u64::MAX).div_ceil(RANGES).max(1);
        let mut counts: Vec<u64> = memory::zeros(to_usize(RANGES)?)?;
        self.visit(&mut |index, _| {
            if let Some(count) = counts.get_mut(to_usize(index / range)?) {
                *count = count.saturating_add(1);
            }
            Ok(())
        })?;
        let per_pass = self.pass / to_u64(self.tensor.dtype().width()).saturating_add(16);
        let mut passes: Vec<(u64, u64, u64)> = Vec::new();
        for (number, count) in (0_u64..).zip(counts).filter(|(_, count)| *count > 0) {
            let from = number.saturating_mul(range);
            let to = from.saturating_add(range);
            match passes.last_mut() {
                Some((_, end, held)) if held.saturating_add(count) <= per_pass => {
                    (*end, *held) = (to, held.saturating_add(count));
                }
                _ => passes.push((from, to, count)),
            }
        }
        Ok(passes)
    }

    /// Sorts and passes on the `count` cells from index `from` to before `to`.
    fn pass(
        &self,
        from: u64,
        to: u64,
        count: u64,
        each: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let width = self.tensor.dtype().width();
        let count = to_usize(count)?;
        let mut values = memory::with_room(count.saturating_mul(width))?;
        let mut cells: Vec<(u64, usize)> = memory::with_room(count)?;
        self.visit(&mut |index, value| {
            if index >= from && index < to {
                cells.push((index, values.len()));
                values.extend_from_slice(value);
            }
            Ok(())
        })?;
        cells.sort_unstable();
        for (index, at) in &cells {
            let value = values.get(*at..).and_then(|rest| rest.get(..width));
            each(*index, value.unwrap_or_default())?;
        }
        Ok(())
    }

    /// Calls `each` with the wanted cells of the orbit of every stored cell, in file order.
    fn visit(&self, each: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let not_sparse = || Error::invalid("the tensor is not sparse");
        let (storage, dtype) = (self.tensor.storage(), self.tensor.dtype());
        let sparse = Sparse::of(storage, &self.sizes, dtype).ok_or_else(not_sparse)?;
        let Some(strides) = &self.strides else {
            return self.representatives(&sparse, each);
        };
        sparse.for_each_image(&self.group, &mut |index, value| {
            let places = index.iter().zip(strides);
            let number = places.fold(0_u64, |sum, (place, stride)| {
                sum.saturating_add(place.saturating_mul(*stride))
            });
            each(number, value)
        })
    }

    /// Calls `each` with the smallest cell of the orbit of every stored cell, in file order.
    fn representatives(
        &self,
        sparse: &Sparse,
        each: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let dtype = self.tensor.dtype();
        let mut image = Vec::new();
        sparse.for_each(&mut |_, index, value| {
            let origin = self.group.origin(index);
            image.clear();
            image.extend_from_slice(value);
            origin.operation.apply(dtype, &mut image)?;
            each(origin.index, &image)
        })
    }
}
