//! Origin of the tensors of an open file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tenfold::ops::ReadInput;
use tenfold::{Bytes, Error, Limits, Progress, Source, ops};

use crate::errors;
use crate::memory::Memory;
use crate::tensor::TensorCore;

/// The mode of reading values from a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Io {
    /// As views unless a checksum has to be verified, otherwise read.
    Auto,
    /// As views wherever possible.
    Map,
    /// Always read.
    Read,
}

/// Adds the file to an error, including one about the request.
pub(crate) fn in_file(path: &Path, error: Error) -> Error {
    match error {
        Error::Invalid(_) | Error::NoRoom { .. } => Error::InFile {
            path: path.into(),
            error: Box::new(error),
        },
        other => other.in_file(path),
    }
}

/// Adds the file of the core, among `cores`, whose values are at fault.
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

/// The state shared by all tensors of a file, or of a set of files.
pub(crate) struct Origin {
    pub(crate) path: Option<PathBuf>,
    /// The opened input, to find the file at fault; `None` for an unnamed source.
    input: Option<ReadInput>,
    /// The format of the files.
    format: Option<&'static str>,
    pub(crate) io: Io,
    pub(crate) limits: Limits,
    /// Counts the bytes read, and cancels reading.
    pub(crate) progress: Progress,
    files: Vec<OpenFile>,
}

/// An open file, to be mapped; compressed ones are decompressed elsewhere.
struct OpenFile {
    source: Source,
    map: PyOnceLock<Py<Memory>>,
}

impl Origin {
    /// The origin of the files `sources`, called `path` and found by `input`.
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

    /// The origin of tensors created in this process.
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

    /// Adds the file to an error, and the format of a file with invalid values.
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

    /// The map of a file, and the offset of bytes in it, if a view of them is possible.
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
        // A file that was truncated since it was opened is read, which reports it.
        let is_inside = usize::try_from(run.end).is_ok_and(|end| end <= memory.get().len());
        Ok(is_inside.then(|| (memory.clone(), run.start)))
    }
}
