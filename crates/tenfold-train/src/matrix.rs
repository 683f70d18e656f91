//! Small dense matrices: the one module that calls faer's factorisations.
//!
//! Cores are row-major slices; faer sees them as views with strides. Everything here runs on the
//! calling thread: parallel work is cut into panels above, so that its result does not depend on
//! how many threads there are.

use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::error::{Error, Result};
use crate::number::{UNIT, real};
use crate::scalar::{Complex64, Scalar};

/// A row-major slice as a matrix.
pub(crate) fn rows<T>(values: &[T], n_rows: usize, n_columns: usize) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(values, n_rows, n_columns)
}

/// A row-major slice as a matrix to write to.
pub(crate) fn rows_mut<T>(values: &mut [T], n_rows: usize, n_columns: usize) -> MatMut<'_, T> {
    MatMut::from_row_major_slice_mut(values, n_rows, n_columns)
}

/// The product of two row-major matrices, `left` having `n_inner` columns and `right` as many rows.
pub(crate) fn product<T: Scalar>(left: &[T], right: &[T], n_inner: usize) -> Vec<T> {
    let n_inner = n_inner.max(1);
    let (n_rows, n_columns) = (left.len() / n_inner, right.len() / n_inner);
    let mut out = vec![T::default(); n_rows * n_columns];
    multiply(
        rows_mut(&mut out, n_rows, n_columns),
        rows(left, n_rows, n_inner),
        rows(right, n_inner, n_columns),
    );
    out
}

/// What faer does, once for each kind of number: compiled here, not in every crate that uses
/// trains.
pub trait Dense: Sized {
    /// Puts `left · right` into `out`, or adds it times `factor`.
    #[doc(hidden)]
    fn gemm(out: MatMut<Self>, how: Accum, left: MatRef<Self>, right: MatRef<Self>, factor: f64);

    /// Writes `left^H · right` into `out`.
    #[doc(hidden)]
    fn gemm_adjoint(out: MatMut<Self>, left: MatRef<Self>, right: MatRef<Self>);

    /// Writes `left · right^H` into `out`.
    #[doc(hidden)]
    fn gemm_by_adjoint(out: MatMut<Self>, left: MatRef<Self>, right: MatRef<Self>);

    /// Adds the lower triangle of `panel^H · panel` to `gram`.
    #[doc(hidden)]
    fn syrk(gram: MatMut<Self>, panel: MatRef<Self>);

    /// A thin singular value decomposition.
    #[doc(hidden)]
    fn svd(matrix: MatRef<Self>) -> Option<(Mat<Self>, Vec<f64>, Mat<Self>)>;

    /// Orthonormal columns, and the matrix in terms of them, by Cholesky decompositions of Gram
    /// matrices: several times quicker than by reflections, but for well-conditioned ones alone.
    #[doc(hidden)]
    fn cholesky_qr(matrix: MatRef<Self>) -> Option<(Mat<Self>, Mat<Self>)>;

    /// Orthonormal columns that should span those of a matrix: quickly, but not always well.
    #[doc(hidden)]
    fn quick_qr(matrix: MatRef<Self>) -> Mat<Self>;

    /// Orthonormal columns that span those of a matrix, up to rounding.
    #[doc(hidden)]
    fn qr(matrix: MatRef<Self>) -> Mat<Self>;

    /// What is left of a matrix when such columns are split off: as many rows as columns.
    #[doc(hidden)]
    fn triangle(matrix: MatRef<Self>) -> Mat<Self>;

    /// Eigenvalues, smallest first, and eigenvectors of a Hermitian matrix.
    #[doc(hidden)]
    fn eigh(matrix: MatRef<Self>) -> Option<(Vec<f64>, Mat<Self>)>;

    /// Whether a Hermitian matrix has a Cholesky decomposition.
    #[doc(hidden)]
    fn is_positive(matrix: MatRef<Self>) -> bool;
}

