//! The two-sided sweep: splits modes off either end until one is left.
//!
//! Each step sees the remainder as a tall matrix X (with the mode to split off as its columns, see
//! [`Unfolding`]), finds an orthonormal basis V and goes on with X·V. The part it leaves out is
//! orthogonal to all errors of later steps, so the squares add up in the [`ErrorBudget`], whatever
//! V is. The strategies for a basis, cheapest first:
//!
//! 1. *Sampled*: a guess from some rows; X·V is computed, and the energy that it misses decides
//!    whether the guess is good. At first a guess has as few directions as its sample needs, and is
//!    kept if it misses about a share: the remaining bonds compensate for the difference. Otherwise it
//!    has more, and the optimal truncation is computed inside it, where it is cheap.
//! 2. *Full rank*: equations with a square part of a wide X, or a Cholesky decomposition of the
//!    shifted Gram matrix, show that no singular value is small enough to be left out. The core is an
//!    identity and nothing is computed.
//! 3. *Gram*: eigenvectors of X^H·X, where the share of the budget lies far above its rounding.
//! 4. *Triangle*: the singular value decomposition of the triangle of a QR decomposition.

pub(super) mod range_finder;
pub(super) mod unfolding;
pub(super) mod weighted_rows;

use faer::Mat;

use super::error_budget::{Choice, ErrorBudget, allows_gram, outside, pythagoras_slack};
use super::progress::Watch;
use super::size_bound::SizeLowerBound;
use crate::error::{Error, Result};
use crate::huge_vec::Room;
use crate::linalg;
use crate::num::{UNIT, real};
use crate::scalar::Scalar;
use crate::train::Core;
use unfolding::{Held, Projected, Side, Unfolding};

/// A mode smaller than this is postponed, if the other end is no larger than that.
const FEW: usize = 16;
const WIDE: usize = 1024;

/// Truncation of a sampled basis, as a fraction of this bond's error budget: of one used as is (a
/// sample underestimates the loss), and of one truncated again later.
const NEAR: f64 = 0.85;
const GUESS: f64 = 0.05;

/// Permitted loss of a guess on all rows, as fractions of the share: below the first it is
/// truncated further, below the second it is kept if other bonds can compensate, and above the
/// third the sample says nothing about the other rows.
const GOOD: f64 = 0.5;
const MUCH: f64 = 1.2;
const FAR: f64 = 4.0;

/// Permitted disagreement of the energy in a basis with its singular values, as a fraction of the
/// total: far more than rounding, far less than the effect of a wrong direction.
const SOUND: f64 = 1e-10;

/// The permitted strategies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SweepStrategy {
    /// All of them.
    Sampled,
    /// No sampling.
    Whole,
    /// Orthogonal factorizations alone.
    Orthogonal,
    /// Orthogonal factorizations from left to right: the classical algorithm.
    FromLeft,
}

/// A sweep that has split off some modes on either side.
pub(crate) struct Sweep<'a, T> {
    pub(crate) held: Held<'a, T>,
    /// The sizes of the modes, the first and last of which may include a bond of earlier steps.
    pub(crate) shape: Vec<usize>,
    /// The bond to the right of the last mode.
    pub(crate) outer: usize,
    /// The energy of the remainder.
    pub(crate) energy: f64,
    pub(crate) ledger: ErrorBudget,
    pub(crate) ways: SweepStrategy,
    /// Only the last mode may be split off while the source itself is the remainder: it is read in
    /// order.
    pub(crate) is_forward: bool,
    pub(crate) watch: &'a Watch<'a>,
    /// The lower bound on the size of any train.
    pub(crate) demand: Option<SizeLowerBound>,
    /// The first step, if it has begun.
    pub(crate) started: Option<Started<T>>,
}

/// The first step of a sweep, begun before the energy of the tensor is known.
pub(crate) struct Started<T> {
    side: Side,
    /// `None` if no guess is useful.
    begun: Option<Begun<T>>,
}

/// A guess and its product.
struct Begun<T> {
    guess: Mat<T>,
    projected: Projected<T>,
    /// The total energy, measured along the way.
    energy: f64,
}

