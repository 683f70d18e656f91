//! Existence and kind of a path, where a failed lookup is an error and not an absence.

use std::fs::{Metadata, ReadDir};
use std::io;
use std::io::ErrorKind;
use std::path::Path;

use super::platform;
use crate::error::{Error, Result};

/// Metadata of the file at a path, following links; `None` if there is no such file.
///
/// # Errors
/// [`Error::Io`] if the lookup fails.
pub fn metadata(path: &Path) -> Result<Option<Metadata>> {
    or_nothing(path.metadata(), path)
}

/// Metadata of the path itself, not following links.
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

/// The entries of a folder. Opening it is retried when a signal interrupts it, as opening a file
/// is: network file systems may return `EINTR`.
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

/// Whether an error means that nothing can be at a path: a component is missing or no folder, links
/// form a cycle, or the text is no valid path.
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