macro_rules! dense {
    ($($scalar:ty),*) => {$(
        impl Dense for $scalar {
            fn gemm(
                out: MatMut<Self>,
                how: Accum,
                left: MatRef<Self>,
                right: MatRef<Self>,
                factor: f64,
            ) {
                matmul(out, how, left, right, Self::of_real(factor), Par::Seq);
            }

            fn gemm_adjoint(out: MatMut<Self>, left: MatRef<Self>, right: MatRef<Self>) {
                let one = Self::of_real(1.0);
                matmul(out, Accum::Replace, left.adjoint(), right, one, Par::Seq);
            }

            fn gemm_by_adjoint(out: MatMut<Self>, left: MatRef<Self>, right: MatRef<Self>) {
                let one = Self::of_real(1.0);
                matmul(out, Accum::Replace, left, right.adjoint(), one, Par::Seq);
            }

            fn syrk(gram: MatMut<Self>, panel: MatRef<Self>) {
                use triangular::BlockStructure::{Rectangular, TriangularLower};
                let (add, one) = (Accum::Add, Self::of_real(1.0));
                let (left, all) = (panel.adjoint(), Rectangular);
                triangular::matmul(gram, TriangularLower, add, left, all, panel, all, one, Par::Seq);
            }

            fn svd(matrix: MatRef<Self>) -> Option<(Mat<Self>, Vec<f64>, Mat<Self>)> {
                // A factorisation that does not converge is reported as such by the caller.
                let found = matrix.thin_svd().ok()?;
                let values = found.S().column_vector();
                let squares = values.iter().map(|value| value.energy()).collect();
                Some((found.U().to_owned(), squares, found.V().to_owned()))
            }

            fn cholesky_qr(matrix: MatRef<Self>) -> Option<(Mat<Self>, Mat<Self>)> {
                let n = matrix.ncols();
                let factor = |turned: MatRef<Self>| {
                    use triangular::BlockStructure::{Rectangular, TriangularLower};
                    let (put, one, all) = (Accum::Replace, Self::of_real(1.0), Rectangular);
                    let mut gram = Mat::<Self>::zeros(n, n);
                    let (target, other) = (gram.as_mut(), turned.adjoint());
                    let low = TriangularLower;
                    triangular::matmul(target, low, put, turned, all, other, all, one, Par::Seq);
                    gram
                };
                let lower = |gram: &Mat<Self>| {
                    // One that fails is no surprise: the matrix has nearly dependent columns.
                    let found = gram.llt(faer::Side::Lower).ok()?;
                    let at = |row, column| if row < column { Self::of_real(0.0) } else { found.L()[(row, column)] };
                    Some(Mat::from_fn(n, n, at))
                };
                let mut turned: Mat<Self> = matrix.adjoint().to_owned();
                let first = lower(&factor(turned.as_ref()))?;
                solve_lower_triangular_in_place(first.as_ref(), turned.as_mut(), Par::Seq);
                let gram = factor(turned.as_ref());
                // The second round makes orthonormal what is nearly so.
                let is_near = (0..n).all(|column| {
                    (column..n).all(|row| {
                        let unit = if row == column { 1.0 } else { 0.0 };
                        (gram[(row, column)] - Self::of_real(unit)).energy() < 1e-8
                    })
                });
                if !is_near {
                    return None;
                }
                let second = lower(&gram)?;
                solve_lower_triangular_in_place(second.as_ref(), turned.as_mut(), Par::Seq);
                let mut rest = Mat::<Self>::zeros(n, n);
                matmul(rest.as_mut(), Accum::Replace, first.as_ref(), second.as_ref(), Self::of_real(1.0), Par::Seq);
                Some((turned.adjoint().to_owned(), rest.adjoint().to_owned()))
            }

            fn quick_qr(matrix: MatRef<Self>) -> Mat<Self> {
                matrix.qr().compute_thin_Q()
            }

            fn qr(matrix: MatRef<Self>) -> Mat<Self> {
                let found = matrix.col_piv_qr();
                let triangle = found.thin_R();
                let diagonal = triangle.diagonal().column_vector();
                let first = diagonal.iter().next().map_or(0.0, |first| first.energy());
                let floor = first * (2.0 * UNIT).powi(2);
                let rank = diagonal.iter().take_while(|value| value.energy() > floor).count();
                found.compute_thin_Q().subcols(0, rank.max(1)).to_owned()
            }

            fn triangle(matrix: MatRef<Self>) -> Mat<Self> {
                let found = matrix.col_piv_qr();
                found.thin_R() * found.P()
            }

            fn eigh(matrix: MatRef<Self>) -> Option<(Vec<f64>, Mat<Self>)> {
                // As above.
                let found = matrix.self_adjoint_eigen(faer::Side::Lower).ok()?;
                let values = found.S().column_vector();
                let values = values.iter().map(|value| value.real()).collect();
                Some((values, found.U().to_owned()))
            }

            fn is_positive(matrix: MatRef<Self>) -> bool {
                matrix.llt(faer::Side::Lower).is_ok()
            }
        }
    )*};
}

dense!(f64, Complex64);

/// Writes `left · right` into `out`.
pub(crate) fn multiply<T: Scalar>(out: MatMut<T>, left: MatRef<T>, right: MatRef<T>) {
    T::gemm(out, Accum::Replace, left, right, 1.0);
}

