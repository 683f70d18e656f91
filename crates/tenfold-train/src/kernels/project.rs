//! Projection of rows of cells onto a basis: the kernel of the verified pass.
//!
//! For some rows of cells, [`project`] computes coefficients in a basis, and the energy of the
//! residual, without storing the residual. Rows are processed four at a time, so that each number
//! of the basis is loaded once for four of them, and a segment of the basis is used for all rows of
//! a tile while it is in cache.
//!
//! The coefficients may be computed from part of each row (a [`KeyColumns`]), which is half the
//! work. Their residual is measured in any case.
#![expect(
    clippy::indexing_slicing,
    reason = "places run to the length that all slices were cut to, so that no check is left in the loops"
)]

use pulp::{Arch, Simd, WithSimd};

use super::prefetch::{LINE, SECOND, ask_for};

/// The energies of a tile.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Energies {
    /// The residual energy.
    pub(crate) residual: f64,
    /// The total energy.
    pub(crate) all: f64,
}

/// Some rows of cells and a basis, all as doubles, row-major.
pub(crate) struct Tile<'a> {
    /// Rows of `width` numbers.
    pub(crate) cells: &'a [f64],
    pub(crate) width: usize,
    /// Orthonormal rows of `width` numbers, in the layout of [`pack`].
    pub(crate) basis: &'a [f64],
    /// The part of a row used for its coefficients; `None` for the whole row.
    pub(crate) lead: Option<&'a KeyColumns>,
    /// The output: one row of coefficients per row of cells.
    pub(crate) coefficients: &'a mut [f64],
    /// Cells needed next, to be prefetched.
    pub(crate) ahead: &'a [f64],
}

/// Columns of a row that determine its coefficients.
#[derive(Debug, Clone)]
pub(crate) struct KeyColumns {
    /// The offsets of runs of [`LINE`] numbers.
    pub(crate) starts: Vec<usize>,
    /// The matrix from these numbers to coefficients, one row per coefficient, in the layout of
    /// [`pack`].
    pub(crate) factors: Vec<f64>,
}

impl KeyColumns {
    /// The leading numbers of some rows of `width`.
    fn of(&self, cells: &[f64], width: usize) -> Vec<f64> {
        let mut found = Vec::with_capacity(cells.len() / width * self.starts.len() * LINE);
        for row in cells.chunks_exact(width) {
            for start in &self.starts {
                found.extend_from_slice(&row[*start..start + LINE]);
            }
        }
        found
    }
}

/// Computes coefficients and energies.
pub(crate) fn project(tile: Tile) -> Energies {
    Arch::new().dispatch(tile)
}

/// Numbers of a row processed at a time: those of each direction of a small basis stay in the L1
/// cache while all rows of a tile pass.
const STRETCH: usize = 256;

impl WithSimd for Tile<'_> {
    type Output = Energies;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Energies {
        let rank = self.basis.len() / self.width;
        let basis = Directions::<S>::new(self.basis, self.width, rank);
        let lead = self.lead.map(|lead| {
            let width = lead.starts.len() * LINE;
            (lead, Directions::<S>::new(&lead.factors, width, rank))
        });
        let fours = self.cells.len() / (4 * self.width) * 4;
        let (cells, rest) = self.cells.split_at(fours * self.width);
        let (target, rest_target) = self.coefficients.split_at_mut(fours * rank);
        let mut ahead = Ahead::new(self.ahead);
        let one = rows::<S, 4>(simd, cells, &basis, lead.as_ref(), target, &mut ahead);
        let two = rows::<S, 1>(simd, rest, &basis, lead.as_ref(), rest_target, &mut ahead);
        Energies {
            residual: one.residual + two.residual,
            all: one.all + two.all,
        }
    }
}

/// A basis in the layout of [`project`]: segment by segment, in each one direction after the other.
/// Rows whose width is a power of two would otherwise map to the same cache sets.
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

/// A segment of the rows of a basis.
struct Stretch<'a, S: Simd> {
    /// Its offset in a row.
    start: usize,
    /// One per direction; all have the same length.
    plain: Vec<&'a [f64]>,
    /// The same as vector registers, without the remainder at the end of a row.
    wide: Vec<&'a [S::f64s]>,
}

