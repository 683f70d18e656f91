//! Labels to positions, in the order of first appearance: labelled blocks become a dense tensor.

use super::labels::{Labels, Places};
use crate::bytes::{Bytes, Endian, Extent, Records, swap, to_u64, to_usize};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::io::{Compute, Source, Spool};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::Tensor;
use crate::tensor::dim::{Dim, product};
use crate::tensor::index::slice::ravel_in;
use crate::tensor::storage::{Address, Order, Storage};

/// A labelled tensor as a dense one, and the information that this leaves behind.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The same values, with positions instead of labels and a fill value for absent blocks.
    pub tensor: Tensor,
    /// The size that each mapped dimension gets from its labels.
    pub sizes: Vec<u64>,
    /// The number of absent blocks.
    pub absent: u128,
    /// The labels of each mapped dimension, in the order of their positions.
    pub labels: Vec<Labels>,
    table: Table,
}

impl Placed {
    /// The number of blocks that exist.
    #[must_use]
    pub fn n_blocks(&self) -> u64 {
        self.table.count
    }

    /// The ascending row-major numbers of the blocks that exist.
    ///
    /// # Errors
    /// [`Error::Io`] if a temporary file fails.
    pub fn blocks(&self) -> Result<Vec<u64>> {
        let entries = self.table.read(0, to_usize(self.table.count)?)?;
        memory::collected(entries.into_iter().map(|[block, _]| block))
    }
}

impl Tensor {
    /// Gives every label of a mapped dimension a position, in the order of first appearance.
    ///
    /// # Errors
    /// [`Error::Limit`] if all blocks together would exceed `limits`, or their labels the memory.
    pub(crate) fn placed(&self, limits: &Limits) -> Result<Placed> {
        self.placed_among(&[], &[], limits)
    }

    /// Gives every label of a mapped dimension a position: in the order of first appearance, or in
    /// the order of `given`, if that lists the labels of a dimension, by its index. Cells of absent
    /// blocks get the element `fill`, little-endian; zeros if it is empty.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a given list lacks a label or has a duplicate, [`Error::Limit`] if all
    /// blocks together would exceed `limits`, or their labels the memory.
    pub fn placed_among(
        &self,
        given: &[(usize, &Labels)],
        fill: &[u8],
        limits: &Limits,
    ) -> Result<Placed> {
        let Storage::Sparse {
            order,
            address: Address::Labels,
            values,
        } = self.storage()
        else {
            return Err(Error::invalid("the tensor has no labels"));
        };
        let Extent::Records(records) = values.bytes.extent() else {
            return Err(Error::invalid("labelled values without labels"));
        };
        let mut axes: Vec<Axis> = (0..self.n_mapped()).map(|_| Axis::default()).collect();
        for (axis, labels) in given {
            let mapped = self.mapped_place(*axis)?;
            labels.check_unique()?;
            if let Some(axis) = axes.get_mut(mapped) {
                axis.close(labels);
            }
        }
        let mut found = find(records, values.bytes.source(), &mut axes, limits)?;
        let sizes: Vec<u64> = axes
            .iter()
            .map(|axis| to_u64(axis.places.labels.len()))
            .collect();
        let blocks = product(&sizes).unwrap_or(u128::MAX);
        let len = blocks.saturating_mul(records.width().into());
        limits.check_decoded("labelled blocks would be expanded to all positions", len)?;
        let len = u64::try_from(len).map_err(|_| Error::invalid("too many blocks"))?;
        let absent = blocks.saturating_sub(records.count().into());
        let labels = axes.into_iter().map(|axis| axis.places.labels).collect();
        number(&mut found, &sizes);
        let table = Table::new(&found)?;
        drop(found);

        let mut fill = fill.to_vec();
        if values.must_swap(Endian::Little) {
            swap(&mut fill, values.number.width());
        }
        let grid = Grid {
            fill,
            source: values.bytes.source().clone(),
            table: table.clone(),
            width: records.width(),
            len,
        };
        let bytes = Bytes::whole(Source::computed(grid));
        let values = Numbers {
            bytes,
            ..values.clone()
        };
        let mut positions = sizes.iter();
        let dims = self.dims().iter().map(|dim| match dim.indexed_size() {
            Some(_) => dim.clone(),
            None => {
                let size = positions.next().copied().unwrap_or(0);
                Dim {
                    size: crate::tensor::Size::Indexed(size),
                    ..dim.clone()
                }
            }
        });
        let storage = Storage::Dense {
            order: *order,
            values,
        };
        let tensor = Tensor::new(dims.collect(), self.dtype(), vec![], storage)?.with_meta_of(self);
        Ok(Placed {
            tensor,
            sizes,
            absent,
            labels,
            table,
        })
    }

