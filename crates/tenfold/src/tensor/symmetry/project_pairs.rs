//! Projection by one symmetry that is its own inverse: a cell and its image are a pair.

use std::sync::Mutex;

use super::Operation;
use super::dense_deviation::Cells;
use super::deviation::Deviation;
use super::group::Group;
use super::project::no_mean;
use super::stored_runs::{Image, Lines};
use super::tiles::boxes as tiles;
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::io::{Threads, in_parts};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::dense::read_box::strides;
use crate::tensor::dense::transpose::Stored;
use crate::tensor::index::slice::{Slice, box_len, boxes, unravel_in, within};
use crate::tensor::storage::Order;
use crate::tensor::{Pairing, mean};

/// Numbers processed at a time.
const BLOCK: usize = 1024;

/// The cells of a tensor and their images.
pub(crate) struct Pairs<'a> {
    dtype: DType,
    sizes: &'a [u64],
    /// The dimensions in stored order, slowest first.
    dims: Vec<usize>,
    cells: Stored,
    images: Stored,
    image: Image,
    /// The position in `dims` of the dimension along which the images are contiguous.
    across: usize,
    /// Bytes of cells that a thread may write at a time.
    room: u64,
    /// Bytes of cells that it processes at a time.
    tile: u64,
    threads: Threads,
}

impl<'a> Pairs<'a> {
    /// `None` unless the group is one symmetry that is its own inverse.
    pub(crate) fn of(
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
        let across = image_dims.iter().position(|dim| Some(dim) == dims.last());
        let threads = Threads::Cores;
        // Small enough for the inner caches, or large enough for a read call per run of cells in a
        // file.
        let tile = if cells.is_in_memory() {
            256 << 10
        } else {
            4 << 20
        };
        // Every thread has a part; together they get a quarter of the memory.
        let room = limits.memory / 4 / to_u64(threads.for_len(usize::MAX)).max(1);
        Some(Pairs {
            dtype: cells.dtype(),
            sizes,
            cells: cells.seen(&dims),
            images: cells.seen(&image_dims),
            dims,
            image,
            across: across.unwrap_or(0),
            room,
            tile: room.min(tile),
            threads,
        })
    }

    /// Cuts the tensor into parts and tiles of so many bytes for so many threads.
    #[cfg(test)]
    pub(crate) fn cut(&mut self, part: u64, tile: u64, threads: usize) {
        (self.room, self.tile, self.threads) = (part, tile, Threads::Exactly(threads));
    }

    /// The projected values in stored order, and the largest change.
    pub(crate) fn project(&self, limits: &Limits) -> Result<(Bytes, f64)> {
        let width = to_u64(self.dtype.width());
        let sizes = self.dims.iter().filter_map(|dim| self.sizes.get(*dim));
        let sizes: Vec<u64> = sizes.copied().collect();
        let cells = sizes
            .iter()
            .fold(1, |cells: u64, size| cells.saturating_mul(*size));
        let part = self.part(&sizes);
        let len = cells.saturating_mul(width);
        let threads = self
            .threads
            .for_len(usize::try_from(len).unwrap_or(usize::MAX));
        let most = Mutex::new(0.0_f64);
        let buffers = Mutex::new(Vec::new());
        let stopped = |_| Error::invalid("another thread stopped halfway");
        let part_len = to_usize(part.saturating_mul(width))?;
        let source = in_parts(threads, len, part_len, limits, |number, out| {
            let mut own_buffers: [Vec<u8>; 2] =
                buffers.lock().map_err(stopped)?.pop().unwrap_or_default();
            let first = to_u64(number).saturating_mul(part);
            let end = first.saturating_add(part).min(cells);
            let mut rest = out;
            for slices in boxes(&sizes, first, end) {
                let len = box_len(&slices, self.dtype.width())?;
                let (now, later) = { rest }.split_at_mut_checked(len).ok_or_else(outside)?;
                let changed = self.fold(&slices, now, &mut own_buffers)?;
                let mut most = most.lock().map_err(|_| outside())?;
                *most = most.max(changed);
                rest = later;
            }
            buffers.lock().map_err(stopped)?.push(own_buffers);
            Ok(())
        })?;
        let most = most.into_inner().unwrap_or(f64::INFINITY);
        Ok((Bytes::whole(source), most))
    }

