//! Symmetrizing by one symmetry that is its own inverse: a cell and its image are each other's.

use std::sync::Mutex;

use super::cells::Cells;
use super::claim::Deviation;
use super::group::Group;
use super::lines::{Image, Lines};
use super::relayout::Stored;
use super::slice::{Slice, box_len, boxes, unravel_in};
use super::storage::Order;
use super::symmetrized::no_mean;
use super::symmetry::Operation;
use crate::bytes::{Bytes, Threads, in_parts, narrow, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{DType, Pairing, mean};

/// How many numbers are worked on at once.
const BLOCK: usize = 1024;

/// The cells of a tensor and their images.
pub(super) struct Pairs<'a> {
    dtype: DType,
    sizes: &'a [u64],
    /// The dimensions in the order in which they are stored, slowest first.
    dims: Vec<usize>,
    cells: Stored,
    images: Stored,
    image: Image,
    /// How many bytes of cells a thread works on at a time.
    slab: u64,
    threads: Threads,
}

impl<'a> Pairs<'a> {
    /// `None` unless there is one symmetry that is its own inverse.
    pub(super) fn of(
        cells: &Cells,
        group: &Group,
        sizes: &'a [u64],
        limits: &Limits,
    ) -> Option<Pairs<'a>> {
        let [_, (permutation, _)] = group.elements() else {
            return None;
        };
        let [_, image] = Lines::of(group, sizes)?.images.try_into().ok()?;
        let dims = cells.slowest_first();
        let place = |dim: &usize| permutation.iter().position(|from| from == dim);
        let image_dims: Vec<usize> = dims.iter().filter_map(place).collect();
        // Every thread has a part and the images of it.
        let most = match cells.is_in_memory() {
            true => 4 << 20,
            false => 16 << 20,
        };
        Some(Pairs {
            dtype: cells.dtype(),
            sizes,
            cells: cells.seen(&dims),
            images: cells.seen(&image_dims),
            dims,
            image,
            slab: most.min(limits.memory / 64),
            threads: Threads::Cores,
        })
    }

    /// Cuts the tensor into slabs of so many bytes for so many threads.
    #[cfg(test)]
    pub(super) fn cut(&mut self, slab: u64, threads: usize) {
        (self.slab, self.threads) = (slab, Threads::Exactly(threads));
    }

    /// What becomes of every cell, as the cells are stored, and the most that one changes.
    pub(super) fn project(&self, limits: &Limits) -> Result<(Bytes, f64)> {
        let width = wide(self.dtype.width());
        let sizes = self.dims.iter().filter_map(|dim| self.sizes.get(*dim));
        let sizes: Vec<u64> = sizes.copied().collect();
        let cells = sizes
            .iter()
            .fold(1, |cells: u64, size| cells.saturating_mul(*size));
        let part = part(&sizes, self.slab / width.max(1));
        let len = cells.saturating_mul(width);
        let threads = self
            .threads
            .for_len(usize::try_from(len).unwrap_or(usize::MAX));
        let most = Mutex::new(0.0_f64);
        let images = Mutex::new(Vec::new());
        let stopped = |_| Error::invalid("another thread stopped halfway");
        let part_len = narrow(part.saturating_mul(width))?;
        let source = in_parts(threads, len, part_len, limits, |number, own| {
            let mut buffer = images.lock().map_err(stopped)?.pop().unwrap_or_default();
            let first = wide(number).saturating_mul(part);
            let end = first.saturating_add(part).min(cells);
            let mut rest = own;
            for slices in boxes(&sizes, first, end) {
                let len = box_len(&slices, self.dtype.width())?;
                let (now, later) = { rest }.split_at_mut_checked(len).ok_or_else(outside)?;
                let changed = self.fold(&slices, now, &mut buffer)?;
                let mut most = most.lock().map_err(|_| outside())?;
                *most = most.max(changed);
                rest = later;
            }
            images.lock().map_err(stopped)?.push(buffer);
            Ok(())
        })?;
        let most = most.into_inner().unwrap_or(f64::INFINITY);
        Ok((Bytes::whole(source), most))
    }

    /// Fills `own` with what becomes of the cells of a box; gives the most that one changes.
    fn fold(&self, slices: &[Slice], own: &mut [u8], images: &mut Vec<u8>) -> Result<f64> {
        let len = own.len();
        images.resize(len, 0);
        for (stored, buffer) in [(&self.cells, &mut *own), (&self.images, &mut **images)] {
            stored.read_box(slices, wide(len), Threads::Exactly(1), buffer)?;
        }
        let mut means = Means::new(self.dtype, self.image.operation);
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let line = counts.last().copied().unwrap_or(1);
        // A sum is the same whichever comes first, but what a change of sign makes of it is not.
        let is_ordered = self.image.operation != Operation::default();
        let run = match is_ordered {
            true => narrow(line)?.saturating_mul(self.dtype.width()),
            false => own.len(),
        };
        let runs = own.chunks_mut(run.max(1)).zip(images.chunks(run.max(1)));
        for (first, (own, images)) in (0..).step_by(narrow(line)?.max(1)).zip(runs) {
            let (n_leading, is_second) = match is_ordered {
                true => self.n_leading(&self.index(slices, &counts, first)),
                false => (u64::MAX, false),
            };
            let at = narrow(n_leading.min(wide(own.len())))?.saturating_mul(self.dtype.width());
            let (leading, others) = own.split_at_mut(at.min(own.len()));
            let (leading_images, other_images) = images.split_at(leading.len());
            let parts = [
                (leading, leading_images, is_second, first),
                (
                    others,
                    other_images,
                    !is_second,
                    first.saturating_add(n_leading),
                ),
            ];
            for (own, images, is_second, first) in parts {
                if let Err(place) = means.replace(own, images, is_second) {
                    let cell = first.saturating_add(wide(place));
                    return Err(no_mean(self.dtype, &self.index(slices, &counts, cell)));
                }
            }
        }
        Ok(means.worst.apart)
    }

    /// The index of a cell of a slab.
    fn index(&self, slices: &[Slice], counts: &[u64], cell: u64) -> Vec<u64> {
        let (mut item, mut index) = (vec![0; counts.len()], vec![0; counts.len()]);
        unravel_in(cell, counts, Order::Row, &mut item);
        for ((dim, item), slice) in self.dims.iter().zip(&item).zip(slices) {
            if let Some(place) = index.get_mut(*dim) {
                *place = slice.start.saturating_add(*item);
            }
        }
        index
    }

    /// How many cells from `index` on, in the order in which they are stored, are the first of two
    /// like this one, or the second.
    fn n_leading(&self, index: &[u64]) -> (u64, bool) {
        let farther = self.image.farther(index, 0);
        let fastest = self.dims.last().and_then(|dim| self.image.slopes.get(*dim));
        let slope = fastest.copied().unwrap_or(0);
        let distance = farther.unsigned_abs();
        match farther >= 0 {
            true if slope < 0 => ((distance / slope.unsigned_abs()).saturating_add(1), false),
            false if slope > 0 => (distance.div_ceil(slope.unsigned_abs()), true),
            is_first => (u64::MAX, !is_first),
        }
    }
}

