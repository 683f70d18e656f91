//! The header cursor: bounds-checked reading of untrusted bytes.
#![deny(clippy::arithmetic_side_effects)]

use std::fmt::Display;
use std::ops::Range;

use super::{Endian, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::limits::Limits;
use crate::memory;

/// Reads fields from a source in order. No method panics, and every error has its byte offset.
pub(crate) struct Scan<'a> {
    source: &'a Source,
    format: &'static str,
    at: u64,
    end: u64,
    window: Vec<u8>,
    window_at: u64,
}

/// Bytes read at once after a seek; sequential reading increases it.
const SMALL: u64 = 4 << 10;
const LARGE: u64 = 64 << 10;

/// Error text for a file that ends within its values.
pub(crate) fn truncated(wanted: impl Display, found: impl Display) -> String {
    format!("truncated: {wanted} bytes of values expected, {found} found")
}

impl<'a> Scan<'a> {
    /// Starts at the first byte of `source`; `format` is named in errors.
    pub(crate) fn new(source: &'a Source, format: &'static str) -> Self {
        Scan::part(source, format, 0..source.len())
    }

    /// Starts at `range.start` and sees nothing beyond `range.end`.
    pub(crate) fn part(source: &'a Source, format: &'static str, range: Range<u64>) -> Self {
        let end = range.end.min(source.len());
        Scan {
            source,
            format,
            at: range.start,
            end,
            window: Vec::new(),
            window_at: range.start,
        }
    }

    /// The offset of the next byte.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }

    /// An error at the next byte.
    pub(crate) fn fail<T>(&self, why: impl Into<String>) -> Result<T> {
        self.fail_at(self.at, why)
    }

    /// An error at `at`.
    pub(crate) fn fail_at<T>(&self, at: u64, why: impl Into<String>) -> Result<T> {
        let error = Error::malformed(at, why);
        Err(if self.format.is_empty() {
            error
        } else {
            error.of(self.format)
        })
    }

    /// A capacity for `count` items of at least `min` bytes each: never more than the remaining
    /// bytes could hold.
    pub(crate) fn room(&self, count: u64, min: u64) -> usize {
        let possible = self.left().checked_div(min.max(1)).unwrap_or(0);
        to_usize(count.min(possible)).unwrap_or(0)
    }

    fn need(&self, len: u64) -> Result<()> {
        if len <= self.left() {
            return Ok(());
        }
        self.fail(format!("{len} more bytes expected, {} left", self.left()))
    }

    /// Skips the bytes of values, and returns their range.
    pub(crate) fn values(&mut self, len: u64) -> Result<Range<u64>> {
        if len > self.left() {
            return self.fail(truncated(len, self.left()));
        }
        let from = self.at;
        self.skip(len)?;
        Ok(from..self.at)
    }

    /// Skips `len` bytes.
    pub(crate) fn skip(&mut self, len: u64) -> Result<()> {
        self.need(len)?;
        self.at = self.at.saturating_add(len);
        Ok(())
    }

    /// Continues at `at`, which must not be beyond the end.
    pub(crate) fn seek(&mut self, at: u64) -> Result<()> {
        if at > self.end {
            return self.fail(format!("byte {at} expected, the end is at {}", self.end));
        }
        self.at = at;
        Ok(())
    }

    /// The part of the window that begins at the next byte.
    fn ahead(&self) -> &[u8] {
        let skip = self
            .at
            .checked_sub(self.window_at)
            .and_then(|skip| to_usize(skip).ok());
        skip.and_then(|skip| self.window.get(skip..))
            .unwrap_or_default()
    }

    /// Ensures that the window holds the next `len` bytes, where `len` is small.
    fn refill(&mut self, len: u64) -> Result<()> {
        if to_u64(self.ahead().len()) >= len {
            return Ok(());
        }
        let window_end = self.window_at.saturating_add(to_u64(self.window.len()));
        let goes_on = !self.window.is_empty() && self.at <= window_end;
        let size = if goes_on { LARGE } else { SMALL }
            .max(len)
            .min(self.left());
        memory::resize(&mut self.window, to_usize(size)?)?;
        self.window_at = self.at;
        let read = self.source.read_at(self.at, &mut self.window);
        if read.is_err() {
            self.window.clear();
        }
        read.map_err(|error| {
            if self.format.is_empty() {
                error
            } else {
                error.of(self.format)
            }
        })
    }

