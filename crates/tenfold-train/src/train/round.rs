//! Rounding to smaller ranks, from the middle outwards.
//!
//! Both halves of a train are orthogonalized, each towards the bond between them, and the remaining
//! factor is a small matrix there. Its singular values are those of the tensor at that bond. Going
//! outwards on either side, it is carried along as weights: with these, a core shows the singular
//! values at its outer bond. The two halves are processed in parallel.
//!
//! At each bond the tensor is projected onto the directions that are kept. A projection does not
//! increase the norm of an error, and the part it leaves out is orthogonal to everything that it
//! keeps; so, from the outside inwards, the square of the total error is no more than the sum of
//! the squares of the parts that each projection leaves out of the original tensor. The weights
//! measure these: they are not truncated. The effect of rounding is computed by
//! `rounding_error.rs`.

use faer::{Mat, MatRef};

use super::orthogonal::{Half, as_double, between, halves, left_half, right_half};
use super::rounding_error::rounding;
use super::{Core, Train};
use crate::compress::noise;
use crate::error::{Error, Result};
use crate::linalg;
use crate::num::real;
use crate::scalar::Scalar;

/// A rounded train, and its distance from the original.
#[derive(Debug, Clone)]
pub struct Rounded<T> {
    /// The train with smaller ranks.
    pub train: Train<T>,
    /// A bound on the norm of the difference, an absolute error: the truncation error plus
    /// [`Rounded::rounding`].
    pub error: f64,
    /// The part of the bound for rounding in the arithmetic.
    pub rounding: f64,
}

impl<T: Scalar> Train<T> {
    /// A train near this one with ranks as small as `eps`, relative to the norm, allows, and at
    /// most `max_rank` whatever that costs.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a tolerance that is no number, [`tenfold::Error::OutOfRange`] for a norm or an error
    /// that no double holds with all its digits,
    /// [`Error::Numeric`] if a decomposition does not converge.
    pub fn round(&self, eps: f64, max_rank: Option<usize>) -> Result<Rounded<T>> {
        let is_tolerance = eps >= 0.0;
        if !is_tolerance {
            return Err(Error::invalid(format!("{eps} is no tolerance")));
        }
        if max_rank == Some(0) {
            return Err(Error::invalid("a rank is at least 1"));
        }
        self.check_finite()?;
        let cap = max_rank.unwrap_or(usize::MAX);
        // As a single task, so that no thread goes to sleep between its parts.
        rayon::scope(|_| self.rounded(eps, cap))
    }

    fn rounded(&self, eps: f64, cap: usize) -> Result<Rounded<T>> {
        let (before, after) = halves(&self.cores);
        if before.is_empty() {
            return Ok(Rounded {
                train: self.clone(),
                error: 0.0,
                rounding: 0.0,
            });
        }
        let (left, right) = rayon::join(|| left_half(before, 1), || right_half(after, 1));
        let (between, back) = between(&left, &right);
        let norm = linalg::norm(between.as_ref());
        as_double(norm, back, "the norm of the train")?;
        let rounding = rounding(before, after, (&left, &right), norm);
        // The relative error of the singular values at each bond: it adds up.
        let ranks = self.cores.iter().map(|core| core.right);
        let blur = ranks.map(linalg::blur).sum::<f64>();
        let allowed = (eps * norm - rounding).max(0.5 * eps * norm);
        let mut budget = Budget {
            energy: (allowed / (1.0 + blur)).powi(2),
            floor: noise(norm).powi(2),
            n_bonds: self.cores.len() - 1,
            cap,
        };
        let center = budget.cut(between.as_ref())?;
        let [to_left, to_right] = center.weights(between);
        let (one, two) = rayon::join(
            || {
                outwards(
                    Side::Left,
                    left,
                    &center,
                    to_left,
                    budget.part(before.len() - 1),
                )
            },
            || {
                outwards(
                    Side::Right,
                    right,
                    &center,
                    to_right,
                    budget.part(after.len() - 1),
                )
            },
        );
        let (one, two) = (one?, two?);
        let mut cores = one.cores;
        cores.reverse();
        cores.extend(two.cores);
        if let Some(heavy) = cores.get_mut(before.len()) {
            back.apply_all(&mut heavy.values);
        }
        let left_out = (center.left_out + one.left_out + two.left_out).sqrt();
        let error = left_out * (1.0 + blur) + rounding;
        let found = back.apply(error);
        if error > 0.0 && !(f64::MIN_POSITIVE..f64::INFINITY).contains(&found) {
            let what = "what rounding leaves out of the train";
            let why = format!("{what} is {error:.1e} times 2^{}", back.exponent());
            return Err(Error::out_of_range(format!(
                "{why}: no double holds it with its digits"
            )));
        }
        Ok(Rounded {
            train: Train { cores },
            error: found,
            rounding: back.apply(rounding),
        })
    }
}

