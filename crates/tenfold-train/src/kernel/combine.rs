//! Sums of long rows, each times a number: the projection of a tensor that is split off at its
//! first mode.
//!
//! A few columns of all rows are worked on at a time, for as many sums as there are registers,
//! while the memory brings the next columns.
#![expect(
    clippy::indexing_slicing,
    reason = "places run to lengths that are checked once, so that no check is left in the loops"
)]

use pulp::{Arch, Simd, WithSimd};

use super::fetch::{LINE, ask_for};

/// Rows, and sums of them.
pub(crate) struct Combination<'a, 'b> {
    /// Rows of `len` numbers.
    pub(crate) rows: &'a [f64],
    pub(crate) len: usize,
    /// What a row is multiplied with in each sum, as [`pad`] puts it.
    pub(crate) factors: &'a [f64],
    /// The first column that is worked on.
    pub(crate) first: usize,
    /// Where the sums go: a stretch of columns each, all of one length.
    pub(crate) sums: &'a mut [&'b mut [f64]],
}

/// Computes the sums.
pub(crate) fn combine(all: Combination) {
    Arch::new().dispatch(all);
}

/// Sums that are worked on together, at least.
const FEW: usize = 4;

/// Numbers for each of `n_sums` sums, row after row, with zeros for some that nobody wants.
pub(crate) fn pad(factors: &[f64], n_sums: usize) -> Vec<f64> {
    let zeros = n_sums.next_multiple_of(FEW) - n_sums;
    let rows = factors.chunks_exact(n_sums);
    let padded = rows.flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, zeros)));
    padded.collect()
}

/// Columns that are asked for together: several lines of each row.
const BLOCK: usize = 64;

impl WithSimd for Combination<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let count = self.sums.first().map_or(0, |sum| sum.len());
        for block in (0..count).step_by(BLOCK) {
            let end = count.min(block + BLOCK);
            let wide = (end - block) / (2 * S::F64_LANES) * (2 * S::F64_LANES);
            // Every turn asks for one line of each row of the next block.
            let ahead = self.first + block + BLOCK;
            let mut lines = (ahead..self.len.min(ahead + BLOCK)).step_by(LINE);
            for at in (block..block + wide).step_by(2 * S::F64_LANES) {
                let mut place = 0;
                while place < self.n_padded() {
                    let (left, next) = (self.n_padded() - place, lines.next());
                    place += if left >= 12 && S::REGISTER_COUNT >= 32 {
                        self.some::<S, 12>(simd, at, place, next)
                    } else if left >= 8 && S::REGISTER_COUNT >= 32 {
                        self.some::<S, 8>(simd, at, place, next)
                    } else {
                        self.some::<S, FEW>(simd, at, place, next)
                    };
                }
            }
            for at in block + wide..end {
                self.column(at);
            }
        }
    }
}

impl Combination<'_, '_> {
    /// How many sums there are, with those that nobody wants.
    #[inline(always)]
    fn n_padded(&self) -> usize {
        self.sums.len().next_multiple_of(FEW)
    }

    /// Two registers' worth of columns of `N` sums; gives `N`.
    #[inline(always)]
    fn some<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        at: usize,
        place: usize,
        next: Option<usize>,
    ) -> usize {
        let (from, n_columns) = (self.first + at, 2 * S::F64_LANES);
        let mut found = [[simd.splat_f64s(0.0); 2]; N];
        let factors = self.factors.chunks_exact(self.n_padded());
        for (row, factors) in self.rows.chunks_exact(self.len).zip(factors) {
            if let Some(next) = next {
                ask_for(&row[next..]);
            }
            let cells = S::as_simd_f64s(&row[from..from + n_columns]).0;
            let cells = [cells[0], cells[1]];
            for (found, factor) in found.iter_mut().zip(&factors[place..place + N]) {
                let factor = simd.splat_f64s(*factor);
                for (found, cell) in found.iter_mut().zip(cells) {
                    *found = simd.mul_add_e_f64s(factor, cell, *found);
                }
            }
        }
        for (sum, found) in self.sums[place..].iter_mut().zip(found) {
            let target = S::as_mut_simd_f64s(&mut sum[at..at + n_columns]).0;
            target.copy_from_slice(&found);
        }
        N
    }

    /// One column of all sums.
    fn column(&mut self, at: usize) {
        let n_padded = self.n_padded();
        for (place, sum) in self.sums.iter_mut().enumerate() {
            let factors = self.factors.iter().skip(place).step_by(n_padded);
            let cells = self.rows.iter().skip(self.first + at).step_by(self.len);
            sum[at] = cells.zip(factors).map(|(cell, factor)| cell * factor).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

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
            for first in [0, len / 3] {
                let mut found = vec![0.0; n_sums * (len - first)];
                let mut sums: Vec<&mut [f64]> = found.chunks_exact_mut(len - first).collect();
                combine(Combination {
                    rows: &rows,
                    len,
                    factors: &pad(&factors, n_sums),
                    first,
                    sums: &mut sums,
                });
                for (place, sum) in found.chunks_exact(len - first).enumerate() {
                    for (at, sum) in sum.iter().enumerate() {
                        let plain: f64 = (0..n_rows)
                            .map(|row| rows[row * len + first + at] * factors[row * n_sums + place])
                            .sum();
                        assert!(
                            (sum - plain).abs() < 1e-13,
                            "{n_rows} {len} {n_sums} {place} {at}"
                        );
                    }
                }
            }
        }
    }
}
