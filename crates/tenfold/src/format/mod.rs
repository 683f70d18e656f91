//! The trait of formats, and their capabilities as data.

mod capabilities;
mod options;

pub use capabilities::{Capabilities, DimNames, MetaSupport, Names, SidecarSlot, StorageKind};
pub use options::{Allow, Mode, Naming, OptionInfo, Options, ReadOptions, When, WriteOptions};
pub(crate) use options::{BIG, ENDIAN, SPARSE_CELLS};

use std::path::{Path, PathBuf};

use crate::bundle::Bundle;
use crate::dtype::{Arity, DType, Kind, Number, Overflow, is_exact};
use crate::error::{Error, Result};
use crate::io::{Head, Sink, Source};
use crate::key::Key;
use crate::loss::{Aspect, Loss, Tier};
use crate::memory;
use crate::meta::Value;
use crate::tensor::{Tensor, is_quantization, not_understood};

/// A tensor file format: detection, reading and writing. The only codec trait.
pub trait Format: Sync {
    /// The static description of the format.
    fn info(&self) -> &'static Info;

    /// Reads the headers; leaves the numbers in the file.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the file breaks a rule of the format.
    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle>;

    /// Writes a bundle that the format can hold, as [`save`](crate::save) has ensured.
    ///
    /// # Errors
    /// [`Error::Io`] if the target fails, and errors of reading the values.
    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()>;

    /// Whether a file may be of this format: cheap, and by its head alone where possible.
    ///
    /// # Errors
    /// [`Error::Io`] if the head is insufficient and the rest cannot be read; no content is an
    /// error.
    fn probe(&self, head: &Head) -> Result<Match> {
        let magic = self.info().magic;
        let is_signed = !magic.is_empty() && head.bytes().starts_with(magic);
        Ok(if is_signed { Match::Yes } else { Match::No })
    }

    /// Whether a file whose name suggests this format may be of it: for a format without a
    /// signature, the name suffices unless the content contradicts it.
    ///
    /// # Errors
    /// As [`Format::probe`].
    fn probe_named(&self, _head: &Head) -> Result<Match> {
        Ok(Match::Maybe)
    }

    /// Whether files with numbered names, such as `x-00001-of-00003`, are always one set, which any
    /// of them stands for.
    fn has_numbered_sets(&self) -> bool {
        false
    }

    /// The shard that a bundle declares itself to be; `None` if it refers to no others.
    fn shard(&self, _bundle: &Bundle) -> Option<Shard> {
        None
    }

    /// Marks a bundle as a shard, as the programs of the format do; without a shard, removes such
    /// marks.
    fn mark_shard(&self, _bundle: &mut Bundle, _shard: Option<&Shard>) {}

    /// The versions with other capabilities than the first, each as a format of its own.
    fn versions(&self) -> &'static [&'static dyn Format] {
        &[]
    }

    /// The one of [`Format::versions`] as which a bundle is written; `None` if it is none of them.
    fn edition(&self, _bundle: &Bundle, _how: &WriteOptions) -> Option<&'static dyn Format> {
        None
    }

    /// The programs that open files of a version, such as `0.1 to 1.2`, if not all do; for the file
    /// `written`, if that is given as stored, with nothing restored.
    fn readers(&self, _version: &str, _written: Option<&Bundle>) -> Option<String> {
        None
    }

    /// A remark for users about a file to be written, such as how its programs treat it.
    fn remark(&self, _bundle: &Bundle, _how: &WriteOptions) -> Option<&'static str> {
        None
    }

    /// Fits a tensor to requirements of this format alone; `None` leaves it unchanged.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an option does not fit the tensor.
    fn adapt(&self, _key: &Key, _tensor: &Tensor, _how: &WriteOptions) -> Result<Option<Adapted>> {
        Ok(None)
    }

    /// The number types that the format has for such a tensor.
    fn numbers(&self, _tensor: &Tensor) -> &'static [Number] {
        self.info().holds.numbers
    }

    /// Metadata that a file gets in addition to a bundle's, or instead of it, as required by its
    /// programs or by options.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an option has no valid value.
    fn added_meta(&self, _bundle: &Bundle, _how: &WriteOptions) -> Result<Vec<(String, Value)>> {
        Ok(Vec::new())
    }

    /// Whether a bundle without tensors is a complete file of this format.
    fn needs_no_tensor(&self, _bundle: &Bundle) -> bool {
        false
    }

    /// Whether this version cannot hold metadata that other versions of the format hold.
    fn lacks_own_meta(&self, _name: &str) -> bool {
        false
    }

    /// The name of a tensor, if the format identifies tensors by their names and leaves no choice.
    fn tensor_name(&self, _bundle: &Bundle, _key: &Key, _tensor: &Tensor) -> Option<Key> {
        None
    }

    /// The character at which plain names of a bundle are split into paths, if the programs of the
    /// format expect paths.
    fn name_separator(&self, _bundle: &Bundle) -> Option<char> {
        None
    }

    /// The extension of a file of one tensor, if it is not the usual one.
    fn lone_extension(&self) -> Option<&'static str> {
        None
    }

    /// The options without which a file of this tensor, written with `options`, cannot be read
    /// again.
    ///
    /// # Errors
    /// [`Error::Invalid`] for options that make no sense.
    fn options_to_read(&self, _tensor: &Tensor, _options: &Options) -> Result<Options> {
        Ok(Options::default())
    }

    /// The file that describes the one at `path`, which is only a part of its data; `None` if it is
    /// no such part.
    fn primary_of(&self, _path: &Path) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Whether a checksum of an unknown kind stays with a tensor, rather than being replaced by a
    /// requested one.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an option makes no sense.
    fn keeps_checksum(&self, _tensor: &Tensor, _how: &WriteOptions) -> Result<bool> {
        Ok(false)
    }

    /// Losses that [`Capabilities`] cannot express.
    ///
    /// # Errors
    /// Errors of reading values, if the answer depends on them.
    fn format_losses(&self, _bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(Vec::new())
    }
}

