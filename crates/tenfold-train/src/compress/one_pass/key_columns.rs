//! Columns of a row that determine its coefficients in a basis.
//!
//! A row of cells in the span of a basis is determined by any set of columns that separates the
//! directions. For a row near the span this holds approximately: its part outside the span is
//! mistaken for coefficients, the more so the fewer columns are used. This halves the work of a
//! pass, and nothing is assumed: a pass measures the residual of its coefficients.

use faer::Mat;

use crate::compress::two_sided::weighted_rows::in_proportion;
use crate::kernels::{KeyColumns, LINE, pack};
use crate::linalg;
use crate::num::real;

/// Fewest columns per direction, and largest fraction of a row that is used.
const PLACES: usize = 4;
const PART: usize = 4;

/// Permitted growth of the residual under noise: its norm grows by about an eighth.
const LOUDER: f64 = 0.25;

/// The columns of rows of `width` that determine their coefficients in orthonormal rows; `None` if
/// too many are needed.
pub(crate) fn lead(rows: &[f64], width: usize) -> Option<KeyColumns> {
    let rank = rows.len() / width;
    let mut weights = vec![0.0; width / LINE];
    for row in rows.chunks_exact(width) {
        for (weight, run) in weights.iter_mut().zip(row.as_chunks::<LINE>().0) {
            *weight += run.iter().map(|value| value * value).sum::<f64>();
        }
    }
    let mut wanted = (PLACES * rank).div_ceil(LINE);
    while wanted * LINE * PART <= width {
        let starts = in_proportion(&weights, wanted).into_iter();
        let starts: Vec<usize> = starts.map(|run| run * LINE).collect();
        if let Some(factors) = factors(rows, width, &starts) {
            let factors = pack(&factors, starts.len() * LINE);
            return Some(KeyColumns { starts, factors });
        }
        wanted *= 2;
    }
    None
}

/// The least-squares matrix from some columns to coefficients, one row per coefficient; `None` if
/// it would amplify noise too much.
fn factors(rows: &[f64], width: usize, starts: &[usize]) -> Option<Vec<f64>> {
    let rank = rows.len() / width;
    let n_places = starts.len() * LINE;
    if n_places < rank {
        return None;
    }
    let mut parts = Vec::with_capacity(rank * n_places);
    for row in rows.chunks_exact(width) {
        for start in starts {
            parts.extend_from_slice(row.get(*start..start + LINE)?);
        }
    }
    let triangle = linalg::orthonormalise(linalg::rows_mut(&mut parts, rank, n_places))?;
    let mut inverse = Mat::identity(rank, rank);
    linalg::divide_rows(inverse.as_mut(), triangle.as_ref());
    // White noise of unit variance is amplified this much by the coefficients alone.
    let noise = linalg::norm(inverse.as_ref()).powi(2);
    let is_quiet = noise <= LOUDER * real(width);
    is_quiet.then(|| {
        let mut factors = vec![0.0; rank * n_places];
        linalg::multiply_adjoint(
            linalg::rows_mut(&mut factors, rank, n_places),
            inverse.as_ref(),
            linalg::rows(&parts, rank, n_places),
        );
        factors
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Tile, project};
    use crate::rng::Random;

    /// Rows of a basis, and cells in its span.
    fn sample(rank: usize, width: usize, value: impl FnMut(usize, usize) -> f64) -> [Vec<f64>; 2] {
        let directions = Mat::from_fn(rank, width, value);
        let basis = linalg::lq(&linalg::row_major(directions.as_ref()), rank).long;
        let mut random = Random::new(5);
        let inside: Vec<f64> = (0..9 * rank).map(|_| random.normal()).collect();
        let cells = linalg::product(&inside, &basis, rank);
        [basis, cells]
    }

    fn check(rank: usize, width: usize, value: impl FnMut(usize, usize) -> f64) {
        let [basis, cells] = sample(rank, width, value);
        let found = lead(&basis, width).unwrap();
        assert!(found.starts.len() * LINE * PART <= width);
        let packed = pack(&basis, width);
        let [mut whole, mut led] = [vec![0.0; 9 * rank], vec![0.0; 9 * rank]];
        for (lead, coefficients) in [(None, &mut whole), (Some(&found), &mut led)] {
            let energies = project(Tile {
                cells: &cells,
                width,
                basis: &packed,
                lead,
                coefficients,
                ahead: &cells,
            });
            assert!(energies.residual < 1e-24 * energies.all);
        }
        let apart = whole.iter().zip(&led).map(|(one, two)| (one - two).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-12);
    }

    #[test]
    fn a_part_of_a_row_tells_its_coefficients() {
        let mut random = Random::new(6);
        check(10, 512, |_, _| random.normal());
        // Smooth, and nearly zero in most columns.
        check(4, 700, |row, at| {
            ((real(at) - 300.0) * real(row + 1) / 60.0).cos()
                * (-(real(at) - 300.0).powi(2) / 9e3).exp()
        });
    }

    #[test]
    fn there_is_no_lead_where_a_direction_lies_in_many_places_evenly_and_nowhere_apart() {
        // As many directions as a quarter of the columns.
        let mut random = Random::new(6);
        let [basis, _] = sample(128, 512, |_, _| random.normal());
        assert!(lead(&basis, 512).is_none());
    }
}
