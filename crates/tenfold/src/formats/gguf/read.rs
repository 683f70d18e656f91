//! Reads the header of a GGUF file and checks the offsets of its tensors.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;
use std::ops::Range;

use super::metadata_type::{Kind, Whole};
use super::types::Type;
use super::values::Values;
use super::{
    ALIGNMENT, ALIGNMENT_NAME, HINT_ENDIAN, KINDS, MAGIC, MOST_DIMS, MOST_TENSOR_NAME, NAME, PART,
    VERSION, is_name,
};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, Scan, gaps, to_u64};
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::format::{BIG, Mode, ReadOptions};
use crate::io::Source;
use crate::key::Key;
use crate::memory;
use crate::meta::{Meta, Value};
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Order, Storage, Tensor};

/// Fewest bytes of a metadata value: an empty name, a type, one byte.
const LEAST_VALUE: u64 = 13;
/// Fewest bytes of a tensor entry.
const LEAST_ENTRY: u64 = 24;

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut scan = Scan::new(source, NAME);
    if scan.take(to_u64(MAGIC.len()))? != MAGIC {
        return scan.fail_at(0, "it does not begin with GGUF");
    }
    let mut reader = Reader {
        source,
        how,
        endian: Endian::Little,
        alignment: ALIGNMENT,
        bundle: Bundle::new(),
    };
    reader.version(&mut scan)?;
    let n_tensors = reader.count(&mut scan, "tensors", LEAST_ENTRY)?;
    how.limits.check_tensors(n_tensors)?;
    let n_values = reader.count(&mut scan, "values", LEAST_VALUE)?;
    reader.values(&mut scan, n_values)?;
    let entries = reader.entries(&mut scan, n_tensors)?;
    let header_end = scan.at();
    let data = header_end.next_multiple_of(reader.alignment.max(1));
    reader.account(std::iter::once(header_end..data.min(source.len())))?;
    reader.tensors(data, entries)?;
    Ok(reader.bundle)
}

struct Reader<'a> {
    source: &'a Source,
    how: &'a ReadOptions,
    endian: Endian,
    alignment: u64,
    bundle: Bundle,
}

/// The table entry of a tensor.
struct Entry {
    /// Its offset in the file.
    at: u64,
    name: String,
    /// In NumPy's order.
    sizes: Vec<u64>,
    code: u32,
    offset: u64,
}