    /// The number of consecutive cells in a part: few, unless their images would then be isolated
    /// cells.
    fn part(&self, sizes: &[u64]) -> u64 {
        /// As many indices as a cache line holds.
        const SEVERAL: u64 = 16;
        let inner = sizes.iter().skip(self.across.saturating_add(1));
        let inner = inner.fold(1, |inner: u64, size| inner.saturating_mul(*size));
        let width = to_u64(self.dtype.width()).max(1);
        let wanted = inner.saturating_mul(SEVERAL).saturating_mul(width);
        let most = self.room.min(wanted.max(16 << 20));
        whole_places(sizes, most / width)
    }

    /// Fills `out` with the projected cells of a box; returns the largest change.
    fn fold(
        &self,
        slices: &[Slice],
        out: &mut [u8],
        [own, images]: &mut [Vec<u8>; 2],
    ) -> Result<f64> {
        let width = self.dtype.width();
        let mut means = Means::new(self.dtype, self.image.operation);
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let strides = strides(&counts, Order::Row);
        let mut failed = None;
        for tile in tiles(&counts, &self.sides(&counts)) {
            let seen = within(slices, &tile)?;
            let len = box_len(&tile, width)?;
            for (stored, buffer) in [(&self.cells, &mut *own), (&self.images, &mut *images)] {
                memory::resize(buffer, len)?;
                stored.read_box(&seen, to_u64(len), Threads::Exactly(1), buffer)?;
            }
            let inner: Vec<u64> = tile.iter().map(|slice| slice.count).collect();
            let run = to_usize(self.run(&inner, &counts))?;
            let mut item = vec![0; inner.len()];
            let rows = own.chunks(run.saturating_mul(width).max(1));
            let rows = rows.zip(images.chunks(run.saturating_mul(width).max(1)));
            for (row, pair) in (0_u64..).step_by(run.max(1)).zip(rows) {
                unravel_in(row, &inner, Order::Row, &mut item);
                let places = item.iter().zip(&tile).zip(&strides);
                let cell = places.fold(0_u64, |cell, ((item, slice), stride)| {
                    let place = slice.start.saturating_add(*item);
                    cell.saturating_add(place.saturating_mul(*stride))
                });
                let leading = if self.is_ordered() {
                    self.leading(&self.index(slices, &counts, cell))
                } else {
                    (usize::MAX, false)
                };
                let start = to_usize(cell)?.saturating_mul(width);
                let room = out.get_mut(start..).unwrap_or_default();
                let room = room.get_mut(..pair.0.len()).ok_or_else(outside)?;
                if let Err(place) = means.put_run(pair, leading, room) {
                    let cell = cell.saturating_add(to_u64(place));
                    failed = Some(failed.unwrap_or(cell).min(cell));
                    break;
                }
            }
        }
        match failed {
            Some(cell) => Err(no_mean(self.dtype, &self.index(slices, &counts, cell))),
            None => Ok(means.worst.apart),
        }
    }

    /// The sides of a tile of a box: long both along the dimension in which its cells are
    /// contiguous and along the one in which their images are, so that both are read in runs.
    fn sides(&self, counts: &[u64]) -> Vec<u64> {
        /// As many indices as a transposition takes at a time.
        const LONG: u64 = 128;
        let mut room = (self.tile / to_u64(self.dtype.width()).max(1)).max(1);
        let mut sides = vec![0; counts.len()];
        let count = |dim: usize| counts.get(dim).copied().unwrap_or(1).max(1);
        let fastest = counts.len().saturating_sub(1);
        let long = count(self.across).min(LONG);
        let others = (0..counts.len()).rev();
        for dim in [fastest, self.across].into_iter().chain(others) {
            if let Some(side) = sides.get_mut(dim).filter(|side| **side == 0) {
                let most = if dim == fastest && dim != self.across {
                    (room / long).max(1)
                } else {
                    room
                };
                *side = count(dim).min(most);
                room = (room / *side).max(1);
            }
        }
        sides
    }

