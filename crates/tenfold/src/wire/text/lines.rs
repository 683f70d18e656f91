//! Lines before the numbers, read in order.
#![deny(clippy::arithmetic_side_effects)]

use super::Fields;
use crate::bytes::{PIECE, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::limits::Limits;
use crate::memory;

/// A line of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Its offset.
    pub(crate) at: u64,
    /// Its text, possibly with the line end.
    pub(crate) text: &'a [u8],
}

impl<'a> Line<'a> {
    /// Whether the line is blank.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim_ascii_start().is_empty()
    }

    /// Its fields, separated by spaces.
    pub(crate) fn fields(&self) -> Fields<'a> {
        Fields::new(self.at, self.text)
    }

    /// Its text without the line end.
    pub(crate) fn bare(&self) -> &'a [u8] {
        let text = self.text.strip_suffix(b"\n").unwrap_or(self.text);
        text.strip_suffix(b"\r").unwrap_or(text)
    }
}

/// Reads lines in order; their total length is limited as that of a header.
pub(crate) struct Lines<'a> {
    source: &'a Source,
    limits: &'a Limits,
    /// Offset of the next line.
    at: u64,
    buffer: Vec<u8>,
    /// Offset of the buffer.
    buffer_at: u64,
}

impl<'a> Lines<'a> {
    /// Starts with the first line of a source.
    pub(crate) fn new(source: &'a Source, limits: &'a Limits) -> Lines<'a> {
        Lines {
            source,
            limits,
            at: 0,
            buffer: Vec::new(),
            buffer_at: 0,
        }
    }

    /// The limits on the file.
    pub(crate) fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// Offset of the next line.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Returns to a line that was read.
    pub(crate) fn back_to(&mut self, at: u64) {
        self.at = at;
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>> {
        if self.at >= self.source.len() {
            return Ok(None);
        }
        let at = self.at;
        let mut wanted = to_u64(PIECE);
        while self.end_of(at).is_none() {
            let left = self.source.len().saturating_sub(at);
            let len = wanted.min(left);
            if len > to_u64(PIECE) {
                self.limits.check_header(len)?;
                self.limits.charge(len)?;
            }
            memory::resize(&mut self.buffer, to_usize(len)?)?;
            self.source.read_at(at, &mut self.buffer)?;
            self.buffer_at = at;
            if len == left && !self.buffer.contains(&b'\n') {
                break;
            }
            wanted = wanted.saturating_mul(2);
        }
        let end = self.end_of(at).unwrap_or_else(|| self.source.len());
        self.limits.check_header(end)?;
        let from = to_usize(at.saturating_sub(self.buffer_at))?;
        let to = to_usize(end.saturating_sub(self.buffer_at))?;
        self.at = end;
        let text = self.buffer.get(from..to).unwrap_or_default();
        Ok(Some(Line { at, text }))
    }

    /// The next line that is not blank; `None` at the end.
    pub(crate) fn next_full(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            let at = self.at;
            match self.next()? {
                None => return Ok(None),
                Some(line) if line.is_blank() => {}
                Some(_) => {
                    self.at = at;
                    return self.next();
                }
            }
        }
    }

    /// The end of the line at `at`, if the buffer has it.
    fn end_of(&self, at: u64) -> Option<u64> {
        let from = to_usize(at.checked_sub(self.buffer_at)?).ok()?;
        let rest = self.buffer.get(from..)?;
        let len = rest.iter().position(|byte| *byte == b'\n')?;
        Some(at.saturating_add(to_u64(len)).saturating_add(1))
    }
}

/// The number of the line that contains byte `at`; the first is 1.
pub(crate) fn line_number(source: &Source, at: u64) -> Result<u64> {
    let mut buffer = memory::zeros(PIECE)?;
    let (mut from, mut line) = (0_u64, 1_u64);
    let end = at.min(source.len());
    while from < end {
        let len = to_usize(end.saturating_sub(from))?.min(PIECE);
        let piece = buffer.get_mut(..len).unwrap_or_default();
        source.read_at(from, piece)?;
        let ends = piece.iter().filter(|byte| **byte == b'\n').count();
        line = line.saturating_add(to_u64(ends));
        from = from.saturating_add(to_u64(len));
    }
    Ok(line)
}

/// The error of a truncated file.
pub(crate) fn cut(source: &Source, wanted: &str) -> Error {
    Error::malformed(source.len(), format!("the file ends before {wanted}"))
}