/// The means of cells and their images.
struct Means {
    dtype: DType,
    operation: Operation,
    pairing: Pairing,
    made: Vec<u8>,
    worst: Deviation,
}

impl Means {
    fn new(dtype: DType, operation: Operation) -> Means {
        let Operation { negate, conjugate } = operation;
        let flips = |component| negate != (conjugate && component > 0);
        Means {
            dtype,
            operation,
            pairing: Pairing::new(dtype.arity.count(), flips),
            made: Vec::new(),
            worst: Deviation::default(),
        }
    }

    /// Replaces cells, all of them the first of two or the second. Fails with the place of one that
    /// cannot be.
    fn replace(&mut self, own: &mut [u8], images: &[u8], is_second: bool) -> Result<(), usize> {
        let number = self.dtype.number;
        let len = number.width().saturating_mul(BLOCK);
        let mut first = 0_usize;
        for (own, images) in own.chunks_mut(len).zip(images.chunks(len)) {
            self.made.resize(own.len(), 0);
            let pairs = (&*own, images);
            match { self.pairing }.means(number, is_second, pairs, &mut self.made) {
                Some(most) => {
                    own.copy_from_slice(&self.made);
                    if most > self.worst.apart {
                        // As little as that does not count, see `Deviation::compare`.
                        self.worst.apart = most.max(f64::MIN_POSITIVE);
                    }
                }
                None => self.replace_each(own, images, is_second, first)?,
            }
            first = first.saturating_add(own.len() / self.dtype.width());
        }
        Ok(())
    }

    /// Replaces cells one by one, of which `first` is the number of the first.
    fn replace_each(
        &mut self,
        own: &mut [u8],
        images: &[u8],
        is_second: bool,
        first: usize,
    ) -> Result<(), usize> {
        let (number, width) = (self.dtype.number, self.dtype.width());
        let Operation { negate, conjugate } = self.operation;
        let cells = own.chunks_exact_mut(width).zip(images.chunks_exact(width));
        for (place, (own, image)) in (first..).zip(cells) {
            self.made.clear();
            let (one, other) = match is_second {
                true => (image, &*own),
                false => (&*own, image),
            };
            let parts = one.chunks_exact(number.width());
            let parts = parts.zip(other.chunks_exact(number.width())).enumerate();
            for (component, (one, other)) in parts {
                let flips = negate != (conjugate && component > 0);
                if !mean(number, &[(one, false), (other, flips)], &mut self.made) {
                    return Err(place);
                }
            }
            if is_second && self.operation.apply(self.dtype, &mut self.made).is_err() {
                return Err(place);
            }
            self.worst.compare(self.dtype, &[], own, &self.made);
            own.copy_from_slice(&self.made);
        }
        Ok(())
    }
}

/// How many consecutive cells, no more than `most`, make a part: all of the fastest dimensions and
/// several places of the next, as runs of images are as long as there are places.
fn part(sizes: &[u64], most: u64) -> u64 {
    let mut part = 1_u64;
    for size in sizes.iter().rev() {
        let room = (most / part).max(1);
        if room < *size {
            return part.saturating_mul(size.div_ceil(size.div_ceil(room)));
        }
        part = part.saturating_mul((*size).max(1));
    }
    part
}

/// What cannot happen, as all sizes were checked; said instead of a panic.
fn outside() -> Error {
    Error::invalid("a symmetrized tensor reaches outside itself")
}