/// The truncation budget.
#[derive(Debug, Clone, Copy)]
struct Budget {
    /// The total energy.
    energy: f64,
    /// The energy of rounding errors: not worth a rank.
    floor: f64,
    /// The number of bonds to truncate.
    n_bonds: usize,
    /// The largest rank.
    cap: usize,
}

impl Budget {
    /// The share of the next bond: an equal part.
    fn share(&self) -> f64 {
        (self.energy.max(0.0) / real(self.n_bonds.max(1))).max(self.floor)
    }

    /// The remainder for some of the bonds.
    fn part(&self, n_bonds: usize) -> Budget {
        Budget {
            energy: self.energy * real(n_bonds) / real(self.n_bonds.max(1)),
            n_bonds,
            ..*self
        }
    }

    /// Keeps a bond unchanged.
    fn keep_all<T>(&mut self) -> Cut<T> {
        self.n_bonds -= 1;
        Cut {
            kept: None,
            left_out: 0.0,
        }
    }

    /// Truncates a bond by the singular values of a matrix there.
    fn cut<T: Scalar>(&mut self, matrix: MatRef<T>) -> Result<Cut<T>> {
        let cut = Cut::new(matrix, self.share(), self.cap)?;
        self.energy -= cut.left_out;
        self.n_bonds -= 1;
        Ok(cut)
    }
}

/// The kept part of a bond.
struct Cut<T> {
    /// `None` for all of it.
    kept: Option<Kept<T>>,
    /// The energy left out.
    left_out: f64,
}

/// Singular vectors, one per column, on either side of a bond, and the singular values between
/// them: all of them, as the other bonds are truncated by the original tensor. The first `rank` are
/// kept.
struct Kept<T> {
    left: Mat<T>,
    values: Vec<f64>,
    right: Mat<T>,
    rank: usize,
}

impl<T: Scalar> Kept<T> {
    /// The directions kept on the left.
    fn left(&self) -> MatRef<'_, T> {
        self.left.as_ref().subcols(0, self.rank)
    }

    /// The directions kept on the right.
    fn right(&self) -> MatRef<'_, T> {
        self.right.as_ref().subcols(0, self.rank)
    }
}

impl<T: Scalar> Cut<T> {
    fn new(matrix: MatRef<T>, share: f64, cap: usize) -> Result<Cut<T>> {
        let n = matrix.ncols();
        // Full rank is faster to detect than the singular values are to compute.
        let may_keep_all = matrix.nrows() == n && n <= cap;
        if may_keep_all && linalg::all_squares_exceed(matrix, share) {
            return Ok(Cut {
                kept: None,
                left_out: 0.0,
            });
        }
        let found = linalg::svd(matrix)?;
        let (needed, mut left_out) = linalg::cut(&found.squares, share);
        let rank = needed.min(cap);
        if rank < needed {
            left_out = linalg::tail(&found.squares, rank);
        }
        let kept = Kept {
            left: found.u,
            values: found.squares.iter().map(|square| square.sqrt()).collect(),
            right: found.v,
            rank,
        };
        Ok(Cut {
            kept: Some(kept),
            left_out,
        })
    }

    /// The factors for the cores on either side, from the matrix between them: not truncated, as
    /// the error at the other bonds would be underestimated otherwise.
    fn weights(&self, between: Mat<T>) -> [Mat<T>; 2] {
        let Some(kept) = &self.kept else {
            return [between.clone(), between];
        };
        let mut left = kept.left.clone();
        for (column, value) in left.col_iter_mut().zip(&kept.values) {
            let places = column.iter_mut();
            places.for_each(|place| *place = place.times(*value));
        }
        let right = linalg::scaled_adjoint(kept.right.as_ref(), &kept.values);
        let right = linalg::rows(&right, kept.values.len(), kept.right.nrows());
        [left, right.to_owned()]
    }

