//! What faer does in single precision, once for each kind of number. Everything runs on the
//! calling thread.

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

/// A number of half as many bits as one that cores are made of.
pub trait Single: Copy + Default + Send + Sync {
    /// The number it stands for.
    #[doc(hidden)]
    type Wide: Copy;

    /// The nearest to a number times `factor`.
    #[doc(hidden)]
    fn narrow(wide: Self::Wide, factor: f64) -> Self;

    /// The same number.
    #[doc(hidden)]
    fn widen(self) -> Self::Wide;

    /// The sum of the sizes of its parts.
    #[doc(hidden)]
    fn size(self) -> f32;

    /// Puts a lower triangle with ones on its diagonal and an upper one, whose product is the
    /// matrix with its rows in another order, in its place; gives that order.
    #[doc(hidden)]
    fn take_apart(matrix: MatMut<Self>) -> Vec<usize>;

    /// Divides rows by a lower triangle with ones on its diagonal, from the left.
    #[doc(hidden)]
    fn divide_by_lower(rows: MatMut<Self>, lower: MatRef<Self>);

    /// Divides rows by an upper triangle, from the left.
    #[doc(hidden)]
    fn divide_by_upper(rows: MatMut<Self>, upper: MatRef<Self>);

    /// Takes `left · right` from `out`.
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
