//! The verified pass: a single read that projects, measures, and extends the basis where needed.
//!
//! The matrix is read in tiles of a few rows. Each is projected onto the basis, and the residual is
//! measured explicitly, so nothing about the basis is assumed. A tile whose residual far exceeds
//! its share adds directions of its own to the basis at once; previous tiles have no part in these,
//! so they need not be read again. A residual spread thinly over many tiles is handled at the end:
//! the worst ones are read once more until the sum fits.
//!
//! Tiles are processed in rounds. Within a round all see the same basis, whatever thread they run
//! on; it grows between rounds, in the order of the tiles. So the result is the same for any number
//! of threads.

use rayon::prelude::*;

use super::basis::Basis;
use crate::compress::two_sided::unfolding::Unfolding;

use crate::error::Result;
use crate::huge_vec::{Room, resize};
use crate::linalg;
use crate::num::real;
use crate::scalar::Scalar;

/// A matrix as coefficients times a basis, and the residual.
pub(crate) struct Pass<T> {
    pub(crate) basis: Basis<T>,
    /// One row of coefficients per row of the matrix.
    pub(crate) coefficients: Room<T>,
    /// The energy left out.
    pub(crate) residual: f64,
    /// The energy of the matrix.
    pub(crate) energy: f64,
}

/// Some rows, their residual energy, and their coefficients if they differ from the round's.
struct Tile<T> {
    first: usize,
    n_rows: usize,
    residual: f64,
    own: Option<Vec<T>>,
}

/// The state of a pass.
struct Run<'a, T> {
    unfolding: &'a Unfolding<'a, T>,
    /// The part of the energy that may be left out.
    part: f64,
    basis: Basis<T>,
    /// Largest useful size of the basis.
    max_rank: usize,
    tiles: Vec<Tile<T>>,
    /// Coefficients in the initial basis, up to the row where it grew.
    plain: Room<T>,
    plain_rank: usize,
    /// Coefficients of the rounds after that, and the number in each row.
    later: Vec<(usize, Vec<T>)>,
    /// The first row of the last round.
    round_start: usize,
    seen: f64,
    rows_seen: usize,
}

/// Approximate cells and least rows of a tile: with the basis they fit in the L2 cache.
const TILE: usize = 1 << 15;
const ROWS: usize = 8;
/// Approximate cells in the tiles that one task reads at a time.
const BLOCK: usize = 1 << 18;
/// Cells in the first round and in the largest.
const FIRST_ROUND: usize = 1 << 18;
const LAST_ROUND: usize = 1 << 22;

/// Passes over a matrix once, starting from a basis that may be wrong; `None` if the basis would
/// become too large to be useful.
///
/// `estimate` is an estimate of the total energy. A non-finite energy is returned as is.
pub(crate) fn verified_pass<T: Scalar>(
    unfolding: &Unfolding<T>,
    basis: Basis<T>,
    estimate: f64,
    part: f64,
) -> Result<Option<Pass<T>>> {
    let (width, height) = (unfolding.width, unfolding.height);
    unfolding.watch.hold::<T>((height + width) * basis.rank)?;
    let mut run = Run {
        unfolding,
        part,
        max_rank: (width / 3).max(1),
        tiles: Vec::new(),
        plain: Room::zeros(height * basis.rank)?,
        plain_rank: basis.rank,
        basis,
        later: Vec::new(),
        round_start: 0,
        seen: 0.0,
        rows_seen: 0,
    };
    let mut round = FIRST_ROUND;
    while run.rows_seen < height {
        run.round(round)?;
        if !run.seen.is_finite() {
            return run.finish().map(Some);
        }
        if !run.repair(estimate)? {
            return Ok(None);
        }
        round = (round * 2).min(LAST_ROUND);
    }
    run.settle()?.then(|| run.finish()).transpose()
}

