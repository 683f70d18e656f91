//! Constructs tensors from the manifest of a file.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::blobs::Blobs;
use super::super::object::{Layout, Misfit};
use super::super::types::stored;
use super::super::{NAME, checksum, hint, object};
use super::footer::Footer;
use super::manifest::{Manifest, Object, Part, Shard};
use super::{ALIGNMENT, DIALECT, LEAST_ALIGNMENT, ZSTD, manifest};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Bytes, Digest, Filter, gaps};
use crate::dtype::Number;
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::io::{Missing, Source, is_closed, open_beside};
use crate::key::Key;
use crate::limits::Limits;
use crate::memory;
use crate::note::{Note, NoteKind};
use crate::tensor::{Constraint, Shapes, Tensor};

pub(in super::super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let footer = Footer::read(source)?;
    let mut bundle = Bundle::new();
    bundle.hints.set(hint::VERSION, "2");
    if footer.manifest.is_empty() {
        let text = "the file is a shard, whose bytes another file describes";
        bundle.note(Note::new(NoteKind::Skipped, text));
        return Ok(bundle);
    }
    let bytes = footer.manifest(source, &how.limits)?;
    let mut manifest = manifest::read(&bytes, footer.manifest.start, &how.limits)?;
    let align = alignment(&manifest, footer.manifest.start);
    if align < ALIGNMENT {
        bundle.hints.set(hint::ALIGN, align);
    }
    bundle.meta = std::mem::take(&mut manifest.attributes);
    for (key, at) in std::mem::take(&mut manifest.ignored) {
        let text = format!("the key {key:?} has no meaning here");
        bundle.note(Note::new(NoteKind::IgnoredField, text).at(at));
    }
    let places = places(source, &manifest.shards, &mut bundle, &how.limits)?;
    let mut reader = Reader {
        limits: &how.limits,
        align,
        places,
        shapes: Shapes::new(),
        bundle,
    };
    let objects = in_file_order(manifest.objects)?;
    reader.check_blobs(&objects, &footer)?;
    reader.bundle.reserve(objects.len())?;
    for object in objects {
        reader.object(object)?;
    }
    Ok(reader.bundle)
}

/// The largest power of two, up to the default, that divides all offsets.
fn alignment(manifest: &Manifest, manifest_at: u64) -> u64 {
    let parts = manifest.objects.iter().flat_map(|object| &object.parts);
    let local = parts.filter(|part| part.shard.is_none());
    let all = local.fold(manifest_at, |all, part| all | part.offset);
    ALIGNMENT.min(1_u64.checked_shl(all.trailing_zeros()).unwrap_or(ALIGNMENT))
}

/// The objects in the order of writing, and their parts by name.
///
/// A blob that is shared with another object is where the first of them was written: an object's
/// position is that of its last blob.
fn in_file_order(mut objects: Vec<Object>) -> Result<Vec<Object>> {
    for object in &mut objects {
        object.parts.sort_by(|a, b| a.name.cmp(&b.name));
    }
    let place = |part: &Part| (part.shard.is_some(), part.offset, part.len);
    let places = |object: &Object| -> Vec<_> { object.parts.iter().map(place).collect() };
    let last = |object: &Object| object.parts.iter().map(place).max();
    memory::sort_by(&mut objects, |one, other| {
        last(one)
            .cmp(&last(other))
            .then_with(|| places(one).cmp(&places(other)))
    })?;
    Ok(objects)
}

/// The bytes of this file and of its shards.
struct Places {
    own: Source,
    shards: HashMap<String, Source>,
}

impl Places {
    fn get(&self, shard: Option<&str>) -> Option<&Source> {
        match shard {
            None => Some(&self.own),
            Some(name) => self.shards.get(name),
        }
    }
}