    /// The number of a dimension among the mapped ones.
    fn mapped_place(&self, axis: usize) -> Result<usize> {
        let dims = self.dims();
        let is_mapped = |dim: &&Dim| dim.size == crate::tensor::Size::Mapped;
        match dims.get(axis).filter(is_mapped) {
            Some(_) => Ok(dims.iter().take(axis).filter(is_mapped).count()),
            None => Err(Error::invalid("only a mapped dimension has labels")),
        }
    }
}

/// A mapped dimension that gets positions.
#[derive(Default)]
struct Axis {
    places: Places,
    /// Whether all labels are given: any other one is an error.
    is_closed: bool,
}

impl Axis {
    fn close(&mut self, labels: &Labels) {
        self.places = Places::default();
        for label in labels.iter() {
            self.places.of(label);
        }
        self.is_closed = true;
    }

    fn place(&mut self, label: &str) -> Result<u64> {
        if !self.is_closed {
            return Ok(to_u64(self.places.of(label)));
        }
        let place = self.places.find(label).map(to_u64);
        place.ok_or_else(|| {
            let why = format!("the label {label:?} is not among those given");
            Error::invalid(why)
        })
    }
}

/// Number of blocks between checks of the memory they take.
const OFTEN: u64 = 4096;

/// The position of every block along each axis, and the offset of its cells: so many numbers per
/// block.
struct Found {
    numbers: Vec<u64>,
    n_axes: usize,
}

impl Found {
    /// Numbers per block: in the end two, its number and the offset of its cells.
    fn stride(&self) -> usize {
        self.n_axes.saturating_add(1).max(2)
    }
}

fn find(records: &Records, source: &Source, axes: &mut [Axis], limits: &Limits) -> Result<Found> {
    let mut found = Found {
        numbers: Vec::new(),
        n_axes: axes.len(),
    };
    let stride = found.stride();
    let all = to_u64(stride)
        .saturating_mul(8)
        .saturating_mul(records.count());
    let check = |axes: &[Axis], done: u64| {
        let labels = axes.iter().map(|axis| axis.places.held());
        let labels = u128::from(labels.fold(0, u64::saturating_add));
        // The memory that the labels of so many blocks take is not available to the others.
        let all_labels = labels
            .saturating_mul(records.count().into())
            .checked_div(done.into())
            .unwrap_or(0);
        let why = "the labels of all blocks are held in memory to give them positions";
        if labels.saturating_add(all.into()) > limits.memory.into() {
            limits.check_memory(why, all_labels.saturating_add(all.into()))
        } else {
            Ok(())
        }
    };
    check(axes, 0)?;
    // The records have been walked over: their number is certain.
    found.numbers.reserve_exact(to_usize(all / 8)?);
    let mut done = 0_u64;
    records.for_each(source, &mut |_, labels, scan| {
        for (label, axis) in labels.iter().zip(axes.iter_mut()) {
            memory::push(&mut found.numbers, axis.place(label)?)?;
        }
        found.numbers.resize(
            found.numbers.len().saturating_add(stride - 1 - axes.len()),
            0,
        );
        found.numbers.push(scan.at());
        done = done.saturating_add(1);
        if done.is_multiple_of(OFTEN) {
            check(axes, done)
        } else {
            Ok(())
        }
    })?;
    Ok(found)
}

/// Replaces every block's positions by its row-major number, and sorts the blocks by it.
fn number(found: &mut Found, sizes: &[u64]) {
    let (stride, n_axes) = (found.stride(), found.n_axes);
    let count = found.numbers.len() / stride;
    for block in 0..count {
        let from = block.saturating_mul(stride);
        let row = found
            .numbers
            .get(from..)
            .and_then(|rest| rest.get(..stride));
        let Some((places, [.., at])) = row.and_then(|row| row.split_at_checked(n_axes)) else {
            continue;
        };
        let entry = [ravel_in(places, sizes, Order::Row), *at];
        // Pairs are no longer than rows: no row is overwritten before it has been read.
        let to = found.numbers.get_mut(block.saturating_mul(2)..);
        if let Some(pair) = to.and_then(|rest| rest.first_chunk_mut()) {
            *pair = entry;
        }
    }
    found.numbers.truncate(count.saturating_mul(2));
    let (pairs, _) = found.numbers.as_chunks_mut::<2>();
    pairs.sort_unstable();
}

/// The numbers of the blocks that exist and the offsets of their cells; sorted and spooled.
#[derive(Debug, Clone)]
struct Table {
    entries: Source,
    count: u64,
    /// The number of every `STEP`th block.
    marks: Vec<u64>,
}

/// Number of blocks between two marks.
const STEP: usize = 1024;
/// Length of a table entry in bytes.
const ENTRY: usize = 16;

