//! Opening of inputs: a file, a set of files, a folder, an index, a glob.
//!
//! Opening has two steps. Finding an [`Input`] uses names and first bytes alone: it determines the
//! files and their format. Reading it reads the headers, and returns the tensors of all files as
//! one [`Bundle`].

use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};

use super::folder::{Skipped, Summary};
use super::merge::{Part, merge, name_by_files};
use super::sets;
use super::shards::{Index, ShardName, file_name, glob, missing_shards};
use crate::Opened;
use crate::error::{Error, Result};
use crate::format::{Format, Match, ReadOptions, When};
use crate::formats;
use crate::formats::{by_extension, detect_by};
use crate::io::{Head, Progress, Source, Spool, check_beside, presence};
use crate::limits::Limits;
use crate::note::{Note, NoteKind};

/// Options for finding files.
#[derive(Clone, Default)]
pub struct OpenOptions {
    /// The format, overriding detection.
    pub format: Option<&'static dyn Format>,
    /// The format of files without a recognized signature.
    pub fallback: Option<&'static dyn Format>,
    /// The options that reading will get: a file whose name suggests a format with such an option
    /// is taken for that format if its content is inconclusive.
    pub options: Vec<(String, String)>,
    /// Whether a file of a set is opened alone.
    pub alone: bool,
    /// The limits on reading a file.
    pub limits: Limits,
    /// Counts the bytes read.
    pub progress: Progress,
}

/// A tensor file, or several that form one, whose formats are known but whose headers are not read
/// yet.
pub struct Input {
    path: PathBuf,
    members: Vec<Member>,
    index: Option<Index>,
    /// Missing files of the set.
    missing: Vec<PathBuf>,
    /// Tensor files of the folder that do not belong to the set.
    left_out: Vec<PathBuf>,
    /// Other files of the folder.
    others: Vec<Skipped>,
    alone: bool,
}

/// One file of an input.
pub struct Member {
    /// Its path.
    pub path: PathBuf,
    /// Its bytes, decompressed.
    pub source: Source,
    /// Its format.
    pub format: &'static dyn Format,
}

impl Member {
    /// Opens a file and detects its format.
    pub(super) fn find(path: &Path, how: &OpenOptions) -> Result<Member> {
        let open = || {
            let source = source(File::open(path)?, &how.limits)?.named(path);
            Member::of(path, source, how)
        };
        open().map_err(|error: Error| error.in_file(path))
    }

    fn of(path: &Path, source: Source, how: &OpenOptions) -> Result<Member> {
        let head = Head::of(&source.counted(&how.progress))?.unpacked(&how.limits)?;
        Ok(Member {
            path: path.into(),
            source: head.source().clone(),
            format: format_of(&head, path, how)?,
        })
    }
}

/// A source with random access: a regular file itself; a pipe, or a file whose beginning was
/// already read, is spooled from its current position.
pub(super) fn source(mut file: File, limits: &Limits) -> Result<Source> {
    let about = file.metadata()?;
    if about.is_dir() || about.is_file() && file.stream_position()? == 0 {
        return Source::file(file);
    }
    Spool::read_from(&mut file, limits)
}

fn format_of(head: &Head, path: &Path, how: &OpenOptions) -> Result<&'static dyn Format> {
    if let Some(format) = how.format {
        return Ok(format);
    }
    if let Some(fallback) = how.fallback
        && !is_signed(head)?
    {
        return Ok(fallback);
    }
    detect_by(head, Some(path)).or_else(|error| {
        if !error.is_of_content() {
            return Err(error);
        }
        let is_given = |name: &str| how.options.iter().any(|(given, _)| given == name);
        let has_given = |format: &&dyn Format| {
            let mut options = format.info().options.iter();
            options.any(|option| option.when == When::Read && is_given(option.name))
        };
        let mut suggested = by_extension(path).into_iter().filter(has_given);
        suggested.next().ok_or(error)
    })
}

