//! Files of elements, as doubles or as text.
#![deny(clippy::arithmetic_side_effects)]

use super::NAME;
use super::describe::{Described, Elements};
use crate::bytes::{Bytes, Endian, to_u64, truncated};
use crate::dtype::{Arity, Number, Numbers};
use crate::error::{Error, Result};
use crate::io::{Head, Lookup, Missing, Sibling, Source};
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::wire::text::{Body, Cells, Field, Line, Piece, Table, field_at, parse_lines, with_line};

/// The placeholder for elements that dry runs write.
const DRY_RUN: &[u8] = b"# dry-run";
/// The signature of a TENS file, and the length of its header without dimensions and per dimension.
const TENS: &[u8] = b"TENS";
const TENS_HEADER: u64 = 32;
const TENS_DIM: u64 = 8;

/// The result of looking for a file of elements.
pub(super) enum Found {
    File { name: String, file: Source },
    Missing(Missing),
}

/// Looks for the elements of a tensor, `len` bytes long, next to its yaml.
pub(super) fn find(source: &Source, described: &Described, len: u64) -> Result<Found> {
    let which = match &described.file {
        Elements::Ending(ending) => Sibling::Ending(ending),
        Elements::Called(name) => Sibling::Called(name),
    };
    let name = source.name_beside(which);
    match source.beside(which, NAME)? {
        // A file without elements may be missing.
        Lookup::Missing(_) if len == 0 && described.condition.is_none() => Ok(Found::File {
            name,
            file: Source::memory(Vec::new()),
        }),
        Lookup::Missing(absent) => Ok(Found::Missing(absent)),
        Lookup::Found(file) => Ok(Found::File { name, file }),
    }
}

impl Found {
    /// Upper bound of the number of elements, from the length of the file.
    pub(super) fn most_elements(&self, described: &Described) -> u64 {
        let Found::File { file, .. } = self else {
            return 0;
        };
        if described.is_binary {
            let width = to_u64(described.dtype.width());
            file.len().checked_div(width).unwrap_or(0)
        } else {
            // At least a digit each, with a space in between.
            file.len().saturating_add(1) / 2
        }
    }

    /// The first `len` bytes of elements.
    pub(super) fn values(
        self,
        len: u64,
        described: &Described,
        limits: &Limits,
        notes: &mut Vec<Note>,
    ) -> Result<Numbers> {
        let bytes = match self {
            Found::Missing(absent) => Bytes::whole(Source::absent(len, absent)),
            Found::File { name, file } => {
                let in_part = |error: Error| error.in_part(&name);
                let read = if described.is_binary {
                    binary(&file, len, described, &name, notes)
                } else {
                    text(&file, len, described, &name, limits, notes)
                };
                read.map_err(in_part)?
            }
        };
        Ok(Numbers {
            number: Number::F64,
            endian: Endian::Little,
            bytes,
        })
    }
}

fn begins_with(file: &Source, start: &[u8]) -> Result<bool> {
    Ok(Head::of(file)?.bytes().starts_with(start))
}

fn check_dry_run(file: &Source) -> Result<()> {
    if !begins_with(file, DRY_RUN)? {
        Ok(())
    } else {
        Err(Error::malformed(
            0,
            "a dry run of cc4s left its mark here, and no elements",
        ))
    }
}

fn surplus(name: &str, at: u64, end: u64) -> Note {
    let more = end.saturating_sub(at);
    let text = format!("{name}: {more} bytes after the last element are passed over");
    Note::new(NoteKind::UnreadBytes, text).len(more)
}

fn binary(
    file: &Source,
    len: u64,
    described: &Described,
    name: &str,
    notes: &mut Vec<Note>,
) -> Result<Bytes> {
    if file.len() == len {
        return Bytes::run(file, 0..len);
    }
    check_dry_run(file)?;
    let dims = to_u64(described.dims.len());
    let header = dims.saturating_mul(TENS_DIM).saturating_add(TENS_HEADER);
    if file.len() == len.saturating_add(header) && begins_with(file, TENS)? {
        let text = format!("{name}: a whole TENS file, whose header is passed over");
        notes.push(Note::new(NoteKind::Repaired, text));
        return Bytes::run(file, header..file.len());
    }
    if file.len() < len {
        let found = file.len();
        return Err(Error::malformed(found, truncated(len, found)));
    }
    notes.push(surplus(name, len, file.len()));
    Bytes::run(file, 0..len)
}

