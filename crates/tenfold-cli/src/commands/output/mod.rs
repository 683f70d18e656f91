//! What the commands that write tensors have in common: what is written, where, and in which format.

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

/// Where to write.
pub(super) enum Destination {
    /// Standard output.
    Stream,
    File(PathBuf),
    /// A file a tensor in this folder.
    Folder(PathBuf),
}

impl Destination {
    /// What a word means: a file, or standard output for `-`.
    pub(super) fn named(word: &Path) -> Destination {
        if word == Path::new(DASH) {
            Destination::Stream
        } else {
            Destination::File(word.into())
        }
    }

    /// Fails if it is a file that exists and must not be replaced: before the work, not after it.
    pub(super) fn refuse_existing(&self, force: bool) -> Result<(), Failure> {
        match self {
            Destination::File(path) if !is_stream(path) => {
                file::refuse_existing(std::iter::once(path.as_path()), force)
            }
            _ => Ok(()),
        }
    }
}

/// What was read, from one file or from several.
pub(super) struct Content {
    pub(super) bundle: Bundle,
    /// A format that names tensors as these are named.
    pub(super) info: &'static Info,
    /// The file it comes from, if it is one.
    pub(super) file: Option<PathBuf>,
    /// What a tensor without a name is called.
    pub(super) stem: Option<String>,
    /// What putting files together has lost.
    pub(super) said: Vec<Loss>,
    /// What was read.
    pub(super) inputs: Vec<ReadInput>,
}

impl Content {
    /// The file it comes from, or all of several.
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

/// What is named where any of several files may be at fault.
pub(super) fn name_of_all(paths: &[&Path]) -> Option<PathBuf> {
    let name = match paths {
        [] => return None,
        [only] => return Some(only.to_path_buf()),
        [first, second] => format!("{} and {}", first.display(), second.display()),
        [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
    };
    Some(name.into())
}

/// Everything it takes to write.
pub(super) struct WriteJob<'a> {
    pub(super) content: &'a Content,
    pub(super) format: &'static dyn tenfold::Format,
    pub(super) how: &'a WriteOptions,
    pub(super) force: bool,
}

impl WriteJob<'_> {
    /// Writes everything to one file, or to standard output.
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

    /// Says about which file a failure is: about the input, where there is one, else about `file`.
    pub(super) fn blame(&self, file: &Path, error: tenfold::Error) -> Failure {
        match Failure::from(blame(error, &self.content.inputs)) {
            failure if failure.is_usage() => failure,
            failure if failure.is_quiet() => failure.unfinished(),
            failure => failure.about(self.content.name().as_deref().unwrap_or(file)),
        }
    }
}
