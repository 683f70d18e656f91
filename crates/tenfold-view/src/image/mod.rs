//! From a tensor to what a screen can show: tiles, lines, histograms, in bounded memory.
//!
//! A [`TensorView`] is what is looked at: a tensor, or the difference of two, and which part of its
//! numbers. A [`Region`] is where: two axes, a place along each of the others. All that is read is
//! read in boxes of bounded size; what has more cells than a picture may take is sampled evenly, and
//! the picture says so.

mod cancel;
mod chunks;
mod colormap;
mod component;
mod difference;
mod histogram;
mod input;
mod largest;
mod lines;
mod percentile;
mod pixel;
mod region;
mod sampling;
mod scale;
mod sparse;
mod statistics;
#[cfg(test)]
mod tests;
mod ticks;
mod tile;

pub use cancel::CancelToken;
pub use colormap::{ColorMap, NEGATIVE_INFINITY, NOT_A_NUMBER, POSITIVE_INFINITY, Rgb};
pub use component::Part;
pub use difference::{check_alike, difference};
pub use histogram::{Histogram, histogram};
pub use input::{TensorView, core_of, drawable, readable};
pub use largest::{Difference, Differences, worst};
pub use lines::{Line, Lines, lines};
pub use percentile::percentiles;
pub use region::Region;
pub use scale::Scale;
pub use statistics::Statistics;
pub use ticks::{tick_text, ticks};
pub use tile::{IMPLIED, NAN, NEGATIVE, NOTHING_FINITE, POSITIVE, STORED, Tile, tile};

/// At most so many cells are read for a tile or a line.
pub const MOST_CELLS: u64 = 4 << 20;

/// Tensors of at most so many cells are read whole for a histogram or a comparison.
pub const WHOLE: u64 = 64 << 20;

/// What a count, a size or a place is as a float; only the largest are rounded.
#[expect(clippy::as_conversions, reason = "rounded to the nearest, as meant")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// A `usize` as a `u64`.
pub(crate) fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// A `u64` as a `usize`; the largest there is if it does not fit.
pub(crate) fn narrow(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
