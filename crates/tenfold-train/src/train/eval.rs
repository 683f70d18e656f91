//! Evaluation of trains: a cell, a box, all cells, or slab by slab.

use rayon::prelude::*;
use tenfold::{Slice, memory};

use super::balance::Wide;
use super::{Core, Train};
use crate::error::{Error, Result};
use crate::huge_vec::resize;
use crate::kernels::{Product, multiply_out};
use crate::num::real;
use crate::scalar::{Scalar, largest, reals, reals_mut};
use crate::{kernels, linalg};

/// Approximate number of cells evaluated at a time: they stay in the L2 cache.
const TILE: usize = 1 << 15;
/// Fewest rows of a tile, where writing takes longer than arithmetic, and where it does not, with
/// the columns then multiplied at a time.
const FEW_ROWS: usize = 8;
const ROWS: usize = 64;
const COLUMNS: usize = 1024;

impl<T: Scalar> Train<T> {
    /// One cell.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such cell, [`tenfold::Error::OutOfRange`] if it is larger than
    /// any double.
    pub fn element(&self, index: &[usize]) -> Result<T> {
        let outside = || Error::invalid(format!("no cell {index:?} in {:?}", self.shape()));
        if index.len() != self.cores.len() {
            return Err(outside());
        }
        let (row, has_room) = self.row_at(index).ok_or_else(outside)?;
        if !has_room {
            let wide = self.wide_at(index).ok_or_else(outside)?;
            return wide.nearest(&named(index));
        }
        row.first().copied().ok_or_else(outside)
    }

    /// A cell of any magnitude; `None` if there is no such cell.
    fn wide_at(&self, index: &[usize]) -> Option<Wide<T>> {
        let mut row = vec![Wide::of(T::of_real(1.0))];
        for (core, place) in self.cores.iter().zip(index) {
            let mut terms = vec![Vec::with_capacity(row.len()); core.right];
            let matrices = core.values.chunks_exact(core.size * core.right);
            for (factor, entries) in row.iter().zip(matrices) {
                let entries = entries.chunks_exact(core.right).nth(*place)?;
                for (terms, entry) in terms.iter_mut().zip(entries) {
                    let term = factor.times(Wide::of(*entry));
                    terms.push((term.value, term.power));
                }
            }
            let sums = terms.into_iter();
            row = sums
                .map(|terms| Wide::sum(terms.into_iter()).near_one())
                .collect();
        }
        row.first().copied()
    }

    /// The product of the matrices at an index, and whether all intermediate results were well
    /// within the range of doubles; `None` if there is no such cell.
    fn row_at(&self, index: &[usize]) -> Option<(Vec<T>, bool)> {
        let mut row = vec![T::of_real(1.0)];
        let mut has_room = true;
        for (core, place) in self.cores.iter().zip(index) {
            let mut next = vec![T::default(); core.right];
            let matrices = core.values.chunks_exact(core.size * core.right);
            for (factor, entries) in row.iter().zip(matrices) {
                let entries = entries.chunks_exact(core.right).nth(*place)?;
                for (sum, entry) in next.iter_mut().zip(entries) {
                    let term = *factor * *entry;
                    *sum += term;
                    let is_zero = *factor == T::default() || *entry == T::default();
                    has_room &= is_zero || (1e-250..1e250).contains(&largest(&[term]));
                }
            }
            row = next;
        }
        Some((row, has_room))
    }

    /// The slice of the tensor given by one slice per mode, as a train of the same ranks.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a slice does not lie inside its mode, or chooses nothing.
    pub fn select(&self, slices: &[Slice]) -> Result<Train<T>> {
        if slices.len() != self.cores.len() {
            let why = format!("{} slices for {} modes", slices.len(), self.cores.len());
            return Err(Error::invalid(why));
        }
        let cores = self.cores.iter().zip(slices).map(|(core, slice)| {
            let places = places(*slice, core.size)?;
            let mut values = memory::with_room(core.left * places.len() * core.right)?;
            for matrix in core.values.chunks_exact(core.size * core.right) {
                for place in &places {
                    values.extend(matrix.iter().skip(place * core.right).take(core.right));
                }
            }
            Core::new(core.left, places.len(), core.right, values)
        });
        Train::new(cores.collect::<Result<_>>()?)
    }

    /// All cells, row-major.
    ///
    /// For a large result most of the time goes into page faults of fresh memory:
    /// [`Train::fill`] writes into what the caller has, on large pages if that is so.
    ///
    /// # Errors
    /// [`Error::Invalid`] if memory could not hold them, [`tenfold::Error::OutOfRange`] if one is larger
    /// than any double.
    pub fn full(&self) -> Result<Vec<T>> {
        let mut out = T::zeros(self.cells()?)?;
        self.fill(&mut out)?;
        Ok(out)
    }

