//! Boxes of a packed tensor, filled with one image of the stored cells after another.
//!
//! The cells whose images under a symmetry lie in a box form a box as well, some of whose cells are
//! stored: a reflection. Threads divide the box between them.

use std::ops::Range;

use super::Packed;
use super::image::Reflection;
use crate::bytes::{Bytes, Endian, swap, to_u64, to_usize};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::io::{Pages, Threads, par_for_each};
use crate::tensor::index::slice::{Slice, box_len, boxes};
use crate::tensor::symmetry::stored_runs::{Image, Lines};

/// Length of a tile in bytes.
const TILE: usize = 256 << 10;

/// Length of a tile if each of its rows is read from a file.
const FILE_TILE: usize = 768 << 10;

/// A packed tensor whose boxes are filled image by image.
pub(super) struct Mirror<'a> {
    dtype: DType,
    pub(super) sizes: &'a [u64],
    pub(super) bytes: Bytes,
    /// Width of the numbers that are byte-swapped; 1 for none.
    reversed: usize,
    /// The group elements, the simplest last: of several that lead to one cell it overwrites the
    /// others.
    pub(super) lines: Lines,
    /// See [`Lines::offsets`].
    offsets: Vec<u64>,
    /// Bytes transposed at a time.
    pub(super) tile: usize,
    pub(super) threads: Threads,
}

