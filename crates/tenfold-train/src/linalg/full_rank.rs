//! Fast test for full rank, in single precision.
//!
//! That nothing can be left out need not be proven: keeping more than necessary adds no error. So a
//! fast test that is almost never wrong suffices. A square matrix is LU-factorized in single
//! precision, and systems with random right sides are solved with it. Only the solutions are then
//! examined, in double precision: if a singular value of the matrix were below the floor, no vector
//! of moderate norm would be mapped to its left singular vector, and a random right side has a
//! component there.
//!
//! Columns are split into stripes by their number alone, and each is processed by one thread at a
//! time in a fixed order, so the result is bitwise reproducible.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::{Single, stripes, subtract_product};
use crate::num::real;
use crate::rng::Random;
use crate::scalar::Scalar;

/// Columns in a stripe.
const STRIPE: usize = 64;

/// Rows multiplied at a time.
const LONG: usize = 256;

/// Number of systems to solve.
const EQUATIONS: usize = 4;

/// Number of refinement steps.
const ROUNDS: usize = 3;

/// The smallest component of a random right side along one direction, relative to its expectation,
/// that the test relies on: it is smaller in one of twenty cases, in all systems almost never.
const FAINT: f64 = 0.06;

/// A pivot this small, relative to the largest, is rounding.
const VANISHED: f32 = 4.0 * f32::EPSILON;

/// Whether all singular values of a square matrix surely exceed `floor`; false if uncertain. Its
/// entries are about as large as `size`.
pub(crate) fn is_regular<T: Scalar>(square: MatRef<T>, size: f64, floor: f64) -> bool {
    // The transpose has the same singular values.
    let square = if square.col_stride() == 1 {
        square.transpose()
    } else {
        square
    };
    let n = square.ncols();
    let Some(triangles) = Triangles::of(square, 1.0 / size) else {
        return false;
    };
    let mut random = Random::new(1);
    let sides = Mat::from_fn(n, EQUATIONS, |_, _| {
        T::of_parts(random.normal(), random.normal())
    });
    let mut solutions = Mat::<T>::zeros(n, EQUATIONS);
    let mut left = sides.clone();
    for _ in 0..ROUNDS {
        triangles.solve(left.as_ref(), 1.0 / size, &mut solutions);
        left = sides.clone();
        let parts = stripes(left.as_mut().transpose_mut(), LONG);
        parts.into_par_iter().enumerate().for_each(|(place, part)| {
            let rows = square.subrows(place * LONG, part.ncols());
            subtract_product(part.transpose_mut(), rows, solutions.as_ref());
        });
        let is_seen = (0..EQUATIONS).all(|place| {
            let length = |matrix: &Mat<T>| {
                let energies = matrix.col(place).iter().map(|value| value.energy());
                energies.sum::<f64>().sqrt()
            };
            // NaN does not count as small.
            length(&left) + floor * length(&solutions) <= FAINT * length(&sides) / real(n).sqrt()
        });
        if is_seen {
            return true;
        }
    }
    false
}

/// The LU factors of a square matrix with row pivoting.
struct Triangles<T: Scalar> {
    n: usize,
    /// Both triangles in one column-major matrix; the lower one has a unit diagonal.
    values: Vec<T::Single>,
    /// For each stripe, the row exchanges from its own first row on.
    orders: Vec<Vec<Move>>,
}

/// A row exchange.
#[derive(Clone, Copy)]
struct Move {
    from: usize,
    to: usize,
}

