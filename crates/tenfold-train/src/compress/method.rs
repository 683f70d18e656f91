//! Choice of the compression method, and verification of its result.

use super::error_budget::{ErrorBudget, rounding};
use super::one_pass::{part, stream};
use super::options::{Caps, Method, Options};
use super::progress::Watch;
use super::report::Bond;
use super::shape::Shape;
use super::size_bound::SizeLowerBound;
use super::two_sided::unfolding::{Held, total_energy};
use super::two_sided::{Started, Sweep, SweepStrategy};
use crate::error::Result;
use crate::scalar::{Scalar, is_in_range};
use crate::source::{Access, Loaded, Source};
use crate::train::{Core, Merged, cut_from_left};

/// A compression request: the tensor and the options.
pub(crate) struct Problem<'a, T> {
    pub(crate) source: &'a dyn Source<T>,
    pub(crate) shape: &'a Shape,
    pub(crate) caps: Caps,
    pub(crate) options: &'a Options<'a>,
    pub(crate) watch: &'a Watch<'a>,
    /// The permitted absolute error, in units of the scaled source.
    pub(crate) absolute: Option<f64>,
}

/// Cores of the kept modes, and their proven error.
pub(crate) struct Solved<T> {
    pub(crate) cores: Vec<Core<T>>,
    pub(crate) bonds: Vec<Bond>,
    pub(crate) route: Method,
    pub(crate) norm: f64,
    /// The measured error, without rounding.
    pub(crate) error: f64,
    /// A bound on rounding.
    pub(crate) rounding: f64,
    /// The permitted error, if there is one.
    pub(crate) wanted: Option<f64>,
    /// The part of it available for truncation.
    pub(crate) allowed: f64,
}

impl<T> Solved<T> {
    /// The proven bound on the error.
    pub(crate) fn bound(&self) -> f64 {
        self.error + self.rounding
    }

    /// Whether the bound is within the tolerance.
    pub(crate) fn is_near(&self) -> bool {
        self.wanted.is_none_or(|wanted| self.bound() <= wanted)
    }

    /// The number of elements in the cores.
    fn len(&self) -> usize {
        self.cores.iter().map(|core| core.values.len()).sum()
    }

    /// Whether a cap made a rank smaller than the tolerance requires.
    pub(crate) fn is_capped(&self) -> bool {
        self.bonds.iter().any(|bond| bond.rank < bond.needed)
    }

    /// Whether another method may reach the tolerance: no single bond has to leave out too much.
    ///
    /// The error at a bond here is little more than that of any train with its rank; `apart` bounds
    /// the distance of the train before rounding from the tensor.
    fn is_worth_another_way(&self, apart: f64) -> bool {
        // If rounding alone exceeds the tolerance, it does so with every method.
        let is_far = self.error > self.allowed.max(self.rounding);
        let most = self.bonds.iter().map(|bond| bond.left_out);
        let must = most.fold(0.0, f64::max).sqrt() - apart;
        let is_hopeless = self.wanted.is_some_and(|wanted| must > 1.2 * wanted);
        is_far && !self.is_near() && !is_hopeless
    }
}

/// Tolerances below this are at rounding level: all singular values are kept.
pub(crate) const EXACT: f64 = 1e-14;

/// A pass is worthwhile where subtracting energies does not resolve the error of a basis.
const TIGHT: f64 = 1e-13;

/// Largest number of cells of a small tensor.
const SMALL: usize = 1 << 14;

