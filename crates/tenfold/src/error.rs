//! Errors, one variant for each kind of answer to them.

use std::io;
use std::path::{Path, PathBuf};

use crate::hint::Hint;
use crate::key::Key;
use crate::loss::Refusal;

/// The result of anything that reads or writes tensors.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why something failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O error.
    #[error("{}{source}", in_path(.path))]
    Io {
        /// The file, if it is known.
        path: Option<PathBuf>,
        /// The error of the system.
        source: io::Error,
    },
    /// The file breaks the rules of its format.
    #[error("{}{why}{}", of_format(.format), at_byte(.at))]
    Malformed {
        /// The format as which it was read; `None` below the codecs, set by [`Error::of`].
        format: Option<&'static str>,
        /// The offset of the first byte that is wrong.
        at: Option<u64>,
        /// The broken rule, with the value found and the value expected.
        why: String,
        /// A way past it, if there is one.
        hint: Option<Hint>,
    },
    /// The file is valid, but needs a feature that is not supported.
    #[error("{format}: {what} is not supported")]
    Unsupported {
        /// The format.
        format: &'static str,
        /// The feature.
        what: String,
    },
    /// The system has not enough memory.
    #[error("out of memory: {bytes} bytes could not be had")]
    OutOfMemory {
        /// The size of the failed allocation.
        bytes: u64,
    },
    /// A limit set by the caller is exceeded.
    #[error("{why} ({} wanted, {allowed} allowed; raise it with {})", amount(*.wanted), flag(.limit))]
    Limit {
        /// The limit's name in [`Limits`](crate::Limits) and, after `--max-`, on the command line;
        /// the budget `memory` is `--memory` there.
        limit: &'static str,
        /// The operation.
        why: String,
        /// The value it needs.
        wanted: u128,
        /// The value allowed.
        allowed: u64,
    },
    /// A value is out of range in the requested number type.
    #[error("{value} does not fit {number}; --allow precision takes the nearest")]
    NoRoom {
        /// The value, as text.
        value: String,
        /// The number type.
        number: &'static str,
    },
    /// A computed value, such as a cell of a train, is out of the range of doubles.
    #[error("{0}")]
    OutOfRange(String),
    /// The request does not fit the content of a file.
    #[error("{0}")]
    Mismatch(String),
    /// The target format cannot hold everything; nothing was written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// No format claims the file, or several do.
    #[error("{}", unrecognised(.candidates, .content))]
    Unrecognised {
        /// The candidate formats; empty if there are none.
        candidates: Vec<&'static str>,
        /// The kind of content, if it is known, such as `an HDF5 file, which is not read yet`.
        content: Option<String>,
    },
    /// Any other error, with its file.
    #[error("{}: {error}", .path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The error.
        error: Box<Error>,
    },
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// Stopped by the caller: see [`Progress::stop`](crate::Progress::stop).
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// An [`Error::Malformed`] without a format, which is set later.
    pub(crate) fn malformed(at: impl Into<Option<u64>>, why: impl Into<String>) -> Self {
        Error::Malformed {
            format: None,
            at: at.into(),
            why: why.into(),
            hint: None,
        }
    }

    /// Sets the offset of malformed data, if it is not set yet.
    #[must_use]
    pub(crate) fn or_at(mut self, byte: Option<u64>) -> Self {
        if let Error::Malformed { at, .. } = &mut self {
            *at = at.or(byte);
        }
        self
    }

    /// The same error without the quotation in its text, which is between the first and the last
    /// quotation mark: content of the file may be confidential.
    #[must_use]
    pub(crate) fn unquoted(mut self) -> Self {
        if let Error::Malformed { why, .. } = &mut self
            && let (Some((before, _)), Some((_, after))) =
                (why.split_once('"'), why.rsplit_once('"'))
        {
            *why = format!("{before}\"…\"{after}");
        }
        self
    }

    /// Adds a way past malformed data.
    #[must_use]
    pub(crate) fn with_hint(mut self, way: Hint) -> Self {
        if let Error::Malformed { hint, .. } = &mut self {
            *hint = Some(way);
        }
        self
    }

    /// The way past it, if one is known.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        match self.cause() {
            Error::Malformed { hint, .. } => *hint,
            _ => None,
        }
    }

    /// An [`Error::Invalid`].
    pub(crate) fn invalid(why: impl Into<String>) -> Self {
        Error::Invalid(why.into())
    }

    /// Marks a request as sensible, but not for this tensor.
    #[must_use]
    pub(crate) fn mismatch(self) -> Self {
        match self {
            Error::Invalid(why) => Error::Mismatch(why),
            other => other,
        }
    }

    /// Names the tensor that does not fit the request.
    #[must_use]
    pub(crate) fn of_tensor(self, key: &Key) -> Self {
        match self {
            Error::Mismatch(why) if !key.is_empty() => Error::Mismatch(format!("{key}: {why}")),
            other => other,
        }
    }

    /// Names the format in which a fault was found, if it is not named yet.
    #[must_use]
    pub fn of(self, name: &'static str) -> Self {
        match self {
            Error::Malformed {
                format: None,
                at,
                why,
                hint,
            } => Error::Malformed {
                format: Some(name),
                at,
                why,
                hint,
            },
            other => other,
        }
    }

    /// Names the part in which something is malformed; offsets then are relative to that part.
    pub(crate) fn in_part(self, name: &str) -> Self {
        match self {
            Error::Malformed {
                format,
                at,
                why,
                hint,
            } => Error::Malformed {
                format,
                at,
                why: format!("{name}: {why}"),
                hint,
            },
            other => other,
        }
    }

    /// Names the file of an error, if it has one and it is not named yet.
    #[must_use]
    pub fn in_file(self, name: &Path) -> Self {
        match self {
            Error::Io { path: None, source } => Error::Io {
                path: Some(name.into()),
                source,
            },
            Error::Malformed { .. }
            | Error::Unsupported { .. }
            | Error::Limit { .. }
            | Error::OutOfMemory { .. }
            | Error::OutOfRange(_)
            | Error::Mismatch(_)
            | Error::Unrecognised { .. } => Error::InFile {
                path: name.into(),
                error: Box::new(self),
            },
            Error::Io { path: Some(_), .. }
            | Error::NoRoom { .. }
            | Error::Refused(_)
            | Error::Invalid(_)
            | Error::InFile { .. }
            | Error::Stopped => self,
        }
    }

    /// The file, if one is named, and the error without it.
    #[must_use]
    pub fn split_file(self) -> (Option<PathBuf>, Self) {
        match self {
            Error::InFile { path, error } => (Some(path), *error),
            Error::Io { path, source } => (path, Error::Io { path: None, source }),
            other => (None, other),
        }
    }

    /// Whether it is about the content of a file, rather than about a failed or needless read.
    #[must_use]
    pub fn is_of_content(&self) -> bool {
        match self {
            Error::Io { .. } | Error::OutOfMemory { .. } | Error::Stopped => false,
            Error::InFile { error, .. } => error.is_of_content(),
            Error::Malformed { .. }
            | Error::Unsupported { .. }
            | Error::Limit { .. }
            | Error::NoRoom { .. }
            | Error::OutOfRange(_)
            | Error::Mismatch(_)
            | Error::Refused(_)
            | Error::Unrecognised { .. }
            | Error::Invalid(_) => true,
        }
    }

    /// Whether memory was exhausted.
    #[must_use]
    pub fn is_lack_of_memory(&self) -> bool {
        match self.cause() {
            Error::OutOfMemory { .. } => true,
            Error::Io { source, .. } => source.kind() == std::io::ErrorKind::OutOfMemory,
            _ => false,
        }
    }

    /// The error without its file.
    #[must_use]
    pub fn cause(&self) -> &Self {
        match self {
            Error::InFile { error, .. } => error,
            other => other,
        }
    }
}

