//! The two loops that every cell goes through, for whatever vector registers there are.
//!
//! [`project`] is the heart of the verified pass: for some rows of cells it computes coefficients
//! in a basis, and the energy that these leave out, without writing down what they leave. Rows are
//! taken four at a time, so that each number of the basis is loaded once for four of them.
#![expect(
    clippy::indexing_slicing,
    reason = "places run to the length that all slices were cut to, so that no check is left in the loops"
)]

use pulp::{Arch, Simd, WithSimd};

/// The sum of squares of a slice, in an order that does not depend on the processor.
pub(crate) fn energy(values: &[f64]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut lanes = [0.0_f64; 32];
            let (whole, rest) = values.as_chunks::<32>();
            for chunk in whole {
                for (lane, value) in lanes.iter_mut().zip(chunk) {
                    *lane += value * value;
                }
            }
            for (lane, value) in lanes.iter_mut().zip(rest) {
                *lane += value * value;
            }
            lanes.iter().sum()
        },
    )
}

/// What a tile leaves out of a basis, and what it has in it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Energies {
    /// The energy outside.
    pub(crate) residual: f64,
    /// The energy inside.
    pub(crate) inside: f64,
}

/// Some rows of cells and a basis, all as doubles, row-major.
pub(crate) struct Tile<'a> {
    /// Rows of `width` numbers.
    pub(crate) cells: &'a [f64],
    pub(crate) width: usize,
    /// Orthonormal rows of `width` numbers.
    pub(crate) basis: &'a [f64],
    /// Where one row of coefficients a row of cells goes.
    pub(crate) coefficients: &'a mut [f64],
}

/// Computes coefficients and energies.
pub(crate) fn project(tile: Tile) -> Energies {
    Arch::new().dispatch(tile)
}

impl WithSimd for Tile<'_> {
    type Output = Energies;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Energies {
        let rank = self.basis.len() / self.width;
        let mut sum = Energies::default();
        let mut add = |found: Energies| {
            sum.residual += found.residual;
            sum.inside += found.inside;
        };
        let mut fours = self.cells.chunks_exact(4 * self.width);
        let mut targets = self.coefficients.chunks_exact_mut(4 * rank);
        for (cells, target) in fours.by_ref().zip(targets.by_ref()) {
            add(rows::<S, 4>(simd, cells, self.width, self.basis, target));
        }
        let ones = fours.remainder().chunks_exact(self.width);
        let targets = targets.into_remainder().chunks_exact_mut(rank);
        for (cells, target) in ones.zip(targets) {
            add(rows::<S, 1>(simd, cells, self.width, self.basis, target));
        }
        sum
    }
}

/// `R` rows of cells.
#[inline(always)]
fn rows<S: Simd, const R: usize>(
    simd: S,
    cells: &[f64],
    width: usize,
    basis: &[f64],
    target: &mut [f64],
) -> Energies {
    let rank = basis.len() / width;
    let cells: [&[f64]; R] = std::array::from_fn(|row| &cells[row * width..(row + 1) * width]);
    let mut place = 0;
    while place < rank {
        let left = rank - place;
        let from = &basis[place * width..];
        // As many as the accumulators leave registers for.
        place += if left >= 6 && S::REGISTER_COUNT >= 32 {
            inner::<S, R, 6>(simd, cells, width, from, &mut target[place..], rank)
        } else if left >= 4 && S::REGISTER_COUNT >= 32 {
            inner::<S, R, 4>(simd, cells, width, from, &mut target[place..], rank)
        } else if left >= 2 {
            inner::<S, R, 2>(simd, cells, width, from, &mut target[place..], rank)
        } else {
            inner::<S, R, 1>(simd, cells, width, from, &mut target[place..], rank)
        };
    }
    let inside = target.iter().map(|value| value * value).sum();
    let residual = if S::REGISTER_COUNT >= 32 {
        outside::<S, R, 4>(simd, cells, width, basis, target)
    } else {
        outside::<S, R, 2>(simd, cells, width, basis, target)
    };
    Energies { residual, inside }
}

