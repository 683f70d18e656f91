//! What is at a path, where a failure to find out is not the same as nothing.

use std::fs::{Metadata, ReadDir};
use std::io;
use std::io::ErrorKind;
use std::path::Path;

use super::platform;
use crate::error::{Error, Result};

/// What the system says about what a path leads to; `None` if nothing is there.
///
/// # Errors
/// [`Error::Io`] if that cannot be found out.
pub fn metadata(path: &Path) -> Result<Option<Metadata>> {
    or_nothing(path.metadata(), path)
}

/// The same of the path itself, where it is a link.
///
/// # Errors
/// As [`metadata`].
pub fn link_metadata(path: &Path) -> Result<Option<Metadata>> {
    or_nothing(path.symlink_metadata(), path)
}

/// Whether a path leads to a regular file.
///
/// # Errors
/// As [`metadata`].
pub fn is_file(path: &Path) -> Result<bool> {
    Ok(metadata(path)?.is_some_and(|about| about.is_file()))
}

/// Whether a path leads to a folder.
///
/// # Errors
/// As [`metadata`].
pub fn is_dir(path: &Path) -> Result<bool> {
    Ok(metadata(path)?.is_some_and(|about| about.is_dir()))
}

/// What is in a folder. Opening it is tried again when a signal interrupts it, as opening a file is: file systems
/// of networks may.
///
/// # Errors
/// [`Error::Io`] if it is no folder, or cannot be opened.
pub(crate) fn entries(folder: &Path) -> Result<ReadDir> {
    loop {
        match std::fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            entries => return entries.map_err(|error| Error::from(error).in_file(folder)),
        }
    }
}

fn or_nothing(found: io::Result<Metadata>, path: &Path) -> Result<Option<Metadata>> {
    match found {
        Ok(about) => Ok(Some(about)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(Error::from(error).in_file(path)),
    }
}

/// Whether an error says that nothing can be at a path: a file or folder on the way is not there or no folder,
/// a link leads in a circle, or the words are no path.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    let kinds = [
        ErrorKind::NotFound,
        ErrorKind::NotADirectory,
        ErrorKind::InvalidFilename,
        ErrorKind::InvalidInput,
    ];
    platform::is_circle(error) || kinds.contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_at_words_that_are_no_path_and_at_links_in_a_circle() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        std::os::unix::fs::symlink("circle", at("circle")).unwrap();
        for name in ["none", "file/x", "a\0b", "circle", &"x".repeat(1000)] {
            assert!(metadata(&at(name)).unwrap().is_none(), "{name:?}");
        }
        assert!(is_file(&at("file")).unwrap() && is_dir(folder.path()).unwrap());
        assert!(link_metadata(&at("circle")).unwrap().is_some());
    }
}
