//! The initial basis of a verified pass: guessed from a few rows, sampled by their norm.

use rayon::prelude::*;

use super::basis::Basis;
use crate::compress::two_sided::unfolding::Unfolding;
use crate::compress::two_sided::weighted_rows::in_proportion;
use tenfold::memory;

use crate::error::Result;
use crate::linalg;
use crate::num::{floor, real};
use crate::scalar::{Scalar, energy};

/// A guessed basis, and an estimate of the energy of the whole matrix.
pub(crate) struct InitialBasis<T> {
    pub(crate) basis: Basis<T>,
    pub(crate) estimate: f64,
}

/// Most cells sampled at first; at most an eighth of all rows is used.
const LOOK: usize = 1 << 20;
const PART_OF_ROWS: usize = 8;
/// Most cells sampled in any case.
const MOST: usize = 1 << 23;
/// Truncation of a sample, as a fraction of the error that the pass may make.
const GUESS: f64 = 0.1;
/// Rows of the first sample.
const FIRST: usize = 24;

/// Guesses a basis that leaves out less than the part `part` of the energy, from the first `reach`
/// rows; `None` if it would be too large to be useful.
pub(crate) fn opening<T: Scalar>(
    unfolding: &Unfolding<T>,
    part: f64,
    reach: usize,
) -> Result<Option<InitialBasis<T>>> {
    let width = unfolding.width;
    let reach = reach.min(unfolding.height);
    let n_looks = (LOOK / width).min(reach / PART_OF_ROWS).clamp(64, 4096);
    let (mut n_looks, mut first) = (n_looks.min(reach), FIRST);
    loop {
        match opening_from(unfolding, part, reach, n_looks, first)? {
            Looked::Enough(opening) => return Ok(opening),
            // The pass could find the other directions too, but one at a time.
            Looked::TooFew(_) if n_looks < reach.min(width) && n_looks * width < MOST => {
                n_looks = (2 * n_looks).min(reach);
                first = n_looks;
            }
            Looked::TooFew(opening) => return Ok(Some(opening)),
        }
    }
}

/// The result of sampling some rows.
enum Looked<T> {
    /// A guess; `None` if it would be too large to be useful.
    Enough(Option<InitialBasis<T>>),
    /// A guess nearly as large as the sample: more rows may add to it.
    TooFew(InitialBasis<T>),
}

/// As [`opening`], from `n_looks` rows, of which `first` are enough if they span everything.
fn opening_from<T: Scalar>(
    unfolding: &Unfolding<T>,
    part: f64,
    reach: usize,
    n_looks: usize,
    first: usize,
) -> Result<Looked<T>> {
    let width = unfolding.width;
    // Evenly spaced, each with a random offset.
    let looks: Vec<usize> = (0..n_looks)
        .map(|look| {
            let jitter = real(look * 7919 % 997) / 997.0;
            floor((real(look) + jitter) * real(reach) / real(n_looks)).min(reach - 1)
        })
        .collect();
    let range = |place: usize| place * width..(place + 1) * width;
    let energies = looks.par_iter().map(|look| {
        let mut room = Vec::new();
        Ok(energy(unfolding.held.cells(range(*look), &mut room)?))
    });
    let energies: Vec<f64> = energies.collect::<Result<_>>()?;
    unfolding.watch.advance(n_looks * width)?;
    let total: f64 = energies.iter().sum();
    let estimate = total * real(unfolding.height) / real(n_looks);
    if !(total > 1e-250 && total.is_finite()) {
        // No information: any first direction will do, the pass finds the others.
        let mut rows = T::zeros(width)?;
        if let Some(first) = rows.first_mut() {
            *first = T::of_real(1.0);
        }
        return Ok(Looked::Enough(Some(InitialBasis {
            basis: Basis::new(width, rows),
            estimate: 0.0,
        })));
    }
    let mut wanted = first;
    loop {
        let chosen = in_proportion(&energies, wanted.min(n_looks));
        // The rows, and a copy from which directions are removed.
        unfolding.watch.hold::<T>(2 * chosen.len() * width)?;
        let mut sample = memory::with_room(chosen.len() * width)?;
        for look in chosen.iter().filter_map(|place| looks.get(*place)) {
            let mut room = Vec::new();
            sample.extend_from_slice(unfolding.held.cells(range(*look), &mut room)?);
        }
        let found = linalg::span(&sample, width, GUESS * part * energy(&sample));
        let rank = found.rank;
        if rank > width / 3 {
            return Ok(Looked::Enough(None));
        }
        let is_tight = real(rank) > 0.6 * real(chosen.len());
        if is_tight && chosen.len() < n_looks && chosen.len() < width {
            if wanted > 4 * n_looks {
                return Ok(Looked::Enough(None));
            }
            wanted *= 2;
            continue;
        }
        let opening = InitialBasis {
            basis: Basis::new(width, found.rows),
            estimate,
        };
        return Ok(if is_tight {
            Looked::TooFew(opening)
        } else {
            Looked::Enough(Some(opening))
        });
    }
}
