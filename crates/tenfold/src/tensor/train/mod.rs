//! A tensor train as storage: cells and slices, without expanding the rest.

pub(super) mod select;

use std::collections::HashSet;
use std::fmt::Display;
use std::ops::{Add, Mul};

use num_complex::Complex;

use super::dense::read_box;
use super::index::slice::{Slice, box_len};
use crate::bytes::{Bytes, Endian, swap, to_u64, to_usize};
use crate::dtype::{DType, Element, Kind, Number, Numbers, Overflow, Rounding, is_exact};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::memory;

/// A number type in which trains are evaluated.
pub(super) trait Scalar:
    Element + Default + PartialEq + Display + Add<Output = Self> + Mul<Output = Self> + Send + Sync
{
    /// The larger absolute value of its parts; NaN if one is.
    fn size(self) -> f64;

    /// Conversion from a double.
    fn of(value: f64) -> Self;

    /// The product with a double.
    fn by(self, factor: f64) -> Self;

    /// The product with a power of two, exact unless it leaves the range of doubles.
    fn by_power(self, exponent: i32) -> Self {
        let mut rest = exponent.clamp(-4000, 4000);
        let mut value = self;
        while rest != 0 {
            let step = rest.clamp(-1000, 1000);
            value = value.by(2_f64.powi(step));
            rest -= step;
        }
        value
    }

    /// The exponent of the largest power of two not above its size; `None` for 0 and values that
    /// are not finite.
    fn exponent(self) -> Option<i32> {
        let size = self.size();
        let biased = i32::try_from(size.to_bits() >> 52).unwrap_or(0);
        (size != 0.0 && size.is_finite()).then_some(biased - 1023)
    }
}

impl Scalar for f64 {
    fn size(self) -> f64 {
        self.abs()
    }

    fn of(value: f64) -> f64 {
        value
    }

    fn by(self, factor: f64) -> f64 {
        self * factor
    }
}

impl Scalar for Complex<f64> {
    fn size(self) -> f64 {
        if self.re.is_nan() || self.im.is_nan() {
            f64::NAN
        } else {
            self.re.abs().max(self.im.abs())
        }
    }

    fn of(value: f64) -> Complex<f64> {
        value.into()
    }

    fn by(self, factor: f64) -> Complex<f64> {
        Complex::new(self.re * factor, self.im * factor)
    }
}

/// A number near 1 and a power of two: a product with an extended range.
#[derive(Clone, Copy)]
pub(super) struct Wide<T> {
    pub(super) value: T,
    pub(super) power: i32,
}

impl<T: Scalar> Wide<T> {
    pub(super) fn new(value: T, power: i32) -> Wide<T> {
        let own = value.exponent().unwrap_or(0);
        Wide {
            value: value.by_power(own.saturating_neg()),
            power: power.saturating_add(own),
        }
    }

    pub(super) fn times(self, other: Wide<T>) -> Wide<T> {
        Wide::new(
            self.value * other.value,
            self.power.saturating_add(other.power),
        )
    }

    pub(super) fn sum(terms: &[Wide<T>]) -> Wide<T> {
        let is_there = |term: &&Wide<T>| term.value != T::default();
        let powers = terms.iter().filter(is_there).map(|term| term.power);
        let most = powers.max().unwrap_or(0);
        let terms =
            { terms.iter() }.map(|term| term.value.by_power(term.power.saturating_sub(most)));
        // The first term is not added to zero, which would turn -0 into 0.
        Wide::new(
            terms.reduce(|sum, term| sum + term).unwrap_or_default(),
            most,
        )
    }

    /// The nearest number, 0 on underflow; `None` on overflow.
    pub(super) fn nearest(self) -> Option<T> {
        let found = self.value.by_power(self.power);
        (found.size().is_finite() || !self.value.size().is_finite()).then_some(found)
    }

    /// A factor, and a power of two to multiply by after it.
    pub(super) fn steps(self) -> (T, i32) {
        match self.power {
            -900..=900 => (self.value.by_power(self.power), 0),
            power => (self.value, power),
        }
    }
}

