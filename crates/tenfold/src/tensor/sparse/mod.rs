//! Some cells stored, by coordinates.

pub(super) mod builder;
mod clusters;
mod coordinates;
mod duplicates;
pub(super) mod from_dense;
pub(super) mod nonzero;
pub(super) mod reindex;
pub(super) mod sort;
pub(super) mod to_dense;

pub(crate) use coordinates::CoordinateReader;
pub(crate) use duplicates::Distinct;
pub use duplicates::Duplicates;

use coordinates::{at_cell, read_many};

use super::dense::read_box::strides;
use super::index::slice::{Slice, place_in_box, unravel_in};
use super::storage::{Address, Order, Storage};
use super::symmetry::group::Group;
use crate::bytes::{Endian, swap, to_u64, to_usize};
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::io::{Threads, ordered_pipeline};
use crate::memory;

/// A sparse tensor whose cells are addressed by position.
pub(crate) struct Sparse<'a> {
    pub(crate) sizes: &'a [u64],
    pub(crate) dtype: DType,
    pub(crate) order: Order,
    pub(crate) address: &'a Address,
    pub(crate) values: &'a Numbers,
}

/// Callback for the number, the index and the value of a stored cell.
type EachStored<'a> = dyn FnMut(u64, &[u64], &[u8]) -> Result<()> + 'a;

/// Callback for the index and the value of a cell.
type EachCell<'a> = dyn FnMut(&[u64], &[u8]) -> Result<()> + 'a;

/// Cells read at a time.
const BATCH: u64 = 4096;

impl<'a> Sparse<'a> {
    /// The stored cells; `None` for other kinds of storage.
    pub(crate) fn of(storage: &'a Storage, sizes: &'a [u64], dtype: DType) -> Option<Sparse<'a>> {
        match storage {
            Storage::Sparse {
                order,
                address,
                values,
            } => Some(Sparse {
                sizes,
                dtype,
                order: *order,
                address,
                values,
            }),
            Storage::Dense { .. } | Storage::Train { .. } | Storage::Opaque { .. } => None,
        }
    }
}