/// Whether a format with a signature claims a file.
fn is_signed(head: &Head) -> Result<bool> {
    for format in formats::ALL {
        if !format.info().magic.is_empty() && format.probe(head)? != Match::No {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Splits paths into those of regular files and the others.
fn part_files(paths: Vec<PathBuf>) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for path in paths {
        if presence::is_file(&path)? {
            there.push(path);
        } else {
            missing.push(path);
        }
    }
    Ok((there, missing))
}

impl Input {
    /// Finds the input at a path: a file, the files of a set, or a folder that is one.
    ///
    /// # Errors
    /// [`Error::Unrecognised`] if no format claims a file, [`Error::Invalid`] if a folder is no
    /// set.
    pub fn find(path: &Path, how: &OpenOptions) -> Result<Input> {
        if presence::is_dir(path)? {
            return Summary::of(path, how)?.only(path, how);
        }
        if let Some(index) = Index::read(path, &how.limits).map_err(|error| error.in_file(path))? {
            return Input::of_index(path, index, how);
        }
        let files = glob(path)?;
        if !files.is_empty() {
            let members = files.iter().map(|file| Member::find(file, how));
            let members: Vec<Member> = members.collect::<Result<_>>()?;
            sets::refuse_several(&members, how)?;
            return Input::of_set(path, members, how);
        }
        Input::of_member(path, Member::find(path, how)?, how)
    }

    /// The input of one source, such as standard input.
    ///
    /// # Errors
    /// [`Error::Unrecognised`] if no format claims it.
    pub fn of_source(path: &Path, source: Source, how: &OpenOptions) -> Result<Input> {
        let member = Member::of(path, source, how).map_err(|error| error.in_file(path))?;
        Ok(Input::of(path, vec![member]))
    }

    /// The input of an open file, read from its current position.
    ///
    /// # Errors
    /// [`Error::Unrecognised`] if no format claims it, [`Error::Io`] if it cannot be read.
    pub fn of_file(path: &Path, file: File, how: &OpenOptions) -> Result<Input> {
        let source = source(file, &how.limits).map_err(|error| error.in_file(path))?;
        Input::of_source(path, source, how)
    }

    fn of(path: &Path, members: Vec<Member>) -> Input {
        Input {
            path: path.into(),
            members,
            index: None,
            missing: Vec::new(),
            left_out: Vec::new(),
            others: Vec::new(),
            alone: false,
        }
    }

    /// One file; if its format has numbered sets, all files of its set.
    pub(super) fn of_member(path: &Path, member: Member, how: &OpenOptions) -> Result<Input> {
        let name = ShardName::parse(&member.path).filter(|_| !how.alone);
        let Some(name) = name else {
            let mut input = Input::of(path, vec![member]);
            input.alone = how.alone;
            return Ok(input);
        };
        let (there, missing) = part_files(name.paths())?;
        let mut members = Vec::new();
        if member.format.has_numbered_sets() {
            for file in &there {
                check_beside(&member.path, file).map_err(|error| error.in_file(file))?;
                members.push(Member::find(file, how)?);
            }
        } else {
            members.push(member);
        }
        let mut input = Input::of_set(path, members, how)?;
        input.missing = missing;
        Ok(input)
    }

    /// Several files, which must have one format.
    pub(super) fn of_set(path: &Path, members: Vec<Member>, how: &OpenOptions) -> Result<Input> {
        let mut formats = members.iter().map(|member| member.format.info().name);
        if let Some(first) = formats.next()
            && let Some(odd) = { members.iter() }.find(|one| one.format.info().name != first)
        {
            let (own, odd) = (odd.format.info().name, odd.path.display());
            let why = format!("{odd} is {own}, and the files before it are {first}");
            return Err(Error::Invalid(why));
        }
        let files: Vec<PathBuf> = members.iter().map(|member| member.path.clone()).collect();
        let mut input = Input::of(path, members);
        input.alone = how.alone;
        if !how.alone {
            input.missing = missing_shards(&files);
        }
        Ok(input)
    }

    pub(super) fn of_index(path: &Path, index: Index, how: &OpenOptions) -> Result<Input> {
        let (there, missing) = part_files(index.files())?;
        let how = &OpenOptions {
            format: how.format.or(index.format()),
            ..how.clone()
        };
        let members = there.iter().map(|file| Member::find(file, how));
        let mut input = Input::of_set(path, members.collect::<Result<_>>()?, how)?;
        if input.members.is_empty() {
            let why = "none of the files that the index names is there";
            return Err(Error::malformed(None, why).in_file(path));
        }
        input.missing = if how.alone { Vec::new() } else { missing };
        input.index = Some(index);
        Ok(input)
    }

    /// The files, each as an input of its own, unless they are known to belong together, by an
    /// index or by their numbers.
    ///
    /// # Errors
    /// The input itself, if they belong together.
    pub fn apart(self) -> Result<Vec<Input>, Box<Input>> {
        let is_numbered = |member: &Member| {
            member.format.has_numbered_sets() && ShardName::parse(&member.path).is_some()
        };
        if self.members.len() < 2 || self.index.is_some() || self.members.iter().any(is_numbered) {
            return Err(Box::new(self));
        }
        let alone = |member: Member| Input::of(&member.path.clone(), vec![member]);
        Ok(self.members.into_iter().map(alone).collect())
    }

    pub(super) fn called(mut self, path: &Path) -> Input {
        self.path = path.into();
        self
    }

    pub(super) fn beside(mut self, others: Vec<Skipped>) -> Input {
        self.others = others;
        self
    }

    pub(super) fn leaving_out(mut self, files: Vec<PathBuf>) -> Input {
        self.left_out = files;
        self
    }

    /// The path as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files, in order; at least one.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Whether it may consist of several files.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.members.len() > 1 || self.index.is_some()
    }

    /// The format of all files.
    #[must_use]
    pub fn format(&self) -> &'static dyn Format {
        let first = self.members.first();
        first.map_or(&formats::raw::Raw, |member| member.format)
    }

    /// The total length of the files, including sibling files that were opened on reading.
    #[must_use]
    pub fn len(&self) -> u64 {
        let lens = self.members.iter().flat_map(|member| {
            let beside = member.source.companions().into_iter();
            std::iter::once(member.source.len()).chain(beside.map(|(_, len)| len))
        });
        lens.fold(0, u64::saturating_add)
    }

    /// Whether the files are all empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Notes about the files rather than their content: missing files of the set.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if !self.missing.is_empty() {
            let count = self.members.len().saturating_add(self.missing.len());
            let text = format!(
                "{} of {count} files of the set are missing: {}",
                self.missing.len(),
                names(&self.missing)
            );
            notes.push(Note::new(NoteKind::Incomplete, text));
        }
        if !self.left_out.is_empty() {
            let text = format!("not in the index: {}", names(&self.left_out));
            notes.push(Note::new(NoteKind::LeftOut, text));
        }
        for other in &self.others {
            let name = file_name(&other.path).unwrap_or_default();
            let text = format!("left out of the folder: {name}: {}", other.why);
            notes.push(Note::new(NoteKind::LeftOut, text));
        }
        notes
    }

    /// Reads the headers of one file; an index selects and names its tensors.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the file breaks the rules of its format or does not match the set.
    pub fn read_member(&self, member: &Member, how: &ReadOptions) -> Result<Part> {
        let read = || {
            let own = self
                .index
                .as_ref()
                .map(|index| index.options(&member.path, how));
            let how = own.as_deref().unwrap_or(how);
            let mut bundle = crate::read(&member.source, member.format, how)?.bundle;
            if let Some(index) = &self.index {
                let left_out = index.apply(&member.path, &mut bundle)?;
                if left_out > 0 {
                    let text = format!("tensors that the index does not name: {left_out}");
                    bundle.note(Note::new(NoteKind::LeftOut, text));
                }
            }
            if let Some(name) = file_name(&member.path)
                && self.members.len() > 1
            {
                bundle.name_file(name);
            }
            self.check_shard(member, &bundle).map(|note| {
                note.into_iter().for_each(|note| bundle.note(note));
                bundle
            })
        };
        let bundle = read().map_err(|error| error.in_file(&member.path))?;
        Ok(Part {
            path: member.path.clone(),
            stem: stem(&member.path),
            bundle,
        })
    }

    /// Checks a file's description of its set against the set.
    fn check_shard(&self, member: &Member, bundle: &crate::bundle::Bundle) -> Result<Option<Note>> {
        let Some(shard) = member.format.shard(bundle).filter(|_| !self.alone) else {
            return Ok(None);
        };
        let all = self.members.len().saturating_add(self.missing.len());
        let number = shard.number.saturating_add(1);
        if self.members.len() == 1 && self.missing.is_empty() && shard.count > 1 {
            let count = shard.count;
            let text = format!("file {number} of {count}, whose name does not lead to the others");
            return Ok(Some(Note::new(NoteKind::Incomplete, text)));
        }
        let place = ShardName::parse(&member.path).map(|name| name.number());
        let is_right = u64::try_from(all) == Ok(shard.count)
            && place.is_none_or(|place| u64::try_from(place) == Ok(number));
        if is_right {
            return Ok(None);
        }
        let own = format!("it says that it is file {number} of {}", shard.count);
        let why = match place {
            Some(place) => format!("{own}, and is called file {place} of {all}"),
            None => format!("{own}, among {all} files"),
        };
        Err(Error::malformed(None, why).of(member.format.info().name))
    }

    /// Reads the headers of every file.
    ///
    /// # Errors
    /// As [`Input::read_member`].
    pub fn read_parts(&self, how: &ReadOptions) -> Result<Vec<Part>> {
        let parts = self.members.iter();
        let mut parts: Vec<Part> = parts
            .map(|member| self.read_member(member, how))
            .collect::<Result<_>>()?;
        if self.members.len() > 1 {
            self.check_set(&parts)?;
            for part in &mut parts {
                self.format().mark_shard(&mut part.bundle, None);
            }
        }
        if let Some(first) = parts.first_mut() {
            self.notes()
                .into_iter()
                .for_each(|note| first.bundle.note(note));
        }
        Ok(parts)
    }

    /// Fails unless the files of a set have as many tensors as the set declares.
    ///
    /// # Errors
    /// [`Error::Malformed`] if they do not.
    pub fn check_set(&self, parts: &[Part]) -> Result<()> {
        let mut shards = parts
            .iter()
            .filter_map(|part| self.format().shard(&part.bundle));
        let said = shards.find_map(|shard| shard.n_tensors);
        // A single file of a set has a note that the others are missing.
        let Some(said) = said.filter(|_| !self.alone && parts.len() > 1) else {
            return Ok(());
        };
        let found: usize = parts.iter().map(|part| part.bundle.entries().len()).sum();
        let skipped = parts.iter().flat_map(|part| part.bundle.notes());
        let skipped = skipped
            .filter(|note| note.kind == NoteKind::Skipped)
            .count();
        if !self.missing.is_empty() || u64::try_from(found.saturating_add(skipped)) == Ok(said) {
            return Ok(());
        }
        let why = format!("the set says that it has {said} tensors, and has {found}");
        let error = Error::malformed(None, why).of(self.format().info().name);
        Err(error.in_file(&self.path))
    }

    /// Reads the headers of all files and returns their tensors as one bundle. In a set, an unnamed
    /// tensor gets the name of its file.
    ///
    /// # Errors
    /// As [`Input::read_member`].
    pub fn read(&self, how: &ReadOptions) -> Result<Opened> {
        let mut parts = self.read_parts(how)?;
        if self.members.len() > 1 {
            name_by_files(&mut parts, false, false);
        }
        let (mut bundle, _) = merge(parts)?;
        if self.members.len() > 1 {
            bundle.note_duplicates()?;
        }
        Ok(Opened {
            format: self.format(),
            bundle,
        })
    }
}

/// A file name without the extensions for format and compression.
#[must_use]
pub fn stem(path: &Path) -> Option<String> {
    let stem = Path::new(path.file_stem()?);
    let is_packed = crate::bytes::is_packed_name(path);
    let stem = if is_packed {
        stem.file_stem()?
    } else {
        stem.as_os_str()
    };
    let stem = stem.to_str()?.to_owned();
    (!stem.is_empty() && stem != "-").then_some(stem)
}

/// The names of some files, abbreviated to a short line.
pub(super) fn names(files: &[PathBuf]) -> String {
    const SHOWN: usize = 3;
    let shown = files.iter().take(SHOWN);
    let shown: Vec<&str> = shown.filter_map(|file| file_name(file)).collect();
    match files.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}
