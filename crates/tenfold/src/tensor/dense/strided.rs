//! Strided tensors: dense cells at strides in a storage.
#![deny(clippy::arithmetic_side_effects)]

use super::permute;
use super::read_box::strides;
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::io::{Compute, Pages, Source};
use crate::limits::{Limits, Meter};
use crate::tensor::Tensor;
use crate::tensor::dim::{Dim, product};
use crate::tensor::storage::{Order, Storage};

/// Strides into a storage of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Strides {
    /// The sizes of the dimensions.
    pub(crate) sizes: Vec<u64>,
    /// Strides in elements; 0 for a dimension that is broadcast.
    pub(crate) strides: Vec<u64>,
    /// Index of the first cell's element.
    pub(crate) first: u64,
}

impl Strides {
    /// The range from the first to the last element used; `None` on overflow.
    pub(crate) fn span(&self) -> Option<std::ops::Range<u64>> {
        if self.sizes.contains(&0) {
            return Some(self.first..self.first);
        }
        let mut last = self.first;
        for (size, stride) in self.sizes.iter().zip(&self.strides) {
            last = last.checked_add(size.checked_sub(1)?.checked_mul(*stride)?)?;
        }
        Some(self.first..last.checked_add(1)?)
    }

    /// The order of the cells if they are contiguous, each stored once.
    pub(crate) fn order(&self) -> Option<Order> {
        let is = |order: &Order| {
            let wanted = strides(&self.sizes, *order);
            let mut places = self.sizes.iter().zip(self.strides.iter().zip(wanted));
            places.all(|(size, (stride, wanted))| *size == 1 || *stride == wanted)
        };
        if self.sizes.contains(&0) {
            return Some(Order::Row);
        }
        [Order::Row, Order::Column].into_iter().find(is)
    }

    /// The order of the dimensions, the last varying fastest, if the cells are contiguous, each
    /// stored once.
    fn axes(&self) -> Option<Vec<usize>> {
        let mut axes: Vec<usize> = (0..self.sizes.len()).collect();
        let stride = |axis: &usize| self.strides.get(*axis).copied();
        let size = |axis: &usize| self.sizes.get(*axis).copied();
        // Dimensions of size 1 may be anywhere.
        axes.sort_by_key(|axis| std::cmp::Reverse((size(axis) != Some(1)).then(|| stride(axis))));
        let seen = Strides {
            sizes: permute::pick(&self.sizes, &axes),
            strides: permute::pick(&self.strides, &axes),
            first: self.first,
        };
        (seen.order() == Some(Order::Row)).then_some(axes)
    }
}

impl Tensor {
    /// A dense tensor with its cells at strides into a storage, lazily.
    ///
    /// # Errors
    /// [`Error::Invalid`] if some cells are out of bounds, [`Error::Limit`] if the cells take more
    /// bytes than the storage and than `limits` allow.
    pub(crate) fn strided(
        storage: &Numbers,
        dtype: DType,
        place: &Strides,
        limits: &Limits,
    ) -> Result<Tensor> {
        let width = to_u64(dtype.width());
        let outside = || Error::invalid("cells that lie outside of their storage");
        let span = place.span().ok_or_else(outside)?;
        let start = span.start.checked_mul(width).ok_or_else(outside)?;
        let end = span.end.checked_mul(width).ok_or_else(outside)?;
        let dims = |sizes: &[u64]| sizes.iter().copied().map(Dim::indexed).collect();
        let dense = |sizes: &[u64], order, bytes| {
            let values = Numbers {
                bytes,
                ..storage.clone()
            };
            Tensor::new(dims(sizes), dtype, vec![], Storage::Dense { order, values })
        };
        if start == end {
            return dense(&place.sizes, Order::Row, Bytes::memory(Vec::new()));
        }
        if end > storage.bytes.len() {
            return Err(outside());
        }
        let run = || storage.bytes.run_within(start..end).ok_or_else(outside);
        if let Some(order) = place.order() {
            return dense(&place.sizes, order, run()?);
        }
        if let Some(axes) = place.axes() {
            let stored = dense(&permute::pick(&place.sizes, &axes), Order::Row, run()?)?;
            let back: Vec<usize> = (0..axes.len())
                .filter_map(|axis| axes.iter().position(|other| *other == axis))
                .collect();
            return stored.permute(&back, limits);
        }
        let cells = product(&place.sizes);
        let len = cells.and_then(|cells| cells.checked_mul(width.into()));
        let len = len.unwrap_or(u128::MAX);
        if len > storage.bytes.len().into() {
            limits.check_decoded("a tensor would be expanded to all its cells", len)?;
        }
        let len = u64::try_from(len).map_err(|_| outside())?;
        let run = run()?;
        let gathered = Gathered {
            // More cells than elements mean more work than bytes.
            meter: (len > run.len()).then(|| limits.meter()),
            run,
            width,
            axes: place.merged(),
            len,
        };
        let bytes = Bytes::whole(Source::computed(gathered));
        dense(&place.sizes, Order::Row, bytes)
    }
}

impl Strides {
    /// The sizes and strides of the dimensions, with contiguous neighbors merged.
    fn merged(&self) -> Vec<(u64, u64)> {
        let mut merged: Vec<(u64, u64)> = Vec::new();
        let axes = self.sizes.iter().zip(&self.strides);
        for (size, stride) in axes.filter(|(size, _)| **size != 1) {
            match merged.last_mut() {
                Some((own, apart)) if *apart == stride.saturating_mul(*size) => {
                    *own = own.saturating_mul(*size);
                    *apart = *stride;
                }
                _ => merged.push((*size, *stride)),
            }
        }
        merged
    }
}