/// Writes `left^H · right` into `out`.
pub(crate) fn multiply_adjoint<T: Scalar>(out: MatMut<T>, left: MatRef<T>, right: MatRef<T>) {
    T::gemm_adjoint(out, left, right);
}

/// Writes `left · right^H` into `out`.
pub(crate) fn multiply_by_adjoint<T: Scalar>(out: MatMut<T>, left: MatRef<T>, right: MatRef<T>) {
    T::gemm_by_adjoint(out, left, right);
}

/// Takes `left · right` from `out`.
pub(crate) fn subtract_product<T: Scalar>(out: MatMut<T>, left: MatRef<T>, right: MatRef<T>) {
    T::gemm(out, Accum::Add, left, right, -1.0);
}

/// Adds the lower triangle of `panel^H · panel` to `gram`.
pub(crate) fn add_gram<T: Scalar>(gram: MatMut<T>, panel: MatRef<T>) {
    T::syrk(gram, panel);
}

/// A thin singular value decomposition, `u · diag(values) · v^H`, largest value first.
pub(crate) struct Svd<T> {
    /// Left singular vectors, one a column.
    pub(crate) u: Mat<T>,
    /// Squares of the singular values.
    pub(crate) squares: Vec<f64>,
    /// Right singular vectors, one a column.
    pub(crate) v: Mat<T>,
}

/// The singular value decomposition of any matrix.
///
/// A matrix that is not square is made so first. faer would do that too, but by a QR
/// decomposition without pivots, which loses two digits on matrices of a small rank.
pub(crate) fn svd<T: Scalar>(matrix: MatRef<T>) -> Result<Svd<T>> {
    if matrix.nrows() < matrix.ncols() {
        let turned = svd(conjugated(matrix.transpose()).as_ref())?;
        return Ok(Svd {
            u: turned.v,
            v: turned.u,
            ..turned
        });
    }
    if matrix.nrows() > matrix.ncols() {
        let (q, rest) = qr(matrix);
        let inner = svd(rest.as_ref())?;
        let mut u = Mat::zeros(q.nrows(), inner.u.ncols());
        multiply(u.as_mut(), q.as_ref(), inner.u.as_ref());
        return Ok(Svd { u, ..inner });
    }
    let found = T::svd(matrix).ok_or(Error::Numeric("singular value decomposition"))?;
    let (u, squares, v) = found;
    Ok(Svd { u, squares, v })
}

/// Orthonormal columns that span those of a matrix up to rounding, and the matrix in terms of them.
///
/// There may be fewer columns where the rank is smaller. The second factor is not a triangle.
pub(crate) fn qr<T: Scalar>(matrix: MatRef<T>) -> (Mat<T>, Mat<T>) {
    if matrix.nrows() >= matrix.ncols()
        && let Some(found) = T::cholesky_qr(matrix)
    {
        return found;
    }
    let quick = T::quick_qr(matrix);
    let rest = within(quick.as_ref(), matrix);
    let mut left = matrix.to_owned();
    subtract_product(left.as_mut(), quick.as_ref(), rest.as_ref());
    // A NaN is not good either.
    if square_norm(left.as_ref()) <= (16.0 * UNIT).powi(2) * square_norm(matrix) {
        return (quick, rest);
    }
    let slow = T::qr(matrix);
    let rest = within(slow.as_ref(), matrix);
    (slow, rest)
}

/// A matrix in terms of orthonormal columns.
fn within<T: Scalar>(columns: MatRef<T>, matrix: MatRef<T>) -> Mat<T> {
    let mut rest = Mat::zeros(columns.ncols(), matrix.ncols());
    multiply_adjoint(rest.as_mut(), columns, matrix);
    rest
}

fn square_norm<T: Scalar>(matrix: MatRef<T>) -> f64 {
    let columns = matrix.col_iter();
    columns
        .map(|column| column.iter().map(|value| value.energy()).sum::<f64>())
        .sum()
}

/// A square matrix with the singular values and right singular vectors of a tall one.
pub(crate) fn squared<T: Scalar>(matrix: MatRef<T>) -> Mat<T> {
    T::triangle(matrix)
}

/// A copy with every number conjugated.
pub(crate) fn conjugated<T: Scalar>(matrix: MatRef<T>) -> Mat<T> {
    let conjugate = |row, column| matrix[(row, column)].conjugate();
    Mat::from_fn(matrix.nrows(), matrix.ncols(), conjugate)
}

