//! Compression of a tensor to a train, with a proven error.
//!
//! # The error budget
//!
//! Let X be the remainder of the tensor as a matrix. A step chooses orthonormal columns V, keeps
//! V^H as a core and goes on with X·V. The part it leaves out, X − X·V·V^H, is orthogonal to
//! everything whose rows lie in the span of V, and all later errors do. So the square of the error
//! of the whole train is the sum of the squares of the errors of its steps, whatever V is: it need
//! not come from a singular value decomposition, nor be right in any other sense. Each error is
//! measured and entered; the next bond may spend an equal share of the remainder. Decompositions
//! only decide how small the ranks are.
//!
//! Three errors do not fit this account, and are added as norms, not as squares: the rounding of a
//! train whose cores were made from merged modes, rows that were projected before their basis was
//! extended, and rows whose coefficients were computed from a part of them (`key_columns.rs`). A
//! bound on rounding in the arithmetic is added to every result.
//!
//! # The methods
//!
//! * **Verified pass**, for tight tolerances and for sources larger than memory: the tensor is read
//!   once, in order. See `one_pass/project.rs`.
//! * **Sampled**, for loose tolerances: bases are guessed from a sample and verified by the energy
//!   they keep; those that keep more than necessary are truncated further. See `two_sided/mod.rs`.
//!   A source that is not in memory in the scalar type is loaded first, if it fits.
//! * **Two-sided**, the most accurate: Gram matrices where the tolerance lies far above their
//!   rounding, otherwise the singular values of the triangle of a QR decomposition; no
//!   decomposition at all where no singular value can be left out.

mod error_budget;
mod method;
mod one_pass;
mod options;
mod progress;
mod report;
mod shape;
mod size_bound;
mod two_sided;

use std::time::Instant;

pub(crate) use error_budget::noise;
use method::{EXACT, Problem, Solved};
pub use options::{Caps, Method, Options, Progress, Watcher};
pub(crate) use progress::Watch;
use rayon::prelude::*;
pub use report::{Bond, Compressed, Report};
use shape::Shape;
use tenfold::{Limits, Tensor};

use crate::error::{Error, RankLimit, Result};
use crate::num::real;
use crate::scalar::{Complex64, Power, Scalar, energy, largest, norm};
use crate::source::{Access, AnySource, Scaled, Source};
use crate::train::{AnyTrain, Core};

/// Compresses a tensor to a train that is provably as near as `options` ask for.
///
/// # Errors
/// [`Error::NotFinite`] for a tensor with NaN or infinities, [`Error::RankLimit`] if the ranks do
/// not allow the tolerance, [`Error::Stopped`] if the watcher stops it, [`Error::Invalid`] for
/// invalid shapes and options, [`Error::NotSmaller`] where a size was demanded, and what
/// reading gives.
pub fn compress<T: Scalar>(source: &dyn Source<T>, options: &Options) -> Result<Compressed<T>> {
    let Some(threads) = options.threads else {
        // As a single task, so that no thread goes to sleep between its parts.
        return rayon::scope(|_| compress_here(source, options));
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::invalid(format!("no threads: {error}")))?;
    pool.install(|| compress_here(source, options))
}

/// Compresses a tensor of a file, in whatever number type and order it is.
///
/// # Errors
/// As [`compress`] and [`AnySource::new`].
pub fn compress_tensor(
    tensor: &Tensor,
    options: &Options,
    limits: &Limits,
) -> Result<(AnyTrain, Report)> {
    compress_any(&AnySource::new(tensor, limits)?, options)
}

/// Compresses a source of either kind of number.
///
/// # Errors
/// As [`compress`].
pub fn compress_any(source: &AnySource, options: &Options) -> Result<(AnyTrain, Report)> {
    match source {
        AnySource::Real(source) => {
            let found: Compressed<f64> = compress(source, options)?;
            Ok((AnyTrain::Real(found.train), found.report))
        }
        AnySource::Complex(source) => {
            let found: Compressed<Complex64> = compress(source, options)?;
            Ok((AnyTrain::Complex(found.train), found.report))
        }
    }
}

/// Working memory that is always needed, whatever the limit.
const LEAST: usize = 64 << 20;

