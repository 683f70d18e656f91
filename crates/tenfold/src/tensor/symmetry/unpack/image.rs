//! One image of the stored cells, restricted to a box.
//!
//! Stored cells that are contiguous along the box are copied in runs. Others are transposed in
//! tiles: a tile is loaded in runs of the stored cells and written in runs of the box, so that
//! neither side is accessed with large strides.

use std::ops::Range;

use super::super::tiles::boxes;
use super::images::{Mirror, outside, short};
use crate::bytes::{to_u64, to_usize};
use crate::error::Result;
use crate::memory;
use crate::tensor::symmetry::stored_runs::{Coverage, Image};

/// Cells of a tile in one run of the box, if there are as many.
const ALONG: u64 = 128;

/// The stored cells whose images lie in a part of a box.
pub(super) struct Reflection<'a> {
    mirror: &'a Mirror<'a>,
    image: &'a Image,
    /// Their range along each dimension.
    places: Vec<Range<u64>>,
    /// The stride of each dimension in the part of the box.
    steps: Vec<usize>,
}

/// The shape of a tile.
struct Shape {
    /// The dimension along which the box is contiguous.
    along: usize,
    /// The side of a tile in each dimension.
    sides: Vec<u64>,
    /// The box offsets of the cells of one of its rows.
    columns: Vec<usize>,
}