/// Eigenvalues, largest first, and eigenvectors of a Hermitian matrix given by its lower triangle.
pub(crate) fn eigen<T: Scalar>(gram: MatRef<T>) -> Result<(Vec<f64>, Mat<T>)> {
    let (mut values, vectors) = T::eigh(gram).ok_or(Error::Numeric("eigendecomposition"))?;
    values.reverse();
    values.iter_mut().for_each(|value| *value = value.max(0.0));
    Ok((values, vectors.as_ref().reverse_cols().to_owned()))
}

/// Whether every eigenvalue of a Hermitian matrix, given by its lower triangle, exceeds `floor`.
pub(crate) fn all_eigenvalues_exceed<T: Scalar>(gram: MatRef<T>, floor: f64) -> bool {
    let mut shifted = gram.to_owned();
    for place in 0..shifted.nrows() {
        shifted[(place, place)] += T::of_real(-floor);
    }
    T::is_positive(shifted.as_ref())
}

/// Whether every singular value of a matrix has a square above `floor`; false if it is not certain.
pub(crate) fn all_squares_exceed<T: Scalar>(matrix: MatRef<T>, floor: f64) -> bool {
    let n = matrix.ncols();
    let mut gram = Mat::zeros(n, n);
    add_gram(gram.as_mut(), matrix);
    let rounding = real(n) * UNIT * hermitian_norm(gram.as_ref());
    all_eigenvalues_exceed(gram.as_ref(), floor + rounding)
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
/// The sum runs from the smallest, so that what is left out is known to full precision.
pub(crate) fn cut(squares: &[f64], budget: f64) -> (usize, f64) {
    let mut left_out = 0.0;
    let mut rank = squares.len();
    for square in squares.iter().skip(1).rev() {
        let more = left_out + square;
        // A NaN does not fit.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A matrix of a rank, with a part of noise.
    fn sample(n_rows: usize, n_columns: usize, rank: usize, noise: f64) -> Mat<f64> {
        let mut random = Random::new(7);
        let left = Mat::from_fn(n_rows, rank, |_, _| random.normal());
        let right = Mat::from_fn(rank, n_columns, |_, _| random.normal());
        let mut both = Mat::from_fn(n_rows, n_columns, |_, _| noise * random.normal());
        f64::gemm(
            both.as_mut(),
            Accum::Add,
            left.as_ref(),
            right.as_ref(),
            1.0,
        );
        both
    }

    fn distance(one: MatRef<f64>, other: MatRef<f64>) -> f64 {
        (one - other).norm_l2() / UNIT
    }

    #[test]
    fn factorisations_give_back_what_they_took_apart() {
        for (n_rows, n_columns, rank, noise) in [
            (64, 16, 16, 0.0),
            (16, 64, 4, 0.0),
            (64, 16, 4, 1e-12),
            (112, 256, 7, 0.0),
            (256, 256, 256, 0.0),
            (256, 256, 9, 0.0),
            (24, 512, 10, 1e-10),
            (64, 256, 7, 1e-14),
            (9, 256, 9, 0.0),
            (144, 16, 9, 0.0),
            (144, 16, 16, 0.0),
            (20, 10, 10, 0.0),
            (20, 10, 3, 0.0),
        ] {
            let matrix = sample(n_rows, n_columns, rank, noise);
            let size = matrix.norm_l2();
            let found = svd(matrix.as_ref()).unwrap();
            let n = found.squares.len();
            let unit = Mat::<f64>::identity(n, n);
            let roots: Vec<f64> = found.squares.iter().map(|x| x.sqrt()).collect();
            let right = scaled_adjoint(found.v.as_ref(), &roots);
            let back = &found.u * rows(&right, n, n_columns);
            let what = format!("{n_rows} by {n_columns} of rank {rank}");
            assert!(
                distance(back.as_ref(), matrix.as_ref()) < 100.0 * size,
                "{what}"
            );
            for vectors in [&found.u, &found.v] {
                let gram = vectors.adjoint() * vectors;
                let off = distance(gram.as_ref(), unit.as_ref());
                assert!(
                    off < 4.0 * real(n_rows.max(n_columns)).max(32.0),
                    "{what}: {off}"
                );
            }
            let (q, r) = qr(matrix.as_ref());
            let back = &q * &r;
            let gram = |m: MatRef<f64>| m.adjoint() * m;
            assert!(
                distance(back.as_ref(), matrix.as_ref()) < 20.0 * size,
                "{what}"
            );
            let small = gram(squared(matrix.as_ref()).as_ref());
            let large = gram(matrix.as_ref());
            assert!(
                distance(small.as_ref(), large.as_ref()) < 20.0 * size * size,
                "{what}"
            );
        }
    }
}