    /// Fills `buffer` with the next bytes.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Result<()> {
        let len = to_u64(buffer.len());
        self.need(len)?;
        if len > LARGE {
            self.source.read_at(self.at, buffer)?;
        } else {
            self.refill(len)?;
            for (to, from) in buffer.iter_mut().zip(self.ahead()) {
                *to = *from;
            }
        }
        self.skip(len)
    }

    /// Replaces the content of `bytes` by the next `len` bytes.
    pub(crate) fn take_into(&mut self, len: u64, bytes: &mut Vec<u8>) -> Result<()> {
        self.need(len)?;
        bytes.clear();
        memory::resize(bytes, to_usize(len)?)?;
        self.fill(bytes)
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.take_into(len, &mut bytes)?;
        Ok(bytes)
    }

    /// The next `len` bytes, to stay in memory: many of them count against the limits.
    pub(crate) fn keep(&mut self, len: u64, limits: &Limits) -> Result<Vec<u8>> {
        self.need(len)?;
        limits.charge_text(to_usize(len)?)?;
        self.take(len)
    }

    /// Hands out the next `len` bytes in pieces of at most `budget`.
    pub(crate) fn pieces(
        &mut self,
        len: u64,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut piece = Vec::new();
        let mut left = len;
        while left > 0 {
            let part = left.min(to_u64(budget.max(1)));
            self.take_into(part, &mut piece)?;
            each(&piece)?;
            left = left.saturating_sub(part);
        }
        Ok(())
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// The next byte, without consuming it.
    pub(crate) fn peek(&mut self) -> Result<u8> {
        let at = self.at;
        let byte = self.u8();
        self.at = at;
        byte
    }

    /// Skips bytes while `accept` holds.
    pub(crate) fn pass(&mut self, accept: impl Fn(u8) -> bool) -> Result<()> {
        while self.left() > 0 {
            self.refill(1)?;
            let ahead = self.ahead();
            let len = ahead.iter().take_while(|byte| accept(**byte)).count();
            let is_all = len == ahead.len();
            self.skip(to_u64(len))?;
            if !is_all {
                break;
            }
        }
        Ok(())
    }

    /// Appends bytes to `out` while `accept` holds, as many as are buffered: at least one, if the
    /// next byte is accepted.
    pub(crate) fn run(&mut self, accept: impl Fn(u8) -> bool, out: &mut Vec<u8>) -> Result<()> {
        if self.left() == 0 {
            return Ok(());
        }
        self.refill(1)?;
        let ahead = self.ahead();
        let len = ahead.iter().take_while(|byte| accept(**byte)).count();
        out.extend_from_slice(ahead.get(..len).unwrap_or_default());
        self.skip(to_u64(len))
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self, endian: Endian) -> Result<u32> {
        let bytes = self.array()?;
        Ok(match endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    pub(crate) fn u64(&mut self, endian: Endian) -> Result<u64> {
        let bytes = self.array()?;
        Ok(match endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        })
    }

    /// Fails unless every byte has been read.
    pub(crate) fn end(&self) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            left => self.fail(format!("bytes left over after the end of the data: {left}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_there_are_not_made_room_for() {
        let source = Source::memory(vec![0; 8]);
        let mut scan = Scan::new(&source, "test");
        assert!(scan.take(1 << 62).is_err());
        assert_eq!(scan.at(), 0);
    }

    #[test]
    fn fields_are_read_in_order_and_a_failure_knows_its_byte() {
        let source = Source::memory(vec![1, 0, 0, 0, 2, 0, 0, 0, 9]);
        let mut scan = Scan::new(&source, "test");
        assert_eq!(scan.u32(Endian::Little).unwrap(), 1);
        assert_eq!(scan.u32(Endian::Big).unwrap(), 0x0200_0000);
        let error = scan.u64(Endian::Little).unwrap_err();
        assert_eq!(
            error.to_string(),
            "not a valid test file: 8 more bytes expected, 1 left (byte 8)"
        );
        assert_eq!(scan.u8().unwrap(), 9);
        assert!(scan.end().is_ok());
    }

    #[test]
    fn room_never_exceeds_what_the_bytes_could_hold() {
        let source = Source::memory(vec![0; 64]);
        let scan = Scan::new(&source, "test");
        assert_eq!(scan.room(u64::MAX, 8), 8);
        assert_eq!(scan.room(3, 8), 3);
    }

    #[test]
    fn long_and_short_reads_mix_across_windows() {
        let bytes: Vec<u8> = (0..200_000_u32)
            .map(|n| u8::try_from(n % 251).unwrap())
            .collect();
        let source = Source::memory(bytes.clone());
        let mut scan = Scan::new(&source, "test");
        let mut seen = Vec::new();
        for len in [1, 5000, 3, 70_000, 7, 65_536, 1, 50_000] {
            seen.extend(scan.take(len).unwrap());
        }
        assert_eq!(seen, bytes[..seen.len()]);
    }
}