impl<T: Scalar> Triangles<T> {
    /// Factorizes a matrix, each number times `factor`; `None` if its rank is seen to be smaller.
    fn of(square: MatRef<T>, factor: f64) -> Option<Triangles<T>> {
        let n = square.ncols();
        let mut values = vec![T::Single::default(); n * n];
        let narrow = values.par_chunks_mut(n * STRIPE).enumerate();
        narrow.for_each(|(place, stripe)| {
            let width = stripe.len() / n;
            let from = square.subcols(place * STRIPE, width);
            let mut stripe = MatMut::from_column_major_slice_mut(stripe, n, width);
            narrowed(stripe.as_mut(), from, factor);
        });
        let mut orders = Vec::new();
        let mut rest = values.as_mut_slice();
        let mut last: Option<Panel<T::Single>> = None;
        while !rest.is_empty() {
            let first = orders.len() * STRIPE;
            let (stripe, others) = rest.split_at_mut_checked(STRIPE.min(n - first) * n)?;
            // The next stripe is factorized while the others still apply the last one.
            let (panel, ()) = rayon::join(
                || {
                    if let Some(last) = &last {
                        last.take_from(stripe);
                    }
                    let largest = last.as_ref().map_or(0.0, |last| last.largest);
                    Panel::of(stripe, n, first, largest)
                },
                || {
                    if let Some(last) = &last {
                        let others = others.par_chunks_mut(n * STRIPE);
                        others.for_each(|other| last.take_from(other));
                    }
                },
            );
            let panel = panel?;
            orders.push(panel.moves.clone());
            (last, rest) = (Some(panel), others);
        }
        Some(Triangles { n, values, orders })
    }

    /// Adds the solutions of systems with given right sides, each number times `factor`.
    fn solve(&self, sides: MatRef<T>, factor: f64, sums: &mut Mat<T>) {
        let count = sides.ncols();
        let mut values = vec![T::Single::default(); self.n * count];
        let mut found = MatMut::from_column_major_slice_mut(&mut values, self.n, count);
        narrowed(found.as_mut(), sides, factor);
        for (stripe, moves) in self.stripes().zip(&self.orders) {
            let mut rest = found
                .as_mut()
                .subrows_mut(stripe.first, self.n - stripe.first);
            exchange(rest.as_mut(), moves);
            let (mut top, rest) = rest.split_at_row_mut(stripe.corner.nrows());
            T::Single::divide_by_lower(top.as_mut(), stripe.corner);
            T::Single::take_product(rest, stripe.below, top.as_ref());
        }
        let stripes: Vec<Stripe<T::Single>> = self.stripes().collect();
        for stripe in stripes.iter().rev() {
            let (above, rest) = found.as_mut().split_at_row_mut(stripe.first);
            let mut own = rest.subrows_mut(0, stripe.corner.nrows());
            T::Single::divide_by_upper(own.as_mut(), stripe.corner);
            T::Single::take_product(above, stripe.above, own.as_ref());
        }
        for (sums, found) in sums.as_mut().col_iter_mut().zip(found.as_ref().col_iter()) {
            for (sum, found) in sums.iter_mut().zip(found.iter()) {
                *sum += found.widen();
            }
        }
    }

    fn stripes(&self) -> impl Iterator<Item = Stripe<'_, T::Single>> {
        let stripes = self.values.chunks(self.n * STRIPE).enumerate();
        stripes.map(|(place, values)| {
            let (first, width) = (place * STRIPE, values.len() / self.n);
            let stripe = MatRef::from_column_major_slice(values, self.n, width);
            let (above, rest) = stripe.split_at_row(first);
            let (corner, below) = rest.split_at_row(width);
            Stripe {
                first,
                above,
                corner,
                below,
            }
        })
    }
}

/// A factorized stripe.
struct Panel<'a, S> {
    n: usize,
    /// Its first column, and its first row.
    first: usize,
    corner: MatRef<'a, S>,
    below: MatRef<'a, S>,
    moves: Vec<Move>,
    /// The largest pivot so far.
    largest: f32,
}