impl<T: Scalar> Problem<'_, T> {
    /// Computes a train; `None` if the squares of the cells overflow or underflow.
    pub(crate) fn solve(&self) -> Result<Option<Solved<T>>> {
        let mut energy = None;
        if self.absolute.is_some() || self.options.relative.is_none() {
            if self.is_better_loaded() {
                let loaded = Loaded::read(self.source, self.watch)?;
                return self.of(&loaded).solve();
            }
            let found = total_energy(self.source, self.shape.cells, self.watch)?;
            if !is_in_range(found) {
                return Ok(None);
            }
            energy = Some(found);
        }
        let eps = self.eps(energy);
        let mut passed = None;
        if self.wants_pass(eps) {
            let eps = eps - rounding(&self.shape.kept);
            if let Some(found) = stream(self.source, &self.shape.kept, eps, self.watch)? {
                if !is_in_range(found.energy) {
                    return Ok(None);
                }
                let norm = found.energy.sqrt();
                let solved = self.rounded(found.cores, found.error, norm)?;
                let apart = found.error + solved.rounding;
                let is_final = solved.is_capped() && !self.fits();
                if is_final || !solved.is_worth_another_way(apart) {
                    return Ok(Some(solved));
                }
                passed = Some(solved);
            }
        }
        if self.is_better_loaded() {
            let loaded = Loaded::read(self.source, self.watch)?;
            return self.of(&loaded).swept(energy, passed);
        }
        self.swept(energy, passed)
    }

    /// The same with another source of the same cells.
    fn of<'b>(&'b self, source: &'b dyn Source<T>) -> Problem<'b, T> {
        Problem {
            source,
            caps: self.caps.clone(),
            ..*self
        }
    }

    /// Whether a sweep, which reads all cells several times, has to load them into memory in the
    /// scalar type first.
    fn is_better_loaded(&self) -> bool {
        self.source.all().is_none() && self.len() <= self.options.memory
    }

    /// Runs a sweep unless the result of a pass is within the tolerance; `None` if the squares of
    /// the cells overflow or underflow.
    fn swept(&self, energy: Option<f64>, passed: Option<Solved<T>>) -> Result<Option<Solved<T>>> {
        let started = match energy {
            Some(_) => None,
            None => self.start()?,
        };
        let energy = match energy.or(started.as_ref().and_then(Started::energy)) {
            Some(energy) => energy,
            None => total_energy(self.source, self.shape.cells, self.watch)?,
        };
        if !is_in_range(energy) {
            return Ok(None);
        }
        Ok(Some(tighter(passed, self.sweeps(energy, started)?)))
    }

    /// The tolerance relative to the norm; 0 if there is none, or one at rounding level.
    fn eps(&self, energy: Option<f64>) -> f64 {
        let absolute = match (self.absolute, energy) {
            (Some(error), Some(energy)) => error / energy.sqrt(),
            _ => f64::INFINITY,
        };
        let eps = self.options.relative.unwrap_or(f64::INFINITY).min(absolute);
        if eps.is_finite() && eps >= EXACT {
            eps
        } else {
            0.0
        }
    }

    /// Whether the first attempt is a verified pass.
    fn wants_pass(&self, eps: f64) -> bool {
        let is_above_rounding = eps > 2.0 * rounding(&self.shape.kept);
        if !is_above_rounding {
            return false;
        }
        match self.options.route {
            Some(route) => route == Method::VerifiedPass,
            None => (part(eps) < TIGHT && !self.is_small()) || !self.fits(),
        }
    }

    /// Whether the tensor is so small that a single rank matters for the size of its train, and a
    /// second attempt costs nothing.
    fn is_small(&self) -> bool {
        self.shape.cells <= SMALL && self.fits()
    }

    /// Whether the source is in memory, or may be loaded.
    fn fits(&self) -> bool {
        self.source.access() == Access::Memory || self.len() <= self.options.memory
    }

    /// The bytes of all cells in memory.
    fn len(&self) -> usize {
        self.shape.cells.saturating_mul(size_of::<T>())
    }

    /// The error available for truncation, after rounding is subtracted.
    fn allowance(&self, norm: f64) -> (Option<f64>, f64) {
        let relative = self.options.relative.map(|eps| eps * norm);
        let wanted = match (relative, self.absolute) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let slack = rounding(&self.shape.kept) * norm;
        let allowed = wanted
            .filter(|wanted| *wanted >= EXACT * norm)
            .map_or(0.0, |wanted| (wanted - slack).max(0.5 * wanted));
        (wanted, allowed)
    }

    /// Truncates the cores of a verified pass.
    fn rounded(&self, cores: Vec<Merged<T>>, error: f64, norm: f64) -> Result<Solved<T>> {
        let (wanted, allowed) = self.allowance(norm);
        let left = (allowed - error).max(0.0);
        let (cores, cuts) = cut_from_left(cores, &self.caps, left * left)?;
        let bonds = cuts.left_out.iter().zip(&cuts.needed).zip(&cores);
        let bonds = bonds.map(|((left_out, needed), core)| Bond {
            rank: core.right,
            needed: *needed,
            left_out: *left_out,
        });
        Ok(Solved {
            bonds: bonds.collect(),
            cores,
            route: Method::VerifiedPass,
            norm,
            error: error + cuts.energy().sqrt(),
            rounding: rounding(&self.shape.kept) * norm,
            wanted,
            allowed,
        })
    }

    /// Sweeps from both sides; once more, by the most accurate strategy, if the first misses the
    /// tolerance.
    fn sweeps(&self, energy: f64, started: Option<Started<T>>) -> Result<Solved<T>> {
        let (ways, route) = match self.options.route {
            Some(Method::TwoSided) => (SweepStrategy::Whole, Method::TwoSided),
            _ => (SweepStrategy::Sampled, Method::Sampled),
        };
        let sweep = Sweep {
            started,
            ..self.sweep(energy, ways)
        };
        let mut solved = self.run(sweep, route)?;
        if self.is_small() && self.options.route.is_none() {
            let classical = self.sweep(energy, SweepStrategy::FromLeft);
            let classical = self.run(classical, Method::TwoSided)?;
            if classical.is_near() && (classical.len() < solved.len() || !solved.is_near()) {
                solved = classical;
            }
        }
        if !solved.is_worth_another_way(solved.rounding) {
            return Ok(solved);
        }
        let safest = self.sweep(energy, SweepStrategy::Orthogonal);
        let safest = self.run(safest, Method::TwoSided)?;
        Ok(tighter(Some(solved), safest))
    }

    /// Begins a sweep of a source in memory with its first read, which also yields its energy; no
    /// separate sum of squares is needed.
    fn start(&self) -> Result<Option<Started<T>>> {
        let is_sampled = matches!(self.options.route, None | Some(Method::Sampled));
        if !is_sampled || self.source.access() != Access::Memory {
            return Ok(None);
        }
        self.sweep(1.0, SweepStrategy::Sampled).start()
    }

    /// A sweep through a source of known energy.
    fn sweep(&self, energy: f64, ways: SweepStrategy) -> Sweep<'_, T> {
        let norm = energy.sqrt();
        let (_, allowed) = self.allowance(norm);
        let ndim = self.shape.kept.len();
        Sweep {
            held: Held::Source(self.source),
            shape: self.shape.kept.clone(),
            outer: 1,
            energy,
            ledger: ErrorBudget::new(allowed * allowed, norm, ndim, self.caps.clone()),
            ways,
            is_forward: self.source.access() != Access::Memory,
            watch: self.watch,
            demand: self.demand(norm),
            started: None,
        }
    }

    /// The lower bound on the size of any train, if one was requested and no cap interferes.
    fn demand(&self, norm: f64) -> Option<SizeLowerBound> {
        let below = self.options.below.filter(|_| self.caps == Caps::None)?;
        let (wanted, _) = self.allowance(norm);
        let most = wanted? + rounding(&self.shape.kept) * norm;
        Some(SizeLowerBound {
            below,
            width: size_of::<T>(),
            budget: most * most,
        })
    }

    fn run(&self, sweep: Sweep<T>, route: Method) -> Result<Solved<T>> {
        let norm = sweep.energy.sqrt();
        let (wanted, allowed) = self.allowance(norm);
        let (cores, ledger) = sweep.run()?;
        Ok(Solved {
            cores,
            bonds: ledger.bonds(),
            route,
            norm,
            error: ledger.spent().sqrt(),
            rounding: rounding(&self.shape.kept) * norm,
            wanted,
            allowed,
        })
    }
}

/// The train with the smaller bound.
fn tighter<T>(one: Option<Solved<T>>, other: Solved<T>) -> Solved<T> {
    match one {
        Some(one) if one.bound() <= other.bound() => one,
        _ => other,
    }
}
