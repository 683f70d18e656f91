//! Modes split, merged and permuted.

use super::{Core, Train, count_cells};
use tenfold::memory;

use crate::error::{Error, Result};
use crate::linalg;
use crate::num::UNIT;
use crate::scalar::{Scalar, energy, tame};

impl<T: Scalar> Train<T> {
    /// The same cells with one mode split into several, the first varying slowest: exactly, up to
    /// rounding.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the sizes do not multiply to that of the mode.
    pub fn split(&self, mode: usize, sizes: &[usize]) -> Result<Train<T>> {
        let core = self.core(mode)?;
        if count_cells(sizes).ok() != Some(core.size) || sizes.is_empty() {
            return Err(Error::invalid(format!(
                "{sizes:?} do not multiply to {}, the size of mode {mode}",
                core.size
            )));
        }
        // Splitting is cheap and exact where the adjacent cores are orthogonal: the truncation at
        // rounding level is then measured against the tensor's own norm.
        let centred = self.orthogonalise(mode)?;
        let mut cores = centred.cores;
        let mut core = cores.remove(mode);
        let back = tame(&mut core.values);
        let mut parts = split_core(core.values.into_vec(), core.left, sizes, core.right)?;
        if let Some(last) = parts.last_mut() {
            back.apply_all(&mut last.values);
        }
        cores.splice(mode..mode, parts);
        Ok(Train { cores })
    }

    /// Every mode split into its prime factors, the largest varying slowest: a quantized train.
    ///
    /// # Errors
    /// [`Error::Numeric`] if a decomposition does not converge.
    pub fn quantise(&self) -> Result<Train<T>> {
        let mut train = self.clone();
        for mode in (0..self.cores.len()).rev() {
            let factors = prime_factors(self.core(mode)?.size);
            train = train.split(mode, &factors)?;
        }
        Ok(train)
    }

    /// The same cells with `count` modes, from `mode` on, merged into one.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are not as many modes.
    pub fn merge(&self, mode: usize, count: usize) -> Result<Train<T>> {
        self.steady().joined(mode, count)
    }

    /// As [`Train::merge`], the other cores as they are.
    fn joined(&self, mode: usize, count: usize) -> Result<Train<T>> {
        let merged = self
            .cores
            .get(mode..mode.saturating_add(count))
            .and_then(|cores| cores.split_first())
            .ok_or_else(|| Error::invalid(format!("no {count} modes from {mode} on")))?;
        let (first, rest) = merged;
        let right = rest.last().unwrap_or(first).right;
        let sizes = rest.iter().map(|core| core.size);
        let outer = [first.left, first.size, right];
        let n_numbers = count_cells(&sizes.chain(outer).collect::<Vec<_>>())?;
        let room = Vec::<T>::new().try_reserve_exact(n_numbers);
        room.map_err(|_| {
            let why = format!("a core of {n_numbers} numbers, more than memory holds");
            Error::invalid(why)
        })?;
        let joined = rest.iter().fold(first.clone(), |joined, core| Core {
            left: joined.left,
            size: joined.size * core.size,
            right: core.right,
            values: linalg::product(&joined.values, &core.values, core.left).into(),
        });
        let mut cores = self.cores.clone();
        cores.splice(mode..mode + count, [joined]);
        Ok(Train { cores })
    }

    /// The same cells under another shape: modes are merged and split where they have to be.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the shapes have different numbers of cells.
    pub fn reshape(&self, shape: &[usize]) -> Result<Train<T>> {
        let wrong = || Error::invalid(format!("{:?} cannot become {shape:?}", self.shape()));
        let mut train = self.clone();
        for (mode, size) in shape.iter().enumerate() {
            // A size of 1 at the end becomes a core of its own.
            if mode == train.cores.len() && *size == 1 {
                train.cores.push(Core {
                    left: 1,
                    size: 1,
                    right: 1,
                    values: vec![T::of_real(1.0)].into(),
                });
            }
            loop {
                let own = train.cores.get(mode).ok_or_else(wrong)?.size;
                if own == *size {
                    break;
                }
                if *size > 0 && own % size == 0 && own > *size {
                    train = train.split(mode, &[*size, own / size])?;
                } else {
                    if mode + 1 >= train.cores.len() {
                        return Err(wrong());
                    }
                    train = train.merge(mode, 2)?;
                }
            }
        }
        // Modes of size 1 may remain at the end.
        while train.cores.len() > shape.len() && train.cores.last().is_some_and(|c| c.size == 1) {
            train = train.merge(train.cores.len() - 2, 2)?;
        }
        if train.cores.len() == shape.len() {
            Ok(train)
        } else {
            Err(wrong())
        }
    }