/// Balances a core with powers of two along its bonds, so that products with it stay in range: the
/// powers pending from the left are given for each index of the left bond and divided out; those
/// left to multiply by are returned for each index of the right bond.
fn balance<T: Scalar>(core: &mut [T], left: &[i32], next: usize) -> Vec<i32> {
    let len = core.len().checked_div(left.len()).unwrap_or(0).max(1);
    let mut right: Vec<Option<i32>> = vec![None; next];
    for (matrix, left) in core.chunks_exact(len).zip(left) {
        for row in matrix.chunks_exact(next.max(1)) {
            for (most, value) in right.iter_mut().zip(row) {
                let size = value.exponent().map(|own| own.saturating_add(*left));
                *most = (*most).max(size);
            }
        }
    }
    let right: Vec<i32> = right.into_iter().map(Option::unwrap_or_default).collect();
    for (matrix, left) in core.chunks_exact_mut(len).zip(left) {
        for row in matrix.chunks_exact_mut(next.max(1)) {
            for (value, right) in row.iter_mut().zip(&right) {
                *value = value.by_power(left.saturating_sub(*right));
            }
        }
    }
    right
}

/// A row times a row-major matrix.
pub(super) fn row_times<'a, T: Scalar>(
    row: &'a [T],
    matrix: &'a [T],
    n_columns: usize,
) -> impl Iterator<Item = T> + 'a {
    (0..n_columns).map(move |column| {
        let entries = matrix.iter().skip(column).step_by(n_columns);
        let terms = row.iter().zip(entries).map(|(left, right)| *left * *right);
        // The first term is not added to zero, which would turn -0 into 0.
        terms.reduce(Add::add).unwrap_or_default()
    })
}

/// The error for element types in which trains are not evaluated.
pub(super) fn not_computed(dtype: DType) -> Error {
    Error::invalid(format!(
        "the cells of a train of {dtype} are not computed: cast it to f64 first"
    ))
}

