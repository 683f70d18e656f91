//! A growing orthonormal basis of rows.

use super::key_columns::lead;
use crate::kernels::{Energies, KeyColumns, Tile};
use crate::scalar::{Scalar, energy, reals, reals_mut};
use crate::{kernels, linalg};

/// Orthonormal rows of `width` numbers.
#[derive(Debug, Clone)]
pub(crate) struct Basis<T> {
    pub(crate) width: usize,
    pub(crate) rank: usize,
    /// Row-major.
    pub(crate) rows: Vec<T>,
    /// The rows in the layout of the kernel: see [`crate::kernels`].
    lanes: Vec<f64>,
    lead: Leading,
}

/// The part of a row from which its coefficients are computed.
#[derive(Debug, Clone)]
enum Leading {
    Part(KeyColumns),
    /// All of it, until the basis changes.
    Whole,
    /// All of it, permanently.
    AlwaysWhole,
}

impl<T: Scalar> Basis<T> {
    /// A basis of rows that are already orthonormal.
    pub(crate) fn new(width: usize, rows: Vec<T>) -> Basis<T> {
        let mut basis = Basis {
            width,
            rank: rows.len() / width,
            rows,
            lanes: Vec::new(),
            lead: Leading::Whole,
        };
        basis.spread();
        basis
    }

    /// Rewrites the rows for the kernel. A complex row becomes two real ones, for the real and the
    /// imaginary part of a coefficient: (re, im, …) and (-im, re, …).
    fn spread(&mut self) {
        let mut lanes: Vec<f64> = Vec::new();
        for row in self.rows.chunks_exact(self.width) {
            let reals: &[f64] = bytemuck::cast_slice(row);
            lanes.extend_from_slice(reals);
            if T::REALS == 2 {
                let pairs = reals.as_chunks::<2>().0.iter();
                lanes.extend(pairs.flat_map(|[re, im]| [-im, *re]));
            }
        }
        let width = self.width * T::REALS;
        self.lanes = kernels::pack(&lanes, width);
        if !matches!(self.lead, Leading::AlwaysWhole) {
            self.lead = lead(&lanes, width).map_or(Leading::Whole, Leading::Part);
        }
    }

    /// Coefficients of rows of cells, in tiles of `per_tile` rows each, with the measured energies
    /// of each tile.
    pub(crate) fn project(
        &self,
        cells: &[T],
        per_tile: usize,
        coefficients: &mut [T],
    ) -> Vec<Energies> {
        let lead = match &self.lead {
            Leading::Part(lead) => Some(lead),
            Leading::Whole | Leading::AlwaysWhole => None,
        };
        let tiles = cells.chunks(per_tile * self.width);
        let next = tiles.clone().skip(1).chain(std::iter::once([].as_slice()));
        let targets = coefficients.chunks_mut(per_tile * self.rank);
        let tiles = tiles.zip(next).zip(targets);
        tiles
            .map(|((tile, ahead), target)| self.project_tile(lead, tile, target, ahead))
            .collect()
    }

    /// The coefficients with the smallest residual.
    pub(crate) fn project_best(&self, cells: &[T], coefficients: &mut [T]) -> f64 {
        self.project_tile(None, cells, coefficients, &[]).residual
    }

    fn project_tile(
        &self,
        lead: Option<&KeyColumns>,
        cells: &[T],
        coefficients: &mut [T],
        ahead: &[T],
    ) -> Energies {
        kernels::project(Tile {
            cells: reals(cells),
            width: self.width * T::REALS,
            basis: &self.lanes,
            lead,
            coefficients: reals_mut(coefficients),
            ahead: reals(ahead),
        })
    }

    /// Uses best-approximation projections from now on.
    pub(crate) fn always_project_best(&mut self) {
        self.lead = Leading::AlwaysWhole;
    }

    /// The residual of the cells after projection.
    pub(crate) fn residual(&self, cells: &[T], coefficients: &[T]) -> Vec<T> {
        let n_rows = cells.len() / self.width;
        let mut residual = cells.to_vec();
        linalg::subtract_product(
            linalg::rows_mut(&mut residual, n_rows, self.width),
            linalg::rows(coefficients, n_rows, self.rank),
            linalg::rows(&self.rows, self.rank, self.width),
        );
        residual
    }

    /// Adds directions, row-major, each made orthogonal to all before it.
    pub(crate) fn extend(&mut self, directions: &[T]) {
        for direction in directions.chunks_exact(self.width) {
            let mut row = direction.to_vec();
            // Twice is enough: the second round removes the rounding errors of the first.
            for _ in 0..2 {
                let mut inside = vec![T::default(); self.rank];
                let basis = linalg::rows(&self.rows, self.rank, self.width);
                linalg::multiply_by_adjoint(
                    linalg::rows_mut(&mut inside, 1, self.rank),
                    linalg::rows(&row, 1, self.width),
                    basis,
                );
                linalg::subtract_product(
                    linalg::rows_mut(&mut row, 1, self.width),
                    linalg::rows(&inside, 1, self.rank),
                    basis,
                );
            }
            let length = energy(&row).sqrt();
            // A direction nearly inside the span; the residual is measured in any case.
            let is_new = length > 1e-8;
            if !is_new {
                continue;
            }
            self.rows
                .extend(row.iter().map(|value| value.times(1.0 / length)));
            self.rank += 1;
        }
        self.spread();
    }
}
