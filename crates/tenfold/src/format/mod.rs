//! What a format is to the rest of the library.

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

/// A tensor file format: how it is recognised, read and written. The only codec trait.
pub trait Format: Sync {
    /// What there is to know about it.
    fn info(&self) -> &'static Info;

    /// Reads headers; leaves numbers where they are.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the file breaks a rule of the format.
    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle>;

    /// Writes a bundle that the format holds. [`save`](crate::save) has checked that it does.
    ///
    /// # Errors
    /// [`Error::Io`] if the target fails, and what reading the values gives.
    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()>;

    /// Whether a file might be of this format: cheap, and by its head wherever that is enough.
    ///
    /// # Errors
    /// [`Error::Io`] if the head is not enough and the rest cannot be read; whatever the bytes are, they are
    /// none.
    fn probe(&self, head: &Head) -> Result<Match> {
        let magic = self.info().magic;
        let is_signed = !magic.is_empty() && head.bytes().starts_with(magic);
        Ok(if is_signed { Match::Yes } else { Match::No })
    }

    /// Whether a file might be of this format whose name says so: where the format has no signature,
    /// that is enough unless its content contradicts.
    ///
    /// # Errors
    /// As [`Format::probe`].
    fn probe_named(&self, _head: &Head) -> Result<Match> {
        Ok(Match::Maybe)
    }

    /// Whether files that are numbered by their names, such as `x-00001-of-00003`, are always one set:
    /// any of them stands for all.
    fn has_numbered_sets(&self) -> bool {
        false
    }

    /// Which file of a set a bundle says that it is; `None` if it names no others.
    fn shard(&self, _bundle: &Bundle) -> Option<Shard> {
        None
    }

    /// Marks a bundle as one file of a set, as the programs of the format do; without a shard, takes
    /// such marks off.
    fn mark_shard(&self, _bundle: &mut Bundle, _shard: Option<&Shard>) {}

    /// The versions that hold other things than the first, each as a format of its own.
    fn versions(&self) -> &'static [&'static dyn Format] {
        &[]
    }

    /// The one of [`Format::versions`] that a bundle is written in; `None` if it is not one of them.
    fn edition(&self, _bundle: &Bundle, _how: &WriteOptions) -> Option<&'static dyn Format> {
        None
    }

    /// The programs that open files of a version, such as `0.1 to 1.2`, where not all do; of what was
    /// written, if that is given as a file has it, with nothing restored.
    fn readers(&self, _version: &str, _written: Option<&Bundle>) -> Option<String> {
        None
    }

    /// What users of a file should know that is about to be written, such as what its programs do with it.
    fn remark(&self, _bundle: &Bundle, _how: &WriteOptions) -> Option<&'static str> {
        None
    }

    /// Brings a tensor into a shape that only this format asks for; `None` leaves it as it is.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an option does not fit the tensor.
    fn adapt(&self, _key: &Key, _tensor: &Tensor, _how: &WriteOptions) -> Result<Option<Adapted>> {
        Ok(None)
    }

    /// The number types that it has for such a tensor.
    fn numbers(&self, _tensor: &Tensor) -> &'static [Number] {
        self.info().holds.numbers
    }

    /// Metadata that a file gets besides what a bundle has, or in its place, as its programs or options ask
    /// for it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an option is no such value.
    fn added_meta(&self, _bundle: &Bundle, _how: &WriteOptions) -> Result<Vec<(String, Value)>> {
        Ok(Vec::new())
    }

    /// Whether a bundle without tensors is all that a file of this format may say.
    fn needs_no_tensor(&self, _bundle: &Bundle) -> bool {
        false
    }

    /// Whether metadata that other versions of the format keep has no place in this one.
    fn lacks_own_meta(&self, _name: &str) -> bool {
        false
    }

    /// The name that a tensor of a bundle gets, where the format knows tensors by their names and there is no
    /// choice.
    fn tensor_name(&self, _bundle: &Bundle, _key: &Key, _tensor: &Tensor) -> Option<Key> {
        None
    }

    /// The letter at which plain names of a bundle become paths, where the programs of the format
    /// look for paths.
    fn name_separator(&self, _bundle: &Bundle) -> Option<char> {
        None
    }

    /// The extension of a file of one tensor, where that is not the usual one.
    fn lone_extension(&self) -> Option<&'static str> {
        None
    }

    /// The options without which a file of this tensor, written with `options`, is not read again.
    ///
    /// # Errors
    /// [`Error::Invalid`] for options that make no sense.
    fn options_to_read(&self, _tensor: &Tensor, _options: &Options) -> Result<Options> {
        Ok(Options::default())
    }

    /// The file that describes the one at `path`, which is only a part of what that file says;
    /// `None` if it is no such part.
    fn primary_of(&self, _path: &Path) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Whether a checksum of a kind that is not known stays with a tensor, or is replaced by one that is
    /// asked for.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an option makes no sense.
    fn keeps_checksum(&self, _tensor: &Tensor, _how: &WriteOptions) -> Result<bool> {
        Ok(false)
    }

    /// What it cannot hold of a bundle and [`Capabilities`] cannot express.
    ///
    /// # Errors
    /// What reading values gives, where the answer depends on them.
    fn format_losses(&self, _bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(Vec::new())
    }
}

