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
        let cores = cores.into_iter().map(Merged::from).collect();
        let (mut cores, cuts) = cut_from_left(cores, &caps, (eps * norm).powi(2))?;
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

/// A core whose places are those of several modes, one after the other.
pub(crate) struct Merged<T> {
    pub(crate) left: usize,
    pub(crate) sizes: Vec<usize>,
    pub(crate) right: usize,
    /// Row-major.
    pub(crate) values: Vec<T>,
}

impl<T> From<Core<T>> for Merged<T> {
    fn from(core: Core<T>) -> Merged<T> {
        Merged {
            left: core.left,
            sizes: vec![core.size],
            right: core.right,
            values: core.values,
        }
    }
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

/// Cuts the bonds of cores that are orthogonal from the right, and splits those of several modes.
/// Each bond gets an equal share of what the bonds before it left over of the energy `budget`,
/// unless the caps ask for more.
pub(crate) fn cut_from_left<T: Scalar>(
    cores: Vec<Merged<T>>,
    caps: &Caps,
    budget: f64,
) -> Result<(Vec<Core<T>>, Cuts)> {
    // What rounding alone put there is not worth a rank.
    let floor = cores
        .first()
        .map_or(0.0, |core| noise(norm(&core.values)).powi(2));
    let n_modes: usize = cores.iter().map(|core| core.sizes.len()).sum();
    let n_bonds = n_modes.saturating_sub(1);
    let mut done: Vec<Core<T>> = Vec::with_capacity(n_modes);
    let mut cuts = Cuts {
        left_out: Vec::new(),
        needed: Vec::new(),
    };
    let mut carried: Option<Vec<T>> = None;
    for core in cores {
        let mut rest = match carried.take() {
            Some(before) => matrix::product(&before, &core.values, core.left),
            None => core.values,
        };
        let mut left = done.last().map_or(core.left, |core| core.right);
        for size in core.sizes {
            let bond = done.len() + 1;
            if bond > n_bonds {
                let (right, values) = (core.right, std::mem::take(&mut rest));
                done.push(Core {
                    left,
                    size,
                    right,
                    values,
                });
                break;
            }
            let within = (budget - cuts.energy()).max(0.0) / real(n_bonds + 1 - bond);
            let half = halves(&rest, left * size, within.max(floor), caps.at(bond))?;
            done.push(Core {
                left,
                size,
                right: half.rank,
                values: half.kept,
            });
            cuts.left_out.push(half.left_out);
            cuts.needed.push(half.needed);
            (left, rest) = (half.rank, half.carried);
        }
        carried = Some(rest);
    }
    Ok((done, cuts))
}

/// A matrix as a product of orthonormal columns and what is carried on.
struct Halves<T> {
    kept: Vec<T>,
    carried: Vec<T>,
    rank: usize,
    /// The rank that the share asked for.
    needed: usize,
    left_out: f64,
}

/// The part of a share that may be left out before singular values are looked at.
const SPARE: f64 = 0.01;

/// Halves a row-major matrix, leaving out at most the energy `share`, unless the cap asks for more.
fn halves<T: Scalar>(values: &[T], n_rows: usize, share: f64, cap: usize) -> Result<Halves<T>> {
    let n_columns = values.len() / n_rows.max(1);
    let is_tall = n_rows >= n_columns;
    // The longer side is taken apart first: what is left of the matrix is small.
    let found = if is_tall {
        matrix::qr_within(values, n_rows, SPARE * share)
    } else {
        matrix::lq_within(values, n_rows, SPARE * share)
    };
    let small = found.small.as_ref();
    // That nothing can be left out is quicker to see than the singular values are.
    let may_keep_all = is_tall && found.rank == n_columns && n_columns <= cap;
    if may_keep_all && matrix::all_squares_exceed(small, share) {
        return Ok(Halves {
            kept: found.long,
            carried: matrix::row_major(small),
            rank: n_columns,
            needed: n_columns,
            left_out: found.left_out,
        });
    }
    let inner = matrix::svd(small)?;
    let (needed, mut left_out) = matrix::cut(&inner.squares, share - found.left_out);
    let rank = needed.min(cap);
    if rank < needed {
        left_out = matrix::tail(&inner.squares, rank);
    }
    let kept = matrix::row_major(inner.u.as_ref().subcols(0, rank));
    let (kept, carried) = if is_tall {
        let roots: Vec<f64> = inner.squares.iter().map(|square| square.sqrt()).collect();
        let carried = matrix::scaled_adjoint(inner.v.as_ref().subcols(0, rank), &roots);
        (matrix::product(&found.long, &kept, found.rank), carried)
    } else {
        // From the matrix itself: were the rows that were spared left out here, this error would
        // not be orthogonal to those of later bonds.
        let mut carried = vec![T::default(); rank * n_columns];
        matrix::multiply_adjoint(
            matrix::rows_mut(&mut carried, rank, n_columns),
            matrix::rows(&kept, n_rows, rank),
            matrix::rows(values, n_rows, n_columns),
        );
        (kept, carried)
    };
    Ok(Halves {
        kept,
        carried,
        rank,
        needed,
        left_out: left_out + found.left_out,
    })
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
        let found = matrix::lq(&core.values, core.left);
        let small = matrix::row_major(found.small.as_ref());
        before.values = matrix::product(&before.values, &small, before.right);
        before.right = found.rank;
        core.values = found.long;
        core.left = found.rank;
    }
}

/// Makes the columns of all cores left of `center` orthonormal, moving the rest towards it.
pub(crate) fn orthogonalise_left<T: Scalar>(cores: &mut [Core<T>], center: usize) {
    for bond in 1..=center {
        let Some((core, next)) = pair(cores, bond) else {
            break;
        };
        let found = matrix::qr(&core.values, core.left * core.size);
        let small = matrix::row_major(found.small.as_ref());
        core.values = found.long;
        core.right = found.rank;
        next.values = matrix::product(&small, &next.values, next.left);
        next.left = found.rank;
    }
}
