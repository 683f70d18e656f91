//! Selection of indices of a train, which leaves a train of fewer cores.
//!
//! Fixing the index of a dimension leaves a matrix of its core. Matrices before the first remaining
//! dimension are multiplied into its core from the left, all others into the core before them from
//! the right. The products are computed on reading; no cell of the tensor is. Entries of small
//! matrices have a power of two each, so that an intermediate overflow or underflow does no harm to
//! an entry that is in range.

use super::{Scalar, Wide, not_computed};
use crate::bytes::{Bytes, Endian, PIECE, swap, to_u64, to_usize};
use crate::dtype::{DType, Element, Numbers};
use crate::error::{Error, Result};
use crate::io::{Compute, Source};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::storage::Storage;

/// The selected part of one core of a train.
pub(crate) struct Link {
    /// Its numbers, row-major.
    pub(crate) core: Numbers,
    /// Its rank, the number of selected indices, and the next rank.
    pub(crate) shape: [u64; 3],
    /// Whether its dimension remains.
    pub(crate) stays: bool,
}

/// The remaining train, if at least one dimension remains.
pub(crate) fn contracted(links: &[Link], dtype: DType, limits: &Limits) -> Result<Storage> {
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
    let (mut ranks, mut parts) = (vec![1], Vec::new());
    // A remaining dimension, with the dropped ones after it.
    for run in rest.chunk_by(|_, next| !next.stays) {
        let Some((kept, gone)) = run.split_first() else {
            continue;
        };
        let [rank, count, mut next] = kept.shape;
        let mut part = Part {
            core: kept.core.clone(),
            power: 0,
        };
        if let Some(row) = row.take() {
            part = part.times::<T>(Side::Before, row, count.saturating_mul(next));
        }
        // From the right: after the last remaining dimension, these are columns.
        let mut behind: Option<Matrix<T>> = None;
        for link in gone.iter().rev() {
            let own = Matrix::read(link, limits)?;
            behind = Some(match behind {
                Some(behind) => own.times(&behind, limits)?,
                None => own,
            });
        }
        if let Some(behind) = behind {
            let rows = if parts.is_empty() { 1 } else { rank };
            next = to_u64(behind.n_columns);
            let cells = rows.saturating_mul(count).saturating_mul(next);
            part = part.times::<T>(Side::Behind, behind, cells);
        }
        ranks.push(next);
        parts.push(part);
    }
    let cores = settled::<T>(parts)?;
    Ok(Storage::Train { ranks, cores })
}

/// A remaining core, and a pending factor as a power of two.
struct Part {
    core: Numbers,
    power: i32,
}

impl Part {
    /// The product with a matrix, of so many elements; its largest power of two becomes pending.
    fn times<T: Scalar>(self, side: Side, mut matrix: Matrix<T>, cells: u64) -> Part {
        let powers = matrix.values.iter().map(|entry| entry.power);
        let most = powers.max().unwrap_or(0);
        for entry in &mut matrix.values {
            entry.power = entry.power.saturating_sub(most);
        }
        let factor = Some((side, matrix));
        Part {
            core: Product::numbers(factor, 0, self.core, cells),
            power: self.power.saturating_add(most),
        }
    }

    /// The exponent of the largest element.
    fn exponent<T: Scalar>(&self) -> Result<i32> {
        let elements = self.core.to_vec::<T>()?.into_iter();
        Ok(elements.filter_map(Scalar::exponent).max().unwrap_or(0))
    }
}

/// The cores with their powers of two applied; large powers are distributed so that all entries are
/// of similar size.
fn settled<T: Scalar>(mut parts: Vec<Part>) -> Result<Vec<Numbers>> {
    /// Exponents that single cores can absorb.
    const SMALL: i32 = 64;
    if parts.iter().any(|part| part.power.abs() > SMALL) {
        let exponents = parts.iter().map(Part::exponent::<T>);
        let exponents: Vec<i32> = exponents.collect::<Result<_>>()?;
        let powers = parts.iter().map(|part| part.power);
        let total = powers.chain(exponents.iter().copied());
        let total = total.fold(0, i32::saturating_add);
        let count = i32::try_from(parts.len()).unwrap_or(i32::MAX).max(1);
        for (number, (part, exponent)) in parts.iter_mut().zip(exponents).enumerate() {
            let rest = if number == 0 { total % count } else { 0 };
            part.power = (total / count)
                .saturating_add(rest)
                .saturating_sub(exponent);
        }
    }
    let cores = parts.into_iter().map(|part| match part.power {
        0 => part.core,
        power => {
            let cells = part.core.bytes.len() / to_u64(T::DTYPE.width()).max(1);
            Product::<T>::numbers(None, power, part.core, cells)
        }
    });
    Ok(cores.collect())
}

