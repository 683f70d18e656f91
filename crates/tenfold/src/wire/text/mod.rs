//! Text of numbers: lines of fields, parsed on several cores in pieces of whole lines.
//!
//! Memory is allocated for the bytes that exist, never for a count that a header declares. Cells go
//! to memory within the budget and to temporary files beyond.
#![deny(clippy::arithmetic_side_effects)]

mod comments;
mod fast;
mod field;
mod lines;

pub(crate) use comments::{CommentStyle, Comments, comment_text, write_comments};
pub(crate) use fast::Quick;
pub(crate) use field::{Field, Fields, field_at, write_float};
pub(crate) use lines::{Line, Lines, cut, line_number};

use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Source, Spool, Threads, ordered_pipeline};
use crate::limits::Limits;
use crate::memory;

/// Bytes of a file that one thread parses at a time.
const PIECE: u64 = 1 << 20;

/// Parsed cells: their positions and values, both as little-endian bytes.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// As many numbers of eight bytes per cell as the format needs.
    pub(crate) places: Vec<u8>,
    /// The values.
    pub(crate) values: Vec<u8>,
    /// The number of cells.
    pub(crate) count: u64,
    /// The largest number in each component of a position, if a format needs it.
    pub(crate) largest: Vec<u64>,
}

impl Cells {
    /// Adds a number to the position of the next cell.
    pub(crate) fn place(&mut self, number: u64) {
        self.places.extend_from_slice(&number.to_le_bytes());
    }

    fn clear(&mut self) {
        self.places.clear();
        self.values.clear();
        self.count = 0;
        self.largest.clear();
    }
}

/// A piece of text, of whole lines, and the cells parsed from it.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    at: u64,
    text: Vec<u8>,
    /// The cells.
    pub(crate) cells: Cells,
    /// The number of comment lines.
    comments: u64,
}

/// The beginning of the lines that are cells, and the marker of comments between them, if any are
/// allowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    pub(crate) from: u64,
    pub(crate) comment: Option<u8>,
}

impl Body {
    fn is_comment(self, line: &Line) -> bool {
        self.comment.is_some() && line.text.first().copied() == self.comment
    }
}

impl Piece {
    fn parse(
        &mut self,
        body: Body,
        parse: &impl Fn(&Line, &mut Cells) -> Result<()>,
    ) -> Result<()> {
        let Piece {
            at,
            text,
            cells,
            comments,
        } = self;
        let mut at = *at;
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |last| last.saturating_add(1));
            let (raw, later) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            rest = later;
            let line = Line { at, text: raw };
            at = at.saturating_add(to_u64(raw.len()));
            if body.is_comment(&line) {
                *comments = comments.saturating_add(1);
            } else if !line.is_blank() {
                // A number takes at least two bytes of a line, and produces at most sixteen of
                // each.
                let most = raw.len().saturating_add(1).saturating_mul(8);
                memory::reserve(&mut cells.places, most)?;
                memory::reserve(&mut cells.values, most)?;
                parse(&line, cells)?;
            }
        }
        Ok(())
    }

    /// The offset of the line of cell number `cell`.
    fn line_at(&self, body: Body, cell: u64) -> u64 {
        let mut at = self.at;
        let mut left = cell;
        for raw in self.text.split_inclusive(|byte| *byte == b'\n') {
            let line = Line { at, text: raw };
            if !line.is_blank() && !body.is_comment(&line) {
                match left.checked_sub(1) {
                    Some(fewer) => left = fewer,
                    None => return at,
                }
            }
            at = at.saturating_add(to_u64(raw.len()));
        }
        at
    }
}

/// Calls `parse` with every line of the body that is neither blank nor a comment, on several
/// threads, and `take` with the pieces in order.
pub(crate) fn parse_lines(
    source: &Source,
    body: Body,
    parse: impl Fn(&Line, &mut Cells) -> Result<()> + Sync,
    take: impl FnMut(&mut Piece) -> Result<()>,
) -> Result<()> {
    let mut at = body.from;
    let fill = |piece: &mut Piece| {
        let len = source.len().saturating_sub(at).min(PIECE);
        piece.cells.clear();
        piece.comments = 0;
        piece.at = at;
        memory::resize(&mut piece.text, to_usize(len)?)?;
        source.read_at(at, &mut piece.text)?;
        at = at.saturating_add(len);
        if at < source.len() {
            let last = piece.text.iter().rposition(|byte| *byte == b'\n');
            let Some(last) = last else {
                let why = format!("a line of more than {PIECE} bytes");
                return Err(Error::malformed(piece.at, why));
            };
            let whole = last.saturating_add(1);
            let rest = piece.text.len().saturating_sub(whole);
            at = at.saturating_sub(to_u64(rest));
            piece.text.truncate(whole);
        }
        Ok(!piece.text.is_empty())
    };
    let left = source.len().saturating_sub(body.from);
    let threads = Threads::Cores.for_len(usize::try_from(left).unwrap_or(usize::MAX));
    ordered_pipeline(threads, fill, |piece| piece.parse(body, &parse), take)
}

