//! Writes files as the reference does, byte for byte where nothing is compressed.

use std::collections::HashMap;

use super::super::parts::{Content, Part, is_types, parts};
use super::super::{NAME, checksum, hint, refuse_option};
use super::dedup::Twin;
use super::footer::{Footer, MAGIC};
use super::{ALIGNMENT, DIALECT, LEAST_ALIGNMENT, ZSTD, dedup};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Compressor, DigestState};
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::key::Key;
use crate::limits::Limits;
use crate::memory;
use crate::meta::Value;
use crate::tensor::Tensor;
use crate::wire::cbor::Out;

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    refuse_option(&how.options, "endian", "0.1")?;
    let align = align(bundle, how)?;
    let mut objects = Vec::new();
    for (key, tensor) in bundle.entries() {
        memory::push(&mut objects, Object::new(key, tensor, how)?)?;
    }
    // Blobs of the canonical form are sorted by name, bytewise.
    if align == ALIGNMENT {
        memory::sort_by_key(&mut objects, |object| object.name)?;
    }
    out.write(MAGIC)?;
    let described = Blobs::new(align, &how.limits).write(&objects, out)?;
    let manifest = manifest(bundle, &objects, &described)?;
    out.pad_to(align)?;
    let offset = out.at();
    out.write(&manifest)?;
    out.write(&Footer::bytes(offset, &manifest))
}

/// The alignment of blobs.
fn align(bundle: &Bundle, how: &WriteOptions) -> Result<u64> {
    let given = how.options.get("align");
    let is_fine =
        |align: &u64| align.is_power_of_two() && (LEAST_ALIGNMENT..=ALIGNMENT).contains(align);
    match given {
        Some(text) => text.parse().ok().filter(is_fine).ok_or_else(|| {
            let why = format!("align is {text}, not a power of two from 4096 to 65536");
            Error::invalid(why)
        }),
        None => {
            let kept = bundle.hints.get(hint::ALIGN).and_then(Value::as_u64);
            Ok(kept.filter(is_fine).unwrap_or(ALIGNMENT))
        }
    }
}

/// A tensor and the way it is written.
struct Object<'a> {
    name: &'a str,
    tensor: &'a Tensor,
    layout: &'a str,
    parts: Vec<Part<'a>>,
    /// The zstd level, or raw.
    level: Option<i32>,
    digest: Option<Algorithm>,
    /// Checksums of unknown kinds, of parts whose bytes do not change.
    unknown: Vec<Option<&'a str>>,
}

impl<'a> Object<'a> {
    fn new(key: &'a Key, tensor: &'a Tensor, how: &WriteOptions) -> Result<Object<'a>> {
        let name = key.flat_name();
        let name = name.ok_or_else(|| Error::invalid("a tensor without a plain name"))?;
        let (layout, parts) = parts(tensor, &DIALECT)?;
        let was = tensor.hints.text(hint::ENCODING) == Some("zstd");
        let algorithms = [
            ("none", None),
            ("sha256", Some(Algorithm::Sha256)),
            ("xxh3", Some(Algorithm::Xxh3)),
        ];
        let asked = how.options.choose("checksum", &algorithms)?;
        let had = tensor.hints.text(hint::CHECKSUM);
        let known = algorithms.iter().find(|(name, _)| Some(*name) == had);
        let kept = known.map(|(_, algorithm)| *algorithm);
        let level = super::super::zstd_level(&how.options, was)?;
        let unknown = |part: &Part<'a>| match part.content {
            Content::Numbers(numbers) => checksum::kept(numbers, level, checksum::SECOND),
            _ => None,
        };
        let unknown: Vec<_> = if asked.is_none() {
            parts.iter().map(unknown).collect()
        } else {
            vec![None; parts.len()]
        };
        Ok(Object {
            name,
            tensor,
            layout,
            parts,
            level,
            unknown,
            digest: asked.or(kept).unwrap_or(Some(Algorithm::Xxh3)),
        })
    }
}

/// The description of a blob in the manifest.
#[derive(Clone)]
struct Described {
    offset: u64,
    len: u64,
    /// Its decoded length, if it is compressed.
    decoded: Option<u64>,
    digest: Option<String>,
}

/// Writes the blobs of all parts, one for all parts with the same bytes.
struct Blobs<'a> {
    align: u64,
    limits: &'a Limits,
    /// Blobs that may be shared, by their bytes and their checksum.
    known: HashMap<(Option<Twin>, Option<Algorithm>), Described>,
}

impl<'a> Blobs<'a> {
    fn new(align: u64, limits: &'a Limits) -> Self {
        let known = HashMap::new();
        Blobs {
            align,
            limits,
            known,
        }
    }

    /// Writes the blobs, and returns their descriptions.
    fn write(mut self, objects: &[Object], out: &mut Sink) -> Result<Vec<Described>> {
        let raw = objects.iter().filter(|object| object.level.is_none());
        let parts = raw.flat_map(|object| &object.parts);
        let contents = memory::collected(parts.map(|part| &part.content))?;
        let mut twins = dedup::find(&contents, self.limits)?.into_iter();
        let mut all = Vec::new();
        for object in objects {
            for (part, unknown) in object.parts.iter().zip(&object.unknown) {
                let digest = object.digest.filter(|_| unknown.is_none());
                let mut described = match object.level {
                    Some(level) => self.compressed(&part.content, level, digest, out)?,
                    None => {
                        let twin = twins.next().flatten();
                        self.raw(&part.content, twin, digest, out)?
                    }
                };
                if let Some(unknown) = unknown {
                    described.digest = Some((*unknown).to_owned());
                }
                memory::push(&mut all, described)?;
            }
        }
        Ok(all)
    }

