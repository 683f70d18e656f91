//! Saving and converting files.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use tenfold::ops::{cast_tensor, demand, matches, presence};
use tenfold::{
    Allow, Aspect, Bundle, Error, Format, Key, Kind, Limits, Naming, Number, Overflow, Progress,
    ReadOptions, Result, Rounding, Sink, Source, WriteOptions,
};

use crate::entries::ToSave;
use crate::errors;
use crate::file::{FileCore, format_called, limits, options};
use crate::origin::blame_one;
use crate::run::interruptible;
use crate::threads::detached;

/// Saving options, as given by Python.
#[derive(FromPyObject)]
pub(crate) struct Writing {
    #[pyo3(item)]
    format: Option<String>,
    #[pyo3(item)]
    version: Option<String>,
    #[pyo3(item)]
    options: Vec<(String, String)>,
    #[pyo3(item)]
    allow: Vec<String>,
    #[pyo3(item)]
    strict: bool,
    #[pyo3(item)]
    limits: Vec<(String, u64)>,
    #[pyo3(item)]
    sync: bool,
    #[pyo3(item)]
    replace: bool,
    #[pyo3(item)]
    complex: Option<String>,
    /// Per name glob, the component of complex numbers to keep.
    #[pyo3(item)]
    part: Vec<(String, String)>,
    /// Per name glob, the number type to cast to.
    #[pyo3(item)]
    cast: Vec<(String, String)>,
    #[pyo3(item)]
    sep: Option<char>,
    #[pyo3(item)]
    state: bool,
}

impl Writing {
    fn options(&self, path: Option<&Path>) -> Result<WriteOptions> {
        let stem = path.and_then(Path::file_stem);
        Ok(WriteOptions {
            version: self.version.clone(),
            options: options(&self.options),
            allow: allow(&self.allow)?,
            strict: self.strict,
            stem: stem.map(|stem| stem.to_string_lossy().into_owned()),
            limits: limits(&self.limits)?,
            skip_sync: !self.sync,
            progress: Progress::default(),
            split_complex: self.splits_complex()?,
            naming: Naming {
                separator: self.sep,
                drop_state: !self.state,
                ..Naming::default()
            },
            ..WriteOptions::default()
        })
    }

    /// Casts tensors and takes components as requested; globs match against `names`.
    fn change(&self, bundle: &mut Bundle, names: &[String]) -> Result<()> {
        for (glob, _) in self.cast.iter().chain(&self.part) {
            demand(glob, names)?;
        }
        if self.cast.is_empty() && self.part.is_empty() {
            return Ok(());
        }
        let options = self.options(None)?;
        let (allow, limits) = (&options.allow, &options.limits);
        for ((_, tensor), name) in bundle.entries_mut().zip(names) {
            let of = |choices: &'_ [(String, String)]| {
                let found = choices.iter().rfind(|(glob, _)| matches(glob, name));
                found.map(|(_, choice)| choice.clone())
            };
            if let Some(part) = of(&self.part) {
                *tensor = tensor.part(part.parse()?, limits)?;
            }
            if let Some(number) = of(&self.cast) {
                let number = number.parse::<tenfold::DType>()?.number;
                let over = if allow.permits(Aspect::Precision) {
                    Overflow::Saturates
                } else {
                    Overflow::Fails
                };
                let float = match number.kind() {
                    Kind::Float => number,
                    _ => Number::F32,
                };
                let values = tensor.dequantized(float, over, limits)?;
                *tensor = cast_tensor(&values, number, Rounding::NearestEven, allow, limits)?;
            }
        }
        Ok(())
    }

    fn splits_complex(&self) -> Result<bool> {
        match self.complex.as_deref() {
            None => Ok(false),
            Some("split") => Ok(true),
            Some(other) => Err(Error::Invalid(format!(
                "complex= takes \"split\", not {other:?}"
            ))),
        }
    }

    /// The given format, otherwise that of the path, otherwise that of the input.
    fn format(
        &self,
        path: Option<&Path>,
        own: Option<&'static dyn Format>,
    ) -> Result<&'static dyn Format> {
        if let Some(name) = &self.format {
            return format_called(name);
        }
        let meant = path.map(tenfold::by_extension).unwrap_or_default();
        let (meant, only_read): (Vec<_>, Vec<_>) =
            { meant.into_iter() }.partition(|format| format.info().is_written());
        let own = own.filter(|own| {
            meant
                .iter()
                .any(|format| format.info().name == own.info().name)
        });
        match (meant.as_slice(), own) {
            (_, Some(own)) => Ok(own),
            ([format], None) => Ok(*format),
            ([], None) => {
                let why = match only_read.first() {
                    Some(other) => format!("{} is read and never written", other.info().name),
                    None => "the name of the file says no format".into(),
                };
                Err(Error::Invalid(format!("{why}: name one with format=")))
            }
            (several, None) => {
                let names: Vec<&str> = several.iter().map(|format| format.info().name).collect();
                let names = names.join(" or ");
                Err(Error::Invalid(format!(
                    "could be {names}: name one with format="
                )))
            }
        }
    }
}