impl<'a> Reflection<'a> {
    /// The stored cells whose images under one group element lie in `window`, where the dimensions
    /// have the strides `steps`.
    pub(super) fn new(
        mirror: &'a Mirror<'a>,
        image: &'a Image,
        window: &[Range<u64>],
        steps: &[usize],
    ) -> Result<Reflection<'a>> {
        let mut reflection = Reflection {
            mirror,
            image,
            places: vec![0..0; window.len()],
            steps: vec![0; window.len()],
        };
        for ((from, places), step) in image.permutation.iter().zip(window).zip(steps) {
            *reflection.places.get_mut(*from).ok_or_else(outside)? = places.clone();
            *reflection.steps.get_mut(*from).ok_or_else(outside)? = *step;
        }
        Ok(reflection)
    }

    /// Writes the images to their places.
    pub(super) fn fill<const WIDTH: usize>(&self, out: &mut [[u8; WIDTH]]) -> Result<()> {
        match self.fastest() {
            None | Some(0) => self.copy_runs(out),
            Some(along) => self.turn(along, out),
        }
    }

    fn counts(&self) -> Vec<u64> {
        let counts = self.places.iter();
        { counts.map(|places| places.end.saturating_sub(places.start)) }.collect()
    }

    /// The dimension with the smallest stride in the box.
    fn fastest(&self) -> Option<usize> {
        let dims = self.counts().into_iter().zip(&self.steps).enumerate();
        let dims = dims.filter(|(_, (count, _))| *count != 1);
        let fastest = dims.min_by_key(|(_, (_, step))| **step);
        fastest.map(|(dim, _)| dim)
    }

    /// The box offset of a cell's image.
    fn target(&self, index: &[u64]) -> Result<usize> {
        let dims = index.iter().zip(&self.places).zip(&self.steps);
        dims.map(|((place, places), step)| {
            Ok(to_usize(place.saturating_sub(places.start))?.saturating_mul(*step))
        })
        .sum()
    }

    /// Cells that are contiguous along the box: runs adjacent on both sides are read at once.
    fn copy_runs<const WIDTH: usize>(&self, out: &mut [[u8; WIDTH]]) -> Result<()> {
        let mut pages = self.mirror.pages();
        let mut copy = |number: u64, to: Range<usize>| {
            let cells = out.get_mut(to).ok_or_else(outside)?.as_flattened_mut();
            let at = number.saturating_mul(to_u64(WIDTH));
            pages.read_through(at, cells)?;
            self.mirror.settle(self.image, cells)
        };
        let (mut first, mut due) = (0_u64, 0..0_usize);
        self.each_run(&self.places, |index, run| {
            let line = self.mirror.line(index.iter().copied());
            let number = self.mirror.number(line, run.start)?;
            let skipped = to_usize(
                run.start
                    .saturating_sub(index.first().copied().unwrap_or(0)),
            )?;
            let start = self.target(index)?.saturating_add(skipped);
            let end = start.saturating_add(to_usize(run.end.saturating_sub(run.start))?);
            if start == due.end && number == first.saturating_add(to_u64(due.len())) {
                due.end = end;
                return Ok(());
            }
            copy(first, std::mem::replace(&mut due, start..end))?;
            first = number;
            Ok(())
        })?;
        copy(first, due)
    }

    /// Calls `each` with the first cell of every line of a box and its range of stored cells,
    /// unless that is empty.
    fn each_run(
        &self,
        places: &[Range<u64>],
        mut each: impl FnMut(&[u64], Range<u64>) -> Result<()>,
    ) -> Result<()> {
        let mut index: Vec<u64> = places.iter().map(|places| places.start).collect();
        let line = places.first().cloned().unwrap_or(0..1);
        if places.iter().any(Range::is_empty) {
            return Ok(());
        }
        loop {
            let stored = self.mirror.lines.stored(&index);
            let run = stored.start.max(line.start)..stored.end.min(line.end);
            if !run.is_empty() {
                each(&index, run)?;
            }
            let mut dims = index.iter_mut().zip(places).skip(1);
            let is_over = dims.all(|(place, places)| {
                *place = place.saturating_add(1);
                let is_past = *place >= places.end;
                if is_past {
                    *place = places.start;
                }
                is_past
            });
            if is_over {
                return Ok(());
            }
        }
    }

    /// Cells that are contiguous across the box.
    fn turn<const WIDTH: usize>(&self, along: usize, out: &mut [[u8; WIDTH]]) -> Result<()> {
        let shape = self.shape(along, WIDTH)?;
        let mut buffers = [Vec::new(), Vec::new()];
        for tile in boxes(&self.counts(), &shape.sides) {
            let places = self.places.iter().zip(&tile).map(|(places, slice)| {
                let start = places.start.saturating_add(slice.start);
                start..start.saturating_add(slice.count)
            });
            let places: Vec<Range<u64>> = places.collect();
            match self.mirror.lines.coverage(&places) {
                Coverage::None => {}
                Coverage::All => self.turn_tile(&shape, &places, &mut buffers, out)?,
                Coverage::Some => self.scatter(&places, out)?,
            }
        }
        Ok(())
    }

    /// Rows of consecutive stored cells: all of the first dimensions, or a part of the first one,
    /// and many indices of the dimension along which the box is contiguous.
    fn shape(&self, along: usize, width: usize) -> Result<Shape> {
        let counts = self.counts();
        let mut sides = vec![1; counts.len()];
        let side = counts.get(along).copied().unwrap_or(1).clamp(1, ALONG);
        let mut room = (to_u64(self.mirror.tile / width.max(1)) / side).max(1);
        let mut columns = vec![0_usize];
        for (dim, count) in counts
            .iter()
            .enumerate()
            .take_while(|(dim, _)| *dim != along)
        {
            let taken = room.min(*count).max(1);
            *sides.get_mut(dim).ok_or_else(outside)? = taken;
            let step = self.steps.get(dim).copied().unwrap_or(0);
            let place = |place: u64| Ok(to_usize(place)?.saturating_mul(step));
            let places = (0..taken).map(place).collect::<Result<Vec<usize>>>()?;
            let next = |slow: usize| columns.iter().map(move |fast| fast.saturating_add(slow));
            columns = places.into_iter().flat_map(next).collect();
            room /= taken;
            // If a dimension is incomplete, its lines are not contiguous.
            if taken < *count || dim > 0 && self.mirror.sizes.get(dim) != Some(count) || room < 2 {
                break;
            }
        }
        *sides.get_mut(along).ok_or_else(outside)? = side;
        Ok(Shape {
            along,
            sides,
            columns,
        })
    }

    /// A tile of stored cells only.
    fn turn_tile<const WIDTH: usize>(
        &self,
        shape: &Shape,
        places: &[Range<u64>],
        [tile, row]: &mut [Vec<u8>; 2],
        out: &mut [[u8; WIDTH]],
    ) -> Result<()> {
        let index: Vec<u64> = places.iter().map(|places| places.start).collect();
        let along = places.get(shape.along).cloned().unwrap_or(0..0);
        let counts = places.iter().take(shape.along);
        let n_columns = counts.map(|places| places.end.saturating_sub(places.start));
        let n_columns = to_usize(n_columns.product())?;
        // Padded, so that the rows of a tile do not map to the same cache set.
        let pitch = n_columns.next_multiple_of(8).saturating_add(8);
        let n_rows = to_usize(along.end.saturating_sub(along.start))?;
        memory::resize(tile, n_rows.saturating_mul(pitch).saturating_mul(WIDTH))?;
        let line = places.first().cloned().unwrap_or(0..1);
        let here = |place: u64| {
            let dims = index.iter().enumerate();
            dims.map(move |(dim, own)| if dim == shape.along { place } else { *own })
        };
        let first = self.mirror.line(here(along.start));
        let ahead = match shape.along {
            1 => {
                self.read_ahead::<WIDTH>(first..first.saturating_add(to_u64(n_rows)), &line, row)?
            }
            _ => None,
        };
        let rows = tile.chunks_exact_mut(pitch.saturating_mul(WIDTH));
        for (cells, place) in rows.zip(along) {
            let cells = cells.get_mut(..n_columns.saturating_mul(WIDTH));
            let cells = cells.ok_or_else(outside)?;
            let first = self.mirror.line(here(place));
            match ahead {
                Some(start) => {
                    let number = self.mirror.number(first, line.start)?;
                    let at = to_usize(number.wrapping_sub(start))?.saturating_mul(WIDTH);
                    let stored = row.get(at..).unwrap_or_default();
                    cells.copy_from_slice(stored.get(..cells.len()).ok_or_else(short)?);
                }
                None => self.load::<WIDTH>(first, &line, row, cells)?,
            }
            self.mirror.settle(self.image, cells)?;
        }
        let cells = tile.as_chunks::<WIDTH>().0;
        let start = self.target(&index)?;
        for (column, to) in shape.columns.iter().take(n_columns).enumerate() {
            let start = start.saturating_add(*to);
            let run = out.get_mut(start..start.saturating_add(n_rows));
            let column = cells
                .get(column..)
                .ok_or_else(outside)?
                .iter()
                .step_by(pitch);
            for (target, cell) in run.ok_or_else(outside)?.iter_mut().zip(column) {
                *target = *cell;
            }
        }
        Ok(())
    }

    /// Reads the range `places` of consecutive lines of a file, and the gaps between them, if these
    /// are short; returns the number of the first cell.
    fn read_ahead<const WIDTH: usize>(
        &self,
        lines: Range<u64>,
        places: &Range<u64>,
        row: &mut Vec<u8>,
    ) -> Result<Option<u64>> {
        if self.mirror.bytes.as_slice().is_some() || lines.is_empty() {
            return Ok(None);
        }
        let start = self.mirror.number(lines.start, places.start)?;
        let end = { self.mirror }.number(lines.end.saturating_sub(1), places.end)?;
        let len = end.saturating_sub(start);
        let n_lines = lines.end.saturating_sub(lines.start);
        let wanted = places
            .end
            .saturating_sub(places.start)
            .saturating_mul(n_lines);
        if len > wanted.saturating_mul(4) {
            return Ok(None);
        }
        memory::resize(row, to_usize(len)?.saturating_mul(WIDTH))?;
        let at = start.saturating_mul(to_u64(WIDTH));
        self.mirror.bytes.read_at(at, row)?;
        Ok(Some(start))
    }

    /// Fills a row of a tile with the range `places` of consecutive lines.
    fn load<const WIDTH: usize>(
        &self,
        first: u64,
        places: &Range<u64>,
        row: &mut Vec<u8>,
        out: &mut [u8],
    ) -> Result<()> {
        let len = to_usize(places.end.saturating_sub(places.start))?.saturating_mul(WIDTH);
        let n_lines = to_u64(out.len() / len.max(1));
        let last = first.saturating_add(n_lines).saturating_sub(1);
        let start = self.mirror.number(first, places.start)?;
        let end = self.mirror.number(last, places.end)?;
        let at = start.saturating_mul(to_u64(WIDTH));
        let all = to_usize(end.saturating_sub(start))?.saturating_mul(WIDTH);
        let stored = match self.mirror.bytes.as_slice() {
            Some(stored) => stored.get(to_usize(at)?..).ok_or_else(short)?,
            // The lines are contiguous without gaps.
            None if all == out.len() => return self.mirror.bytes.read_at(at, out),
            None => {
                memory::resize(row, all)?;
                self.mirror.bytes.read_at(at, row)?;
                row
            }
        };
        if all == out.len() {
            out.copy_from_slice(stored.get(..all).ok_or_else(short)?);
            return Ok(());
        }
        for (line, part) in (first..).zip(out.chunks_exact_mut(len)) {
            let skipped = self.mirror.number(line, places.start)?.wrapping_sub(start);
            let skipped = to_usize(skipped)?.saturating_mul(WIDTH);
            let found = stored.get(skipped..).unwrap_or_default();
            part.copy_from_slice(found.get(..len).ok_or_else(short)?);
        }
        Ok(())
    }

    /// A tile with some stored cells: each is written separately.
    fn scatter<const WIDTH: usize>(
        &self,
        places: &[Range<u64>],
        out: &mut [[u8; WIDTH]],
    ) -> Result<()> {
        let step = self.steps.first().copied().unwrap_or(1);
        let (mut stored, mut pages) = (Vec::new(), self.mirror.pages());
        let start = places.first().map_or(0, |places| places.start);
        self.each_run(places, |index, run| {
            let line = self.mirror.line(index.iter().copied());
            let number = self.mirror.number(line, run.start)?;
            let count = to_usize(run.end.saturating_sub(run.start))?;
            memory::resize(&mut stored, count.saturating_mul(WIDTH))?;
            let at = number.saturating_mul(to_u64(WIDTH));
            pages.read_through(at, &mut stored)?;
            self.mirror.settle(self.image, &mut stored)?;
            let skipped = to_usize(run.start.saturating_sub(start))?.saturating_mul(step);
            let at = self.target(index)?.saturating_add(skipped);
            let targets = out.get_mut(at..).ok_or_else(outside)?;
            let targets = targets.iter_mut().step_by(step.max(1));
            for (target, cell) in targets.zip(stored.as_chunks::<WIDTH>().0) {
                *target = *cell;
            }
            Ok(())
        })
    }
}
