//! faer's operations, once per scalar type: compiled here, not in every crate that uses trains.
//! Everything runs on the calling thread.

use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::num::UNIT;
use crate::scalar::{Complex64, Scalar};

/// The products and factorizations for one scalar type.
pub trait Dense: Sized {
    /// Writes `left · right` to `out`, or adds it times `factor`.
    #[doc(hidden)]
    fn gemm(out: MatMut<Self>, how: Accum, left: MatRef<Self>, right: MatRef<Self>, factor: f64);

    /// Writes `left^H · right` to `out`, or adds it.
    #[doc(hidden)]
    fn gemm_adjoint(out: MatMut<Self>, how: Accum, left: MatRef<Self>, right: MatRef<Self>);

    /// Writes `left · right^H` to `out`, or adds it.
    #[doc(hidden)]
    fn gemm_by_adjoint(out: MatMut<Self>, how: Accum, left: MatRef<Self>, right: MatRef<Self>);

    /// Adds the lower triangle of `panel^H · panel` to `gram`.
    #[doc(hidden)]
    fn syrk(gram: MatMut<Self>, panel: MatRef<Self>);

    /// A thin singular value decomposition.
    #[doc(hidden)]
    fn svd(matrix: MatRef<Self>) -> Option<(Mat<Self>, Vec<f64>, Mat<Self>)>;

    /// Writes the lower triangle of `rows · rows^H` into `gram`.
    #[doc(hidden)]
    fn gram_of_rows(gram: MatMut<Self>, rows: MatRef<Self>);

    /// Divides a matrix by a lower triangle, from the left.
    #[doc(hidden)]
    fn divide_rows(rows: MatMut<Self>, lower: MatRef<Self>);

    /// Orthonormal columns that approximately span those of a matrix: fast, but not always
    /// accurate.
    #[doc(hidden)]
    fn quick_qr(matrix: MatRef<Self>) -> Mat<Self>;

    /// Orthonormal columns that span those of a matrix, up to rounding.
    #[doc(hidden)]
    fn qr(matrix: MatRef<Self>) -> Mat<Self>;

    /// The square factor of a matrix when such columns are split off.
    #[doc(hidden)]
    fn triangle(matrix: MatRef<Self>) -> Mat<Self>;

    /// Eigenvalues, smallest first, and eigenvectors of a Hermitian matrix.
    #[doc(hidden)]
    fn eigh(matrix: MatRef<Self>) -> Option<(Vec<f64>, Mat<Self>)>;

    /// The Cholesky factor of a Hermitian matrix given by its lower triangle, if it has one.
    #[doc(hidden)]
    fn cholesky(matrix: MatRef<Self>) -> Option<Mat<Self>>;

    /// Divides a matrix by the adjoint of a lower triangle, from the right.
    #[doc(hidden)]
    fn divide(matrix: MatMut<Self>, lower: MatRef<Self>);

    /// Subtracts `left · right^H` from `out`.
    #[doc(hidden)]
    fn subtract_by_adjoint(out: MatMut<Self>, left: MatRef<Self>, right: MatRef<Self>);
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

            fn gemm_adjoint(out: MatMut<Self>, how: Accum, left: MatRef<Self>, right: MatRef<Self>) {
                matmul(out, how, left.adjoint(), right, Self::of_real(1.0), Par::Seq);
            }

            fn gemm_by_adjoint(out: MatMut<Self>, how: Accum, left: MatRef<Self>, right: MatRef<Self>) {
                matmul(out, how, left, right.adjoint(), Self::of_real(1.0), Par::Seq);
            }

            fn syrk(gram: MatMut<Self>, panel: MatRef<Self>) {
                use triangular::BlockStructure::{Rectangular, TriangularLower};
                let (add, one) = (Accum::Add, Self::of_real(1.0));
                let (left, all) = (panel.adjoint(), Rectangular);
                triangular::matmul(gram, TriangularLower, add, left, all, panel, all, one, Par::Seq);
            }

            fn svd(matrix: MatRef<Self>) -> Option<(Mat<Self>, Vec<f64>, Mat<Self>)> {
                // A factorization that does not converge is reported as such by the caller.
                let found = matrix.thin_svd().ok()?;
                let values = found.S().column_vector();
                let squares = values.iter().map(|value| value.energy()).collect();
                Some((found.U().to_owned(), squares, found.V().to_owned()))
            }

            fn gram_of_rows(gram: MatMut<Self>, rows: MatRef<Self>) {
                use triangular::BlockStructure::{Rectangular, TriangularLower};
                let (put, one, all) = (Accum::Replace, Self::of_real(1.0), Rectangular);
                let other = rows.adjoint();
                triangular::matmul(gram, TriangularLower, put, rows, all, other, all, one, Par::Seq);
            }

            fn divide_rows(rows: MatMut<Self>, lower: MatRef<Self>) {
                solve_lower_triangular_in_place(lower, rows, Par::Seq);
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

            fn cholesky(matrix: MatRef<Self>) -> Option<Mat<Self>> {
                // Failure is a normal result: the matrix is not positive definite.
                let found = matrix.llt(faer::Side::Lower).ok()?;
                let at = |row, column| if row < column { Self::of_real(0.0) } else { found.L()[(row, column)] };
                Some(Mat::from_fn(matrix.nrows(), matrix.ncols(), at))
            }

            fn divide(matrix: MatMut<Self>, lower: MatRef<Self>) {
                solve_lower_triangular_in_place(lower.conjugate(), matrix.transpose_mut(), Par::Seq);
            }

            fn subtract_by_adjoint(out: MatMut<Self>, left: MatRef<Self>, right: MatRef<Self>) {
                matmul(out, Accum::Add, left, right.adjoint(), Self::of_real(-1.0), Par::Seq);
            }
        }
    )*};
}

dense!(f64, Complex64);