/// One file of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, counted from 0.
    pub number: u64,
    /// How many files the set has.
    pub count: u64,
    /// How many tensors all of them have together, where that is known.
    pub n_tensors: Option<u64>,
}

/// A tensor that a format has adapted, and what that changes.
pub type Adapted = (Tensor, Vec<(Tier, Aspect, String)>);

/// What becomes of values that another number type has no room for.
pub(crate) fn overflow(allow: &Allow) -> Overflow {
    if allow.permits(Aspect::Precision) {
        Overflow::Saturates
    } else {
        Overflow::Fails
    }
}

/// What a cast that was asked for loses. Rounding to the width of a float is what it is for; fractions
/// that are cut off need permission.
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

/// How sure a format is that a file is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It is not.
    No,
    /// It looks like it, as many a file does: it is, where the name says nothing else.
    Looks,
    /// It parses, but so might other things.
    Maybe,
    /// It says so itself.
    Yes,
}

/// What there is to know about a format.
#[derive(Debug)]
pub struct Info {
    /// Its name, in lower case; the word on the command line.
    pub name: &'static str,
    /// One line about it.
    pub title: &'static str,
    /// File name extensions that suggest it, the usual one first.
    pub extensions: &'static [&'static str],
    /// The bytes a file begins with; empty if it has to be recognised otherwise.
    pub magic: &'static [u8],
    /// The versions that can be written, the default first; none if it is only read.
    pub versions: &'static [&'static str],
    /// The versions that are read and not written.
    pub only_read: &'static [&'static str],
    /// What `--opt` understands.
    pub options: &'static [OptionInfo],
    /// What it can hold when written.
    pub holds: Capabilities,
}

impl Info {
    /// Whether it is written at all.
    #[must_use]
    pub fn is_written(&self) -> bool {
        !self.versions.is_empty()
    }

    /// What a tensor of a file of this format is called: in a flat format the raw name, else the path
    /// as [`Key`] shows it.
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

    /// Why something is not written as this format.
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
    /// Whether it is for reading or for writing.
    pub when: When,
    /// What may be given.
    pub values: &'static str,
    /// What it does.
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

/// Describes elements that a format has no place for, and the flags that bring them into it.
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

/// A layout that a format has no type for, and the flags that help.
pub(crate) fn layout_not_held(layout: &str) -> String {
    if is_quantization(layout) {
        not_understood(layout)
    } else {
        format!(
            "the layout {layout:?} is not one of its types; --to ztensor@2 keeps it, --exclude leaves it out"
        )
    }
}

/// The hint that a bundle was read from a checkpoint of PyTorch.
pub(crate) const FROM_TORCH: &str = "torch:layout";

/// The value of the option `endian`, and of hints that keep a byte order.
pub(crate) const BIG: &str = "big";

/// The byte order of numbers, for formats that have both.
pub(crate) const ENDIAN: OptionInfo = OptionInfo::new(
    "endian",
    When::Write,
    "little|big",
    "the byte order of numbers; kept as it was in a file of this format, else little",
);

/// The single cells of a sparse tensor, for formats that have labelled blocks.
pub(crate) const SPARSE_CELLS: OptionInfo = OptionInfo::new(
    "sparse",
    When::Write,
    "true|false",
    "whether sparse cells stay single cells, labelled by their positions; else all cells are written up to 1 GiB",
);

/// When an option counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// While reading.
    Read,
    /// While writing.
    Write,
}

/// What a format can hold, as data.
#[derive(Debug)]
pub struct Capabilities {
    /// How many tensors, and how they are named.
    pub names: Names,
    /// The number types.
    pub numbers: &'static [Number],
    /// How many numbers an element may have.
    pub arities: &'static [Arity],
    /// The ways of keeping values.
    pub kinds: &'static [StorageKind],
    /// The orders of dense values.
    pub orders: &'static [Order],
    /// The least and the greatest number of dimensions.
    pub ndim: (u64, u64),
    /// The least and the greatest size of a dimension.
    pub size: (u64, u64),
    /// Whether dimensions have names, and how long one may be.
    pub dim_names: DimNames,
    /// Whether symmetries are declared.
    pub symmetry: bool,
    /// Whether tensors have statistics beside them.
    pub state: bool,
    /// Whether files and tensors have metadata of the user's own.
    pub meta: MetaSupport,
    /// Where text can be kept that restores what the format has no word for.
    pub carries: SidecarSlot,
}

