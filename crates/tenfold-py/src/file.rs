//! Open files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tenfold::ops::{Input, OpenOptions, ReadInput, TensorRef, stem};
use tenfold::{
    Bundle, Format, Info, Limits, Mode, Note, Options, Progress, ReadOptions, Result, Source,
    Spool, Storage, Tensor,
};

use crate::memory::BorrowedBuffer;
use crate::origin::{Io, Origin, in_file};
use crate::run::interruptible;
use crate::tensor::TensorCore;
use crate::threads::detached;
use crate::{errors, meta};

/// The content of a file; the implementation of the Python class `File`.
#[pyclass(frozen, module = "tenfold._tenfold")]
pub(crate) struct FileCore {
    bundle: Arc<Bundle>,
    format: &'static dyn Format,
    mode: Mode,
    home: Arc<Origin>,
}

/// Reading options, as given by Python.
#[derive(FromPyObject)]
pub(crate) struct Reading {
    #[pyo3(item)]
    format: Option<String>,
    #[pyo3(item)]
    lenient: bool,
    #[pyo3(item)]
    io: String,
    #[pyo3(item)]
    limits: Vec<(String, u64)>,
    #[pyo3(item)]
    options: Vec<(String, String)>,
    #[pyo3(item)]
    alone: bool,
    #[pyo3(item)]
    duplicates: Option<String>,
    #[pyo3(item)]
    callables: bool,
}

impl Reading {
    /// Options for finding files.
    fn opening(&self, progress: &Progress) -> Result<OpenOptions> {
        let format = self.format.as_deref().map(format_called).transpose()?;
        Ok(OpenOptions {
            format,
            options: self.options.clone(),
            alone: self.alone,
            limits: limits(&self.limits)?,
            progress: progress.clone(),
            ..OpenOptions::default()
        })
    }

    fn io(&self) -> Result<Io> {
        match self.io.as_str() {
            "auto" => Ok(Io::Auto),
            "mmap" => Ok(Io::Map),
            "read" => Ok(Io::Read),
            other => Err(tenfold::Error::Invalid(format!(
                "io is {other:?}, not one of auto, mmap, read"
            ))),
        }
    }

    fn options(&self) -> Result<ReadOptions> {
        Ok(ReadOptions {
            limits: limits(&self.limits)?,
            mode: if self.lenient {
                Mode::Lenient
            } else {
                Mode::Strict
            },
            options: options(&self.options),
            skip_restore: false,
            salvage: false,
            duplicates: self.duplicates.as_deref().map(str::parse).transpose()?,
            values_later: false,
            callables: self.callables,
        })
    }
}

/// Limits, some of them set by name; `memory` is the budget.
pub(crate) fn limits(given: &[(String, u64)]) -> Result<Limits> {
    let mut limits = Limits::default();
    for (name, value) in given {
        match name.as_str() {
            "memory" => limits.memory = *value,
            name => limits.set(name, *value)?,
        }
    }
    Ok(limits)
}

/// Options of a format, by name.
pub(crate) fn options(given: &[(String, String)]) -> Options {
    let mut options = Options::default();
    for (name, value) in given {
        options.set(name, value);
    }
    options
}

/// The format with a name.
pub(crate) fn format_called(name: &str) -> Result<&'static dyn Format> {
    tenfold::by_name(name).ok_or_else(|| {
        let known = tenfold::formats::ALL
            .iter()
            .map(|format| format.info().name);
        let known: Vec<&str> = known.collect();
        tenfold::Error::Invalid(format!(
            "no format is called {name:?}; these are: {}",
            known.join(", ")
        ))
    })
}