fn allow(words: &[String]) -> Result<Allow> {
    if words.iter().any(|word| word == "all") {
        return Ok(Allow::Everything);
    }
    let aspect = |word: &String| {
        let found = Aspect::ALL
            .iter()
            .copied()
            .find(|aspect| aspect.as_str() == word);
        found.ok_or_else(|| {
            let known: Vec<&str> = Aspect::ALL.iter().map(|aspect| aspect.as_str()).collect();
            Error::Invalid(format!(
                "nothing that can be lost is called {word:?}; allow takes all, {}",
                known.join(", ")
            ))
        })
    };
    Ok(Allow::These(
        words.iter().map(aspect).collect::<Result<_>>()?,
    ))
}

/// The result of a save: the format, the size of the files, the companion files, the losses, and
/// notes for users of the file.
type Saved<'py> = (
    &'static str,
    u64,
    Vec<PathBuf>,
    Bound<'py, PyList>,
    Option<String>,
);

/// The names of tensors to save.
fn names_of(bundle: &Bundle) -> Vec<String> {
    let keys = bundle.entries().iter().map(|(key, _)| key);
    keys.map(|key| {
        key.flat_name()
            .map_or_else(|| key.to_string(), str::to_owned)
    })
    .collect()
}

/// Saves named tensors as the file `path`.
#[pyfunction]
pub(crate) fn save<'py>(
    py: Python<'py>,
    path: PathBuf,
    entries: &Bound<'py, PyAny>,
    describe: &Bound<'py, PyAny>,
    metadata: Option<&Bound<'py, PyDict>>,
    how: Writing,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Saved<'py>> {
    let to_python = |error: Error| errors::of(py, error);
    let format = how.format(Some(&path), None).map_err(to_python)?;
    let ToSave { mut bundle, cores } = ToSave::new(entries, describe, metadata, format)?;
    let names = names_of(&bundle);
    how.change(&mut bundle, &names).map_err(to_python)?;
    let homes = cores.iter().map(|core| core.get().home());
    let reads: Vec<&Progress> = { homes.filter(|home| home.has_files()) }
        .map(|home| &home.progress)
        .collect();
    let blame = |error| blame_one(cores.iter().map(Bound::get), error);
    save_bundle(py, &bundle, &path, format, &how, (&reads, &blame), progress)
}

/// Saves a bundle; `reads` count the bytes read of its files, and `blame` determines the one at
/// fault.
fn save_bundle<'py>(
    py: Python<'py>,
    bundle: &Bundle,
    path: &Path,
    format: &'static dyn Format,
    how: &Writing,
    (reads, blame): (&[&Progress], &dyn Fn(Error) -> Error),
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Saved<'py>> {
    let to_python = |error: Error| errors::of(py, blame(error));
    let options = how.options(Some(path)).map_err(to_python)?;
    let count = options.progress.clone();
    let write = || tenfold::save(bundle, path, format, &options, how.replace);
    let counts = [&[&count], reads].concat();
    let said =
        interruptible(py, bundle.stored_len(), &counts, progress, write)?.map_err(to_python)?;
    let own_len = presence::metadata(path).map_err(to_python)?;
    let own_len = own_len.map_or(0, |about| about.len());
    // Values outside of the file are in its companions.
    let beside = if count.done() > own_len {
        detached(py, || beside(path, format, &options.limits)).map_err(to_python)?
    } else {
        Vec::new()
    };
    let len = beside.iter().fold(own_len, |sum, (_, len)| sum + len);
    let remark = format.remark(bundle, &options);
    Ok((
        format.info().name,
        len,
        beside.into_iter().map(|(path, _)| path).collect(),
        errors::losses(py, Some(format.info()), &said)?,
        remark.map(|remark| errors::in_python(py, remark)),
    ))
}

