//! Rows of a tensor as line plots.

use std::ops::Range;

use tenfold::{Error, Result, Slice};

use super::chunks::place;
use super::pixel::Pixel;
use super::sampling::{affordable, pixel, spaced};
use super::{CancelToken, Region, TensorView, narrow};

/// Most buckets.
const MOST_BUCKETS: u64 = 1 << 16;

/// One line: a summary of the cells of each bucket; `None` for buckets without finite numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Line {
    /// The smallest finite number of each bucket.
    pub min: Vec<Option<f64>>,
    /// The largest.
    pub max: Vec<Option<f64>>,
    /// The mean.
    pub mean: Vec<Option<f64>>,
    /// The number of NaNs.
    pub nan: Vec<u64>,
}

/// Several lines along one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// The first position of each bucket.
    pub first: Vec<u64>,
    /// The lines.
    pub lines: Vec<Line>,
    /// Whether every cell was read.
    pub is_exact: bool,
}

/// The lines along `axis` through each of `through`, in at most `buckets` buckets; bucket k of n
/// has the cells from k·size/n on.
///
/// # Errors
/// As [`super::tile`].
pub fn lines(
    subject: &TensorView,
    axis: usize,
    range: &Range<u64>,
    through: &[Vec<u64>],
    buckets: u64,
    stop: &CancelToken,
) -> Result<Lines> {
    if through.is_empty() {
        return Err(Error::Invalid("no line is asked for".into()));
    }
    let size = range.end.saturating_sub(range.start);
    let buckets = buckets.clamp(1, MOST_BUCKETS).min(size);
    let along = Region {
        rows: Some(axis),
        columns: None,
        at: Vec::new(),
        down: range.clone(),
        right: 0..1,
    };
    let n_lines = super::wide(through.len());
    let most = affordable(&along, &subject.tensors(), size.saturating_mul(n_lines));
    let share = subject.most_cells(buckets).min(most) / n_lines;
    let places = if size <= share {
        Slice::range(range.clone())
    } else {
        spaced(range.start, size, size / share.max(buckets).max(1))
    };
    let mut made = Lines {
        first: (0..buckets)
            .map(|bucket| edge(range, buckets, bucket))
            .collect(),
        lines: Vec::with_capacity(through.len()),
        is_exact: places.count == size,
    };
    for at in through {
        let region = Region {
            at: at.clone(),
            ..along.clone()
        };
        region.check(&subject.sizes()?)?;
        let slices = region.slices(places, Slice::one(0));
        let mut pixels = vec![Pixel::EMPTY; narrow(buckets)];
        subject.each_piece(&slices, stop, &mut |band, numbers| {
            let along = band.get(axis).copied().unwrap_or(Slice::one(0));
            for (item, number) in (0..along.count).zip(numbers) {
                let offset = place(along, item).saturating_sub(range.start);
                if let Some(bucket) = pixels.get_mut(pixel(offset, size, buckets)) {
                    bucket.take(*number);
                }
            }
            Ok(())
        })?;
        made.lines.push(Line {
            min: pixels.iter().map(Pixel::smallest).collect(),
            max: pixels.iter().map(Pixel::largest).collect(),
            mean: pixels.iter().map(Pixel::mean).collect(),
            nan: pixels.iter().map(|pixel| pixel.nan).collect(),
        });
    }
    Ok(made)
}

/// The start of a bucket.
fn edge(range: &Range<u64>, buckets: u64, bucket: u64) -> u64 {
    let size = u128::from(range.end.saturating_sub(range.start));
    let offset = u128::from(bucket) * size / u128::from(buckets.max(1));
    let offset = u64::try_from(offset).unwrap_or(u64::MAX);
    range.start.saturating_add(offset)
}
