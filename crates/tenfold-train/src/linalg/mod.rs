//! Small dense matrices: the only module that calls faer.
//!
//! Cores are row-major slices; faer sees them as strided views, and runs on the calling thread.
//! Parallel work is split into panels by the callers, or into stripes of columns here, by sizes
//! alone, so that the result does not depend on the number of threads.

mod cholesky;
mod decompose;
mod faer;
mod faer_f32;
mod full_rank;
mod range;
mod row_pivots;

use ::faer::{Accum, Mat, MatMut, MatRef};
pub(crate) use cholesky::{divide_rows, orthonormalise};
pub(crate) use decompose::{
    Factors, all_eigenvalues_exceed, all_squares_exceed, blur, clear_lower, clear_upper, eigen,
    lower, lq, lq_within, qr, qr_within, squared, svd, upper,
};
pub(crate) use faer::Dense;
pub(crate) use faer_f32::Single;
pub(crate) use full_rank::is_regular;
pub(crate) use range::span;

use crate::scalar;
use crate::scalar::Scalar;

/// A row-major slice as a matrix.
pub(crate) fn rows<T>(values: &[T], n_rows: usize, n_columns: usize) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(values, n_rows, n_columns)
}

/// A row-major slice as a mutable matrix.
pub(crate) fn rows_mut<T>(values: &mut [T], n_rows: usize, n_columns: usize) -> MatMut<'_, T> {
    MatMut::from_row_major_slice_mut(values, n_rows, n_columns)
}

/// A matrix in stripes of columns.
pub(crate) fn stripes<T>(matrix: MatMut<'_, T>, width: usize) -> Vec<MatMut<'_, T>> {
    let mut stripes = Vec::new();
    let mut rest = matrix;
    while rest.ncols() > width {
        let (stripe, more) = rest.split_at_col_mut(width);
        stripes.push(stripe);
        rest = more;
    }
    stripes.push(rest);
    stripes
}

/// The product of two row-major matrices, `left` having `n_inner` columns and `right` as many rows.
pub(crate) fn product<T: Scalar>(left: &[T], right: &[T], n_inner: usize) -> Vec<T> {
    let n_inner = n_inner.max(1);
    let (n_rows, n_columns) = (left.len() / n_inner, right.len() / n_inner);
    times_row_major(rows(left, n_rows, n_inner), rows(right, n_inner, n_columns))
}

/// The values of a product, row-major.
pub(crate) fn times_row_major<T: Scalar>(left: MatRef<T>, right: MatRef<T>) -> Vec<T> {
    let (n_rows, n_columns) = (left.nrows(), right.ncols());
    let mut out = vec![T::default(); n_rows * n_columns];
    multiply(rows_mut(&mut out, n_rows, n_columns), left, right);
    out
}

/// The product of two matrices.
pub(crate) fn times<T: Scalar>(left: MatRef<T>, right: MatRef<T>) -> Mat<T> {
    let mut out = Mat::zeros(left.nrows(), right.ncols());
    multiply(out.as_mut(), left, right);
    out
}

/// Writes `left · right` into `out`.
pub(crate) fn multiply<T: Scalar>(out: MatMut<T>, left: MatRef<T>, right: MatRef<T>) {
    T::gemm(out, Accum::Replace, left, right, 1.0);
}

/// Writes `left^H · right` into `out`.
pub(crate) fn multiply_adjoint<T: Scalar>(out: MatMut<T>, left: MatRef<T>, right: MatRef<T>) {
    T::gemm_adjoint(out, Accum::Replace, left, right);
}

/// Adds `left^H · right` to `out`.
pub(crate) fn add_adjoint_product<T: Scalar>(out: MatMut<T>, left: MatRef<T>, right: MatRef<T>) {
    T::gemm_adjoint(out, Accum::Add, left, right);
}

/// Writes `left · right^H` into `out`.
pub(crate) fn multiply_by_adjoint<T: Scalar>(out: MatMut<T>, left: MatRef<T>, right: MatRef<T>) {
    T::gemm_by_adjoint(out, Accum::Replace, left, right);
}

/// Subtracts `left · right` from `out`.
pub(crate) fn subtract_product<T: Scalar>(out: MatMut<T>, left: MatRef<T>, right: MatRef<T>) {
    T::gemm(out, Accum::Add, left, right, -1.0);
}

/// Adds the lower triangle of `panel^H · panel` to `gram`.
pub(crate) fn add_gram<T: Scalar>(gram: MatMut<T>, panel: MatRef<T>) {
    T::syrk(gram, panel);
}

/// The Frobenius norm of a matrix.
pub(crate) fn norm<T: Scalar>(matrix: MatRef<T>) -> f64 {
    scalar::norm(&row_major(matrix))
}

/// The Frobenius norm of a Hermitian matrix given by its lower triangle.
pub(crate) fn hermitian_norm<T: Scalar>(gram: MatRef<T>) -> f64 {
    let mut sum = 0.0;
    for column in 0..gram.ncols() {
        sum += gram[(column, column)].energy();
        for row in column + 1..gram.nrows() {
            sum += 2.0 * gram[(row, column)].energy();
        }
    }
    sum.sqrt()
}

/// The values of a matrix, row-major.
pub(crate) fn row_major<T: Scalar>(matrix: MatRef<T>) -> Vec<T> {
    let mut out = vec![T::default(); matrix.nrows() * matrix.ncols()];
    rows_mut(&mut out, matrix.nrows(), matrix.ncols()).copy_from(matrix);
    out
}

/// The adjoint of a matrix as a matrix of its own.
pub(crate) fn adjoint<T: Scalar>(matrix: MatRef<T>) -> Mat<T> {
    let mut turned = matrix.transpose().to_owned();
    for column in turned.col_iter_mut() {
        for value in column.iter_mut() {
            *value = value.conjugate();
        }
    }
    turned
}

/// The values of the adjoint of a matrix, row-major.
pub(crate) fn adjoint_row_major<T: Scalar>(matrix: MatRef<T>) -> Vec<T> {
    let mut out = row_major(matrix.transpose());
    out.iter_mut().for_each(|value| *value = value.conjugate());
    out
}

/// The values of `diag(factors) · matrix^H`, row-major.
pub(crate) fn scaled_adjoint<T: Scalar>(matrix: MatRef<T>, factors: &[f64]) -> Vec<T> {
    let mut out = adjoint_row_major(matrix);
    for (row, factor) in out.chunks_exact_mut(matrix.nrows().max(1)).zip(factors) {
        row.iter_mut()
            .for_each(|value| *value = value.times(*factor));
    }
    out
}

/// The smallest rank that keeps the sum of the squares left out within `budget`, and that sum.
///
/// The sum runs from the smallest, so that the error is known to full precision.
pub(crate) fn cut(squares: &[f64], budget: f64) -> (usize, f64) {
    let mut left_out = 0.0;
    let mut rank = squares.len();
    for square in squares.iter().skip(1).rev() {
        let more = left_out + square;
        // Also rejects NaN.
        let fits = more <= budget;
        if !fits {
            break;
        }
        left_out = more;
        rank -= 1;
    }
    (rank, left_out)
}

/// The sum of the squares beyond `rank`.
pub(crate) fn tail(squares: &[f64], rank: usize) -> f64 {
    squares.iter().skip(rank).rev().sum()
}
