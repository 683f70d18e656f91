//! What went wrong, as the exceptions of `tenfold._errors`.

use std::io::ErrorKind;
use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use tenfold::{Error, Hint, Info, Loss};

static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// The module that defines the exceptions and what they carry.
fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    let load = || Ok::<_, PyErr>(py.import("tenfold._errors")?.unbind());
    Ok(ERRORS.get_or_try_init(py, load)?.bind(py))
}

/// Raises the exception called `name`, with what it carries besides its message.
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

/// What the library says to users of the command line, and what that is here.
const WORDS: &[(&str, &str)] = &[
    ("; --only chooses one, --out-dir writes a file for each", ""),
    (
        "give it more with --reshape, --qubits or --qtt",
        "reshape it",
    ),
    ("--force replaces it", "overwrite=True replaces it"),
    ("give it, as with --opt '", "give it with options=, as '"),
    ("--opt ", "options= as "),
    ("--eps 1e-6 makes a train", "tenfold.compress makes a train"),
    ("--reshape ", "a reshape to "),
    ("; --symmetry-tol sets what is tolerated", ""),
    ("--dense expands it", "its numpy() expands it"),
    (
        "--dense --allow labels makes positions of the labels",
        "its labelled() gives labels and blocks",
    ),
    ("--only", "only="),
    ("--format", "format="),
    ("--lenient", "lenient=True"),
    ("--complex split", "complex=\"split\""),
    ("--part ", "part="),
    ("--dequantize", "numpy(dtype=\"f32\")"),
    ("--allow ", "allow= with "),
    ("--alone", "alone=True"),
    ("--to ztensor@2", "to=\"ztensor\" with version=\"2\""),
    ("--to ", "to="),
    ("--to", "to="),
];

/// A way past an error, as arguments.
fn way(hint: Hint) -> &'static str {
    match hint {
        Hint::Duplicates { sum: true } => {
            "; duplicates=\"sum\" adds the values up, duplicates=\"last\" keeps the last"
        }
        Hint::Duplicates { sum: false } => "; duplicates=\"last\" keeps the last",
        _ => "",
    }
}

/// A message in the words of this package.
fn in_python(text: &str) -> String {
    WORDS.iter().fold(text.to_owned(), |text, (flag, word)| {
        text.replace(flag, word)
    })
}

/// An exception that carries only its message.
pub(crate) fn invalid(py: Python<'_>, why: &str) -> PyErr {
    raise(py, "InvalidRequest", |py| (why,).into_pyobject(py))
}

/// What the library says, as Python hears it.
pub(crate) fn of(py: Python<'_>, error: Error) -> PyErr {
    let way = error.hint().map_or("", way);
    let text = in_python(&error.to_string()) + way;
    let (path, error) = error.split_file();
    let shown = path.as_ref().map(|path| format!("{}: ", path.display()));
    let shown = shown.unwrap_or_default();
    match error {
        Error::Io { source, .. } => {
            let name = match source.kind() {
                ErrorKind::NotFound => "MissingFile",
                ErrorKind::PermissionDenied => "ForbiddenFile",
                ErrorKind::IsADirectory => "FolderGiven",
                _ => "FileError",
            };
            let words = source.to_string();
            // The system's number is said by the exception itself.
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
            let why =
                format!("{value} does not fit {number}; allow=[\"precision\"] takes the nearest");
            invalid(py, &why)
        }
        Error::Refused(refusal) => raise(py, "LossRefused", |py| {
            let losses = losses(py, None, &refusal.losses)?;
            (refusal.format, losses).into_pyobject(py)
        }),
        Error::Unrecognised {
            candidates,
            content,
        } => raise(py, "UnrecognisedFile", |py| {
            let content = { content.as_ref() }.map(|content| format!("{shown}{content}"));
            (candidates.clone(), content).into_pyobject(py)
        }),
        Error::Stopped => PyRuntimeError::new_err(text),
        _ => invalid(py, &text),
    }
}

/// What the engine of trains says.
pub(crate) fn of_train(py: Python<'_>, error: tenfold_train::Error) -> PyErr {
    match error {
        tenfold_train::Error::Tensor(error) => of(py, error),
        tenfold_train::Error::RankLimit(limit) => raise(py, "RankLimitReached", |py| {
            (
                limit.to_string(),
                limit.needed,
                limit.allowed,
                limit.reached,
            )
                .into_pyobject(py)
        }),
        other => invalid(py, &in_python(&other.to_string())),
    }
}

/// Losses as Python's `Loss` tuples; the names are those of a file of the format `info`, if given.
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
        fields.set_item("detail", in_python(&loss.detail))?;
        fields.set_item("tier", tier)?;
        list.append(class.call((), Some(&fields))?)?;
    }
    Ok(list)
}
