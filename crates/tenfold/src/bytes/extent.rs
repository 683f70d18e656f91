//! The extent of bytes in a source: a run, a strided column, or the cells of records.

use std::ops::Range;
use std::sync::Arc;

use super::{PIECE, Records, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::memory;

/// The part of a source that a byte sequence consists of.
#[derive(Debug, Clone)]
pub(crate) enum Extent {
    /// Consecutive bytes.
    Run(Range<u64>),
    /// One field of equally spaced records. Boxed, as most bytes are a run.
    Strided(Box<Column>),
    /// The cells of labelled records, without their labels.
    Records(Arc<Records>),
}

impl Extent {
    /// The number of bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Extent::Run(range) => range.end.saturating_sub(range.start),
            // `span` has checked that this does not overflow.
            Extent::Strided(column) => column.width.saturating_mul(column.count),
            Extent::Records(records) => records.len(),
        }
    }

    /// The smallest run that contains them; `None` if the arithmetic overflows.
    pub(crate) fn span(&self) -> Option<Range<u64>> {
        match self {
            Extent::Run(range) => (range.start <= range.end).then(|| range.clone()),
            Extent::Strided(column) => column.span(),
            Extent::Records(records) => Some(records.span()),
        }
    }

    /// Fills `buffer` with bytes of the extent from `at` on.
    pub(crate) fn read_at(&self, source: &Source, at: u64, buffer: &mut [u8]) -> Result<()> {
        let wanted = to_u64(buffer.len());
        if at.checked_add(wanted).is_none_or(|end| end > self.len()) {
            let left = self.len().saturating_sub(at);
            return Err(Error::malformed(
                None,
                format!("{wanted} bytes expected, {left} left"),
            ));
        }
        match self {
            Extent::Run(range) => source.read_at(range.start.saturating_add(at), buffer),
            Extent::Strided(column) => column.read_at(source, at, buffer),
            Extent::Records(records) => records.read_at(source, at, buffer),
        }
    }

    /// Whether it is all of a source, in order.
    pub(crate) fn is_all_of(&self, source: &Source) -> bool {
        matches!(self, Extent::Run(run) if *run == (0..source.len()))
    }

    /// Hands out the bytes in order, in pieces of at most `budget`.
    pub(crate) fn for_each(
        &self,
        source: &Source,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let budget = budget.max(1);
        if let Extent::Run(range) = self
            && let Some(bytes) = source.slice(range.clone())
        {
            return bytes.chunks(budget).try_for_each(each);
        }
        if let Extent::Run(range) = self
            && let Some(compute) = source.as_computed()
            && range.end <= source.len()
        {
            return compute.for_each(range.clone(), budget, each);
        }
        if let Extent::Records(records) = self {
            return records.for_each_cells(source, budget, each);
        }
        in_pieces(0..self.len(), budget, each, &mut |at, piece| {
            self.read_at(source, at, piece)
        })
    }
}

/// Hands out the output of `read` for `range`, in order, in pieces of at most `budget` bytes.
pub(crate) fn in_pieces(
    range: Range<u64>,
    budget: usize,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
    read: &mut dyn FnMut(u64, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let len = range.end.saturating_sub(range.start);
    let mut buffer = memory::zeros(to_usize(len.min(to_u64(budget.max(1))))?)?;
    let mut at = range.start;
    while at < range.end {
        let part = to_usize(to_u64(buffer.len()).min(range.end.saturating_sub(at)))?;
        let piece = buffer.get_mut(..part).unwrap_or_default();
        read(at, piece)?;
        each(piece)?;
        at = at.saturating_add(to_u64(part));
    }
    Ok(())
}

/// `count` times `width` bytes, `stride` apart; checked by [`Extent::span`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) first: u64,
    pub(crate) width: u64,
    pub(crate) stride: u64,
    pub(crate) count: u64,
}

impl From<Column> for Extent {
    fn from(column: Column) -> Extent {
        Extent::Strided(Box::new(column))
    }
}

impl Column {
    /// As [`Extent::span`].
    fn span(&self) -> Option<Range<u64>> {
        if self.count == 0 {
            return Some(self.first..self.first);
        }
        self.width.checked_mul(self.count)?;
        let last = { self.stride }
            .checked_mul(self.count.checked_sub(1)?)?
            .checked_add(self.first)?;
        Some(self.first..last.checked_add(self.width)?)
    }

    /// The source offset of byte `at` of the column.
    pub(crate) fn offset_of(&self, at: u64) -> Option<u64> {
        let width = self.width.max(1);
        (at / width)
            .checked_mul(self.stride)?
            .checked_add(self.first)?
            .checked_add(at % width)
    }

