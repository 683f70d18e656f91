//! The two loops that every cell goes through, for whatever vector registers there are.
//!
//! [`project`] is the heart of the verified pass: for some rows of cells it computes coefficients
//! in a basis, and the energy that these leave out, without writing down what they leave. Rows are
//! taken four at a time, so that each number of the basis is loaded once for four of them, and a
//! stretch of the basis is used for all rows of a tile while it is at hand.
#![expect(
    clippy::indexing_slicing,
    reason = "places run to the length that all slices were cut to, so that no check is left in the loops"
)]

use pulp::{Arch, Simd, WithSimd};

use crate::number::sum;

/// Numbers that are added up plainly; the sums of such runs are added with care.
const RUN: usize = 1 << 10;

/// The sum of squares of a slice, in an order that does not depend on the processor.
pub(crate) fn energy(values: &[f64]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || sum(values.chunks(RUN).map(run_energy)),
    )
}

/// The sum of squares of few numbers; within a dispatch.
#[inline(always)]
pub(crate) fn run_energy(values: &[f64]) -> f64 {
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
    let mut count = lanes.len();
    while count > 1 {
        count /= 2;
        let (low, high) = lanes.split_at_mut(count);
        low.iter_mut()
            .zip(high)
            .for_each(|(low, high)| *low += *high);
    }
    lanes[0]
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
    /// Orthonormal rows of `width` numbers, as [`pack`] puts them.
    pub(crate) basis: &'a [f64],
    /// Where one row of coefficients a row of cells goes.
    pub(crate) coefficients: &'a mut [f64],
}

/// Computes coefficients and energies.
pub(crate) fn project(tile: Tile) -> Energies {
    Arch::new().dispatch(tile)
}

/// Numbers of a row that are worked on at a time: as many of each direction of a small basis stay
/// in the nearest cache while all rows of a tile pass.
const STRETCH: usize = 256;

impl WithSimd for Tile<'_> {
    type Output = Energies;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Energies {
        let rank = self.basis.len() / self.width;
        let n_rows = self.cells.len() / self.width;
        let fours = n_rows - n_rows % 4;
        let (cells, rest) = self.cells.split_at(fours * self.width);
        let (target, rest_target) = self.coefficients.split_at_mut(fours * rank);
        let basis = stretches::<S>(self.basis, self.width, rank);
        let one = rows::<S, 4>(simd, cells, self.width, &basis, rank, target);
        let two = rows::<S, 1>(simd, rest, self.width, &basis, rank, rest_target);
        Energies {
            residual: one.residual + two.residual,
            inside: one.inside + two.inside,
        }
    }
}

/// A basis as [`project`] wants it: stretch by stretch, in each one direction after the other. Rows
/// of a width that is a power of two would all fall on the same places of the cache.
pub(crate) fn pack(basis: &[f64], width: usize) -> Vec<f64> {
    let mut packed = Vec::with_capacity(basis.len());
    for start in (0..width).step_by(STRETCH) {
        let end = (start + STRETCH).min(width);
        for row in basis.chunks_exact(width) {
            packed.extend_from_slice(&row[start..end]);
        }
    }
    packed
}

/// A stretch of the rows of a basis.
struct Stretch<'a, S: Simd> {
    /// Where it begins, in numbers of a row.
    start: usize,
    /// One a direction; all have the same length.
    plain: Vec<&'a [f64]>,
    /// The same in registers' worth, without what is left over at the end of a row.
    wide: Vec<&'a [S::f64s]>,
}

#[inline(always)]
fn stretches<S: Simd>(packed: &[f64], width: usize, rank: usize) -> Vec<Stretch<'_, S>> {
    let starts = (0..width).step_by(STRETCH);
    let stretch = |start: usize| {
        let len = STRETCH.min(width - start);
        let all = &packed[start * rank..(start + len) * rank];
        let plain: Vec<&[f64]> = all.chunks_exact(len).collect();
        let wide = plain.iter().map(|row| S::as_simd_f64s(row).0).collect();
        Stretch { start, plain, wide }
    };
    starts.map(stretch).collect()
}

