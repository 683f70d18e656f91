//! Bytes put aside: in memory while they are few, in a nameless temporary file beyond.

pub(super) mod deferred;
pub(super) mod parallel_fill;
pub(super) mod pool;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::platform::{self, preallocate};
use super::sink::AT_ONCE;
use super::{Putting, Source};
use crate::bytes::{PIECE, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::memory;

/// Pieces from this length on are worth a system call of their own.
const WORTH_IT: usize = PIECE / 8;

/// Collects bytes that come in order, so that they can be read at any position later.
#[derive(Debug)]
pub struct Spool {
    memory: Vec<u8>,
    file: Option<File>,
    threshold: usize,
    /// Whether there may be one for every tensor.
    is_one_of_many: bool,
    /// How many bytes will come, as far as that is known.
    expected: u64,
    /// How many bytes the file holds.
    written: u64,
    /// How many it may hold, as far as that is set.
    temp: u64,
    /// How many there is room for, once there is a file.
    room: u64,
    /// What becomes of what does not fit in memory.
    putting: Putting,
}

impl Spool {
    /// Keeps little in memory, and all of these together not much, as there may be one for every
    /// tensor.
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
            room: 0,
            putting: Putting::Aside,
        }
    }

    /// The same spool for whoever knows how many bytes will come, see [`scratch_file_of`].
    pub(crate) fn expecting(self, len: u64) -> Self {
        Spool {
            expected: len,
            ..self
        }
    }

    /// Keeps in memory a quarter of what `limits` allow.
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

    /// Reads a stream to its end: how a pipe becomes something that can be read by position.
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
        let goes_to_file = self.is_spilled() || self.expected > wide(self.threshold);
        if goes_to_file && piece.len() >= WORTH_IT {
            self.flush()?;
            return self.put_down(piece);
        }
        memory::append(&mut self.memory, piece)?;
        let most = match goes_to_file {
            true => self.threshold.min(PIECE),
            false => self.threshold,
        };
        if self.memory.len() > most {
            self.flush()?;
        }
        Ok(())
    }

    /// Whether what came so far is not in memory alone.
    fn is_spilled(&self) -> bool {
        self.file.is_some() || self.written > 0
    }

    fn flush(&mut self) -> Result<()> {
        if self.memory.is_empty() && self.is_spilled() {
            return Ok(());
        }
        let mut memory = std::mem::take(&mut self.memory);
        self.put_down(&memory)?;
        // From now on a small buffer will do.
        if memory.capacity() <= PIECE.saturating_mul(4) {
            memory.clear();
            self.memory = memory;
        }
        Ok(())
    }

    /// Appends bytes to the file.
    fn put_down(&mut self, piece: &[u8]) -> Result<()> {
        let end = self.written.saturating_add(wide(piece.len()));
        if let Putting::Later(_) = self.putting {
            self.written = end;
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = scratch_file()?;
                self.room = room_for(&file, self.temp)?;
                Limits::check_temp(self.expected, self.room)?;
                none.insert(grown(file, self.expected)?)
            }
        };
        Limits::check_temp(end, self.room)?;
        put_down_at(file, piece, self.written)?;
        self.written = end;
        Ok(())
    }

    /// Gives what was collected.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the temporary file fails.
    pub fn finish(mut self) -> Result<Source> {
        if self.is_spilled() {
            self.flush()?;
        }
        if let (Putting::Later(_), true) = (&self.putting, self.is_spilled()) {
            return self.putting.pass(None, self.written);
        }
        let (putting, len) = (self.putting.clone(), self.written);
        putting.pass(Some(self.kept()?), len)
    }

    fn kept(self) -> Result<Source> {
        match self.file {
            Some(file) => {
                if self.written < self.expected {
                    file.set_len(self.written)?;
                }
                Source::file(file)
            }
            None if self.is_one_of_many => pool::keep(self.memory),
            None => Ok(Source::memory(self.memory)),
        }
    }
}

impl Spool {
    /// Gives what was collected of numbers that a text spells: no offset in it is one in the file.
    pub(crate) fn finish_apart(self) -> Result<Source> {
        Ok(self.finish()?.out_of_text())
    }
}

impl Default for Spool {
    fn default() -> Self {
        Spool::new()
    }
}

/// A file without a name, gone with its last user: where `TMPDIR` says, else in `/var/tmp`, as
/// `/tmp` often is memory.
pub(crate) fn scratch_file() -> Result<File> {
    let large = Path::new("/var/tmp");
    if std::env::var_os("TMPDIR").is_none()
        && let Ok(file) = tempfile::tempfile_in(large)
    {
        return Ok(file);
    }
    let folder = std::env::temp_dir();
    let file = tempfile::tempfile_in(&folder);
    file.map_err(|error| Error::from(error).in_file(&folder))
}

/// A file without a name that has so many bytes, all zero, for which room is set aside: it is written
/// several times faster than one that grows.
pub(crate) fn scratch_file_of(len: u64, limits: &Limits) -> Result<File> {
    let file = scratch_file()?;
    Limits::check_temp(len, room_for(&file, limits.temp)?)?;
    grown(file, len)
}

/// How many bytes a temporary file may have: a quarter of what is free unless a limit is set.
fn room_for(file: &File, temp: u64) -> Result<u64> {
    if temp < u64::MAX {
        return Ok(temp);
    }
    Ok(platform::free_space(file)? / 4)
}

fn grown(file: File, len: u64) -> Result<File> {
    file.set_len(len)?;
    preallocate(&file, 0, len);
    Ok(file)
}

/// Writes bytes of a temporary file, little by little, as [`Sink`](super::Sink) does.
pub(crate) fn put_down_at(file: &File, bytes: &[u8], at: u64) -> Result<()> {
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
            assert_eq!(source.len(), wide(300 + PIECE + 1 + 5));
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
