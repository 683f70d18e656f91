//! The verified pass, applied repeatedly: cores from a source that is read once.

pub(super) mod basis;
pub(super) mod initial_basis;
pub(super) mod key_columns;
pub(super) mod project;

use super::error_budget::ErrorBudget;
use super::options::Caps;
use super::progress::Watch;
use super::two_sided::unfolding::{Held, Side, Unfolding};
use super::two_sided::{Sweep, SweepStrategy};
use crate::error::Result;
use crate::scalar::{Scalar, energy, is_in_range};
use crate::source::{Access, Source};
use crate::train::{Merged, centered};
use initial_basis::opening;
use project::verified_pass;

/// Cores before truncation, and their distance from the source.
pub(crate) struct Streamed<T> {
    /// The rows of all but the first are orthonormal. Those from a pass are of several modes each.
    pub(crate) cores: Vec<Merged<T>>,
    /// An upper bound on the norm of the difference. The residual of a pass need not be orthogonal
    /// to later errors (its basis may have been extended, its coefficients not optimal), so norms
    /// are added, not squares.
    pub(crate) error: f64,
    /// The energy of the source; not finite if a cell or its square is not.
    pub(crate) energy: f64,
}

/// Fewest and preferred number of columns of a matrix: reading a row of them outweighs the work on
/// its coefficients.
const WIDTH: usize = 512;
const GOOD_WIDTH: usize = 2048;
/// Size of a remainder that is decomposed directly.
const SMALL: usize = 1 << 13;
/// The square of the part of the tolerance that one pass may use: there are up to four or so, and a
/// tenth of the tolerance is reserved for them all.
const PART: f64 = 0.01 / 4.0;

/// The part of the energy that one pass may leave out at a tolerance.
pub(crate) fn part(eps: f64) -> f64 {
    PART * eps * eps
}

/// Reads a source once into cores, leaving out about a tenth of what `eps` permits; `None` if its
/// ranks are too large for that.
pub(crate) fn stream<T: Scalar>(
    source: &dyn Source<T>,
    shape: &[usize],
    eps: f64,
    watch: &Watch,
) -> Result<Option<Streamed<T>>> {
    let part = part(eps);
    let mut held = Held::Source(source);
    let mut open = shape.to_vec();
    let (mut after, mut error, mut total) = (1, 0.0, None);
    let mut tails: Vec<Merged<T>> = Vec::new();
    while open.len() > 1 {
        let cells = open.iter().product::<usize>() * after;
        let Some((kept, width)) = grouping(&open, after, cells) else {
            break;
        };
        let unfolding = Unfolding {
            held: &held,
            side: Side::Right,
            width,
            height: cells / width,
            watch,
        };
        let reach = match (&held, source.access()) {
            (Held::Source(_), Access::Forward) => (1 << 21) / width,
            _ => usize::MAX,
        };
        let Some(start) = opening(&unfolding, part, reach)? else {
            break;
        };
        let Some(pass) = verified_pass(&unfolding, start.basis, start.estimate, part)? else {
            break;
        };
        let energy = *total.get_or_insert(pass.energy);
        // Overflow, underflow or all zeros: the caller handles it.
        if !is_in_range(energy) {
            return Ok(Some(Streamed {
                cores: Vec::new(),
                error: 0.0,
                energy,
            }));
        }
        error += pass.residual.sqrt();
        let sizes = open.split_off(kept);
        tails.push(Merged {
            left: pass.basis.rank,
            sizes,
            right: after,
            values: pass.basis.rows,
        });
        after = pass.basis.rank;
        held = Held::Own(pass.coefficients);
    }
    let (Some(total), Held::Own(values)) = (total, held) else {
        return Ok(None);
    };
    let left = energy(&values);
    let sweep = Sweep {
        held: Held::Own(values),
        shape: open.clone(),
        outer: after,
        energy: left,
        ledger: ErrorBudget::new(part * total, total.sqrt(), open.len(), Caps::None),
        ways: SweepStrategy::Orthogonal,
        is_forward: false,
        watch,
        demand: None,
        started: None,
    };
    let (cores, ledger) = sweep.run()?;
    error += ledger.spent().sqrt();
    let (mut cores, back) = centered(&cores, 0);
    if let Some(first) = cores.first_mut() {
        back.apply_all(&mut first.values);
    }
    let cores = cores.into_iter().map(Merged::from);
    Ok(Some(Streamed {
        cores: cores.chain(tails.into_iter().rev()).collect(),
        error,
        energy: total,
    }))
}

/// The number of modes that remain, and the width of the matrix that the others form with the bond
/// after them; `None` if the remainder is too small for a pass.
fn grouping(open: &[usize], after: usize, cells: usize) -> Option<(usize, usize)> {
    if cells <= SMALL {
        return None;
    }
    let least = WIDTH.max(if after > 1 { 4 * after } else { 0 });
    let good = GOOD_WIDTH.max(least);
    let mut sizes = open.iter().enumerate().skip(1).rev();
    let (mut kept, last) = sizes.next()?;
    let mut width = after * last;
    for (mode, size) in sizes {
        let is_enough = width >= good || (width >= least && width * size > 2 * good);
        if is_enough || cells / (width * size) < 64 {
            break;
        }
        width *= size;
        kept = mode;
    }
    (cells / width >= 16).then_some((kept, width))
}