/// How the tensors of a file are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// The file is its one tensor.
    One,
    /// By a plain name.
    Flat,
    /// By a path.
    Tree,
}

/// Ways of keeping values.
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
    /// Bytes that are kept and not understood.
    Opaque,
}

/// What names dimensions can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DimNames {
    /// None.
    No,
    /// `batch` alone, and only for the last.
    Batch,
    /// One byte each.
    Letter,
    /// Any; a dimension without one gets one.
    Required,
    /// Any, or none.
    Any,
}

/// Where metadata of the user's own can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetaSupport {
    /// With the file.
    pub file: bool,
    /// With each tensor.
    pub tensor: bool,
}

/// Where a format can keep text that this library restores and other programs ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SidecarSlot {
    /// Nowhere.
    No,
    /// In the metadata of each tensor; what concerns the file goes with the first.
    Tensor,
    /// In the metadata of the file.
    File,
    /// In a comment of the file, which is short.
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

/// How strictly a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Every rule of the format counts.
    #[default]
    Strict,
    /// Harmless violations become notes.
    Lenient,
}

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// How much an untrusted file may ask for.
    pub limits: Limits,
    /// How strictly.
    pub mode: Mode,
    /// Options of the format, by name.
    pub options: Options,
    /// Whether what a conversion carried as text is left as the text it is.
    pub skip_restore: bool,
    /// Whether a tensor that is damaged is left out, with a note of the kind
    /// [`NoteKind::Lost`](crate::NoteKind), where the others can be read without it:
    /// [`salvage`](crate::salvage) asks for that.
    pub salvage: bool,
    /// How sparse cells that are given more than once are resolved; `None` refuses them when values are
    /// read.
    pub duplicates: Option<Duplicates>,
    /// Whether values that have to be put aside, as those of texts, are only counted where they do not fit in
    /// memory: no temporary file is made unless somebody reads them, for which the file is read again.
    pub values_later: bool,
    /// Whether pickles that are no tensors, as of NumPy's arrays of objects, are read too, for what
    /// loading them in Python would call.
    pub callables: bool,
}

/// How to write.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// The version of the format; `None` keeps what the bundle was read from, else the default.
    pub version: Option<String>,
    /// Options of the format, by name.
    pub options: Options,
    /// What may be lost.
    pub allow: Allow,
    /// Whether losses that would only be said are refused too.
    pub strict: bool,
    /// What a tensor without a name is called where it needs one: the name of its file, say.
    pub stem: Option<String>,
    /// The extension of the file that is written, in lower case: some formats have several kinds of
    /// files.
    pub extension: Option<String>,
    /// How much work the values may ask for: sorting, unpacking, reordering.
    pub limits: Limits,
    /// Whether the file is brought to the disk before it gets its name; on unless switched off.
    pub skip_sync: bool,
    /// Where to count the bytes that are written.
    pub progress: Progress,
    /// Whether what the format has no word for is lost, even where it could be carried as text.
    pub skip_carry: bool,
    /// How tensors are called.
    pub naming: Naming,
    /// Whether the components of complex numbers, quaternions and octonions become a last dimension.
    pub split_complex: bool,
    /// Whether sparse cells stay single cells where a format could also hold all of them.
    pub keep_sparse: bool,
}

impl WriteOptions {
    /// Whether sparse cells stay single cells, as [`WriteOptions::keep_sparse`] or the option `sparse` says.
    pub(crate) fn keeps_cells(&self) -> Result<bool> {
        let chosen = self
            .options
            .choose(SPARSE_CELLS.name, &[("true", true), ("false", false)])?;
        Ok(chosen.unwrap_or(self.keep_sparse))
    }

    /// The same for the file `path`, whose extension counts unless one is given.
    #[must_use]
    pub fn for_path(&self, path: &Path) -> WriteOptions {
        WriteOptions {
            extension: self.extension.clone().or_else(|| extension(path)),
            ..self.clone()
        }
    }
}

/// How tensors are called in the target, where somebody chose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Naming {
    /// What stands between the segments of a path where it becomes one name, `/` if nothing else
    /// is said; where it is said, plain names also become paths in a tree.
    pub separator: Option<char>,
    /// What is taken off the beginning of names that begin with it.
    pub strip_prefix: Option<String>,
    /// Whether statistics and the configs of optimizers are left out.
    pub drop_state: bool,
}

/// Which losses are permitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Allow {
    /// None.
    #[default]
    Nothing,
    /// These.
    These(Vec<Aspect>),
    /// All that can be.
    Everything,
}

impl Allow {
    /// Whether a loss of this kind is permitted.
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

    /// The value of an option that is one of several words, each with what it stands for.
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

    /// The byte order in which numbers are written: as the option `endian` says, else as `hint` keeps
    /// it from a file of the same format, else little-endian.
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

    /// Fails if an option is set that the format does not know.
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
