//! Reads the members of an `.npz` archive.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;

use super::{CARRIED, NAME, SUFFIX, hint};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Bytes, Deflated, Digest, Filter, Scan, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::format::{Mode, ReadOptions};
use crate::formats::npy;
use crate::formats::npy::Array;
use crate::io::Source;
use crate::key::Key;
use crate::memory;
use crate::meta::Value;
use crate::note::{Note, NoteKind};
use crate::tensor::Tensor;
use crate::wire::zip;
use crate::wire::zip::{Archive, Member, Method};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut reader = Reader {
        source,
        how,
        bundle: Bundle::new(),
        has_arrays: false,
    };
    let archive = if how.salvage {
        reader.salvaged(zip::salvage(source, NAME, &how.limits)?)
    } else {
        zip::read(source, NAME, &how.limits)?
    };
    reader.comment(archive.comment);
    let audit = reader.bundle.audit();
    audit.is_archive();
    audit.account(source, archive.gaps.into_iter(), 0, &how.limits)?;
    let mut seen = HashSet::new();
    for member in &archive.members {
        if !memory::insert(&mut seen, member.name.as_str())? {
            let text = format!("the name {:?} stands twice", member.name);
            reader.forgive(member, NoteKind::DuplicateName, text)?;
        }
        reader.member(member)?;
    }
    if let (false, Some(first), false) = (reader.has_arrays, archive.members.first(), how.salvage) {
        let count = archive.members.len();
        let why = format!("none of the {count} members of the zip archive is an array");
        return Err(Error::malformed(first.at, why).of(NAME));
    }
    Ok(reader.bundle)
}

struct Reader<'a> {
    source: &'a Source,
    how: &'a ReadOptions,
    bundle: Bundle,
    /// Whether any member is an array, of any type.
    has_arrays: bool,
}

/// The key of an array.
fn key(member: &Member) -> Key {
    named(&member.name)
}

fn named(name: &str) -> Key {
    Key::flat(name.strip_suffix(SUFFIX).unwrap_or(name))
}

