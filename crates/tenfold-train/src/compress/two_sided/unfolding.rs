//! Unfoldings: the remainder of a tensor as a matrix, and passes over it.
//!
//! Panels are determined by the shape alone, never by the number of threads, and their results are
//! added in order: the result is bitwise reproducible.

use std::ops::Range;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::compress::progress::Watch;
use tenfold::memory;

use crate::error::Result;
use crate::huge_vec::Room;
use crate::kernels::{Combination, combine};
use crate::num::{real, sum};
use crate::scalar::{Scalar, energy, reals, reals_mut};
use crate::source::Source;
use crate::{kernels, linalg};

/// The cells of a step: the source itself, or the result of earlier steps.
pub(crate) enum Held<'a, T> {
    /// As it is.
    Source(&'a dyn Source<T>),
    /// In memory.
    Own(Room<T>),
}

impl<T: Scalar> Held<'_, T> {
    /// A range of cells, borrowed or read into `room`.
    pub(crate) fn cells<'b>(
        &'b self,
        range: Range<usize>,
        room: &'b mut Vec<T>,
    ) -> Result<&'b [T]> {
        match self {
            Held::Source(source) => source.cells(range, room),
            Held::Own(values) => Ok(values.get(range).unwrap_or_default()),
        }
    }

    /// All cells, if they are in memory.
    pub(crate) fn all(&self) -> Option<&[T]> {
        match self {
            Held::Source(source) => source.all(),
            Held::Own(values) => Some(values),
        }
    }
}

/// The end of the train from which a mode is split off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The first mode.
    Left,
    /// The last mode.
    Right,
}

impl Side {
    /// The other one.
    pub(crate) fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }
}

/// Cells as a tall matrix: `width` columns for the mode that is split off, `height` rows for all
/// others. On the left side it is the transpose of the stored matrix.
pub(crate) struct Unfolding<'a, T> {
    pub(crate) held: &'a Held<'a, T>,
    pub(crate) side: Side,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) watch: &'a Watch<'a>,
}

/// Approximate cells in a panel: a megabyte.
const PANEL: usize = 1 << 17;

/// Rows in a panel of a matrix stored as its transpose: a short range of each of its rows.
const SUMMED: usize = 256;

/// Groups of panels that are summed separately: enough for many threads, few enough for memory.
const GROUPS: usize = 16;

/// Number of columns above which a Gram matrix is computed in stripes, and columns per stripe.
const WIDE: usize = 256;
const STRIPE: usize = 128;
/// Rows added to a stripe at a time.
const DEEP: usize = 128;

/// A tall matrix times a basis.
pub(crate) struct Projected<T> {
    /// In the layout of the next step.
    pub(crate) values: Room<T>,
    /// The sum of its squares.
    pub(crate) energy: f64,
}