    /// Writes all cells, row-major, into `out`, each once.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `out` has not as many places as there are cells,
    /// [`tenfold::Error::OutOfRange`] if a cell is larger than any double.
    pub fn fill(&self, out: &mut [T]) -> Result<()> {
        if self.cells()? != out.len() {
            let why = format!("{} places for {} cells", out.len(), self.cells()?);
            return Err(Error::invalid(why));
        }
        Halves::of(self)?.fill_rows(0, out);
        Spoiled::of(self)?.map_or(Ok(()), |spoiled| spoiled.mend(0, out))
    }

    /// Hands out all cells, row-major, in slabs of about `budget` cells.
    ///
    /// # Errors
    /// Those of `each`, [`Error::Invalid`] for more cells than can be counted, and
    /// [`tenfold::Error::OutOfRange`] for one that is larger than any double.
    pub fn for_each_slab(
        &self,
        budget: usize,
        each: &mut dyn FnMut(&[T]) -> Result<()>,
    ) -> Result<()> {
        let halves = Halves::of(self)?;
        let spoiled = Spoiled::of(self)?;
        let per_slab = (budget / halves.n_columns).max(1);
        let mut slab = Vec::new();
        let mut row = 0;
        while row < halves.n_rows {
            let n_rows = per_slab.min(halves.n_rows - row);
            resize(&mut slab, n_rows * halves.n_columns)?;
            halves.fill_rows(row, &mut slab);
            if let Some(spoiled) = &spoiled {
                spoiled.mend(row * halves.n_columns, &mut slab)?;
            }
            each(&slab)?;
            row += n_rows;
        }
        Ok(())
    }
}

/// The positions of a slice, if it is not empty and within a mode of `size`.
fn places(slice: Slice, size: usize) -> Result<Vec<usize>> {
    let outside = || {
        let Slice { start, count, step } = slice;
        Error::invalid(format!(
            "{count} places from {start} by {step} do not lie inside a mode of size {size}"
        ))
    };
    if slice.count == 0 {
        return Err(Error::invalid("a slice of a train chooses something"));
    }
    let mut found = Vec::new();
    for item in 0..slice.count {
        let place = i128::from(slice.step)
            .checked_mul(item.into())
            .and_then(|moved| moved.checked_add(slice.start.into()))
            .and_then(|place| usize::try_from(place).ok());
        let place = place.filter(|place| *place < size).ok_or_else(outside)?;
        if slice.step == 0 && item > 0 {
            return Err(outside());
        }
        found.push(place);
    }
    Ok(found)
}

/// A train whose cells may be inaccurate because intermediate products leave the range of doubles.
pub(super) struct Spoiled<T> {
    train: Train<T>,
    /// Cells below this magnitude may be inaccurate.
    below: f64,
    /// Whether indices are given in reverse.
    pub(super) is_reversed: bool,
}

impl<T: Scalar> Spoiled<T> {
    /// `None` if no cell of the train can be.
    ///
    /// # Errors
    /// [`tenfold::Error::OutOfRange`] if all cells are smaller than any double, and not 0.
    pub(super) fn of(train: &Train<T>) -> Result<Option<Spoiled<T>>> {
        /// Relative to the largest cells, an underflow on the way to others may exceed the smallest
        /// double.
        const FAR: i32 = 300;
        let Some(reach) = train.is_wild().then(|| train.reach()).flatten() else {
            return Ok(None);
        };
        let exponent = reach.exponent();
        let ranks = train.cores.iter().map(|core| 1.0 + real(core.right).log2());
        if f64::from(exponent) + ranks.sum::<f64>() < -1080.0 {
            let why = format!("the cells of the train are about 2^{exponent}: no double holds any");
            return Err(Error::out_of_range(why));
        }
        let below = match exponent {
            FAR.. => 2.0_f64.powi(exponent.min(1900) - 1000),
            _ => 0.0,
        };
        Ok(Some(Spoiled {
            train: train.clone(),
            below,
            is_reversed: false,
        }))
    }

    /// Computes again, one by one, the cells from `first` on that may be inaccurate.
    ///
    /// # Errors
    /// [`tenfold::Error::OutOfRange`] if one is larger than any double.
    pub(super) fn mend(&self, first: usize, cells: &mut [T]) -> Result<()> {
        let shape = self.train.shape();
        let mend = |(at, cell): (usize, &mut T)| {
            let size = largest(&[*cell]);
            if size.is_finite() && size >= self.below {
                return Ok(());
            }
            let mut index = vec![0; shape.len()];
            let mut rest = first + at;
            for (place, size) in index.iter_mut().zip(&shape).rev() {
                *place = rest % size;
                rest /= size;
            }
            let Some(wide) = self.train.wide_at(&index) else {
                return Ok(());
            };
            if self.is_reversed {
                index.reverse();
            }
            *cell = wide.nearest(&named(&index))?;
            Ok(())
        };
        // The first of them, whatever the number of threads.
        let cells = cells.par_iter_mut().enumerate();
        let failed = cells.find_map_first(|cell| mend(cell).err());
        failed.map_or(Ok(()), Err)
    }
}

