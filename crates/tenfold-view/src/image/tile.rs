//! A region of a tensor as pixels.

use tenfold::{Result, Slice, Storage, memory};

use super::chunks::place;
use super::pixel::Pixel;
use super::sampling::of_region;
use super::sparse::scatter;
use super::{CancelToken, Region, TensorView, narrow, sampling};

/// Flag: a cell is NaN.
pub const NAN: u8 = 1;
/// Flag: a cell is positive infinity.
pub const POSITIVE: u8 = 2;
/// Flag: a cell is negative infinity.
pub const NEGATIVE: u8 = 4;
/// Flag: a cell is implicit: a zero of a sparse tensor, or the image of another cell.
pub const IMPLIED: u8 = 8;
/// Flag: a cell is stored.
pub const STORED: u8 = 16;
/// Flag: no cell is finite.
pub const NOTHING_FINITE: u8 = 32;

/// Most pixels of a tile.
const MOST_PIXELS: u64 = 1 << 20;
/// Largest width and height of a tile.
const LONGEST: u64 = 2048;

/// Row-major pixels, each a summary of its cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// Number of pixel rows.
    pub height: usize,
    /// Number of pixels per row.
    pub width: usize,
    /// Whether every cell was read.
    pub is_exact: bool,
    /// The smallest finite number, if any.
    pub lowest: Option<f64>,
    /// The largest finite number.
    pub highest: Option<f64>,
    /// The smallest finite number of each pixel; NaN if there is none.
    pub min: Vec<f32>,
    /// The largest.
    pub max: Vec<f32>,
    /// The mean.
    pub mean: Vec<f32>,
    /// The flags of each pixel: [`NAN`] to [`NOTHING_FINITE`].
    pub flags: Vec<u8>,
}

/// Reduces a region to at most `wanted` (rows, columns) pixels; pixel y of h has the cells from
/// y·rows/h on. With `is_storage`, the stored cells of packed tensors are flagged as well.
///
/// # Errors
/// [`tenfold::Error::Invalid`] if the region does not lie inside, and those of reading.
pub fn tile(
    subject: &TensorView,
    region: &Region,
    wanted: (u64, u64),
    is_storage: bool,
    stop: &CancelToken,
) -> Result<Tile> {
    region.check(&subject.sizes()?)?;
    let grid = Grid::new(region, wanted);
    if subject.is_scattered() {
        let pixels = scatter(subject, region, &grid, stop)?;
        return Ok(grid.tile(&pixels, true));
    }
    let mut pixels = memory::filled(Pixel::EMPTY, narrow(grid.count()))?;
    let most = subject.most_cells(grid.count());
    let (down, right) = of_region(region, (grid.height, grid.width), most, &subject.tensors());
    let is_exact = down.count.saturating_mul(right.count) == grid.rows.saturating_mul(grid.columns);
    let slices = region.slices(down, right);
    subject.each_piece(&slices, stop, &mut |band, numbers| {
        grid.take(&mut pixels, region, band, numbers);
        Ok(())
    })?;
    let tensor = subject.tensor();
    let is_dense = matches!(tensor.storage(), Storage::Dense { .. });
    if is_dense && !tensor.is_packed() {
        pixels.iter_mut().for_each(|pixel| pixel.flags |= STORED);
    } else if is_dense && is_storage {
        let orbits = tensor.orbits(subject.limits())?;
        let mut index = region.at.clone();
        grid.each(down, right, stop, &mut |row, column, at| {
            put(&mut index, region.rows, row);
            put(&mut index, region.columns, column);
            let flag = if orbits.is_stored(&index) {
                STORED
            } else {
                IMPLIED
            };
            if let Some(pixel) = pixels.get_mut(at) {
                pixel.flags |= flag;
            }
        })?;
    }
    Ok(grid.tile(&pixels, is_exact))
}

fn put(index: &mut [u64], axis: Option<usize>, place: u64) {
    if let Some(at) = axis.and_then(|axis| index.get_mut(axis)) {
        *at = place;
    }
}

/// The pixel of each cell of a region.
pub(crate) struct Grid {
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) height: u64,
    pub(crate) width: u64,
    first: (u64, u64),
}

