//! Histogram of values.

use tenfold::{Result, Slice};

use super::input::countable;
use super::sampling::{cells, of_region, of_tensor};
use super::sparse::{each_stored, within};
use super::{CancelToken, MOST_CELLS, Region, Statistics, TensorView, narrow};

/// Most cells read of a large tensor.
const SAMPLE: u64 = 1 << 20;

/// Size of the image that the sampling aims at.
const SIDE: u64 = 128;

/// Most bins.
const MOST_BINS: usize = 4096;

/// A histogram with summary statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// The lower edge of the first bin; `None` if no number is finite.
    pub low: Option<f64>,
    /// The upper edge of the last bin, inclusive.
    pub high: Option<f64>,
    /// The count of each bin.
    pub counts: Vec<u64>,
    /// Summary statistics of all numbers.
    pub statistics: Statistics,
    /// Whether all cells were read.
    pub is_exact: bool,
    /// Number of cells read, including the implicit zeros of sparse tensors.
    pub read: u64,
}

/// The histogram of a region, or of all cells, in `bins` bins of equal width: from the smallest to
/// the largest number, or over a `range`, outside of which nothing is counted.
///
/// # Errors
/// As [`super::tile`].
pub fn histogram(
    subject: &TensorView,
    region: Option<&Region>,
    range: Option<(f64, f64)>,
    bins: usize,
    stop: &CancelToken,
) -> Result<Histogram> {
    let most = |all: u64| match subject.most_whole() {
        whole if all <= whole => whole,
        _ => subject.most_cells(1).min(SAMPLE),
    };
    let (slices, all) = match region {
        Some(region) => {
            region.check(&subject.sizes()?)?;
            let (rows, columns) = region.size();
            let all = rows.saturating_mul(columns);
            let pixels = (rows.min(SIDE), columns.min(SIDE));
            let (down, right) = of_region(region, pixels, most(all), &subject.tensors());
            (region.slices(down, right), all)
        }
        None => {
            let all = countable(subject.cells());
            (of_tensor(subject.tensor(), most(all))?, all)
        }
    };
    let source = Source {
        subject,
        region,
        slices: &slices,
        all,
        stop,
    };
    let mut statistics = Statistics::default();
    // Few enough are kept in memory, so that they are read only once.
    let mut held = (cells(&slices) <= MOST_CELLS).then(Vec::new);
    source.each(&mut |numbers| {
        statistics.take(numbers);
        if let Some(held) = &mut held {
            held.extend_from_slice(numbers);
        }
    })?;
    let zeros = source.zeros(statistics.count);
    statistics.take_zeros(zeros);
    let ends = range.unwrap_or((statistics.min, statistics.max));
    let bins = Bins::new(ends, bins.clamp(1, MOST_BINS));
    let mut counts = vec![0_u64; bins.count];
    let put = |number: f64, count: u64, counts: &mut Vec<u64>| {
        if let Some(bin) = bins.of(number).and_then(|bin| counts.get_mut(bin)) {
            *bin = bin.saturating_add(count);
        }
    };
    let mut put_all = |numbers: &[f64]| {
        numbers
            .iter()
            .for_each(|number| put(*number, 1, &mut counts));
    };
    match held {
        Some(held) => put_all(&held),
        None => source.each(&mut put_all)?,
    }
    if zeros > 0 {
        put(0.0, zeros, &mut counts);
    }
    let is_some = statistics.finite() > 0;
    Ok(Histogram {
        low: is_some.then_some(ends.0),
        high: is_some.then_some(ends.1),
        counts,
        is_exact: statistics.count == all,
        read: statistics.count,
        statistics,
    })
}

/// The cells that are read.
struct Source<'a> {
    subject: &'a TensorView,
    region: Option<&'a Region>,
    slices: &'a [Slice],
    all: u64,
    stop: &'a CancelToken,
}

impl Source<'_> {
    /// Calls `each` with all numbers read, in chunks.
    fn each(&self, each: &mut dyn FnMut(&[f64])) -> Result<()> {
        if !self.subject.is_scattered() {
            return self
                .subject
                .each_piece(self.slices, self.stop, &mut |_, numbers| {
                    each(numbers);
                    Ok(())
                });
        }
        let is_meant = |index: &[u64]| {
            self.region
                .is_none_or(|region| within(region, index).is_some())
        };
        each_stored(self.subject, self.stop, &mut |index, number, _| {
            if is_meant(index) {
                each(&[number]);
            }
        })
    }

    /// The number of implicit zeros.
    fn zeros(&self, seen: u64) -> u64 {
        if self.subject.is_scattered() {
            self.all.saturating_sub(seen)
        } else {
            0
        }
    }
}

/// Bins of equal width.
struct Bins {
    low: f64,
    width: f64,
    high: f64,
    count: usize,
}

impl Bins {
    fn new((low, high): (f64, f64), count: usize) -> Bins {
        let count_f = super::float(super::wide(count));
        Bins {
            low,
            high,
            // Halved first: the difference of two large numbers may be infinite.
            width: (high / count_f) - (low / count_f),
            count: if high > low { count } else { 1 },
        }
    }

    /// The bin of a number, if it is in range.
    fn of(&self, number: f64) -> Option<usize> {
        if !(self.low..=self.high).contains(&number) {
            return None;
        }
        if self.count == 1 || number >= self.high {
            return self.count.checked_sub(1);
        }
        let place = (number / self.width) - (self.low / self.width);
        #[expect(
            clippy::as_conversions,
            reason = "lies between 0 and the number of bins"
        )]
        let bin = place.max(0.0).floor() as u64;
        Some(narrow(bin).min(self.count.saturating_sub(1)))
    }
}