fn places(
    source: &Source,
    shards: &[Shard],
    bundle: &mut Bundle,
    limits: &Limits,
) -> Result<Places> {
    let mut places = Places {
        own: source.clone(),
        shards: HashMap::new(),
    };
    for shard in shards {
        let beside = beside(source, shard)?;
        let (text, at) = &shard.digest;
        match digest(text, *at)? {
            Some(digest) => {
                let bytes = Bytes::whole(beside.clone()).with_digest(Some(digest));
                let name = format!("the shard {}", shard.name);
                bundle.audit().compare(&name, bytes, limits)?;
            }
            None => bundle.note(Note::unknown_checksum(text).at(*at)),
        }
        places.shards.insert(shard.name.to_string(), beside);
    }
    Ok(places)
}

/// Opens a shard: for `model.zt`, the shard `n` is `model-n.zt` next to it.
fn beside(source: &Source, shard: &Shard) -> Result<Source> {
    let name = &shard.name;
    let Some(path) = source.path() else {
        let what = format!("the shard {name} of a file that was not opened by its name");
        let why = Missing::Unsupported { format: NAME, what };
        return Ok(Source::absent(shard.size, why));
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (of, path) = (path, path.with_file_name(format!("{stem}-{name}.zt")));
    let opened = match open_beside(of, &path) {
        Ok(opened) => opened,
        Err(Error::Io { source, .. }) if is_closed(&source) => {
            let why = Missing::File(path, source.raw_os_error().unwrap_or(0));
            return Ok(Source::absent(shard.size, why));
        }
        Err(error) => {
            let part = format!("the shard {name}");
            return Err(error.or_at(Some(shard.at)).in_part(&part));
        }
    };
    if opened.len() != shard.size {
        let why = format!(
            "the shard {name} has {} bytes, not the {} it should",
            opened.len(),
            shard.size
        );
        return Err(Error::malformed(shard.at, why));
    }
    Ok(opened)
}

struct Reader<'a> {
    limits: &'a Limits,
    /// The alignment of all offsets.
    align: u64,
    places: Places,
    shapes: Shapes,
    bundle: Bundle,
}

/// Whether an error means that a file is missing, or not readable.
fn is_not_there(error: &Error) -> bool {
    matches!(error.cause(), Error::Io { source, .. } if is_closed(source))
}

/// The owner of a blob, for messages.
#[derive(Clone, Copy)]
struct Owner<'a>(Option<&'a Object<'a>>);