/// A small matrix in memory, row-major.
struct Matrix<T> {
    n_rows: usize,
    n_columns: usize,
    values: Vec<Wide<T>>,
}

impl<T: Scalar> Matrix<T> {
    /// The matrix of a core at a fixed index.
    fn read(link: &Link, limits: &Limits) -> Result<Matrix<T>> {
        let [rank, _, next] = link.shape;
        limits.check_decoded("a part of a core would be read", link.core.bytes.len())?;
        let values = link.core.to_vec::<T>()?.into_iter();
        Ok(Matrix {
            n_rows: to_usize(rank)?,
            n_columns: to_usize(next)?,
            values: values.map(|value| Wide::new(value, 0)).collect(),
        })
    }

    fn times(&self, other: &Matrix<T>, limits: &Limits) -> Result<Matrix<T>> {
        let len = self.n_rows.saturating_mul(other.n_columns);
        let bytes = to_u64(len).saturating_mul(to_u64(size_of::<Wide<T>>()));
        limits.check_decoded("part of a train would be multiplied out", bytes)?;
        let mut values = memory::with_room(len)?;
        let mut terms = memory::with_room(other.n_rows)?;
        for row in self.values.chunks_exact(self.n_columns.max(1)) {
            for column in 0..other.n_columns {
                let entries = other.values.iter().skip(column).step_by(other.n_columns);
                terms.clear();
                terms.extend(
                    row.iter()
                        .zip(entries)
                        .map(|(left, right)| left.times(*right)),
                );
                values.push(Wide::sum(&terms));
            }
        }
        Ok(Matrix {
            n_rows: self.n_rows,
            n_columns: other.n_columns,
            values,
        })
    }
}

/// The side of a core that a matrix is multiplied to.
#[derive(Debug, Clone, Copy)]
enum Side {
    /// One row, from the left.
    Before,
    /// From the right.
    Behind,
}

/// The factor of a core.
struct Factor<T> {
    side: Side,
    n_rows: usize,
    n_columns: usize,
    /// The entries, each as a number and a power of two.
    steps: Vec<(T, i32)>,
}

impl<T: Scalar> Factor<T> {
    fn new(side: Side, matrix: &Matrix<T>) -> Factor<T> {
        Factor {
            side,
            n_rows: matrix.n_rows,
            n_columns: matrix.n_columns,
            steps: matrix.values.iter().map(|entry| entry.steps()).collect(),
        }
    }

    /// A row times the matrix.
    fn after<'a>(&'a self, row: &'a [T]) -> impl Iterator<Item = T> + 'a {
        (0..self.n_columns).map(move |column| {
            let entries = self.steps.iter().skip(column).step_by(self.n_columns);
            let terms = row.iter().zip(entries);
            let terms = terms.map(|(left, (right, power))| (*left * *right).by_power(*power));
            terms.reduce(|sum, term| sum + term).unwrap_or_default()
        })
    }
}

/// A core times a matrix and a power of two, computed on reading.
struct Product<T> {
    factor: Option<Factor<T>>,
    power: i32,
    /// The core, with random access.
    core: Numbers,
    /// The number of elements of the product.
    cells: u64,
}

