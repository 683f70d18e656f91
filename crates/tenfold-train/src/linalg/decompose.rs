//! Matrix decompositions: QR, LQ, singular values, eigenvalues.

use faer::{Mat, MatMut, MatRef};

use super::cholesky::{gram_of_rows, is_positive, orthonormalise, triangle};
use super::range::span;
use super::{
    add_gram, adjoint, adjoint_row_major, hermitian_norm, multiply_adjoint, multiply_by_adjoint,
    norm, row_major, rows, rows_mut, subtract_product, times,
};
use crate::error::{Error, Result};
use crate::num::{UNIT, real};
use crate::scalar::Scalar;

/// A thin singular value decomposition, `u · diag(values) · v^H`, largest value first.
pub(crate) struct Svd<T> {
    /// Left singular vectors, one per column.
    pub(crate) u: Mat<T>,
    /// Squares of the singular values.
    pub(crate) squares: Vec<f64>,
    /// Right singular vectors, one per column.
    pub(crate) v: Mat<T>,
}

/// The singular value decomposition of any matrix.
///
/// A matrix that is not square is first reduced to a square one. faer would do that too, but by a
/// QR decomposition without pivoting, which loses two digits on matrices of low rank.
pub(crate) fn svd<T: Scalar>(matrix: MatRef<T>) -> Result<Svd<T>> {
    if matrix.nrows() > matrix.ncols() {
        let turned = svd(adjoint(matrix).as_ref())?;
        return Ok(Svd {
            u: turned.v,
            v: turned.u,
            ..turned
        });
    }
    if matrix.nrows() < matrix.ncols() {
        let found = lq(&row_major(matrix), matrix.nrows());
        let inner = svd(found.small.as_ref())?;
        let mut v = Mat::zeros(matrix.ncols(), inner.v.ncols());
        let rows = rows(&found.long, found.rank, matrix.ncols());
        multiply_adjoint(v.as_mut(), rows, inner.v.as_ref());
        return Ok(Svd { v, ..inner });
    }
    square_svd(matrix, direct_svd).ok_or(Error::Numeric("singular value decomposition"))
}

/// The result of faer, if it is finite.
fn direct_svd<T: Scalar>(matrix: MatRef<T>) -> Option<Svd<T>> {
    let (u, squares, v) = T::svd(matrix)?;
    let sizes = [norm(u.as_ref()), norm(v.as_ref()), squares.iter().sum()];
    let is_sound = sizes.iter().all(|size| size.is_finite());
    is_sound.then_some(Svd { u, squares, v })
}

/// The singular value decomposition of a square matrix by a method that may fail; `None` if all
/// attempts do.
///
/// faer's result is not always finite: seen with 256 complex columns of rank 85, whose adjoint
/// succeeded. The matrix after a rotation is the last attempt.
fn square_svd<T: Scalar>(
    matrix: MatRef<T>,
    direct: impl Fn(MatRef<T>) -> Option<Svd<T>>,
) -> Option<Svd<T>> {
    let adjoined = || {
        let turned = direct(adjoint(matrix).as_ref())?;
        Some(Svd {
            u: turned.v,
            v: turned.u,
            ..turned
        })
    };
    let rotated = || {
        let columns = T::quick_qr(matrix);
        let inner = direct(within(columns.as_ref(), matrix).as_ref())?;
        Some(Svd {
            u: times(columns.as_ref(), inner.u.as_ref()),
            ..inner
        })
    };
    direct(matrix).or_else(adjoined).or_else(rotated)
}

/// A matrix as a product of a small one and orthonormal rows, or columns.
pub(crate) struct Factors<T> {
    /// The small factor.
    pub(crate) small: Mat<T>,
    /// The orthonormal rows or columns as a matrix, row-major.
    pub(crate) long: Vec<T>,
    /// Their number: below that of the matrix if its rank is smaller.
    pub(crate) rank: usize,
    /// The energy missing from the product.
    pub(crate) left_out: f64,
}

/// A row-major matrix as `small · long`, with orthonormal rows, up to rounding.
pub(crate) fn lq<T: Scalar>(values: &[T], n_rows: usize) -> Factors<T> {
    lq_within(values, n_rows, 0.0)
}

