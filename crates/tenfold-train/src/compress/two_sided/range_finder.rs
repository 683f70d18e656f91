//! Bases guessed from a few rows. A guess is never trusted: its residual is measured.

use faer::Mat;
use rayon::prelude::*;

use super::unfolding::{Side, Unfolding};

use crate::error::Result;
use crate::linalg;
use crate::scalar::{Scalar, energy};

/// Rows of an unfolding that are sampled to guess a basis: few at first, doubled while the basis is
/// nearly as large.
const FEWEST: usize = 256;
const MOST: usize = 1024;

/// Permitted loss on a sample before its best directions are computed, as a fraction of the loss of
/// the guess.
const SPARE: f64 = 0.1;

/// Guesses a basis that leaves out about the part `share` of the energy, from evenly spaced rows;
/// `None` if there are too few rows, or the basis would be too large to be useful.
pub(crate) fn guess<T: Scalar>(unfolding: &Unfolding<T>, share: f64) -> Result<Option<Mat<T>>> {
    let most = (unfolding.width / 2)
        .clamp(FEWEST, MOST)
        .min(unfolding.height / 8);
    let mut wanted = FEWEST.min(most);
    loop {
        let Some(found) = guess_from(unfolding, share, wanted)? else {
            return Ok(None);
        };
        if found.ncols() * 3 <= wanted || wanted == most {
            return Ok((found.ncols() * 4 <= unfolding.width).then_some(found));
        }
        wanted = (wanted * 2).min(most);
    }
}

/// A guess from about `wanted` rows.
fn guess_from<T: Scalar>(
    unfolding: &Unfolding<T>,
    share: f64,
    wanted: usize,
) -> Result<Option<Mat<T>>> {
    let (width, height) = (unfolding.width, unfolding.height);
    // Columns of a stored matrix come in cache lines of several, but neighbors are much alike.
    let run = match unfolding.side {
        Side::Left => 2,
        Side::Right => 1,
    };
    let n_runs = wanted / run;
    let n_rows = n_runs * run;
    if n_rows < 32 {
        return Ok(None);
    }
    let mut sample = T::zeros(n_rows * width)?;
    let runs = sample.par_chunks_exact_mut(run * width).with_min_len(16);
    runs.enumerate().try_for_each(|(place, target)| {
        // Evenly spaced, with a jitter that no period of the data is likely to share.
        let stride = height / n_runs;
        let first = place * height / n_runs + (place * 7919) % stride.max(1);
        let first = first.min(height - run);
        unfolding.panel(first..first + run, |rows| {
            linalg::rows_mut(target, run, width).copy_from(rows);
        })
    })?;
    unfolding.watch.advance(sample.len())?;
    let total = energy(&sample);
    // Written so that a NaN gives up.
    if !(total > 0.0 && total.is_finite()) {
        return Ok(None);
    }
    // Directions with a small residual are quick to find; the best are then chosen among few.
    let found = linalg::span(&sample, width, SPARE * share * total);
    let along = linalg::rows(&found.rows, found.rank, width);
    let mut inside = Mat::zeros(n_rows, found.rank);
    linalg::multiply_by_adjoint(inside.as_mut(), linalg::rows(&sample, n_rows, width), along);
    let mut gram = Mat::zeros(found.rank, found.rank);
    linalg::add_gram(gram.as_mut(), inside.as_ref());
    let (squares, vectors) = linalg::eigen(gram.as_ref())?;
    let (rank, _) = linalg::cut(&squares, share * total - found.left_out);
    let mut columns = Mat::zeros(width, rank);
    linalg::multiply_adjoint(columns.as_mut(), along, vectors.as_ref().subcols(0, rank));
    Ok(Some(columns))
}