fn text(
    file: &Source,
    len: u64,
    described: &Described,
    name: &str,
    limits: &Limits,
    notes: &mut Vec<Note>,
) -> Result<Bytes> {
    check_dry_run(file)?;
    let (arity, width) = (described.dtype.arity, to_u64(described.dtype.width()));
    let wanted = len.checked_div(width).unwrap_or(0);
    let mut table = Table::within(limits);
    let mut is_over = false;
    let parse = |line: &Line, cells: &mut Cells| {
        parse_elements(line, arity, cells);
        Ok(())
    };
    let take = |piece: &mut Piece| {
        let room = wanted.saturating_sub(table.count());
        let fault = piece
            .cells
            .places
            .first_chunk()
            .map(|at| u64::from_le_bytes(*at));
        piece.cells.places.clear();
        if piece.cells.count > room {
            piece.cells.count = room;
            let keep = usize::try_from(room.saturating_mul(width)).unwrap_or(usize::MAX);
            piece.cells.values.truncate(keep);
            is_over = true;
        }
        table.add(&piece.cells, limits)?;
        match fault {
            // Anything after the last element is ignored.
            Some(_) if table.count() >= wanted => {
                is_over = true;
                Ok(())
            }
            Some(at) => Err(fault_at(file, at, arity)),
            None => Ok(()),
        }
    };
    let body = Body {
        from: 0,
        comment: None,
    };
    with_line(file, parse_lines(file, body, parse, take))?;
    if table.count() < wanted {
        let why = format!("{} elements, {wanted} are needed", table.count());
        return Err(Error::malformed(file.len(), why));
    }
    if is_over {
        let text = format!("{name}: what comes after the last element is passed over");
        notes.push(Note::new(NoteKind::UnreadBytes, text));
    }
    Ok(table.finish()?.1)
}

/// Adds the elements of a line up to the first field that is none, whose position is recorded.
fn parse_elements(line: &Line, arity: Arity, cells: &mut Cells) {
    if !cells.places.is_empty() {
        return;
    }
    for field in line.fields() {
        match element(&field, arity, &mut cells.values) {
            Ok(()) => cells.count = cells.count.saturating_add(1),
            Err(_) => return cells.place(field.at),
        }
    }
}

fn fault_at(file: &Source, at: u64, arity: Arity) -> Error {
    let mut text = Vec::new();
    match field_at(file, at, &mut text).and_then(|field| element(&field, arity, &mut Vec::new())) {
        Err(error) => error.unquoted(),
        Ok(()) => Error::malformed(at, "no element"),
    }
}

/// Appends the element in a field: `re`, and for complex ones also `(re)` and `(re,im)`.
fn element(field: &Field, arity: Arity, out: &mut Vec<u8>) -> Result<()> {
    if arity != Arity::Complex {
        out.extend_from_slice(&field.float()?.to_le_bytes());
        return Ok(());
    }
    let inside = field
        .text
        .strip_prefix(b"(")
        .and_then(|rest| rest.strip_suffix(b")"));
    let Some(inside) = inside else {
        out.extend_from_slice(&field.float()?.to_le_bytes());
        out.extend_from_slice(&0_f64.to_le_bytes());
        return Ok(());
    };
    let part = |text| Field { at: field.at, text };
    // No number contains a comma.
    let comma = inside.iter().position(|byte| *byte == b',');
    let (real, imaginary) = match comma.and_then(|at| inside.split_at_checked(at)) {
        Some((real, rest)) => (
            part(real).float()?,
            part(rest.get(1..).unwrap_or_default()).float()?,
        ),
        None => (part(inside).float()?, 0.0),
    };
    out.extend_from_slice(&real.to_le_bytes());
    out.extend_from_slice(&imaginary.to_le_bytes());
    Ok(())
}
