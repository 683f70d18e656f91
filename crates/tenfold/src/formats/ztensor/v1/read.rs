//! Constructs tensors from the index of a file.
#![deny(clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use super::super::blobs::{Blobs, Name};
use super::super::object::{Layout, Misfit};
use super::super::types::{Type, stored};
use super::super::v0::DTYPES;
use super::super::{NAME, checksum, dense_len, hint, index, object};
use super::manifest::{Component, Manifest, Object, Reader};
use super::{ALIGNMENT, DIALECT, MAGIC};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Filter, Scan, to_u64};
use crate::dtype::Number;
use crate::error::{Error, Result};
use crate::format::{Mode, ReadOptions};
use crate::io::Source;
use crate::key::Key;
use crate::memory;
use crate::meta::{Meta, Value};
use crate::note::{Note, NoteKind};
use crate::tensor::Shapes;
use crate::wire::cbor::Items;

pub(in super::super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let is_1_0 = !ends_with_magic(source)?;
    let after = if is_1_0 { 0 } else { to_u64(MAGIC.len()) };
    let mut bundle = Bundle::new();
    let index = index::find(source, MAGIC, after, how, &mut bundle)?;
    let mut manifest = Manifest::default();
    if !index.is_empty() {
        let len = index.end.saturating_sub(index.start);
        let bytes = Scan::part(source, NAME, index.clone()).keep(len, &how.limits)?;
        let items = Items::new(&bytes, index.start, NAME, &how.limits);
        let limits = &how.limits;
        manifest = Reader { items, limits }.manifest()?;
    }
    let version = version(&manifest, is_1_0, index.start)?;
    bundle.hints.set(hint::VERSION, version);
    if let Some(generator) = &manifest.generator {
        bundle.hints.set(hint::GENERATOR, generator.as_str());
    }
    bundle.meta = manifest.attributes;
    let mut maker = Maker {
        source,
        how,
        is_1_0,
        index_start: index.start,
        blobs: Blobs::new(),
        shapes: Shapes::new(),
        bundle,
    };
    // The index is sorted by name; tensors are listed in the order of their bytes.
    memory::sort_by_key(&mut manifest.objects, Object::place)?;
    for object in manifest.objects {
        maker.object(object)?;
    }
    let Maker {
        blobs, mut bundle, ..
    } = maker;
    let blobs = blobs.sorted()?;
    for note in blobs.notes()? {
        bundle.note(note);
    }
    let gaps = blobs.gaps(index::room(MAGIC, &index));
    let audit = bundle.audit();
    audit.account(source, gaps, ALIGNMENT, &how.limits)?;
    bundle.note_duplicates()?;
    Ok(bundle)
}

/// Only generation 1.0 does not end with its signature.
fn ends_with_magic(source: &Source) -> Result<bool> {
    let mut end = [0; 8];
    let Some(at) = source.len().checked_sub(to_u64(end.len())) else {
        return Ok(false);
    };
    source.read_at(at, &mut end)?;
    Ok(end == *MAGIC)
}

/// The generation of a file.
fn version(manifest: &Manifest, is_1_0: bool, at: u64) -> Result<&'static str> {
    let text = manifest.version.as_deref();
    match text {
        _ if is_1_0 => Ok("1.0"),
        Some(text) if text.starts_with("1.1") => Ok("1.1"),
        // A later version that declares itself compatible is read as the latest.
        Some(text) if text.starts_with("1.") => Ok("1.2"),
        None => Ok("1.1"),
        Some(text) => {
            let why = format!("the index is of version {text:?}, 1.1 or 1.2 was expected");
            Err(Error::malformed(at, why))
        }
    }
}

struct Maker<'a> {
    source: &'a Source,
    how: &'a ReadOptions,
    is_1_0: bool,
    index_start: u64,
    blobs: Blobs<Name<'static>>,
    shapes: Shapes,
    bundle: Bundle,
}

/// An unknown dtype or encoding, or the known one.
type Known<T> = std::result::Result<T, String>;

