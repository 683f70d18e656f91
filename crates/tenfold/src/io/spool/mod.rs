//! Temporary storage: in memory while small, in a nameless file beyond.

pub(super) mod deferred;
pub(super) mod parallel_fill;
pub(super) mod pool;
pub(super) mod scratch;

use std::fs::File;
use std::io::Read;

use super::sink::AT_ONCE;
use super::{Putting, Source, platform};
use crate::bytes::{PIECE, to_u64};
use crate::error::Result;
use crate::limits::{Limits, Meter};
use crate::memory;
use scratch::Scratch;

/// Pieces of at least this length are written directly, with a system call of their own.
const WORTH_IT: usize = PIECE / 8;

/// Collects bytes that arrive in order, so that they can be read at any position later.
#[derive(Debug)]
pub struct Spool {
    memory: Vec<u8>,
    file: Option<Scratch>,
    threshold: usize,
    /// Whether there may be one spool per tensor.
    is_one_of_many: bool,
    /// The expected length, as far as it is known.
    expected: u64,
    /// The length of the file so far.
    written: u64,
    /// The limit on the bytes of all temporary files, if one is set.
    temp: u64,
    /// Counts the space taken by the numbers of a text.
    text: Option<Meter>,
    /// Handling of bytes that do not fit in memory.
    putting: Putting,
}

impl Spool {
    /// A spool with a small share of a common memory budget, as there may be one per tensor.
    #[must_use]
    pub fn new() -> Self {
        Spool {
            memory: Vec::new(),
            file: None,
            threshold: 4 << 20,
            is_one_of_many: true,
            expected: 0,
            written: 0,
            temp: u64::MAX,
            text: None,
            putting: Putting::Aside,
        }
    }

    /// The same spool for a known final length, see [`Scratch::of_len`].
    pub(crate) fn expecting(self, len: u64) -> Self {
        Spool {
            expected: len,
            ..self
        }
    }

    /// A spool that holds a quarter of the memory that `limits` allow.
    #[must_use]
    pub fn within(limits: &Limits) -> Self {
        Spool {
            threshold: usize::try_from(limits.memory / 4).unwrap_or(usize::MAX),
            is_one_of_many: false,
            temp: limits.temp,
            putting: Putting::of(limits),
            ..Spool::new()
        }
    }

    /// A spool for the numbers of a text, as [`Spool::within`]; on disk, all of them together are
    /// limited to a multiple of the text's length, unless a limit is set.
    pub(crate) fn of_text(limits: &Limits) -> Self {
        Spool::within(limits).bounded(limits)
    }

    /// The same spool for a text that is read with `limits`.
    pub(crate) fn bounded(self, limits: &Limits) -> Self {
        let most = usize::try_from(limits.memory / 4).unwrap_or(usize::MAX);
        Spool {
            threshold: self.threshold.min(most),
            temp: limits.temp,
            putting: Putting::of(limits),
            text: (limits.temp == u64::MAX).then(|| limits.meter()),
            ..self
        }
    }

    /// Whether bytes that do not fit in memory are only counted, and read again on demand.
    pub(crate) fn is_counting(&self) -> bool {
        self.putting.is_counting()
    }

    /// Whether that has happened to the bytes so far.
    pub(crate) fn is_counted(&self) -> bool {
        self.is_counting() && self.is_spilled()
    }