/// Inner products of `R` rows with `N` rows of the basis; gives `N`.
#[inline(always)]
fn inner<S: Simd, const R: usize, const N: usize>(
    simd: S,
    cells: [&[f64]; R],
    width: usize,
    basis: &[f64],
    target: &mut [f64],
    stride: usize,
) -> usize {
    let basis: [&[f64]; N] = std::array::from_fn(|row| &basis[row * width..(row + 1) * width]);
    let count = width / S::F64_LANES;
    let heads: [&[S::f64s]; R] = cells.map(|row| &S::as_simd_f64s(row).0[..count]);
    let basis_heads: [&[S::f64s]; N] = basis.map(|row| &S::as_simd_f64s(row).0[..count]);
    let mut sums = [[simd.splat_f64s(0.0); R]; N];
    for place in 0..count {
        let cells: [S::f64s; R] = std::array::from_fn(|row| heads[row][place]);
        for (sums, basis) in sums.iter_mut().zip(basis_heads) {
            let direction = basis[place];
            for (sum, cell) in sums.iter_mut().zip(cells) {
                *sum = simd.mul_add_e_f64s(cell, direction, *sum);
            }
        }
    }
    let done = count * S::F64_LANES;
    for (column, (sums, basis)) in sums.iter().zip(basis).enumerate() {
        for (row, (sum, cells)) in sums.iter().zip(cells).enumerate() {
            let rest = cells[done..].iter().zip(&basis[done..]);
            let rest: f64 = rest.map(|(cell, direction)| cell * direction).sum();
            target[row * stride + column] = simd.reduce_sum_f64s(*sum) + rest;
        }
    }
    N
}

/// The energy that `R` rows of coefficients leave out, `Q` registers of each row at a time.
#[inline(always)]
fn outside<S: Simd, const R: usize, const Q: usize>(
    simd: S,
    cells: [&[f64]; R],
    width: usize,
    basis: &[f64],
    coefficients: &[f64],
) -> f64 {
    let rank = basis.len() / width;
    let count = width / S::F64_LANES;
    let heads: [&[S::f64s]; R] = cells.map(|row| &S::as_simd_f64s(row).0[..count]);
    let mut sums = [simd.splat_f64s(0.0); Q];
    let whole = count - count % Q;
    let mut place = 0;
    while place < whole {
        let mut left: [[S::f64s; Q]; R] =
            std::array::from_fn(|row| std::array::from_fn(|at| heads[row][place + at]));
        for (column, direction) in basis.chunks_exact(width).enumerate() {
            let direction = &S::as_simd_f64s(direction).0[place..place + Q];
            for (row, left) in left.iter_mut().enumerate() {
                let factor = simd.splat_f64s(-coefficients[row * rank + column]);
                for (at, left) in left.iter_mut().enumerate() {
                    *left = simd.mul_add_e_f64s(factor, direction[at], *left);
                }
            }
        }
        for left in left {
            for (sum, left) in sums.iter_mut().zip(left) {
                *sum = simd.mul_add_e_f64s(left, left, *sum);
            }
        }
        place += Q;
    }
    let first = sums[0];
    let sum = sums[1..]
        .iter()
        .fold(first, |sum, more| simd.add_f64s(sum, *more));
    let mut energy = simd.reduce_sum_f64s(sum);
    for (row, cells) in cells.iter().enumerate() {
        for (at, cell) in cells.iter().enumerate().skip(whole * S::F64_LANES) {
            let factors = &coefficients[row * rank..(row + 1) * rank];
            let directions = basis[at..].iter().step_by(width);
            let inside = factors.iter().zip(directions).map(|(x, y)| x * y);
            energy += (cell - inside.sum::<f64>()).powi(2);
        }
    }
    energy
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_tile_is_split_into_what_lies_inside_and_outside() {
        let mut random = Random::new(3);
        for width in [3, 8, 31, 64, 129] {
            for rank in [1, 2, 3, 5, 7, 13] {
                let rank = rank.min(width);
                // Unit vectors, signs alternating: an orthonormal basis that is easy to check.
                let mut basis = vec![0.0; rank * width];
                for row in 0..rank {
                    basis[row * width + (row * 5) % width] = if row % 2 == 0 { 1.0 } else { -1.0 };
                }
                if (0..rank)
                    .any(|row| (0..row).any(|other| (row * 5) % width == (other * 5) % width))
                {
                    continue;
                }
                for n_rows in [1, 3, 4, 9] {
                    let cells: Vec<f64> = (0..n_rows * width).map(|_| random.normal()).collect();
                    let mut coefficients = vec![0.0; n_rows * rank];
                    let found = project(Tile {
                        cells: &cells,
                        width,
                        basis: &basis,
                        coefficients: &mut coefficients,
                    });
                    let mut inside = 0.0;
                    for row in 0..n_rows {
                        for column in 0..rank {
                            let sign = if column % 2 == 0 { 1.0 } else { -1.0 };
                            let cell = sign * cells[row * width + (column * 5) % width];
                            assert_eq!(coefficients[row * rank + column], cell);
                            inside += cell * cell;
                        }
                    }
                    let total = energy(&cells);
                    assert!((found.inside - inside).abs() < 1e-12 * total);
                    assert!((found.residual - (total - inside)).abs() < 1e-12 * total);
                }
            }
        }
    }
}
