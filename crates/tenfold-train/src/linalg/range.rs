//! Orthonormal rows that span those of a matrix, as few as needed.
//!
//! Gram-Schmidt with pivoting: the longest remaining row becomes the next direction and is removed
//! from all others. For matrices with few rows it is faster than Householder reflections, it can
//! stop as soon as the residual is small enough, and it knows the residual exactly. Where a Gram
//! matrix shows many clear directions, these are removed at once.
#![expect(
    clippy::indexing_slicing,
    reason = "chunks have the length of the lanes, so that no check is left in the loops"
)]

use faer::Mat;
use pulp::Arch;

use super::cholesky::orthonormalise;
use super::row_pivots::pivots;
use crate::kernels::run_energy;
use crate::linalg;
use crate::num::{UNIT, real};
use crate::scalar::{Scalar, reals, reals_mut};

/// Directions, and their residual.
pub(crate) struct Span<T> {
    /// Orthonormal rows, row-major.
    pub(crate) rows: Vec<T>,
    /// The number of rows.
    pub(crate) rank: usize,
    /// The energy of the matrix outside of them.
    pub(crate) left_out: f64,
}

/// Finds rows that span those of a row-major matrix of `width` columns, up to the energy `spare`
/// and to rounding. Returns at least one row.
pub(crate) fn span<T: Scalar>(values: &[T], width: usize, spare: f64) -> Span<T> {
    let mut left = values.to_vec();
    let mut energies: Vec<f64> = left.chunks_exact(width).map(row_energy).collect();
    let mut floor = energies.iter().copied().fold(0.0, f64::max) * (2.0 * UNIT).powi(2);
    let most = width.min(energies.len());
    let mut found = Span {
        rows: Vec::new(),
        rank: 0,
        left_out: energies.iter().sum(),
    };
    if most >= MANY
        && let Some(clear) = clear_directions(values, width, spare)
    {
        take_at_once(&mut left, &clear, width, &mut energies);
        found.rank = clear.chosen.len();
        // Every direction contributes its rounding.
        floor *= real(1 + found.rank);
        found.rows = clear.rows;
        found.left_out = energies.iter().sum();
    }
    while found.rank < most {
        let longest = energies.iter().copied().enumerate();
        let longest = longest.max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((place, energy)) = longest else {
            break;
        };
        // Also stops at NaN.
        if !(found.left_out > spare && energy > floor) {
            break;
        }
        let Some(row) = left.chunks_exact_mut(width).nth(place) else {
            break;
        };
        // Rounding reintroduces small parts of earlier directions.
        let own = take_all(row, &found.rows, width);
        if own < 0.25 * energy {
            // Most of the residual was of that kind. It shrinks, so this terminates.
            let own = take_all(row, &found.rows, width);
            energies[place] = own;
            found.left_out = energies.iter().sum();
            continue;
        }
        let length = own.sqrt();
        let direction = row.iter().map(|value| value.times(1.0 / length));
        let direction: Vec<T> = direction.collect();
        row.fill(T::default());
        take_from_all(&mut left, &direction, &mut energies);
        found.rows.extend_from_slice(&direction);
        found.rank += 1;
        found.left_out = energies.iter().sum();
    }
    if found.rank == 0 {
        found.rows = vec![T::default(); width];
        if let Some(first) = found.rows.first_mut() {
            *first = T::of_real(1.0);
        }
        found.rank = 1;
    }
    found
}

/// Fewest rows to look for several directions at once, and fewest directions to accept.
const MANY: usize = 16;
const SEVERAL: usize = 8;

/// Directions that a Gram matrix shows.
struct Clear<T> {
    /// Orthonormal rows, row-major.
    rows: Vec<T>,
    /// The rows of the matrix that span them.
    chosen: Vec<usize>,
}

fn clear_directions<T: Scalar>(values: &[T], width: usize, spare: f64) -> Option<Clear<T>> {
    let n_rows = values.len() / width;
    let chosen = pivots(linalg::rows(values, n_rows, width), spare);
    if chosen.len() < SEVERAL {
        return None;
    }
    let mut rows = Vec::with_capacity(chosen.len() * width);
    for place in &chosen {
        rows.extend_from_slice(values.chunks_exact(width).nth(*place)?);
    }
    orthonormalise(linalg::rows_mut(&mut rows, chosen.len(), width))?;
    Some(Clear { rows, chosen })
}

/// Removes directions from all rows, and measures their residuals.
fn take_at_once<T: Scalar>(left: &mut [T], clear: &Clear<T>, width: usize, energies: &mut [f64]) {
    let n_rows = left.len() / width;
    let along = linalg::rows(&clear.rows, clear.chosen.len(), width);
    let mut inside = Mat::zeros(n_rows, clear.chosen.len());
    let mut left_rows = linalg::rows_mut(left, n_rows, width);
    linalg::multiply_by_adjoint(inside.as_mut(), left_rows.as_ref(), along);
    linalg::subtract_product(left_rows.as_mut(), inside.as_ref(), along);
    for (place, (row, energy)) in left.chunks_exact_mut(width).zip(energies).enumerate() {
        if clear.chosen.contains(&place) {
            row.fill(T::default());
        }
        *energy = row_energy(row);
    }
}

fn row_energy<T: Scalar>(row: &[T]) -> f64 {
    let row = reals(row);
    Arch::new().dispatch(
        #[inline(always)]
        || run_energy(row),
    )
}

/// Removes directions from a row; returns the remaining energy.
fn take_all<T: Scalar>(row: &mut [T], directions: &[T], width: usize) -> f64 {
    let row = reals_mut(row);
    let mut crossed = Vec::new();
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for direction in directions.chunks_exact(width) {
                cross(direction, &mut crossed);
                take(row, reals(direction), &crossed);
            }
            run_energy(row)
        },
    )
}

