//! Rounding to smaller ranks, from the middle outwards.
//!
//! Both halves of a train are made orthogonal, each towards the bond between them, and what is left
//! of their product is a small matrix there. Its singular values are those of the tensor at that
//! bond. Going outwards on either side, it is carried along as weights: with these, a core shows
//! the singular values at its outer bond. The two halves are worked on side by side.
//!
//! At each bond the tensor is projected onto the directions that are kept. A projection makes no
//! error longer, and what it leaves out is orthogonal to everything that it keeps; so, taken from
//! the outside inwards, the square of the whole error is no more than the sum of the squares of
//! what each projection leaves out of the tensor as it was. That is what the weights tell: they are
//! not cut. What rounding adds is told by `rounding.rs`.

use faer::{Mat, MatRef};

use super::orthogonal::{Half, as_double, between, halves, left_half, right_half};
use super::rounding_error::rounding;
use super::{Core, Train};
use crate::compress::noise;
use crate::error::{Error, Result};
use crate::linalg;
use crate::num::real;
use crate::scalar::Scalar;

/// A rounded train, and how far it may be from the one before.
#[derive(Debug, Clone)]
pub struct Rounded<T> {
    /// The train with smaller ranks.
    pub train: Train<T>,
    /// A bound on the norm of the difference, an absolute error: what was left out, plus
    /// [`Rounded::rounding`].
    pub error: f64,
    /// The part of the bound that stands for rounding in the arithmetic.
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
        // As one piece of work, between whose parts no thread is sent to sleep.
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
        // What the singular values at each bond may be off by, as a part of each: it adds up.
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

/// What may be left out.
#[derive(Debug, Clone, Copy)]
struct Budget {
    /// The energy, in all.
    energy: f64,
    /// The energy that rounding alone puts there: not worth a rank.
    floor: f64,
    /// Bonds that are to be cut.
    n_bonds: usize,
    /// The largest rank.
    cap: usize,
}

impl Budget {
    /// What the next bond may leave out: an equal share.
    fn share(&self) -> f64 {
        (self.energy.max(0.0) / real(self.n_bonds.max(1))).max(self.floor)
    }

    /// What is left for some of the bonds.
    fn part(&self, n_bonds: usize) -> Budget {
        Budget {
            energy: self.energy * real(n_bonds) / real(self.n_bonds.max(1)),
            n_bonds,
            ..*self
        }
    }

    /// Cuts nothing from a bond.
    fn keep_all<T>(&mut self) -> Cut<T> {
        self.n_bonds -= 1;
        Cut {
            kept: None,
            left_out: 0.0,
        }
    }

    /// Cuts a bond by the singular values of a matrix there.
    fn cut<T: Scalar>(&mut self, matrix: MatRef<T>) -> Result<Cut<T>> {
        let cut = Cut::new(matrix, self.share(), self.cap)?;
        self.energy -= cut.left_out;
        self.n_bonds -= 1;
        Ok(cut)
    }
}

/// What is kept of a bond.
struct Cut<T> {
    /// `None` if everything is.
    kept: Option<Kept<T>>,
    /// The energy left out.
    left_out: f64,
}

/// Directions, one a column, on either side of a bond, and the singular values between them: all of
/// them, as the other bonds are cut by the tensor as it was. The first `rank` are kept.
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
        // That nothing can be left out is quicker to see than the singular values are.
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

    /// What the cores on either side are multiplied with, of the matrix that was between them: not
    /// cut, as what the other bonds leave out would be told too small otherwise.
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

    /// A core with the weights of the bond to its left, in the directions that are kept there.
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

/// The side of a bond that is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Cores that have been cut, from the middle outwards.
struct Outwards<T> {
    cores: Vec<Core<T>>,
    left_out: f64,
}

/// Cuts the bonds of a half, beginning at the bond `center`, which has been cut. The first core on
/// the right keeps the weights.
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
    /// A core in the directions that were kept of its inner bond.
    fn inner_kept<T: Scalar>(self, core: Core<T>, cut: &Cut<T>) -> Core<T> {
        match (self, &cut.kept) {
            (_, None) => core,
            (Side::Left, Some(kept)) => core.before(kept.left()),
            (Side::Right, Some(kept)) => core.after_adjoint(kept.right()),
        }
    }

    /// A core in the directions that are kept of its outer bond.
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

    /// Cuts the outer bond of a core that has the weights at its inner one; gives the weights at
    /// the outer one, as they were.
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