impl<T: Scalar> Unfolding<'_, T> {
    /// Passes a range of rows to `with`, borrowed where possible.
    pub(crate) fn panel<R>(
        &self,
        rows: Range<usize>,
        with: impl FnOnce(MatRef<T>) -> R,
    ) -> Result<R> {
        let n_rows = rows.len();
        let mut room = Vec::new();
        match (self.side, self.held.all()) {
            (Side::Right, _) => {
                let range = rows.start * self.width..rows.end * self.width;
                let cells = self.held.cells(range, &mut room)?;
                Ok(with(linalg::rows(cells, n_rows, self.width)))
            }
            (Side::Left, Some(all)) => {
                let stored = linalg::rows(all, self.width, self.height);
                Ok(with(stored.subcols(rows.start, n_rows).transpose()))
            }
            (Side::Left, None) => {
                let mut gathered = memory::with_room(n_rows * self.width)?;
                for row in 0..self.width {
                    let at = row * self.height + rows.start;
                    gathered.extend_from_slice(self.held.cells(at..at + n_rows, &mut room)?);
                }
                Ok(with(
                    linalg::rows(&gathered, self.width, n_rows).transpose(),
                ))
            }
        }
    }

    fn rows_per_panel(&self) -> usize {
        (PANEL / self.width).clamp(64, 1 << 14).min(self.height)
    }

    /// Processes groups of panels, with one result per group.
    fn groups<R: Send>(
        &self,
        per_panel: usize,
        start: impl Fn() -> R + Sync,
        each: impl Fn(&mut R, MatRef<T>) -> Result<()> + Sync,
    ) -> Result<Vec<R>> {
        let n_panels = self.height.div_ceil(per_panel);
        let by_memory = (self.height / self.width).clamp(2, GROUPS);
        let per_group = n_panels.div_ceil(by_memory);
        (0..n_panels.div_ceil(per_group))
            .into_par_iter()
            .map(|group| {
                let mut result = start();
                let panels = group * per_group..((group + 1) * per_group).min(n_panels);
                for panel in panels {
                    let rows = panel * per_panel..((panel + 1) * per_panel).min(self.height);
                    self.watch.advance(rows.len() * self.width)?;
                    self.panel(rows, |panel| each(&mut result, panel))??;
                }
                Ok(result)
            })
            .collect()
    }

    /// The lower triangle of the Gram matrix.
    pub(crate) fn gram(&self) -> Result<Mat<T>> {
        if self.width >= WIDE
            && let Some(all) = self.held.all()
        {
            return self.wide_gram(all);
        }
        // Tall enough to justify a pass over a large result.
        let tall = (self.width / 2).min(512).min(self.height);
        let parts = self.groups(
            self.rows_per_panel().max(tall),
            || Mat::zeros(self.width, self.width),
            |gram: &mut Mat<T>, panel| {
                linalg::add_gram(gram.as_mut(), panel);
                Ok(())
            },
        )?;
        let mut parts = parts.into_iter();
        let first = parts.next();
        let mut sum = first.unwrap_or_else(|| Mat::zeros(self.width, self.width));
        for part in parts {
            sum += part;
        }
        Ok(sum)
    }

    /// The same from cells in memory, a stripe of columns at a time: no partial sums are needed.
    fn wide_gram(&self, all: &[T]) -> Result<Mat<T>> {
        let cells = self.cells(all);
        let mut gram = Mat::zeros(self.width, self.width);
        let stripes = linalg::stripes(gram.as_mut(), STRIPE);
        let stripes = stripes.into_par_iter().enumerate();
        stripes.for_each(|(place, stripe)| {
            let first = place * STRIPE;
            let mut stripe = stripe.subrows_mut(first, self.width - first);
            for row in (0..self.height).step_by(DEEP) {
                let some = cells.subrows(row, DEEP.min(self.height - row));
                let own = some.subcols(first, stripe.ncols());
                let others = some.subcols(first, self.width - first);
                linalg::add_adjoint_product(stripe.as_mut(), others, own);
            }
        });
        self.watch.advance(all.len())?;
        Ok(gram)
    }

    /// Whether a square part of a matrix with the energy `energy` shows quickly that no singular
    /// value can be left out within `share`; false if it does not.
    pub(crate) fn is_regular(&self, energy: f64, share: f64) -> Result<bool> {
        let Some(all) = self.held.all() else {
            return Ok(false);
        };
        let step = self.height / self.width;
        if step == 0 {
            return Ok(false);
        }
        self.watch.advance(self.width * self.width)?;
        let size = (energy / real(all.len())).sqrt();
        let cells = self.cells(all);
        if step == 1 {
            let square = cells.subrows(0, self.width);
            return Ok(linalg::is_regular(square, size, share.sqrt()));
        }
        let square = Mat::from_fn(self.width, self.width, |row, column| {
            cells[(row * step, column)]
        });
        Ok(linalg::is_regular(square.as_ref(), size, share.sqrt()))
    }

    /// All cells, if in memory, as a matrix.
    fn cells<'b>(&self, all: &'b [T]) -> MatRef<'b, T> {
        match self.side {
            Side::Right => linalg::rows(all, self.height, self.width),
            Side::Left => linalg::rows(all, self.width, self.height).transpose(),
        }
    }

    /// The triangle of a QR decomposition, panel by panel: it has the singular values and right
    /// singular vectors of the whole, to full precision.
    pub(crate) fn triangle(&self) -> Result<Mat<T>> {
        // Tall enough that the triangle above it costs little.
        let per_panel = self.rows_per_panel().max(4 * self.width);
        let parts = self.groups(
            per_panel,
            || Mat::zeros(0, self.width),
            |triangle: &mut Mat<T>, panel| {
                *triangle = stacked(triangle.as_ref(), panel);
                Ok(())
            },
        )?;
        let mut sum = Mat::zeros(0, self.width);
        for part in parts {
            sum = stacked(sum.as_ref(), part.as_ref());
        }
        Ok(sum)
    }

    /// The product with a basis, whose columns are orthonormal.
    pub(crate) fn project(&self, basis: MatRef<T>) -> Result<Projected<T>> {
        let count = self.height * basis.ncols();
        self.watch.hold::<T>(count)?;
        let mut values = Room::zeros(count)?;
        let energies = match self.side {
            Side::Right => self.project_right(basis, &mut values)?,
            Side::Left => self.project_left(basis, &mut values)?,
        };
        Ok(Projected {
            values,
            energy: sum(energies),
        })
    }

    /// The same, and the energy of the matrix, in one read; `None` if that takes two.
    pub(crate) fn project_measured(&self, basis: MatRef<T>) -> Result<Option<(Projected<T>, f64)>> {
        let Some(all) = self.held.all().filter(|_| self.is_summed()) else {
            return Ok(None);
        };
        let count = self.height * basis.ncols();
        self.watch.hold::<T>(count)?;
        let mut values = Room::zeros(count)?;
        let factors = self.factors(basis);
        let panels = self.stretches(&mut values);
        let panels = panels.into_par_iter().enumerate();
        let energies = panels.map_init(Vec::new, |room, (panel, targets)| {
            self.combined(all, &factors, panel * SUMMED, targets, room)
        });
        let energies = energies.collect::<Result<Vec<[f64; 2]>>>()?;
        let projected = Projected {
            values,
            energy: sum(energies.iter().map(|[inside, _]| *inside)),
        };
        Ok(Some((
            projected,
            sum(energies.iter().map(|[_, whole]| *whole)),
        )))
    }

    /// Whether a product is a sum of real rows in memory.
    fn is_summed(&self) -> bool {
        self.side == Side::Left && T::REALS == 1 && self.held.all().is_some()
    }

    /// Panel by panel; returns the energies of their products.
    fn project_right(&self, basis: MatRef<T>, values: &mut [T]) -> Result<Vec<f64>> {
        let (rank, per_panel) = (basis.ncols(), self.rows_per_panel());
        let panels = values.par_chunks_mut(per_panel * rank).enumerate();
        let energies = panels.map(|(panel, out)| {
            let (first, n_rows) = (panel * per_panel, out.len() / rank);
            self.watch.advance(n_rows * self.width)?;
            self.panel(first..first + n_rows, |panel| {
                linalg::multiply(linalg::rows_mut(out, n_rows, rank), panel, basis);
                energy(out)
            })
        });
        energies.collect()
    }

    /// The same, where the product is stored as its transpose.
    fn project_left(&self, basis: MatRef<T>, values: &mut [T]) -> Result<Vec<f64>> {
        let real = self.held.all().filter(|_| self.is_summed());
        let real = real.map(|all| (all, self.factors(basis)));
        let panels = self.stretches(values).into_par_iter().enumerate();
        let energies = panels.map_init(Vec::new, |room, (panel, targets)| match &real {
            Some((all, factors)) => {
                let [inside, _] = self.combined(all, factors, panel * SUMMED, targets, room)?;
                Ok(inside)
            }
            None => self.multiplied(basis, panel * SUMMED, targets),
        });
        energies.collect()
    }

    /// A range of every row of a product for every panel.
    fn stretches<'b>(&self, values: &'b mut [T]) -> Vec<Vec<&'b mut [T]>> {
        let mut panels: Vec<Vec<&mut [T]>> = Vec::new();
        panels.resize_with(self.height.div_ceil(SUMMED), Vec::new);
        for row in values.chunks_mut(self.height) {
            for (panel, part) in panels.iter_mut().zip(row.chunks_mut(SUMMED)) {
                panel.push(part);
            }
        }
        panels
    }

    /// A basis in the layout of the kernel.
    fn factors(&self, basis: MatRef<T>) -> Vec<f64> {
        kernels::pad(reals(&linalg::row_major(basis)), basis.ncols())
    }

    /// Sums of real rows in memory; returns their energy, and that of the cells they are of.
    fn combined(
        &self,
        all: &[T],
        factors: &[f64],
        first: usize,
        targets: Vec<&mut [T]>,
        room: &mut Vec<f64>,
    ) -> Result<[f64; 2]> {
        let mut sums: Vec<&mut [f64]> = targets.into_iter().map(reals_mut).collect();
        let count = sums.first().map_or(0, |sum| sum.len());
        self.watch.advance(count * self.width)?;
        let whole = combine(Combination {
            rows: reals(all),
            len: self.height,
            factors,
            first,
            sums: &mut sums,
            room,
        });
        let inside = sum(sums.iter().map(|sum| kernels::energy(sum)));
        Ok([inside, whole])
    }

    /// The product of any panel.
    fn multiplied(&self, basis: MatRef<T>, first: usize, targets: Vec<&mut [T]>) -> Result<f64> {
        let (rank, n_rows) = (basis.ncols(), targets.first().map_or(0, |part| part.len()));
        self.watch.advance(n_rows * self.width)?;
        let mut out = T::zeros(n_rows * rank)?;
        self.panel(first..first + n_rows, |panel| {
            let out = linalg::rows_mut(&mut out, rank, n_rows);
            linalg::multiply(out, basis.transpose(), panel.transpose());
        })?;
        for (target, part) in targets.into_iter().zip(out.chunks(n_rows)) {
            target.copy_from_slice(part);
        }
        Ok(energy(&out))
    }
}

/// The triangle of the QR decomposition of a triangle above a panel.
fn stacked<T: Scalar>(triangle: MatRef<T>, panel: MatRef<T>) -> Mat<T> {
    if triangle.nrows() == 0 && panel.nrows() <= panel.ncols() {
        return panel.to_owned();
    }
    let above = triangle.nrows();
    let mut both = Mat::zeros(above + panel.nrows(), panel.ncols());
    both.as_mut().subrows_mut(0, above).copy_from(triangle);
    both.as_mut()
        .subrows_mut(above, panel.nrows())
        .copy_from(panel);
    linalg::squared(both.as_ref())
}

/// The sum of squares of all cells.
pub(crate) fn total_energy<T: Scalar>(
    source: &dyn Source<T>,
    cells: usize,
    watch: &Watch,
) -> Result<f64> {
    let per_panel = PANEL * 4;
    let sums = (0..cells.div_ceil(per_panel))
        .into_par_iter()
        .map(|panel| {
            let range = panel * per_panel..((panel + 1) * per_panel).min(cells);
            watch.advance(range.len())?;
            Ok(energy(source.cells(range, &mut Vec::new())?))
        })
        .collect::<Result<Vec<f64>>>()?;
    Ok(sum(sums))
}
