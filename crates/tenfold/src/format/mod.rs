//! The trait of formats, and their capabilities as data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::bundle::Bundle;
use crate::bytes::{Endian, extension};
use crate::dtype::{Arity, DType, Kind, Number, Overflow, is_exact};
use crate::error::{Aspect, Error, Loss, Result, Tier};
use crate::io::{Head, Progress, Sink, Source};
use crate::key::Key;
use crate::limits::Limits;
use crate::memory;
use crate::meta::{Meta, Value};
use crate::tensor::{Duplicates, Order, Tensor, is_quantization, not_understood};

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

/// The capabilities of a format, as data.
#[derive(Debug)]
pub struct Capabilities {
    /// The number of tensors, and their naming.
    pub names: Names,
    /// The number types.
    pub numbers: &'static [Number],
    /// The numbers of components of an element.
    pub arities: &'static [Arity],
    /// The kinds of storage.
    pub kinds: &'static [StorageKind],
    /// The orders of dense values.
    pub orders: &'static [Order],
    /// The least and the greatest number of dimensions.
    pub ndim: (u64, u64),
    /// The least and the greatest size of a dimension.
    pub size: (u64, u64),
    /// Whether dimensions have names, and which.
    pub dim_names: DimNames,
    /// Whether symmetries are declared.
    pub symmetry: bool,
    /// Whether tensors have statistics.
    pub state: bool,
    /// Whether files and tensors have user metadata.
    pub meta: MetaSupport,
    /// Where a sidecar can be stored: text that restores what the format has no field for.
    pub carries: SidecarSlot,
}

/// The naming of tensors in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// A single unnamed tensor.
    One,
    /// By a plain name.
    Flat,
    /// By a path.
    Tree,
}

/// Kinds of storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageKind {
    /// Every cell.
    Dense,
    /// Cells by position.
    Sparse,
    /// Blocks by label.
    Labelled,
    /// Tensor trains.
    Train,
    /// Opaque bytes.
    Opaque,
}

/// The names that dimensions can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DimNames {
    /// None.
    No,
    /// `batch` alone, and only for the last dimension.
    Batch,
    /// One byte each.
    Letter,
    /// Any; an unnamed dimension gets one.
    Required,
    /// Any, or none.
    Any,
}

/// Where user metadata can be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetaSupport {
    /// With the file.
    pub file: bool,
    /// With each tensor.
    pub tensor: bool,
}

/// Where a format can store text that this library restores and other programs ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SidecarSlot {
    /// Nowhere.
    No,
    /// In the metadata of each tensor; that of the file is stored with the first.
    Tensor,
    /// In the metadata of the file.
    File,
    /// In a comment of the file, with limited length.
    Comment,
}

impl SidecarSlot {
    /// Whether there is one text for the whole file.
    pub(crate) fn is_for_file(self) -> bool {
        match self {
            SidecarSlot::No | SidecarSlot::Tensor => false,
            SidecarSlot::File | SidecarSlot::Comment => true,
        }
    }
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
