//! Bytes put aside: in memory while they are few, in a nameless temporary file beyond.

use std::fs::File;
use std::io::{Read, Write};

use super::{PIECE, Source};
use crate::error::Result;

/// Collects bytes that come in order, so that they can be read at any position later.
#[derive(Debug)]
pub struct Spool {
    memory: Vec<u8>,
    file: Option<File>,
    threshold: usize,
}

impl Spool {
    /// Keeps up to 32 MiB in memory.
    #[must_use]
    pub fn new() -> Self {
        Spool {
            memory: Vec::new(),
            file: None,
            threshold: 32 << 20,
        }
    }

    /// Reads a stream to its end: how a pipe becomes something that can be read by position.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the stream or the temporary file fails.
    pub fn read_from(reader: &mut dyn Read) -> Result<Source> {
        let mut spool = Spool::new();
        let mut buffer = vec![0; PIECE];
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
        self.memory.extend_from_slice(piece);
        if self.memory.len() > self.threshold {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all(&self.memory)?;
        self.memory.clear();
        Ok(())
    }

    /// Gives what was collected.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the temporary file fails.
    pub fn finish(mut self) -> Result<Source> {
        if self.file.is_none() {
            return Ok(Source::memory(self.memory));
        }
        self.flush()?;
        match self.file {
            Some(file) => Source::file(file),
            None => Ok(Source::memory(self.memory)),
        }
    }
}

impl Default for Spool {
    fn default() -> Self {
        Spool::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