/// A shard: one file of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number, counted from 0.
    pub number: u64,
    /// The number of files in the set.
    pub count: u64,
    /// The number of tensors in all of them, if it is known.
    pub n_tensors: Option<u64>,
}

/// A tensor that a format has adapted, and the losses.
pub type Adapted = (Tensor, Vec<(Tier, Aspect, String)>);

/// The handling of values out of range in another number type.
pub(crate) fn overflow(allow: &Allow) -> Overflow {
    if allow.permits(Aspect::Precision) {
        Overflow::Saturates
    } else {
        Overflow::Fails
    }
}

/// The loss of a requested cast. Rounding to the width of a float is expected; truncation of
/// fractions needs permission.
pub(crate) fn cast_loss(from: Number, to: Number) -> (Tier, Aspect, String) {
    let is_float = |number: Number| number.kind() == Kind::Float;
    if is_float(from) && !is_float(to) {
        let detail = format!("{from} becomes {to}: any fractions are lost");
        return (Tier::Refused, Aspect::Precision, detail);
    }
    if is_exact(from, to) {
        (Tier::Said, Aspect::Number, format!("{from} becomes {to}"))
    } else {
        (
            Tier::Said,
            Aspect::Precision,
            format!("{from} is rounded to {to}"),
        )
    }
}

/// The certainty that a file is of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It is not.
    No,
    /// Weak match: accepted only if the extension suggests no other format.
    Looks,
    /// It parses, but so might other formats.
    Maybe,
    /// It has the signature of the format.
    Yes,
}

/// The static description of a format.
#[derive(Debug)]
pub struct Info {
    /// Its name, in lower case, as on the command line.
    pub name: &'static str,
    /// Its title, in one line.
    pub title: &'static str,
    /// File name extensions that suggest it, the usual one first.
    pub extensions: &'static [&'static str],
    /// The signature at the beginning of a file; empty if the format has none.
    pub magic: &'static [u8],
    /// The versions that can be written, the default first; none if it is only read.
    pub versions: &'static [&'static str],
    /// The versions that can only be read.
    pub only_read: &'static [&'static str],
    /// The options of the format, for `--opt`.
    pub options: &'static [OptionInfo],
    /// The capabilities of its writer.
    pub holds: Capabilities,
}

impl Info {
    /// Whether it is written at all.
    #[must_use]
    pub fn is_written(&self) -> bool {
        !self.versions.is_empty()
    }

    /// The name of a tensor in a file of this format: in a flat format the raw name, else the path
    /// as [`Key`] displays it.
    #[must_use]
    pub fn name_of(&self, key: &Key) -> String {
        match (self.holds.names, key.flat_name()) {
            (Names::Flat, Some(name)) => name.into(),
            _ => key.to_string(),
        }
    }

    /// The names of all tensors, as [`Info::name_of`] gives them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn names_of(&self, bundle: &Bundle) -> Result<Vec<String>> {
        let entries = bundle.entries().iter();
        memory::collected(entries.map(|(key, _)| self.name_of(key)))
    }

    /// The error of writing a read-only format.
    pub(crate) fn only_reads(&self) -> Error {
        let name = self.name;
        Error::invalid(format!(
            "{name} is read and never written: name another format"
        ))
    }
}

/// Describes elements that a format cannot hold, and the options that convert them.
pub(crate) fn elements_of(dtype: DType) -> String {
    let (parts, also) = match dtype.arity {
        Arity::Real => return format!("elements of {dtype}"),
        Arity::Complex if matches!(dtype.number, Number::F32 | Number::F64) => {
            ("re|im|abs|arg", "--to ztensor@2")
        }
        Arity::Complex => ("re|im|abs|arg", "--to tens"),
        Arity::Quaternion | Arity::Octonion => ("re|abs", "--to tens"),
    };
    format!(
        "elements of {dtype}; --complex split adds a dimension of {}, --part {parts} keeps one part, \
         {also} keeps them as they are",
        dtype.arity.count()
    )
}

/// Describes a layout that a format cannot hold, and the options that help.
pub(crate) fn layout_not_held(layout: &str) -> String {
    if is_quantization(layout) {
        not_understood(layout)
    } else {
        format!(
            "the layout {layout:?} is not one of its types; --to ztensor@2 keeps it, --exclude leaves it out"
        )
    }
}

/// The hint that a bundle was read from a PyTorch checkpoint.
pub(crate) const FROM_TORCH: &str = "torch:layout";
