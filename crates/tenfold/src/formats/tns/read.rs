//! Reads FROSTT's files, in file order.
#![deny(clippy::arithmetic_side_effects)]

use super::header::{Extended, Said};
use super::{COMMENTS, HEADER, NAME};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, PIECE, to_u64, to_usize};
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::io::{Compute, Head, Source};
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::tensor::{Address, Dim, Order, Storage, Tensor, product, strides};
use crate::wire::text::{Body, Cells, Comments, Line, Lines, Quick, Table, cut, with_line};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    with_line(source, read_text(source, &how.limits))
}

fn read_text(source: &Source, limits: &Limits) -> Result<Bundle> {
    let mut lines = Lines::new(source, limits);
    let mut said = Said::default();
    let comments = Comments::read(&mut lines, COMMENTS, |line, text| {
        said.hear(line, text, limits)
    })?;
    let extended = Extended::find(&mut lines, said.extended, source, limits)?;
    let is_extended = extended.is_some();
    let (sizes, announced) = match extended {
        Some(Extended { sizes, count }) => (Some(sizes), Some(count)),
        None => (said.sizes, None),
    };
    let body = Body {
        from: lines.at(),
        comment: COMMENTS.mark.bytes().next(),
    };
    let entries = match sizes {
        Some(sizes) => Entries::of_sizes(sizes)?,
        None => Entries::of_first(&mut lines, source, limits)?,
    };
    let parse = |line: &Line, cells: &mut Cells| entries.parse(line, cells);
    let table = Table::read(source, body, announced, limits, parse)?;
    let n_comments = table.comments;
    let mut bundle = Bundle::of(entries.finish(table, limits)?);
    comments.keep(COMMENTS, &mut bundle.meta, &mut bundle.hints);
    if is_extended {
        bundle.hints.set(HEADER, "extended");
    }
    if n_comments > 0 {
        let text = format!("comments between the entries are left out: {n_comments}");
        bundle.note(Note::new(NoteKind::IgnoredField, text));
    }
    Ok(bundle)
}

/// The parser of entries.
enum Entries {
    /// The sizes are known, with the strides of each dimension.
    Sized { sizes: Vec<u64>, strides: Vec<u64> },
    /// The sizes follow from the largest indices.
    Open { rank: usize },
}

impl Entries {
    fn of_sizes(sizes: Vec<u64>) -> Result<Entries> {
        if product(&sizes).is_none_or(|cells| cells > u64::MAX.into()) {
            let shape: Vec<String> = sizes.iter().map(u64::to_string).collect();
            return Err(Error::Unsupported {
                format: NAME,
                what: format!("a tensor of {}, 2^64 cells or more,", shape.join(" × ")),
            });
        }
        let strides = strides(&sizes, Order::Row);
        Ok(Entries::Sized { sizes, strides })
    }

    /// Determines the number of dimensions from the first entry.
    fn of_first(lines: &mut Lines, source: &Source, limits: &Limits) -> Result<Entries> {
        let first = lines.next_full()?;
        let first =
            first.ok_or_else(|| cut(source, "the first entry, and no comment says the sizes"))?;
        let mut fields = first.fields();
        fields.need("an index")?;
        let rank = fields.count();
        limits.check_ndim(to_u64(rank))?;
        match rank {
            0 => Err(Error::malformed(first.at, "a value without an index")),
            _ => Ok(Entries::Open { rank }),
        }
    }

    fn parse(&self, line: &Line, cells: &mut Cells) -> Result<()> {
        let len = cells.places.len();
        match self.parse_quickly(line, cells) {
            Some(()) => Ok(()),
            None => {
                cells.places.truncate(len);
                self.parse_fields(line, cells)
            }
        }
    }

    /// A plain entry; some indices of another kind of entry may have been consumed.
    fn parse_quickly(&self, line: &Line, cells: &mut Cells) -> Option<()> {
        let mut quick = Quick::new(line.text);
        match self {
            Entries::Sized { sizes, strides } => {
                let mut place = 0_u64;
                for (size, stride) in sizes.iter().zip(strides) {
                    let index = quick.whole()?.checked_sub(1)?;
                    if index >= *size {
                        return None;
                    }
                    // Not more than there are cells.
                    place = place.saturating_add(index.saturating_mul(*stride));
                }
                cells.place(place);
            }
            Entries::Open { rank } => {
                cells.largest.resize(*rank, 0);
                for _ in 0..*rank {
                    cells.place(quick.whole()?.checked_sub(1)?);
                }
            }
        }
        let value = quick.float()?;
        if !quick.is_over() {
            return None;
        }
        if let Entries::Open { rank } = self {
            let from = cells.places.len().saturating_sub(rank.saturating_mul(8));
            let places = cells.places.get(from..)?.as_chunks().0;
            for (most, place) in cells.largest.iter_mut().zip(places) {
                *most = u64::from_le_bytes(*place).saturating_add(1).max(*most);
            }
        }
        cells.values.extend_from_slice(&value.to_le_bytes());
        cells.count = cells.count.saturating_add(1);
        Some(())
    }

