//! Reads the header of a safetensors file and checks that its tensors tile the data.
#![deny(clippy::arithmetic_side_effects)]

use super::header::{Entry, Metadata, Named};
use super::{EMPTY, METADATA, MOST_HEADER, NAME, PART, Type, header};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, Scan, to_u64, to_usize};
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::format::{Mode, ReadOptions};
use crate::io::{Head, Source};
use crate::key::Key;
use crate::limits::Limits;
use crate::memory;
use crate::meta::{Meta, Value};
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Order, Storage, Tensor};

/// Offset of the header.
const HEADER: u64 = 8;

/// Whether a file begins with a plausible length and header, and the header ends as one.
pub(super) fn looks_right(head: &Head) -> Result<bool> {
    let Some((len, [b'{', ..])) = head.bytes().split_first_chunk() else {
        return Ok(false);
    };
    let len = u64::from_le_bytes(*len);
    let end = HEADER.saturating_add(len);
    if !(2..=MOST_HEADER).contains(&len) || end > head.source().len() {
        return Ok(false);
    }
    // Padded to a multiple of 8, or a little more.
    let tail = end.saturating_sub(len.min(64))..end;
    let ends = |tail: &[u8]| tail.trim_ascii_end().last() == Some(&b'}');
    let held = to_usize(tail.start).and_then(|start| Ok(start..to_usize(tail.end)?));
    if let Some(tail) = held.ok().and_then(|place| head.bytes().get(place)) {
        return Ok(ends(tail));
    }
    head.ask(|source| {
        let mut scan = Scan::part(source, NAME, tail.clone());
        Ok(ends(&scan.take(scan.left())?))
    })
}

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut scan = Scan::new(source, NAME);
    let len = scan.u64(Endian::Little)?;
    if len > MOST_HEADER {
        let why = format!("a header of {len} bytes, the format allows {MOST_HEADER}");
        return scan.fail_at(0, why);
    }
    how.limits.check_header(len)?;
    if len > scan.left() {
        let why = format!("a header of {len} bytes, {} left", scan.left());
        return scan.fail_at(0, why);
    }
    let bytes = scan.keep(len, &how.limits)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let at = HEADER.saturating_add(to_u64(error.valid_up_to()));
        Error::malformed(at, "the header is not UTF-8").of(NAME)
    })?;
    let mut reader = Reader {
        source,
        mode: how.mode,
        salvage: how.salvage,
        data: scan.at(),
        bundle: Bundle::new(),
        limits: &how.limits,
    };
    reader.check_frame(text)?;
    let header = header::parse(text, HEADER, &how.limits)?;
    reader.metadata(header.metadata)?;
    reader.tensors(header.entries)?;
    Ok(reader.bundle)
}

struct Reader<'a> {
    source: &'a Source,
    mode: Mode,
    /// Whether truncated tensors are dropped.
    salvage: bool,
    /// End of the header, where the data begins.
    data: u64,
    bundle: Bundle,
    limits: &'a Limits,
}

