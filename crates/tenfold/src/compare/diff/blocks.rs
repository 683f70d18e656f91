//! Comparison of labelled tensors, block by block, matched by label.

use super::tally::Tally;
use crate::bytes::{Bytes, Extent, Records, hash_labels};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::memory;
use crate::tensor::{Address, Cell, Dim, Storage, Tensor};

use super::DiffOptions;
use super::cells::{Sums, compare_cells};

/// The labelled blocks that only one of two tensors has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocks {
    /// The number of blocks that both have.
    pub shared: u64,
    /// The number of blocks that only A has.
    pub only_a: u64,
    /// The number of blocks that only B has.
    pub only_b: u64,
    /// The labels of the first blocks that only A has, in the order of A's dimensions.
    pub first_a: Vec<Vec<String>>,
    /// The labels of the first blocks that only B has, in the order of A's dimensions.
    pub first_b: Vec<Vec<String>>,
}

/// Most labels listed.
const LISTED: usize = 8;

/// The result of comparing the blocks of two tensors.
#[derive(Default)]
pub(super) struct BlocksFound {
    pub(super) tally: Tally,
    pub(super) blocks: Blocks,
    /// The labels of the block with the worst cell, and the cell's index there.
    pub(super) worst: Option<(Vec<String>, Vec<u64>)>,
}

/// The blocks of B by their labels.
struct Table<'a> {
    records: &'a Records,
    values: &'a Numbers,
    /// The position of A's labels among B's.
    order: Vec<usize>,
    /// The hash of the labels in A's order, and the offset of each block; sorted.
    blocks: Vec<(u64, u64)>,
    seen: Vec<bool>,
}

fn values_of(tensor: &Tensor) -> Result<(&Numbers, &Records)> {
    if let Storage::Sparse {
        address: Address::Labels,
        values,
        ..
    } = tensor.storage()
        && let Extent::Records(records) = values.bytes.extent()
    {
        return Ok((values, records));
    }
    Err(Error::invalid("the tensor has no labels"))
}

impl<'a> Table<'a> {
    fn of(tensor: &'a Tensor, order: Vec<usize>) -> Result<Table<'a>> {
        let (values, records) = values_of(tensor)?;
        let mut blocks = Vec::new();
        records.for_each(values.bytes.source(), &mut |at, labels, _| {
            memory::push(&mut blocks, (hash_labels(&reordered(labels, &order)), at))
        })?;
        blocks.sort_unstable();
        let seen = memory::zeros(blocks.len())?;
        Ok(Table {
            records,
            values,
            order,
            blocks,
            seen,
        })
    }

    /// The labels, in A's order, and the values of the block at `at`.
    fn block(&self, at: u64) -> Result<(Vec<String>, Numbers)> {
        let source = self.values.bytes.source();
        let (labels, cells) = self.records.record_at(source, at)?;
        let end = cells.saturating_add(self.records.width());
        let values = Numbers {
            bytes: Bytes::run(source, cells..end)?,
            ..self.values.clone()
        };
        Ok((reordered(&labels, &self.order), values))
    }

    /// The values of the block with these labels, in A's order; the block is marked as matched.
    fn find(&mut self, labels: &[String]) -> Result<Option<Numbers>> {
        let hash = hash_labels(labels);
        let first = self.blocks.partition_point(|(known, _)| *known < hash);
        let alike = self.blocks.iter().zip(0_usize..).skip(first);
        for ((_, at), place) in alike.take_while(|((known, _), _)| *known == hash) {
            let (found, values) = self.block(*at)?;
            if found == labels {
                if let Some(seen) = self.seen.get_mut(place) {
                    *seen = true;
                }
                return Ok(Some(values));
            }
        }
        Ok(None)
    }

    /// Counts and lists the blocks without a match, in file order.
    fn unseen(&self, blocks: &mut Blocks) -> Result<()> {
        let places = self.blocks.iter().zip(&self.seen);
        let mut left: Vec<u64> = places
            .filter(|(_, seen)| !**seen)
            .map(|((_, at), _)| *at)
            .collect();
        left.sort_unstable();
        blocks.only_b = crate::bytes::to_u64(left.len());
        for at in left.iter().take(LISTED) {
            blocks.first_b.push(self.block(*at)?.0);
        }
        Ok(())
    }
}

fn reordered<T: Clone>(items: &[T], order: &[usize]) -> Vec<T> {
    let items = order.iter().filter_map(|place| items.get(*place));
    items.cloned().collect()
}

/// Compares two labelled tensors of one shape; `axes` has the dimension of B for each of A's.
pub(super) fn compare_blocks(
    a: &Tensor,
    b: &Tensor,
    axes: &[usize],
    how: &DiffOptions,
) -> Result<BlocksFound> {
    let (mapped, indexed) = split_axes(b, axes);
    let mut table = Table::of(b, mapped)?;
    let mut found = BlocksFound::default();
    a.for_each_cell(&how.limits, &mut |cell| {
        let Cell::Labelled { labels, values } = cell else {
            return Err(Error::invalid("the tensor has no labels"));
        };
        let blocks = &mut found.blocks;
        let Some(other) = table.find(labels)? else {
            blocks.only_a = blocks.only_a.saturating_add(1);
            if blocks.first_a.len() < LISTED {
                blocks.first_a.push(labels.to_vec());
            }
            return Ok(());
        };
        blocks.shared = blocks.shared.saturating_add(1);
        let (own, other) = (block_of(a, values)?, block_of(b, other)?);
        let (tally, place) = compare_cells(&own, &other, &indexed, how, Sums::Always)?;
        let size = tally.farthest.as_ref().map(|farthest| farthest.size);
        if size.is_some_and(|size| found.tally.is_farthest(size)) {
            found.worst = place.map(|index| (labels.to_vec(), index));
        }
        found.tally.merge(tally);
        Ok(())
    })?;
    table.unseen(&mut found.blocks)?;
    Ok(found)
}

/// One block as a tensor of its own.
fn block_of(tensor: &Tensor, values: Numbers) -> Result<Tensor> {
    let sizes = tensor.indexed_sizes();
    let dims = sizes.into_iter().map(Dim::indexed).collect();
    let order = match tensor.storage() {
        Storage::Sparse { order, .. } => *order,
        _ => crate::tensor::Order::Row,
    };
    let storage = Storage::Dense { order, values };
    Tensor::new(dims, tensor.dtype(), vec![], storage)
}

/// Splits the dimensions of B for each of A's into mapped and indexed ones, each numbered among
/// their own kind.
fn split_axes(b: &Tensor, axes: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let is_mapped = |axis: usize| {
        let dim = b.dims().get(axis);
        dim.is_some_and(|dim| dim.indexed_size().is_none())
    };
    let among = |kind: bool| -> Vec<usize> {
        let own = axes.iter().filter(|axis| is_mapped(**axis) == kind);
        own.map(|axis| {
            (0..*axis)
                .filter(|before| is_mapped(*before) == kind)
                .count()
        })
        .collect()
    };
    (among(true), among(false))
}