fn named(index: &[usize]) -> String {
    format!("cell {index:?} of the train")
}

/// A train evaluated on either side of one bond: the tensor is the product of both halves.
pub(crate) struct Halves<T> {
    left: Vec<T>,
    right: Vec<T>,
    bond: usize,
    pub(crate) n_rows: usize,
    pub(crate) n_columns: usize,
}

impl<T: Scalar> Halves<T> {
    /// Evaluates both sides of the cheapest bond.
    pub(crate) fn of(train: &Train<T>) -> Result<Halves<T>> {
        train.cells()?;
        let train = train.steady();
        Ok(Halves::between(&train.cores.iter().collect::<Vec<_>>()))
    }

    /// The same for cores whose outer bonds are 1, and whose cells are already counted.
    pub(crate) fn between(cores: &[&Core<T>]) -> Halves<T> {
        let (before, after) = cores
            .split_at_checked(best_bond(cores))
            .unwrap_or((cores, &[]));
        let bond = before.last().map_or(1, |core| core.right);
        let mut left = vec![T::of_real(1.0)];
        for core in before {
            left = linalg::product(&left, &core.values, core.left);
        }
        let mut right = vec![T::of_real(1.0)];
        for core in after.iter().rev() {
            right = linalg::product(&core.values, &right, core.right);
        }
        Halves {
            n_rows: left.len() / bond,
            n_columns: right.len() / bond,
            left,
            right,
            bond,
        }
    }

    /// Writes complete rows, from `first` on, into `out`, in tiles that do not depend on threads.
    pub(crate) fn fill_rows(&self, first: usize, out: &mut [T]) {
        let is_thin = T::REALS == 1 && self.bond <= kernels::FEW;
        let least = if is_thin { FEW_ROWS } else { ROWS };
        let per_tile = (TILE / self.n_columns).max(least);
        let right = linalg::rows(&self.right, self.bond, self.n_columns);
        let left = self.left.get(first * self.bond..).unwrap_or_default();
        out.par_chunks_mut(per_tile * self.n_columns)
            .zip(left.par_chunks(per_tile * self.bond))
            .for_each(|(tile, left)| {
                let n_rows = tile.len() / self.n_columns;
                let left = left.get(..n_rows * self.bond).unwrap_or_default();
                if is_thin {
                    return multiply_out(Product {
                        left: reals(left),
                        right: reals(&self.right),
                        bond: self.bond,
                        out: reals_mut(tile),
                    });
                }
                let left = linalg::rows(left, n_rows, self.bond);
                let mut tile = linalg::rows_mut(tile, n_rows, self.n_columns);
                // A block of the right half is used for all rows while it is in cache.
                for start in (0..self.n_columns).step_by(COLUMNS) {
                    let width = COLUMNS.min(self.n_columns - start);
                    let target = tile.as_mut().subcols_mut(start, width);
                    linalg::multiply(target, left, right.subcols(start, width));
                }
            });
    }
}

/// The number of cores left of the bond where evaluating both sides, and then their product, takes
/// the least time: 40 Gflop/s and 10 GB/s are assumed, only their ratio matters. Rows of the
/// product that lie far apart are written at half the speed.
fn best_bond<T>(cores: &[&Core<T>]) -> usize {
    let seconds = |flops: f64, written: f64| flops * 2.0 / 40e9 + written * 8.0 / 10e9;
    let slowness = |n_columns: f64| {
        if n_columns > real(kernels::NEAR) {
            2.0
        } else {
            1.0
        }
    };
    // The cost of evaluating everything up to each bond, from either end.
    let costs = |sizes: &mut dyn Iterator<Item = (usize, usize, usize)>| {
        let (mut cells, mut cost) = (1.0, 0.0);
        let mut costs = vec![0.0];
        for (near, size, far) in sizes {
            let written = cells * real(size) * real(far);
            cost += seconds(written * real(near), written);
            cells *= real(size);
            costs.push(cost);
        }
        costs
    };
    let from_left = costs(&mut cores.iter().map(|core| (core.left, core.size, core.right)));
    let from_right = costs(
        &mut cores
            .iter()
            .rev()
            .map(|core| (core.right, core.size, core.left)),
    );
    let cells: f64 = cores.iter().map(|core| real(core.size)).product();
    let bonds = cores.iter().map(|core| real(core.right.max(4)));
    let mut n_rows = 1.0;
    let lengths = cores.iter().map(|core| {
        n_rows *= real(core.size);
        cells / n_rows
    });
    let total = from_left
        .iter()
        .skip(1)
        .zip(from_right.iter().rev().skip(1))
        .zip(bonds.zip(lengths))
        .map(|((left, right), (bond, n_columns))| {
            left + right + seconds(cells * bond, cells * slowness(n_columns))
        });
    let best = total
        .enumerate()
        .min_by(|(_, one), (_, other)| one.total_cmp(other));
    best.map_or(1, |(bond, _)| bond + 1)
}