/// A train and its element type.
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
    /// that each core is multiplied once for all cells that share the factors to its left.
    fn read_box<T: Scalar>(&self, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let mut rows: Option<Vec<T>> = None;
        let mut powers = vec![0];
        let links = self.ranks.iter().zip(self.ranks.iter().skip(1));
        for (((core, size), slice), (rank, next)) in
            self.cores.iter().zip(self.sizes).zip(slices).zip(links)
        {
            let mut selected = self.core::<T>(core, [*rank, *size, *next], *slice)?;
            powers = balance(&mut selected, &powers, to_usize(*next)?);
            let count = to_usize(slice.count)?;
            let shape = (to_usize(*rank)?, count, to_usize(*next)?);
            rows = Some(match rows {
                None => selected,
                Some(rows) => self.extend(&rows, &selected, shape)?,
            });
        }
        let power = powers.first().copied().unwrap_or_default();
        let found = rows.unwrap_or_default();
        let cells = found.iter().map(|cell| cell.by_power(power));
        let mut cells: Vec<T> = cells.collect();
        let is_zero = |cell: &T| *cell == T::default();
        if cells.iter().all(is_zero) && !found.iter().all(is_zero) {
            self.check_reach::<T>()?;
        }
        self.mend(slices, power, &mut cells)?;
        let mut bytes = memory::with_room(out.len())?;
        cells.into_iter().for_each(|cell| cell.to_le(&mut bytes));
        if bytes.len() != out.len() {
            return Err(Error::invalid("the cores of a train do not fit its slice"));
        }
        out.copy_from_slice(&bytes);
        Ok(())
    }

    /// Fails if all cells of the train, not only those of a box, are nonzero but underflow.
    fn check_reach<T: Scalar>(&self) -> Result<()> {
        /// Below the smallest double by more than rounding.
        const LEAST: f64 = -1080.0;
        let (mut powers, mut growth) = (vec![0], 0.0);
        let links = self.ranks.iter().zip(self.ranks.iter().skip(1));
        for ((core, size), (rank, next)) in self.cores.iter().zip(self.sizes).zip(links) {
            let all = Slice::range(0..*size);
            let mut core = self.core::<T>(core, [*rank, *size, *next], all)?;
            let next = to_usize(*next)?;
            powers = balance(&mut core, &powers, next);
            growth += 1.0 + f64::from(u32::try_from(next).unwrap_or(u32::MAX)).log2();
        }
        let power = powers.first().copied().unwrap_or_default();
        if f64::from(power) + growth < LEAST {
            Err(Error::OutOfRange(format!(
                "the cells of the train are about 2^{power}: no double holds any"
            )))
        } else {
            Ok(())
        }
    }

    /// Recomputes, one by one, the cells that left the range of doubles, or may have lost digits at
    /// its lower end because the largest of them are about 2^`power`.
    fn mend<T: Scalar>(&self, slices: &[Slice], power: i32, cells: &mut [T]) -> Result<()> {
        /// For cells of this size, a term that underflowed on the way to others may exceed the
        /// smallest double.
        const FAR: i32 = 300;
        let below = match power {
            FAR.. => 2_f64.powi(power.min(1900) - 1000),
            _ => 0.0,
        };
        let is_spoiled = |cell: &T| !cell.size().is_finite() || cell.size() < below;
        if !cells.iter().any(is_spoiled) {
            return Ok(());
        }
        let links = self.ranks.iter().zip(self.ranks.iter().skip(1));
        let cores = self.cores.iter().zip(self.sizes).zip(slices).zip(links);
        let cores = cores.map(|(((core, size), slice), (rank, next))| {
            self.core::<T>(core, [*rank, *size, *next], *slice)
        });
        let cores: Vec<Vec<T>> = cores.collect::<Result<_>>()?;
        // One NaN among the factors of a cell makes it NaN, whatever the range.
        let nan_places: Vec<HashSet<usize>> = { cores.iter().zip(slices) }
            .zip(self.ranks.iter().skip(1))
            .map(|((core, slice), next)| {
                let (count, next) = (to_usize(slice.count)?, to_usize(*next)?);
                Ok(nan_places(core, count, next))
            })
            .collect::<Result<_>>()?;
        let is_nan = |places: &[u64]| {
            let mut pairs = places.iter().zip(&nan_places);
            pairs.any(|(place, nan)| to_usize(*place).is_ok_and(|at| nan.contains(&at)))
        };
        for (number, cell) in cells.iter_mut().enumerate() {
            if !is_spoiled(cell) {
                continue;
            }
            let places = places(number, slices);
            if is_nan(&places) {
                continue;
            }
            let mut row = vec![Wide::new(T::of(1.0), 0)];
            for (((core, place), slice), next) in cores
                .iter()
                .zip(&places)
                .zip(slices)
                .zip(self.ranks.iter().skip(1))
            {
                row = step(
                    &row,
                    core,
                    (to_usize(*place)?, to_usize(slice.count)?),
                    to_usize(*next)?,
                );
            }
            let wide = row.first().copied().unwrap_or(Wide::new(T::default(), 0));
            *cell = wide.nearest().ok_or_else(|| {
                let index = index(&places, slices);
                let Wide { value, power } = wide;
                Error::OutOfRange(format!(
                    "cell {index:?} of the train is {value:.6} times 2^{power}: no double holds it"
                ))
            })?;
        }
        Ok(())
    }

    /// The number of elements that [`Train::read_box`] holds at once for a box of these sizes.
    pub(crate) fn held(&self, counts: &[u64]) -> u128 {
        let links = self.ranks.iter().zip(self.ranks.iter().skip(1));
        let mut rows = 1_u128;
        let mut most = 0_u128;
        for (count, (rank, next)) in counts.iter().zip(links) {
            let (count, rank, next) = (u128::from(*count), u128::from(*rank), u128::from(*next));
            // A core is held as bytes and as numbers, besides the rows before and after the
            // product.
            let core = rank.saturating_mul(count).saturating_mul(next);
            let before = rows.saturating_mul(rank);
            rows = rows.saturating_mul(count);
            let after = rows.saturating_mul(next);
            let step = core.saturating_mul(2).saturating_add(before);
            most = most.max(step.saturating_add(after));
        }
        // At the end, the numbers, their bytes, and the output.
        most.max(rows.saturating_mul(3))
    }

    /// The selected matrices of one core, in the order (rank, selected, next rank).
    fn core<T: Element>(&self, core: &Numbers, shape: [u64; 3], slice: Slice) -> Result<Vec<T>> {
        let [rank, _, next] = shape;
        let slices = [Slice::all(rank), slice, Slice::all(next)];
        let width = T::DTYPE.width();
        let len = box_len(&slices, width)?;
        self.limits
            .check_decoded("the selected part of a core would be read", to_u64(len))?;
        let mut bytes = memory::zeros(len)?;
        read_box::read_stored(&core.bytes, width, &shape, &slices, &mut bytes)?;
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
        // The selected matrices side by side form one matrix.
        let n_columns = count.saturating_mul(next);
        let len = n_rows.saturating_mul(n_columns);
        let bytes = to_u64(len).saturating_mul(to_u64(T::DTYPE.width()));
        self.limits
            .check_decoded("part of a train would be expanded", bytes)?;
        let mut product = memory::with_room(len)?;
        for row in rows.chunks_exact(rank) {
            product.extend(row_times(row, core, n_columns));
        }
        Ok(product)
    }
}