/// The companions of the written file, and their sizes.
fn beside(
    path: &Path,
    format: &'static dyn Format,
    limits: &Limits,
) -> Result<Vec<(PathBuf, u64)>, Error> {
    let how = ReadOptions {
        limits: limits.clone(),
        ..ReadOptions::default()
    };
    let read = || {
        let source = Source::open(path)?;
        tenfold::read(&source, format, &how)?;
        Ok::<_, Error>(source.companions())
    };
    // A file over a limit has still been written; one that cannot be read may not have been.
    match read() {
        Err(error) if error.is_of_content() => Ok(Vec::new()),
        found => found,
    }
}

/// The bytes of a file with these tensors.
#[pyfunction]
pub(crate) fn save_bytes<'py>(
    py: Python<'py>,
    entries: &Bound<'py, PyAny>,
    describe: &Bound<'py, PyAny>,
    metadata: Option<&Bound<'py, PyDict>>,
    how: Writing,
) -> PyResult<Bound<'py, PyBytes>> {
    let to_python = |error: Error| errors::of(py, error);
    let format = how.format(None, None).map_err(to_python)?;
    let ToSave { mut bundle, .. } = ToSave::new(entries, describe, metadata, format)?;
    let names = names_of(&bundle);
    how.change(&mut bundle, &names).map_err(to_python)?;
    let options = how.options(None).map_err(to_python)?;
    let count = options.progress.clone();
    let write = || {
        let mut out = Sink::memory();
        tenfold::write_to(&bundle, &mut out, format, &options)?;
        out.finish()?.into_memory()
    };
    let bytes =
        interruptible(py, bundle.stored_len(), &[&count], None, write)?.map_err(to_python)?;
    Ok(PyBytes::new(py, &bytes))
}

/// Converts an open file: keeps the tensors matched by a glob of `only`, and saves them.
#[pyfunction]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    file: &Bound<'py, FileCore>,
    path: PathBuf,
    only: Vec<String>,
    how: Writing,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Saved<'py>> {
    let file = file.get();
    let format = how
        .format(Some(&path), Some(file.format_itself()))
        .map_err(|error| errors::of(py, error))?;
    let bundle = selected(file, &only, &how);
    let bundle = bundle.map_err(|error| errors::of(py, file.home().blame(error)))?;
    let reads = [&file.home().progress];
    let blame = |error: Error| match error {
        // A limitation of the target is not an error of the source.
        Error::Invalid(_) | Error::Io { .. } => error,
        other => file.home().blame(other),
    };
    save_bundle(py, &bundle, &path, format, &how, (&reads, &blame), progress)
}

/// The tensors of a file that a conversion keeps, changed as requested.
fn selected(file: &FileCore, only: &[String], how: &Writing) -> Result<Bundle> {
    let names: Vec<String> = file.names().collect();
    only.iter().try_for_each(|glob| demand(glob, &names))?;
    let mut bundle = Bundle::clone(file.bundle());
    how.change(&mut bundle, &names)?;
    if !only.is_empty() {
        let kept: Vec<bool> = { names.iter() }
            .map(|name| only.iter().any(|glob| matches(glob, name)))
            .collect();
        let keys: Vec<Key> = { bundle.entries().iter().zip(kept) }
            .filter(|(_, keep)| *keep)
            .map(|((key, _), _)| key.clone())
            .collect();
        bundle.retain(|key| keys.contains(key));
    }
    Ok(bundle)
}
