//! Distance of a train from a tensor.

use rayon::prelude::*;

use super::Train;
use super::eval::Halves;

use crate::compress::{Watch, Watcher};
use crate::error::{Error, Result};
use crate::scalar::{Power, Scalar, energy, is_in_range, largest};
use crate::source::Source;

/// The measured difference between a train and a tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// The norm of the difference.
    pub error: f64,
    /// The norm of the tensor.
    pub norm: f64,
}

impl Distance {
    /// The relative error; 0 if both norms are 0.
    #[must_use]
    pub fn relative(&self) -> f64 {
        if self.error == 0.0 {
            0.0
        } else {
            self.error / self.norm
        }
    }
}

/// Cells compared at a time by one thread.
const PANEL: usize = 1 << 18;

impl<T: Scalar> Train<T> {
    /// Measures the difference to a source in one pass over it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the shapes differ or the difference leaves the range of doubles, and
    /// what reading gives.
    pub fn distance(&self, source: &dyn Source<T>) -> Result<Distance> {
        self.distance_watched(source, None)
    }

    /// As [`Train::distance`], reporting progress to a watcher.
    ///
    /// # Errors
    /// As [`Train::distance`], and [`Error::Stopped`] if the watcher stops it.
    pub fn distance_watched(
        &self,
        source: &dyn Source<T>,
        watcher: Option<&Watcher>,
    ) -> Result<Distance> {
        let reversed;
        let train = if source.is_reversed() {
            reversed = self.reversed();
            &reversed
        } else {
            self
        };
        if train.shape() != source.shape() {
            return Err(Error::invalid(format!(
                "the train has shape {:?}, the source {:?}",
                train.shape(),
                source.shape()
            )));
        }
        let halves = Halves::of(train)?;
        let watch = Watch::new(watcher, halves.n_rows * halves.n_columns, None);
        let plain = measure(&halves, source, Power::ONE, &watch)?;
        let compress_rescaled = plain.norm.powi(2);
        if is_in_range(compress_rescaled) && plain.error.is_finite() {
            return Ok(plain);
        }
        // Squares may have overflowed or underflowed: computed again with everything scaled to near
        // 1.
        let power = Power::towards_one(largest_of(source, halves.n_rows * halves.n_columns)?);
        let found = measure(&halves, source, power, &watch)?;
        let back = power.inverse();
        let distance = Distance {
            error: back.apply(found.error),
            norm: back.apply(found.norm),
        };
        if !distance.error.is_finite() && distance.norm.is_finite() && self.is_finite() {
            return Err(Error::invalid("the difference is larger than any double"));
        }
        Ok(distance)
    }
}

/// The largest absolute part of any cell.
fn largest_of<T: Scalar>(source: &dyn Source<T>, cells: usize) -> Result<f64> {
    let mut most = 0.0_f64;
    for start in (0..cells).step_by(PANEL) {
        let range = start..(start + PANEL).min(cells);
        most = most.max(largest(source.cells(range, &mut Vec::new())?));
    }
    Ok(most)
}

/// The norms of the difference and of the source, both times a power of two.
fn measure<T: Scalar>(
    halves: &Halves<T>,
    source: &dyn Source<T>,
    power: Power,
    watch: &Watch,
) -> Result<Distance> {
    let per_panel = (PANEL / halves.n_columns).max(1);
    let sums = (0..halves.n_rows.div_ceil(per_panel))
        .into_par_iter()
        .map(|panel| {
            let first = panel * per_panel;
            let n_rows = per_panel.min(halves.n_rows - first);
            let start = first * halves.n_columns;
            let mut expanded = T::zeros(n_rows * halves.n_columns)?;
            let mut room = Vec::new();
            let cells = source.cells(start..start + expanded.len(), &mut room)?;
            watch.advance(cells.len())?;
            halves.fill_rows(first, &mut expanded);
            let mut norm = 0.0;
            for (value, cell) in expanded.iter_mut().zip(cells) {
                norm += power.apply(*cell).energy();
                *value = power.apply(*cell - *value);
            }
            Ok((energy(&expanded), norm))
        })
        .collect::<Result<Vec<(f64, f64)>>>()?;
    Ok(Distance {
        error: sums.iter().map(|sum| sum.0).sum::<f64>().sqrt(),
        norm: sums.iter().map(|sum| sum.1).sum::<f64>().sqrt(),
    })
}