    /// Reads a stream to its end, which makes a pipe readable by position.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the stream or the temporary file fails.
    pub fn read_from(reader: &mut dyn Read, limits: &Limits) -> Result<Source> {
        let mut spool = Spool::within(limits);
        let mut buffer = memory::zeros(PIECE)?;
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return spool.finish(),
                Ok(len) => spool.write(buffer.get(..len).unwrap_or_default())?,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the temporary file fails.
    pub fn write(&mut self, piece: &[u8]) -> Result<()> {
        let goes_to_file = self.is_spilled() || self.expected > to_u64(self.threshold);
        if goes_to_file && piece.len() >= WORTH_IT {
            self.flush()?;
            return self.put_down(piece);
        }
        memory::append(&mut self.memory, piece)?;
        let most = if goes_to_file {
            self.threshold.min(PIECE)
        } else {
            self.threshold
        };
        if self.memory.len() > most {
            self.flush()?;
        }
        Ok(())
    }

    /// Whether the bytes so far are no longer in memory alone.
    fn is_spilled(&self) -> bool {
        self.file.is_some() || self.written > 0
    }

    fn flush(&mut self) -> Result<()> {
        if self.memory.is_empty() && self.is_spilled() {
            return Ok(());
        }
        let mut memory = std::mem::take(&mut self.memory);
        self.put_down(&memory)?;
        // A small buffer suffices from now on.
        if memory.capacity() <= PIECE.saturating_mul(4) {
            memory.clear();
            self.memory = memory;
        }
        Ok(())
    }

    /// Appends bytes to the file.
    fn put_down(&mut self, piece: &[u8]) -> Result<()> {
        let end = self.written.saturating_add(to_u64(piece.len()));
        if self.putting.is_counting() {
            self.written = end;
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let scratch = Scratch::new(self.temp)?;
                scratch.prepare(self.expected)?;
                none.insert(scratch)
            }
        };
        if let Some(text) = &self.text {
            text.charge_temp(to_u64(piece.len()))?;
        }
        file.grow(end)?;
        append_at(file, piece, self.written)?;
        self.written = end;
        Ok(())
    }

    /// Returns the collected bytes as a source.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the temporary file fails.
    pub fn finish(mut self) -> Result<Source> {
        if self.is_spilled() {
            self.flush()?;
        }
        if self.is_counted() {
            return self.putting.pass(None, self.written, true);
        }
        let (putting, len, is_spilled) = (self.putting.clone(), self.written, self.is_spilled());
        putting.pass(Some(self.kept()?), len, is_spilled)
    }

    fn kept(self) -> Result<Source> {
        match self.file {
            Some(file) => {
                if self.written < self.expected {
                    file.shrink(self.written)?;
                }
                file.into_source()
            }
            None if self.is_one_of_many => pool::keep(self.memory),
            None => Ok(Source::memory(self.memory)),
        }
    }
}

impl Spool {
    /// Returns the collected numbers of a text as a source: no offset in it is one in the file.
    pub(crate) fn finish_apart(self) -> Result<Source> {
        Ok(self.finish()?.out_of_text())
    }
}

impl Default for Spool {
    fn default() -> Self {
        Spool::new()
    }
}

/// Writes bytes of a temporary file in small steps, as [`Sink`](super::Sink) does.
pub(crate) fn append_at(file: &File, bytes: &[u8], at: u64) -> Result<()> {
    let places = (at..).step_by(AT_ONCE);
    for (piece, at) in bytes.chunks(AT_ONCE).zip(places) {
        platform::write_all_at(file, piece, at)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_or_less_may_come_than_was_expected() {
        for expected in [0, 1, 299, 300, 5000] {
            let mut spool = Spool {
                threshold: 10,
                ..Spool::new().expecting(expected)
            };
            let piece = vec![7; PIECE + 1];
            spool.write(&[1; 300]).unwrap();
            spool.write(&piece).unwrap();
            spool.write(&[2; 5]).unwrap();
            let source = spool.finish().unwrap();
            assert_eq!(source.len(), to_u64(300 + PIECE + 1 + 5));
            let mut end = [0; 7];
            source.read_at(source.len() - 7, &mut end).unwrap();
            assert_eq!(end, [7, 7, 2, 2, 2, 2, 2]);
        }
    }

    #[test]
    fn what_goes_to_the_temporary_file_comes_back_in_order() {
        let mut spool = Spool {
            threshold: 10,
            ..Spool::new()
        };
        for byte in 0..100 {
            spool.write(&[byte; 3]).unwrap();
        }
        let source = spool.finish().unwrap();
        assert!(source.as_file().is_some());
        let mut buffer = [0; 4];
        source.read_at(296, &mut buffer).unwrap();
        assert_eq!(buffer, [98, 99, 99, 99]);
    }
}
