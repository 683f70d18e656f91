//! Reads the index of a zTensor file, entry by entry.
#![deny(clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashSet};

use super::super::{NAME, dense_len, index};
use super::entries::Found;
use super::{ALIGNMENT, COORDINATES, DTYPES, FIELDS, MAGIC, ROWS};
use crate::bundle::Bundle;
use crate::bytes::{Scan, to_u64, to_usize};
use crate::dtype::Number;
use crate::error::Result;
use crate::format::ReadOptions;
use crate::io::{Source, Threads, ordered_pipeline};
use crate::key::Key;
use crate::limits::Limits;
use crate::memory;
use crate::meta::Value;
use crate::tensor::{Shapes, Tensor};
use crate::wire::cbor::{Items, Left, Part, Parts};

pub(in super::super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut bundle = Bundle::new();
    let index = index::find(source, MAGIC, 0, how, &mut bundle)?;
    let between = index::room(MAGIC, &index);
    if index.is_empty() {
        return Found::with_room(bundle, 0)?.finish(source, between, &how.limits);
    }
    let (left, start) = array(source, &index, &how.limits)?;
    let len = index.end.saturating_sub(start);
    let room = how.limits.room::<(Key, Tensor)>(left.room(len, LEAST));
    let mut found = Found::with_room(bundle, room)?;
    let hasher = DefaultHashBuilder::default();
    let mut parts = Parts::new(source, start..index.end, left);
    ordered_pipeline(
        Threads::Cores.for_len(to_usize(len)?),
        |piece: &mut Piece| parts.next(&mut piece.part, &how.limits),
        |piece| piece.read(source, &how.limits, &hasher, index.start),
        |piece| {
            found.append(std::mem::take(&mut piece.found))?;
            how.limits.check_tensors(found.count)
        },
    )?;
    found.finish(source, between, &how.limits)
}

/// Enters the array of tensors.
fn array(source: &Source, index: &Range<u64>, limits: &Limits) -> Result<(Left, u64)> {
    let len = index.end.saturating_sub(index.start).min(LONGEST_HEAD);
    let head = Scan::part(source, NAME, index.clone()).take(len)?;
    let mut items = Items::new(&head, index.start, NAME, limits);
    let left = items.array("an array of tensors")?;
    Ok((left, items.at()))
}

/// A piece of the index, and the entries found in it.
#[derive(Default)]
struct Piece {
    part: Part,
    found: Found,
}

impl Piece {
    fn read(
        &mut self,
        source: &Source,
        limits: &Limits,
        hasher: &DefaultHashBuilder,
        index_start: u64,
    ) -> Result<()> {
        let (items, left) = self.part.items(NAME, limits);
        let source = &source.apart();
        let room = limits.room::<(Key, Tensor)>(left.room(items.len(), LEAST));
        let mut reader = Reader {
            source,
            limits,
            hasher,
            items,
            sizes: Vec::new(),
            shapes: Shapes::new(),
            found: Found::with_room(Bundle::new(), room)?,
        };
        reader.entries(left, index_start)?;
        self.found = reader.found;
        Ok(())
    }
}

pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) limits: &'a Limits,
    pub(super) hasher: &'a DefaultHashBuilder,
    pub(super) items: Items<'a>,
    /// The shape of the current tensor.
    pub(super) sizes: Vec<u64>,
    pub(super) shapes: Shapes,
    pub(super) found: Found,
}

/// The supported encodings and layouts.
pub(in super::super) const ENCODINGS: &[&str] = &["raw", "zstd"];
pub(in super::super) const LAYOUTS: &[&str] = &["dense", COORDINATES, ROWS];

/// Shortest map of a tensor: the names of the required fields.
const LEAST: u64 = 50;

/// Longest head of an array.
const LONGEST_HEAD: u64 = 9;

/// A field and the offset of its value.
pub(super) type Field<T> = Option<(T, u64)>;

/// Text of the index.
pub(super) type Word<'a> = Cow<'a, str>;

/// The map of one tensor.
#[derive(Default)]
pub(super) struct Entry<'a> {
    at: u64,
    name: Field<Word<'a>>,
    offset: Field<u64>,
    size: Field<u64>,
    dtype: Field<Word<'a>>,
    layout: Field<Word<'a>>,
    /// The sizes are in the reader.
    shape: Field<()>,
    encoding: Field<Word<'a>>,
    pub(super) endianness: Field<Word<'a>>,
    pub(super) checksum: Field<Word<'a>>,
    /// User metadata: fields with other names.
    pub(super) own: Vec<(String, Value)>,
    seen: HashSet<String>,
}

/// The fields that every tensor has, checked against the file.
pub(super) struct Place {
    pub(super) key: Key,
    pub(super) run: Range<u64>,
    pub(super) size_at: u64,
    pub(super) shape_at: u64,
}

impl<'a> Reader<'a> {
    fn entries(&mut self, mut left: Left, index_start: u64) -> Result<()> {
        while self.items.more(&mut left)? {
            self.found.count = self.found.count.saturating_add(1);
            self.limits.check_tensors(self.found.count)?;
            let mut entry = Entry {
                at: self.items.at(),
                ..Entry::default()
            };
            self.entry(&mut entry)?;
            self.tensor(entry, index_start)?;
        }
        if !self.items.is_done() {
            let at = self.items.at();
            return self
                .items
                .fail_at(at, "bytes left over after the array of tensors");
        }
        Ok(())
    }