    fn parse_fields(&self, line: &Line, cells: &mut Cells) -> Result<()> {
        let mut fields = line.fields();
        match self {
            Entries::Sized { sizes, strides } => {
                let mut place = 0_u64;
                for (size, stride) in sizes.iter().zip(strides) {
                    let index = fields.need("an index")?.index("index", *size)?;
                    // Not more than there are cells.
                    place = place.saturating_add(index.saturating_mul(*stride));
                }
                cells.place(place);
            }
            Entries::Open { rank } => {
                let Cells {
                    places, largest, ..
                } = cells;
                largest.resize(*rank, 0);
                for most in largest {
                    let field = fields.need("an index")?;
                    let number = field.whole()?;
                    let Some(index) = number.checked_sub(1) else {
                        return Err(field.wrong("is no index: they count from 1"));
                    };
                    *most = number.max(*most);
                    places.extend_from_slice(&index.to_le_bytes());
                }
            }
        }
        let value = fields.need("a value")?.float()?;
        cells.values.extend_from_slice(&value.to_le_bytes());
        cells.count = cells.count.saturating_add(1);
        fields.end()
    }

    fn finish(self, table: Table, limits: &Limits) -> Result<Tensor> {
        let largest = table.largest.clone();
        let (places, values) = table.finish()?;
        let (sizes, places) = match self {
            Entries::Sized { sizes, .. } => (sizes, places),
            Entries::Open { .. } => match Entries::of_sizes(largest)? {
                Entries::Sized { sizes, strides } => {
                    let indices = places;
                    let positions = Source::computed(Positions { indices, strides });
                    (sizes, Bytes::whole(positions.out_of_text()))
                }
                Entries::Open { .. } => return Err(Error::invalid("sizes are not known")),
            },
        };
        let numbers = |number, bytes| Numbers {
            number,
            endian: Endian::Little,
            bytes,
        };
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Linear(numbers(Number::U64, places)),
            values: numbers(Number::F64, values),
        };
        let dims = sizes.into_iter().map(Dim::indexed).collect();
        Tensor::within(dims, DType::real(Number::F64), vec![], storage, limits)
    }
}

/// The linear positions of cells, computed from their indices.
struct Positions {
    indices: Bytes,
    strides: Vec<u64>,
}

impl Positions {
    /// Length of a cell's indices in bytes.
    fn width(&self) -> u64 {
        to_u64(self.strides.len()).saturating_mul(8)
    }
}

impl Compute for Positions {
    fn len(&self) -> u64 {
        let count = self.indices.len().checked_div(self.width());
        count.unwrap_or(0).saturating_mul(8)
    }

    fn depth(&self) -> u32 {
        self.indices.source().depth()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let (width, end) = (self.width(), at.saturating_add(to_u64(buffer.len())));
        let per_batch = to_u64(PIECE).checked_div(width).unwrap_or(0).max(1);
        let mut skip = to_usize(at % 8)?;
        let (mut cell, mut rest, mut indices) = (at / 8, buffer, Vec::new());
        while !rest.is_empty() {
            let count = per_batch.min(end.div_ceil(8).saturating_sub(cell));
            indices.resize(to_usize(count.saturating_mul(width))?, 0);
            self.indices
                .read_at(cell.saturating_mul(width), &mut indices)?;
            for indices in indices.chunks_exact(to_usize(width)?) {
                let indices = indices.as_chunks::<8>().0.iter();
                let indices = indices.copied().map(u64::from_le_bytes);
                // Not more than there are cells.
                let position = indices
                    .zip(&self.strides)
                    .fold(0_u64, |sum, (index, stride)| {
                        sum.saturating_add(index.saturating_mul(*stride))
                    });
                let position = position.to_le_bytes();
                let position = position.get(skip..).unwrap_or_default();
                skip = 0;
                let len = position.len().min(rest.len());
                let (now, later) = rest.split_at_mut(len);
                now.copy_from_slice(position.get(..len).unwrap_or_default());
                rest = later;
            }
            cell = cell.saturating_add(count);
        }
        Ok(())
    }
}

/// Whether a file begins like this format: comments, then integers and one number per line.
pub(super) fn is_likely(head: &Head) -> bool {
    /// Number of lines examined.
    const LINES: usize = 3;
    let mut lines: Vec<&[u8]> = head.bytes().split(|byte| *byte == b'\n').collect();
    if !head.is_whole() {
        lines.pop();
    }
    let says = |line: &&&[u8]| !line.trim_ascii().is_empty() && line.first() != Some(&b'#');
    let mut entries = lines.iter().filter(says).take(LINES).peekable();
    entries.peek().is_some()
        && entries.all(|text| {
            let fields: Vec<_> = Line { at: 0, text }.fields().collect();
            match fields.split_last() {
                None | Some((_, [])) => false,
                Some((value, places)) => {
                    let is_index = |number: u64| number > 0;
                    value.float().is_ok()
                        && places.iter().all(|place| place.whole().is_ok_and(is_index))
                }
            }
        })
}