    /// The number of cells of a tile that are contiguous in its box, and can be processed at once.
    fn run(&self, tile: &[u64], counts: &[u64]) -> u64 {
        let mut run = 1_u64;
        for (side, count) in tile.iter().zip(counts).rev() {
            run = run.saturating_mul(*side);
            if side < count || self.is_ordered() {
                break;
            }
        }
        run
    }

    /// A plain sum is the same in either order of the two cells; with negation or conjugation it is
    /// not.
    fn is_ordered(&self) -> bool {
        self.image.operation != Operation::default()
    }

    /// The index of a cell of a box.
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

    /// The number of cells from `index` on, in stored order, that are in the same role as this one:
    /// first of their pair or second; and whether they are second.
    fn leading(&self, index: &[u64]) -> (usize, bool) {
        let farther = self.image.farther(index, 0);
        let fastest = self.dims.last().and_then(|dim| self.image.slopes.get(*dim));
        let slope = fastest.copied().unwrap_or(0);
        let (distance, steps) = (farther.unsigned_abs(), slope.unsigned_abs());
        let count = match farther >= 0 {
            true if slope < 0 => (distance / steps).saturating_add(1),
            false if slope > 0 => distance.div_ceil(steps),
            _ => u64::MAX,
        };
        (usize::try_from(count).unwrap_or(usize::MAX), farther < 0)
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

    /// Writes the projected values of cells, of which so many have one role in their pair, and the
    /// others the other. Fails with the place of one that cannot be represented.
    fn put_run(
        &mut self,
        (own, images): (&[u8], &[u8]),
        (n_leading, is_second): (usize, bool),
        out: &mut [u8],
    ) -> Result<(), usize> {
        let at = n_leading.saturating_mul(self.dtype.width()).min(own.len());
        let (own, images, out) = (own.split_at(at), images.split_at(at), out.split_at_mut(at));
        self.put((own.0, images.0), is_second, out.0)?;
        let rest = self.put((own.1, images.1), !is_second, out.1);
        rest.map_err(|place| place.saturating_add(n_leading))
    }

    /// Writes the projected values of cells that all have the same role in their pair.
    fn put(
        &mut self,
        (own, images): (&[u8], &[u8]),
        is_second: bool,
        out: &mut [u8],
    ) -> Result<(), usize> {
        let number = self.dtype.number;
        let len = number.width().saturating_mul(BLOCK);
        let mut first = 0_usize;
        let pairs = own.chunks(len).zip(images.chunks(len));
        for (pairs, out) in pairs.zip(out.chunks_mut(len)) {
            match self.pairing.means(number, is_second, pairs, out) {
                Some(most) if most > self.worst.apart => {
                    // A change as small as that does not count, see `Deviation::compare`.
                    self.worst.apart = most.max(f64::MIN_POSITIVE);
                }
                Some(_) => {}
                None => {
                    let put = self.put_each(pairs, is_second, out);
                    put.map_err(|place| place.saturating_add(first))?;
                }
            }
            first = first.saturating_add(out.len() / self.dtype.width());
        }
        Ok(())
    }

    /// Writes the projected values of cells one by one.
    fn put_each(
        &mut self,
        (own, images): (&[u8], &[u8]),
        is_second: bool,
        out: &mut [u8],
    ) -> Result<(), usize> {
        let (number, width) = (self.dtype.number, self.dtype.width());
        let Operation { negate, conjugate } = self.operation;
        let cells = own.chunks_exact(width).zip(images.chunks_exact(width));
        let cells = cells.zip(out.chunks_exact_mut(width));
        for (place, ((own, image), out)) in cells.enumerate() {
            self.made.clear();
            let (one, other) = if is_second {
                (image, own)
            } else {
                (own, image)
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
            out.copy_from_slice(&self.made);
        }
        Ok(())
    }
}

/// How many consecutive cells, at most `most`, are whole indices of one dimension.
fn whole_places(sizes: &[u64], most: u64) -> u64 {
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

/// The error of an impossible case, as all sizes were checked; returned instead of a panic.
fn outside() -> Error {
    Error::invalid("a symmetrized tensor reaches outside itself")
}