    fn entry(&mut self, entry: &mut Entry<'a>) -> Result<()> {
        let mut left = self.items.map("the map of a tensor")?;
        while self.items.more(&mut left)? {
            let key_at = self.items.at();
            let key = self.items.word_among(FIELDS, "a key that is text")?;
            let is_new = self.field(&key, entry)?;
            if !is_new {
                return self
                    .items
                    .fail_at(key_at, format!("the key {key:?} stands twice"));
            }
        }
        Ok(())
    }

    /// Reads the value of a key into its field; false for a duplicate.
    fn field(&mut self, key: &str, entry: &mut Entry<'a>) -> Result<bool> {
        let at = self.items.at();
        let items = &mut self.items;
        Ok(match key {
            "name" => set(&mut entry.name, items.word("a name that is text")?, at),
            "offset" => set(&mut entry.offset, items.u64("an offset")?, at),
            "size" => set(&mut entry.size, items.u64("a size")?, at),
            "dtype" => set(&mut entry.dtype, items.word("a dtype that is text")?, at),
            "shape" => {
                self.shape()?;
                set(&mut entry.shape, (), at)
            }
            "encoding" => {
                let encoding = items.word_among(ENCODINGS, "an encoding that is text")?;
                set(&mut entry.encoding, encoding, at)
            }
            // The reference omits optional fields, and treats null as absent.
            "layout" | "data_endianness" | "checksum" => {
                let (field, what) = match key {
                    "layout" => (&mut entry.layout, "a layout that is text"),
                    "checksum" => (&mut entry.checksum, "a checksum that is text"),
                    _ => (&mut entry.endianness, "a data_endianness that is text"),
                };
                items.null()? || set(field, items.word_among(LAYOUTS, what)?, at)
            }
            _ => {
                let value = items.value()?;
                self.limits.charge_items::<(String, Value)>(1)?;
                self.limits.charge_text(key.len().saturating_mul(2))?;
                memory::push(&mut entry.own, (key.to_owned(), value))?;
                entry.seen.insert(key.to_owned())
            }
        })
    }

    fn shape(&mut self) -> Result<()> {
        let mut left = self.items.array("a shape that is an array")?;
        self.sizes.clear();
        while self.items.more(&mut left)? {
            self.sizes.push(self.items.u64("a size of a dimension")?);
            self.limits.check_ndim(to_u64(self.sizes.len()))?;
        }
        Ok(())
    }

    fn missing<T>(&self, entry_at: u64, field: Field<T>, what: &str) -> Result<(T, u64)> {
        match field {
            Some(found) => Ok(found),
            None => self
                .items
                .fail_at(entry_at, format!("the tensor has no {what}")),
        }
    }

    fn tensor(&mut self, mut entry: Entry<'a>, index_start: u64) -> Result<()> {
        let at = entry.at;
        let (name, _) = self.missing(at, entry.name.take(), "name")?;
        let (offset, offset_at) = self.missing(at, entry.offset, "offset")?;
        let (size, size_at) = self.missing(at, entry.size, "size")?;
        let (dtype, _) = self.missing(at, entry.dtype.take(), "dtype")?;
        let ((), shape_at) = self.missing(at, entry.shape, "shape")?;
        let (encoding, _) = self.missing(at, entry.encoding.take(), "encoding")?;
        let layout = entry
            .layout
            .take()
            .map_or(Cow::Borrowed("dense"), |(layout, _)| layout);

        if offset < to_u64(MAGIC.len()) || !offset.is_multiple_of(ALIGNMENT) {
            let why = format!("a blob at {offset}, a multiple of {ALIGNMENT} was expected");
            return self.items.fail_at(offset_at, why);
        }
        let known = { DTYPES.iter() }.find(|(name, _)| *name == dtype);
        let known = known.map(|(_, number)| *number);
        let is_known = ENCODINGS.contains(&&*encoding) && LAYOUTS.contains(&&*layout);
        if let (Some(number), "raw", "dense") = (known, &*encoding, &*layout) {
            self.check_raw_size(number, size, (size_at, shape_at))?;
        }
        let end = offset.checked_add(size).filter(|end| *end <= index_start);
        let Some(end) = end else {
            let why = format!("a blob of {size} bytes at {offset} reaches into the index");
            return self.items.fail_at(offset_at, why);
        };
        let place = Place {
            key: Key::flat(&*name),
            run: offset..end,
            size_at,
            shape_at,
        };
        match known.filter(|_| is_known) {
            Some(number) => self.place(entry, place, number, &encoding, &layout),
            None => self.keep(entry, place, &dtype, &encoding, &layout),
        }
    }

    fn check_raw_size(
        &self,
        number: Number,
        size: u64,
        (size_at, shape_at): (u64, u64),
    ) -> Result<()> {
        let Some(wanted) = dense_len(&self.sizes, number.width()) else {
            return self
                .items
                .fail_at(shape_at, "the shape has more bytes than 64 bits count");
        };
        if wanted != size {
            let why = format!("a blob of {size} bytes, its shape needs {wanted}");
            return self.items.fail_at(size_at, why);
        }
        Ok(())
    }
}

fn set<T>(field: &mut Field<T>, value: T, at: u64) -> bool {
    field.replace((value, at)).is_none()
}
