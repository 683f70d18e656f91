//! Rows that span all others, selected by a pivoted Cholesky decomposition of the Gram matrix.

use faer::{Mat, MatRef};

use crate::scalar::Scalar;

/// The smallest residual energy of a row, relative to the largest row, that a Gram matrix resolves
/// above rounding.
const FAINT: f64 = 1e-10;

/// Linearly independent rows, in pivot order of a Cholesky decomposition; all others lie in their
/// span up to the energy `spare`, or to rounding.
pub(crate) fn pivots<T: Scalar>(rows: MatRef<T>, spare: f64) -> Vec<usize> {
    let n = rows.nrows();
    let mut gram = Mat::<T>::zeros(n, n);
    T::gram_of_rows(gram.as_mut(), rows);
    let mut left: Vec<f64> = (0..n).map(|row| gram[(row, row)].real()).collect();
    let floor = left.iter().copied().fold(0.0, f64::max) * FAINT;
    let most = n.min(rows.ncols());
    let mut factor = Mat::<T>::zeros(n, most);
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let longest = left.iter().copied().enumerate();
        let longest = longest.max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((pivot, energy)) = longest else {
            break;
        };
        // Also stops at NaN.
        if !(energy > floor && left.iter().sum::<f64>() > spare) {
            break;
        }
        let step = chosen.len();
        let mut column: Vec<T> = (0..n)
            .map(|row| {
                if row >= pivot {
                    gram[(row, pivot)]
                } else {
                    gram[(pivot, row)].conjugate()
                }
            })
            .collect();
        for before in 0..step {
            let along = factor[(pivot, before)].conjugate();
            let taken = column.iter_mut().zip(factor.col(before).iter());
            taken.for_each(|(value, other)| *value += -(*other * along));
        }
        let length = energy.sqrt();
        let target = factor.col_mut(step);
        for ((target, value), left) in target.iter_mut().zip(column).zip(&mut left) {
            *target = value.times(1.0 / length);
            *left = (*left - target.energy()).max(0.0);
        }
        if let Some(left) = left.get_mut(pivot) {
            *left = 0.0;
        }
        chosen.push(pivot);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;
    use crate::scalar::Complex64;

    fn check<T: Scalar>() {
        let mut random = Random::new(4);
        let mut number = |_, _| T::of_parts(random.normal(), random.normal());
        let (left, right) = (
            Mat::from_fn(40, 7, &mut number),
            Mat::from_fn(7, 90, number),
        );
        let mut rows = super::super::times(left.as_ref(), right.as_ref());
        for column in 0..90 {
            rows[(33, column)] = rows[(33, column)].times(1e4);
        }
        let found = pivots(rows.as_ref(), 0.0);
        assert_eq!(found.len(), 7);
        assert_eq!(found.first(), Some(&33));
        assert_eq!(pivots(rows.as_ref(), f64::INFINITY), Vec::<usize>::new());
    }

    #[test]
    fn as_many_rows_are_chosen_as_there_are_directions() {
        check::<f64>();
        check::<Complex64>();
    }
}
