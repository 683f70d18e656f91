//! Where the tensors of an open file have their values.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tenfold::ops::ReadInput;
use tenfold::{Bytes, Error, Limits, Progress, Source, ops};

use crate::errors;
use crate::memory::Memory;
use crate::tensor::TensorCore;

/// How values come out of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Io {
    /// As views where no checksum wants to see them, else read.
    Auto,
    /// As views wherever they can be.
    Map,
    /// Always read.
    Read,
}

/// Names the file that an error is about, also one of what was asked of it.
pub(crate) fn in_file(path: &Path, error: Error) -> Error {
    match error {
        Error::Invalid(_) | Error::NoRoom { .. } => Error::InFile {
            path: path.into(),
            error: Box::new(error),
        },
        other => other.in_file(path),
    }
}

/// Names the file of the one among `cores` whose values are at fault.
pub(crate) fn blame_one<'a>(
    cores: impl IntoIterator<Item = &'a TensorCore>,
    error: Error,
) -> Error {
    if !matches!(error, Error::Malformed { format: None, .. }) {
        return error;
    }
    let is_unsound = |core: &&TensorCore| {
        let tensor = core.tensor();
        tensor.is_ok_and(|tensor| tensor.check(&core.home().limits).is_err())
    };
    match cores.into_iter().find(is_unsound) {
        Some(core) => core.home().blame(error),
        None => error,
    }
}

/// What all tensors of a file, or of several that are one, share.
pub(crate) struct Origin {
    pub(crate) path: Option<PathBuf>,
    /// What was opened, to find the file in which a fault lies; none for what has no name.
    input: Option<ReadInput>,
    /// The format that the files were read as.
    format: Option<&'static str>,
    pub(crate) io: Io,
    pub(crate) limits: Limits,
    /// Counts what is read, and stops it.
    pub(crate) progress: Progress,
    files: Vec<OpenFile>,
}

/// An open file, for its map; compressed ones are decompressed elsewhere.
struct OpenFile {
    source: Source,
    map: PyOnceLock<Py<Memory>>,
}

impl Origin {
    /// Of the files that `sources` are; they are called `path`, and were found by `input`.
    pub(crate) fn new(
        sources: impl Iterator<Item = Source>,
        path: Option<PathBuf>,
        input: Option<ReadInput>,
        format: &'static str,
        io: Io,
        limits: Limits,
        progress: Progress,
    ) -> Origin {
        let files = sources.filter(|source| source.named_file().is_some());
        let files = files.map(|source| OpenFile {
            source,
            map: PyOnceLock::new(),
        });
        Origin {
            path,
            input,
            format: Some(format),
            io,
            limits,
            progress,
            files: files.collect(),
        }
    }

    /// The home of tensors that were made in this process.
    pub(crate) fn in_memory() -> Arc<Origin> {
        static NOWHERE: LazyLock<Arc<Origin>> = LazyLock::new(|| {
            Arc::new(Origin {
                path: None,
                input: None,
                format: None,
                io: Io::Read,
                limits: Limits::default(),
                progress: Progress::default(),
                files: Vec::new(),
            })
        });
        NOWHERE.clone()
    }

    /// Names the file that an error is about, and the format of one whose values turned out to be wrong.
    pub(crate) fn blame(&self, error: Error) -> Error {
        let error = match &self.input {
            Some(input) => ops::blame(error, std::slice::from_ref(input)),
            None => error,
        };
        let error = self.format.into_iter().fold(error, Error::of);
        match &self.path {
            Some(path) => in_file(path, error),
            None => error,
        }
    }

    /// Whether values are read from files.
    pub(crate) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// The map of a file, and where in it bytes lie, if a view of them is wanted.
    pub(crate) fn view<'py>(
        &self,
        py: Python<'py>,
        bytes: &Bytes,
    ) -> PyResult<Option<(Bound<'py, Memory>, u64)>> {
        let is_wanted = match self.io {
            Io::Auto => bytes.digest().is_none(),
            Io::Map => true,
            Io::Read => false,
        };
        if !is_wanted {
            return Ok(None);
        }
        let mut places = { self.files.iter() }.filter_map(|open| {
            let run = bytes.run_in(&open.source)?;
            Some((open, open.source.named_file()?, run))
        });
        let Some((open, file, run)) = places.next() else {
            return Ok(None);
        };
        let make = || {
            let memory = Memory::of_file(file).map_err(|error| errors::of(py, error))?;
            Py::new(py, memory)
        };
        let memory = open.map.get_or_try_init(py, make)?.bind(py);
        // A file that became shorter since it was opened is read, which says so.
        let is_inside = usize::try_from(run.end).is_ok_and(|end| end <= memory.get().len());
        Ok(is_inside.then(|| (memory.clone(), run.start)))
    }
}