/// A row-major matrix as `long · small`, with orthonormal columns, up to rounding.
pub(crate) fn qr<T: Scalar>(values: &[T], n_rows: usize) -> Factors<T> {
    qr_within(values, n_rows, 0.0)
}

/// The largest shorter side for [`span`]: beyond it, blocked reflections are faster.
const SHORT: usize = 128;

/// As [`lq`] up to the energy `spare`, which is faster if it makes the rank smaller.
pub(crate) fn lq_within<T: Scalar>(values: &[T], n_rows: usize, spare: f64) -> Factors<T> {
    let width = values.len() / n_rows.max(1);
    if n_rows <= width {
        let mut long = values.to_vec();
        if let Some(small) = orthonormalise(rows_mut(&mut long, n_rows, width)) {
            return Factors {
                small,
                long,
                rank: n_rows,
                left_out: 0.0,
            };
        }
    }
    revealed(values, n_rows, spare)
}

/// As [`lq_within`], for rows that may be nearly dependent.
fn revealed<T: Scalar>(values: &[T], n_rows: usize, spare: f64) -> Factors<T> {
    let width = values.len() / n_rows.max(1);
    let matrix = rows(values, n_rows, width);
    if n_rows.min(width) > SHORT {
        let columns = reflected(adjoint(matrix).as_ref());
        let mut small = Mat::zeros(n_rows, columns.ncols());
        super::multiply(small.as_mut(), matrix, columns.as_ref());
        return Factors {
            small,
            long: adjoint_row_major(columns.as_ref()),
            rank: columns.ncols(),
            left_out: 0.0,
        };
    }
    let found = span(values, width, spare);
    let mut small = Mat::zeros(n_rows, found.rank);
    let along = rows(&found.rows, found.rank, width);
    multiply_by_adjoint(small.as_mut(), matrix, along);
    Factors {
        small,
        long: found.rows,
        rank: found.rank,
        left_out: if spare > 0.0 { found.left_out } else { 0.0 },
    }
}

/// As [`qr`] up to the energy `spare`.
pub(crate) fn qr_within<T: Scalar>(values: &[T], n_rows: usize, spare: f64) -> Factors<T> {
    let width = values.len() / n_rows.max(1);
    if width <= n_rows {
        // The columns, seen as rows of the transpose.
        let mut long = values.to_vec();
        let turned = MatMut::from_column_major_slice_mut(&mut long, width, n_rows);
        if let Some(small) = orthonormalise(turned) {
            return Factors {
                small: small.transpose().to_owned(),
                long,
                rank: width,
                left_out: 0.0,
            };
        }
    }
    let turned = adjoint_row_major(rows(values, n_rows, width));
    let found = revealed(&turned, width, spare);
    Factors {
        small: adjoint(found.small.as_ref()),
        long: adjoint_row_major(rows(&found.long, found.rank, n_rows)),
        ..found
    }
}

/// As [`lq`], without the rows.
pub(crate) fn lower<T: Scalar>(values: &[T], n_rows: usize) -> Mat<T> {
    let width = values.len() / n_rows.max(1);
    if n_rows <= width {
        let mut long = values.to_vec();
        if let Some(small) = triangle(rows_mut(&mut long, n_rows, width)) {
            return small;
        }
    }
    revealed(values, n_rows, 0.0).small
}

/// As [`qr`], without the columns.
pub(crate) fn upper<T: Scalar>(values: &[T], n_rows: usize) -> Mat<T> {
    let width = values.len() / n_rows.max(1);
    if width <= n_rows {
        let mut long = values.to_vec();
        let turned = MatMut::from_column_major_slice_mut(&mut long, width, n_rows);
        if let Some(small) = triangle(turned) {
            return small.transpose().to_owned();
        }
    }
    let turned = adjoint_row_major(rows(values, n_rows, width));
    adjoint(revealed(&turned, width, 0.0).small.as_ref())
}

/// The smallest square of a singular value, as a fraction of the energy, that a Gram matrix
/// resolves clearly.
const CLEAR: f64 = 1e-6;