impl Reader<'_> {
    fn fail<T>(&self, at: u64, why: String) -> Result<T> {
        Err(Error::malformed(at, why).of(NAME))
    }

    /// Refuses a violation, or notes it if the reader is lenient.
    fn forgive(&mut self, at: u64, key: Option<&Key>, text: String) -> Result<()> {
        match self.how.mode {
            Mode::Strict => {
                let about = key.map(|key| format!("{key}: ")).unwrap_or_default();
                self.fail(at, format!("{about}{text}"))
            }
            Mode::Lenient => {
                let note = Note::new(NoteKind::Lenient, text).at(at);
                self.bundle.note(match key {
                    Some(key) => note.on(key),
                    None => note,
                });
                Ok(())
            }
        }
    }

    /// The version, whose bytes reveal the byte order.
    fn version(&mut self, scan: &mut Scan) -> Result<()> {
        let at = scan.at();
        let mut version = scan.u32(Endian::Little)?;
        if version.trailing_zeros() >= 16 && version != 0 {
            self.endian = Endian::Big;
            version = version.swap_bytes();
            self.bundle.hints.set(HINT_ENDIAN, BIG);
        }
        match (version, self.endian) {
            (3, _) | (2, Endian::Little) => {}
            (2, Endian::Big) => {
                let text = "version 2 has no big-endian files".to_owned();
                self.forgive(at, None, text)?;
            }
            _ => {
                return Err(Error::Unsupported {
                    format: NAME,
                    what: format!("version {version}"),
                });
            }
        }
        if version != 3 {
            self.bundle.hints.set(VERSION, u64::from(version));
        }
        Ok(())
    }

    /// Reads a count of items that take at least `least` bytes each.
    fn count(&self, scan: &mut Scan, what: &str, least: u64) -> Result<u64> {
        let at = scan.at();
        let count = scan.u64(self.endian)?;
        if count > scan.left().checked_div(least).unwrap_or(0) {
            let why = format!("{count} {what}, {} bytes left", scan.left());
            return self.fail(at, why);
        }
        Ok(count)
    }

    fn values(&mut self, scan: &mut Scan, count: u64) -> Result<()> {
        let room = self
            .how
            .limits
            .room::<(String, Value)>(scan.room(count, LEAST_VALUE));
        let mut pairs: Vec<(String, Value)> = memory::with_room(room)?;
        let mut seen = HashSet::new();
        let mut kinds = Vec::new();
        let mut values = Values::new(scan, self.endian, self.how);
        for _ in 0..count {
            let at = values.scan.at();
            let name = values.name()?;
            if !is_name(&name) {
                let text = format!("the name {name:?} of metadata is not ASCII, or too long");
                self.forgive(at, None, text)?;
            }
            if !memory::insert(&mut seen, name.clone())? {
                return self.fail(at, format!("the name {name:?} stands twice"));
            }
            let value_at = values.scan.at();
            // It is stored in a list and in a set of names, and so is its type at worst.
            self.how.limits.charge_items::<[String; 4]>(1)?;
            self.how.limits.charge_text(name.len().saturating_mul(2))?;
            let (value, kind) = values.value()?;
            if name == ALIGNMENT_NAME {
                self.alignment(value_at, &value, &kind)?;
            }
            if Kind::of(&value).as_ref() != Some(&kind) {
                let kind = (Value::Text(name.clone()), Value::Text(kind.word()));
                memory::push(&mut kinds, kind)?;
            }
            memory::push(&mut pairs, (name, value))?;
        }
        if let Some(at) = values.not_text {
            let text = "a text is not UTF-8, and kept as bytes".to_owned();
            self.forgive(at, None, text)?;
        }
        self.bundle.meta = Meta::of_unique(pairs);
        if !kinds.is_empty() {
            self.bundle.hints.set(KINDS, Value::Map(kinds));
        }
        Ok(())
    }

    fn alignment(&mut self, at: u64, value: &Value, kind: &Kind) -> Result<()> {
        let number = value.as_u64().filter(|number| number.is_power_of_two());
        let Some(number) = number.filter(|_| *kind == Kind::Whole(Whole::U32)) else {
            let why = format!("{ALIGNMENT_NAME} is no u32 that is a power of 2");
            return self.fail(at, why);
        };
        if number < 8 {
            let text = format!("{ALIGNMENT_NAME} is {number}, not a multiple of 8");
            self.forgive(at, None, text)?;
        }
        self.alignment = number;
        Ok(())
    }

    fn entries(&mut self, scan: &mut Scan, count: u64) -> Result<Vec<Entry>> {
        let room = self.how.limits.room::<Entry>(scan.room(count, LEAST_ENTRY));
        let mut entries = memory::with_room(room)?;
        for _ in 0..count {
            let at = scan.at();
            let name = Values::new(scan, self.endian, self.how).name()?;
            if name.len() > MOST_TENSOR_NAME {
                let len = name.len();
                let text = format!("a name of {len} bytes, the format allows {MOST_TENSOR_NAME}");
                self.forgive(at, Some(&Key::flat(name.clone())), text)?;
            }
            let ndim_at = scan.at();
            let ndim = u64::from(scan.u32(self.endian)?);
            self.how.limits.check_ndim(ndim)?;
            if ndim > MOST_DIMS {
                let text = format!("{ndim} sizes, the format allows {MOST_DIMS}");
                self.forgive(ndim_at, Some(&Key::flat(name.clone())), text)?;
            }
            let mut sizes = Vec::with_capacity(scan.room(ndim, 8));
            for _ in 0..ndim {
                sizes.push(scan.u64(self.endian)?);
            }
            sizes.reverse();
            self.how.limits.charge_items::<Entry>(1)?;
            self.how.limits.charge_list::<u64>(ndim)?;
            let entry = Entry {
                at,
                name,
                sizes,
                code: scan.u32(self.endian)?,
                offset: scan.u64(self.endian)?,
            };
            memory::push(&mut entries, entry)?;
        }
        self.check_names(&entries)?;
        Ok(entries)
    }

    fn check_names(&self, entries: &[Entry]) -> Result<()> {
        let mut seen = HashSet::new();
        for Entry { at, name, .. } in entries {
            if !memory::insert(&mut seen, name)? {
                return self.fail(*at, format!("the tensor {name:?} stands twice"));
            }
        }
        Ok(())
    }

    /// Constructs the tensors, whose values begin at offset `data`.
    fn tensors(&mut self, data: u64, entries: Vec<Entry>) -> Result<()> {
        let room = self.source.len().saturating_sub(data);
        let mut offsets = memory::collected(entries.iter().map(|entry| entry.offset))?;
        offsets.sort_unstable();
        // The required offset of the next tensor, if it is known.
        let mut due = Some(0_u64);
        let mut runs = Vec::new();
        let mut is_cut = false;
        for entry in entries {
            let key = Key::flat(entry.name);
            let (at, offset) = (entry.at, entry.offset);
            if !offset.is_multiple_of(self.alignment) {
                let text = format!("offset {offset}, no multiple of {}", self.alignment);
                self.forgive(at, Some(&key), text)?;
            } else if due.is_some_and(|due| due != offset) {
                let text = format!("offset {offset}, {} expected", due.unwrap_or(0));
                self.forgive(at, Some(&key), text)?;
            }
            let known = Type::numbered(entry.code);
            let len = match known {
                // For an unknown type, all bytes before the next tensor.
                Type::Unknown(_) => {
                    let next = offsets.partition_point(|other| *other <= offset);
                    let end = offsets.get(next).copied().unwrap_or(room);
                    end.saturating_sub(offset)
                }
                Type::Plain(_) | Type::Blocks(_) => self.len(&key, known, &entry.sizes, at)?,
            };
            let end = offset.checked_add(len).filter(|end| *end <= room);
            let Some(end) = end else {
                let why = format!("{len} bytes at {offset} of the data, which has {room}");
                if !self.how.salvage {
                    return self.fail(at, format!("{key}: {why}"));
                }
                let note = Note::new(NoteKind::Lost, why).on(&key).at(at);
                self.bundle.note(note);
                let end = offset.checked_add(len);
                due = end.and_then(|end| end.checked_next_multiple_of(self.alignment));
                is_cut = true;
                continue;
            };
            due = end.checked_next_multiple_of(self.alignment);
            memory::push(&mut runs, (offset, end, at))?;
            let run = data.saturating_add(offset)..data.saturating_add(end);
            let bytes = Bytes::run(self.source, run)?;
            match self.made(known, &entry.sizes, bytes)? {
                Some(tensor) => self.bundle.add(key, tensor, &self.how.limits)?,
                None => self.skip(&key, &format!("big-endian {}", known.name()), at)?,
            }
        }
        let end = runs.iter().map(|(_, end, _)| *end).max().unwrap_or(0);
        let runs = self.check_runs(runs)?;
        let surplus = due.and_then(|_| end.checked_next_multiple_of(self.alignment));
        let surplus = surplus.filter(|due| *due < room && !is_cut);
        let runs = runs.iter().map(|(from, to, _)| *from..*to);
        let gaps = gaps(0..surplus.unwrap_or(room), runs);
        self.account(gaps.map(|gap| data.saturating_add(gap.start)..data.saturating_add(gap.end)))?;
        match surplus {
            Some(due) => {
                let text = format!(
                    "bytes that belong to no tensor: {}",
                    room.saturating_sub(due)
                );
                self.forgive(data.saturating_add(due), None, text)
            }
            None => Ok(()),
        }
    }

    /// Leaves the check of padding to the verification of the file.
    fn account(&mut self, gaps: impl Iterator<Item = Range<u64>>) -> Result<()> {
        let (source, align) = (self.source, self.alignment);
        let audit = self.bundle.audit();
        audit.account(source, gaps, align, &self.how.limits)
    }

    fn len(&self, key: &Key, known: Type, sizes: &[u64], at: u64) -> Result<u64> {
        if let Some(len) = known.len(sizes) {
            return Ok(len);
        }
        let why = match (known, sizes.last().copied().unwrap_or(1)) {
            (Type::Blocks(block), row) if !row.is_multiple_of(to_u64(block.cells)) => {
                let (name, cells) = (block.name, block.cells);
                format!("{key}: rows of {row} cells, and {name} has blocks of {cells}")
            }
            _ => format!("{key}: a shape of 2^64 bytes or more"),
        };
        self.fail(at, why)
    }

    /// The ranges of all tensors, in order; fails if two overlap, which a lenient reader has not
    /// excluded yet.
    fn check_runs(&self, mut runs: Vec<(u64, u64, u64)>) -> Result<Vec<(u64, u64, u64)>> {
        runs.retain(|(from, to, _)| from < to);
        if !runs.is_sorted() {
            runs.sort_unstable();
        }
        let pairs = runs.iter().zip(runs.iter().skip(1));
        for ((_, end, _), (from, _, at)) in pairs {
            if from < end {
                let why = format!("a tensor at {from} of the data, where another ends at {end}");
                return self.fail(*at, why);
            }
        }
        Ok(runs)
    }

    fn skip(&mut self, key: &Key, what: &str, at: u64) -> Result<()> {
        match self.how.mode {
            Mode::Strict => Err(Error::Unsupported {
                format: NAME,
                what: format!("{what} of {key}"),
            }),
            Mode::Lenient => {
                let note = Note::new(NoteKind::Skipped, format!("{what} is not supported"));
                self.bundle.note(note.on(key).at(at));
                Ok(())
            }
        }
    }

    /// The tensor; `None` if its blocks are big-endian and that layout is undefined.
    fn made(&self, known: Type, sizes: &[u64], bytes: Bytes) -> Result<Option<Tensor>> {
        let (dtype, storage) = match known {
            Type::Plain(number) => {
                let endian = self.endian;
                let values = Numbers {
                    number,
                    endian,
                    bytes,
                };
                let order = Order::Row;
                (DType::real(number), Storage::Dense { order, values })
            }
            Type::Blocks(_) | Type::Unknown(_) => {
                let bytes = match (self.endian, known) {
                    (Endian::Little, _) => Some(bytes),
                    (Endian::Big, Type::Blocks(block)) => block.turned(&bytes, &self.how.limits),
                    (Endian::Big, _) => None,
                };
                let Some(bytes) = bytes else { return Ok(None) };
                let blocks = Numbers {
                    number: Number::U8,
                    endian: Endian::Little,
                    bytes,
                };
                let storage = Storage::Opaque {
                    layout: known.name().into(),
                    parts: vec![(PART.into(), blocks)],
                };
                (DType::real(Number::U8), storage)
            }
        };
        let dims = sizes.iter().copied().map(Dim::indexed).collect();
        Tensor::sharing(dims, dtype, storage).map(Some)
    }
}