fn compress_here<T: Scalar>(source: &dyn Source<T>, options: &Options) -> Result<Compressed<T>> {
    let start = Instant::now();
    for tolerance in [options.relative, options.absolute].into_iter().flatten() {
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(Error::invalid(format!("{tolerance} is no tolerance")));
        }
    }
    let shape = Shape::new(source.shape(), source.is_reversed())?;
    let caps = shape.caps(&options.caps)?;
    let is_large = bytes::<T>(shape.cells) > u64::try_from(options.memory).unwrap_or(u64::MAX);
    let is_away = source.access() != Access::Memory;
    let memory = (is_large && is_away).then(|| options.memory.max(LEAST));
    let watch = Watch::new(options.watcher, shape.cells, memory);
    let problem = Problem {
        source,
        shape: &shape,
        caps,
        options,
        watch: &watch,
        absolute: options.absolute,
    };
    let solved = if shape.kept.len() < 2 {
        vector(&problem)?
    } else {
        match problem.solve()? {
            Some(solved) => solved,
            None => compress_rescaled(&problem)?,
        }
    };
    if !solved.bound().is_finite() {
        return Err(Error::Numeric("factorisation of what was read"));
    }
    let mut report = Report {
        route: solved.route,
        norm: solved.norm,
        error: solved.bound(),
        rounding: solved.rounding,
        bonds: Vec::new(),
        read: watch.read(),
        dense_len: bytes::<T>(shape.cells),
        train_len: 0,
        seconds: 0.0,
        notes: notes(&solved, options),
    };
    let kept_bonds = solved.bonds.clone();
    let (is_near, is_capped, wanted) = (solved.is_near(), solved.is_capped(), solved.wanted);
    let train = shape.restore(solved.cores)?;
    let is_sound = |core: &Core<T>| {
        let values = core.values();
        energy(values).is_finite() || largest(values).is_finite()
    };
    if !train.cores().par_iter().all(is_sound) {
        return Err(Error::Numeric("factorisation of what was read"));
    }
    report.bonds = shape.restore_bonds(&kept_bonds, &train.ranks());
    report.train_len = bytes::<T>(train.len());
    report.seconds = start.elapsed().as_secs_f64();
    if is_capped && !is_near && !options.is_best_effort {
        return Err(refusal(report, wanted));
    }
    Ok(Compressed { train, report })
}

fn bytes<T>(count: usize) -> u64 {
    u64::try_from(count.saturating_mul(size_of::<T>())).unwrap_or(u64::MAX)
}

fn notes<T: Scalar>(solved: &Solved<T>, options: &Options) -> Vec<String> {
    let mut notes = Vec::new();
    let eps = options.relative.unwrap_or(0.0);
    if eps > 0.0 && eps < EXACT {
        notes.push(format!(
            "a tolerance of {eps:e} is below rounding: it was taken as 0"
        ));
    } else if !solved.is_near() && solved.is_capped() {
        notes.push("the ranks allowed are too small for the tolerance".into());
    } else if !solved.is_near() && eps > 0.0 {
        notes.push("the tolerance is below what rounding allows to prove".into());
    }
    notes
}

/// The error for a tolerance that the caps do not allow.
fn refusal(report: Report, wanted: Option<f64>) -> Error {
    let capped = report.bonds.iter().enumerate();
    let mut capped = capped.filter(|(_, bond)| bond.rank < bond.needed);
    let worst = capped.next().map_or((0, 1, 1), |(place, bond)| {
        (place + 1, bond.needed, bond.rank)
    });
    let (bond, needed, allowed) = worst;
    Error::RankLimit(Box::new(RankLimit {
        bond,
        needed,
        allowed,
        wanted: wanted.unwrap_or(0.0) / report.norm,
        reached: report.relative_error(),
        report,
    }))
}