    /// A core with the weights of the bond to its left, in the kept directions.
    fn heavy(&self, weighted: &Core<T>) -> Core<T> {
        let mut core = weighted.clone();
        if let Some(kept) = &self.kept {
            let len = kept.rank * core.size * core.right;
            core.left = kept.rank;
            core.values = core.values.iter().take(len).copied().collect();
        }
        core
    }
}

/// One side of a bond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Truncated cores, from the middle outwards.
struct Outwards<T> {
    cores: Vec<Core<T>>,
    left_out: f64,
}

/// Truncates the bonds of a half, beginning at the bond `center`, which is already truncated. The
/// first core on the right keeps the weights.
fn outwards<T: Scalar>(
    side: Side,
    half: Half<T>,
    center: &Cut<T>,
    mut weights: Mat<T>,
    mut budget: Budget,
) -> Result<Outwards<T>> {
    let mut done = Outwards {
        cores: Vec::with_capacity(half.cores.len()),
        left_out: 0.0,
    };
    let mut last: Option<Cut<T>> = None;
    for core in half.cores {
        let weighted = side.weighted(&core, weights.as_ref());
        let is_heavy = side == Side::Right && last.is_none();
        let inner = last.as_ref().unwrap_or(center);
        let core = match (is_heavy, budget.n_bonds) {
            (true, 0) => center.heavy(&weighted),
            (false, 0) => side.inner_kept(core, inner),
            (_, _) => {
                let cut;
                (weights, cut) = side.cut(&weighted, &mut budget)?;
                done.left_out += cut.left_out;
                let core = if is_heavy {
                    center.heavy(&weighted)
                } else {
                    side.inner_kept(core, inner)
                };
                let core = side.outer_kept(core, &cut);
                last = Some(cut);
                core
            }
        };
        done.cores.push(core);
    }
    Ok(done)
}

impl Side {
    /// A core in the kept directions of its inner bond.
    fn inner_kept<T: Scalar>(self, core: Core<T>, cut: &Cut<T>) -> Core<T> {
        match (self, &cut.kept) {
            (_, None) => core,
            (Side::Left, Some(kept)) => core.before(kept.left()),
            (Side::Right, Some(kept)) => core.after_adjoint(kept.right()),
        }
    }

    /// A core in the kept directions of its outer bond.
    fn outer_kept<T: Scalar>(self, core: Core<T>, cut: &Cut<T>) -> Core<T> {
        match (self, &cut.kept) {
            (_, None) => core,
            (Side::Left, Some(kept)) => core.after_adjoint(kept.left()),
            (Side::Right, Some(kept)) => core.before(kept.right()),
        }
    }

    /// A core with the weights at its inner bond.
    fn weighted<T: Scalar>(self, core: &Core<T>, weights: MatRef<T>) -> Core<T> {
        match self {
            Side::Left => core.before(weights),
            Side::Right => core.after(weights),
        }
    }

    /// Truncates the outer bond of a core with the weights at its inner one; returns the weights at
    /// the outer one, not truncated.
    fn cut<T: Scalar>(self, weighted: &Core<T>, budget: &mut Budget) -> Result<(Mat<T>, Cut<T>)> {
        let (values, tall) = (&weighted.values, weighted.left * weighted.size);
        let (outer, share) = (self.outer(weighted), budget.share());
        let clear = match self {
            _ if outer > budget.cap => None,
            Side::Left => linalg::clear_lower(values, weighted.left, share),
            Side::Right => linalg::clear_upper(values, tall, share),
        };
        if let Some(weights) = clear {
            return Ok((weights, budget.keep_all()));
        }
        let weights = match self {
            Side::Left => linalg::lower(values, weighted.left),
            Side::Right => linalg::upper(values, tall),
        };
        let cut = budget.cut(weights.as_ref())?;
        Ok((weights, cut))
    }

    /// The outer bond of a core.
    fn outer<T>(self, core: &Core<T>) -> usize {
        match self {
            Side::Left => core.left,
            Side::Right => core.right,
        }
    }
}