impl FileCore {
    /// Reads the headers of an input; keeps the referenced part of it.
    fn read(
        input: Input,
        reference: Option<&TensorRef>,
        (io, how): (Io, ReadOptions),
        progress: Progress,
    ) -> Result<FileCore> {
        let mut opened = input.read(&how)?;
        // A file stays open for any number of reads.
        opened.bundle.count_each_job();
        let path = reference.map(|reference| reference.file.clone());
        if let Some(reference) = reference {
            let info = opened.format.info();
            reference.narrow(&mut opened.bundle, info, &how.limits)?;
        }
        let sources: Vec<Source> = { input.members().iter() }
            .map(|member| member.source.clone())
            .collect();
        let (mode, limits) = (how.mode, how.limits.clone());
        let input = path.is_some().then_some(ReadInput { input, how });
        let format = opened.format.info().name;
        let sources = sources.into_iter();
        let home = Origin::new(sources, path, input, format, io, limits, progress);
        Ok(FileCore {
            bundle: Arc::new(opened.bundle),
            format: opened.format,
            mode,
            home: Arc::new(home),
        })
    }

    /// Reads the headers of an unnamed source.
    fn read_source(source: Source, how: &Reading, progress: Progress) -> Result<FileCore> {
        let input = Input::of_source(Path::new(""), source, &how.opening(&progress)?);
        let how = (how.io()?, how.options()?);
        // A placeholder path is not named in errors.
        let input = input.map_err(|error| error.split_file().1)?;
        FileCore::read(input, None, how, progress).map_err(|error| error.split_file().1)
    }

    pub(crate) fn bundle(&self) -> &Arc<Bundle> {
        &self.bundle
    }

    pub(crate) fn home(&self) -> &Arc<Origin> {
        &self.home
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn info(&self) -> &'static Info {
        self.format.info()
    }

    pub(crate) fn format_itself(&self) -> &'static dyn Format {
        self.format
    }

    /// The name for an unnamed tensor.
    fn stem(&self) -> String {
        let stem = self.home.path.as_deref().and_then(stem);
        stem.unwrap_or_else(|| "tensor".into())
    }

    /// The names of all tensors, in file order.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        let info = self.info();
        self.bundle.entries().iter().map(move |(key, _)| {
            if key.is_empty() {
                self.stem()
            } else {
                info.name_of(key)
            }
        })
    }
}

/// Notes as tuples: kind, name, byte, text, number of bytes, file.
pub(crate) type NoteFields = (
    &'static str,
    Option<String>,
    Option<u64>,
    String,
    Option<u64>,
    Option<String>,
);

pub(crate) fn note_fields(py: Python<'_>, info: &Info, note: &Note) -> NoteFields {
    let name = note.key.as_ref().map(|key| info.name_of(key));
    let text = errors::in_python(py, &note.text);
    (
        note.kind.as_str(),
        name,
        note.at,
        text,
        note.len,
        note.file.clone(),
    )
}