impl Maker<'_> {
    fn object(&mut self, mut object: Object) -> Result<()> {
        let key = Key::flat(std::mem::take(&mut object.name));
        let Some(sizes) = object.shape.take() else {
            return Err(Error::malformed(object.at, "the object has no shape"));
        };
        let layout = object.format.take().unwrap_or_else(|| "dense".into());
        object.components.sort_by(|a, b| a.role.cmp(&b.role));
        let mut found = object::Object {
            layout: layout.into(),
            shape_at: object.shape_at,
            dims: self.shapes.of(&sizes),
            sizes,
            parts: Vec::new(),
        };
        let mut hints = Meta::new();
        let mut unknown = None;
        for component in &object.components {
            let bytes = self.blob(component, &key)?;
            let part = self.part(component, bytes, &object, &found, &key, &mut hints)?;
            match part {
                Ok(part) => found.parts.push(part),
                Err(word) => unknown = unknown.or(Some(word)),
            }
        }
        if let Some(word) = unknown {
            return self.keep(&object, found, &word, key);
        }
        let malformed = |misfit: Misfit| Error::malformed(misfit.at, misfit.why);
        let limits = &self.how.limits;
        let mut tensor = match &*found.layout {
            "dense" => found.tensor(Layout::Dense, limits).map_err(malformed)?,
            // Sparse parts that do not fit are kept opaque.
            name => found
                .tensor(DIALECT.layout(name), limits)
                .or_else(|_| found.opaque(name))
                .map_err(malformed)?,
        };
        if !object::describe(&mut tensor, object.attributes) {
            let text = "an attribute has the name that the types of its parts go by";
            let note = Note::new(NoteKind::Skipped, text).on(&key);
            self.bundle.note(note.at(object.at));
            let name = key.to_string();
            let parts = found.parts.iter().map(|part| &part.bytes);
            for bytes in parts.filter(|bytes| bytes.has_checksum()) {
                let audit = self.bundle.audit();
                audit.compare(&name, bytes.clone(), &self.how.limits)?;
            }
            return Ok(());
        }
        tensor.hints = hints;
        self.bundle.add(key, tensor, &self.how.limits)?;
        Ok(())
    }

    /// Keeps an object with an unknown property opaque: the fields of its components become a hint.
    fn keep<'a>(
        &mut self,
        object: &'a Object,
        mut found: object::Object<'a>,
        unknown: &str,
        key: Key,
    ) -> Result<()> {
        found.parts.clear();
        let mut hints = Meta::new();
        let mut said = Vec::new();
        for component in &object.components {
            let bytes = self.blob(component, &key)?;
            found.parts.push(object::Part {
                name: component.role.as_str().into(),
                at: component.at,
                number: Number::U8,
                type_name: None,
                bytes: self.proven(bytes, component, &key, &mut hints)?,
            });
            let fields = component.fields(object.dtype.as_deref());
            said.push((component.role.as_str().into(), Value::Map(fields)));
        }
        hints.set(hint::LAYOUT, &*found.layout);
        hints.set(hint::COMPONENTS, Value::Map(said));
        let kept = found.opaque(unknown);
        let mut tensor = kept.map_err(|misfit| Error::malformed(misfit.at, misfit.why))?;
        tensor.meta.clone_from(&object.attributes);
        tensor.hints = hints;
        self.bundle.add(key, tensor, &self.how.limits)?;
        Ok(())
    }

    /// The stored bytes of a component, which are between the magic and the index.
    fn blob(&mut self, component: &Component, key: &Key) -> Result<Bytes> {
        let missing = |what: &str| {
            let why = format!("the component has no {what}");
            Error::malformed(component.at, why)
        };
        let offset = component.offset.ok_or_else(|| missing("offset"))?;
        let len = component.len.ok_or_else(|| missing("length"))?;
        let at = component.offset_at;
        if offset < to_u64(MAGIC.len()) || !offset.is_multiple_of(ALIGNMENT) {
            let why = format!("a blob at {offset}, a multiple of {ALIGNMENT} was expected");
            if offset < to_u64(MAGIC.len()) || self.how.mode == Mode::Strict {
                return Err(Error::malformed(at, why));
            }
            self.bundle
                .note(Note::new(NoteKind::Lenient, why).on(key).at(at));
        }
        let end = offset.checked_add(len);
        let Some(end) = end.filter(|end| *end <= self.index_start) else {
            let why = format!("a blob of {len} bytes at {offset} reaches into the index");
            return Err(Error::malformed(at, why));
        };
        let name = key.flat_name().unwrap_or_default().to_owned();
        self.blobs.add(offset..end, Name(name.into()))?;
        Bytes::run(self.source, offset..end)
    }

    /// A component as a part, unless a property of it is unknown.
    fn part<'a>(
        &mut self,
        component: &'a Component,
        blob: Bytes,
        object: &Object,
        found: &object::Object,
        key: &Key,
        hints: &mut Meta,
    ) -> Result<Known<object::Part<'a>>> {
        let at = component.at;
        let number = match self.number(component, object) {
            Ok(number) => number,
            Err(unknown) => return Ok(Err(unknown)),
        };
        let blob = self.proven(blob, component, key, hints)?;
        let bytes = match component.encoding.as_deref() {
            None | Some("raw") => blob,
            Some("zstd") => {
                hints.set(hint::ENCODING, "zstd");
                let decoded = self.decoded_len(component, &blob, found, number)?;
                self.how.limits.check_ratio(blob.stored_len(), decoded)?;
                blob.filtered(Filter::Zstd { decoded })
            }
            Some(encoding) => return Ok(Err(encoding.to_owned())),
        };
        Ok(Ok(object::Part {
            name: component.role.as_str().into(),
            at,
            number,
            type_name: component.type_name.as_deref().map(Cow::Borrowed),
            bytes,
        }))
    }

    /// The numbers of a component.
    fn number(&self, component: &Component, object: &Object) -> Known<Number> {
        if self.is_1_0 {
            // Indices have no type of their own there.
            if matches!(component.role.as_str(), "indices" | "indptr" | "coords") {
                return Ok(Number::U64);
            }
            let name = object.dtype.as_deref().unwrap_or_default();
            let found = DTYPES.iter().find(|(known, _)| *known == name);
            return found.map(|(_, number)| *number).ok_or_else(|| name.into());
        }
        match component.dtype.as_deref().unwrap_or_default() {
            "bool" => Ok(Number::Bool),
            name => stored(name).ok_or_else(|| name.into()),
        }
    }

    /// The decoded length of a compressed component. If neither it nor its shape determines the
    /// length, it must be decoded.
    fn decoded_len(
        &self,
        component: &Component,
        blob: &Bytes,
        found: &object::Object,
        number: Number,
    ) -> Result<u64> {
        if let Some(len) = component.decoded_len {
            return Ok(len);
        }
        let is_typed = component
            .type_name
            .as_deref()
            .and_then(Type::named)
            .is_some();
        if found.layout == "dense" && !is_typed {
            return dense_len(&found.sizes, number.width()).ok_or_else(|| {
                let why = "the shape has more bytes than 64 bits count";
                Error::malformed(found.shape_at, why)
            });
        }
        blob.zstd_len(&self.how.limits)
    }

    /// Stored bytes with their checksum; one of an unknown kind is noted.
    fn proven(
        &mut self,
        blob: Bytes,
        component: &Component,
        key: &Key,
        hints: &mut Meta,
    ) -> Result<Bytes> {
        let Some((text, at)) = &component.digest else {
            return Ok(blob);
        };
        // Here the programs accept either case of the x.
        let blob = checksum::over(blob, &text.replacen("crc32c:0X", "crc32c:0x", 1))
            .map_err(|why| Error::malformed(*at, why))?;
        match blob.digest() {
            Some(digest) => hints.set(hint::CHECKSUM, checksum::name(digest.algorithm)),
            None => {
                hints.set(hint::CHECKSUM, text.as_str());
                let note = Note::unknown_checksum(text);
                self.bundle.note(note.on(key).at(*at));
            }
        }
        Ok(blob)
    }
}