impl<T: Scalar> Run<'_, T> {
    fn rows_per_tile(&self) -> usize {
        ((TILE / (self.unfolding.width * T::REALS)).clamp(ROWS, 256) / 4) * 4
    }

    /// Projects the next rows, about `cells` of them, onto the current basis.
    fn round(&mut self, cells: usize) -> Result<()> {
        let (width, rank) = (self.unfolding.width, self.basis.rank);
        let per_tile = self.rows_per_tile();
        let per_block = per_tile * (BLOCK / (per_tile * width)).max(1);
        let first = self.rows_seen;
        let n_rows = (cells / width).next_multiple_of(per_block);
        let n_rows = n_rows.min(self.unfolding.height - first);
        let mut grown = Vec::new();
        let is_plain = rank == self.plain_rank;
        let target = if is_plain {
            let rest = self.plain.get_mut(first * rank..).unwrap_or_default();
            rest.get_mut(..n_rows * rank).unwrap_or_default()
        } else {
            resize(&mut grown, n_rows * rank)?;
            grown.as_mut_slice()
        };
        let (unfolding, basis) = (self.unfolding, &self.basis);
        let blocks = target
            .par_chunks_mut(per_block * rank)
            .enumerate()
            // Reused buffers are already allocated.
            .map_init(Vec::new, |room, (block, target)| {
                let start = first + block * per_block;
                let rows = target.len() / rank;
                unfolding.watch.advance(rows * width)?;
                let range = start * width..(start + rows) * width;
                let cells = unfolding.held.cells(range, room)?;
                Ok((start, rows, basis.project(cells, per_tile, target)))
            })
            .collect::<Result<Vec<_>>>()?;
        for (start, rows, measured) in blocks {
            for (tile, measured) in measured.into_iter().enumerate() {
                self.seen += measured.all;
                self.tiles.push(Tile {
                    first: start + tile * per_tile,
                    n_rows: per_tile.min(rows - tile * per_tile),
                    residual: measured.residual,
                    own: None,
                });
            }
        }
        if !is_plain {
            self.later.push((rank, grown));
        }
        self.round_start = first;
        self.rows_seen = first + n_rows;
        Ok(())
    }

    /// Adds directions for the tiles of the last round whose residual far exceeds their share.
    fn repair(&mut self, estimate: f64) -> Result<bool> {
        let height = real(self.unfolding.height);
        let expected = estimate.max(self.seen * height / real(self.rows_seen));
        let start = self.round_start;
        let from = self.tiles.partition_point(|tile| tile.first < start);
        let share = self.part * expected / height;
        let left_out = self.residual();
        let rank = self.basis.rank;
        for place in from..self.tiles.len() {
            let Some(tile) = self.tiles.get(place) else {
                break;
            };
            let share = share * real(tile.n_rows);
            if tile.residual > 8.0 * share && !self.improve(place, 8.0 * share, share)? {
                return Ok(false);
            }
        }
        // A residual without a missing direction may come from approximate coefficients.
        let so_far = real(self.rows_seen).max(0.125 * height);
        if self.basis.rank == rank && left_out > 0.5 * share * so_far {
            self.basis.always_project_best();
        }
        Ok(true)
    }

    /// Reads a tile again. If its residual still exceeds `tolerated`, the basis is extended so that
    /// at most `goal` remains. False if the basis would become too large.
    fn improve(&mut self, place: usize, tolerated: f64, goal: f64) -> Result<bool> {
        let width = self.unfolding.width;
        let Some(tile) = self.tiles.get_mut(place) else {
            return Ok(true);
        };
        let range = tile.first * width..(tile.first + tile.n_rows) * width;
        let mut room = Vec::new();
        let cells = self.unfolding.held.cells(range, &mut room)?;
        self.unfolding.watch.advance(cells.len())?;
        let mut coefficients = T::zeros(tile.n_rows * self.basis.rank)?;
        let mut left = self.basis.project_best(cells, &mut coefficients);
        if left > tolerated {
            let residual = self.basis.residual(cells, &coefficients);
            let found = linalg::span(&residual, width, goal);
            let rank = self.basis.rank + found.rank;
            if rank > self.max_rank {
                return Ok(false);
            }
            // Previous coefficients are copied once at the end.
            let held = (2 * self.unfolding.height + width) * rank;
            self.unfolding.watch.hold::<T>(held)?;
            self.basis.extend(&found.rows);
            coefficients = T::zeros(tile.n_rows * self.basis.rank)?;
            left = self.basis.project_best(cells, &mut coefficients);
        }
        tile.residual = left;
        tile.own = Some(coefficients);
        Ok(true)
    }

    fn residual(&self) -> f64 {
        self.tiles.iter().map(|tile| tile.residual).sum()
    }

    /// Reads the worst tiles again until the total residual is within the budget. False if the
    /// basis would become too large.
    fn settle(&mut self) -> Result<bool> {
        let allowed = self.part * self.seen;
        let mut left_out = self.residual();
        if left_out <= allowed {
            return Ok(true);
        }
        let mut worst: Vec<(usize, f64)> = self
            .tiles
            .iter()
            .map(|tile| tile.residual)
            .enumerate()
            .collect();
        worst.sort_by(|one, other| other.1.total_cmp(&one.1));
        let height = real(self.unfolding.height);
        for (place, before) in worst {
            if left_out <= 0.9 * allowed {
                break;
            }
            let n_rows = self.tiles.get(place).map_or(0, |tile| tile.n_rows);
            let goal = 0.5 * allowed * real(n_rows) / height;
            if !self.improve(place, goal, goal)? {
                return Ok(false);
            }
            let after = self.tiles.get(place).map_or(0.0, |tile| tile.residual);
            left_out += after - before;
        }
        Ok(self.residual() <= allowed)
    }

    /// Joins the coefficients of all rows, with zeros for directions added later.
    fn finish(mut self) -> Result<Pass<T>> {
        let rank = self.basis.rank;
        let residual = self.residual();
        let mut coefficients = if rank == self.plain_rank {
            std::mem::replace(&mut self.plain, Room::Few(Vec::new()))
        } else {
            let later: usize = self.later.iter().map(|(own, all)| all.len() / own).sum();
            let n_plain = (self.rows_seen - later) * self.plain_rank;
            let plain = self.plain.get(..n_plain).unwrap_or_default();
            let later = self.later.iter().map(|(own, all)| (*own, all.as_slice()));
            let mut all = Room::zeros(self.rows_seen * rank)?;
            let mut targets = all.chunks_exact_mut(rank);
            for (own, values) in std::iter::once((self.plain_rank, plain)).chain(later) {
                for (row, target) in values.chunks_exact(own).zip(targets.by_ref()) {
                    let places = target.iter_mut().zip(row);
                    places.for_each(|(place, value)| *place = *value);
                }
            }
            all
        };
        for tile in &self.tiles {
            let Some(values) = &tile.own else { continue };
            let own = values.len() / tile.n_rows;
            let targets = coefficients.chunks_exact_mut(rank).skip(tile.first);
            for (target, values) in targets.zip(values.chunks_exact(own)) {
                target.fill(T::default());
                let places = target.iter_mut().zip(values);
                places.for_each(|(place, value)| *place = *value);
            }
        }
        Ok(Pass {
            basis: self.basis,
            coefficients,
            residual,
            energy: self.seen,
        })
    }
}
