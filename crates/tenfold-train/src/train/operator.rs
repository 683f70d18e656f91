//! Matrix trains: linear maps from tensors to tensors, as cores.

use super::{Core, Train};
use tenfold::memory;

use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// A linear map on tensors as a train whose modes are pairs (index in the result, index in the
/// argument).
#[derive(Debug, Clone, PartialEq)]
pub struct Operator<T> {
    /// Each mode is a pair, its first part varying slowest.
    train: Train<T>,
    /// The sizes of the modes of results.
    rows: Vec<usize>,
    /// The sizes of the modes of arguments.
    columns: Vec<usize>,
}

impl<T: Scalar> Operator<T> {
    /// A train as an operator: mode `k` of the train has size `rows[k] * columns[k]`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has not.
    pub fn new(train: Train<T>, rows: Vec<usize>, columns: Vec<usize>) -> Result<Operator<T>> {
        let pairs: Vec<usize> = rows
            .iter()
            .zip(&columns)
            .map(|(row, col)| row * col)
            .collect();
        if rows.len() != columns.len() || pairs != train.shape() {
            return Err(Error::invalid(format!(
                "modes of sizes {:?} are no pairs of {rows:?} and {columns:?}",
                train.shape()
            )));
        }
        Ok(Operator {
            train,
            rows,
            columns,
        })
    }

    /// The Kronecker product of matrices, one a mode, each row-major with its number of rows.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a matrix is not whole.
    pub fn kronecker(matrices: &[(&[T], usize)]) -> Result<Operator<T>> {
        let mut columns = Vec::new();
        for (values, n_rows) in matrices {
            let whole = values.len().checked_div(*n_rows);
            match whole.filter(|_| values.len().is_multiple_of(*n_rows)) {
                Some(n_columns) => columns.push(n_columns),
                None => return Err(Error::invalid("a matrix is not whole")),
            }
        }
        let vectors: Vec<&[T]> = matrices.iter().map(|(values, _)| *values).collect();
        let rows = matrices.iter().map(|(_, n_rows)| *n_rows).collect();
        Operator::new(Train::outer(&vectors)?, rows, columns)
    }

    /// The identity on tensors of a shape.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a size is 0.
    pub fn identity(shape: &[usize]) -> Result<Operator<T>> {
        let matrices: Vec<Vec<T>> = shape
            .iter()
            .map(|size| Core::identity(*size, 1, *size).values.into_vec())
            .collect();
        let pairs: Vec<(&[T], usize)> = matrices
            .iter()
            .map(Vec::as_slice)
            .zip(shape.iter().copied())
            .collect();
        Operator::kronecker(&pairs)
    }

    /// The train whose modes are pairs.
    #[must_use]
    pub fn train(&self) -> &Train<T> {
        &self.train
    }

    /// The sizes of the modes of results.
    #[must_use]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The sizes of the modes of arguments.
    #[must_use]
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The sum of two operators; the ranks add up.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the shapes differ.
    pub fn add(&self, other: &Operator<T>) -> Result<Operator<T>> {
        if self.rows != other.rows {
            return Err(Error::invalid("operators of different shapes"));
        }
        let train = self.train.add(&other.train)?;
        Operator::new(train, self.rows.clone(), self.columns.clone())
    }

    /// The image of a tensor; the ranks multiply.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tensor has another shape than the operator's arguments.
    pub fn apply(&self, argument: &Train<T>) -> Result<Train<T>> {
        if argument.shape() != self.columns {
            return Err(Error::invalid(format!(
                "an operator on tensors of shape {:?} meets one of {:?}",
                self.columns,
                argument.shape()
            )));
        }
        let sizes = self.rows.iter().zip(&self.columns);
        let (own, argument) = (self.train.steady(), argument.steady());
        let cores = own.cores.iter().zip(&argument.cores).zip(sizes);
        let cores =
            cores.map(|((own, other), (row, column))| apply_core(own, other, *row, *column));
        Train::new(cores.collect::<Result<_>>()?)
    }
}

/// Sums over the index of the argument: the bonds are Kronecker products of those of both cores.
fn apply_core<T: Scalar>(
    own: &Core<T>,
    other: &Core<T>,
    n_rows: usize,
    n_columns: usize,
) -> Result<Core<T>> {
    let right = own.right * other.right;
    let mut values = memory::with_room(own.left * other.left * n_rows * right)?;
    for mine in own.values.chunks_exact(own.size * own.right) {
        for theirs in other.values.chunks_exact(other.size * other.right) {
            for row in mine.chunks_exact(n_columns * own.right) {
                let mut sums = vec![T::default(); right];
                let places = row.chunks_exact(own.right);
                for (entries, cells) in places.zip(theirs.chunks_exact(other.right)) {
                    let targets = sums.chunks_exact_mut(other.right);
                    for (target, entry) in targets.zip(entries) {
                        for (sum, cell) in target.iter_mut().zip(cells) {
                            *sum += *entry * *cell;
                        }
                    }
                }
                values.extend(sums);
            }
        }
    }
    Core::new(own.left * other.left, n_rows, right, values)
}
