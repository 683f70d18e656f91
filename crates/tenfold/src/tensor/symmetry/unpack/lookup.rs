//! Boxes of a packed tensor with stored values in memory: every cell is looked up.

use std::borrow::Cow;

use super::Packed;
use crate::bytes::{Endian, to_u64, to_usize};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::io::{Threads, par_for_each};
use crate::memory;
use crate::tensor::index::slice::{Slice, unravel_in};
use crate::tensor::storage::Order;
use crate::tensor::symmetry::Operation;
use crate::tensor::symmetry::stored_runs::{Image, Lines};

/// Bytes of a box that one thread fills at a time.
const SHARE: usize = 1 << 18;

/// A box that is looked up in the stored values.
pub(super) struct Gather<'a> {
    dtype: DType,
    sizes: &'a [u64],
    slices: &'a [Slice],
    values: Cow<'a, [u8]>,
    /// The group elements, the simplest first.
    images: Vec<Image>,
    /// See [`Lines::offsets`].
    offsets: Vec<u64>,
}

/// The distance to the image of a cell, and its change along a row.
#[derive(Clone, Copy)]
struct Track {
    farther: i64,
    farther_step: i64,
    line: u64,
    line_step: u64,
    place: u64,
    place_step: u64,
    operation: Operation,
}

impl Track {
    #[inline(always)]
    fn advance(&mut self) {
        self.farther = self.farther.wrapping_add(self.farther_step);
        self.line = self.line.wrapping_add(self.line_step);
        self.place = self.place.wrapping_add(self.place_step);
    }
}

impl<'a> Gather<'a> {
    pub(super) fn new(packed: &'a Packed, lines: Lines, slices: &'a [Slice]) -> Result<Self> {
        let numbers = packed.values;
        let values = match numbers.bytes.as_slice() {
            Some(slice) if !numbers.must_swap(Endian::Little) => Cow::Borrowed(slice),
            _ => {
                let mut all = memory::zeros(to_usize(numbers.bytes.len())?)?;
                numbers.read_into(&mut all)?;
                Cow::Owned(all)
            }
        };
        let offsets = lines.offsets();
        let mut lines = lines;
        lines.sort_images(|operation| (operation.negate, operation.conjugate));
        Ok(Gather {
            dtype: packed.dtype,
            sizes: packed.sizes,
            slices,
            values,
            images: lines.images,
            offsets,
        })
    }

    /// Fills `out` with the box, row-major, little-endian.
    pub(super) fn fill(&self, out: &mut [u8]) -> Result<()> {
        match self.dtype.width() {
            1 => self.fill_cells::<1>(out),
            2 => self.fill_cells::<2>(out),
            4 => self.fill_cells::<4>(out),
            8 => self.fill_cells::<8>(out),
            16 => self.fill_cells::<16>(out),
            32 => self.fill_cells::<32>(out),
            64 => self.fill_cells::<64>(out),
            128 => self.fill_cells::<128>(out),
            width => Err(Error::invalid(format!("elements of {width} bytes"))),
        }
    }

    fn fill_cells<const WIDTH: usize>(&self, out: &mut [u8]) -> Result<()> {
        let Some((last, outer)) = self.slices.split_last() else {
            return self.fill_row::<WIDTH>(&[], Slice::one(0), out.as_chunks_mut().0);
        };
        let row = to_usize(last.count)?.max(1);
        let per_share = (SHARE / WIDTH / row).max(1);
        let threads = Threads::Cores.for_len(out.len());
        let cells = out.as_chunks_mut::<WIDTH>().0;
        let counts: Vec<u64> = outer.iter().map(|slice| slice.count).collect();
        let shares = cells.chunks_mut(row.saturating_mul(per_share));
        par_for_each(threads, shares.enumerate(), |(share, cells)| {
            let mut index = vec![0; self.slices.len()];
            let first = share.saturating_mul(per_share);
            for (row, cells) in (to_u64(first)..).zip(cells.chunks_mut(row)) {
                let places = index.get_mut(..outer.len()).unwrap_or_default();
                unravel_in(row, &counts, Order::Row, places);
                for (place, slice) in index.iter_mut().zip(self.slices) {
                    *place = slice.place(*place).unwrap_or(0);
                }
                if let Some(place) = index.last_mut() {
                    *place = last.start;
                }
                self.fill_row(&index, *last, cells)?;
            }
            Ok(())
        })
    }

    /// Fills a row along the last dimension, whose first cell is `index`.
    fn fill_row<const WIDTH: usize>(
        &self,
        index: &[u64],
        slice: Slice,
        row: &mut [[u8; WIDTH]],
    ) -> Result<()> {
        let mut tracks: Vec<Track> = (self.images.iter())
            .map(|image| self.track(image, index, slice.step))
            .collect();
        let values = self.values.as_chunks::<WIDTH>().0;
        for cell in row {
            let (mut nearest, mut is_zero) = (None::<Track>, false);
            for track in &mut tracks {
                is_zero |= track.farther == 0 && track.operation.is_minus();
                if nearest.is_none_or(|nearest| track.farther < nearest.farther) {
                    nearest = Some(*track);
                }
                track.advance();
            }
            let Some(nearest) = nearest.filter(|_| !is_zero) else {
                *cell = [0; WIDTH];
                continue;
            };
            let line = usize::try_from(nearest.line).unwrap_or(usize::MAX);
            let offset = self.offsets.get(line).copied().unwrap_or(0);
            let number = usize::try_from(offset.wrapping_add(nearest.place)).unwrap_or(usize::MAX);
            let stored = values.get(number);
            *cell = *stored.ok_or_else(|| Error::invalid("a packed tensor is too short"))?;
            if nearest.operation != Operation::default() {
                nearest.operation.apply(self.dtype, cell)?;
            }
        }
        Ok(())
    }

    /// The track of the image of the cell at `index`, for steps along the last dimension.
    fn track(&self, image: &Image, index: &[u64], step: i64) -> Track {
        let mut track = Track {
            farther: image.farther(index, 0),
            farther_step: image
                .slopes
                .last()
                .map_or(0, |slope| slope.wrapping_mul(step)),
            line: 0,
            line_step: 0,
            place: 0,
            place_step: 0,
            operation: image.operation,
        };
        let step = step.cast_unsigned(); // sums wrap around
        let last = index.len().saturating_sub(1);
        let mut stride = 1_u64;
        for (to, (from, size)) in image.permutation.iter().zip(self.sizes).enumerate() {
            let place = index.get(*from).copied().unwrap_or(0);
            let moves = if *from == last { step } else { 0 };
            if to == 0 {
                (track.place, track.place_step) = (place, moves);
                continue;
            }
            track.line = track.line.wrapping_add(place.wrapping_mul(stride));
            track.line_step = track.line_step.wrapping_add(moves.wrapping_mul(stride));
            stride = stride.wrapping_mul(*size);
        }
        track
    }
}