/// Cells gathered one by one, or in contiguous runs.
struct Gathered {
    /// From the first element used to the last.
    run: Bytes,
    width: u64,
    /// Sizes and strides.
    axes: Vec<(u64, u64)>,
    len: u64,
    /// Counts reads of cells that share elements.
    meter: Option<Meter>,
}

impl Gathered {
    /// The element of a cell, and the number of contiguous cells from it on.
    fn find(&self, cell: u64) -> (u64, u64) {
        let (mut rest, mut element, mut run) = (cell, 0_u64, 1);
        for (place, (size, stride)) in self.axes.iter().rev().enumerate() {
            let index = rest.checked_rem(*size).unwrap_or(0);
            rest = rest.checked_div(*size).unwrap_or(0);
            element = element.saturating_add(index.saturating_mul(*stride));
            if place == 0 && *stride == 1 {
                run = size.saturating_sub(index);
            }
        }
        (element, run)
    }
}

impl Compute for Gathered {
    fn len(&self) -> u64 {
        self.len
    }

    fn depth(&self) -> u32 {
        self.run.source().depth().saturating_add(1)
    }

    fn check(&self) -> Option<Result<()>> {
        // Elements shared by several cells are checked once.
        Some(self.run.check())
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        if let Some(meter) = &self.meter {
            meter.charge(to_u64(buffer.len()))?;
        }
        let mut pages = Pages::new(self.run.clone());
        let width = self.width.max(1);
        let (mut at, mut rest) = (at, buffer);
        while !rest.is_empty() {
            let skip = at.checked_rem(width).unwrap_or(0);
            let (element, run) = self.find(at.checked_div(width).unwrap_or(0));
            let from = element.saturating_mul(width).saturating_add(skip);
            let there = run.saturating_mul(width).saturating_sub(skip);
            let part = to_usize(there.min(to_u64(rest.len())))?;
            let (now, later) = rest.split_at_mut(part);
            pages.read_through(from, now)?;
            rest = later;
            at = at.saturating_add(to_u64(part));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::unravel_in;

    fn storage(len: u32) -> Numbers {
        Numbers::from_vec(&(0..len).collect::<Vec<u32>>())
    }

    fn read(place: &Strides, storage: &Numbers) -> Vec<u32> {
        let dtype = "u32".parse().unwrap();
        let tensor = Tensor::strided(storage, dtype, place, &Limits::default()).unwrap();
        tensor.to_vec().unwrap()
    }

    #[test]
    fn every_arrangement_gives_the_cells_that_its_strides_say() {
        let storage = storage(100);
        for (sizes, strides, first) in [
            (vec![3, 4], vec![4, 1], 2),
            (vec![3, 4], vec![1, 3], 0),
            (vec![2, 3, 4], vec![4, 8, 1], 5),
            (vec![2, 3, 4], vec![1, 2, 6], 5),
            (vec![3, 4], vec![10, 2], 1),
            (vec![4, 3], vec![2, 10], 1),
            (vec![3, 5], vec![0, 1], 7),
            (vec![5, 3], vec![1, 0], 7),
            (vec![2, 2, 2], vec![0, 0, 0], 99),
            (vec![4, 4], vec![1, 1], 0),
            (vec![3, 1, 4], vec![20, 77, 1], 3),
            (vec![1, 1], vec![9, 9], 4),
            (vec![0, 4], vec![9, 9], 4),
            (vec![], vec![], 42),
        ] {
            let place = Strides {
                sizes,
                strides,
                first,
            };
            let cells: u64 = place.sizes.iter().product();
            let mut index = vec![0; place.sizes.len()];
            let expected = (0..cells).map(|cell| {
                unravel_in(cell, &place.sizes, Order::Row, &mut index);
                let apart = index.iter().zip(&place.strides).map(|(i, s)| i * s);
                u32::try_from(place.first + apart.sum::<u64>()).unwrap()
            });
            let expected: Vec<u32> = expected.collect();
            assert_eq!(read(&place, &storage), expected, "{place:?}");
        }
    }

    #[test]
    fn cells_outside_of_the_storage_are_refused() {
        let dtype: DType = "u32".parse().unwrap();
        for (sizes, strides, first) in [
            (vec![3, 4], vec![4, 1], 0),
            (vec![2], vec![u64::MAX], 0),
            (vec![1], vec![1], u64::MAX),
            (vec![u64::MAX, 2], vec![1, 1], 0),
        ] {
            let place = Strides {
                sizes,
                strides,
                first,
            };
            let found = Tensor::strided(&storage(11), dtype, &place, &Limits::default());
            assert!(found.is_err(), "{place:?}");
        }
    }

    #[test]
    fn elements_that_many_cells_share_are_checked_once_and_read_as_work() {
        let place = Strides {
            sizes: vec![1 << 31],
            strides: vec![0],
            first: 0,
        };
        let dtype = "u32".parse().unwrap();
        let limits = Limits::default().for_file(4);
        let tensor = Tensor::strided(&storage(1), dtype, &place, &limits).unwrap();
        tensor.check(&limits).unwrap();
        let values = tensor.dense(Order::Row, &limits).unwrap();
        let read = values.bytes.for_each(1 << 20, &mut |_| Ok(()));
        let error = read.unwrap_err().to_string();
        assert!(error.ends_with("raise it with --max-work)"), "{error}");
    }

    #[test]
    fn one_element_does_not_stand_for_more_cells_than_the_limits_allow() {
        let place = Strides {
            sizes: vec![1 << 40],
            strides: vec![0],
            first: 0,
        };
        let dtype = "u32".parse().unwrap();
        let error = Tensor::strided(&storage(1), dtype, &place, &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("--max-decoded"), "{error}");
    }
}