/// Rows of numbers to multiply cells with, in the layout of [`pack`].
struct Directions<'a, S: Simd> {
    width: usize,
    rank: usize,
    stretches: Vec<Stretch<'a, S>>,
}

impl<'a, S: Simd> Directions<'a, S> {
    #[inline(always)]
    fn new(packed: &'a [f64], width: usize, rank: usize) -> Directions<'a, S> {
        let starts = (0..width).step_by(STRETCH);
        let stretch = |start: usize| {
            let len = STRETCH.min(width - start);
            let all = &packed[start * rank..(start + len) * rank];
            let plain: Vec<&[f64]> = all.chunks_exact(len).collect();
            let wide = plain.iter().map(|row| S::as_simd_f64s(row).0).collect();
            Stretch { start, plain, wide }
        };
        Directions {
            width,
            rank,
            stretches: starts.map(stretch).collect(),
        }
    }
}

impl<S: Simd> Stretch<'_, S> {
    /// The number of registers in it.
    #[inline(always)]
    fn count(&self) -> usize {
        self.wide.first().map_or(0, |row| row.len())
    }

    /// The number of elements in it.
    #[inline(always)]
    fn len(&self) -> usize {
        self.plain.first().map_or(0, |row| row.len())
    }

    /// Its part of `R` rows of cells, as registers.
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
    basis: &Directions<S>,
    lead: Option<&(&KeyColumns, Directions<S>)>,
    target: &mut [f64],
    ahead: &mut Ahead,
) -> Energies {
    let negated = match lead {
        Some((lead, factors)) => {
            let leading = lead.of(cells, basis.width);
            coefficients::<S, R>(simd, &leading, factors, target)
        }
        None => coefficients::<S, R>(simd, cells, basis, target),
    };
    let mut found = Energies::default();
    for stretch in &basis.stretches {
        let groups = cells.chunks_exact(R * basis.width);
        for (cells, negated) in groups.zip(negated.chunks_exact(basis.rank)) {
            let more = if S::REGISTER_COUNT >= 32 {
                energies::<S, R, 4>(simd, cells, basis.width, stretch, negated, ahead)
            } else {
                energies::<S, R, 2>(simd, cells, basis.width, stretch, negated, ahead)
            };
            found.residual += more.residual;
            found.all += more.all;
        }
    }
    found
}

