//! Memory-mapped files: the one place in the library that needs `unsafe`.
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
            // SAFETY: the caller promises that the file does not change while it is mapped, which
            // is all that `Mmap::map` requires.
            unsafe { memmap2::Mmap::map(&file) }
        });
        map.map(Source::mapped)
            .map_err(|error| Error::from(error).in_file(path))
    }
}

// Miri maps no files.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    fn mapped(path: &Path) -> Result<Source> {
        // SAFETY: the folder is known to this test alone.
        unsafe { Source::map(path) }
    }

    #[test]
    fn mapped_bytes_are_borrowed_and_read_and_live_as_long_as_a_clone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let bytes: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        std::fs::write(&path, &bytes).unwrap();
        let source = mapped(&path).unwrap().clone();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(source.len(), 10_000);
        assert_eq!(source.slice(0..10_000), Some(bytes.as_slice()));
        assert_eq!(source.slice(9_999..10_000), bytes.get(9_999..));
        assert_eq!(source.slice(9_999..10_001), None);
        let mut part = [0; 100];
        source.read_at(4_321, &mut part).unwrap();
        assert_eq!(bytes.get(4_321..4_421), Some(part.as_slice()));
        assert!(source.read_at(9_901, &mut part).is_err());
    }

    #[test]
    fn an_empty_file_has_no_bytes_and_one_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let error = mapped(&path).unwrap_err();
        assert!(error.to_string().contains("a.bin"), "{error}");
        std::fs::write(&path, b"").unwrap();
        let source = mapped(&path).unwrap();
        assert_eq!((source.len(), source.slice(0..0)), (0, Some([].as_slice())));
    }
}
