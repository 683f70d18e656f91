//! Tensor trains: chains of cores whose product gives the cells of a tensor.

mod any;
mod arithmetic;
mod balance;
mod contract;
mod core;
mod distance;
mod eval;
mod lazy;
mod operator;
mod orthogonal;
mod random;
mod reshape;
mod round;
mod rounding_error;
mod storage;
mod truncate;

pub use any::AnyTrain;
pub(crate) use core::{Block, Values};
pub use distance::Distance;
pub use operator::Operator;
pub(crate) use orthogonal::centered;
pub use reshape::prime_factors;
pub use round::Rounded;
pub(crate) use truncate::{Merged, cut_from_left};

use faer::{Accum, MatMut, MatRef};

use crate::error::{Error, Result};
use crate::linalg;
use crate::scalar::Scalar;

/// One core: numbers at (left bond, position, right bond), the last index varying fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Core<T> {
    pub(crate) left: usize,
    pub(crate) size: usize,
    pub(crate) right: usize,
    pub(crate) values: Values<T>,
}

impl<T: Scalar> Core<T> {
    /// A core of shape (`left`, `size`, `right`), if there are as many values.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are not, or a size is zero.
    pub fn new(left: usize, size: usize, right: usize, values: Vec<T>) -> Result<Core<T>> {
        let wanted = left.checked_mul(size).and_then(|n| n.checked_mul(right));
        if wanted != Some(values.len()) || values.is_empty() {
            return Err(Error::invalid(format!(
                "a core of shape ({left}, {size}, {right}) does not have {} values",
                values.len()
            )));
        }
        Ok(Core {
            left,
            size,
            right,
            values: values.into(),
        })
    }

    /// The identity between a bond and the pair of the other bond and the mode: it passes numbers
    /// on unchanged.
    pub(crate) fn identity(left: usize, size: usize, right: usize) -> Core<T> {
        let side = left.max(right);
        let mut values = vec![T::default(); side * side];
        values
            .iter_mut()
            .step_by(side + 1)
            .for_each(|value| *value = T::of_real(1.0));
        Core {
            left,
            size,
            right,
            values: values.into(),
        }
    }

    /// The size of the bond to the left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// The size of the mode.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The size of the bond to the right.
    #[must_use]
    pub fn right(&self) -> usize {
        self.right
    }

    /// The elements, row-major.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The core as a matrix: a row for each left index and position.
    pub(crate) fn tall(&self) -> MatRef<'_, T> {
        linalg::rows(&self.values, self.left * self.size, self.right)
    }

    /// The core as a matrix: a column for each position and right index.
    pub(crate) fn wide(&self) -> MatRef<'_, T> {
        linalg::rows(&self.values, self.left, self.size * self.right)
    }

    /// Its blocks.
    pub(crate) fn blocks(&self) -> Vec<Block<T>> {
        self.values.blocks(self.left, self.right)
    }

    /// A matrix times the core.
    pub(crate) fn after(&self, matrix: MatRef<T>) -> Core<T> {
        self.after_by(matrix.nrows(), |out, how, block, part| {
            let own = matrix.subcols(block.left_at, block.left);
            T::gemm(out, how, own, part, 1.0);
        })
    }

    /// The adjoint of a matrix times the core.
    pub(crate) fn after_adjoint(&self, matrix: MatRef<T>) -> Core<T> {
        self.after_by(matrix.ncols(), |out, how, block, part| {
            let own = matrix.subrows(block.left_at, block.left);
            T::gemm_adjoint(out, how, own, part);
        })
    }

    /// Multiplies every block from the left, in parts that are adjacent in the product.
    fn after_by(
        &self,
        left: usize,
        multiply: impl Fn(MatMut<T>, Accum, &Block<T>, MatRef<T>),
    ) -> Core<T> {
        let mut values = vec![T::default(); left * self.size * self.right];
        let mut out = linalg::rows_mut(&mut values, left, self.size * self.right);
        let blocks = self.blocks();
        let how = how_to_add(&blocks);
        for block in &blocks {
            let all = linalg::rows(&block.values, block.left, self.size * block.right);
            if block.right == self.right {
                multiply(out.as_mut(), how, block, all);
                continue;
            }
            for place in 0..self.size {
                let part = all.subcols(place * block.right, block.right);
                let at = place * self.right + block.right_at;
                multiply(out.as_mut().subcols_mut(at, block.right), how, block, part);
            }
        }
        Core {
            left,
            size: self.size,
            right: self.right,
            values: values.into(),
        }
    }

    /// The core times a matrix.
    pub(crate) fn before(&self, matrix: MatRef<T>) -> Core<T> {
        let right = matrix.ncols();
        let mut values = vec![T::default(); self.left * self.size * right];
        let mut out = linalg::rows_mut(&mut values, self.left * self.size, right);
        let blocks = self.blocks();
        let how = how_to_add(&blocks);
        for block in &blocks {
            let n_rows = block.left * self.size;
            let own = out.as_mut().subrows_mut(block.left_at * self.size, n_rows);
            let all = linalg::rows(&block.values, n_rows, block.right);
            let matrix = matrix.subrows(block.right_at, block.right);
            T::gemm(own, how, all, matrix, 1.0);
        }
        Core {
            left: self.left,
            size: self.size,
            right,
            values: values.into(),
        }
    }

    /// The core of the tensor with its modes reversed: left and right exchanged.
    pub(crate) fn reversed(&self) -> Core<T> {
        let mut values = Vec::with_capacity(self.values.len());
        for end in 0..self.right {
            for place in 0..self.size {
                let from = place * self.right + end;
                let column = self.values.iter().skip(from);
                values.extend(column.step_by(self.size * self.right));
            }
        }
        Core {
            left: self.right,
            size: self.size,
            right: self.left,
            values: values.into(),
        }
    }
}