impl Sparse<'_> {
    /// The number of stored cells.
    pub(crate) fn count(&self) -> u64 {
        self.values.bytes.len() / to_u64(self.dtype.width())
    }

    /// Calls `each` with the number, the index and the little-endian value of every stored cell.
    ///
    /// # Errors
    /// [`Error::Malformed`] if an index is out of bounds.
    pub(crate) fn for_each(&self, each: &mut EachStored) -> Result<()> {
        let width = self.dtype.width();
        let mut finder = CoordinateReader::new(self)?;
        let mut values = Vec::new();
        let mut index = vec![0; self.sizes.len()];
        let mut cell = 0;
        while cell < self.count() {
            let batch = BATCH.min(self.count().saturating_sub(cell));
            memory::resize(&mut values, to_usize(batch)?.saturating_mul(width))?;
            self.values
                .bytes
                .read_at(cell.saturating_mul(to_u64(width)), &mut values)?;
            if self.values.must_swap(Endian::Little) {
                swap(&mut values, self.dtype.number.width());
            }
            finder.load(cell, batch)?;
            for (item, value) in values.chunks_exact(width).enumerate() {
                finder.index(item, &mut index)?;
                each(cell.saturating_add(to_u64(item)), &index, value)?;
            }
            cell = cell.saturating_add(batch);
        }
        Ok(())
    }

    /// Fills `out` with a box, row-major, little-endian; absent cells are zero.
    pub(crate) fn read_box(&self, group: &Group, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let width = self.dtype.width();
        out.fill(0);
        let is_forward = slices.iter().all(|slice| slice.step == 1);
        if group.is_trivial() && is_forward && matches!(self.address, Address::Linear(_)) {
            return self.scatter(slices, out);
        }
        self.for_each_image(group, &mut |index, value| {
            let Some(place) = place_in_box(slices, index)? else {
                return Ok(());
            };
            let at = place.saturating_mul(width);
            if let Some(target) = out.get_mut(at..).and_then(|out| out.get_mut(..width)) {
                target.copy_from_slice(value);
            }
            Ok(())
        })
    }

    /// Writes the cells of a tensor without packed symmetries and with linear addresses into a box
    /// without steps. Several threads compute the targets.
    fn scatter(&self, slices: &[Slice], out: &mut [u8]) -> Result<()> {
        let ways = Way::all(self.sizes, self.order, slices);
        let width = self.dtype.width();
        let mut next = 0_u64;
        let fill = |batch: &mut Batch| {
            batch.first = next;
            batch.count = LARGE_BATCH.min(self.count().saturating_sub(next));
            next = next.saturating_add(batch.count);
            Ok(batch.count > 0)
        };
        let threads = Threads::Cores.for_len(to_usize(self.values.bytes.len())?);
        let work = |batch: &mut Batch| self.place(&ways, batch);
        ordered_pipeline(threads, fill, work, |batch| {
            match width {
                4 => put::<4>(batch, out),
                8 => put::<8>(batch, out),
                16 => put::<16>(batch, out),
                _ => put_any(batch, width, out),
            }
            Ok(())
        })
    }

    /// Reads some cells and computes their targets in a box.
    fn place(&self, ways: &[Way], batch: &mut Batch) -> Result<()> {
        let Address::Linear(addresses) = self.address else {
            return Err(Error::invalid("cells without linear addresses"));
        };
        let Batch {
            first,
            count,
            places,
            values,
        } = batch;
        let width = self.dtype.width();
        memory::resize(values, to_usize(*count)?.saturating_mul(width))?;
        let at = first.saturating_mul(to_u64(width));
        self.values.bytes.read_at(at, values)?;
        if self.values.must_swap(Endian::Little) {
            swap(values, self.dtype.number.width());
        }
        *places = read_many(addresses, *first, *count)?;
        let is_empty = ways.iter().any(|way| way.size == 0);
        for (cell, place) in (*first..).zip(places) {
            let linear = *place;
            let (mut rest, mut sum, mut is_inside) = (linear, 0_u64, true);
            for way in ways {
                let (above, index) = match way.size {
                    0 => (rest, 0), // and no cell lies inside
                    size => (rest / size, rest % size),
                };
                let item = index.wrapping_sub(way.start);
                is_inside &= item < way.count;
                sum = sum.wrapping_add(item.wrapping_mul(way.stride));
                rest = above;
            }
            if rest != 0 || is_empty {
                let why = format!("index {linear} lies outside the tensor");
                return Err(at_cell(addresses, cell, why));
            }
            *place = if is_inside { sum } else { u64::MAX };
        }
        Ok(())
    }

    /// Calls `each` with every stored cell and all its images under the packed symmetries.
    pub(crate) fn for_each_image(&self, group: &Group, each: &mut EachCell) -> Result<()> {
        if group.is_trivial() {
            return self.for_each(&mut |_, index, value| each(index, value));
        }
        group.charge(self.count().into())?;
        let mut place = vec![0; self.sizes.len()];
        let mut image = Vec::new();
        self.for_each(&mut |_, index, value| {
            for (global, operation) in group.images(index) {
                unravel_in(global, self.sizes, Order::Column, &mut place);
                image.clear();
                image.extend_from_slice(value);
                operation.apply(self.dtype, &mut image)?;
                each(&place, &image)?;
            }
            Ok(())
        })
    }
}

/// Cells written into a box at a time.
const LARGE_BATCH: u64 = 1 << 15;

/// Some cells on their way into a box.
#[derive(Default)]
struct Batch {
    first: u64,
    count: u64,
    /// Their targets; `u64::MAX` for none.
    places: Vec<u64>,
    values: Vec<u8>,
}

/// The extraction of the index along one dimension from an address, and its effect in a box.
struct Way {
    size: u64,
    start: u64,
    count: u64,
    stride: u64,
}

impl Way {
    /// One for every dimension, fastest first.
    fn all(sizes: &[u64], order: Order, slices: &[Slice]) -> Vec<Way> {
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let strides = strides(&counts, Order::Row);
        let mut ways: Vec<Way> = (sizes.iter().zip(slices).zip(strides))
            .map(|((size, slice), stride)| Way {
                size: *size,
                start: slice.start,
                count: slice.count,
                stride,
            })
            .collect();
        if order == Order::Row {
            ways.reverse();
        }
        ways
    }
}

