//! Options of reading and writing: of every format, and of one.

use std::collections::BTreeMap;
use std::path::Path;

use super::Info;
use crate::bytes::{Endian, extension};
use crate::error::{Error, Result};
use crate::io::Progress;
use crate::limits::Limits;
use crate::loss::Aspect;
use crate::meta::Meta;
use crate::tensor::Duplicates;

/// An option of a format.
#[derive(Debug)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// Whether it applies to reading or to writing.
    pub when: When,
    /// The possible values.
    pub values: &'static str,
    /// Its effect.
    pub about: &'static str,
}

impl OptionInfo {
    pub(crate) const fn new(
        name: &'static str,
        when: When,
        values: &'static str,
        about: &'static str,
    ) -> OptionInfo {
        OptionInfo {
            name,
            when,
            values,
            about,
        }
    }
}

/// The value of the option `endian`, and of hints with a byte order.
pub(crate) const BIG: &str = "big";

/// The byte order of numbers, for formats with both.
pub(crate) const ENDIAN: OptionInfo = OptionInfo::new(
    "endian",
    When::Write,
    "little|big",
    "the byte order of numbers; kept as it was in a file of this format, else little",
);

/// Single cells for a sparse tensor, in formats with labelled blocks.
pub(crate) const SPARSE_CELLS: OptionInfo = OptionInfo::new(
    "sparse",
    When::Write,
    "true|false",
    "whether sparse cells stay single cells, labelled by their positions; else all cells are written up to 1 GiB",
);

/// When an option applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// While reading.
    Read,
    /// While writing.
    Write,
}

/// The strictness of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Every rule of the format is enforced.
    #[default]
    Strict,
    /// Harmless violations become notes.
    Lenient,
}

/// Options for reading.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The limits for an untrusted file.
    pub limits: Limits,
    /// The strictness.
    pub mode: Mode,
    /// Options of the format, by name.
    pub options: Options,
    /// Whether metadata that a conversion carried as text stays a text.
    pub skip_restore: bool,
    /// Whether a damaged tensor is left out, with a note of the kind
    /// [`NoteKind::Lost`](crate::NoteKind), if the others can be read without it:
    /// [`salvage`](crate::salvage) sets this.
    pub salvage: bool,
    /// The rule for duplicate sparse cells; `None` refuses them when values are read.
    pub duplicates: Option<Duplicates>,
    /// Whether spooled values, as those of texts, are only counted if they do not fit in memory: no
    /// temporary file is created until values are read, for which the file is read again.
    pub values_later: bool,
    /// Whether pickles that are no tensors, such as NumPy's object arrays, are read too, for the
    /// callables that loading them in Python would call.
    pub callables: bool,
}

/// Options for writing.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// The version of the format; `None` keeps that of the file the bundle was read from, else the
    /// default.
    pub version: Option<String>,
    /// Options of the format, by name.
    pub options: Options,
    /// The permitted losses.
    pub allow: Allow,
    /// Whether losses that would only be reported are refused too.
    pub strict: bool,
    /// The name of an unnamed tensor if it needs one: the name of its file, for example.
    pub stem: Option<String>,
    /// The extension of the written file, in lower case: some formats have several kinds of files.
    pub extension: Option<String>,
    /// The limits on work with the values: sorting, unpacking, transposition.
    pub limits: Limits,
    /// Whether the sync to disk before the file gets its name is skipped.
    pub skip_sync: bool,
    /// The progress that counts written bytes.
    pub progress: Progress,
    /// Whether metadata without a field in the format is lost, even if it could be carried as text.
    pub skip_carry: bool,
    /// The naming of tensors.
    pub naming: Naming,
    /// Whether components of complex numbers, quaternions and octonions become a last dimension.
    pub split_complex: bool,
    /// Whether sparse cells stay sparse even if the format could hold them as dense cells.
    pub keep_sparse: bool,
}

impl WriteOptions {
    /// Whether sparse cells stay sparse, by [`WriteOptions::keep_sparse`] or the option `sparse`.
    pub(crate) fn keeps_cells(&self) -> Result<bool> {
        let chosen = self
            .options
            .choose(SPARSE_CELLS.name, &[("true", true), ("false", false)])?;
        Ok(chosen.unwrap_or(self.keep_sparse))
    }

    /// The same for the file `path`, whose extension applies unless one is given.
    #[must_use]
    pub fn for_path(&self, path: &Path) -> WriteOptions {
        WriteOptions {
            extension: self.extension.clone().or_else(|| extension(path)),
            ..self.clone()
        }
    }
}

/// The naming of tensors in the target, as requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Naming {
    /// The separator of path segments in flat names, `/` by default; if it is given, plain names
    /// are also split into paths for a tree.
    pub separator: Option<char>,
    /// A prefix stripped from the names that have it.
    pub strip_prefix: Option<String>,
    /// Whether statistics and the configs of optimizers are dropped.
    pub drop_state: bool,
}

/// The permitted losses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Allow {
    /// None.
    #[default]
    Nothing,
    /// These aspects.
    These(Vec<Aspect>),
    /// All that can be permitted.
    Everything,
}

impl Allow {
    /// Whether a loss of this aspect is permitted.
    #[must_use]
    pub fn permits(&self, aspect: Aspect) -> bool {
        match self {
            Allow::Nothing => false,
            Allow::These(aspects) => aspects.contains(&aspect),
            Allow::Everything => true,
        }
    }
}

/// Named options of a format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, String>);

impl Options {
    /// Sets an option.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.iter();
        all.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of an option.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of an option with a fixed set of words, each with its meaning.
    pub(crate) fn choose<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match choices.iter().find(|(word, _)| *word == value) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => {
                let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
                let why = format!("{name} is {value}, not one of {}", words.join(", "));
                Err(Error::Invalid(why))
            }
        }
    }

    /// The byte order of written numbers: that of the option `endian`, else that of `hint` from a
    /// file of the same format, else little-endian.
    pub(crate) fn endian(&self, hints: &Meta, hint: &str) -> Result<Endian> {
        let chosen = self.choose(
            ENDIAN.name,
            &[("little", Endian::Little), (BIG, Endian::Big)],
        )?;
        let kept = if hints.text(hint) == Some(BIG) {
            Endian::Big
        } else {
            Endian::Little
        };
        Ok(chosen.unwrap_or(kept))
    }

    /// Fails if an option is set that the format does not have.
    pub(crate) fn check(&self, info: &Info, when: When) -> Result<()> {
        let known = |name: &str| {
            info.options
                .iter()
                .any(|o| o.name == name && o.when == when)
        };
        match self.0.keys().find(|name| !known(name)) {
            None => Ok(()),
            Some(name) => {
                let verb = if when == When::Read {
                    "reading"
                } else {
                    "writing"
                };
                let why = format!("{} has no option {name} for {verb}", info.name);
                Err(Error::Invalid(why))
            }
        }
    }
}