impl Grid {
    pub(crate) fn new(region: &Region, wanted: (u64, u64)) -> Grid {
        let (rows, columns) = region.size();
        let width = wanted.1.clamp(1, LONGEST).min(columns);
        let height = wanted.0.clamp(1, LONGEST).min(rows);
        Grid {
            rows,
            columns,
            height: height.min(MOST_PIXELS / width.max(1)),
            width,
            first: (region.down.start, region.right.start),
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.height.saturating_mul(self.width)
    }

    /// The number of cells in pixel `pixel` of a side.
    pub(crate) fn span(size: u64, pixels: u64, pixel: u64) -> u64 {
        let edge = |pixel: u64| {
            let edge = u128::from(pixel) * u128::from(size) / u128::from(pixels.max(1));
            u64::try_from(edge).unwrap_or(u64::MAX)
        };
        edge(pixel.saturating_add(1)).saturating_sub(edge(pixel))
    }

    /// The row-major index of the pixel of the cell in a row and a column.
    pub(crate) fn pixel(&self, row: u64, column: u64) -> usize {
        let down = Side::down(self).pixel(row);
        let right = Side::right(self).pixel(column);
        down.saturating_mul(narrow(self.width))
            .saturating_add(right)
    }

    /// Adds the numbers of a box to their pixels.
    fn take(&self, pixels: &mut [Pixel], region: &Region, band: &[Slice], numbers: &[f64]) {
        let along = |axis: Option<usize>| {
            let slice = axis.and_then(|axis| band.get(axis)).copied();
            slice.unwrap_or(Slice::one(0))
        };
        let (down, right) = (along(region.rows), along(region.columns));
        // Boxes have the dimension order of the tensor.
        let is_turned = region.is_turned();
        let (slow, fast) = if is_turned {
            (right, down)
        } else {
            (down, right)
        };
        let ((outer, inner), apart) = if is_turned {
            (
                (Side::right(self), Side::down(self)),
                (1, narrow(self.width)),
            )
        } else {
            (
                (Side::down(self), Side::right(self)),
                (narrow(self.width), 1),
            )
        };
        let inner: Vec<usize> = (0..fast.count)
            .map(|item| inner.pixel(place(fast, item)).saturating_mul(apart.1))
            .collect();
        let lines = numbers.chunks_exact(inner.len().max(1));
        for (item, line) in (0..slow.count).zip(lines) {
            let start = outer.pixel(place(slow, item)).saturating_mul(apart.0);
            for (offset, number) in inner.iter().zip(line) {
                if let Some(pixel) = pixels.get_mut(start.saturating_add(*offset)) {
                    pixel.take(*number);
                }
            }
        }
    }

    /// Calls `each` with the row, column and pixel of every cell read.
    fn each(
        &self,
        down: Slice,
        right: Slice,
        stop: &CancelToken,
        each: &mut dyn FnMut(u64, u64, usize),
    ) -> Result<()> {
        for item in 0..down.count {
            stop.check()?;
            let row = place(down, item);
            for item in 0..right.count {
                let column = place(right, item);
                each(row, column, self.pixel(row, column));
            }
        }
        Ok(())
    }

    /// The finished tile.
    pub(crate) fn tile(&self, pixels: &[Pixel], is_exact: bool) -> Tile {
        let numbers = |of: fn(&Pixel) -> Option<f64>| {
            let single = |pixel| of(pixel).map_or(f32::NAN, nearest);
            pixels.iter().map(single).collect::<Vec<f32>>()
        };
        Tile {
            height: narrow(self.height),
            width: narrow(self.width),
            is_exact,
            lowest: pixels.iter().filter_map(Pixel::smallest).reduce(f64::min),
            highest: pixels.iter().filter_map(Pixel::largest).reduce(f64::max),
            min: numbers(Pixel::smallest),
            max: numbers(Pixel::largest),
            mean: numbers(Pixel::mean),
            flags: pixels.iter().map(Pixel::flags).collect(),
        }
    }
}

/// One side of a tile.
struct Side {
    first: u64,
    size: u64,
    pixels: u64,
}

impl Side {
    fn down(grid: &Grid) -> Side {
        Side {
            first: grid.first.0,
            size: grid.rows,
            pixels: grid.height,
        }
    }

    fn right(grid: &Grid) -> Side {
        Side {
            first: grid.first.1,
            size: grid.columns,
            pixels: grid.width,
        }
    }

    /// The pixel of the cell at a position.
    fn pixel(&self, place: u64) -> usize {
        sampling::pixel(place.saturating_sub(self.first), self.size, self.pixels)
    }
}

/// The nearest finite single: a large finite number must not become infinite.
fn nearest(number: f64) -> f32 {
    #[expect(clippy::as_conversions, reason = "rounds to the nearest")]
    let single = number as f32;
    single.clamp(f32::MIN, f32::MAX)
}
