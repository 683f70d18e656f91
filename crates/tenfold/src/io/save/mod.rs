//! Writing a file so that it is there whole, or not at all.

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

/// Saves what `write` writes as the file `path`, in the way of [`save`](crate::save).
///
/// # Errors
/// What `write` gives, and [`Error::Io`] if the system fails.
pub fn save_with<T>(
    path: &Path,
    replace: bool,
    skip_sync: bool,
    write: impl FnOnce(&mut Sink) -> Result<T>,
) -> Result<T> {
    // What is malformed is among what was read, not in the file that is written.
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
            // What the file speaks of is there before it is.
            beside.publish(replace, !skip_sync)?;
            publish(draft, path, replace, !skip_sync)?;
            Ok(written)
        }
    }
}

/// Gives a draft the name `path`.
pub(crate) fn publish(draft: AtomicFile, path: &Path, replace: bool, sync: bool) -> Result<()> {
    match draft.publish(replace, sync) {
        Err(Error::Io { source, .. }) if source.kind() == AlreadyExists => Err(taken(path)),
        other => other.map_err(|error| error.in_file(path)),
    }
}

/// Where a file is to go.
pub(crate) enum Destination {
    /// To a name in a folder.
    File(PathBuf),
    /// Straight into what is no file.
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
        // A link stays, and the file it points to is replaced, in its own folder.
        let file = if is_link(path)? {
            path.canonicalize()?
        } else {
            path.into()
        };
        Ok(Destination::File(file))
    }

    fn stream(path: &Path) -> Result<Destination> {
        // At the end: a shell may have opened the same file to append to it.
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

/// Whether a path is something else than a file, to which bytes are written as they come: a pipe, a
/// device, or a stream of this process by its name, such as `/dev/stdout`.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    let is_other = |about: std::fs::Metadata| !about.is_file() && !about.is_dir();
    platform::is_own_stream(path) || path.metadata().is_ok_and(is_other)
}
