//! Orthogonal cores: the norm, the spectra of the bonds, and rounding to smaller ranks.
//!
//! When all cores but one are orthogonal (their rows, or columns, are orthonormal), an error made
//! in that one is an error of the same size in the tensor. Rounding walks along the train, so that
//! at each bond the singular values of the tensor itself are at hand, and the errors of all cuts
//! are orthogonal to each other: their squares add up to the square of the whole error.

use super::{Core, Train};
use crate::compress::{Caps, noise};
use crate::error::{Error, Result};
use crate::matrix::{self, Svd};
use crate::number::real;
use crate::scalar::{Power, Scalar, norm, tame};

/// A rounded train, and how far it may be from the one before.
#[derive(Debug, Clone)]
pub struct Rounded<T> {
    /// The train with smaller ranks.
    pub train: Train<T>,
    /// The norm of what was left out: an absolute error.
    pub error: f64,
}

impl<T: Scalar> Train<T> {
    /// The Frobenius norm, to nearly full precision even where large parts cancel.
    ///
    /// # Errors
    /// None for a train built by this library.
    pub fn norm(&self) -> Result<f64> {
        let mut cores = self.cores.clone();
        let back = tame_cores(&mut cores);
        orthogonalise_right(&mut cores, 0);
        let norm = cores.first().map_or(0.0, |core| norm(&core.values));
        Ok(back.apply(norm))
    }

    /// The same tensor with the cores left of `center` orthonormal by columns and those right of
    /// it orthonormal by rows; the norm sits in `center`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such core.
    pub fn orthogonalise(&self, center: usize) -> Result<Train<T>> {
        self.core(center)?;
        let mut cores = self.cores.clone();
        let back = tame_cores(&mut cores);
        orthogonalise_right(&mut cores, center);
        orthogonalise_left(&mut cores, center);
        if let Some(core) = cores.get_mut(center) {
            back.apply_all(&mut core.values);
        }
        Ok(Train { cores })
    }

    /// The singular values of the tensor at every bond, largest first.
    ///
    /// # Errors
    /// [`Error::Numeric`] if a decomposition does not converge.
    pub fn spectra(&self) -> Result<Vec<Vec<f64>>> {
        let mut cores = self.cores.clone();
        let back = tame_cores(&mut cores);
        let roots = |squares: Vec<f64>| -> Vec<f64> {
            let roots = squares.iter().map(|square| back.apply(square.sqrt()));
            roots.collect()
        };
        let squares = squared_spectra(&mut cores)?;
        Ok(squares.into_iter().map(roots).collect())
    }

    /// A train near this one with ranks as small as `eps`, relative to the norm, allows, and at
    /// most `max_rank` whatever that costs.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a tolerance that is no number, [`Error::Numeric`] if a decomposition
    /// does not converge.
    pub fn round(&self, eps: f64, max_rank: Option<usize>) -> Result<Rounded<T>> {
        let is_tolerance = eps >= 0.0;
        if !is_tolerance {
            return Err(Error::invalid(format!("{eps} is no tolerance")));
        }
        if max_rank == Some(0) {
            return Err(Error::invalid("a rank is at least 1"));
        }
        let mut cores = self.cores.clone();
        let caps = max_rank.map_or(Caps::None, Caps::All);
        let back = tame_cores(&mut cores);
        orthogonalise_right(&mut cores, 0);
        let norm = cores.first().map_or(0.0, |core| norm(&core.values));
        let cuts = cut_from_left(&mut cores, &caps, (eps * norm).powi(2))?;
        if let Some(first) = cores.first_mut() {
            back.apply_all(&mut first.values);
        }
        Ok(Rounded {
            train: Train { cores },
            error: back.apply(cuts.energy().sqrt()),
        })
    }
}

/// What rounding did at each bond.
pub(crate) struct Cuts {
    /// The energy left out at each bond.
    pub(crate) left_out: Vec<f64>,
    /// The rank that the budget asked for at each bond; a cap may have made it smaller.
    pub(crate) needed: Vec<usize>,
}

impl Cuts {
    /// The energy left out at all bonds.
    pub(crate) fn energy(&self) -> f64 {
        self.left_out.iter().sum()
    }
}

/// Brings all cores near 1, so that no square of theirs overflows or vanishes; gives what takes
/// their product back.
fn tame_cores<T: Scalar>(cores: &mut [Core<T>]) -> Power {
    let powers = cores.iter_mut().map(|core| tame(&mut core.values));
    powers.fold(Power::ONE, Power::and)
}

/// Rounds cores in place: orthogonalises from the right, then cuts from the left, leaving out at
/// most the energy `budget`, unless the caps ask for more.
pub(crate) fn round_cores<T: Scalar>(
    cores: &mut [Core<T>],
    caps: &Caps,
    budget: f64,
) -> Result<Cuts> {
    orthogonalise_right(cores, 0);
    cut_from_left(cores, caps, budget)
}

