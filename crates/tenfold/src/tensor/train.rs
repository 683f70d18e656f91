//! Tensor trains: cells and slices, without expanding the rest.

use std::ops::{Add, Mul};

use super::dense;
use super::slice::{Slice, box_len};
use crate::bytes::{Endian, narrow, swap, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{DType, Element, Numbers};

/// A number of which trains are computed.
pub(super) trait Scalar:
    Element + Default + Add<Output = Self> + Mul<Output = Self> + Send + Sync
{
}

impl<T: Element + Default + Add<Output = T> + Mul<Output = T> + Send + Sync> Scalar for T {}

/// A row times a matrix, which is row-major.
pub(super) fn row_times<'a, T: Scalar>(
    row: &'a [T],
    matrix: &'a [T],
    n_columns: usize,
) -> impl Iterator<Item = T> + 'a {
    (0..n_columns).map(move |column| {
        let entries = matrix.iter().skip(column).step_by(n_columns);
        let terms = row.iter().zip(entries).map(|(left, right)| *left * *right);
        // The first term stands alone: adding it to zero would turn -0 into 0.
        terms.reduce(Add::add).unwrap_or_default()
    })
}

/// The error for elements of which trains are not computed.
pub(super) fn not_computed(dtype: DType) -> Error {
    Error::invalid(format!("trains of {dtype} are not computed"))
}

/// A train and the numbers its cores are made of.
pub(crate) struct Train<'a> {
    pub(crate) sizes: &'a [u64],
    pub(crate) ranks: &'a [u64],
    pub(crate) cores: &'a [Numbers],
    pub(crate) limits: &'a Limits,
}

impl Train<'_> {
    /// Fills `out` with a box, row-major, little-endian: the product of the selected matrices.
    ///
    /// The partial products from the left are kept, one row for every cell of the box so far, so
    /// that each core is multiplied once for all cells that share what stands left of it.
    fn read_box<T: Scalar>(&self, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let mut rows: Option<Vec<T>> = None;
        let links = self.ranks.iter().zip(self.ranks.iter().skip(1));
        for (((core, size), slice), (rank, next)) in
            self.cores.iter().zip(self.sizes).zip(slices).zip(links)
        {
            let selected = self.core::<T>(core, [*rank, *size, *next], *slice)?;
            let count = narrow(slice.count)?;
            let shape = (narrow(*rank)?, count, narrow(*next)?);
            rows = Some(match rows {
                None => selected,
                Some(rows) => self.extend(&rows, &selected, shape)?,
            });
        }
        let mut bytes = Vec::with_capacity(out.len());
        rows.unwrap_or_default()
            .into_iter()
            .for_each(|value| value.to_le(&mut bytes));
        if bytes.len() != out.len() {
            return Err(Error::invalid("the cores of a train do not fit its slice"));
        }
        out.copy_from_slice(&bytes);
        Ok(())
    }

    /// How many elements [`Train::read_box`] holds at once for a box of so many places.
    pub(crate) fn held(&self, counts: &[u64]) -> u128 {
        let links = self.ranks.iter().zip(self.ranks.iter().skip(1));
        let mut rows = 1_u128;
        let mut most = 0_u128;
        for (count, (rank, next)) in counts.iter().zip(links) {
            let (count, rank, next) = (u128::from(*count), u128::from(*rank), u128::from(*next));
            // A core is there as bytes and as numbers; the rows before and after the product.
            let core = rank.saturating_mul(count).saturating_mul(next);
            let before = rows.saturating_mul(rank);
            rows = rows.saturating_mul(count);
            let after = rows.saturating_mul(next);
            let step = core.saturating_mul(2).saturating_add(before);
            most = most.max(step.saturating_add(after));
        }
        // At the end, the numbers, their bytes, and where these go.
        most.max(rows.saturating_mul(3))
    }

    /// The selected matrices of one core, in the order (rank, selected, next rank).
    fn core<T: Element>(&self, core: &Numbers, shape: [u64; 3], slice: Slice) -> Result<Vec<T>> {
        let [rank, _, next] = shape;
        let slices = [Slice::all(rank), slice, Slice::all(next)];
        let width = T::DTYPE.width();
        let len = box_len(&slices, width)?;
        self.limits
            .check_decoded("the selected part of a core would be read", wide(len))?;
        let mut bytes = vec![0; len];
        dense::read_stored(&core.bytes, width, &shape, &slices, &mut bytes)?;
        if core.must_swap(Endian::Little) {
            swap(&mut bytes, core.number.width());
        }
        Ok(bytes.chunks_exact(width).map(T::from_le).collect())
    }

    /// Multiplies every row by every selected matrix.
    fn extend<T: Scalar>(
        &self,
        rows: &[T],
        core: &[T],
        (rank, count, next): (usize, usize, usize),
    ) -> Result<Vec<T>> {
        let n_rows = rows.len().checked_div(rank).unwrap_or(0);
        // The selected matrices side by side are one.
        let n_columns = count.saturating_mul(next);
        let len = n_rows.saturating_mul(n_columns);
        let bytes = wide(len).saturating_mul(wide(T::DTYPE.width()));
        self.limits
            .check_decoded("part of a train would be expanded", bytes)?;
        let mut product = Vec::with_capacity(len);
        for row in rows.chunks_exact(rank) {
            product.extend(row_times(row, core, n_columns));
        }
        Ok(product)
    }
}

/// Fills `out` with a box of a train of doubles or of complex doubles.
pub(crate) fn read_train_box(
    train: &Train,
    dtype: DType,
    slices: &[Slice],
    out: &mut [u8],
) -> Result<()> {
    if dtype == f64::DTYPE {
        train.read_box::<f64>(slices, out)
    } else if dtype == num_complex::Complex::<f64>::DTYPE {
        train.read_box::<num_complex::Complex<f64>>(slices, out)
    } else {
        Err(not_computed(dtype))
    }
}