/// The relative error of a singular value from [`clear_lower`] and [`clear_upper`], for each of `n`
/// rows or columns.
pub(crate) fn blur(n: usize) -> f64 {
    real(n) * UNIT / CLEAR
}

/// As [`lower`], from a Gram matrix alone, which is several times faster; `None` if a singular
/// value is too small for that, or its square is not above `floor`.
pub(crate) fn clear_lower<T: Scalar>(values: &[T], n_rows: usize, floor: f64) -> Option<Mat<T>> {
    let width = values.len() / n_rows.max(1);
    clear_triangle(rows(values, n_rows, width), floor)
}

/// As [`upper`], likewise.
pub(crate) fn clear_upper<T: Scalar>(values: &[T], n_rows: usize, floor: f64) -> Option<Mat<T>> {
    let width = values.len() / n_rows.max(1);
    let turned = MatRef::from_column_major_slice(values, width, n_rows);
    clear_triangle(turned, floor).map(|found| found.transpose().to_owned())
}

fn clear_triangle<T: Scalar>(rows: MatRef<T>, floor: f64) -> Option<Mat<T>> {
    if rows.nrows() > rows.ncols() {
        return None;
    }
    let gram = gram_of_rows(rows);
    let size = hermitian_norm(gram.as_ref());
    let floor = floor + real(rows.nrows()) * UNIT * size;
    let is_clear = all_eigenvalues_exceed(gram.as_ref(), floor.max(CLEAR * size));
    is_clear.then(|| T::cholesky(gram.as_ref())).flatten()
}

/// Orthonormal columns that span those of a matrix up to rounding, by Householder reflections.
fn reflected<T: Scalar>(matrix: MatRef<T>) -> Mat<T> {
    let quick = T::quick_qr(matrix);
    let rest = within(quick.as_ref(), matrix);
    let mut left = matrix.to_owned();
    subtract_product(left.as_mut(), quick.as_ref(), rest.as_ref());
    // Also rejects NaN.
    if square_norm(left.as_ref()) <= (16.0 * UNIT).powi(2) * square_norm(matrix) {
        return quick;
    }
    T::qr(matrix)
}