/// Products of several blocks may overlap.
fn how_to_add<T>(blocks: &[Block<T>]) -> Accum {
    match blocks {
        [_] => Accum::Replace,
        _ => Accum::Add,
    }
}

/// A tensor as a train of cores.
///
/// The cell at `(i, j, …)` is the product of the matrices that the cores have at `i`, `j`, …
///
/// ```
/// use tenfold_train::Train;
///
/// // 1, 2, 3 along one mode and 1, 10 along the other.
/// let train = Train::outer(&[&[1.0, 2.0, 3.0], &[1.0, 10.0]])?;
/// assert_eq!(train.element(&[2, 1])?, 30.0);
/// assert_eq!(train.full()?, [1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// # Ok::<(), tenfold_train::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Train<T> {
    pub(crate) cores: Vec<Core<T>>,
}

impl<T: Scalar> Train<T> {
    /// A train of cores, if their bonds fit.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no core, adjacent cores disagree about the bond between them,
    /// or the outer bonds are not 1.
    pub fn new(cores: Vec<Core<T>>) -> Result<Train<T>> {
        let mut bond = 1;
        for core in &cores {
            if core.left != bond {
                return Err(Error::invalid(format!(
                    "a core with {} to its left follows one with {bond} to its right",
                    core.left
                )));
            }
            bond = core.right;
        }
        if bond != 1 || cores.is_empty() {
            return Err(Error::invalid(
                "a train has at least one core and ends with a bond of 1",
            ));
        }
        Ok(Train { cores })
    }

    /// The outer product of vectors: a train of rank 1.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no vector, or an empty one.
    pub fn outer(vectors: &[&[T]]) -> Result<Train<T>> {
        let cores = vectors
            .iter()
            .map(|vector| Core::new(1, vector.len(), 1, vector.to_vec()));
        Train::new(cores.collect::<Result<_>>()?)
    }

    /// A tensor whose cells are all `value`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no mode, or one of size 0.
    pub fn constant(shape: &[usize], value: T) -> Result<Train<T>> {
        let cores = shape.iter().enumerate().map(|(mode, size)| {
            let cell = if mode == 0 { value } else { T::of_real(1.0) };
            Core::new(1, *size, 1, vec![cell; *size])
        });
        Train::new(cores.collect::<Result<_>>()?)
    }

    /// The cores, from the first mode to the last.
    #[must_use]
    pub fn cores(&self) -> &[Core<T>] {
        &self.cores
    }

    /// The number of modes.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.cores.len()
    }

    /// The sizes of the modes.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        self.cores.iter().map(|core| core.size).collect()
    }

    /// The sizes of the bonds, one more than there are modes; the first and the last are 1.
    #[must_use]
    pub fn ranks(&self) -> Vec<usize> {
        let rights = self.cores.iter().map(|core| core.right);
        std::iter::once(1).chain(rights).collect()
    }

    /// The largest bond.
    #[must_use]
    pub fn max_rank(&self) -> usize {
        self.ranks().into_iter().max().unwrap_or(1)
    }

    /// The total number of elements in the cores.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cores.iter().map(|core| core.values.len()).sum()
    }

    /// Whether the cores hold no number; always false.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of cells of the tensor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if memory could not hold as many.
    pub fn cells(&self) -> Result<usize> {
        count_cells(&self.shape())
    }

    /// The tensor with its modes reversed.
    #[must_use]
    pub fn reversed(&self) -> Train<T> {
        Train {
            cores: self.cores.iter().rev().map(Core::reversed).collect(),
        }
    }

    /// The complex conjugate.
    #[must_use]
    pub fn conjugate(&self) -> Train<T> {
        let cores = self.cores.iter().map(|core| Core {
            values: core.values.iter().map(|value| value.conjugate()).collect(),
            ..*core
        });
        Train {
            cores: cores.collect(),
        }
    }

    fn check_same_shape(&self, other: &Train<T>) -> Result<()> {
        let (own, other) = (self.shape(), other.shape());
        if own == other {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "one tensor has shape {own:?}, the other {other:?}"
        )))
    }

    fn core(&self, mode: usize) -> Result<&Core<T>> {
        self.cores.get(mode).ok_or_else(|| {
            Error::invalid(format!("no mode {mode}: there are {}", self.cores.len()))
        })
    }
}

/// The number of cells of a shape.
pub(crate) fn count_cells(shape: &[usize]) -> Result<usize> {
    shape
        .iter()
        .try_fold(1_usize, |all, size| all.checked_mul(*size))
        .ok_or_else(|| Error::invalid("the tensor has more cells than memory"))
}