impl Table {
    fn new(found: &Found) -> Result<Table> {
        let (pairs, _) = found.numbers.as_chunks::<2>();
        let mut entries = Spool::new();
        let mut marks = Vec::new();
        for (place, [block, at]) in pairs.iter().enumerate() {
            if place % STEP == 0 {
                marks.push(*block);
            }
            entries.write(&block.to_le_bytes())?;
            entries.write(&at.to_le_bytes())?;
        }
        Ok(Table {
            entries: entries.finish()?,
            count: to_u64(pairs.len()),
            marks,
        })
    }

    /// Up to `count` entries from `place` on.
    fn read(&self, place: u64, count: usize) -> Result<Vec<[u64; 2]>> {
        let left = to_usize(self.count.saturating_sub(place))?;
        let mut bytes = memory::zeros(count.min(left).saturating_mul(ENTRY))?;
        let at = place.saturating_mul(to_u64(ENTRY));
        self.entries.read_at(at, &mut bytes)?;
        let (numbers, _) = bytes.as_chunks::<8>();
        let (pairs, _) = numbers.as_chunks::<2>();
        let decoded = pairs.iter().map(|pair| pair.map(u64::from_le_bytes));
        memory::collected(decoded)
    }

    /// The position of the first entry that is `block` or later, or at most `STEP` positions before
    /// it.
    fn approach(&self, block: u64) -> u64 {
        let before = self.marks.partition_point(|mark| *mark <= block);
        to_u64(before.saturating_sub(1).saturating_mul(STEP))
    }
}

/// All blocks in order; absent ones have the fill value.
struct Grid {
    /// The element of absent blocks, in stored byte order; zeros if it is empty.
    fill: Vec<u8>,
    source: Source,
    table: Table,
    width: u64,
    len: u64,
}

impl Grid {
    /// Fills `now` with bytes of one block, from `within` it on; `cells` is its offset.
    fn fill(&self, cells: Option<u64>, within: u64, now: &mut [u8]) -> Result<()> {
        if let Some(cells) = cells {
            return self.source.read_at(cells.saturating_add(within), now);
        }
        if self.fill.is_empty() {
            now.fill(0);
            return Ok(());
        }
        // A block is a whole number of elements.
        let skip = to_usize(within)? % self.fill.len();
        let bytes = self.fill.iter().cycle().skip(skip);
        now.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        Ok(())
    }
}

impl Compute for Grid {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let width = self.width.max(1);
        let mut at = at;
        let mut rest = buffer;
        let mut place = self.table.approach(at / width);
        let mut known: Vec<[u64; 2]> = Vec::new();
        while !rest.is_empty() {
            let (block, within) = (at / width, at % width);
            if known.last().is_none_or(|[last, _]| *last < block) && place < self.table.count {
                known = self.table.read(place, STEP)?;
                place = place.saturating_add(to_u64(known.len()));
                continue;
            }
            let found = known.binary_search_by_key(&block, |[number, _]| *number);
            let cells = found.ok().and_then(|found| known.get(found));
            let part = to_usize(width.saturating_sub(within).min(to_u64(rest.len())))?;
            let (now, later) = rest.split_at_mut(part);
            self.fill(cells.map(|[_, cells]| *cells), within, now)?;
            rest = later;
            at = at.saturating_add(to_u64(part));
        }
        Ok(())
    }

    fn depth(&self) -> u32 {
        self.source.depth()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::RecordsBuilder;
    use crate::dtype::{DType, Number};

    #[test]
    fn labels_get_positions_in_the_order_of_first_appearance() {
        let mut records = RecordsBuilder::new(2, 2);
        for (labels, cells) in [
            (["b", "x"], [1, 2]),
            (["a", "x"], [3, 4]),
            (["b", "y"], [5, 6]),
        ] {
            records.push(&labels, &cells).unwrap();
        }
        let values = Numbers {
            number: Number::I8,
            endian: Endian::Little,
            bytes: records.finish().unwrap(),
        };
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values,
        };
        let dims = vec![
            Dim::mapped("k"),
            Dim::mapped("l"),
            Dim::indexed(2).named("n"),
        ];
        let tensor = Tensor::new(dims, DType::real(Number::I8), vec![], storage).unwrap();
        let placed = tensor.placed(&Limits::default()).unwrap();
        assert_eq!((placed.sizes, placed.absent), (vec![2, 2], 1));
        assert_eq!(placed.tensor.sizes().unwrap(), [2, 2, 2]);
        assert_eq!(
            placed.tensor.to_vec::<i8>().unwrap(),
            [1, 2, 5, 6, 3, 4, 0, 0]
        );
    }
}