impl<S: Simd> Stretch<'_, S> {
    /// Registers in it.
    #[inline(always)]
    fn count(&self) -> usize {
        self.wide.first().map_or(0, |row| row.len())
    }

    /// Numbers in it.
    #[inline(always)]
    fn len(&self) -> usize {
        self.plain.first().map_or(0, |row| row.len())
    }

    /// Its part of `R` rows of cells, in registers' worth.
    #[inline(always)]
    fn of<'c, const R: usize>(&self, cells: &'c [f64], width: usize) -> [&'c [S::f64s]; R] {
        let count = self.count();
        std::array::from_fn(|row| {
            let from = row * width + self.start;
            &S::as_simd_f64s(&cells[from..from + self.len()]).0[..count]
        })
    }
}

/// Any number of rows, `R` at a time.
#[inline(always)]
fn rows<S: Simd, const R: usize>(
    simd: S,
    cells: &[f64],
    width: usize,
    basis: &[Stretch<S>],
    rank: usize,
    target: &mut [f64],
) -> Energies {
    let n_groups = cells.len() / (R * width);
    // For each group of rows, each direction, and each row: products so far.
    let mut sums = vec![[simd.splat_f64s(0.0); R]; n_groups * rank];
    for stretch in basis {
        let groups = cells.chunks_exact(R * width);
        for (cells, sums) in groups.zip(sums.chunks_exact_mut(rank)) {
            let heads = stretch.of::<R>(cells, width);
            let mut place = 0;
            while place < rank {
                let from = &stretch.wide[place..];
                let sums = &mut sums[place..];
                // As many as the accumulators leave registers for.
                place += if from.len() >= 6 && S::REGISTER_COUNT >= 32 {
                    inner::<S, R, 6>(simd, heads, from, sums)
                } else if from.len() >= 4 && S::REGISTER_COUNT >= 32 {
                    inner::<S, R, 4>(simd, heads, from, sums)
                } else if from.len() >= 2 {
                    inner::<S, R, 2>(simd, heads, from, sums)
                } else {
                    inner::<S, R, 1>(simd, heads, from, sums)
                };
            }
        }
    }
    let mut negated = vec![[0.0; R]; n_groups * rank];
    let groups = cells
        .chunks_exact(R * width)
        .zip(target.chunks_exact_mut(R * rank));
    let sums = sums.chunks_exact(rank).zip(negated.chunks_exact_mut(rank));
    for ((cells, target), (sums, negated)) in groups.zip(sums) {
        finish(simd, cells, width, basis, sums, target, negated);
    }
    let inside = target.iter().map(|value| value * value).sum();
    let mut residual = 0.0;
    for stretch in basis {
        let groups = cells.chunks_exact(R * width);
        for (cells, negated) in groups.zip(negated.chunks_exact(rank)) {
            residual += if S::REGISTER_COUNT >= 32 {
                outside::<S, R, 4>(simd, cells, width, stretch, negated)
            } else {
                outside::<S, R, 2>(simd, cells, width, stretch, negated)
            };
        }
    }
    Energies { residual, inside }
}

/// Adds the products of a stretch of `R` rows with `N` directions; gives `N`.
#[inline(always)]
fn inner<S: Simd, const R: usize, const N: usize>(
    simd: S,
    heads: [&[S::f64s]; R],
    basis: &[&[S::f64s]],
    sums: &mut [[S::f64s; R]],
) -> usize {
    let count = heads.first().map_or(0, |row| row.len());
    let heads: [&[S::f64s]; R] = heads.map(|row| &row[..count]);
    let basis: [&[S::f64s]; N] = std::array::from_fn(|row| &basis[row][..count]);
    let mut found: [[S::f64s; R]; N] = std::array::from_fn(|row| sums[row]);
    for place in 0..count {
        let cells: [S::f64s; R] = std::array::from_fn(|row| heads[row][place]);
        for (sums, basis) in found.iter_mut().zip(basis) {
            let direction = basis[place];
            for (sum, cell) in sums.iter_mut().zip(cells) {
                *sum = simd.mul_add_e_f64s(cell, direction, *sum);
            }
        }
    }
    for (sum, found) in sums.iter_mut().zip(found) {
        *sum = found;
    }
    N
}

