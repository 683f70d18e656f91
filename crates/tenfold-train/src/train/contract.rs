//! Inner products, sums, and products with vectors and matrices.

use faer::{Accum, Mat};

use super::balance::{Balanced, Wide};
use super::{Core, Train};
use tenfold::memory;

use crate::error::{Error, Result};
use crate::linalg;
use crate::num::real;
use crate::scalar::{Scalar, reals};

impl<T: Scalar> Train<T> {
    /// The inner product: the sum over all cells of the conjugate of this one times the other.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the shapes differ, or the product leaves the range of doubles.
    pub fn dot(&self, other: &Train<T>) -> Result<T> {
        self.check_finite()?;
        other.check_finite()?;
        self.wide_dot(other)?.narrow("the inner product")
    }

    /// As [`Train::dot`], of any magnitude.
    fn wide_dot(&self, other: &Train<T>) -> Result<Wide<T>> {
        self.check_same_shape(other)?;
        let middle = self.cores.len() / 2;
        let [one, two] = [self, other].map(|train| {
            let cores: Vec<&Core<T>> = train.cores.iter().collect();
            Balanced::at(&cores, middle)
        });
        // From both ends at once; the halves meet in the middle.
        let (left, right) = rayon::join(
            || {
                let pairs = one.before.iter().zip(&two.before);
                pairs.fold(Mat::identity(1, 1), |gram, (one, two)| {
                    gram_from_left(gram, one, two)
                })
            },
            || {
                let pairs = one.after.iter().zip(&two.after).rev();
                pairs.fold(Mat::identity(1, 1), |gram, (one, two)| {
                    gram_from_right(gram, one, two)
                })
            },
        );
        let met = one.powers.iter().enumerate().flat_map(|(row, own)| {
            let places = two.powers.iter().enumerate();
            let (left, right) = (&left, &right);
            places.filter_map(move |(column, power)| {
                let product = left[(row, column)] * right[(column, row)];
                Some((product, (*own)?.and((*power)?)))
            })
        });
        Ok(Wide::sum(met))
    }

    /// The cosine of the angle between two tensors, squared; 1 if one is a multiple of the other.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the shapes differ or one of the tensors is zero.
    pub fn fidelity(&self, other: &Train<T>) -> Result<f64> {
        let [own, others] = [self.wide_dot(self)?, other.wide_dot(other)?];
        let lengths = own.value.real() * others.value.real();
        let is_somewhere = lengths > 0.0;
        if !is_somewhere {
            return Err(Error::invalid("a tensor of zeros points nowhere"));
        }
        let met = self.wide_dot(other)?;
        let back = own.power.and(others.power).inverse();
        Ok(met
            .power
            .and(met.power)
            .and(back)
            .apply(met.value.energy() / lengths))
    }

    /// The sum over a mode of the cells times the entries of `vector`: one mode fewer.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the vector has another size, or no mode would be left.
    pub fn contract(&self, mode: usize, vector: &[T]) -> Result<Train<T>> {
        let train = self.steady();
        let core = train.with_matrix(mode, vector, 1)?;
        let mut cores = train.cores.clone();
        cores.remove(mode);
        // The mode has become one matrix, which is merged into an adjacent core.
        if let Some(next) = cores.get_mut(mode) {
            *next = next.after(linalg::rows(&core.values, core.left, core.right));
        } else if let Some(last) = cores.last_mut() {
            *last = last.before(linalg::rows(&core.values, core.left, core.right));
        } else {
            return Err(Error::invalid("no mode would be left: see Train::weigh"));
        }
        Ok(Train { cores })
    }

    /// The sum over all cells of the cell times the entries of one vector a mode.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the vectors have other sizes than the modes, or the sum leaves the range
    /// of doubles.
    pub fn contract_all(&self, vectors: &[&[T]]) -> Result<T> {
        if vectors.len() != self.cores.len() {
            let why = format!("{} vectors for {} modes", vectors.len(), self.cores.len());
            return Err(Error::invalid(why));
        }
        let train = self.steady();
        let mut row = vec![T::of_real(1.0)];
        for (mode, vector) in vectors.iter().enumerate() {
            let core = train.with_matrix(mode, vector, 1)?;
            row = linalg::product(&row, &core.values, core.left);
        }
        let sum = row.first().copied().unwrap_or_default();
        let is_sum = reals(&[sum]).iter().all(|part| part.is_finite());
        if !is_sum && self.is_finite() {
            return Err(Error::invalid("the sum is larger than any double"));
        }
        Ok(sum)
    }