impl<'a, S: Single> Panel<'a, S> {
    /// Factorizes columns, from row `first` on; `None` if a pivot is at rounding level.
    fn of(stripe: &'a mut [S], n: usize, first: usize, largest: f32) -> Option<Panel<'a, S>> {
        let width = stripe.len() / n;
        let columns = MatMut::from_column_major_slice_mut(&mut *stripe, n, width);
        let order = S::take_apart(columns.subrows_mut(first, n - first));
        let moves = order.iter().enumerate().filter(|(to, from)| to != *from);
        let moves = moves.map(|(to, from)| Move { from: *from, to }).collect();
        let columns = MatRef::from_column_major_slice(stripe, n, width);
        let (corner, below) = columns.subrows(first, n - first).split_at_row(width);
        let mut panel = Panel {
            n,
            first,
            corner,
            below,
            moves,
            largest,
        };
        for place in 0..width {
            let pivot = corner[(place, place)].size();
            panel.largest = panel.largest.max(pivot);
            // NaN is not a pivot.
            let is_pivot = pivot > VANISHED * panel.largest;
            if !is_pivot {
                return None;
            }
        }
        Some(panel)
    }

    /// Applies this stripe to later columns.
    fn take_from(&self, other: &mut [S]) {
        let columns = other.len() / self.n;
        let other = MatMut::from_column_major_slice_mut(other, self.n, columns);
        let mut other = other.subrows_mut(self.first, self.n - self.first);
        exchange(other.as_mut(), &self.moves);
        let (mut top, rest) = other.split_at_row_mut(self.corner.nrows());
        S::divide_by_lower(top.as_mut(), self.corner);
        S::take_product(rest, self.below, top.as_ref());
    }
}

/// Some columns of the factors: those of the upper triangle above the diagonal, both at it, and
/// those of the lower one below.
struct Stripe<'a, S> {
    /// Its first column.
    first: usize,
    above: MatRef<'a, S>,
    corner: MatRef<'a, S>,
    below: MatRef<'a, S>,
}

/// Writes numbers times `factor`.
fn narrowed<T: Scalar>(mut out: MatMut<T::Single>, from: MatRef<T>, factor: f64) {
    for (out, from) in out.as_mut().col_iter_mut().zip(from.col_iter()) {
        for (out, from) in out.iter_mut().zip(from.iter()) {
            *out = T::Single::narrow(*from, factor);
        }
    }
}

/// Moves rows.
fn exchange<S: Single>(matrix: MatMut<S>, moves: &[Move]) {
    let mut held = vec![S::default(); moves.len()];
    for mut column in matrix.col_iter_mut() {
        for (held, Move { from, .. }) in held.iter_mut().zip(moves) {
            *held = column[*from];
        }
        for (held, Move { to, .. }) in held.iter().zip(moves) {
            column[*to] = *held;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg;
    use crate::scalar::Complex64;

    /// A matrix whose singular values are 1, except for one.
    fn with_one<T: Scalar>(n: usize, value: f64) -> Mat<T> {
        let mut random = Random::new(3);
        let wide = Mat::from_fn(n, n, |_, _| T::of_parts(random.normal(), random.normal()));
        let found = linalg::qr(&linalg::row_major(wide.as_ref()), n);
        let q = linalg::rows(&found.long, n, n).to_owned();
        let mut scaled = q.clone();
        for row in 0..n {
            scaled[(row, n / 3)] = scaled[(row, n / 3)].times(value);
        }
        // Rows in reverse: the product with its own adjoint would be Hermitian.
        let mut out = Mat::zeros(n, n);
        linalg::multiply_by_adjoint(out.as_mut(), scaled.as_ref(), q.as_ref().reverse_rows());
        out
    }

    fn check<T: Scalar>() {
        for n in [1, 5, 64, 65, 200] {
            let size = 1.0 / real(n).sqrt();
            for (value, floor, wanted) in [
                (1.0, 1e-14, true),
                (1e-3, 1e-14, true),
                (1e-3, 1e-2, false),
                (1e-14, 1e-12, false),
                (0.0, 0.0, false),
            ] {
                // A single entry is the only singular value.
                let size = if n == 1 { 1.0 } else { size };
                let matrix = with_one::<T>(n, value);
                let wanted = wanted || (n == 1 && value > floor);
                let found = is_regular(matrix.as_ref(), size, floor);
                assert_eq!(found, wanted, "{n} columns, {value:e} above {floor:e}");
                let turned = is_regular(matrix.transpose(), size, floor);
                assert_eq!(turned, wanted, "{n} rows, {value:e} above {floor:e}");
            }
        }
    }

    #[test]
    fn one_small_singular_value_is_found() {
        check::<f64>();
        check::<Complex64>();
    }

    #[test]
    fn what_is_not_finite_is_not_regular() {
        let mut matrix = with_one::<f64>(70, 1.0);
        matrix[(3, 68)] = f64::NAN;
        assert!(!is_regular(matrix.as_ref(), 0.1, 0.0));
    }
}