/// The squares of the singular values at every bond, largest first.
fn squared_spectra<T: Scalar>(cores: &mut [Core<T>]) -> Result<Vec<Vec<f64>>> {
    orthogonalise_right(cores, 0);
    let mut spectra = Vec::new();
    for bond in 1..cores.len() {
        let Some((core, next)) = pair(cores, bond) else {
            break;
        };
        let found = matrix::svd(core_rows(core))?;
        keep(core, next, &found, found.squares.len());
        spectra.push(found.squares);
    }
    Ok(spectra)
}

/// Cuts the bonds of cores that are orthogonal from the right. Each gets an equal share of what
/// the bonds before it left over.
fn cut_from_left<T: Scalar>(cores: &mut [Core<T>], caps: &Caps, budget: f64) -> Result<Cuts> {
    // What rounding alone put there is not worth a rank.
    let floor = cores
        .first()
        .map_or(0.0, |core| noise(norm(&core.values)).powi(2));
    let mut cuts = Cuts {
        left_out: Vec::new(),
        needed: Vec::new(),
    };
    let n_bonds = cores.len().saturating_sub(1);
    for bond in 1..=n_bonds {
        let Some((core, next)) = pair(cores, bond) else {
            break;
        };
        let left = budget - cuts.energy();
        let share = (left.max(0.0) / real(n_bonds + 1 - bond)).max(floor);
        if let Some(rank) = keep_all(core, next, caps.at(bond), share) {
            cuts.left_out.push(0.0);
            cuts.needed.push(rank);
            continue;
        }
        let found = matrix::svd(core_rows(core))?;
        let (needed, mut left_out) = matrix::cut(&found.squares, share);
        let rank = needed.min(caps.at(bond));
        if rank < needed {
            left_out = matrix::tail(&found.squares, rank);
        }
        cuts.left_out.push(left_out);
        cuts.needed.push(needed);
        keep(core, next, &found, rank);
    }
    Ok(cuts)
}

/// Moves everything on if no singular value is small enough to be left out, which is quicker to see
/// than what they are; gives the rank then.
fn keep_all<T: Scalar>(
    core: &mut Core<T>,
    next: &mut Core<T>,
    cap: usize,
    share: f64,
) -> Option<usize> {
    let rank = core.right;
    if rank > cap || core.left * core.size < rank {
        return None;
    }
    let (q, r) = matrix::qr(core_rows(core));
    if q.ncols() < rank || !matrix::all_squares_exceed(r.as_ref(), share) {
        return None;
    }
    core.values = matrix::row_major(q.as_ref());
    next.values = matrix::product(&matrix::row_major(r.as_ref()), &next.values, next.left);
    Some(rank)
}

fn core_rows<T: Scalar>(core: &Core<T>) -> faer::MatRef<'_, T> {
    matrix::rows(&core.values, core.left * core.size, core.right)
}

/// The cores on either side of a bond, counted from 1.
fn pair<T>(cores: &mut [Core<T>], bond: usize) -> Option<(&mut Core<T>, &mut Core<T>)> {
    let (before, after) = cores.split_at_mut_checked(bond)?;
    Some((before.last_mut()?, after.first_mut()?))
}

/// Leaves the first `rank` singular vectors in `core` and moves the rest of the product on.
fn keep<T: Scalar>(core: &mut Core<T>, next: &mut Core<T>, found: &Svd<T>, rank: usize) {
    let values: Vec<f64> = found.squares.iter().map(|square| square.sqrt()).collect();
    core.values = matrix::row_major(found.u.as_ref().subcols(0, rank));
    core.right = rank;
    let carried = matrix::scaled_adjoint(found.v.as_ref().subcols(0, rank), &values);
    next.values = matrix::product(&carried, &next.values, next.left);
    next.left = rank;
}

/// Makes the rows of all cores right of `center` orthonormal, moving the rest towards it.
pub(crate) fn orthogonalise_right<T: Scalar>(cores: &mut [Core<T>], center: usize) {
    for bond in (center + 1..cores.len()).rev() {
        let Some((before, core)) = pair(cores, bond) else {
            break;
        };
        // The core's adjoint is q · r, so that the core is r^H · q^H.
        let tall = matrix::rows(&core.values, core.left, core.size * core.right);
        let (q, r) = matrix::qr(matrix::conjugated(tall.transpose()).as_ref());
        let n_rows = before.left * before.size;
        let mut moved = vec![T::default(); n_rows * q.ncols()];
        matrix::multiply_by_adjoint(
            matrix::rows_mut(&mut moved, n_rows, q.ncols()),
            matrix::rows(&before.values, n_rows, before.right),
            r.as_ref(),
        );
        core.values = matrix::adjoint_row_major(q.as_ref());
        core.left = q.ncols();
        before.values = moved;
        before.right = q.ncols();
    }
}

/// Makes the columns of all cores left of `center` orthonormal, moving the rest towards it.
pub(crate) fn orthogonalise_left<T: Scalar>(cores: &mut [Core<T>], center: usize) {
    for bond in 1..=center {
        let Some((core, next)) = pair(cores, bond) else {
            break;
        };
        let (q, r) = matrix::qr(core_rows(core));
        core.values = matrix::row_major(q.as_ref());
        core.right = q.ncols();
        next.values = matrix::product(&matrix::row_major(r.as_ref()), &next.values, next.left);
        next.left = q.ncols();
    }
}