/// Writes the coefficients of rows; returns their negatives, by groups of `R` rows and direction.
#[inline(always)]
fn coefficients<S: Simd, const R: usize>(
    simd: S,
    cells: &[f64],
    along: &Directions<S>,
    target: &mut [f64],
) -> Vec<[f64; R]> {
    let Directions { width, rank, .. } = *along;
    let n_groups = cells.len() / (R * width);
    // For each group of rows, each direction, and each row: products so far.
    let mut sums = vec![[simd.splat_f64s(0.0); R]; n_groups * rank];
    for stretch in &along.stretches {
        let groups = cells.chunks_exact(R * width);
        for (cells, sums) in groups.zip(sums.chunks_exact_mut(rank)) {
            let heads = stretch.of::<R>(cells, width);
            let mut place = 0;
            while place < rank {
                let from = &stretch.wide[place..];
                let sums = &mut sums[place..];
                // As many as registers are left for, besides the accumulators.
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
        finish(simd, cells, along, sums, target, negated);
    }
    negated
}

/// Adds the products of a segment of `R` rows with `N` directions; returns `N`.
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
    along: &Directions<S>,
    sums: &[[S::f64s; R]],
    target: &mut [f64],
    negated: &mut [[f64; R]],
) {
    let Directions { width, rank, .. } = *along;
    for (column, (sums, negated)) in sums.iter().zip(negated).enumerate() {
        for (row, (sum, negated)) in sums.iter().zip(negated).enumerate() {
            let mut value = simd.reduce_sum_f64s(*sum);
            // Only the last segment may end with a partial register.
            if let Some(last) = along.stretches.last() {
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

/// The energies of a segment of `R` rows, `Q` registers of each row at a time.
#[inline(always)]
fn energies<S: Simd, const R: usize, const Q: usize>(
    simd: S,
    cells: &[f64],
    width: usize,
    stretch: &Stretch<S>,
    negated: &[[f64; R]],
    ahead: &mut Ahead,
) -> Energies {
    let heads = stretch.of::<R>(cells, width);
    let count = stretch.count();
    let whole = count - count % Q;
    let mut sums = Sums::<S, Q>::zeros(simd);
    for place in (0..whole).step_by(Q) {
        ahead.fetch(R * Q * S::F64_LANES);
        sums.add(simd, heads, &stretch.wide, place, negated);
    }
    let mut last = Sums::<S, 1>::zeros(simd);
    for place in whole..count {
        ahead.fetch(R * S::F64_LANES);
        last.add(simd, heads, &stretch.wide, place, negated);
    }
    let (sums, last) = (sums.total(simd), last.total(simd));
    let mut found = Energies {
        residual: sums.residual + last.residual,
        all: sums.all + last.all,
    };
    for at in count * S::F64_LANES..stretch.len() {
        for row in 0..R {
            let factors = negated.iter().zip(&stretch.plain);
            let inside = factors.map(|(factors, along)| factors[row] * along[at]);
            let cell = cells[row * width + stretch.start + at];
            found.residual += (cell + inside.sum::<f64>()).powi(2);
            found.all += cell * cell;
        }
    }
    found
}

/// Energies so far, in `Q` registers each.
struct Sums<S: Simd, const Q: usize> {
    residual: [S::f64s; Q],
    all: [S::f64s; Q],
}

impl<S: Simd, const Q: usize> Sums<S, Q> {
    #[inline(always)]
    fn zeros(simd: S) -> Sums<S, Q> {
        Sums {
            residual: [simd.splat_f64s(0.0); Q],
            all: [simd.splat_f64s(0.0); Q],
        }
    }

    /// Adds the squares of `Q` registers of each row, and of their residuals.
    #[inline(always)]
    fn add<const R: usize>(
        &mut self,
        simd: S,
        heads: [&[S::f64s]; R],
        basis: &[&[S::f64s]],
        place: usize,
        negated: &[[f64; R]],
    ) {
        let mut left: [[S::f64s; Q]; R] = std::array::from_fn(|row| {
            let cells = &heads[row][place..place + Q];
            std::array::from_fn(|at| cells[at])
        });
        for left in left {
            for (sum, left) in self.all.iter_mut().zip(left) {
                *sum = simd.mul_add_e_f64s(left, left, *sum);
            }
        }
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
            for (sum, left) in self.residual.iter_mut().zip(left) {
                *sum = simd.mul_add_e_f64s(left, left, *sum);
            }
        }
    }

    #[inline(always)]
    fn total(self, simd: S) -> Energies {
        let total = |parts: [S::f64s; Q]| {
            let zero = simd.splat_f64s(0.0);
            let sum = parts.iter();
            let sum = sum.fold(zero, |sum, more| simd.add_f64s(sum, *more));
            simd.reduce_sum_f64s(sum)
        };
        Energies {
            residual: total(self.residual),
            all: total(self.all),
        }
    }
}

/// Cells not prefetched yet, by cache lines.
struct Ahead<'a>(&'a [[f64; LINE]]);

impl<'a> Ahead<'a> {
    fn new(cells: &'a [f64]) -> Ahead<'a> {
        Ahead(cells.as_chunks().0)
    }

    /// Prefetches about `count` cells.
    #[inline(always)]
    fn fetch(&mut self, count: usize) {
        let (now, later) = self.0.split_at(self.0.len().min(count / LINE));
        now.iter().for_each(|line| ask_for::<SECOND>(line));
        self.0 = later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::energy;
    use crate::rng::Random;

    #[test]
    fn a_tile_is_split_into_what_lies_inside_and_outside() {
        let mut random = Random::new(3);
        for width in [3, 8, 31, 64, 129, 256, 523] {
            for rank in [1, 2, 3, 5, 7, 13] {
                let rank = rank.min(width);
                // Unit vectors with alternating signs: an orthonormal basis that is easy to check.
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
                        lead: None,
                        coefficients: &mut coefficients,
                        ahead: &cells,
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
                    assert!((found.all - total).abs() < 1e-12 * total);
                    assert!((found.residual - (total - inside)).abs() < 1e-12 * total);
                }
            }
        }
    }
}
