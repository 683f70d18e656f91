//! Where the tensors of an open file have their values.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tenfold::{Bytes, Limits, Progress, Source};

use crate::errors;
use crate::memory::Memory;

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

/// What all tensors of a file share.
pub(crate) struct Home {
    /// The file as it is read; compressed ones are decompressed elsewhere.
    pub(crate) source: Option<Source>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) io: Io,
    pub(crate) limits: Limits,
    /// Counts what is read, and stops it.
    pub(crate) progress: Progress,
    /// The same open file, for the map.
    file: Option<File>,
    map: PyOnceLock<Py<Memory>>,
}

impl Home {
    pub(crate) fn new(
        file: Option<(File, Source)>,
        path: Option<PathBuf>,
        io: Io,
        limits: Limits,
        progress: Progress,
    ) -> Home {
        let (file, source) = file.unzip();
        Home {
            source,
            path,
            io,
            limits,
            progress,
            file,
            map: PyOnceLock::new(),
        }
    }

    /// The home of tensors that were made in this process.
    pub(crate) fn nowhere() -> Arc<Home> {
        static NOWHERE: LazyLock<Arc<Home>> = LazyLock::new(|| {
            let (limits, progress) = (Limits::default(), Progress::default());
            Arc::new(Home::new(None, None, Io::Read, limits, progress))
        });
        NOWHERE.clone()
    }

    /// The map of the file, and where in it bytes lie, if a view of them is wanted.
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
        let (Some(file), Some(source)) = (&self.file, &self.source) else {
            return Ok(None);
        };
        let Some(run) = Some(source)
            .filter(|_| is_wanted)
            .and_then(|source| bytes.run_in(source))
        else {
            return Ok(None);
        };
        let make = || {
            let memory = Memory::of_file(file).map_err(|error| errors::of(py, error))?;
            Py::new(py, memory)
        };
        let memory = self.map.get_or_try_init(py, make)?.bind(py);
        // A file that became shorter since it was opened is read, which says so.
        let is_inside = usize::try_from(run.end).is_ok_and(|end| end <= memory.get().len());
        Ok(is_inside.then(|| (memory.clone(), run.start)))
    }
}