impl<'a> Mirror<'a> {
    /// `None` if that would take more memory than is available.
    pub(super) fn new(packed: &'a Packed) -> Result<Option<Mirror<'a>>> {
        let Some(mut lines) = Lines::of(packed.group, packed.sizes) else {
            return Ok(None);
        };
        let numbers = packed.values;
        let bytes = &numbers.bytes;
        // Computed values, and those with a checksum, are read once and in order.
        let is_positioned = bytes.is_plain() && !bytes.source().is_computed();
        let must_hold = !is_positioned && bytes.as_slice().is_none();
        let held = if must_hold { bytes.len() } else { 0 };
        if lines.count().saturating_mul(8).saturating_add(held) > packed.spare {
            return Ok(None);
        }
        let offsets = lines.offsets();
        lines.sort_images(|operation| std::cmp::Reverse((operation.negate, operation.conjugate)));
        Ok(Some(Mirror {
            dtype: packed.dtype,
            sizes: packed.sizes,
            bytes: if must_hold {
                Bytes::memory(bytes.to_vec()?)
            } else {
                bytes.clone()
            },
            reversed: if numbers.must_swap(Endian::Little) {
                packed.dtype.number.width()
            } else {
                1
            },
            lines,
            offsets,
            tile: match bytes.as_slice() {
                Some(_) => TILE,
                None => FILE_TILE,
            },
            threads: Threads::Cores,
        }))
    }

    /// Fills `out` with a box without steps, its dimensions in the order `axes`, the last varying
    /// fastest; little-endian.
    pub(super) fn fill(&self, slices: &[Slice], axes: &[usize], out: &mut [u8]) -> Result<()> {
        match self.dtype.width() {
            1 => self.fill_cells::<1>(slices, axes, out),
            2 => self.fill_cells::<2>(slices, axes, out),
            4 => self.fill_cells::<4>(slices, axes, out),
            8 => self.fill_cells::<8>(slices, axes, out),
            16 => self.fill_cells::<16>(slices, axes, out),
            32 => self.fill_cells::<32>(slices, axes, out),
            64 => self.fill_cells::<64>(slices, axes, out),
            128 => self.fill_cells::<128>(slices, axes, out),
            width => Err(Error::invalid(format!("elements of {width} bytes"))),
        }
    }

    fn fill_cells<const WIDTH: usize>(
        &self,
        slices: &[Slice],
        axes: &[usize],
        out: &mut [u8],
    ) -> Result<()> {
        let own = axes.iter().map(|axis| slices.get(*axis).copied());
        let own: Vec<Slice> = own.collect::<Option<_>>().ok_or_else(outside)?;
        let counts: Vec<u64> = own.iter().map(|slice| slice.count).collect();
        let threads = self.threads.for_len(out.len());
        let cells = out.as_chunks_mut::<WIDTH>().0;
        let share = self.share(&counts, threads, cells.len());
        par_for_each(
            threads,
            cells.chunks_mut(share).enumerate(),
            |(number, cells)| {
                let first = to_u64(number.saturating_mul(share));
                let end = first.saturating_add(to_u64(cells.len()));
                let mut rest = cells;
                for part in boxes(&counts, first, end) {
                    let len = box_len(&part, 1)?;
                    let (now, later) = rest.split_at_mut_checked(len).ok_or_else(outside)?;
                    let mut window = vec![0..0; slices.len()];
                    for ((axis, part), own) in axes.iter().zip(&part).zip(&own) {
                        let start = own.start.saturating_add(part.start);
                        let place = window.get_mut(*axis).ok_or_else(outside)?;
                        *place = start..start.saturating_add(part.count);
                    }
                    self.fill_window(&window, axes, now)?;
                    rest = later;
                }
                Ok(())
            },
        )
    }

    /// The number of cells that a thread fills at a time: whole indices of the slowest dimensions,
    /// and not too few, as parts of a file may have to be read again for each.
    fn share(&self, counts: &[u64], threads: usize, cells: usize) -> usize {
        let shares = match (threads, self.bytes.as_slice()) {
            (1, _) => 1,
            (_, Some(_)) => threads.saturating_mul(8),
            (_, None) => threads.saturating_mul(2),
        };
        let (mut outer, mut inner) = (1_usize, cells);
        for count in counts {
            let count = usize::try_from(*count).unwrap_or(usize::MAX);
            outer = outer.saturating_mul(count);
            inner /= count.max(1);
            if outer >= shares {
                break;
            }
        }
        outer.div_ceil(shares).saturating_mul(inner).max(1)
    }

    /// Fills `out` with the range `window` of each dimension, on this thread.
    fn fill_window<const WIDTH: usize>(
        &self,
        window: &[Range<u64>],
        axes: &[usize],
        out: &mut [[u8; WIDTH]],
    ) -> Result<()> {
        let mut steps = vec![0_usize; window.len()];
        let mut step = 1_usize;
        for axis in axes.iter().rev() {
            *steps.get_mut(*axis).ok_or_else(outside)? = step;
            let places = window.get(*axis).cloned().unwrap_or(0..0);
            step = step.saturating_mul(to_usize(places.end.saturating_sub(places.start))?);
        }
        if self
            .lines
            .images
            .iter()
            .any(|image| image.operation.is_minus())
        {
            out.fill([0; WIDTH]);
        }
        for image in &self.lines.images {
            Reflection::new(self, image, window, &steps)?.fill(out)?;
        }
        Ok(())
    }

    /// Converts stored bytes to the values of their images.
    pub(super) fn settle(&self, image: &Image, stored: &mut [u8]) -> Result<()> {
        swap(stored, self.reversed);
        image.operation.apply_all(self.dtype, stored)
    }

    /// The stored values behind a page cache, for short runs.
    pub(super) fn pages(&self) -> Pages {
        Pages::new(self.bytes.clone())
    }

    /// The line through a cell.
    pub(super) fn line(&self, index: impl Iterator<Item = u64>) -> u64 {
        let places = index.zip(self.sizes).skip(1);
        let (line, _) = places.fold((0_u64, 1_u64), |(line, stride), (place, size)| {
            let line = line.saturating_add(place.saturating_mul(stride));
            (line, stride.saturating_mul(*size))
        });
        line
    }

    /// The number of stored cells before the one at a place of a line.
    pub(super) fn number(&self, line: u64, place: u64) -> Result<u64> {
        let offset = self.offsets.get(to_usize(line)?).ok_or_else(outside)?;
        Ok(offset.wrapping_add(place))
    }
}

/// The error of an impossible case, as all sizes were checked; returned instead of a panic.
pub(super) fn outside() -> Error {
    Error::invalid("an image reaches outside its tensor")
}

pub(super) fn short() -> Error {
    Error::invalid("a packed tensor is too short")
}
