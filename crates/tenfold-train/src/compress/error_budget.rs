//! The error budget: the error made at each bond, and the remainder.

use super::options::Caps;
use super::report::Bond;
use crate::linalg;
use crate::num::{UNIT, real};

/// The error budget of one sweep, whose squared errors add up.
#[derive(Debug, Clone)]
pub(crate) struct ErrorBudget {
    /// The total energy that may be left out.
    budget: f64,
    /// The energy that is negligible at any bond.
    floor: f64,
    spent: f64,
    caps: Caps,
    bonds: Vec<Option<Bond>>,
    was_capped: bool,
}

impl ErrorBudget {
    /// A budget for the bonds of `ndim` modes of a tensor with the energy `norm`².
    pub(crate) fn new(budget: f64, norm: f64, ndim: usize, caps: Caps) -> ErrorBudget {
        let floor = noise(norm).powi(2);
        let n_bonds = ndim.saturating_sub(1);
        ErrorBudget {
            // Every bond may leave out the floor, even if the budget is exhausted.
            budget: (budget - floor * real(n_bonds)).max(0.5 * budget),
            floor,
            spent: 0.0,
            caps,
            bonds: vec![None; n_bonds],
            was_capped: false,
        }
    }

    /// The energy that the next bond may leave out: an equal share of the remainder.
    pub(crate) fn share(&self) -> f64 {
        let left = if self.was_capped {
            // A cap exceeded the budget; the other bonds keep to the classical share.
            self.budget / real(self.bonds.len().max(1))
        } else {
            (self.budget - self.spent) / real(self.n_open().max(1))
        };
        left.max(self.floor)
    }

    /// The bonds without an entry.
    pub(crate) fn n_open(&self) -> usize {
        self.bonds.iter().filter(|bond| bond.is_none()).count()
    }

    /// The largest rank allowed at a bond, counted from 1.
    pub(crate) fn cap(&self, bond: usize) -> usize {
        self.caps.at(bond)
    }

    /// Chooses the rank of a bond from the squares of its singular values; `slack` of the share is
    /// reserved for errors of their computation.
    pub(crate) fn choose(&self, bond: usize, squares: &[f64], slack: f64) -> Choice {
        let (needed, left_out) = linalg::cut(squares, self.share() - slack);
        let rank = needed.min(self.cap(bond));
        let left_out = if rank < needed {
            linalg::tail(squares, rank)
        } else {
            left_out
        };
        Choice {
            needed,
            rank,
            left_out,
        }
    }

    /// Enters the result at a bond, counted from 1.
    pub(crate) fn enter(&mut self, bond: usize, choice: Choice) {
        self.spent += choice.left_out;
        self.was_capped |= choice.rank < choice.needed && self.spent > self.budget;
        if let Some(place) = self.bonds.get_mut(bond.wrapping_sub(1)) {
            *place = Some(Bond {
                rank: choice.rank,
                needed: choice.needed,
                left_out: choice.left_out,
            });
        }
    }

    /// The energy left out so far.
    pub(crate) fn spent(&self) -> f64 {
        self.spent
    }

    /// All bonds; those without an entry left nothing out.
    pub(crate) fn bonds(&self) -> Vec<Bond> {
        let empty = Bond {
            rank: 1,
            needed: 1,
            left_out: 0.0,
        };
        self.bonds
            .iter()
            .map(|bond| bond.unwrap_or(empty))
            .collect()
    }
}

/// A rank and its truncation error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub(crate) needed: usize,
    pub(crate) rank: usize,
    pub(crate) left_out: f64,
}

impl Choice {
    /// Nothing is left out.
    pub(crate) fn everything(rank: usize) -> Choice {
        Choice {
            needed: rank,
            rank,
            left_out: 0.0,
        }
    }
}

/// The norm of rounding errors alone in a tensor of some norm: no rank is spent on them.
pub(crate) fn noise(norm: f64) -> f64 {
    16.0 * UNIT * norm
}

/// A bound on the rounding error of the arithmetic, relative to the norm.
///
/// Every step multiplies by a basis that is orthonormal up to some ten units in the last place,
/// more for larger ones, and so does evaluating the train. The factors are twice the largest seen
/// in ten thousand random trials.
pub(crate) fn rounding(shape: &[usize]) -> f64 {
    let per_mode: f64 = shape
        .iter()
        .map(|size| 16.0 + 2.0 * real(*size).sqrt())
        .sum();
    2.0 * UNIT * per_mode
}

/// Whether a Gram matrix of size `m` resolves singular values down to a share: its rounding, one
/// unit of the energy for each eigenvalue, stays far below it.
pub(crate) fn allows_gram(share: f64, energy: f64, m: usize) -> bool {
    share >= 64.0 * real(m) * UNIT * energy
}

/// The error of subtracting the energy inside a basis of `m` numbers a direction from the total
/// energy: each coefficient is a sum of `m` products, and the basis is orthonormal up to about as
/// many units.
pub(crate) fn pythagoras_slack(energy: f64, m: usize) -> f64 {
    (16.0 + 2.0 * real(m)) * UNIT * energy
}

/// An upper bound on the energy outside a basis with the energy `inside` in it.
pub(crate) fn outside(energy: f64, inside: f64, m: usize) -> f64 {
    if inside.is_finite() {
        (energy - inside).max(0.0) + pythagoras_slack(energy, m)
    } else {
        f64::INFINITY
    }
}
