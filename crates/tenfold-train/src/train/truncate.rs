//! Truncation of the bonds of orthogonal cores, from left to right, and splitting of those with
//! several modes, as a verified pass needs it.
//!
//! When all cores but one are orthogonal, an error made in that one is an error of the same norm in
//! the tensor. The truncation walks along the train, so that the singular values of the tensor
//! itself are available at each bond, and the errors of all truncations are orthogonal to each
//! other.

use super::Core;

use crate::compress::{Caps, noise};
use crate::error::Result;
use crate::linalg;
use crate::num::real;
use crate::scalar::{Scalar, norm};

/// The results of rounding at each bond.
pub(crate) struct Cuts {
    /// The energy left out at each bond.
    pub(crate) left_out: Vec<f64>,
    /// The rank that the budget required at each bond; a cap may have made it smaller.
    pub(crate) needed: Vec<usize>,
}

impl Cuts {
    /// The energy left out at all bonds.
    pub(crate) fn energy(&self) -> f64 {
        self.left_out.iter().sum()
    }
}

/// A core with several modes, one after the other.
pub(crate) struct Merged<T> {
    pub(crate) left: usize,
    pub(crate) sizes: Vec<usize>,
    pub(crate) right: usize,
    /// Row-major.
    pub(crate) values: Vec<T>,
}

impl<T: Scalar> From<Core<T>> for Merged<T> {
    fn from(core: Core<T>) -> Merged<T> {
        Merged {
            left: core.left,
            sizes: vec![core.size],
            right: core.right,
            values: core.values.into_vec(),
        }
    }
}

/// Truncates the bonds of cores that are orthogonal from the right, and splits those of several
/// modes. Each bond gets an equal share of the energy `budget` that the bonds before it left over,
/// unless the caps ask for more.
pub(crate) fn cut_from_left<T: Scalar>(
    cores: Vec<Merged<T>>,
    caps: &Caps,
    budget: f64,
) -> Result<(Vec<Core<T>>, Cuts)> {
    // Rounding alone is not worth a rank.
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
            Some(before) => linalg::product(&before, &core.values, core.left),
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
                    values: values.into(),
                });
                break;
            }
            let within = (budget - cuts.energy()).max(0.0) / real(n_bonds + 1 - bond);
            let half = halves(&rest, left * size, within.max(floor), caps.at(bond))?;
            done.push(Core {
                left,
                size,
                right: half.rank,
                values: half.kept.into(),
            });
            cuts.left_out.push(half.left_out);
            cuts.needed.push(half.needed);
            (left, rest) = (half.rank, half.carried);
        }
        carried = Some(rest);
    }
    Ok((done, cuts))
}

/// A matrix as a product of orthonormal columns and the factor carried on.
struct Halves<T> {
    kept: Vec<T>,
    carried: Vec<T>,
    rank: usize,
    /// The rank that the share required.
    needed: usize,
    left_out: f64,
}

/// The part of a share that may be left out before singular values are computed.
const SPARE: f64 = 0.01;

/// Factorizes a row-major matrix, leaving out at most the energy `share`, unless the cap asks for
/// more.
fn halves<T: Scalar>(values: &[T], n_rows: usize, share: f64, cap: usize) -> Result<Halves<T>> {
    let n_columns = values.len() / n_rows.max(1);
    let is_tall = n_rows >= n_columns;
    // The longer side is reduced first: the remaining matrix is small.
    let found = if is_tall {
        linalg::qr_within(values, n_rows, SPARE * share)
    } else {
        linalg::lq_within(values, n_rows, SPARE * share)
    };
    let small = found.small.as_ref();
    // Full rank is faster to detect than the singular values are to compute.
    let may_keep_all = is_tall && found.rank == n_columns && n_columns <= cap;
    if may_keep_all && linalg::all_squares_exceed(small, share) {
        return Ok(Halves {
            kept: found.long,
            carried: linalg::row_major(small),
            rank: n_columns,
            needed: n_columns,
            left_out: found.left_out,
        });
    }
    let inner = linalg::svd(small)?;
    let (needed, mut left_out) = linalg::cut(&inner.squares, share - found.left_out);
    let rank = needed.min(cap);
    if rank < needed {
        left_out = linalg::tail(&inner.squares, rank);
    }
    let kept = linalg::row_major(inner.u.as_ref().subcols(0, rank));
    let (kept, carried) = if is_tall {
        let roots: Vec<f64> = inner.squares.iter().map(|square| square.sqrt()).collect();
        let carried = linalg::scaled_adjoint(inner.v.as_ref().subcols(0, rank), &roots);
        (linalg::product(&found.long, &kept, found.rank), carried)
    } else {
        // From the matrix itself: with the skipped rows left out here, this error would not be
        // orthogonal to those of later bonds.
        let mut carried = T::zeros(rank * n_columns)?;
        linalg::multiply_adjoint(
            linalg::rows_mut(&mut carried, rank, n_columns),
            linalg::rows(&kept, n_rows, rank),
            linalg::rows(values, n_rows, n_columns),
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
