//! Atomic saving: a nameless file, its sibling files, the name at the end.

pub(super) mod atomic_file;
pub(super) mod folder;
pub(super) mod sibling_files;

use std::fs::{File, OpenOptions};
use std::io::ErrorKind::{AlreadyExists, IsADirectory, NotFound};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use super::{Sink, platform, presence};
use crate::bytes::{Gzip, is_gzip_name, is_packed_name};
use crate::error::{Error, Result};
use atomic_file::AtomicFile;
use sibling_files::SiblingFiles;

/// Saves the output of `write` as the file `path`, in the way of [`save`](crate::save).
///
/// # Errors
/// Errors of `write`, and [`Error::Io`] if the system fails.
pub fn save_with<T>(
    path: &Path,
    replace: bool,
    skip_sync: bool,
    write: impl FnOnce(&mut Sink) -> Result<T>,
) -> Result<T> {
    // Malformed data is in the input, not in the file being written.
    let in_file = |error: Error| match error {
        Error::Io { .. } => error.in_file(path),
        other => other,
    };
    match Destination::find(path, replace).map_err(in_file)? {
        Destination::Stream(file) => {
            let mut out = Sink::stream(Box::new(file));
            let written = write(&mut out).map_err(in_file)?;
            out.finish().map_err(in_file)?;
            Ok(written)
        }
        Destination::File(_) if is_packed_name(path) && !is_gzip_name(path) => {
            let name = path.display();
            let why = format!("{name}: a compressed file is written as .gz alone");
            Err(Error::invalid(why))
        }
        Destination::File(place) => {
            let draft = AtomicFile::create(&place).map_err(in_file)?;
            let file = draft.file.try_clone()?;
            let mut out = if is_gzip_name(path) {
                Sink::stream(Box::new(Gzip::new(file)))
            } else {
                Sink::file(file).bound_for_disk(!skip_sync)
            };
            let beside = SiblingFiles::default();
            out = beside.beside(out, path, replace);
            let written = write(&mut out).map_err(in_file)?;
            out.finish().map_err(in_file)?;
            // Sibling files are published before the file that refers to them.
            beside.publish(replace, !skip_sync)?;
            publish(draft, path, replace, !skip_sync)?;
            Ok(written)
        }
    }
}

/// Publishes a file under the name `path`.
pub(crate) fn publish(draft: AtomicFile, path: &Path, replace: bool, sync: bool) -> Result<()> {
    match draft.publish(replace, sync) {
        Err(Error::Io { source, .. }) if source.kind() == AlreadyExists => Err(taken(path)),
        other => other.map_err(|error| error.in_file(path)),
    }
}

/// The destination of a save.
pub(crate) enum Destination {
    /// A name in a folder.
    File(PathBuf),
    /// An existing pipe, device or stream, written directly.
    Stream(File),
}

impl Destination {
    pub(crate) fn find(path: &Path, replace: bool) -> Result<Destination> {
        let about = match path.metadata() {
            Err(error) if error.kind() == NotFound && is_link(path)? => {
                let why = format!("{} is a link to nothing", path.display());
                return Err(Error::invalid(why));
            }
            Err(error) if error.kind() == NotFound => return Ok(Destination::File(path.into())),
            other => other?,
        };
        if about.is_dir() {
            return Err(std::io::Error::from(IsADirectory).into());
        }
        if platform::is_own_stream(path) || !about.is_file() && !platform::is_block_device(&about) {
            return Destination::stream(path);
        }
        if !replace {
            return Err(taken(path));
        }
        if platform::is_block_device(&about) {
            return Destination::stream(path);
        }
        // A link stays; the file it points to is replaced, in its own folder.
        let file = if is_link(path)? {
            path.canonicalize()?
        } else {
            path.into()
        };
        Ok(Destination::File(file))
    }

    fn stream(path: &Path) -> Result<Destination> {
        // Appended: a shell may have opened the same file with `>>`.
        let file = OpenOptions::new().append(true).open(path)?;
        if file.is_terminal() {
            let name = path.display();
            let why = format!("{name} is a terminal, and these bytes are not for reading");
            return Err(Error::invalid(why));
        }
        Ok(Destination::Stream(file))
    }
}

fn is_link(path: &Path) -> Result<bool> {
    let about = presence::link_metadata(path)?;
    Ok(about.is_some_and(|about| about.is_symlink()))
}

pub(crate) fn taken(path: &Path) -> Error {
    let why = format!("{} exists already; --force replaces it", path.display());
    Error::invalid(why)
}

/// Whether a path is no regular file but written as a stream: a pipe, a device, or a name of one of
/// this process's streams, such as `/dev/stdout`.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    let is_other = |about: std::fs::Metadata| !about.is_file() && !about.is_dir();
    platform::is_own_stream(path) || path.metadata().is_ok_and(is_other)
}