impl Reader<'_> {
    fn fail<T>(&self, at: impl Into<Option<u64>>, why: String) -> Result<T> {
        Err(Error::malformed(at, why).of(NAME))
    }

    /// Refuses a violation, or notes it if the reader is lenient.
    fn forgive(&mut self, at: impl Into<Option<u64>>, text: &str) -> Result<()> {
        match self.mode {
            Mode::Strict => self.fail(at, text.into()),
            Mode::Lenient => {
                self.bundle.note(Note::new(NoteKind::Lenient, text).at(at));
                Ok(())
            }
        }
    }

    /// Checks the bytes around the object.
    fn check_frame(&mut self, text: &str) -> Result<()> {
        let is_space = |letter: char| matches!(letter, ' ' | '\t' | '\r' | '\n');
        let object = text.trim_matches(is_space);
        if object.is_empty() {
            return self.fail(HEADER, "the header is empty".into());
        }
        if text.starts_with(is_space) {
            self.forgive(HEADER, "the header begins with white space, not with {")?;
        }
        let padding = text
            .len()
            .saturating_sub(text.trim_end_matches(is_space).len());
        let spaces = text.len().saturating_sub(text.trim_end_matches(' ').len());
        if padding != spaces {
            let at = self.data.saturating_sub(to_u64(spaces)).saturating_sub(1);
            self.forgive(at, "the header is padded with other than spaces")?;
        }
        Ok(())
    }

    fn metadata(&mut self, metadata: Metadata) -> Result<()> {
        match metadata {
            Metadata::Missing => Ok(()),
            Metadata::Null => self.forgive(None, &format!("{METADATA} is null")),
            Metadata::Texts(texts) => {
                if texts.is_empty() {
                    self.bundle.hints.set(EMPTY, true);
                }
                let texts = texts.into_iter();
                let values = texts.map(|(name, text)| (name, Value::Text(text)));
                self.bundle.meta = Meta::of_unique(memory::collected(values)?);
                Ok(())
            }
        }
    }

    /// Sorts the tensors by the offsets of their values, which must be contiguous.
    fn tensors(&mut self, mut entries: Vec<Entry>) -> Result<()> {
        memory::sort_by_key(&mut entries, |entry| entry.offsets)?;
        let len = self.source.len().saturating_sub(self.data);
        let mut end = 0;
        self.bundle.reserve(entries.len())?;
        for entry in entries {
            let (name, (from, to)) = (&entry.name, entry.offsets);
            if from != end || to < from {
                let why = format!("{name:?} is at {from} to {to} of the data, not from {end} on");
                return self.fail(entry.at, why);
            }
            if to > len {
                let why =
                    format!("{name:?} is at {from} to {to} of the data, which has {len} bytes");
                if !self.salvage {
                    return self.fail(entry.at, why);
                }
                let note = Note::new(NoteKind::Lost, why).on(&Key::flat(entry.name));
                self.bundle.note(note.at(entry.at));
                end = to;
                continue;
            }
            end = to;
            self.tensor(entry)?;
        }
        if end < len {
            let at = self.data.saturating_add(end);
            let why = format!(
                "bytes that belong to no tensor: {}",
                len.saturating_sub(end)
            );
            if !self.salvage {
                return self.fail(at, why);
            }
            self.bundle
                .note(Note::new(NoteKind::UnreadBytes, why).at(at));
        }
        Ok(())
    }

    fn tensor(&mut self, entry: Entry) -> Result<()> {
        let (from, to) = entry.offsets;
        let key = Key::flat(entry.name);
        let known = match entry.kind {
            Named::Known(known) => known,
            Named::Unknown(word) => return self.skip(&key, &word, entry.at),
        };
        let Some(wanted) = known.len(&entry.shape) else {
            let why = format!("the shape of {key} has no whole number of bytes below 2^61");
            return self.fail(entry.at, why);
        };
        let found = to.saturating_sub(from);
        if wanted != found {
            let why = format!("{key} has {found} bytes, its shape needs {wanted}");
            return self.fail(entry.at, why);
        }
        if entry.has_more {
            let text = "members besides dtype, shape and data_offsets have no meaning";
            let note = Note::new(NoteKind::IgnoredField, text);
            self.bundle.note(note.on(&key).at(entry.at));
        }
        let run = self.data.saturating_add(from)..self.data.saturating_add(to);
        let bytes = Bytes::run(self.source, run)?;
        let tensor = made(known, &entry.shape, bytes)?;
        self.bundle.add(key, tensor, self.limits)?;
        Ok(())
    }

    fn skip(&mut self, key: &Key, word: &str, at: Option<u64>) -> Result<()> {
        match self.mode {
            Mode::Strict => Err(Error::Unsupported {
                format: NAME,
                what: format!("the type {word:?} of {key}"),
            }),
            Mode::Lenient => {
                let text = format!("the type {word:?} is unknown");
                let note = Note::new(NoteKind::Skipped, text);
                self.bundle.note(note.on(key).at(at));
                Ok(())
            }
        }
    }
}

fn made(known: &Type, sizes: &[u64], bytes: Bytes) -> Result<Tensor> {
    let number = known.dtype.map_or(Number::U8, |dtype| dtype.number);
    let values = Numbers {
        number,
        endian: Endian::Little,
        bytes,
    };
    let storage = match known.dtype {
        Some(_) => Storage::Dense {
            order: Order::Row,
            values,
        },
        None => Storage::Opaque {
            layout: known.name.into(),
            parts: vec![(PART.into(), values)],
        },
    };
    let dims = sizes.iter().copied().map(Dim::indexed).collect();
    let dtype = known.dtype.unwrap_or(DType::real(Number::U8));
    Tensor::sharing(dims, dtype, storage)
}
