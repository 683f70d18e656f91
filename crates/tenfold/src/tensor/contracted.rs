//! A train with places taken out of it: a train of fewer cores.
//!
//! Taking one place of a dimension leaves a matrix of its core. Those before the first dimension
//! that stays are multiplied into its core from the left, all others into the core before them from
//! the right. The products are worked out when they are read; no cell of the tensor is.

use super::storage::Storage;
use super::train::{Scalar, not_computed, row_times};
use crate::bytes::{Bytes, Compute, Endian, PIECE, Source, narrow, swap, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{DType, Element, Numbers};

/// What is left of one core of a train.
pub(super) struct Link {
    /// Its numbers, row-major.
    pub(super) core: Numbers,
    /// Its rank, how many places are taken, and the next rank.
    pub(super) shape: [u64; 3],
    /// Whether its dimension stays.
    pub(super) stays: bool,
}

/// The train that is left, where at least one dimension stays.
pub(super) fn contracted(links: &[Link], dtype: DType, limits: &Limits) -> Result<Storage> {
    if dtype == f64::DTYPE {
        contract::<f64>(links, limits)
    } else if dtype == num_complex::Complex::<f64>::DTYPE {
        contract::<num_complex::Complex<f64>>(links, limits)
    } else {
        Err(not_computed(dtype))
    }
}

fn contract<T: Scalar>(links: &[Link], limits: &Limits) -> Result<Storage> {
    let first = links.iter().position(|link| link.stays);
    let (gone, rest) = links.split_at(first.unwrap_or(links.len()));
    let mut row: Option<Matrix<T>> = None;
    for link in gone {
        let next = Matrix::read(link, limits)?;
        row = Some(match row {
            Some(row) => row.times(&next, limits)?,
            None => next,
        });
    }
    let (mut ranks, mut cores) = (vec![1], Vec::new());
    // A dimension that stays, with those behind it that go.
    for run in rest.chunk_by(|_, next| !next.stays) {
        let Some((kept, gone)) = run.split_first() else {
            continue;
        };
        let (mut core, [rank, count, mut next]) = (kept.core.clone(), kept.shape);
        if let Some(row) = row.take() {
            core = Product::numbers(Factor::Before(row), core, count.saturating_mul(next));
        }
        // From the right: behind the last dimension that stays, these are columns.
        let mut behind: Option<Matrix<T>> = None;
        for link in gone.iter().rev() {
            let own = Matrix::read(link, limits)?;
            behind = Some(match behind {
                Some(behind) => own.times(&behind, limits)?,
                None => own,
            });
        }
        if let Some(behind) = behind {
            let rows = if cores.is_empty() { 1 } else { rank };
            next = wide(behind.n_columns);
            let cells = rows.saturating_mul(count).saturating_mul(next);
            core = Product::numbers(Factor::Behind(behind), core, cells);
        }
        ranks.push(next);
        cores.push(core);
    }
    Ok(Storage::Train { ranks, cores })
}

/// A small matrix in memory, row-major.
struct Matrix<T> {
    n_rows: usize,
    n_columns: usize,
    values: Vec<T>,
}

impl<T: Scalar> Matrix<T> {
    /// The matrix of a core of which one place is taken.
    fn read(link: &Link, limits: &Limits) -> Result<Matrix<T>> {
        let [rank, _, next] = link.shape;
        limits.check_decoded("a part of a core would be read", link.core.bytes.len())?;
        Ok(Matrix {
            n_rows: narrow(rank)?,
            n_columns: narrow(next)?,
            values: link.core.to_vec::<T>()?,
        })
    }

    fn times(&self, other: &Matrix<T>, limits: &Limits) -> Result<Matrix<T>> {
        let len = self.n_rows.saturating_mul(other.n_columns);
        let bytes = wide(len).saturating_mul(wide(T::DTYPE.width()));
        limits.check_decoded("part of a train would be multiplied out", bytes)?;
        let mut values = Vec::with_capacity(len);
        for row in self.values.chunks_exact(self.n_columns.max(1)) {
            values.extend(other.after(row));
        }
        Ok(Matrix {
            n_rows: self.n_rows,
            n_columns: other.n_columns,
            values,
        })
    }

    /// A row times the matrix.
    fn after<'a>(&'a self, row: &'a [T]) -> impl Iterator<Item = T> + 'a {
        row_times(row, &self.values, self.n_columns)
    }
}

/// What a core is multiplied by.
enum Factor<T> {
    /// One row, from the left.
    Before(Matrix<T>),
    /// From the right.
    Behind(Matrix<T>),
}

/// A core times a matrix, worked out when it is read.
struct Product<T> {
    factor: Factor<T>,
    /// The core, where it can be read by position.
    core: Numbers,
    /// How many elements come out.
    cells: u64,
}

impl<T: Scalar> Product<T> {
    /// The product as numbers, `cells` elements of them.
    fn numbers(factor: Factor<T>, core: Numbers, cells: u64) -> Numbers {
        let product = Product {
            factor,
            core: core.clone(),
            cells,
        };
        Numbers {
            number: core.number,
            endian: Endian::Little,
            bytes: Bytes::whole(Source::computed(product)),
        }
    }

    /// Elements of the core, from one on.
    fn read(&self, from: u64, count: usize) -> Result<Vec<T>> {
        let width = T::DTYPE.width();
        let mut bytes = vec![0; count.saturating_mul(width)];
        let at = from.saturating_mul(wide(width));
        self.core.bytes.read_at(at, &mut bytes)?;
        if self.core.must_swap(Endian::Little) {
            swap(&mut bytes, self.core.number.width());
        }
        Ok(bytes.chunks_exact(width).map(T::from_le).collect())
    }

    /// Some elements of the product, at most so many as make a piece.
    fn elements(&self, from: u64, to: u64) -> Result<Vec<T>> {
        let most = wide(PIECE / T::DTYPE.width());
        match &self.factor {
            Factor::Before(row) => {
                let count = narrow(to.saturating_sub(from).min(most))?;
                let mut sums: Option<Vec<T>> = None;
                for (number, left) in (0_u64..).zip(&row.values) {
                    let at = number.saturating_mul(self.cells).saturating_add(from);
                    let terms = self.read(at, count)?.into_iter().map(|right| *left * right);
                    sums = Some(match sums {
                        Some(sums) => sums.into_iter().zip(terms).map(|(s, t)| s + t).collect(),
                        None => terms.collect(),
                    });
                }
                Ok(sums.unwrap_or_else(|| vec![T::default(); count]))
            }
            Factor::Behind(matrix) => {
                let (rank, columns) = (matrix.n_rows, wide(matrix.n_columns).max(1));
                let (first, skip) = (from / columns, narrow(from % columns)?);
                let rows = to.div_ceil(columns).saturating_sub(first);
                let rows = narrow(rows.min((most / columns.max(wide(rank)).max(1)).max(1)))?;
                let at = first.saturating_mul(wide(rank));
                let core = self.read(at, rows.saturating_mul(rank))?;
                let products = core
                    .chunks_exact(rank.max(1))
                    .flat_map(|row| matrix.after(row));
                let wanted = narrow(to.saturating_sub(from))?;
                Ok(products.skip(skip).take(wanted).collect())
            }
        }
    }
}

impl<T: Scalar> Compute for Product<T> {
    fn len(&self) -> u64 {
        self.cells.saturating_mul(wide(T::DTYPE.width()))
    }

    fn depth(&self) -> u32 {
        self.core.bytes.source().depth()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let width = wide(T::DTYPE.width());
        let to = at.saturating_add(wide(buffer.len())).div_ceil(width);
        let (mut from, mut skip) = (at / width, narrow(at % width)?);
        let mut rest = buffer;
        let mut bytes = Vec::new();
        while !rest.is_empty() {
            let elements = self.elements(from, to)?;
            if elements.is_empty() {
                return Err(Error::invalid("a product of cores ends too early"));
            }
            from = from.saturating_add(wide(elements.len()));
            bytes.clear();
            elements
                .into_iter()
                .for_each(|value| value.to_le(&mut bytes));
            let found = bytes.get(skip..).unwrap_or_default();
            let (now, later) = rest.split_at_mut(found.len().min(rest.len()));
            now.copy_from_slice(found.get(..now.len()).unwrap_or_default());
            rest = later;
            skip = 0;
        }
        Ok(())
    }
}
