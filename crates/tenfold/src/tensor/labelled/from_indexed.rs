//! Positions to labels: the inverse of [`placed`](super::to_indexed).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::bytes::{Bytes, Extent, Records, put_short, to_u64, to_usize};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::io::{Compute, Source};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::Tensor;
use crate::tensor::dim::{Dim, Size, product};
use crate::tensor::index::slice::unravel_in;
use crate::tensor::storage::{Address, Order, Storage};

/// Above this number of blocks the tensor is not labelled lazily: the offset of each is kept in
/// memory.
pub(crate) const MOST_BLOCKS: u128 = 1 << 20;

impl Tensor {
    /// Labels the positions along the first dimensions. `blocks` are the ascending row-major
    /// numbers of the blocks that exist; all if there is no list.
    ///
    /// # Errors
    /// [`Error::Invalid`] if labels or blocks do not fit or are duplicate.
    pub(crate) fn woven(
        &self,
        labels: &[Vec<String>],
        blocks: Option<Vec<u64>>,
        limits: &Limits,
    ) -> Result<Tensor> {
        let sizes = self.sizes()?;
        let (mapped, inner) = sizes
            .split_at_checked(labels.len())
            .ok_or_else(|| Error::invalid("more labels than dimensions"))?;
        check_labels(labels, mapped)?;
        let width = to_u64(self.dtype().width());
        let width = product(inner)
            .and_then(|cells| u64::try_from(cells.checked_mul(width.into())?).ok())
            .ok_or_else(|| Error::invalid("a block is too large"))?;
        let all = product(mapped).filter(|all| *all <= MOST_BLOCKS);
        let all = all.ok_or_else(|| Error::invalid("too many labelled blocks"))?;
        let all = u64::try_from(all).map_err(|_| Error::invalid("too many labelled blocks"))?;
        let blocks = match blocks {
            Some(blocks) => blocks,
            None => memory::collected(0..all)?,
        };
        let is_ascending = blocks.is_sorted_by(|one, next| one < next);
        if !is_ascending || blocks.last().is_some_and(|last| *last >= all) {
            return Err(Error::invalid("a list of blocks that are not there"));
        }

        let values = self.dense(Order::Row, limits)?;
        let woven = Woven::new(&values, labels, mapped, blocks, limits)?;
        let begins = (0..woven.blocks.len()).map(|number| woven.record(number).0);
        let records = Records::at(begins, woven.len(), labels.len(), width);
        let extent = Extent::Records(Arc::new(records));
        let bytes = Bytes::part(&Source::computed(woven), extent)?;
        let mut dims: Vec<Dim> = self.dims().to_vec();
        for dim in dims.iter_mut().take(labels.len()) {
            dim.size = Size::Mapped;
        }
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values: Numbers { bytes, ..values },
        };
        let tensor = Tensor::new(dims, self.dtype(), vec![], storage)?;
        Ok(tensor.with_meta_of(self))
    }
}

/// Checks that every position has a label, and that labels are unique.
fn check_labels(labels: &[Vec<String>], sizes: &[u64]) -> Result<()> {
    for (labels, size) in labels.iter().zip(sizes) {
        let different: HashSet<&String> = labels.iter().collect();
        if to_u64(labels.len()) != *size || different.len() != labels.len() {
            return Err(Error::invalid("labels that do not fit their dimension"));
        }
    }
    Ok(())
}

/// Labelled records whose cells come from dense values.
struct Woven {
    values: Numbers,
    limits: Limits,
    /// The values with random access, set on the first read.
    settled: OnceLock<Bytes>,
    /// The block of each record.
    blocks: Vec<u64>,
    /// The encoded labels of all records, concatenated.
    names: Vec<u8>,
    /// The end of each record's labels in `names`.
    ends: Vec<u64>,
    width: u64,
}

impl Woven {
    fn new(
        values: &Numbers,
        labels: &[Vec<String>],
        sizes: &[u64],
        blocks: Vec<u64>,
        limits: &Limits,
    ) -> Result<Woven> {
        /// Most bytes of labels kept in memory.
        const MOST: usize = 64 << 20;
        let (mut names, mut ends) = (Vec::new(), Vec::new());
        let mut index = vec![0; sizes.len()];
        for block in &blocks {
            unravel_in(*block, sizes, Order::Row, &mut index);
            for (place, labels) in index.iter().zip(labels) {
                let label = labels.get(to_usize(*place)?).map_or("", String::as_str);
                put_short(to_u64(label.len()), &mut names)?;
                names.extend_from_slice(label.as_bytes());
            }
            if names.len() > MOST {
                return Err(Error::invalid("too many labels"));
            }
            ends.push(to_u64(names.len()));
        }
        let all = product(sizes).and_then(|all| u64::try_from(all).ok());
        let width = values
            .bytes
            .len()
            .checked_div(all.unwrap_or(0))
            .unwrap_or(0);
        Ok(Woven {
            values: values.clone(),
            limits: limits.clone(),
            settled: OnceLock::new(),
            blocks,
            names,
            ends,
            width,
        })
    }