/// A tensor with at most one mode of size above 1 is its own core.
fn vector<T: Scalar>(problem: &Problem<T>) -> Result<Solved<T>> {
    let mut room = Vec::new();
    let cells = problem.source.cells(0..problem.shape.cells, &mut room)?;
    problem.watch.advance(cells.len())?;
    let values = cells.to_vec();
    check_finite(problem, &values, 0)?;
    let mut solved = Solved {
        cores: Vec::new(),
        bonds: Vec::new(),
        route: Method::Trivial,
        norm: norm(&values),
        error: 0.0,
        rounding: 0.0,
        wanted: None,
        allowed: 0.0,
    };
    match problem.shape.kept.first() {
        Some(size) => solved.cores.push(Core {
            left: 1,
            size: *size,
            right: 1,
            values: values.into(),
        }),
        // One cell: some mode of size 1 has to carry it.
        None => solved.cores.push(Core {
            left: 1,
            size: 1,
            right: 1,
            values: values.into(),
        }),
    }
    Ok(solved)
}

/// Fails at the first cell that is not finite.
fn check_finite<T: Scalar>(problem: &Problem<T>, cells: &[T], start: usize) -> Result<()> {
    let Some(found) = cells.iter().position(|cell| !largest(&[*cell]).is_finite()) else {
        return Ok(());
    };
    let value = cells.get(found).map(ToString::to_string);
    Err(Error::NotFinite {
        index: problem.shape.index_of(start + found),
        value: value.unwrap_or_default(),
    })
}

/// Rescales a tensor whose squares overflow or underflow: it has non-finite cells, or is all zeros,
/// or is scaled to near 1 by a power of two, which is exact.
fn compress_rescaled<T: Scalar>(problem: &Problem<T>) -> Result<Solved<T>> {
    const RUN: usize = 1 << 18;
    let mut most = 0.0_f64;
    let mut room = Vec::new();
    for start in (0..problem.shape.cells).step_by(RUN) {
        let range = start..(start + RUN).min(problem.shape.cells);
        problem.watch.advance(range.len())?;
        let cells = problem.source.cells(range, &mut room)?;
        let size = largest(cells);
        if !size.is_finite() {
            check_finite(problem, cells, start)?;
        }
        most = most.max(size);
    }
    if most == 0.0 {
        return Ok(zeros(problem));
    }
    let power = Power::towards_one(most);
    let scaled = Problem {
        source: &Scaled {
            source: problem.source,
            power,
        },
        caps: problem.caps.clone(),
        absolute: problem.absolute.map(|error| power.apply(error)),
        ..*problem
    };
    let Some(mut solved) = scaled.solve()? else {
        return Err(Error::invalid("the cells are too large to be added up"));
    };
    let back = power.inverse();
    // Distributed over all cores: a single one near the limits of doubles would lose digits.
    let shares = back.shares(solved.cores.len());
    for (core, share) in solved.cores.iter_mut().zip(shares) {
        share.apply_all(&mut core.values);
    }
    solved.norm = back.apply(solved.norm);
    if !solved.norm.is_finite() {
        return Err(Error::invalid("the norm of the tensor is no double"));
    }
    // Cells below the smallest normal double have fewer digits, in the train as in the tensor.
    let blur = f64::from_bits(1) * real(problem.shape.cells).sqrt();
    solved.error = back.apply(solved.error);
    solved.rounding = back.apply(solved.rounding) + blur;
    solved.wanted = solved.wanted.map(|wanted| back.apply(wanted));
    for bond in &mut solved.bonds {
        bond.left_out = back.apply(back.apply(bond.left_out));
    }
    Ok(solved)
}

/// A first core of zeros, and others that are nonzero.
fn zeros<T: Scalar>(problem: &Problem<T>) -> Solved<T> {
    let kept = problem.shape.kept.iter().enumerate();
    let cores = kept.map(|(mode, size)| {
        let mut values = vec![T::default(); *size];
        if let Some(first) = values.first_mut().filter(|_| mode > 0) {
            *first = T::of_real(1.0);
        }
        Core {
            left: 1,
            size: *size,
            right: 1,
            values: values.into(),
        }
    });
    let cores: Vec<Core<T>> = cores.collect();
    let bond = Bond {
        rank: 1,
        needed: 1,
        left_out: 0.0,
    };
    Solved {
        bonds: vec![bond; cores.len() - 1],
        cores,
        route: Method::Trivial,
        norm: 0.0,
        error: 0.0,
        rounding: 0.0,
        wanted: None,
        allowed: 0.0,
    }
}