impl Reader<'_> {
    /// Takes the comment: carried metadata, or that of another program.
    fn comment(&mut self, comment: Vec<u8>) {
        match String::from_utf8(comment) {
            Ok(text) if text.is_empty() => {}
            Ok(text) if text.starts_with("{\"version\":") => {
                self.bundle.meta.set(CARRIED, Value::Text(text));
            }
            Ok(text) => self.bundle.hints.set(hint::COMMENT, Value::Text(text)),
            Err(error) => {
                let bytes = Value::Bytes(error.into_bytes());
                self.bundle.hints.set(hint::COMMENT, bytes);
            }
        }
    }

    /// The intact part of a damaged archive; the rest is noted.
    fn salvaged(&mut self, found: zip::Salvaged) -> Archive {
        if let Some(error) = found.fault {
            let text = format!("members are found by their own headers: {error}");
            self.bundle.note(Note::new(NoteKind::Repaired, text));
        }
        for (name, error) in found.lost {
            let note = Note::new(NoteKind::Lost, error.to_string());
            self.bundle.note(note.on(&named(&name)));
        }
        if found.rest.is_some() {
            let text = "no directory follows: there may have been more";
            self.bundle
                .note(Note::new(NoteKind::Lost, text).at(found.rest));
        }
        found.archive
    }

    fn note(&mut self, member: &Member, kind: NoteKind, text: String) {
        let note = Note::new(kind, text).on(&key(member)).at(member.at);
        self.bundle.note(note);
    }

    /// Refuses a violation, or notes it if the reader is lenient.
    fn forgive(&mut self, member: &Member, kind: NoteKind, text: String) -> Result<()> {
        match self.how.mode {
            Mode::Strict => Err(Error::malformed(member.at, text).of(NAME)),
            Mode::Lenient => {
                self.note(member, kind, text);
                Ok(())
            }
        }
    }

    fn member(&mut self, member: &Member) -> Result<()> {
        let what = match member.method {
            Method::Stored | Method::Deflated => {
                let read = match self.array(member) {
                    // An array that is no tensor does not affect the others.
                    Err(Error::Unsupported { what, .. }) => self.other_array(member, &what),
                    other => other,
                };
                return match read {
                    Err(Error::Malformed { why, .. }) if self.how.salvage => {
                        self.note(member, NoteKind::Lost, why);
                        Ok(())
                    }
                    other => other,
                };
            }
            Method::Encrypted => "encryption".to_owned(),
            Method::Other(number) => format!("compression method {number}"),
        };
        self.has_arrays |= member.name.ends_with(SUFFIX);
        match self.how.mode {
            Mode::Strict => Err(Error::Unsupported {
                format: NAME,
                what: format!("{what} of the member {:?}", member.name),
            }),
            Mode::Lenient => {
                self.note(
                    member,
                    NoteKind::Skipped,
                    format!("{what} is not supported"),
                );
                Ok(())
            }
        }
    }

    /// Skips an array of a type without numbers in the model, unless it only appears to be one
    /// because it is damaged.
    fn other_array(&mut self, member: &Member, what: &str) -> Result<()> {
        self.compare_now(member)?;
        if self.how.callables {
            self.callables(member)?;
        }
        let text = format!("{what} is not supported");
        self.note(member, NoteKind::Skipped, text);
        Ok(())
    }

    /// Records the callables of an array of Python objects, if it is one.
    fn callables(&mut self, member: &Member) -> Result<()> {
        let is_stored = member.method == Method::Stored;
        let unpacked;
        let (source, range) = if is_stored {
            (self.source, member.stored.clone())
        } else {
            let why = format!("the member {:?} is unpacked in memory", member.name);
            let Some(content) = member.content(self.source, &self.how.limits)? else {
                return Ok(());
            };
            self.how.limits.check_memory(&why, member.len)?;
            unpacked = Source::memory(content.to_vec()?);
            (&unpacked, 0..member.len)
        };
        let mut scan = Scan::part(source, NAME, range);
        let found = npy::callables(&mut scan, self.how);
        let found = found.map_err(|error| blame(error, member, is_stored))?;
        let left = scan.left();
        if found.is_some() && left > 0 {
            let note = Note::new(NoteKind::UnreadBytes, npy::behind_pickle(left)).on(&key(member));
            let at = is_stored.then_some(scan.at());
            self.bundle.note(note.at(at).len(left));
        }
        self.bundle.push_callables(found.unwrap_or_default());
        Ok(())
    }

    fn array(&mut self, member: &Member) -> Result<()> {
        let bytes = Bytes::run(self.source, member.stored.clone())?;
        let is_stored = member.method == Method::Stored;
        let found = if is_stored {
            self.stored(member)
        } else {
            self.deflated(member, &bytes)
        };
        self.has_arrays |= !matches!(found, Ok(None));
        let found = found.map_err(|error| blame(error, member, is_stored))?;
        let Some((array, tensor)) = found else {
            if member.name.ends_with(SUFFIX) {
                self.compare_now(member)?;
            } else {
                self.compare_later(member)?;
            }
            let text = "it is no array, and was left out".into();
            self.note(member, NoteKind::Skipped, text);
            return Ok(());
        };
        if is_stored && array.values.end < member.stored.end {
            self.compare_later(member)?;
        }
        if member.name.contains('\0') {
            let text = "a NUL in the name, at which NumPy ends it".into();
            self.note(member, NoteKind::OddName, text);
        }
        for note in array.notes {
            self.bundle.note(note.on(&key(member)));
        }
        self.bundle.add(key(member), tensor, &self.how.limits)?;
        Ok(())
    }

    /// Fails if a member does not match its checksum: damaged data may look like an unknown type.
    fn compare_now(&self, member: &Member) -> Result<()> {
        let Some(content) = member.content(self.source, &self.how.limits)? else {
            return Ok(());
        };
        let compared = content.check();
        compared.map_err(|error| blame(error, member, member.method == Method::Stored))
    }

    /// Leaves the checksum of a member without a tensor to the verification of the file.
    fn compare_later(&mut self, member: &Member) -> Result<()> {
        if let Some(content) = member.content(self.source, &self.how.limits)? {
            let name = format!("the member {:?}", member.name);
            let audit = self.bundle.audit();
            audit.compare(&name, content, &self.how.limits)?;
        }
        Ok(())
    }

    fn is_array(start: &[u8]) -> bool {
        start.starts_with(npy::MAGIC)
    }

    /// An array that is stored uncompressed.
    fn stored(&self, member: &Member) -> Result<Option<(Array, Tensor)>> {
        let end = member.stored.end;
        let mut scan = Scan::part(self.source, NAME, member.stored.clone());
        let magic = scan.take(to_u64(npy::MAGIC.len()).min(scan.left()))?;
        if !Self::is_array(&magic) {
            return Ok(None);
        }
        scan.seek(member.stored.start)?;
        let array = Array::read(&mut scan, end, self.how)?;
        let header = Bytes::run(self.source, member.stored.start..array.values.start)?;
        let values = Bytes::run(self.source, array.values.clone())?;
        // Bytes after the values count too, but are not read with them.
        let digest = if array.values.end == end {
            Some(values_digest(member, &header, values.len())?)
        } else {
            None
        };
        let tensor = array.tensor(values.with_digest(digest))?;
        Ok(Some(described(array, tensor, member)))
    }

    /// A compressed array; its header is decoded now.
    fn deflated(&self, member: &Member, stored: &Bytes) -> Result<Option<(Array, Tensor)>> {
        /// Longer than the usual header.
        const USUAL: usize = 1 << 10;
        self.how.limits.check_ratio(stored.len(), member.len)?;
        let mut start = Deflated::beginning(stored, USUAL)?;
        if !Self::is_array(&start) {
            return Ok(None);
        }
        let wanted = header_len(&start);
        if wanted > to_u64(start.len()) {
            self.how.limits.check_header(wanted)?;
            self.how.limits.charge(wanted)?;
            start = Deflated::beginning(stored, to_usize(wanted)?)?;
        }
        let start = Source::memory(start);
        let array = Array::read(&mut Scan::new(&start, NAME), member.len, self.how)?;
        let filter = Filter::Deflate(Deflated {
            skip: array.values.start,
            len: array.values.end.saturating_sub(array.values.start),
            total: member.len,
            crc: member.crc,
        });
        let tensor = array.tensor(stored.clone().filtered(filter))?;
        Ok(Some(described(array, tensor, member)))
    }
}