    /// Gathers the column from records read in bulk: one system call for many fields.
    fn read_at(&self, source: &Source, at: u64, buffer: &mut [u8]) -> Result<()> {
        let (width, stride) = (self.width.max(1), self.stride.max(1));
        let per_read = (to_u64(PIECE) / stride).max(1);
        let gather: Option<Gather> = match width {
            1 => Some(gather::<1>),
            2 => Some(gather::<2>),
            4 => Some(gather::<4>),
            8 => Some(gather::<8>),
            16 => Some(gather::<16>),
            _ => None,
        };
        let mut block = Vec::new();
        let mut at = at;
        let mut rest = buffer;
        while !rest.is_empty() {
            let skip = at % width;
            let field = at / width;
            let fields = per_read.min(skip.saturating_add(to_u64(rest.len())).div_ceil(width));
            let from = self.first.saturating_add(field.saturating_mul(stride));
            let span = fields
                .saturating_sub(1)
                .saturating_mul(stride)
                .saturating_add(width);
            memory::resize(&mut block, to_usize(span)?)?;
            source.read_at(from, &mut block)?;
            let whole = fields.min(to_u64(rest.len()) / width).saturating_mul(width);
            if let Some(gather) = gather.filter(|_| skip == 0 && whole > 0) {
                let (now, later) = rest.split_at_mut(to_usize(whole)?);
                gather(&block, to_usize(stride)?, now);
                (at, rest) = (at.saturating_add(whole), later);
                continue;
            }
            let mut skip = to_usize(skip)?;
            for record in block.chunks(to_usize(stride)?) {
                let value = record.get(skip..to_usize(width)?).unwrap_or_default();
                let part = value.len().min(rest.len());
                let (now, later) = rest.split_at_mut(part);
                now.copy_from_slice(value.get(..part).unwrap_or_default());
                rest = later;
                at = at.saturating_add(to_u64(part));
                skip = 0;
            }
        }
        Ok(())
    }
}

/// Gathers fields from records: the records, their stride, and the output buffer.
type Gather = fn(&[u8], usize, &mut [u8]);

/// Copies the first `WIDTH` bytes of every record, a length known at compile time.
fn gather<const WIDTH: usize>(records: &[u8], stride: usize, out: &mut [u8]) {
    let (fields, _) = out.as_chunks_mut::<WIDTH>();
    for (field, record) in fields.iter_mut().zip(records.chunks(stride)) {
        if let Some(value) = record.first_chunk() {
            *field = *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "takes an hour there")]
    fn columns_of_every_width_are_the_bytes_they_are_made_of() {
        let bytes: Vec<u8> = (0..=255).cycle().take(40_000).collect();
        let source = Source::memory(bytes.clone());
        for width in 1..=17_usize {
            for stride in [width, width + 1, width + 13] {
                let count = (bytes.len() - 3) / stride;
                let fields = (0..count).flat_map(|field| &bytes[3 + field * stride..][..width]);
                let wanted: Vec<u8> = fields.copied().collect();
                let column = Extent::from(Column {
                    first: 3,
                    width: to_u64(width),
                    stride: to_u64(stride),
                    count: to_u64(count),
                });
                for (start, len) in [(0, wanted.len()), (1, 777), (width, 5 * width + 1)] {
                    let mut found = vec![0; len];
                    column.read_at(&source, to_u64(start), &mut found).unwrap();
                    assert!(found == wanted[start..start + len], "{width} {stride}");
                }
            }
        }
    }

    #[test]
    fn a_strided_column_is_gathered_from_any_position() {
        let source = Source::memory((0..20).collect());
        let column = Extent::from(Column {
            first: 1,
            width: 2,
            stride: 5,
            count: 4,
        });
        assert_eq!(column.span(), Some(1..18));
        let mut buffer = [0; 5];
        column.read_at(&source, 1, &mut buffer).unwrap();
        assert_eq!(buffer, [2, 6, 7, 11, 12]);
        let mut all = Vec::new();
        column
            .for_each(&source, 3, &mut |piece| {
                all.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        assert_eq!(all, [1, 2, 6, 7, 11, 12, 16, 17]);
    }

    #[test]
    fn an_extent_that_overflows_has_no_span() {
        let column = Extent::from(Column {
            first: 8,
            width: 8,
            stride: 1 << 40,
            count: 1 << 40,
        });
        assert_eq!(column.span(), None);
    }
}