/// All cells of a text, spooled.
#[derive(Debug)]
pub(crate) struct Table {
    places: Spool,
    values: Spool,
    len: u64,
    count: u64,
    /// The number of comments between the cells.
    pub(crate) comments: u64,
    /// The largest number in each component of a position, if a format needs it.
    pub(crate) largest: Vec<u64>,
}

impl Table {
    /// A table that holds in memory what `limits` allow.
    pub(crate) fn within(limits: &Limits) -> Table {
        Table {
            places: Spool::of_text(limits),
            values: Spool::of_text(limits),
            len: 0,
            count: 0,
            comments: 0,
            largest: Vec::new(),
        }
    }

    /// Parses every line of the body that is a cell: exactly as many as are declared, if a number
    /// is.
    pub(crate) fn read(
        source: &Source,
        body: Body,
        announced: Option<u64>,
        limits: &Limits,
        parse: impl Fn(&Line, &mut Cells) -> Result<()> + Sync,
    ) -> Result<Table> {
        let mut table = Table::within(limits);
        parse_lines(source, body, parse, |piece: &mut Piece| {
            let room = announced.map_or(u64::MAX, |count| count.saturating_sub(table.count));
            if piece.cells.count > room {
                let count = announced.unwrap_or(0);
                let why = format!("more than the {count} entries that the sizes announce");
                return Err(Error::malformed(piece.line_at(body, room), why));
            }
            table.comments = table.comments.saturating_add(piece.comments);
            table.add(&piece.cells, limits)
        })?;
        match announced {
            Some(count) if table.count < count => {
                let why = format!("{count} entries announced, {} found", table.count);
                Err(Error::malformed(source.len(), why))
            }
            _ => Ok(table),
        }
    }

    /// The number of cells.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds cells.
    pub(crate) fn add(&mut self, cells: &Cells, limits: &Limits) -> Result<()> {
        let len = cells.places.len().saturating_add(cells.values.len());
        self.len = self.len.saturating_add(to_u64(len));
        limits.check_decoded("text would become numbers", self.len)?;
        self.count = self.count.saturating_add(cells.count);
        let parts = self.largest.len().max(cells.largest.len());
        self.largest.resize(parts, 0);
        for (most, own) in self.largest.iter_mut().zip(&cells.largest) {
            *most = (*most).max(*own);
        }
        self.places.write(&cells.places)?;
        self.values.write(&cells.values)
    }

    /// The positions and the values.
    pub(crate) fn finish(self) -> Result<(Bytes, Bytes)> {
        let places = Bytes::whole(self.places.finish_apart()?);
        Ok((places, Bytes::whole(self.values.finish_apart()?)))
    }
}

/// The same result, with the line number added to an error.
pub(crate) fn with_line<T>(source: &Source, outcome: Result<T>) -> Result<T> {
    outcome.map_err(|error| match error {
        Error::Malformed {
            format,
            at: Some(at),
            why,
            hint,
        } => Error::Malformed {
            format,
            at: Some(at),
            why: match line_number(source, at) {
                Ok(line) => format!("line {line}: {why}"),
                Err(_) => why, // what was wrong counts more than where
            },
            hint,
        },
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(text: String) -> Result<(u64, u64)> {
        let source = Source::memory(text.into_bytes());
        let parse = |line: &Line, cells: &mut Cells| {
            let mut fields = line.fields();
            let number = fields.need("a number")?.whole()?;
            fields.end()?;
            cells.values.extend_from_slice(&number.to_le_bytes());
            cells.count = cells.count.saturating_add(1);
            Ok(())
        };
        let body = Body {
            from: 0,
            comment: Some(b'#'),
        };
        let read = Table::read(&source, body, None, &Limits::default(), parse);
        let table = with_line(&source, read)?;
        let count = table.count;
        let (_, values) = table.finish()?;
        let values = values.to_vec()?;
        let sum = values
            .chunks(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
        Ok((count, sum.sum()))
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes an hour there")]
    fn lines_are_parsed_whole_wherever_a_piece_ends() {
        let text: String = (0..600_000).map(|n| format!("{n}\r\n\n")).collect();
        assert!(text.len() > 4 << 20);
        assert_eq!(sum(text).unwrap(), (600_000, 600_000 * 599_999 / 2));
        assert_eq!(sum("7\n \t\n# 9\n8".into()).unwrap(), (2, 15));
        assert_eq!(sum(String::new()).unwrap(), (0, 0));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes an hour there")]
    fn a_fault_says_its_line_and_its_byte() {
        let text: String = (0..600_000).map(|n| format!("{n}\n")).collect();
        let text = text.replace("\n555555\n", "\n55x555\n");
        let at = text.find('x').unwrap() - 2;
        let wanted = format!("line 555556: \"55x555\" is no whole number (byte {at})");
        assert_eq!(sum(text).unwrap_err().to_string(), wanted);
        let long = "1".repeat(2 << 20);
        let wanted = "line 1: a line of more than 1048576 bytes (byte 0)";
        assert_eq!(sum(long).unwrap_err().to_string(), wanted);
    }
}