/// The length of the header, from its first twelve bytes.
fn header_len(start: &[u8]) -> u64 {
    let byte = |place: usize| u64::from(start.get(place).copied().unwrap_or(0));
    let short = byte(8) | byte(9) << 8;
    match byte(6) {
        1 => short.saturating_add(10),
        2 | 3 => (short | byte(10) << 16 | byte(11) << 24).saturating_add(12),
        // For an unknown version, or damaged data, nothing more is read.
        _ => 0,
    }
}

/// The checksum that the values must have for that of the member to match: CRC-32 is linear, so
/// that the contribution of the header can be removed.
fn values_digest(member: &Member, header: &Bytes, len: u64) -> Result<Digest> {
    let header = crc32fast::hash(&header.to_vec()?);
    let mut shifted = crc32fast::Hasher::new_with_initial(header);
    shifted.combine(&crc32fast::Hasher::new_with_initial_len(0, len));
    let expected = member.crc ^ shifted.finalize();
    Ok(Digest {
        algorithm: Algorithm::Crc32,
        expected: expected.to_be_bytes().to_vec(),
        over: None,
    })
}

fn described(array: Array, mut tensor: Tensor, member: &Member) -> (Array, Tensor) {
    if member.method == Method::Deflated {
        tensor.hints.set(hint::COMPRESS, "deflate");
    }
    if let Some(endian) = tensor.hints.remove(npy::HINT_ENDIAN) {
        tensor.hints.set(hint::ENDIAN, endian);
    }
    if let Some(version) = array.version() {
        tensor.hints.set(hint::VERSION, version);
    }
    (array, tensor)
}

/// Names the member in an error.
fn blame(error: Error, member: &Member, is_stored: bool) -> Error {
    match error {
        Error::Malformed { at, why, .. } => {
            // Offsets inside compressed data are no offsets in the file.
            let at = at.filter(|_| is_stored).or(Some(member.stored.start));
            let why = format!("the member {:?}: {why}", member.name);
            Error::malformed(at, why).of(NAME)
        }
        other => other,
    }
}