fn put<const WIDTH: usize>(batch: &Batch, out: &mut [u8]) {
    let out = out.as_chunks_mut::<WIDTH>().0;
    let values = batch.values.as_chunks::<WIDTH>().0;
    for (place, value) in batch.places.iter().zip(values) {
        let place = usize::try_from(*place).unwrap_or(usize::MAX);
        if let Some(target) = out.get_mut(place) {
            *target = *value;
        }
    }
}

fn put_any(batch: &Batch, width: usize, out: &mut [u8]) {
    for (place, value) in batch.places.iter().zip(batch.values.chunks_exact(width)) {
        let at = usize::try_from(*place)
            .unwrap_or(usize::MAX)
            .saturating_mul(width);
        if let Some(target) = out.get_mut(at..).and_then(|out| out.get_mut(..width)) {
            target.copy_from_slice(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Number;

    fn rows(starts: &[u64]) -> Result<Vec<Vec<u64>>> {
        let address = Address::Rows {
            starts: Numbers::from_vec(starts),
            columns: Numbers::from_vec(&[0_u32, 1, 0]),
        };
        let values = Numbers::from_vec(&[1_u8, 2, 3]);
        let sparse = Sparse {
            sizes: &[3, 2],
            dtype: DType::real(Number::U8),
            order: Order::Row,
            address: &address,
            values: &values,
        };
        let mut found = Vec::new();
        sparse.for_each(&mut |_, index, _| {
            found.push(index.to_vec());
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn a_matrix_without_rows_has_no_cells() {
        let address = Address::Rows {
            starts: Numbers::from_vec(&[0_u64]),
            columns: Numbers::from_vec::<u64>(&[]),
        };
        let sparse = Sparse {
            sizes: &[0, 2],
            dtype: DType::real(Number::U8),
            order: Order::Row,
            address: &address,
            values: &Numbers::from_vec::<u8>(&[]),
        };
        let mut count = 0;
        sparse
            .for_each(&mut |_, _, _| {
                count += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(count, 0);
    }

    #[test]
    fn cells_go_to_the_same_places_by_addresses_and_by_coordinates() {
        let sizes = [5, 7, 3];
        let places: Vec<u64> = (0..105).filter(|place| place % 4 != 1).rev().collect();
        for order in [Order::Row, Order::Column] {
            let mut columns = vec![Vec::new(); 3];
            let mut index = [0; 3];
            for place in &places {
                unravel_in(*place, &sizes, order, &mut index);
                columns
                    .iter_mut()
                    .zip(index)
                    .for_each(|(column, place)| column.push(place));
            }
            let columns = columns
                .iter()
                .map(|column| Numbers::from_vec(column))
                .collect();
            let addresses = [
                Address::Linear(Numbers::from_vec(&places)),
                Address::Coordinates(columns),
            ];
            for (number, width) in [(Number::U8, 1), (Number::F64, 8), (Number::F128, 16)] {
                let bytes = (0..places.len() * width).map(|n| u8::try_from(n % 251).unwrap());
                let values = Numbers {
                    number,
                    endian: Endian::Big,
                    bytes: crate::bytes::Bytes::memory(bytes.collect()),
                };
                let slices = [Slice::range(1..4), Slice::range(2..7), Slice::one(2)];
                let found = addresses.each_ref().map(|address| {
                    let dtype = DType::real(number);
                    let group =
                        Group::generate(&sizes, dtype, &[], |_| true, &crate::Limits::default());
                    let sparse = Sparse {
                        sizes: &sizes,
                        dtype,
                        order,
                        address,
                        values: &values,
                    };
                    let mut out = vec![1; 15 * width];
                    sparse.read_box(&group.unwrap(), &slices, &mut out).unwrap();
                    out
                });
                assert_eq!(found[0], found[1]);
                assert!(found[0].iter().any(|byte| *byte != 0));
            }
        }
    }

    #[test]
    fn compressed_rows_give_their_cells_also_after_empty_rows() {
        assert_eq!(rows(&[0, 0, 2, 3]).unwrap(), [[1, 0], [1, 1], [2, 0]]);
    }

    #[test]
    fn rows_that_start_before_the_row_above_are_refused() {
        let error = rows(&[0, 3, 1, 3]).unwrap_err().to_string();
        assert!(
            error.starts_with("row 2 starts at 1, the one before at 3"),
            "{error}"
        );
        assert!(rows(&[1, 1, 2, 3]).is_err() && rows(&[0, 1, 2, 2]).is_err());
    }
}
