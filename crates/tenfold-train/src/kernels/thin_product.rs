//! The product of a matrix with few columns and one with few rows: the cells of a train of small
//! ranks, where writing takes longer than arithmetic.
//!
//! A few rows are written at a time, in long runs, from columns of the second matrix that stay in
//! cache: more rows mean fewer loads of these; longer runs make better use of memory bandwidth.
#![expect(
    clippy::indexing_slicing,
    reason = "places run to lengths that are checked once, so that no check is left in the loops"
)]

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::prefetch::{LINE, NEAREST, ask_for};

/// Two matrices, and the buffer for their product; all are row-major.
pub(crate) struct Product<'a> {
    pub(crate) left: &'a [f64],
    pub(crate) right: &'a [f64],
    /// The columns of the first, and the rows of the second: at most [`FEW`].
    pub(crate) bond: usize,
    pub(crate) out: &'a mut [f64],
}

/// The largest inner dimension for this kernel: beyond that, arithmetic takes longer than writing.
pub(crate) const FEW: usize = 16;

/// The length up to which rows lie close together: several are then written like one.
pub(crate) const NEAR: usize = 4096;

/// Rows written at a time, with many registers and with few.
const ROWS: usize = 8;
const FEW_ROWS: usize = 4;
/// The number of registers that counts as many.
const MANY: usize = 32;
/// Columns processed before the next rows: those of the second matrix fit in the L2 cache.
const STRIP: usize = 1024;

/// Prefetch distance of the output, in cells.
const AHEAD: usize = 64;

/// Computes the product.
pub(crate) fn multiply_out(product: Product) {
    Arch::new().dispatch(product);
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= MANY {
            self.fill::<S, ROWS>(simd);
        } else {
            self.fill::<S, FEW_ROWS>(simd);
        }
    }
}

impl Product<'_> {
    /// All rows, `N` at a time.
    #[inline(always)]
    fn fill<S: Simd, const N: usize>(self, simd: S) {
        let n_columns = self.right.len() / self.bond;
        for start in (0..n_columns).step_by(STRIP) {
            let strip = Strip {
                right: self.right,
                n_columns,
                columns: start..n_columns.min(start + STRIP),
            };
            let rows = self.out.chunks_mut(N * n_columns);
            for (out, left) in rows.zip(self.left.chunks(N * self.bond)) {
                if out.len() == N * n_columns {
                    strip.fill::<S, N>(simd, left, out);
                } else {
                    let rows = out.chunks_mut(n_columns);
                    for (out, left) in rows.zip(left.chunks(self.bond)) {
                        strip.fill::<S, 1>(simd, left, out);
                    }
                }
            }
        }
    }
}

/// Some columns of the second matrix.
struct Strip<'a> {
    right: &'a [f64],
    n_columns: usize,
    columns: Range<usize>,
}

impl Strip<'_> {
    /// The columns of `N` rows of the product.
    #[inline(always)]
    fn fill<S: Simd, const N: usize>(&self, simd: S, left: &[f64], out: &mut [f64]) {
        let bond = left.len() / N;
        let mut factors = [[0.0; N]; FEW];
        for (place, factors) in factors.iter_mut().enumerate().take(bond) {
            for (row, factor) in factors.iter_mut().enumerate() {
                *factor = left[row * bond + place];
            }
        }
        let factors = &factors[..bond];
        let mut at = self.columns.start;
        while at + 2 * S::F64_LANES <= self.columns.end {
            self.some::<S, N, 2>(simd, factors, at, out);
            at += 2 * S::F64_LANES;
        }
        while at + S::F64_LANES <= self.columns.end {
            self.some::<S, N, 1>(simd, factors, at, out);
            at += S::F64_LANES;
        }
        for at in at..self.columns.end {
            for (row, out) in out.chunks_exact_mut(self.n_columns).enumerate() {
                let cells = self.right.iter().skip(at).step_by(self.n_columns);
                let products = cells.zip(factors).map(|(cell, factor)| cell * factor[row]);
                out[at] = products.sum();
            }
        }
    }

    /// `W` registers of columns of `N` rows.
    #[inline(always)]
    fn some<S: Simd, const N: usize, const W: usize>(
        &self,
        simd: S,
        factors: &[[f64; N]],
        at: usize,
        out: &mut [f64],
    ) {
        let count = W * S::F64_LANES;
        for row in out.chunks_exact(self.n_columns) {
            let ahead = row.get(at + AHEAD..at + AHEAD + count).unwrap_or_default();
            ahead.chunks(LINE).for_each(ask_for::<NEAREST>);
        }
        let mut found = [[simd.splat_f64s(0.0); W]; N];
        for (row, factors) in self.right.chunks_exact(self.n_columns).zip(factors) {
            let cells = S::as_simd_f64s(&row[at..at + count]).0;
            for (found, factor) in found.iter_mut().zip(factors) {
                let factor = simd.splat_f64s(*factor);
                for (found, cell) in found.iter_mut().zip(cells) {
                    *found = simd.mul_add_e_f64s(factor, *cell, *found);
                }
            }
        }
        for (out, found) in out.chunks_exact_mut(self.n_columns).zip(found) {
            let target = S::as_mut_simd_f64s(&mut out[at..at + count]).0;
            target.copy_from_slice(&found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::test_isa::Registers;
    use crate::rng::Random;

    #[test]
    fn products_are_those_of_a_plain_loop() {
        let mut random = Random::new(4);
        for (n_rows, bond, n_columns) in [
            (1, 1, 1),
            (4, 10, 64),
            (8, 10, 64),
            (7, 3, 100),
            (19, FEW, 77),
            (9, 2, 3000),
            (6, 3, 5001),
        ] {
            let left: Vec<f64> = (0..n_rows * bond).map(|_| random.normal()).collect();
            let right: Vec<f64> = (0..bond * n_columns).map(|_| random.normal()).collect();
            for registers in Registers::all() {
                let mut out = vec![f64::NAN; n_rows * n_columns];
                registers.run(Product {
                    left: &left,
                    right: &right,
                    bond,
                    out: &mut out,
                });
                for (place, found) in out.iter().enumerate() {
                    let (row, column) = (place / n_columns, place % n_columns);
                    let plain: f64 = (0..bond)
                        .map(|at| left[row * bond + at] * right[at * n_columns + column])
                        .sum();
                    let off = (found - plain).abs();
                    assert!(
                        off < 1e-13,
                        "{registers:?} {n_rows} {bond} {n_columns}: {row} {column} {off}"
                    );
                }
            }
        }
    }
}
