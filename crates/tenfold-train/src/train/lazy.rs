//! The cells of a train as a dense tensor that is evaluated on reading.

use std::ops::Range;

use tenfold::{Bytes, Compute, Dim, Endian, Limits, Number, Numbers, Order, Storage, Tensor};

use super::eval::{Halves, Spoiled};
use super::{Core, Train};
use crate::error::{Error, Result};
use crate::huge_vec::resize;
use crate::linalg;
use crate::scalar::Scalar;

/// Fewest and most cells evaluated at a time, whatever the available memory: fewer have too much
/// overhead, more gain nothing.
const LEAST: usize = 1 << 14;
const MOST: usize = 1 << 21;

impl<T: Scalar> Train<T> {
    /// The tensor with all its cells, in `order`, evaluated a slab at a time when they
    /// are read, within the memory that `limits` allow.
    ///
    /// # Errors
    /// [`tenfold::Error::Limit`] if `limits` do not allow as many cells.
    pub fn expanded(&self, order: Order, limits: &Limits) -> Result<Tensor> {
        let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let sizes = self.shape();
        let dims = sizes.iter().map(|size| Dim::indexed(wide(*size))).collect();
        let all = sizes.iter().fold(wide(size_of::<T>()).into(), |all, size| {
            u128::saturating_mul(all, wide(*size).into())
        });
        limits.check_decoded("a train would be expanded to all its cells", all)?;
        let train = match order {
            Order::Row => self.clone(),
            Order::Column => self.reversed(),
        };
        let mut lazy = Lazy::new(train, limits)?;
        if let Some(spoiled) = &mut lazy.spoiled {
            spoiled.is_reversed = order == Order::Column;
        }
        let values = Numbers {
            number: Number::F64,
            endian: if cfg!(target_endian = "little") {
                Endian::Little
            } else {
                Endian::Big
            },
            bytes: Bytes::whole(tenfold::Source::computed(lazy)),
        };
        let storage = Storage::Dense { order, values };
        Ok(Tensor::new(dims, T::DTYPE, Vec::new(), storage)?)
    }
}

/// A train whose cells are read sequentially.
struct Lazy<T> {
    train: Train<T>,
    cells: usize,
    /// The cells that are evaluated one by one, if any.
    spoiled: Option<Spoiled<T>>,
    /// The number of cells per index of each mode: those of all modes after it.
    strides: Vec<usize>,
    /// The number of cells evaluated at a time.
    at_once: usize,
}

impl<T: Scalar> Lazy<T> {
    fn new(train: Train<T>, limits: &Limits) -> Result<Lazy<T>> {
        let cells = train.cells()?;
        let spoiled = Spoiled::of(&train)?;
        let train = train.steady().into_owned();
        let mut strides = Vec::new();
        let mut stride = 1;
        for core in train.cores.iter().rev() {
            strides.push(stride);
            stride *= core.size;
        }
        strides.reverse();
        // A slab is held once as cells, and perhaps once for every rank while it is computed.
        let per_cell = size_of::<T>().saturating_mul(train.max_rank().saturating_add(1));
        let memory = usize::try_from(limits.memory / 4).unwrap_or(usize::MAX);
        Ok(Lazy {
            cells,
            spoiled,
            strides,
            at_once: (memory / per_cell).clamp(LEAST, MOST),
            train,
        })
    }

    /// Fills `out` with the cells from `at` on, as few boxes as possible, each of them a range of
    /// one mode with all modes after it.
    fn fill(&self, from: usize, out: &mut [T]) -> Result<()> {
        let (mut at, mut rest) = (from, &mut *out);
        while !rest.is_empty() {
            let most = rest.len().min(self.at_once);
            let (mode, stride) = self.mode_at(at, most);
            let size = self.train.core(mode)?.size;
            let place = at / stride % size;
            let count = (most / stride).clamp(1, size - place);
            let len = (count * stride).min(rest.len());
            let (now, later) = std::mem::take(&mut rest).split_at_mut(len);
            self.fill_box(at, mode, place..place + count, now)?;
            (at, rest) = (at + len, later);
        }
        match &self.spoiled {
            Some(spoiled) => spoiled.mend(from, out),
            None => Ok(()),
        }
    }

    /// The first mode whose indices are aligned with `at` and have at most `most` cells.
    fn mode_at(&self, at: usize, most: usize) -> (usize, usize) {
        let mut strides = self.strides.iter().copied().enumerate();
        let fits = |stride: usize| stride <= most && at.is_multiple_of(stride);
        strides
            .find(|(_, stride)| fits(*stride))
            .unwrap_or((self.strides.len().saturating_sub(1), 1))
    }

    /// Fills `out` with a range `places` of a mode and all modes after it, where `at` gives the
    /// position in those before.
    fn fill_box(&self, at: usize, mode: usize, places: Range<usize>, out: &mut [T]) -> Result<()> {
        let mut row = vec![T::of_real(1.0)];
        for (core, stride) in self.train.cores.iter().zip(&self.strides).take(mode) {
            let place = at / stride % core.size;
            row = linalg::product(&row, &core.at(place..place + 1), core.left);
        }
        let core = self.train.core(mode)?;
        let first = Core {
            left: 1,
            size: places.len(),
            right: core.right,
            values: linalg::product(&row, &core.at(places), core.left).into(),
        };
        let after = self.train.cores.iter().skip(mode + 1);
        let cores: Vec<&Core<T>> = std::iter::once(&first).chain(after).collect();
        Halves::between(&cores).fill_rows(0, out);
        Ok(())
    }
}

impl<T: Scalar> Core<T> {
    /// The numbers at some indices, row-major.
    fn at(&self, places: Range<usize>) -> Vec<T> {
        let (from, len) = (places.start * self.right, places.len() * self.right);
        let matrices = self.values.chunks_exact(self.size * self.right);
        matrices
            .flat_map(|matrix| matrix.iter().skip(from).take(len).copied())
            .collect()
    }
}

