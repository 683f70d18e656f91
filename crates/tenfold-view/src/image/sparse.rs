//! Images of sparse tensors: stored cells are placed in an image of zeros.

use tenfold::{Cell, Result, memory};

use super::pixel::Pixel;
use super::tile::{Grid, IMPLIED, STORED};
use super::{CancelToken, Region, TensorView, narrow};

/// Stored cells between two checks for cancellation.
const OFTEN: u64 = 1 << 16;

/// Calls `each` with every stored cell and its images under packed symmetries, and whether it is
/// the stored one.
pub(crate) fn each_stored(
    subject: &TensorView,
    stop: &CancelToken,
    each: &mut dyn FnMut(&[u64], f64, bool),
) -> Result<()> {
    let tensor = subject.tensor();
    let orbits = if tensor.is_packed() {
        Some(tensor.orbits(subject.limits())?)
    } else {
        None
    };
    let mut count = 0_u64;
    tensor.for_each_cell(subject.limits(), &mut |cell| {
        count = count.saturating_add(1);
        if count.is_multiple_of(OFTEN) {
            stop.check()?;
        }
        if let Cell::At { index, value } = cell {
            let is_stored = orbits.as_ref().is_none_or(|orbits| orbits.is_stored(index));
            each(index, subject.number(value), is_stored);
        }
        Ok(())
    })
}

/// The row and column of a cell, if it lies in a region.
pub(crate) fn within(region: &Region, index: &[u64]) -> Option<(u64, u64)> {
    let (mut row, mut column) = (0, 0);
    for (axis, (place, at)) in index.iter().zip(&region.at).enumerate() {
        if Some(axis) == region.rows {
            row = *place;
        } else if Some(axis) == region.columns {
            column = *place;
        } else if place != at {
            return None;
        }
    }
    let is_inside = region.down.contains(&row) && region.right.contains(&column);
    is_inside.then_some((row, column))
}

/// The pixels of a region of a sparse tensor.
pub(crate) fn scatter(
    subject: &TensorView,
    region: &Region,
    grid: &Grid,
    stop: &CancelToken,
) -> Result<Vec<Pixel>> {
    let mut pixels = memory::filled(Pixel::EMPTY, narrow(grid.count()))?;
    let mut stored: Vec<u64> = memory::zeros(pixels.len())?;
    each_stored(subject, stop, &mut |index, number, is_stored| {
        let Some((row, column)) = within(region, index) else {
            return;
        };
        let at = grid.pixel(row, column);
        if let Some((pixel, count)) = pixels.get_mut(at).zip(stored.get_mut(at)) {
            pixel.take(number);
            pixel.flags |= if is_stored { STORED } else { IMPLIED };
            *count = count.saturating_add(1);
        }
    })?;
    let mut places = pixels.iter_mut().zip(&stored);
    for y in 0..grid.height {
        let high = Grid::span(grid.rows, grid.height, y);
        for x in 0..grid.width {
            let wide = Grid::span(grid.columns, grid.width, x);
            let Some((pixel, stored)) = places.next() else {
                break;
            };
            let zeros = high.saturating_mul(wide).saturating_sub(*stored);
            if zeros > 0 {
                pixel.take_many(0.0, zeros);
                pixel.flags |= IMPLIED;
            }
        }
    }
    Ok(pixels)
}
