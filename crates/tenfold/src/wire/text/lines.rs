//! Lines, one after the other: what stands before the numbers.
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
    /// Where it begins.
    pub(crate) at: u64,
    /// What it says, perhaps with its end.
    pub(crate) text: &'a [u8],
}

impl<'a> Line<'a> {
    /// Whether there is nothing on it.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim_ascii_start().is_empty()
    }

    /// What stands on it between spaces.
    pub(crate) fn fields(&self) -> Fields<'a> {
        Fields::new(self.at, self.text)
    }

    /// What it says, without its end.
    pub(crate) fn bare(&self) -> &'a [u8] {
        let text = self.text.strip_suffix(b"\n").unwrap_or(self.text);
        text.strip_suffix(b"\r").unwrap_or(text)
    }
}

/// Reads lines in order; together they may be as long as a header.
pub(crate) struct Lines<'a> {
    source: &'a Source,
    limits: &'a Limits,
    /// Where the next line begins.
    at: u64,
    buffer: Vec<u8>,
    /// Where the buffer begins.
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

    /// What the file may ask for.
    pub(crate) fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// Where the next line begins.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Goes back to a line that was read.
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

    /// The next line that says something; `None` at the end.
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

    /// Where the line that begins at `at` ends, if the buffer holds that.
    fn end_of(&self, at: u64) -> Option<u64> {
        let from = to_usize(at.checked_sub(self.buffer_at)?).ok()?;
        let rest = self.buffer.get(from..)?;
        let len = rest.iter().position(|byte| *byte == b'\n')?;
        Some(at.saturating_add(to_u64(len)).saturating_add(1))
    }
}

/// The number of the line that the byte `at` is in; the first is 1.
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

/// A file that says less than it has to.
pub(crate) fn cut(source: &Source, wanted: &str) -> Error {
    Error::malformed(source.len(), format!("the file ends before {wanted}"))
}