/// A row times the matrix of one of `count` indices of a core.
fn step<T: Scalar>(
    row: &[Wide<T>],
    core: &[T],
    (place, count): (usize, usize),
    next: usize,
) -> Vec<Wide<T>> {
    let matrices = core.chunks_exact(count.saturating_mul(next).max(1));
    let rows = matrices.filter_map(|matrix| matrix.chunks_exact(next.max(1)).nth(place));
    let rows: Vec<&[T]> = rows.collect();
    let columns = (0..next).map(|column| {
        let entries = rows.iter().filter_map(|entries| entries.get(column));
        let terms = row.iter().zip(entries);
        let terms = terms.map(|(left, entry)| left.times(Wide::new(*entry, 0)));
        Wide::sum(&terms.collect::<Vec<_>>())
    });
    columns.collect()
}

/// The index of a cell within a box, from its number.
fn places(number: usize, slices: &[Slice]) -> Vec<u64> {
    let mut rest = to_u64(number);
    let places = slices.iter().rev().map(|slice| {
        let count = slice.count.max(1);
        let place = rest % count;
        rest /= count;
        place
    });
    let mut places: Vec<u64> = places.collect();
    places.reverse();
    places
}

/// The indices along the middle of a core at which it has a NaN.
fn nan_places<T: Scalar>(core: &[T], count: usize, next: usize) -> HashSet<usize> {
    let rows = core.chunks(next.max(1)).enumerate();
    let rows = rows.filter(|(_, row)| row.iter().any(|value| value.size().is_nan()));
    rows.map(|(number, _)| number % count.max(1)).collect()
}

/// The index in the tensor.
fn index(places: &[u64], slices: &[Slice]) -> Vec<u64> {
    let pairs = places.iter().zip(slices);
    let index = pairs.map(|(place, slice)| {
        let moved = i128::from(*place).saturating_mul(slice.step.into());
        u64::try_from(moved.saturating_add(slice.start.into())).unwrap_or(0)
    });
    index.collect()
}

/// Fills `out` with a box of a train of real or complex floats; cells narrower than doubles are
/// rounded from those that the cores give in doubles.
pub(crate) fn read_train_box(
    train: &Train,
    dtype: DType,
    slices: &[Slice],
    out: &mut [u8],
) -> Result<()> {
    if dtype == f64::DTYPE {
        return train.read_box::<f64>(slices, out);
    }
    if dtype == Complex::<f64>::DTYPE {
        return train.read_box::<Complex<f64>>(slices, out);
    }
    let number = dtype.number;
    if number.kind() != Kind::Float || !is_exact(number, Number::F64) {
        return Err(not_computed(dtype));
    }
    let cast = |numbers: &Numbers, to| {
        numbers.cast(
            to,
            Rounding::NearestEven,
            Overflow::Fails,
            None,
            train.limits,
        )
    };
    let cores = train.cores.iter().map(|core| cast(core, Number::F64));
    let wide_train = Train {
        cores: &cores.collect::<Result<Vec<_>>>()?,
        ..*train
    };
    let wide_dtype = DType {
        number: Number::F64,
        ..dtype
    };
    let mut cells = memory::zeros(box_len(slices, wide_dtype.width())?)?;
    read_train_box(&wide_train, wide_dtype, slices, &mut cells)?;
    let cells = Numbers {
        number: Number::F64,
        endian: Endian::Little,
        bytes: Bytes::memory(cells),
    };
    let read = cast(&cells, number)?.read_into(out);
    read.map_err(|error| match error {
        Error::NoRoom { value, number } => Error::OutOfRange(format!(
            "a cell of the train is {value}: no {number} holds it"
        )),
        other => other,
    })
}
