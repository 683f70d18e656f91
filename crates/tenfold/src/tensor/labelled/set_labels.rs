//! Labelling an indexed dimension: it becomes a mapped one.

use crate::bytes::{Endian, PIECE, RecordsBuilder, to_u64, to_usize};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::tensor::dim::{Dim, product};
use crate::tensor::storage::{Address, Order, Storage};
use crate::tensor::{Labels, Size, Tensor};

impl Tensor {
    /// Turns dimensions, each given by its index and a label for every position, into mapped ones.
    /// They come first, and every block exists, zero or not; the blocks are stored in memory or a
    /// temporary file. Symmetries are dropped.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a dimension's size is not the number of its labels, a label is
    /// duplicate, or the tensor has labels already; [`Error::Limit`] if there would be too many
    /// blocks.
    pub fn with_labels(&self, given: &[(usize, &Labels)], limits: &Limits) -> Result<Tensor> {
        let sizes = self.sizes()?;
        for (axis, labels) in given {
            labels.check_unique()?;
            let size = sizes.get(*axis).copied();
            if size != Some(to_u64(labels.len())) {
                let size = size.unwrap_or(0);
                let n = labels.len();
                return Err(Error::invalid(format!(
                    "{size} positions need as many labels, {n} given"
                )));
            }
        }
        let counts: Vec<u64> = given
            .iter()
            .map(|(_, labels)| to_u64(labels.len()))
            .collect();
        let n_blocks = product(&counts).and_then(|count| u64::try_from(count).ok());
        let n_blocks = n_blocks.unwrap_or(u64::MAX);
        limits.check_labels(n_blocks)?;

        let mut axes: Vec<usize> = given.iter().map(|(axis, _)| *axis).collect();
        axes.extend((0..sizes.len()).filter(|axis| given.iter().all(|(own, _)| own != axis)));
        let fill = vec![0; self.dtype().width()];
        let permuted = self.to_dense(&fill, limits)?.permute(&axes, limits)?;
        let all = permuted.dense(Order::Row, limits)?;
        let mut dims: Vec<Dim> = permuted.dims().to_vec();
        for dim in dims.iter_mut().take(given.len()) {
            dim.size = Size::Mapped;
        }
        let blocks = Blocks {
            given,
            n_blocks,
            width: all.bytes.len().checked_div(n_blocks).unwrap_or(0),
        };
        let values = blocks.collect(&all, self.dtype().width())?;
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values,
        };
        let labelled = Tensor::new(dims, self.dtype(), vec![], storage)?;
        Ok(labelled.with_meta_of(self))
    }
}

/// All combinations of labels, the last varying fastest.
struct Blocks<'a> {
    given: &'a [(usize, &'a Labels)],
    n_blocks: u64,
    /// Length of each block in bytes.
    width: u64,
}

impl Blocks<'_> {
    fn labels(&self, block: u64) -> Result<Vec<&str>> {
        let mut rest = block;
        let mut labels = Vec::with_capacity(self.given.len());
        for (_, names) in self.given.iter().rev() {
            let count = to_u64(names.len()).max(1);
            let name = names.get(to_usize(rest % count)?);
            labels.push(name.unwrap_or_default());
            rest /= count;
        }
        labels.reverse();
        Ok(labels)
    }

    /// Writes the labels of each block before its cells.
    fn collect(&self, all: &Numbers, element: usize) -> Result<Numbers> {
        let width = to_usize(self.width)?;
        let mut made = RecordsBuilder::new(self.given.len(), width);
        let mut block = 0;
        let mut left = 0;
        all.for_each(Endian::Little, element, PIECE, &mut |piece| {
            let mut rest = piece;
            while !rest.is_empty() {
                if left == 0 {
                    made.start(&self.labels(block)?)?;
                    block = block.saturating_add(1);
                    left = width;
                }
                let (now, later) = rest.split_at(left.min(rest.len()));
                made.cells(now)?;
                left = left.saturating_sub(now.len());
                rest = later;
            }
            Ok(())
        })?;
        // Blocks without cells have labels all the same.
        while width == 0 && block < self.n_blocks {
            made.start(&self.labels(block)?)?;
            block = block.saturating_add(1);
        }
        Ok(Numbers {
            number: all.number,
            endian: Endian::Little,
            bytes: made.finish()?,
        })
    }
}