    fn settled(&self) -> Result<&Bytes> {
        if let Some(settled) = self.settled.get() {
            return Ok(settled);
        }
        let settled = self.values.bytes.settled(&self.limits)?;
        Ok(self.settled.get_or_init(|| settled))
    }

    /// The offset of record `number`, and the range of its labels in `names`.
    fn record(&self, number: usize) -> (u64, Range<u64>) {
        let before = number.checked_sub(1).and_then(|last| self.ends.get(last));
        let from = before.copied().unwrap_or(0);
        let to = self.ends.get(number).copied().unwrap_or(from);
        let cells = to_u64(number).saturating_mul(self.width);
        (from.saturating_add(cells), from..to)
    }

    /// The record that contains byte `at`.
    fn find(&self, at: u64) -> usize {
        let (mut low, mut high) = (0, self.blocks.len());
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            if self.record(middle).0 <= at {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl Compute for Woven {
    fn len(&self) -> u64 {
        let cells = to_u64(self.blocks.len()).saturating_mul(self.width);
        cells.saturating_add(to_u64(self.names.len()))
    }

    fn inputs(&self) -> Vec<&Bytes> {
        vec![&self.values.bytes]
    }

    fn depth(&self) -> u32 {
        self.values.bytes.source().depth()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let mut number = self.find(at);
        let mut at = at;
        let mut rest = buffer;
        while !rest.is_empty() {
            let (begin, labels) = self.record(number);
            let within = at.saturating_sub(begin);
            let n_labels = labels.end.saturating_sub(labels.start);
            let end = if within < n_labels {
                n_labels
            } else {
                n_labels.saturating_add(self.width)
            };
            let part = to_usize(end.saturating_sub(within).min(to_u64(rest.len())))?;
            let (now, later) = rest.split_at_mut(part);
            if within < n_labels {
                let from = to_usize(labels.start.saturating_add(within))?;
                let names = self.names.get(from..).and_then(|names| names.get(..part));
                now.copy_from_slice(names.unwrap_or_default());
            } else if part > 0 {
                let block = self.blocks.get(number).copied().unwrap_or(0);
                let cells = block.saturating_mul(self.width).saturating_add(within);
                let values = self.settled()?;
                values.read_at(cells.saturating_sub(n_labels), now)?;
            }
            at = at.saturating_add(to_u64(part));
            if within.saturating_add(to_u64(part)) >= n_labels.saturating_add(self.width) {
                number = number.saturating_add(1);
            }
            rest = later;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Cell;

    fn tensor() -> Tensor {
        let storage = Storage::Dense {
            order: Order::Column,
            values: Numbers::from_vec(&[0_i8, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]),
        };
        let dims = [2, 3, 2].map(Dim::indexed).to_vec();
        Tensor::new(dims, "i8".parse().unwrap(), vec![], storage).unwrap()
    }

    fn texts(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|label| (*label).into()).collect()
    }

    fn blocks(tensor: &Tensor) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        let each = &mut |cell: Cell| {
            if let Cell::Labelled { labels, values } = cell {
                found.push((labels.join(" "), values.bytes.to_vec()?));
            }
            Ok(())
        };
        tensor.for_each_cell(&Limits::default(), each).unwrap();
        found
    }

    #[test]
    fn blocks_get_the_labels_of_their_positions() {
        let labels = [texts(&["a", "b"]), texts(&["x", "", "重"])];
        let all = Some(vec![0, 2, 4]);
        let labelled = tensor().woven(&labels, all, &Limits::default()).unwrap();
        assert_eq!(labelled.n_mapped(), 2);
        let found = blocks(&labelled);
        let expected = [("a x", [0, 1]), ("a 重", [4, 5]), ("b ", [8, 9])];
        assert_eq!(
            found,
            expected.map(|(name, cells)| (name.to_owned(), cells.to_vec()))
        );
        let placed = labelled.placed(&Limits::default()).unwrap();
        assert_eq!((placed.sizes, placed.absent), (vec![2, 3], 3));
    }

    #[test]
    fn labels_that_do_not_fit_are_refused() {
        for (labels, blocks) in [
            (vec![texts(&["a"])], None),
            (vec![texts(&["a", "a"])], None),
            (vec![texts(&["a", "b"])], Some(vec![2])),
            (vec![texts(&["a", "b"])], Some(vec![1, 0])),
            (vec![vec![]; 4], None),
        ] {
            let made = tensor().woven(&labels, blocks, &Limits::default());
            assert!(made.is_err(), "{labels:?}");
        }
    }
}
