//! Reduction of tensors to screen size: tiles, lines and histograms, in bounded memory.
//!
//! A [`TensorView`] is the source: a tensor or the difference of two, and a component of its
//! numbers. A [`Region`] is a rectangle in it: two axes, and a position along each of the others.
//! All reads are boxes of bounded size; if there are more cells than an image may read, they are
//! sampled evenly, and the image reports it.

mod cancel;
mod chunks;
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
mod tile;

pub use cancel::CancelToken;
pub use component::Part;
pub use difference::{check_alike, difference};
pub use histogram::{Histogram, histogram};
pub use input::{TensorView, core_of, drawable, readable};
pub use largest::{Difference, Differences, worst};
pub use lines::{Line, Lines, lines};
pub use percentile::percentiles;
pub use region::Region;
pub use scale::Scale;
pub use scale::colormap::{ColorMap, NEGATIVE_INFINITY, NOT_A_NUMBER, POSITIVE_INFINITY, Rgb};
pub use scale::ticks::{tick_text, ticks};
pub use statistics::Statistics;
pub use tile::{IMPLIED, NAN, NEGATIVE, NOTHING_FINITE, POSITIVE, STORED, Tile, tile};

/// Most cells read for a tile or a line.
pub const MOST_CELLS: u64 = 4 << 20;

/// Tensors of at most this many cells are read in full for a histogram or a comparison.
pub const WHOLE: u64 = 64 << 20;

/// A count, a size or a position as a float; only the largest are rounded.
#[expect(clippy::as_conversions, reason = "rounded to the nearest, as meant")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// A `usize` as a `u64`.
pub(crate) fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// A `u64` as a `usize`, saturating.
pub(crate) fn narrow(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