impl Reader<'_> {
    /// Checks that blobs are aligned, end before the footer, and are equal or disjoint.
    fn check_blobs(&mut self, objects: &[Object], footer: &Footer) -> Result<()> {
        let mut own = Blobs::with_room(objects.len())?;
        own.add(footer.manifest.clone(), Owner(None))?;
        let mut elsewhere: BTreeMap<&str, Blobs<Owner>> = BTreeMap::new();
        for object in objects {
            for part in &object.parts {
                let shard = part.shard.as_deref();
                let Some(source) = self.places.get(shard) else {
                    let why = format!("a shard {:?} that is not listed", shard.unwrap_or_default());
                    return Err(Error::malformed(part.at, why));
                };
                let end = check_place(part, source)?;
                let blobs = match shard {
                    None => &mut own,
                    Some(name) => elsewhere.entry(name).or_insert_with(Blobs::new),
                };
                blobs.add(part.offset..end, Owner(Some(object)))?;
            }
        }
        let elsewhere = elsewhere.into_iter();
        let elsewhere = elsewhere.map(|(name, blobs)| (Some(name), blobs));
        let mut unused: BTreeSet<String> = self.places.shards.keys().cloned().collect();
        for (shard, blobs) in elsewhere.chain([(None, own)]) {
            let blobs = blobs.sorted()?;
            // Blobs of other files have their own alignment.
            let align = match shard {
                Some(_) => ALIGNMENT,
                None => self.align,
            };
            self.account(shard, &blobs, align)?;
            shard.map(|name| unused.remove(name));
            for shared in blobs.shared()? {
                if shared.first.0.is_none() || shared.second.0.is_none() {
                    let why = "a blob that is the description of the file";
                    return Err(Error::malformed(shared.at, why));
                }
            }
        }
        for shard in &unused {
            self.account(Some(shard), &Blobs::new(), LEAST_ALIGNMENT)?;
        }
        Ok(())
    }

    /// Accounts for the gaps between the blobs of this file, or of one of its shards.
    fn account(&mut self, shard: Option<&str>, blobs: &Blobs<Owner>, align: u64) -> Result<()> {
        let Some(source) = self.places.get(shard) else {
            return Ok(());
        };
        // A shard may have a manifest of its own. One without a valid footer has none, and its
        // checksum is verified in any case.
        let description = match Footer::read(source) {
            Ok(footer) => Some(footer.manifest),
            Err(error) if error.is_of_content() || is_not_there(&error) => None,
            Err(error) => return Err(error),
        };
        let between = blobs.gaps(Footer::blobs(source.len()));
        let rest = between.flat_map(|gap| gaps(gap, description.clone()));
        let gaps = rest.chain([Footer::reserved(source.len())]);
        let audit = self.bundle.audit();
        audit.account(source, gaps, align, self.limits)?;
        if let Some(name) = shard {
            audit.of_file(&format!("the shard {name}"));
        }
        Ok(())
    }

    fn object(&mut self, object: Object) -> Result<()> {
        let key = Key::flat(&*object.name);
        let (mut parts, mut skipped) = (Vec::new(), None);
        let mut hints = crate::meta::Meta::new();
        for part in &object.parts {
            let Some(number) = stored(&part.dtype) else {
                let why = format!("the dtype {:?} is unknown", part.dtype);
                return Err(Error::malformed(part.at, why));
            };
            let digest = self.digest(part, &key)?;
            // The default algorithm, XXH3, needs no hint.
            let unknown = { part.digest.as_ref() }.filter(|_| digest.is_none());
            match (digest.as_ref().map(|digest| digest.algorithm), unknown) {
                (Some(Algorithm::Xxh3), _) => {}
                (Some(algorithm), _) => hints.set(hint::CHECKSUM, checksum::name(algorithm)),
                (None, Some((text, _))) => hints.set(hint::CHECKSUM, &**text),
                (None, None) => hints.set(hint::CHECKSUM, "none"),
            }
            let Some(mut bytes) = self.bytes(part)? else {
                let encoding = part.encoding.as_deref().unwrap_or_default();
                let text = format!("the encoding {encoding:?} is unknown");
                let note = Note::new(NoteKind::Skipped, text).on(&key).at(part.at);
                skipped = skipped.or(Some(note));
                continue;
            };
            if part.encoding.is_some() {
                hints.set(hint::ENCODING, "zstd");
            }
            if let Some((text, _)) = unknown {
                bytes = bytes.with_unknown_digest(checksum::SECOND, text);
            }
            parts.push(object::Part {
                name: part.name.clone(),
                at: part.at,
                number,
                type_name: part.type_name.clone(),
                bytes: bytes.with_content_digest(digest),
            });
        }
        if let Some(note) = skipped {
            return self.skip(note, parts.iter().map(|part| &part.bytes));
        }
        let found = object::Object {
            layout: object.layout.clone(),
            shape_at: object.shape_at,
            dims: self.shapes.of(&object.shape),
            sizes: object.shape,
            parts,
        };
        let mut tensor = made(&found, self.limits)?;
        if !object::describe(&mut tensor, object.attributes) {
            let text = "an attribute has the name that the types of its parts go by";
            let note = Note::new(NoteKind::Skipped, text).on(&key).at(object.at);
            return self.skip(note, found.parts.iter().map(|part| &part.bytes));
        }
        tensor.hints = hints;
        self.bundle.add(key, tensor, self.limits)?;
        Ok(())
    }

    /// Leaves an object out; the checksums of its parts are verified all the same.
    fn skip<'b>(&mut self, note: Note, parts: impl Iterator<Item = &'b Bytes>) -> Result<()> {
        let name = note.key.as_ref().map(Key::to_string).unwrap_or_default();
        self.bundle.note(note);
        for bytes in parts.filter(|bytes| bytes.has_checksum()) {
            let audit = self.bundle.audit();
            audit.compare(&name, bytes.clone(), self.limits)?;
        }
        Ok(())
    }

    /// The bytes of a part; `None` if their encoding is unknown.
    fn bytes(&self, part: &Part) -> Result<Option<Bytes>> {
        let Some(source) = self.places.get(part.shard.as_deref()) else {
            return Ok(None);
        };
        let run = part.offset..part.offset.saturating_add(part.len);
        let bytes = Bytes::run(source, run)?;
        Ok(match (part.encoding.as_deref(), part.decoded_len) {
            (Some(ZSTD), Some(decoded)) => {
                self.limits.check_ratio(part.len, decoded)?;
                Some(bytes.filtered(Filter::Zstd { decoded }))
            }
            (None, _) => Some(bytes),
            _ => None,
        })
    }

    /// The checksum to verify; one of an unknown kind is noted.
    fn digest(&mut self, part: &Part, key: &Key) -> Result<Option<Digest>> {
        let Some((text, at)) = &part.digest else {
            return Ok(None);
        };
        let digest = digest(text, *at)?;
        if digest.is_none() {
            self.bundle
                .note(Note::unknown_checksum(text).on(key).at(*at));
        }
        Ok(digest)
    }
}

