//! Linear combinations of long rows: the projection of a tensor that is split at its first mode.
//!
//! A few columns of all rows are first copied side by side: rows lie so far apart that the caches
//! cannot hold many of them at once. Their squares are summed along the way. The combinations are
//! then computed from the copy, as many at a time as there are registers for.
#![expect(
    clippy::indexing_slicing,
    reason = "places run to lengths that are checked once, so that no check is left in the loops"
)]

use pulp::{Arch, Simd, WithSimd};

use super::prefetch::{LINE, SECOND, ask_for};
use crate::num::sum;

/// Rows, and linear combinations of them.
pub(crate) struct Combination<'a, 'b> {
    /// Rows of `len` numbers.
    pub(crate) rows: &'a [f64],
    pub(crate) len: usize,
    /// The factors of a row in each sum, in the layout of [`pad`].
    pub(crate) factors: &'a [f64],
    /// The first column to process.
    pub(crate) first: usize,
    /// The output: a range of columns per sum, all of one length.
    pub(crate) sums: &'a mut [&'b mut [f64]],
    /// Work buffer.
    pub(crate) room: &'a mut Vec<f64>,
}

/// Computes the sums; returns the energy of the cells read.
pub(crate) fn combine(all: Combination) -> f64 {
    Arch::new().dispatch(all)
}

/// Fewest sums computed together.
const FEW: usize = 4;

/// Numbers for each of `n_sums` sums, row after row, padded with zeros.
pub(crate) fn pad(factors: &[f64], n_sums: usize) -> Vec<f64> {
    let zeros = n_sums.next_multiple_of(FEW) - n_sums;
    let rows = factors.chunks_exact(n_sums);
    let padded = rows.flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, zeros)));
    padded.collect()
}

/// Number of columns copied side by side.
const BLOCK: usize = 64;

/// Prefetch distance in rows: enough for the memory to respond, few enough for the associativity of
/// a cache.
const AHEAD: usize = 8;

impl WithSimd for Combination<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> f64 {
        let count = self.sums.first().map_or(0, |sum| sum.len());
        let mut energies = Vec::with_capacity(count.div_ceil(BLOCK));
        for block in (0..count).step_by(BLOCK) {
            let n_columns = BLOCK.min(count - block);
            energies.push(self.gather(self.first + block, n_columns));
            for at in (0..n_columns).step_by(2 * S::F64_LANES) {
                let mut place = 0;
                while place < self.n_padded() {
                    let left = self.n_padded() - place;
                    place += if left >= 12 && S::REGISTER_COUNT >= 32 {
                        self.some::<S, 12>(simd, block, at, place)
                    } else if left >= 8 && S::REGISTER_COUNT >= 32 {
                        self.some::<S, 8>(simd, block, at, place)
                    } else {
                        self.some::<S, FEW>(simd, block, at, place)
                    };
                }
            }
        }
        sum(energies)
    }
}

impl Combination<'_, '_> {
    /// The number of sums, including padding.
    #[inline(always)]
    fn n_padded(&self) -> usize {
        self.sums.len().next_multiple_of(FEW)
    }

    /// Copies some columns of all rows side by side, followed by zeros; returns their energy.
    #[inline(always)]
    fn gather(&mut self, from: usize, n_columns: usize) -> f64 {
        let n_rows = self.rows.len() / self.len;
        self.room.resize(n_rows * BLOCK, 0.0);
        let mut squares = [0.0_f64; BLOCK];
        for (row, target) in self.room.chunks_exact_mut(BLOCK).enumerate() {
            let at = row * self.len + from;
            let ahead = at + AHEAD * self.len;
            if let Some(cells) = self.rows.get(ahead..ahead + n_columns) {
                cells.chunks(LINE).for_each(ask_for::<SECOND>);
            }
            let cells = &self.rows[at..at + n_columns];
            let (target, rest) = target.split_at_mut(n_columns);
            target.copy_from_slice(cells);
            rest.fill(0.0);
            for (square, cell) in squares.iter_mut().zip(cells) {
                *square += cell * cell;
            }
        }
        sum(squares)
    }

    /// Two registers of columns of `N` sums, from the copied columns; returns `N`.
    #[inline(always)]
    fn some<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        block: usize,
        at: usize,
        place: usize,
    ) -> usize {
        let n_columns = 2 * S::F64_LANES;
        let mut found = [[simd.splat_f64s(0.0); 2]; N];
        let factors = self.factors.chunks_exact(self.n_padded());
        for (row, factors) in self.room.chunks_exact(BLOCK).zip(factors) {
            let cells = S::as_simd_f64s(&row[at..at + n_columns]).0;
            let cells = [cells[0], cells[1]];
            for (found, factor) in found.iter_mut().zip(&factors[place..place + N]) {
                let factor = simd.splat_f64s(*factor);
                for (found, cell) in found.iter_mut().zip(cells) {
                    *found = simd.mul_add_e_f64s(factor, cell, *found);
                }
            }
        }
        for (sum, found) in self.sums[place..].iter_mut().zip(found) {
            let target = &mut sum[block + at..];
            if target.len() >= n_columns {
                let target = S::as_mut_simd_f64s(&mut target[..n_columns]).0;
                target.copy_from_slice(&found);
            } else {
                let found: &[f64] = pulp::bytemuck::cast_slice(&found);
                target.copy_from_slice(&found[..target.len()]);
            }
        }
        N
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::test_isa::Registers;
    use crate::rng::Random;

    #[test]
    fn sums_are_those_of_a_plain_loop() {
        let mut random = Random::new(8);
        for (n_rows, len, n_sums) in [
            (1, 5, 1),
            (7, 100, 2),
            (32, 333, 33),
            (5, 64, 12),
            (9, 150, 20),
        ] {
            let rows: Vec<f64> = (0..n_rows * len).map(|_| random.normal()).collect();
            let factors: Vec<f64> = (0..n_rows * n_sums).map(|_| random.normal()).collect();
            let ways = Registers::all().into_iter();
            for (registers, first) in ways.flat_map(|way| [(way, 0), (way, len / 3)]) {
                let mut found = vec![0.0; n_sums * (len - first)];
                let mut sums: Vec<&mut [f64]> = found.chunks_exact_mut(len - first).collect();
                let energy = registers.run(Combination {
                    rows: &rows,
                    len,
                    factors: &pad(&factors, n_sums),
                    first,
                    sums: &mut sums,
                    room: &mut Vec::new(),
                });
                let cells = rows.chunks_exact(len).flat_map(|row| &row[first..]);
                let plain: f64 = cells.map(|cell| cell * cell).sum();
                assert!((energy / plain - 1.0).abs() < 1e-13, "{n_rows} {len}");
                for (place, sum) in found.chunks_exact(len - first).enumerate() {
                    for (at, sum) in sum.iter().enumerate() {
                        let plain: f64 = (0..n_rows)
                            .map(|row| rows[row * len + first + at] * factors[row * n_sums + place])
                            .sum();
                        assert!(
                            (sum - plain).abs() < 1e-13,
                            "{registers:?} {n_rows} {len} {n_sums} {place} {at}"
                        );
                    }
                }
            }
        }
    }
}
