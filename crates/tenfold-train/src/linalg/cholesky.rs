//! Parallel Cholesky decomposition, and its uses.
//!
//! Matrices are split into stripes of columns by their size alone, and every stripe is processed by
//! one thread at a time in a fixed order, so the result is bitwise reproducible.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::stripes;
use crate::scalar::Scalar;

/// Columns in a stripe.
const STRIPE: usize = 64;

/// Whether the column-major lower triangle of `n` columns has a Cholesky decomposition.
pub(crate) fn is_positive<T: Scalar>(mut values: Vec<T>, n: usize) -> bool {
    let mut rest = values.as_mut_slice();
    for first in (0..n).step_by(STRIPE) {
        let width = STRIPE.min(n - first);
        let Some((stripe, more)) = rest.split_at_mut_checked(width * n) else {
            return false;
        };
        let mut stripe = MatMut::from_column_major_slice_mut(stripe, n, width);
        let Some(corner) = T::cholesky(stripe.as_ref().subrows(first, width)) else {
            return false;
        };
        let below = first + width;
        let blocks = stripes(
            stripe
                .as_mut()
                .subrows_mut(below, n - below)
                .transpose_mut(),
            STRIPE,
        );
        let blocks = blocks.into_par_iter();
        blocks.for_each(|block| T::divide(block.transpose_mut(), corner.as_ref()));
        let stripe = stripe.as_ref();
        let others = more.par_chunks_mut(STRIPE * n).enumerate();
        others.for_each(|(place, other)| {
            let columns = other.len() / n;
            let from = below + place * STRIPE;
            let other = MatMut::from_column_major_slice_mut(other, n, columns);
            let left = stripe.subrows(from, n - from);
            let right = stripe.subrows(from, columns);
            T::subtract_by_adjoint(other.subrows_mut(from, n - from), left, right);
        });
        rest = more;
    }
    true
}

/// Columns in a stripe of rows to orthonormalize.
const LONG: usize = 128;

/// Orthonormalizes the rows of a matrix; returns the triangle that restores them. By Cholesky
/// decompositions of Gram matrices: several times faster than by Householder reflections, but for
/// well-conditioned rows only. For others, `None`.
pub(crate) fn orthonormalise<T: Scalar>(mut rows: MatMut<T>) -> Option<Mat<T>> {
    let [first, second] = triangles(rows.as_mut())?;
    divide_rows(rows, second.as_ref());
    Some(super::times(first.as_ref(), second.as_ref()))
}

/// The triangle alone; the rows are destroyed.
pub(crate) fn triangle<T: Scalar>(rows: MatMut<T>) -> Option<Mat<T>> {
    let [first, second] = triangles(rows)?;
    Some(super::times(first.as_ref(), second.as_ref()))
}

/// Makes rows nearly orthonormal; returns the triangle that restores them, and the one that they
/// are still to be divided by.
fn triangles<T: Scalar>(mut rows: MatMut<T>) -> Option<[Mat<T>; 2]> {
    let n = rows.nrows();
    let first = T::cholesky(gram_of_rows(rows.as_ref()).as_ref())?;
    divide_rows(rows.as_mut(), first.as_ref());
    let gram = gram_of_rows(rows.as_ref());
    // The second round makes nearly orthonormal rows orthonormal.
    let is_near = (0..n).all(|column| {
        (column..n).all(|row| {
            let unit = if row == column { 1.0 } else { 0.0 };
            (gram[(row, column)] - T::of_real(unit)).energy() < 1e-8
        })
    });
    if !is_near {
        return None;
    }
    Some([first, T::cholesky(gram.as_ref())?])
}

/// Whether that many products justify another thread.
fn is_much<T>(rows: MatRef<T>) -> bool {
    rows.nrows() * rows.nrows() * rows.ncols() >= 1 << 20
}

/// The lower triangle of the Gram matrix of rows.
pub(crate) fn gram_of_rows<T: Scalar>(rows: MatRef<T>) -> Mat<T> {
    let n = rows.nrows();
    let part = |rows: MatRef<T>| {
        let mut gram = Mat::zeros(n, n);
        T::gram_of_rows(gram.as_mut(), rows);
        gram
    };
    if !is_much(rows) {
        return part(rows);
    }
    let starts: Vec<usize> = (0..rows.ncols()).step_by(LONG).collect();
    let parts = starts.par_iter().map(|start| {
        let width = LONG.min(rows.ncols() - start);
        part(rows.subcols(*start, width))
    });
    let parts: Vec<Mat<T>> = parts.collect();
    let mut sum = Mat::zeros(n, n);
    for part in parts {
        sum += part;
    }
    sum
}

/// Divides a matrix by a lower triangle, from the left.
pub(crate) fn divide_rows<T: Scalar>(rows: MatMut<T>, lower: MatRef<T>) {
    if !is_much(rows.as_ref()) {
        return T::divide_rows(rows, lower);
    }
    let stripes = stripes(rows, LONG).into_par_iter();
    stripes.for_each(|stripe| T::divide_rows(stripe, lower));
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;
    use crate::linalg;
    use crate::rng::Random;
    use crate::scalar::Complex64;

    /// A Hermitian matrix with eigenvalues of at least `smallest`, one of them exactly that.
    fn with_smallest<T: Scalar>(n: usize, smallest: f64) -> Vec<T> {
        let mut random = Random::new(11);
        let wide = Mat::from_fn(n, n, |_, _| T::of_parts(random.normal(), random.normal()));
        let found = linalg::qr(&linalg::row_major(wide.as_ref()), n);
        let q = linalg::rows(&found.long, n, n).to_owned();
        let mut scaled = q.clone();
        for column in 0..n {
            let value = if column == n / 2 { smallest } else { 1.0 };
            for row in 0..n {
                scaled[(row, column)] = scaled[(row, column)].times(value);
            }
        }
        let mut out = vec![T::default(); n * n];
        let target = MatMut::from_column_major_slice_mut(&mut out, n, n);
        linalg::multiply_by_adjoint(target, scaled.as_ref(), q.as_ref());
        out
    }

    fn check<T: Scalar>() {
        for n in [1, 5, 64, 65, 200] {
            assert!(is_positive(with_smallest::<T>(n, 1e-9), n), "{n}");
            assert!(!is_positive(with_smallest::<T>(n, -1e-9), n), "{n}");
        }
    }

    #[test]
    fn one_negative_eigenvalue_is_found() {
        check::<f64>();
        check::<Complex64>();
    }
}