impl<T> Started<T> {
    /// The energy of the tensor, if it was measured.
    pub(crate) fn energy(&self) -> Option<f64> {
        self.begun.as_ref().map(|begun| begun.energy)
    }
}

/// A basis, the matrix projected onto it, and the residual.
struct Found<T> {
    basis: Mat<T>,
    values: Room<T>,
    energy: f64,
    choice: Choice,
}

impl<T: Scalar> Sweep<'_, T> {
    /// Splits off all modes; returns the cores, from the first to the last, and the budget.
    pub(crate) fn run(mut self) -> Result<(Vec<Core<T>>, ErrorBudget)> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut open = 0..self.shape.len();
        let (mut before, mut after) = (1, self.outer);
        let mut cells: usize = self.shape.iter().product::<usize>() * self.outer;
        let mut started = self.started.take();
        while open.len() > 1 {
            let first = before * self.size(open.start);
            let last = after * self.size(open.end - 1);
            let mut side = self.side(first, last, cells)?;
            let at = |side| match side {
                Side::Left => (first, open.start + 1),
                Side::Right => (last, open.end - 1),
            };
            let (mut width, mut bond) = at(side);
            let (other, other_bond) = at(side.other());
            let mut found = None;
            if width < FEW && self.may_start_at(side.other(), other) {
                let unfolding = self.unfolding(side.other(), other, cells);
                found = self.sampled(&unfolding, other_bond, started.take())?;
            }
            if found.is_some() {
                (side, width, bond) = (side.other(), other, other_bond);
            } else {
                let unfolding = self.unfolding(side, width, cells);
                found = self.step(&unfolding, bond, started.take())?;
            }
            let rank = found.as_ref().map_or(width, |found| found.basis.ncols());
            match side {
                Side::Left => {
                    let size = self.size(open.start);
                    left.push(left_core(before, size, rank, found.as_ref()));
                    (open.start, before) = (open.start + 1, rank);
                }
                Side::Right => {
                    let size = self.size(open.end - 1);
                    right.push(right_core(rank, size, after, found.as_ref()));
                    (open.end, after) = (open.end - 1, rank);
                }
            }
            cells = cells / width * rank;
            let choice = found
                .as_ref()
                .map_or(Choice::everything(width), |found| found.choice);
            self.ledger.enter(bond, choice);
            if let Some(found) = found {
                self.held = Held::Own(found.values);
                self.energy = found.energy;
            }
        }
        let size = self.size(open.start);
        let values = match self.held {
            Held::Own(values) => values.into_vec()?,
            Held::Source(source) => {
                self.watch.hold::<T>(cells)?;
                tenfold::memory::copied(source.cells(0..cells, &mut Vec::new())?)?
            }
        };
        left.push(Core {
            left: before,
            size,
            right: after,
            values: values.into(),
        });
        left.extend(right.into_iter().rev());
        Ok((left, self.ledger))
    }

    fn size(&self, mode: usize) -> usize {
        self.shape.get(mode).copied().unwrap_or(1)
    }

    /// The side with the cheaper step.
    fn side(&mut self, first: usize, last: usize, cells: usize) -> Result<Side> {
        if self.is_forward
            && let Held::Source(source) = &self.held
        {
            if last <= cells / last {
                return Ok(Side::Right);
            }
            self.watch.hold::<T>(cells)?;
            let all = tenfold::memory::copied(source.cells(0..cells, &mut Vec::new())?)?;
            self.held = Held::Own(Room::Few(all));
        }
        Ok(if last <= first && self.ways != SweepStrategy::FromLeft {
            Side::Right
        } else {
            Side::Left
        })
    }

    /// Whether to try sampling on a side: the mode there has to be large enough for a sample, and
    /// rounding has to be far below the share.
    fn may_guess(&self, width: usize) -> bool {
        self.ways == SweepStrategy::Sampled
            && width >= 32
            && allows_gram(self.ledger.share(), self.energy, width)
    }

    /// Whether to try the wider side first: a narrow one leaves nearly all of the work.
    fn may_start_at(&self, side: Side, width: usize) -> bool {
        let is_read_in_order = self.is_forward && matches!(self.held, Held::Source(_));
        width <= WIDE && self.may_guess(width) && (side == Side::Right || !is_read_in_order)
    }

    fn unfolding(&self, side: Side, width: usize, cells: usize) -> Unfolding<'_, T> {
        Unfolding {
            held: &self.held,
            side,
            width,
            height: cells / width,
            watch: self.watch,
        }
    }

    /// Begins the first step of a sweep through a tensor in memory, whose energy is not known yet
    /// and counts as 1; `None` if it does not begin with a guess, or the energy could not be
    /// measured along the way.
    pub(crate) fn start(&self) -> Result<Option<Started<T>>> {
        let [Some(first), Some(last)] = [self.shape.first(), self.shape.last()] else {
            return Ok(None);
        };
        let (first, last) = (*first, *last * self.outer);
        let is_left = first < last || (last < FEW && self.may_start_at(Side::Left, first));
        if !is_left || self.is_forward || !self.may_guess(first) {
            return Ok(None);
        }
        let cells: usize = self.shape.iter().product::<usize>() * self.outer;
        let unfolding = self.unfolding(Side::Left, first, cells);
        let [part, ..] = self.parts() else {
            return Ok(None);
        };
        let side = Side::Left;
        let Some(guess) = range_finder::guess(&unfolding, part * self.ledger.share())? else {
            return Ok(Some(Started { side, begun: None }));
        };
        let measured = unfolding.project_measured(guess.as_ref())?;
        Ok(measured.map(|(projected, energy)| Started {
            side,
            begun: Some(Begun {
                guess,
                projected,
                energy,
            }),
        }))
    }

    /// One step; `None` if nothing can be left out.
    fn step(
        &self,
        unfolding: &Unfolding<T>,
        bond: usize,
        started: Option<Started<T>>,
    ) -> Result<Option<Found<T>>> {
        let width = unfolding.width;
        let allows_gram = allows_gram(self.ledger.share(), self.energy, width);
        if self.may_guess(width)
            && let Some(found) = self.sampled(unfolding, bond, started)?
        {
            return Ok(Some(found));
        }
        let may_keep_all = width <= self.ledger.cap(bond);
        let is_orthogonal = matches!(
            self.ways,
            SweepStrategy::Orthogonal | SweepStrategy::FromLeft
        );
        if may_keep_all && !is_orthogonal {
            let is_regular = unfolding.is_regular(self.energy, self.ledger.share())?;
            if is_regular {
                return Ok(None);
            }
        }
        if (may_keep_all || allows_gram) && !is_orthogonal {
            let gram = unfolding.gram()?;
            let norm = linalg::hermitian_norm(gram.as_ref());
            if let Some(demand) = &self.demand {
                demand.check(self.energy, norm, [self.size(bond - 1), self.size(bond)])?;
            }
            let floor = self.ledger.share() + real(width) * UNIT * norm;
            if may_keep_all && linalg::all_eigenvalues_exceed(gram.as_ref(), floor) {
                return Ok(None);
            }
            if allows_gram {
                let (squares, vectors) = linalg::eigen(gram.as_ref())?;
                return self.cut(unfolding, bond, &squares, vectors, 0.0).map(Some);
            }
        }
        let triangle = unfolding.triangle()?;
        let found = linalg::svd(triangle.as_ref())?;
        let choice = self.ledger.choose(bond, &found.squares, 0.0);
        let basis = found.v.as_ref().subcols(0, choice.rank).to_owned();
        let projected = unfolding.project(basis.as_ref())?;
        // The singular values must agree with the energy.
        let promised: f64 = found.squares.iter().take(choice.rank).sum();
        let is_kept = (projected.energy - promised).abs() <= SOUND * self.energy;
        if !is_kept {
            return Err(Error::Numeric("singular value decomposition"));
        }
        Ok(Some(Found {
            basis,
            values: projected.values,
            energy: projected.energy,
            choice,
        }))
    }

    /// Truncates by eigenvalues of a Gram matrix, and measures the error.
    fn cut(
        &self,
        unfolding: &Unfolding<T>,
        bond: usize,
        squares: &[f64],
        vectors: Mat<T>,
        lost: f64,
    ) -> Result<Found<T>> {
        let width = unfolding.width;
        let slack = lost
            + pythagoras_slack(self.energy, width)
            + 2.0 * real(squares.len()) * UNIT * self.energy;
        let mut choice = self.ledger.choose(bond, squares, slack);
        let basis = vectors.as_ref().subcols(0, choice.rank).to_owned();
        let projected = unfolding.project(basis.as_ref())?;
        choice.left_out = outside(self.energy, projected.energy, width);
        Ok(Found {
            basis,
            values: projected.values,
            energy: projected.energy,
            choice,
        })
    }

    /// The fractions of the share that guesses aim at, one after the other. The last bond has no
    /// later bond to compensate.
    fn parts(&self) -> &'static [f64] {
        if self.ledger.n_open() > 1 {
            &[NEAR, GUESS]
        } else {
            &[GUESS]
        }
    }

    /// A basis from a sample, if it proves to be good.
    fn sampled(
        &self,
        unfolding: &Unfolding<T>,
        bond: usize,
        started: Option<Started<T>>,
    ) -> Result<Option<Found<T>>> {
        let share = self.ledger.share();
        let mut started = started.filter(|it| it.side == unfolding.side);
        for part in self.parts() {
            let (guess, projected) = match started.take() {
                Some(Started {
                    begun: Some(begun), ..
                }) => (begun.guess, begun.projected),
                Some(Started { begun: None, .. }) => return Ok(None),
                None => {
                    let Some(guess) = range_finder::guess(unfolding, part * share / self.energy)?
                    else {
                        return Ok(None);
                    };
                    let projected = unfolding.project(guess.as_ref())?;
                    (guess, projected)
                }
            };
            let (rank, width) = (guess.ncols(), unfolding.width);
            let lost = outside(self.energy, projected.energy, width);
            if lost <= GOOD * share {
                return self
                    .cut_inside(unfolding, bond, guess, projected, lost)
                    .map(Some);
            }
            let is_near = *part == NEAR && lost <= MUCH * share;
            if is_near && rank <= self.ledger.cap(bond) {
                return Ok(Some(Found {
                    basis: guess,
                    values: projected.values,
                    energy: projected.energy,
                    choice: Choice {
                        needed: rank,
                        rank,
                        left_out: lost,
                    },
                }));
            }
            // NaN counts as far.
            let is_worth_more = lost <= FAR * share;
            if !is_worth_more {
                break;
            }
        }
        Ok(None)
    }

    /// The best basis within a guess that leaves out `lost`.
    fn cut_inside(
        &self,
        unfolding: &Unfolding<T>,
        bond: usize,
        guess: Mat<T>,
        projected: Projected<T>,
        lost: f64,
    ) -> Result<Found<T>> {
        let held = Held::Own(projected.values);
        let reduced = Unfolding {
            held: &held,
            width: guess.ncols(),
            ..*unfolding
        };
        let (squares, vectors) = linalg::eigen(reduced.gram()?.as_ref())?;
        let mut found = self.cut(&reduced, bond, &squares, vectors, lost)?;
        found.choice.left_out += pythagoras_slack(self.energy, unfolding.width);
        let mut basis = Mat::zeros(guess.nrows(), found.basis.ncols());
        linalg::multiply(basis.as_mut(), guess.as_ref(), found.basis.as_ref());
        found.basis = basis;
        Ok(found)
    }
}

fn left_core<T: Scalar>(
    left: usize,
    size: usize,
    rank: usize,
    found: Option<&Found<T>>,
) -> Core<T> {
    let Some(found) = found else {
        return Core::identity(left, size, rank);
    };
    // The step used the transpose, so its basis is the conjugate of the core.
    let mut values = linalg::row_major(found.basis.as_ref());
    values
        .iter_mut()
        .for_each(|value| *value = value.conjugate());
    Core {
        left,
        size,
        right: rank,
        values: values.into(),
    }
}

fn right_core<T: Scalar>(
    rank: usize,
    size: usize,
    right: usize,
    found: Option<&Found<T>>,
) -> Core<T> {
    let Some(found) = found else {
        return Core::identity(rank, size, right);
    };
    Core {
        left: rank,
        size,
        right,
        values: linalg::adjoint_row_major(found.basis.as_ref()).into(),
    }
}