/// The result of reading, `None` if the bytes break a rule or a limit. A failed read stays an
/// error.
pub(crate) fn sound<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_of_content() => Ok(None),
        read => read.map(Some),
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Error::Io { path: None, source }
    }
}

fn in_path(path: &Option<PathBuf>) -> String {
    path.as_ref()
        .map_or_else(String::new, |path| format!("{}: ", path.display()))
}

fn of_format(format: &Option<&str>) -> String {
    format.map_or_else(String::new, |name| format!("not a valid {name} file: "))
}

fn at_byte(at: &Option<u64>) -> String {
    at.map_or_else(String::new, |at| format!(" (byte {at})"))
}

/// A count as text, also beyond the largest one.
pub(crate) fn amount(count: u128) -> String {
    match count {
        u128::MAX => "2^128 or more".into(),
        count if count == u128::from(u64::MAX) => "2^64 or more".into(),
        count => count.to_string(),
    }
}

fn flag(limit: &str) -> String {
    match limit {
        "memory" => "--memory".into(),
        limit => format!("--max-{limit}"),
    }
}

fn unrecognised(candidates: &[&str], content: &Option<String>) -> String {
    match (candidates, content) {
        (_, Some(content)) => content.clone(),
        ([], None) => {
            "no known format: name one with --format, or say with --raw what numbers these are"
                .into()
        }
        (candidates, None) => format!(
            "could be {}: name one with --format",
            candidates.join(" or ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_counted_is_no_number() {
        let limit = |wanted| Error::Limit {
            limit: "labels",
            why: "many".into(),
            wanted,
            allowed: 7,
        };
        let said = limit(u128::MAX).to_string();
        assert!(
            said.starts_with("many (2^128 or more wanted, 7 allowed"),
            "{said}"
        );
        let said = limit(u64::MAX.into()).to_string();
        assert!(
            said.starts_with("many (2^64 or more wanted, 7 allowed"),
            "{said}"
        );
        assert!(limit(9).to_string().starts_with("many (9 wanted"));
    }
}