#[pymethods]
impl FileCore {
    /// Opens a file by its path.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, how: Reading) -> PyResult<FileCore> {
        let progress = Progress::default();
        let open = || {
            let (opening, how) = (how.opening(&progress)?, (how.io()?, how.options()?));
            let reference = TensorRef::find(&path).map_err(|error| in_file(&path, error))?;
            let read = || {
                let input = Input::find(&reference.file, &opening)?;
                FileCore::read(input, Some(&reference), how, progress.clone())
            };
            read().map_err(|error| in_file(&reference.file, error))
        };
        // Headers are read quickly; a compressed file takes longer.
        let packed = ["gz", "zst", "xz"];
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_packed = ending.is_some_and(|ending| packed.contains(&ending));
        let len = path.metadata().map_or(0, |about| about.len());
        let len = if is_packed { len } else { 0 };
        interruptible(py, len, &[&progress], None, open)?.map_err(|error| errors::of(py, error))
    }

    /// Opens bytes in memory.
    #[staticmethod]
    fn of_bytes(py: Python<'_>, data: &Bound<'_, PyAny>, how: Reading) -> PyResult<FileCore> {
        let lent = BorrowedBuffer::of(data)?;
        let progress = Progress::default();
        let read = || FileCore::read_source(lent.into_source()?, &how, progress);
        detached(py, read).map_err(|error| errors::of(py, error))
    }

    /// Reads a file object to its end and opens the bytes.
    #[staticmethod]
    fn of_reader(py: Python<'_>, reader: &Bound<'_, PyAny>, how: Reading) -> PyResult<FileCore> {
        const PIECE: usize = 1 << 20;
        let to_python = |error| errors::of(py, error);
        let limits = limits(&how.limits).map_err(to_python)?;
        let mut spool = Spool::within(&limits);
        loop {
            py.check_signals()?;
            let piece = reader.call_method1("read", (PIECE,))?;
            let piece: &[u8] = piece.extract().map_err(|_| {
                errors::invalid(py, "the file object gives text: open it in binary mode")
            })?;
            if piece.is_empty() {
                break;
            }
            spool.write(piece).map_err(to_python)?;
        }
        let source = spool.finish().map_err(to_python)?;
        let read = || FileCore::read_source(source, &how, Progress::default());
        detached(py, read).map_err(to_python)
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.info().name
    }

    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.home.path.clone()
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        meta::dict(py, &self.bundle.meta)
    }

    #[getter]
    fn hints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        meta::dict(py, &self.bundle.hints)
    }

    #[getter]
    fn notes(&self, py: Python<'_>) -> Vec<NoteFields> {
        let notes = self.bundle.notes().iter();
        notes
            .map(|note| note_fields(py, self.info(), note))
            .collect()
    }

    /// The functions that unpickling the file in Python would call, if recorded: name, whether
    /// PyTorch permits it for weights, number of calls, and the offset of the first.
    #[getter]
    fn callables(&self) -> Vec<(String, bool, u64, Option<u64>)> {
        let all = self.bundle.callables().iter();
        all.map(|own| (own.name.clone(), own.is_allowed, own.count, own.at))
            .collect()
    }

    /// The index of every tensor by name; of duplicates, the first.
    fn index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let index = PyDict::new(py);
        for (place, name) in self.names().enumerate() {
            if !index.contains(&name)? {
                index.set_item(name, place)?;
            }
        }
        Ok(index)
    }

    /// The index of a tensor without that name, but with a path spelled so.
    fn place(&self, name: &str) -> Option<usize> {
        self.bundle.place(name)
    }

    fn tensor(&self, py: Python<'_>, place: usize) -> PyResult<TensorCore> {
        if place < self.bundle.entries().len() {
            Ok(TensorCore::of_file(&self.bundle, place, &self.home))
        } else {
            Err(errors::invalid(py, "no such tensor"))
        }
    }

    /// All values of one tensor; `None` if it is opaque: its bytes have a meaning only together
    /// with its layout.
    fn array<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let core = self.tensor(py, place)?;
        match core.tensor().map(Tensor::storage) {
            Ok(Storage::Opaque { .. }) => Ok(None),
            _ => core.array(py, None, false).map(Some),
        }
    }

    /// Name and values of every tensor; those without an array equivalent stay tensors.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, (name, (_, tensor))) in self.names().zip(self.bundle.entries()).enumerate() {
            if all.contains(&name)? {
                continue;
            }
            let core = self.tensor(py, place)?;
            let is_opaque = matches!(tensor.storage(), Storage::Opaque { .. });
            if is_opaque || tensor.n_mapped() > 0 {
                all.set_item(name, Bound::new(py, core)?)?
            } else {
                all.set_item(name, core.array(py, None, false)?)?
            }
        }
        Ok(all)
    }
}

/// Properties of every format: name, title, extensions, versions written, and the options for
/// reading and for writing.
#[pyfunction]
pub(crate) fn formats(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyTuple>>> {
    let all = tenfold::formats::ALL.iter().map(|format| {
        let info = format.info();
        let options = |when| -> Vec<(&str, &str, String)> {
            let options = info.options.iter().filter(|option| option.when == when);
            options
                .map(|option| {
                    let about = errors::in_python(py, option.about);
                    (option.name, option.values, about)
                })
                .collect()
        };
        let names = (info.name, info.title, info.extensions, info.versions);
        let (reading, writing) = (options(tenfold::When::Read), options(tenfold::When::Write));
        (names.0, names.1, names.2, names.3, reading, writing).into_pyobject(py)
    });
    all.collect()
}
