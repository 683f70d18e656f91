//! Errors as the exceptions of `tenfold._errors`.

use std::io::ErrorKind;
use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use tenfold::{Error, Hint, Info, Loss};

static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// The module that defines the exceptions and their attributes.
fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    let load = || Ok::<_, PyErr>(py.import("tenfold._errors")?.unbind());
    Ok(ERRORS.get_or_try_init(py, load)?.bind(py))
}

/// Raises the exception `name` with attributes besides its message.
fn raise(
    py: Python<'_>,
    name: &str,
    args: impl for<'py> Fn(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
) -> PyErr {
    let made = module(py).and_then(|module| module.getattr(name)?.call1(args(py)?));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The hint of an error, worded as arguments.
fn way(hint: Hint) -> &'static str {
    match hint {
        Hint::Duplicates { sum: true } => {
            "; duplicates=\"sum\" adds the values up, duplicates=\"last\" keeps the last"
        }
        Hint::Duplicates { sum: false } => "; duplicates=\"last\" keeps the last",
        _ => "",
    }
}

/// A message of the library with arguments in place of flags.
pub(crate) fn in_python(py: Python<'_>, text: &str) -> String {
    static WORDING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if !text.contains("--") {
        return text.to_owned();
    }
    let reworded = WORDING
        .import(py, "tenfold._wording", "in_python")
        .and_then(|reword| reword.call1((text,))?.extract());
    // A message with flags is better than none.
    reworded.unwrap_or_else(|_| text.to_owned())
}

/// An exception with only a message.
pub(crate) fn invalid(py: Python<'_>, why: &str) -> PyErr {
    raise(py, "InvalidRequest", |py| (why,).into_pyobject(py))
}

/// The Python exception for an error of the library.
pub(crate) fn of(py: Python<'_>, error: Error) -> PyErr {
    let way = error.hint().map_or("", way);
    let text = in_python(py, &error.to_string()) + way;
    let (path, error) = error.split_file();
    let shown = path.as_ref().map(|path| format!("{}: ", path.display()));
    let shown = shown.unwrap_or_default();
    match error {
        Error::OutOfMemory { .. } => raise(py, "OutOfMemory", |py| (&text,).into_pyobject(py)),
        Error::Io { source, .. } if source.kind() == ErrorKind::OutOfMemory => {
            raise(py, "OutOfMemory", |py| (&text,).into_pyobject(py))
        }
        Error::Io { source, .. } => {
            let name = match source.kind() {
                ErrorKind::NotFound => "MissingFile",
                ErrorKind::PermissionDenied => "ForbiddenFile",
                ErrorKind::IsADirectory => "FolderGiven",
                _ => "FileError",
            };
            let words = source.to_string();
            // The exception itself contains the errno.
            let words = words.split(" (os error").next().unwrap_or_default();
            raise(py, name, |py| {
                let path = path.clone().map(PathBuf::into_os_string);
                (source.raw_os_error(), words, path).into_pyobject(py)
            })
        }
        Error::Malformed { format, at, .. } => raise(py, "MalformedFile", |py| {
            (&text, format, at).into_pyobject(py)
        }),
        Error::Unsupported { format, .. } => raise(py, "UnsupportedFeature", |py| {
            (&text, format).into_pyobject(py)
        }),
        Error::Limit {
            limit,
            why,
            wanted,
            allowed,
        } => raise(py, "LimitExceeded", |py| {
            (format!("{shown}{why}"), limit, wanted, allowed).into_pyobject(py)
        }),
        Error::NoRoom { value, number } => {
            let way = "allow=[\"precision\"] takes the nearest";
            invalid(py, &format!("{shown}{value} does not fit {number}; {way}"))
        }
        Error::Refused(refusal) => raise(py, "LossRefused", |py| {
            let losses = losses(py, None, &refusal.losses)?;
            (refusal.format, losses).into_pyobject(py)
        }),
        Error::Unrecognised {
            candidates,
            content,
        } => raise(py, "UnrecognisedFile", |py| {
            let file = path.as_ref().map(|path| path.display().to_string());
            (candidates.clone(), content.as_ref(), file).into_pyobject(py)
        }),
        Error::Stopped => PyRuntimeError::new_err(text),
        _ => invalid(py, &text),
    }
}

/// The Python exception for an error of the train engine; `raise_own` handles those not specific to
/// trains.
pub(crate) fn of_train(
    py: Python<'_>,
    error: tenfold_train::Error,
    raise_own: impl FnOnce(Error) -> PyErr,
) -> PyErr {
    match error {
        tenfold_train::Error::Tensor(error) => raise_own(error),
        tenfold_train::Error::RankLimit(limit) => raise(py, "RankLimitReached", |py| {
            (
                limit.to_string(),
                limit.needed,
                limit.allowed,
                limit.reached,
            )
                .into_pyobject(py)
        }),
        other => raise_own(Error::Invalid(other.to_string())),
    }
}

/// The error of the train engine for a train that belongs to no file.
pub(crate) fn of_made_train(py: Python<'_>, error: tenfold_train::Error) -> PyErr {
    of_train(py, error, |error| of(py, error))
}

/// Losses as Python's `Loss` tuples, with the names of a file of the format `info`, if given.
pub(crate) fn losses<'py>(
    py: Python<'py>,
    info: Option<&Info>,
    losses: &[Loss],
) -> PyResult<Bound<'py, PyList>> {
    let class = module(py)?.getattr("Loss")?;
    let list = PyList::empty(py);
    for loss in losses {
        let key = { loss.key.as_ref() }.map(|key| match info {
            Some(info) => info.name_of(key),
            None => key
                .flat_name()
                .map_or_else(|| key.to_string(), str::to_owned),
        });
        let tier = match loss.tier {
            tenfold::Tier::Carried => "carried",
            tenfold::Tier::Said => "said",
            tenfold::Tier::Refused => "refused",
            tenfold::Tier::Impossible => "impossible",
        };
        let fields = PyDict::new(py);
        fields.set_item("key", key)?;
        fields.set_item("aspect", loss.aspect.as_str())?;
        fields.set_item("detail", in_python(py, &loss.detail))?;
        fields.set_item("tier", tier)?;
        list.append(class.call((), Some(&fields))?)?;
    }
    Ok(list)
}
