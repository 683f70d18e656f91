//! Collects single cells in any order, and groups them into blocks.
#![deny(clippy::arithmetic_side_effects)]

use hashbrown::HashMap;

use super::values::Cells;
use crate::bytes::{PIECE, to_u64, to_usize};
use crate::error::Result;
use crate::memory;
use crate::wire::json::Json;

/// Cells with their addresses.
pub(super) struct Gather {
    /// The width of a cell in bytes.
    width: usize,
    places: HashMap<Vec<String>, u64>,
    blocks: Vec<Vec<String>>,
    cells: Vec<One>,
    /// Approximate total length of the labels.
    labels_len: u64,
}

/// One cell.
struct One {
    block: u64,
    offset: u64,
    /// Its offset in the text.
    at: u64,
    /// Its big-endian bytes, zero-padded.
    bytes: [u8; 8],
}

impl Gather {
    /// A collection for cells of this width. Without labels there is always exactly one block.
    pub(super) fn new(width: usize, has_labels: bool) -> Gather {
        let mut gather = Gather {
            width,
            places: HashMap::new(),
            blocks: Vec::new(),
            cells: Vec::new(),
            labels_len: 0,
        };
        if !has_labels {
            gather.blocks.push(Vec::new());
            gather.places.insert(Vec::new(), 0);
        }
        gather
    }

    pub(super) fn n_blocks(&self) -> u64 {
        to_u64(self.blocks.len())
    }

    /// Approximate memory in bytes.
    pub(super) fn held(&self) -> u64 {
        let cells = to_u64(self.cells.capacity()).saturating_mul(to_u64(size_of::<One>()));
        cells.saturating_add(self.labels_len.saturating_mul(2))
    }

    /// Adds a cell at offset `at` of the text.
    pub(super) fn push(&mut self, at: u64, labels: &[String], offset: u64, cell: &[u8]) {
        let block = match self.places.get(labels) {
            Some(block) => *block,
            None => {
                let next = self.n_blocks();
                self.places.insert(labels.to_vec(), next);
                self.blocks.push(labels.to_vec());
                let len: usize = labels.iter().map(String::len).sum();
                let each = to_u64(labels.len()).saturating_mul(24).saturating_add(32);
                self.labels_len = self
                    .labels_len
                    .saturating_add(to_u64(len))
                    .saturating_add(each);
                next
            }
        };
        let mut bytes = [0; 8];
        bytes
            .iter_mut()
            .zip(cell)
            .for_each(|(to, from)| *to = *from);
        self.cells.push(One {
            block,
            offset,
            at,
            bytes,
        });
    }

    /// Hands out all blocks of `len` bytes in the order of first appearance, with zeros for missing
    /// cells.
    pub(super) fn pour(
        mut self,
        json: &Json,
        len: u64,
        begin: &mut dyn FnMut(&[String]) -> Result<()>,
        out: &mut Cells,
    ) -> Result<()> {
        self.cells
            .sort_unstable_by_key(|cell| (cell.block, cell.offset, cell.at));
        for pair in self.cells.windows(2) {
            if let [one, other] = pair
                && (one.block, one.offset) == (other.block, other.offset)
            {
                return json.scan.fail_at(other.at, "a cell is given twice");
            }
        }
        let width = to_u64(self.width);
        let mut cells = self.cells.iter().peekable();
        for (block, labels) in self.blocks.iter().enumerate() {
            begin(labels)?;
            let mut done = 0;
            while let Some(cell) = cells.next_if(|cell| cell.block == to_u64(block)) {
                let start = cell.offset.saturating_mul(width);
                zeros(start.saturating_sub(done), out)?;
                out(cell.bytes.get(..self.width).unwrap_or_default())?;
                done = start.saturating_add(width);
            }
            zeros(len.saturating_sub(done), out)?;
        }
        Ok(())
    }
}

fn zeros(len: u64, out: &mut Cells) -> Result<()> {
    let piece = memory::zeros(to_usize(len.min(to_u64(PIECE)))?)?;
    let mut left = len;
    while left > 0 {
        let part = piece.get(..to_usize(left.min(to_u64(piece.len())))?);
        out(part.unwrap_or_default())?;
        left = left.saturating_sub(to_u64(piece.len()));
    }
    Ok(())
}
