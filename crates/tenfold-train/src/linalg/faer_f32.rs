//! faer's operations in single precision, once per scalar type. Everything runs on the calling
//! thread.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_unit_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, MatMut, MatRef, Par, Spec};
use num_complex::Complex;

use crate::num::narrow;
use crate::scalar::Complex64;

/// The single-precision counterpart of a scalar.
pub trait Single: Copy + Default + Send + Sync {
    /// Its double-precision counterpart.
    #[doc(hidden)]
    type Wide: Copy;

    /// The number times `factor`, rounded to single precision.
    #[doc(hidden)]
    fn narrow(wide: Self::Wide, factor: f64) -> Self;

    /// The number in double precision.
    #[doc(hidden)]
    fn widen(self) -> Self::Wide;

    /// The 1-norm of its parts.
    #[doc(hidden)]
    fn size(self) -> f32;

    /// Replaces a matrix by its LU factors with row pivoting, a unit lower triangle and an upper
    /// one; returns the row permutation.
    #[doc(hidden)]
    fn take_apart(matrix: MatMut<Self>) -> Vec<usize>;

    /// Solves with a unit lower triangle, from the left.
    #[doc(hidden)]
    fn divide_by_lower(rows: MatMut<Self>, lower: MatRef<Self>);

    /// Solves with an upper triangle, from the left.
    #[doc(hidden)]
    fn divide_by_upper(rows: MatMut<Self>, upper: MatRef<Self>);

    /// Subtracts `left · right` from `out`.
    #[doc(hidden)]
    fn take_product(out: MatMut<Self>, left: MatRef<Self>, right: MatRef<Self>);
}

macro_rules! single {
    ($($single:ty, $wide:ty, $one:expr, $narrow:expr, $widen:expr, $size:expr;)*) => {$(
        impl Single for $single {
            type Wide = $wide;

            fn narrow(wide: $wide, factor: f64) -> $single {
                $narrow(wide * factor)
            }

            fn widen(self) -> $wide {
                $widen(self)
            }

            fn size(self) -> f32 {
                $size(self)
            }

            fn take_apart(matrix: MatMut<Self>) -> Vec<usize> {
                let (n_rows, n_columns) = matrix.shape();
                let (mut order, mut back) = (vec![0_usize; n_rows], vec![0_usize; n_rows]);
                let (seq, auto) = (Par::Seq, Spec::default());
                let room = lu_in_place_scratch::<usize, Self>(n_rows, n_columns, seq, auto);
                let mut room = MemBuffer::new(room);
                lu_in_place(matrix, &mut order, &mut back, seq, MemStack::new(&mut room), auto);
                order
            }

            fn divide_by_lower(rows: MatMut<Self>, lower: MatRef<Self>) {
                solve_unit_lower_triangular_in_place(lower, rows, Par::Seq);
            }

            fn divide_by_upper(rows: MatMut<Self>, upper: MatRef<Self>) {
                solve_upper_triangular_in_place(upper, rows, Par::Seq);
            }

            fn take_product(out: MatMut<Self>, left: MatRef<Self>, right: MatRef<Self>) {
                matmul(out, Accum::Add, left, right, -$one, Par::Seq);
            }
        }
    )*};
}

single!(
    f32, f64, 1.0_f32, narrow, f64::from, f32::abs;
    Complex<f32>, Complex64, Complex::new(1.0_f32, 0.0), narrow_both, widen_both, both_sizes;
);

fn narrow_both(wide: Complex64) -> Complex<f32> {
    Complex::new(narrow(wide.re), narrow(wide.im))
}

fn widen_both(single: Complex<f32>) -> Complex64 {
    Complex::new(single.re.into(), single.im.into())
}

fn both_sizes(single: Complex<f32>) -> f32 {
    single.re.abs() + single.im.abs()
}