/// Parses a checksum; `None` if its kind is unknown.
fn digest(text: &str, at: u64) -> Result<Option<Digest>> {
    let Some((name, digits)) = text.split_once(':') else {
        let why = format!("the digest {text:?} names no algorithm");
        return Err(Error::malformed(at, why));
    };
    let Some(algorithm) = checksum::named(name).filter(|_| name != "crc32c") else {
        return Ok(None);
    };
    let is_lower = !digits.bytes().any(|digit| digit.is_ascii_uppercase());
    match checksum::of_digits(algorithm, digits).filter(|_| is_lower) {
        Some(digest) => Ok(Some(digest)),
        None => {
            let why = format!("the digits of {text:?} are not those of {name} in lower case");
            Err(Error::malformed(at, why))
        }
    }
}

/// Checks the location of a part's blob; returns its end.
fn check_place(part: &Part, source: &Source) -> Result<u64> {
    let Part { offset, len, .. } = part;
    if *offset == 0 || !offset.is_multiple_of(LEAST_ALIGNMENT) {
        let why = format!("a blob at {offset}, a multiple of {LEAST_ALIGNMENT} was expected");
        return Err(Error::malformed(part.blob_at, why));
    }
    let most = Footer::start(source.len());
    match offset.checked_add(*len).filter(|end| *end <= most) {
        Some(end) => Ok(end),
        None => {
            let why = format!("a blob of {len} bytes at {offset} reaches into the footer");
            Err(Error::malformed(part.blob_at, why))
        }
    }
}

/// The tensor of an object, with the format's constraints on its values.
fn made(found: &object::Object, limits: &Limits) -> Result<Tensor> {
    let layout = DIALECT.layout(&found.layout);
    // The stored numbers of registered types are prescribed for all layouts.
    found.check_types().map_err(malformed)?;
    let mut tensor = found.tensor(layout, limits).map_err(malformed)?;
    if tensor.dtype().number == Number::Bool {
        tensor.demand(Constraint::BoolIs0Or1);
    }
    if layout == Layout::Rows {
        tensor.demand(Constraint::SortedColumns);
    }
    Ok(tensor)
}

fn malformed(misfit: Misfit) -> Error {
    Error::malformed(misfit.at, misfit.why)
}

impl std::fmt::Display for Owner<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(object) => write!(out, "{}", Key::flat(&*object.name)),
            None => write!(out, "the description"),
        }
    }
}
