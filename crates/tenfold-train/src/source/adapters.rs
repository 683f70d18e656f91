//! Sources derived from other sources.

use std::ops::Range;

use rayon::prelude::*;

use super::{Access, Source};
use crate::compress::Watch;
use crate::error::{Error, Result};
use crate::huge_vec::Room;
use crate::scalar::{Power, Scalar};
use crate::train::count_cells;

/// Cells read into memory at a time: by one of several threads, or by the only one.
const RUN: usize = 1 << 18;
const LONG_RUN: usize = 1 << 22;

/// All cells of a source, loaded into memory in one read.
pub(crate) struct Loaded<'a, T> {
    source: &'a dyn Source<T>,
    cells: Room<T>,
}

impl<'a, T: Scalar> Loaded<'a, T> {
    /// Reads a source, on all cores if it can be read in any order.
    pub(crate) fn read(source: &'a dyn Source<T>, watch: &Watch) -> Result<Loaded<'a, T>> {
        let mut cells = Room::zeros(count_cells(source.shape())?)?;
        let read = |first: usize, run: &mut [T]| {
            watch.advance(run.len())?;
            source.read(first, run)
        };
        match source.access() {
            Access::Memory | Access::Positioned => cells
                .par_chunks_mut(RUN)
                .enumerate()
                .try_for_each(|(place, run)| read(place * RUN, run))?,
            Access::Forward => cells
                .chunks_mut(LONG_RUN)
                .enumerate()
                .try_for_each(|(place, run)| read(place * LONG_RUN, run))?,
        }
        Ok(Loaded { source, cells })
    }
}

impl<T: Scalar> Source<T> for Loaded<'_, T> {
    fn shape(&self) -> &[usize] {
        self.source.shape()
    }

    fn cells<'a>(&'a self, range: Range<usize>, _: &'a mut Vec<T>) -> Result<&'a [T]> {
        let cells = self.cells.get(range);
        cells.ok_or_else(|| Error::invalid("cells outside the tensor"))
    }

    fn all(&self) -> Option<&[T]> {
        Some(&self.cells)
    }

    fn is_reversed(&self) -> bool {
        self.source.is_reversed()
    }
}

/// A source with every cell multiplied by a power of two.
pub(crate) struct Scaled<'a, T> {
    pub(crate) source: &'a dyn Source<T>,
    pub(crate) power: Power,
}

impl<T: Scalar> Source<T> for Scaled<'_, T> {
    fn shape(&self) -> &[usize] {
        self.source.shape()
    }

    fn cells<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> Result<&'a [T]> {
        let mut inner = Vec::new();
        let cells = self.source.cells(range, &mut inner)?;
        room.clear();
        room.extend(cells.iter().map(|cell| self.power.apply(*cell)));
        Ok(room)
    }

    fn access(&self) -> Access {
        self.source.access()
    }

    fn is_reversed(&self) -> bool {
        self.source.is_reversed()
    }
}
