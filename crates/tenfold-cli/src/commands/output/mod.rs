//! Output shared by the commands that write tensors: content, destination and format.

pub(super) mod file;
pub(super) mod line;
pub(super) mod report;
pub(super) mod target;

use std::path::{Path, PathBuf};

use tenfold::ops::{ReadInput, blame};
use tenfold::{Bundle, Info, Loss, WriteOptions, is_stream};

use crate::error::Failure;
use crate::input::DASH;
use crate::terminal::Streams;
use report::Report;

/// The destination.
pub(super) enum Destination {
    /// Standard output.
    Stream,
    File(PathBuf),
    /// One file per tensor in this folder.
    Folder(PathBuf),
}

impl Destination {
    /// Parses an argument: a file, or standard output for `-`.
    pub(super) fn named(word: &Path) -> Destination {
        if word == Path::new(DASH) {
            Destination::Stream
        } else {
            Destination::File(word.into())
        }
    }

    /// Fails early if it is an existing file that must not be overwritten.
    pub(super) fn refuse_existing(&self, force: bool) -> Result<(), Failure> {
        match self {
            Destination::File(path) if !is_stream(path) => {
                file::refuse_existing(std::iter::once(path.as_path()), force)
            }
            _ => Ok(()),
        }
    }
}

/// The input, from one file or from several.
pub(super) struct Content {
    pub(super) bundle: Bundle,
    /// A format with the same kind of tensor names.
    pub(super) info: &'static Info,
    /// The source file, if there is only one.
    pub(super) file: Option<PathBuf>,
    /// The name for an unnamed tensor.
    pub(super) stem: Option<String>,
    /// Losses from merging files.
    pub(super) said: Vec<Loss>,
    /// The tensors.
    pub(super) inputs: Vec<ReadInput>,
}

impl Content {
    /// The source file, or all of several.
    pub(super) fn name(&self) -> Option<PathBuf> {
        if self.file.is_some() {
            return self.file.clone();
        }
        let paths: Vec<&Path> = { self.inputs.iter() }
            .map(|read| read.input.path())
            .collect();
        name_of_all(&paths)
    }
}

/// The name used in errors that may concern any of several files.
pub(super) fn name_of_all(paths: &[&Path]) -> Option<PathBuf> {
    let name = match paths {
        [] => return None,
        [only] => return Some(only.to_path_buf()),
        [first, second] => format!("{} and {}", first.display(), second.display()),
        [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
    };
    Some(name.into())
}

/// All parameters of a write.
pub(super) struct WriteJob<'a> {
    pub(super) content: &'a Content,
    pub(super) format: &'static dyn tenfold::Format,
    pub(super) how: &'a WriteOptions,
    pub(super) force: bool,
}

impl WriteJob<'_> {
    /// Writes all tensors to one file or to standard output.
    pub(super) fn write(
        &self,
        destination: &Destination,
        streams: &mut Streams,
    ) -> Result<Report, Failure> {
        match destination {
            Destination::File(path) | Destination::Folder(path) => file::write(self, path, streams),
            Destination::Stream => file::stream(self, streams),
        }
    }

    /// Names the file of a failure: the input if there is only one, otherwise `file`.
    pub(super) fn blame(&self, file: &Path, error: tenfold::Error) -> Failure {
        match Failure::from(blame(error, &self.content.inputs)) {
            failure if failure.is_usage() => failure,
            failure if failure.is_quiet() => failure.unfinished(),
            failure => failure.about(self.content.name().as_deref().unwrap_or(file)),
        }
    }
}