    /// The product of a matrix, row-major, of `n_rows` rows and as many columns as the mode has
    /// places, with every fibre along the mode: the mode gets the size `n_rows`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the matrix has another size.
    pub fn multiply(&self, mode: usize, matrix: &[T], n_rows: usize) -> Result<Train<T>> {
        let core = self.with_matrix(mode, matrix, n_rows)?;
        let mut train = self.clone();
        if let Some(target) = train.cores.get_mut(mode) {
            *target = core;
        }
        Ok(train)
    }

    fn with_matrix(&self, mode: usize, matrix: &[T], n_rows: usize) -> Result<Core<T>> {
        let core = self.core(mode)?;
        if n_rows == 0 || n_rows.checked_mul(core.size) != Some(matrix.len()) {
            return Err(Error::invalid(format!(
                "{} numbers are no {n_rows} rows of {}, the size of mode {mode}",
                matrix.len(),
                core.size
            )));
        }
        let mut values = memory::with_room(core.left * n_rows * core.right)?;
        for places in core.values.chunks_exact(core.size * core.right) {
            values.extend(linalg::product(matrix, places, core.size));
        }
        Core::new(core.left, n_rows, core.right, values)
    }

    /// The sum over some modes, which disappear.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a mode does not exist or is named twice, or none would be left.
    pub fn sum(&self, modes: &[usize]) -> Result<Train<T>> {
        let mut modes = modes.to_vec();
        modes.sort_unstable();
        if modes.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(Error::invalid("a mode is named twice"));
        }
        let mut train = self.clone();
        for mode in modes.iter().rev() {
            let size = train.core(*mode)?.size;
            train = train.contract(*mode, &vec![T::of_real(1.0); size])?;
        }
        Ok(train)
    }

    /// The mean over some modes, which disappear.
    ///
    /// # Errors
    /// As [`Train::sum`].
    pub fn mean(&self, modes: &[usize]) -> Result<Train<T>> {
        let mut count = 1.0;
        for mode in modes {
            count *= real(self.core(*mode)?.size);
        }
        Ok(self.sum(modes)?.scale(T::of_real(1.0 / count)))
    }

    /// The sum of all cells.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it leaves the range of doubles.
    pub fn sum_all(&self) -> Result<T> {
        let ones: Vec<Vec<T>> = self
            .cores
            .iter()
            .map(|core| vec![T::of_real(1.0); core.size])
            .collect();
        self.contract_all(&ones.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// The mean of all cells.
    ///
    /// # Errors
    /// As [`Train::sum_all`].
    pub fn mean_all(&self) -> Result<T> {
        let count: f64 = self.cores.iter().map(|core| real(core.size)).product();
        Ok(self.sum_all()?.times(1.0 / count))
    }
}

/// The inner products of the left parts of two trains at a bond, from those at the bond before: a
/// row for each index of the first.
pub(super) fn gram_from_left<T: Scalar>(before: Mat<T>, one: &Core<T>, two: &Core<T>) -> Mat<T> {
    let half = two.after(before.as_ref());
    let mut between = Mat::zeros(one.right, two.right);
    for block in one.blocks() {
        let n_rows = block.left * one.size;
        let other = half.tall().subrows(block.left_at * one.size, n_rows);
        let own = between.as_mut().subrows_mut(block.right_at, block.right);
        let block = linalg::rows(&block.values, n_rows, block.right);
        T::gemm_adjoint(own, Accum::Add, block, other);
    }
    between
}

/// The inner products of the right parts of two trains at a bond, from those at the bond after: a
/// row for each index of the second.
pub(super) fn gram_from_right<T: Scalar>(after: Mat<T>, one: &Core<T>, two: &Core<T>) -> Mat<T> {
    let half = two.before(after.as_ref());
    let mut between = Mat::zeros(two.left, one.left);
    for block in one.blocks() {
        let mut own = between.as_mut().subcols_mut(block.left_at, block.left);
        let all = linalg::rows(&block.values, block.left, one.size * block.right);
        if block.right == one.right {
            T::gemm_by_adjoint(own, Accum::Add, half.wide(), all);
            continue;
        }
        for place in 0..one.size {
            let at = place * one.right + block.right_at;
            let other = half.wide().subcols(at, block.right);
            let part = all.subcols(place * block.right, block.right);
            T::gemm_by_adjoint(own.as_mut(), Accum::Add, other, part);
        }
    }
    between
}