    /// The tensor with a mode and the next one exchanged, within `eps` relative to the norm.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no next mode, [`Error::Numeric`] if a decomposition does
    /// not converge.
    pub fn swap(&self, mode: usize, eps: f64) -> Result<Train<T>> {
        let mut train = self.orthogonalise(mode)?.joined(mode, 2)?;
        let (first, second) = (self.core(mode)?.size, self.core(mode + 1)?.size);
        let joined = train.cores.remove(mode);
        let right = joined.right;
        let mut values = memory::with_room(joined.values.len())?;
        for block in joined.values.chunks_exact(first * second * right) {
            for other in 0..second {
                for own in 0..first {
                    let from = (own * second + other) * right;
                    values.extend(block.iter().skip(from).take(right));
                }
            }
        }
        let back = tame(&mut values);
        let total = energy(&values);
        let found = linalg::svd(linalg::rows(&values, joined.left * second, first * right))?;
        let floor = 4.0 * UNIT;
        let (rank, _) = linalg::cut(&found.squares, total * eps.max(floor).powi(2));
        let roots: Vec<f64> = found.squares.iter().map(|square| square.sqrt()).collect();
        let mut moved = linalg::scaled_adjoint(found.v.as_ref().subcols(0, rank), &roots);
        back.apply_all(&mut moved);
        let pair = [
            Core {
                left: joined.left,
                size: second,
                right: rank,
                values: linalg::row_major(found.u.as_ref().subcols(0, rank)).into(),
            },
            Core {
                left: rank,
                size: first,
                right,
                values: moved.into(),
            },
        ];
        train.cores.splice(mode..mode, pair);
        Ok(train)
    }

    /// The tensor with its modes in another order, `axes` saying which old mode each new one is,
    /// by exchanging neighbors; each exchange is within `eps` relative to the norm. The reverse
    /// order is exact.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `axes` is no permutation of the modes.
    pub fn permute(&self, axes: &[usize], eps: f64) -> Result<Train<T>> {
        let mut order: Vec<usize> = (0..self.cores.len()).collect();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if sorted != order {
            let why = format!("{axes:?} is no permutation of {} modes", self.cores.len());
            return Err(Error::invalid(why));
        }
        if axes.iter().rev().eq(&order) {
            return Ok(self.reversed());
        }
        let mut train = self.clone();
        for (target, axis) in axes.iter().enumerate() {
            let found = order.iter().position(|mode| mode == axis).unwrap_or(target);
            for mode in (target..found).rev() {
                train = train.swap(mode, eps)?;
                order.swap(mode, mode + 1);
            }
        }
        Ok(train)
    }
}

/// Splits `values`, of shape (`left`, all sizes, `right`), into one core per size, truncating at
/// rounding level only.
fn split_core<T: Scalar>(
    values: Vec<T>,
    left: usize,
    sizes: &[usize],
    right: usize,
) -> Result<Vec<Core<T>>> {
    let total = energy(&values);
    let floor = total * (4.0 * UNIT).powi(2);
    let mut cores = Vec::new();
    let (mut rest, mut left) = (values, left);
    let Some((last, first)) = sizes.split_last() else {
        return Err(Error::invalid("a mode is split into at least one"));
    };
    for size in first {
        let n_rows = left * size;
        let n_columns = rest.len() / n_rows;
        let found = linalg::svd(linalg::rows(&rest, n_rows, n_columns))?;
        let (rank, _) = linalg::cut(&found.squares, floor);
        let roots: Vec<f64> = found.squares.iter().map(|square| square.sqrt()).collect();
        cores.push(Core {
            left,
            size: *size,
            right: rank,
            values: linalg::row_major(found.u.as_ref().subcols(0, rank)).into(),
        });
        rest = linalg::scaled_adjoint(found.v.as_ref().subcols(0, rank), &roots);
        left = rank;
    }
    cores.push(Core {
        left,
        size: *last,
        right,
        values: rest.into(),
    });
    Ok(cores)
}

/// The prime factors of a size, largest first; of 1, itself.
#[must_use]
pub fn prime_factors(size: usize) -> Vec<usize> {
    let mut rest = size;
    let mut factors = Vec::new();
    let mut divisor = 2;
    while rest > 1 {
        if divisor * divisor > rest {
            divisor = rest;
        }
        if rest.is_multiple_of(divisor) {
            factors.push(divisor);
            rest /= divisor;
        } else {
            divisor += 1;
        }
    }
    if factors.is_empty() {
        factors.push(size);
    }
    factors.reverse();
    factors
}