    fn raw(
        &mut self,
        content: &Content,
        twin: Option<Twin>,
        algorithm: Option<Algorithm>,
        out: &mut Sink,
    ) -> Result<Described> {
        let is_empty = content.len() == 0;
        let key = (twin, algorithm);
        if (twin.is_some() || is_empty)
            && let Some(known) = self.known.get(&key)
        {
            return Ok(known.clone());
        }
        // Empty blobs need no padding either.
        let offset = out.at().next_multiple_of(self.align);
        out.start_digest(None);
        if !is_empty {
            out.pad_to(self.align)?;
        }
        out.start_digest(algorithm);
        content.write(self.limits, out)?;
        let described = Described {
            offset,
            len: content.len(),
            decoded: None,
            digest: digest_text(algorithm, out.take_digest()),
        };
        if twin.is_some() || is_empty {
            memory::put(&mut self.known, key, described.clone())?;
        }
        Ok(described)
    }

    fn compressed(
        &self,
        content: &Content,
        level: i32,
        algorithm: Option<Algorithm>,
        out: &mut Sink,
    ) -> Result<Described> {
        out.pad_to(self.align)?;
        let offset = out.at();
        let mut digest = algorithm.map(DigestState::new);
        let mut compressor = Compressor::seekable(level, self.limits)?;
        content.for_each(self.limits, &mut |piece| {
            if let Some(digest) = &mut digest {
                digest.update(piece);
            }
            compressor.push(piece, out)
        })?;
        compressor.finish(out)?;
        Ok(Described {
            offset,
            len: out.at().saturating_sub(offset),
            decoded: Some(content.len()),
            digest: digest_text(algorithm, digest.map(DigestState::finish)),
        })
    }
}

fn digest_text(algorithm: Option<Algorithm>, digest: Option<Vec<u8>>) -> Option<String> {
    Some(checksum::text(algorithm?, &digest?))
}

/// The order of the keys of a map: that of their encoding, which begins with their length.
fn in_map_order(name: &str) -> (usize, &str) {
    (name.len(), name)
}

/// The manifest of the file.
fn manifest(bundle: &Bundle, objects: &[Object], described: &[Described]) -> Result<Vec<u8>> {
    let mut rest = described;
    let mut all = memory::with_room(objects.len())?;
    for object in objects {
        let missing = || Error::invalid(format!("{NAME}: a part without a blob"));
        let (own, later) = rest
            .split_at_checked(object.parts.len())
            .ok_or_else(missing)?;
        rest = later;
        all.push((object, own));
    }
    memory::sort_by_key(&mut all, |(object, _)| in_map_order(object.name))?;
    let mut out = Out::new();
    out.map(if bundle.meta.is_empty() { 1 } else { 2 })?;
    out.text("objects")?;
    out.map(all.len())?;
    for (object, described) in all {
        out.text(object.name)?;
        write_object(object, described, &mut out)?;
    }
    attributes(bundle.meta.iter().collect(), &mut out)?;
    Ok(out.finish())
}

/// Writes attributes, if there are any, after their key.
fn attributes(mut pairs: Vec<(&str, &Value)>, out: &mut Out) -> Result<()> {
    if pairs.is_empty() {
        return Ok(());
    }
    pairs.sort_by_key(|(name, _)| in_map_order(name));
    out.text("attributes")?;
    out.map(pairs.len())?;
    pairs.into_iter().try_for_each(|(name, value)| {
        out.text(name)?;
        out.value(value)
    })
}

fn write_object(object: &Object, described: &[Described], out: &mut Out) -> Result<()> {
    let own = object.tensor.meta.iter();
    let own: Vec<(&str, &Value)> = own
        .filter(|(name, _)| !is_types(object.tensor, name))
        .collect();
    out.map(if own.is_empty() { 3 } else { 4 })?;
    out.text("parts")?;
    let mut parts: Vec<(&Part, &Described)> = object.parts.iter().zip(described).collect();
    parts.sort_by_key(|(part, _)| in_map_order(part.name));
    out.map(parts.len())?;
    for (part, described) in parts {
        out.text(part.name)?;
        write_part(part, described, out)?;
    }
    out.text("shape")?;
    let sizes = object.tensor.sizes()?;
    out.array(sizes.len())?;
    sizes.iter().try_for_each(|size| out.u64(*size))?;
    out.text("layout")?;
    out.text(object.layout)?;
    attributes(own, out)
}

fn write_part(part: &Part, described: &Described, out: &mut Out) -> Result<()> {
    let optional = [
        part.type_name.is_some(),
        described.digest.is_some(),
        described.decoded.is_some(),
        described.decoded.is_some(),
    ];
    let count = optional.iter().filter(|is_there| **is_there).count();
    out.map(count.saturating_add(2))?;
    out.text("blob")?;
    out.array(2)?;
    out.u64(described.offset)?;
    out.u64(described.len)?;
    if let Some(type_name) = part.type_name {
        out.text("type")?;
        out.text(type_name)?;
    }
    out.text("dtype")?;
    out.text(part.number.as_str())?;
    if let Some(digest) = &described.digest {
        out.text("digest")?;
        out.text(digest)?;
    }
    if let Some(decoded) = described.decoded {
        out.text("encoding")?;
        out.text(ZSTD)?;
        out.text("decoded_length")?;
        out.u64(decoded)?;
    }
    Ok(())
}