impl<T: Scalar> Compute for Lazy<T> {
    fn len(&self) -> u64 {
        u64::try_from(self.cells.saturating_mul(size_of::<T>())).unwrap_or(u64::MAX)
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> tenfold::Result<()> {
        let width = size_of::<T>();
        let at = usize::try_from(at).map_err(|_| outside())?;
        let (first, within) = (at / width, at % width);
        let end = (at + buffer.len()).div_ceil(width);
        let mut cells = T::zeros(end - first)?;
        self.fill(first, &mut cells).map_err(as_tensor_error)?;
        let bytes: &[u8] = bytemuck::cast_slice(&cells);
        let wanted = bytes.get(within..within + buffer.len());
        buffer.copy_from_slice(wanted.ok_or_else(outside)?);
        Ok(())
    }

    fn for_each(
        &self,
        range: Range<u64>,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> tenfold::Result<()>,
    ) -> tenfold::Result<()> {
        let width = size_of::<T>();
        let narrow = |at: u64| usize::try_from(at).map_err(|_| outside());
        let (start, end) = (narrow(range.start)?, narrow(range.end)?);
        let mut slab = Vec::new();
        let mut at = start;
        while at < end {
            // Slabs aligned with an index of a mode are evaluated as one box.
            let first = at / width;
            let (_, stride) = self.mode_at(0, self.at_once);
            let places = (self.at_once / stride).max(1) * stride;
            let next = (first / places + 1).saturating_mul(places);
            let last = next.min(end.div_ceil(width));
            resize(&mut slab, last.saturating_sub(first)).map_err(as_tensor_error)?;
            self.fill(first, &mut slab).map_err(as_tensor_error)?;
            let bytes: &[u8] = bytemuck::cast_slice(&slab);
            let from = at - first * width;
            let to = bytes.len().min(end - first * width);
            let wanted = bytes.get(from..to).ok_or_else(outside)?;
            wanted.chunks(budget.max(1)).try_for_each(&mut *each)?;
            at += wanted.len();
        }
        Ok(())
    }

    fn depth(&self) -> u32 {
        1
    }
}

fn outside() -> tenfold::Error {
    tenfold::Error::Invalid("cells outside the train".into())
}

/// The error in terms of the calling library.
fn as_tensor_error(error: Error) -> tenfold::Error {
    match error {
        Error::Tensor(error) => error,
        other => tenfold::Error::Invalid(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lazy(shape: &[usize], rank: usize, at_once: usize) -> (Lazy<f64>, Vec<f64>) {
        let train = Train::<f64>::random(shape, rank, 7).unwrap();
        let full = train.full().unwrap();
        let mut lazy = Lazy::new(train, &Limits::default()).unwrap();
        lazy.at_once = at_once;
        (lazy, full)
    }

    fn is_near(one: &[f64], other: &[f64]) -> bool {
        let mut pairs = one.iter().zip(other);
        one.len() == other.len() && pairs.all(|(one, other)| (one - other).abs() < 1e-12)
    }

    #[test]
    fn any_run_of_cells_is_that_of_the_whole() {
        for at_once in [1, 5, 12, 60, 1000] {
            let (lazy, full) = lazy(&[3, 1, 5, 2, 4], 3, at_once);
            for start in 0..full.len() {
                for len in [1, 2, 7, 40, full.len() - start] {
                    let end = (start + len).min(full.len());
                    let mut out = vec![0.0; end - start];
                    lazy.fill(start, &mut out).unwrap();
                    assert!(
                        is_near(&out, &full[start..end]),
                        "{at_once}: {start}..{end}"
                    );
                }
            }
        }
    }

    #[test]
    fn bytes_come_in_order_and_in_pieces_that_are_small_enough() {
        let (lazy, full) = lazy(&[4, 6, 5], 2, 17);
        let whole: Vec<u8> = full.iter().flat_map(|cell| cell.to_le_bytes()).collect();
        for (start, end) in [(0, 960), (3, 960), (13, 14), (100, 777)] {
            let mut bytes = vec![0; 3];
            bytes.clear();
            lazy.for_each(start..end, 24, &mut |piece| {
                assert!(piece.len() <= 24);
                bytes.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
            let mut read = vec![0; bytes.len()];
            lazy.read_at(start, &mut read).unwrap();
            let wanted = end - start;
            assert_eq!(u64::try_from(bytes.len()).unwrap(), wanted);
            // The same cell may differ in its last bits between boxes: only whole boxes are
            // compared.
            if start == 0 {
                let cells: Vec<f64> = bytes
                    .chunks_exact(8)
                    .map(|cell| f64::from_le_bytes(cell.try_into().unwrap()))
                    .collect();
                assert!(is_near(&cells, &full));
                assert_eq!(bytes.len(), whole.len());
            }
        }
    }

    #[test]
    fn a_train_too_large_for_the_limits_is_not_expanded() {
        let vector: &[f64] = &[1.0; 1000];
        let train = Train::outer(&[vector; 7]).unwrap();
        let error = train.expanded(Order::Row, &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("--max-decoded"), "{error}");
    }

    #[test]
    fn either_order_gives_the_same_tensor() {
        let train = Train::<f64>::random(&[4, 3, 5], 2, 1).unwrap();
        let limits = Limits::default();
        let row = train.expanded(Order::Row, &limits).unwrap();
        let column = train.expanded(Order::Column, &limits).unwrap();
        let (row, column) = (row.to_vec().unwrap(), column.to_vec().unwrap());
        assert!(is_near(&row, &column) && is_near(&row, &train.full().unwrap()));
    }
}