impl<T: Scalar> Product<T> {
    /// The product as a lazy array of `cells` elements.
    fn numbers(
        factor: Option<(Side, Matrix<T>)>,
        power: i32,
        core: Numbers,
        cells: u64,
    ) -> Numbers {
        let product = Product {
            factor: factor.map(|(side, matrix)| Factor::new(side, &matrix)),
            power,
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
        let mut bytes = memory::zeros(count.saturating_mul(width))?;
        let at = from.saturating_mul(to_u64(width));
        self.core.bytes.read_at(at, &mut bytes)?;
        if self.core.must_swap(Endian::Little) {
            swap(&mut bytes, self.core.number.width());
        }
        Ok(bytes.chunks_exact(width).map(T::from_le).collect())
    }

    /// Elements of the product, at most one piece of them.
    fn elements(&self, from: u64, to: u64) -> Result<Vec<T>> {
        let most = to_u64(PIECE / T::DTYPE.width());
        let mut is_finite = true;
        let elements = match &self.factor {
            None => {
                let count = to_usize(to.saturating_sub(from).min(most))?;
                self.read(from, count)?
            }
            Some(row) if matches!(row.side, Side::Before) => {
                let count = to_usize(to.saturating_sub(from).min(most))?;
                let mut sums: Option<Vec<T>> = None;
                for (number, (left, power)) in (0_u64..).zip(&row.steps) {
                    let at = number.saturating_mul(self.cells).saturating_add(from);
                    let core = self.read(at, count)?;
                    is_finite &= all_finite(&core);
                    let terms = core.into_iter();
                    let terms = terms.map(|right| (*left * right).by_power(*power));
                    sums = Some(match sums {
                        Some(sums) => sums.into_iter().zip(terms).map(|(s, t)| s + t).collect(),
                        None => terms.collect(),
                    });
                }
                sums.unwrap_or_else(|| vec![T::default(); count])
            }
            Some(matrix) => {
                let (rank, columns) = (matrix.n_rows, to_u64(matrix.n_columns).max(1));
                let (first, skip) = (from / columns, to_usize(from % columns)?);
                let rows = to.div_ceil(columns).saturating_sub(first);
                let rows = to_usize(rows.min((most / columns.max(to_u64(rank)).max(1)).max(1)))?;
                let at = first.saturating_mul(to_u64(rank));
                let core = self.read(at, rows.saturating_mul(rank))?;
                is_finite = all_finite(&core);
                let products = core
                    .chunks_exact(rank.max(1))
                    .flat_map(|row| matrix.after(row));
                let wanted = to_usize(to.saturating_sub(from))?;
                products.skip(skip).take(wanted).collect()
            }
        };
        self.scaled(elements, is_finite)
    }

    /// The elements times the power of two, unless one would overflow.
    fn scaled(&self, elements: Vec<T>, is_finite: bool) -> Result<Vec<T>> {
        let factor = self.factor.iter().flat_map(|factor| &factor.steps);
        let is_finite = is_finite && { factor }.all(|(value, _)| value.size().is_finite());
        let scaled = elements.into_iter().map(|element| {
            let scaled = element.by_power(self.power);
            let was_finite = element.size().is_finite() || (is_finite && self.factor.is_some());
            if was_finite && !scaled.size().is_finite() {
                Err(Error::OutOfRange(
                "an entry of a core is larger than any double where others are multiplied into it"
                    .into(),
            ))
            } else {
                Ok(scaled)
            }
        });
        scaled.collect()
    }
}

/// Whether all are finite.
fn all_finite<T: Scalar>(values: &[T]) -> bool {
    values.iter().all(|value| value.size().is_finite())
}

impl<T: Scalar> Compute for Product<T> {
    fn len(&self) -> u64 {
        self.cells.saturating_mul(to_u64(T::DTYPE.width()))
    }

    fn inputs(&self) -> Vec<&Bytes> {
        vec![&self.core.bytes]
    }

    fn depth(&self) -> u32 {
        self.core.bytes.source().depth()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let width = to_u64(T::DTYPE.width());
        let to = at.saturating_add(to_u64(buffer.len())).div_ceil(width);
        let (mut from, mut skip) = (at / width, to_usize(at % width)?);
        let mut rest = buffer;
        let mut bytes = Vec::new();
        while !rest.is_empty() {
            let elements = self.elements(from, to)?;
            if elements.is_empty() {
                return Err(Error::invalid("a product of cores ends too early"));
            }
            from = from.saturating_add(to_u64(elements.len()));
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
