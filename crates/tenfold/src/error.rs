//! What can go wrong, one variant per who must act.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::key::Key;

/// The result of anything that reads or writes tensors.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system said no.
    #[error("{}{source}", in_path(.path))]
    Io {
        /// The file it happened to, where one is known.
        path: Option<PathBuf>,
        /// What the system said.
        source: io::Error,
    },
    /// The file breaks the rules of its format.
    #[error("{}{why}{}", of_format(.format), at_byte(.at))]
    Malformed {
        /// The format it was read as; `None` below the codecs, filled in by [`Error::of`].
        format: Option<&'static str>,
        /// The offset of the first byte that is wrong.
        at: Option<u64>,
        /// Which rule is broken, with the value found and the value wanted.
        why: String,
    },
    /// The file is sound, but asks for something this build does not do.
    #[error("{format}: {what} is not supported")]
    Unsupported {
        /// The format.
        format: &'static str,
        /// What was asked for.
        what: String,
    },
    /// A limit set by the caller stands in the way.
    #[error("{why} ({wanted} wanted, {allowed} allowed; raise it with --max-{limit})")]
    Limit {
        /// The limit's name in [`Limits`](crate::Limits) and, after `--max-`, on the command line.
        limit: &'static str,
        /// What was about to happen.
        why: String,
        /// How much it would have needed.
        wanted: u128,
        /// How much is allowed.
        allowed: u64,
    },
    /// The target format cannot hold everything; nothing was written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// No format claims the file, or several do.
    #[error("{}", unrecognised(.candidates))]
    Unrecognised {
        /// The formats that might be meant; empty if none.
        candidates: Vec<&'static str>,
    },
    /// The caller asked for something that makes no sense.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// Makes a [`Error::Malformed`] that does not know its format yet.
    pub(crate) fn malformed(at: impl Into<Option<u64>>, why: impl Into<String>) -> Self {
        Error::Malformed {
            format: None,
            at: at.into(),
            why: why.into(),
        }
    }

    /// Makes an [`Error::Invalid`].
    pub(crate) fn invalid(why: impl Into<String>) -> Self {
        Error::Invalid(why.into())
    }

    /// Names the format in which a fault was found, if it is not named yet.
    #[must_use]
    pub fn of(self, name: &'static str) -> Self {
        match self {
            Error::Malformed {
                format: None,
                at,
                why,
            } => Error::Malformed {
                format: Some(name),
                at,
                why,
            },
            other => other,
        }
    }

    /// Names the file in which an input or output error happened, if it is not named yet.
    #[must_use]
    pub fn in_file(self, name: &Path) -> Self {
        match self {
            Error::Io { path: None, source } => Error::Io {
                path: Some(name.into()),
                source,
            },
            other => other,
        }
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

fn unrecognised(candidates: &[&str]) -> String {
    if candidates.is_empty() {
        "no known format: name one with --format".into()
    } else {
        format!(
            "could be {}: name one with --format",
            candidates.join(" or ")
        )
    }
}

/// One thing a target format cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The tensor it concerns; `None` for the file as a whole.
    pub key: Option<Key>,
    /// What kind of thing would be lost.
    pub aspect: Aspect,
    /// What exactly, in words.
    pub detail: String,
    /// Whether it is said, refused, or cannot be helped.
    pub tier: Tier,
}

impl Loss {
    /// Something that the target has no way to express.
    pub(crate) fn impossible<'a>(
        key: impl Into<Option<&'a Key>>,
        aspect: Aspect,
        detail: impl Into<String>,
    ) -> Loss {
        Loss {
            key: key.into().cloned(),
            aspect,
            detail: detail.into(),
            tier: Tier::Impossible,
        }
    }
}

/// How grave a loss is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// All values survive: it is done, and said.
    Said,
    /// Values or their addresses would not survive: refused unless permitted.
    Refused,
    /// The target has no way to express it: refused whatever is permitted.
    Impossible,
}

/// The kinds of things a conversion can lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Aspect {
    /// The number type, where all values survive.
    Number,
    /// The values themselves, which would be rounded.
    Precision,
    /// The sizes of the dimensions.
    Shape,
    /// The names of the dimensions.
    DimNames,
    /// The order of the dimensions.
    DimOrder,
    /// The labels of mapped dimensions.
    Labels,
    /// Which cells are explicit.
    Sparsity,
    /// Declared or packed symmetries.
    Symmetry,
    /// The decomposition of a tensor train.
    Train,
    /// Names of tensors.
    Keys,
    /// Statistics that belong to a tensor.
    State,
    /// How many tensors there are.
    Count,
    /// Metadata.
    Metadata,
    /// Tensors that could not be read.
    Skipped,
    /// A name that the target demands and nobody chose.
    Invented,
}

impl Aspect {
    /// All of them.
    pub const ALL: &'static [Aspect] = &[
        Aspect::Number,
        Aspect::Precision,
        Aspect::Shape,
        Aspect::DimNames,
        Aspect::DimOrder,
        Aspect::Labels,
        Aspect::Sparsity,
        Aspect::Symmetry,
        Aspect::Train,
        Aspect::Keys,
        Aspect::State,
        Aspect::Count,
        Aspect::Metadata,
        Aspect::Skipped,
        Aspect::Invented,
    ];

    /// The word for it on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Aspect::Number => "number",
            Aspect::Precision => "precision",
            Aspect::Shape => "shape",
            Aspect::DimNames => "dim-names",
            Aspect::DimOrder => "dim-order",
            Aspect::Labels => "labels",
            Aspect::Sparsity => "sparsity",
            Aspect::Symmetry => "symmetry",
            Aspect::Train => "train",
            Aspect::Keys => "keys",
            Aspect::State => "state",
            Aspect::Count => "count",
            Aspect::Metadata => "metadata",
            Aspect::Skipped => "skipped",
            Aspect::Invented => "invented",
        }
    }
}

/// A refusal to write, with everything that would have been lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The format that cannot hold it.
    pub format: &'static str,
    /// What it cannot hold; never empty.
    pub losses: Vec<Loss>,
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} cannot hold all of it", self.format)?;
        for loss in &self.losses {
            write!(out, "\n  {:<10} ", loss.aspect.as_str())?;
            if let Some(key) = loss.key.as_ref().filter(|key| !key.is_empty()) {
                write!(out, "{key}: ")?;
            }
            write!(out, "{}", loss.detail)?;
        }
        write!(out, "\nNothing was written.")?;
        if self.losses.iter().all(|loss| loss.tier < Tier::Impossible) {
            let mut words: Vec<&str> = self
                .losses
                .iter()
                .map(|loss| loss.aspect.as_str())
                .collect();
            words.sort_unstable();
            words.dedup();
            write!(out, " To go ahead: --allow {}", words.join(","))?;
        }
        Ok(())
    }
}
