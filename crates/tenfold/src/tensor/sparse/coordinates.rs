//! Coordinates of stored cells: addresses of every kind, converted to indices.

use super::Sparse;
use crate::bytes::{Endian, swap, to_u64, to_usize};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::memory;
use crate::tensor::index::slice::unravel_in;
use crate::tensor::storage::{Address, Order};

/// Row starts read at a time.
const BATCH: u64 = 4096;

/// Converts addresses to indices, a batch at a time.
pub(crate) struct CoordinateReader<'a> {
    sizes: &'a [u64],
    order: Order,
    address: &'a Address,
    loaded: Vec<Vec<u64>>,
    /// For compressed rows: the current row and the start of the next one.
    row: u64,
    next_row_at: u64,
    cell: u64,
}

impl<'a> CoordinateReader<'a> {
    pub(crate) fn new(sparse: &'a Sparse) -> Result<Self> {
        let mut finder = CoordinateReader {
            sizes: sparse.sizes,
            order: sparse.order,
            address: sparse.address,
            loaded: Vec::new(),
            row: 0,
            next_row_at: 0,
            cell: 0,
        };
        if let Address::Rows { starts, .. } = sparse.address {
            let first = read_u64(starts, 0)?;
            let last = read_u64(starts, starts.len().saturating_sub(1))?;
            if first != 0 || last != sparse.count() {
                let count = sparse.count();
                let why =
                    format!("rows start at {first} and end at {last}, there are {count} cells");
                return Err(Error::malformed(starts.bytes.at(), why));
            }
            check_ascending(starts)?;
            // A matrix without rows has no cells, and at most one entry in `starts`.
            if starts.len() > 1 {
                finder.next_row_at = read_u64(starts, 1)?;
            }
        }
        Ok(finder)
    }

    pub(crate) fn load(&mut self, cell: u64, count: u64) -> Result<()> {
        self.cell = cell;
        let columns: Vec<&Numbers> = match self.address {
            Address::Linear(numbers) => vec![numbers],
            Address::Coordinates(columns) => columns.iter().collect(),
            Address::Rows { columns, .. } => vec![columns],
            Address::Labels => return Err(Error::invalid("labelled cells have no positions")),
        };
        self.loaded = columns
            .into_iter()
            .map(|column| read_many(column, cell, count))
            .collect::<Result<_>>()?;
        Ok(())
    }

    /// The index of the `item`th loaded cell.
    pub(crate) fn index(&mut self, item: usize, index: &mut [u64]) -> Result<()> {
        let mut loaded = self
            .loaded
            .iter()
            .map(|column| column.get(item).copied().unwrap_or(0));
        let cell = self.cell.saturating_add(to_u64(item));
        match self.address {
            Address::Linear(numbers) => {
                let linear = loaded.next().unwrap_or(0);
                if !unravel_in(linear, self.sizes, self.order, index) {
                    let why = format!("index {linear} lies outside the tensor");
                    return Err(at_cell(numbers, cell, why));
                }
            }
            Address::Coordinates(columns) => {
                for (((place, found), size), column) in
                    index.iter_mut().zip(loaded).zip(self.sizes).zip(columns)
                {
                    if found >= *size {
                        let why = format!("coordinate {found} of a dimension of size {size}");
                        return Err(at_cell(column, cell, why));
                    }
                    *place = found;
                }
            }
            Address::Rows { starts, columns } => {
                let column = loaded.next().unwrap_or(0);
                while self.next_row_at <= cell {
                    self.row = self.row.saturating_add(1);
                    let next = read_u64(starts, self.row.saturating_add(1))?;
                    self.next_row_at = next;
                }
                let [row_place, column_place] = index else {
                    return Err(Error::invalid("compressed rows belong to a matrix"));
                };
                if self.sizes.get(1).is_none_or(|size| column >= *size) {
                    return Err(at_cell(
                        columns,
                        cell,
                        format!("column {column} does not exist"),
                    ));
                }
                (*row_place, *column_place) = (self.row, column);
            }
            Address::Labels => return Err(Error::invalid("labelled cells have no positions")),
        }
        Ok(())
    }
}

pub(super) fn at_cell(numbers: &Numbers, cell: u64, why: impl Into<String>) -> Error {
    Error::malformed(
        numbers
            .bytes
            .offset_of(cell.saturating_mul(to_u64(numbers.number.width()))),
        why,
    )
}

/// Checks that row starts ascend.
fn check_ascending(starts: &Numbers) -> Result<()> {
    let mut last = 0;
    let mut row = 0;
    while row < starts.len() {
        let batch = BATCH.min(starts.len().saturating_sub(row));
        for start in read_many(starts, row, batch)? {
            if start < last {
                let why = format!("row {row} starts at {start}, the one before at {last}");
                return Err(at_cell(starts, row, why));
            }
            last = start;
            row = row.saturating_add(1);
        }
    }
    Ok(())
}

/// Reads unsigned integers of any width.
pub(super) fn read_many(numbers: &Numbers, from: u64, count: u64) -> Result<Vec<u64>> {
    let width = numbers.number.width();
    let mut bytes = memory::zeros(to_usize(count)?.saturating_mul(width))?;
    numbers
        .bytes
        .read_at(from.saturating_mul(to_u64(width)), &mut bytes)?;
    if numbers.must_swap(Endian::Little) {
        swap(&mut bytes, width);
    }
    if width == 8 {
        let numbers = bytes.as_chunks().0.iter();
        return memory::collected(numbers.map(|number| u64::from_le_bytes(*number)));
    }
    memory::collected(bytes.chunks_exact(width).map(|number| {
        let bytes = number.iter().rev();
        bytes.fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
    }))
}

fn read_u64(numbers: &Numbers, at: u64) -> Result<u64> {
    Ok(read_many(numbers, at, 1)?.first().copied().unwrap_or(0))
}