/// Turns the products of `R` rows into coefficients, and into their negatives by direction.
#[inline(always)]
fn finish<S: Simd, const R: usize>(
    simd: S,
    cells: &[f64],
    width: usize,
    basis: &[Stretch<S>],
    sums: &[[S::f64s; R]],
    target: &mut [f64],
    negated: &mut [[f64; R]],
) {
    let rank = sums.len();
    for (column, (sums, negated)) in sums.iter().zip(negated).enumerate() {
        for (row, (sum, negated)) in sums.iter().zip(negated).enumerate() {
            let mut value = simd.reduce_sum_f64s(*sum);
            // Only the last stretch may end with fewer numbers than fill a register.
            if let Some(last) = basis.last() {
                let done = last.count() * S::F64_LANES;
                let rest = &cells[row * width..(row + 1) * width][last.start + done..];
                let rest = rest.iter().zip(&last.plain[column][done..]);
                value += rest.map(|(cell, along)| cell * along).sum::<f64>();
            }
            target[row * rank + column] = value;
            *negated = -value;
        }
    }
}

/// The energy that `R` rows of coefficients leave out of a stretch, `Q` registers of each row at a
/// time.
#[inline(always)]
fn outside<S: Simd, const R: usize, const Q: usize>(
    simd: S,
    cells: &[f64],
    width: usize,
    stretch: &Stretch<S>,
    negated: &[[f64; R]],
) -> f64 {
    let heads = stretch.of::<R>(cells, width);
    let count = stretch.count();
    let whole = count - count % Q;
    let mut sums = [simd.splat_f64s(0.0); Q];
    for place in (0..whole).step_by(Q) {
        left_over::<S, R, Q>(simd, heads, &stretch.wide, place, negated, &mut sums);
    }
    let mut last = [simd.splat_f64s(0.0); 1];
    for place in whole..count {
        left_over::<S, R, 1>(simd, heads, &stretch.wide, place, negated, &mut last);
    }
    let sum = sums
        .iter()
        .fold(last[0], |sum, more| simd.add_f64s(sum, *more));
    let mut energy = simd.reduce_sum_f64s(sum);
    for at in count * S::F64_LANES..stretch.len() {
        for row in 0..R {
            let factors = negated.iter().zip(&stretch.plain);
            let inside = factors.map(|(factors, along)| factors[row] * along[at]);
            let cell = cells[row * width + stretch.start + at];
            energy += (cell + inside.sum::<f64>()).powi(2);
        }
    }
    energy
}

/// Adds the squares of what coefficients leave of `Q` registers of each row.
#[inline(always)]
fn left_over<S: Simd, const R: usize, const Q: usize>(
    simd: S,
    heads: [&[S::f64s]; R],
    basis: &[&[S::f64s]],
    place: usize,
    negated: &[[f64; R]],
    sums: &mut [S::f64s; Q],
) {
    let mut left: [[S::f64s; Q]; R] = std::array::from_fn(|row| {
        let cells = &heads[row][place..place + Q];
        std::array::from_fn(|at| cells[at])
    });
    for (direction, factors) in basis.iter().zip(negated) {
        let direction = &direction[place..place + Q];
        for (left, factor) in left.iter_mut().zip(factors) {
            let factor = simd.splat_f64s(*factor);
            for (left, along) in left.iter_mut().zip(direction) {
                *left = simd.mul_add_e_f64s(factor, *along, *left);
            }
        }
    }
    for left in left {
        for (sum, left) in sums.iter_mut().zip(left) {
            *sum = simd.mul_add_e_f64s(left, left, *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn many_equal_squares_add_up_without_a_drift() {
        let value = 0.1_f64;
        for count in [1000, 1 << 16, 1_000_003] {
            let found = energy(&vec![value; count]);
            let wanted = value * value * crate::number::real(count);
            let units = (found / wanted - 1.0).abs() / crate::number::UNIT;
            assert!(units < 16.0, "{count}: {units}");
        }
    }

    #[test]
    fn a_tile_is_split_into_what_lies_inside_and_outside() {
        let mut random = Random::new(3);
        for width in [3, 8, 31, 64, 129, 256, 523] {
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
                        basis: &pack(&basis, width),
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