/// `left^H · right`.
fn within<T: Scalar>(left: MatRef<T>, right: MatRef<T>) -> Mat<T> {
    let mut product = Mat::zeros(left.ncols(), right.ncols());
    multiply_adjoint(product.as_mut(), left, right);
    product
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

/// Eigenvalues, largest first, and eigenvectors of a Hermitian matrix given by its lower triangle.
pub(crate) fn eigen<T: Scalar>(gram: MatRef<T>) -> Result<(Vec<f64>, Mat<T>)> {
    if let Some((mut values, vectors)) = T::eigh(gram)
        && norm(vectors.as_ref()).is_finite()
        && values.iter().sum::<f64>().is_finite()
    {
        values.reverse();
        values.iter_mut().for_each(|value| *value = value.max(0.0));
        return Ok((values, vectors.as_ref().reverse_cols().to_owned()));
    }
    eigen_by_svd(gram, direct_svd).ok_or(Error::Numeric("eigendecomposition"))
}

/// As [`eigen`] if faer's result is not finite, for a matrix without negative eigenvalues: they are
/// its singular values.
fn eigen_by_svd<T: Scalar>(
    gram: MatRef<T>,
    direct: impl Fn(MatRef<T>) -> Option<Svd<T>>,
) -> Option<(Vec<f64>, Mat<T>)> {
    let whole = Mat::from_fn(gram.nrows(), gram.ncols(), |row, column| {
        if row >= column {
            gram[(row, column)]
        } else {
            gram[(column, row)].conjugate()
        }
    });
    let found = square_svd(whole.as_ref(), direct)?;
    let values = found.squares.iter().map(|square| square.sqrt()).collect();
    Some((values, found.v))
}

/// Whether every eigenvalue of a Hermitian matrix, given by its lower triangle, exceeds `floor`.
pub(crate) fn all_eigenvalues_exceed<T: Scalar>(gram: MatRef<T>, floor: f64) -> bool {
    let n = gram.nrows();
    let mut shifted = row_major(gram.transpose());
    for value in shifted.iter_mut().step_by(n + 1) {
        *value += T::of_real(-floor);
    }
    is_positive(shifted, n)
}

/// Whether every singular value of a matrix has a square above `floor`; false if uncertain.
pub(crate) fn all_squares_exceed<T: Scalar>(matrix: MatRef<T>, floor: f64) -> bool {
    let n = matrix.ncols();
    let mut gram = Mat::zeros(n, n);
    add_gram(gram.as_mut(), matrix);
    let rounding = real(n) * UNIT * hermitian_norm(gram.as_ref());
    all_eigenvalues_exceed(gram.as_ref(), floor + rounding)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use faer::Accum;

    use super::super::{Dense, scaled_adjoint};
    use super::*;
    use crate::rng::Random;
    use crate::scalar::Complex64;

    /// A matrix of given rank, with relative noise.
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

    /// A decomposition that fails some times before it succeeds.
    fn failing<T: Scalar>(times: usize) -> impl Fn(MatRef<T>) -> Option<Svd<T>> {
        let left = Cell::new(times);
        move |matrix| {
            if left.get() == 0 {
                return direct_svd(matrix);
            }
            left.set(left.get() - 1);
            None
        }
    }

    /// `u · diag(values) · v^H`.
    fn multiplied<T: Scalar>(u: MatRef<T>, values: &[f64], v: MatRef<T>) -> Mat<T> {
        let right = scaled_adjoint(v, values);
        times(u, rows(&right, values.len(), v.nrows()))
    }

    /// In units of rounding.
    fn distance<T: Scalar>(one: MatRef<T>, other: MatRef<T>) -> f64 {
        let mut left = one.to_owned();
        let unit = Mat::from_fn(other.ncols(), other.ncols(), |row, column| {
            T::of_real(if row == column { 1.0 } else { 0.0 })
        });
        subtract_product(left.as_mut(), other, unit.as_ref());
        square_norm(left.as_ref()).sqrt() / UNIT
    }

    fn ways_round_a_failure<T: Scalar>(matrix: MatRef<T>) {
        let size = square_norm(matrix).sqrt();
        for failures in 0..3 {
            let found = square_svd(matrix, failing(failures)).unwrap();
            let roots: Vec<f64> = found.squares.iter().map(|x| x.sqrt()).collect();
            assert!(roots.is_sorted_by(|one, two| one >= two));
            let back = multiplied(found.u.as_ref(), &roots, found.v.as_ref());
            let off = distance(back.as_ref(), matrix) / size;
            assert!(off < 100.0, "{failures} failures: {off}");
        }
        assert!(square_svd(matrix, failing(3)).is_none());
        let mut gram = Mat::zeros(matrix.ncols(), matrix.ncols());
        add_gram(gram.as_mut(), matrix);
        let (wanted, _) = eigen(gram.as_ref()).unwrap();
        for failures in 0..3 {
            let (values, vectors) = eigen_by_svd(gram.as_ref(), failing(failures)).unwrap();
            for (value, wanted) in values.iter().zip(&wanted) {
                assert!((value - wanted).abs() < 1e-13 * size * size);
            }
            let back = multiplied(vectors.as_ref(), &values, vectors.as_ref());
            let whole = within(matrix, matrix);
            let off = distance(back.as_ref(), whole.as_ref()) / (size * size);
            assert!(off < 100.0, "{failures} failures: {off}");
        }
        assert!(eigen_by_svd(gram.as_ref(), failing(3)).is_none());
    }

    #[test]
    fn a_decomposition_that_fails_is_made_another_way() {
        ways_round_a_failure(sample(24, 24, 24, 0.0).as_ref());
        ways_round_a_failure(sample(40, 40, 7, 1e-9).as_ref());
        let [re, im] = [sample(30, 30, 30, 0.0), sample(30, 30, 5, 0.5)];
        let complex = Mat::from_fn(30, 30, |row, column| {
            Complex64::new(re[(row, column)], im[(row, column)])
        });
        ways_round_a_failure(complex.as_ref());
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
            let back = multiplied(found.u.as_ref(), &roots, found.v.as_ref());
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
            let found = qr(&row_major(matrix.as_ref()), n_rows);
            let back = rows(&found.long, n_rows, found.rank) * &found.small;
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
