//! Files mapped into memory: the one place in the library that needs `unsafe`.
#![expect(
    unsafe_code,
    reason = "mapping a file is unsafe, and nothing else here is"
)]

use std::fs::File;
use std::path::Path;

use super::Source;
use crate::error::{Error, Result};

impl Source {
    /// Maps a file into memory, so that its bytes can be borrowed without copying.
    ///
    /// # Safety
    /// The file must not be changed or made shorter while the source or a clone of it is alive:
    /// borrowed bytes would change under their reader, and reading past a new end kills the
    /// process (SIGBUS). [`Source::open`] has neither risk.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be opened or mapped.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Source> {
        let path = path.as_ref();
        let map = File::open(path).and_then(|file| {
            // SAFETY: the caller promises that nobody changes the file while it is mapped, which
            // is all that `Mmap::map` asks.
            unsafe { memmap2::Mmap::map(&file) }
        });
        map.map(Source::mapped)
            .map_err(|error| Error::from(error).in_file(path))
    }
}