/// Removes a direction from all rows with remaining energy, and measures them again.
fn take_from_all<T: Scalar>(rows: &mut [T], direction: &[T], energies: &mut [f64]) {
    let along = reals(direction);
    let mut crossed = Vec::new();
    cross(direction, &mut crossed);
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let rows = rows.chunks_exact_mut(direction.len());
            for (row, energy) in rows.zip(energies) {
                if *energy > 0.0 {
                    let row = reals_mut(row);
                    take(row, along, &crossed);
                    *energy = run_energy(row);
                }
            }
        },
    );
}

/// A complex direction, interleaved as (re, im), times the imaginary unit: (-im, re). As doubles,
/// both are directions. Empty for a real one.
#[inline(always)]
fn cross<T: Scalar>(direction: &[T], crossed: &mut Vec<f64>) {
    crossed.clear();
    if T::REALS == 2 {
        let pairs = reals(direction).as_chunks::<2>().0.iter();
        crossed.extend(pairs.flat_map(|[re, im]| [-im, *re]));
    }
}

/// Removes a direction from a row, and its product with the imaginary unit if there is one.
#[inline(always)]
fn take(row: &mut [f64], along: &[f64], crossed: &[f64]) {
    let factor = dot(row, along);
    if crossed.is_empty() {
        for (value, along) in row.iter_mut().zip(along) {
            *value -= factor * along;
        }
        return;
    }
    let other = dot(row, crossed);
    for ((value, along), crossed) in row.iter_mut().zip(along).zip(crossed) {
        *value -= factor * along + other * crossed;
    }
}

const LANES: usize = 32;

#[inline(always)]
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let mut lanes = [0.0_f64; LANES];
    let ((one, one_rest), (other, other_rest)) =
        (one.as_chunks::<LANES>(), other.as_chunks::<LANES>());
    for (one, other) in one.iter().zip(other) {
        for lane in 0..LANES {
            lanes[lane] += one[lane] * other[lane];
        }
    }
    let rest = one_rest.iter().zip(other_rest);
    lanes.iter().sum::<f64>() + rest.map(|(one, other)| one * other).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;
    use crate::scalar::Complex64;

    fn check<T: Scalar>(values: &[T], width: usize, spare: f64, rank: usize) {
        let found = span(values, width, spare);
        assert_eq!(found.rank, rank, "{width} columns");
        assert_eq!(found.rows.len(), rank * width);
        let inner = |one: &[T], other: &[T]| -> T {
            let both = one.iter().zip(other);
            both.map(|(one, other)| *one * other.conjugate()).sum()
        };
        for (place, row) in found.rows.chunks_exact(width).enumerate() {
            for (other, along) in found.rows.chunks_exact(width).enumerate() {
                let wanted = T::of_real(if place == other { 1.0 } else { 0.0 });
                assert!((inner(row, along) - wanted).energy().sqrt() < 1e-14);
            }
        }
        let mut outside = 0.0;
        for row in values.chunks_exact(width) {
            let mut left = row.to_vec();
            for along in found.rows.chunks_exact(width) {
                let factor = inner(row, along);
                let places = left.iter_mut().zip(along);
                places.for_each(|(left, along)| *left += -(factor * *along));
            }
            outside += left.iter().map(|left| left.energy()).sum::<f64>();
        }
        let total: f64 = values.iter().map(|value| value.energy()).sum();
        let slack = 1e-28 * total;
        assert!(outside <= spare + slack, "{outside:e}");
        assert!((outside - found.left_out).abs() <= 1e-6 * outside + slack);
    }

    /// Rows of given rank, each direction ten times weaker than the one before.
    fn fading(n_rows: usize, width: usize, rank: usize) -> Vec<f64> {
        let mut random = Random::new(5);
        let directions: Vec<f64> = (0..rank * width).map(|_| random.normal()).collect();
        let mut values = vec![0.0; n_rows * width];
        for row in values.chunks_exact_mut(width) {
            let mut size = 1.0;
            for along in directions.chunks_exact(width) {
                let factor = size * random.normal();
                row.iter_mut()
                    .zip(along)
                    .for_each(|(value, along)| *value += factor * along);
                size *= 0.1;
            }
        }
        values
    }

    #[test]
    fn rows_are_spanned_by_as_many_as_their_rank() {
        for (n_rows, width, rank) in [
            (6, 70, 4),
            (9, 33, 9),
            (20, 16, 3),
            (1, 5, 1),
            (24, 512, 11),
        ] {
            let values = fading(n_rows, width, rank);
            // Rounding of the values does not have their rank.
            let rounding = 1e-29 * values.iter().map(|value| value * value).sum::<f64>();
            check(&values, width, rounding, rank);
        }
    }

    #[test]
    fn complex_rows_are_spanned_too() {
        let values = fading(12, 90, 5);
        let pairs = values.as_chunks::<2>().0.iter();
        let values: Vec<Complex64> = pairs.map(|[re, im]| Complex64::new(*re, *im)).collect();
        check(&values, 45, 0.0, 5);
        let odd: Vec<Complex64> = values
            .chunks_exact(45)
            .flat_map(|row| row[..43].to_vec())
            .collect();
        check(&odd, 43, 0.0, 5);
    }

    #[test]
    fn it_stops_when_little_enough_is_left() {
        let values = fading(24, 200, 8);
        let found = span(&values, 200, 1e-3);
        assert!(found.rank < 8 && found.left_out <= 1e-3, "{}", found.rank);
        check(&values, 200, 1e-3, found.rank);
    }

    #[test]
    fn zeros_have_a_direction_too() {
        check(&[0.0; 12], 4, 0.0, 1);
    }
}
