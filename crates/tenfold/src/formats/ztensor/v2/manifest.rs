//! The manifest of a file as parsed from CBOR, before its meaning is checked.
#![deny(clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use super::super::NAME;
use super::{LEVELS, MOST_DIMS, is_name};
use crate::bytes::to_u64;
use crate::error::Result;
use crate::limits::Limits;
use crate::memory;
use crate::meta::{Meta, Value};
use crate::wire::cbor::{Items, deterministic};

/// The whole manifest.
#[derive(Default)]
pub(super) struct Manifest<'a> {
    pub(super) objects: Vec<Object<'a>>,
    pub(super) attributes: Meta,
    pub(super) shards: Vec<Shard<'a>>,
    /// Unknown keys, with their offsets.
    pub(super) ignored: Vec<(String, u64)>,
}

/// A shard: another file with parts.
pub(super) struct Shard<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) size: u64,
    /// The checksum of the whole file, with its offset.
    pub(super) digest: (Cow<'a, str>, u64),
    pub(super) at: u64,
}

pub(super) struct Object<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) at: u64,
    pub(super) shape: Vec<u64>,
    pub(super) shape_at: u64,
    pub(super) layout: Cow<'a, str>,
    pub(super) parts: Vec<Part<'a>>,
    pub(super) attributes: Meta,
}

pub(super) struct Part<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) at: u64,
    pub(super) dtype: Cow<'a, str>,
    pub(super) type_name: Option<Cow<'a, str>>,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) blob_at: u64,
    pub(super) shard: Option<Cow<'a, str>>,
    pub(super) encoding: Option<Cow<'a, str>>,
    pub(super) decoded_len: Option<u64>,
    pub(super) digest: Option<(Cow<'a, str>, u64)>,
}

/// The known keys of an object, and of a part.
const OBJECT: &[&str] = &["parts", "shape", "layout", "attributes"];
const PART: &[&str] = &[
    "blob",
    "type",
    "dtype",
    "shard",
    "digest",
    "encoding",
    "decoded_length",
];

/// Parses the manifest at offset `base`.
pub(super) fn read<'a>(bytes: &'a [u8], base: u64, limits: &'a Limits) -> Result<Manifest<'a>> {
    deterministic::check(bytes, base, NAME, LEVELS)?;
    let mut reader = Reader {
        items: Items::new(bytes, base, NAME, limits),
        limits,
        ignored: Vec::new(),
    };
    let mut manifest = reader.manifest()?;
    manifest.ignored = reader.ignored;
    Ok(manifest)
}

struct Reader<'a> {
    items: Items<'a>,
    limits: &'a Limits,
    ignored: Vec<(String, u64)>,
}

impl<'a> Reader<'a> {
    fn manifest(&mut self) -> Result<Manifest<'a>> {
        let at = self.items.at();
        let mut manifest = Manifest::default();
        let mut objects = None;
        let mut left = self.items.map("the map of a description")?;
        while self.items.more(&mut left)? {
            let key_at = self.items.at();
            match &*self.items.word("a key that is text")? {
                "objects" => objects = Some(self.objects()?),
                "attributes" => manifest.attributes = self.attributes()?,
                "shards" => manifest.shards = self.shards()?,
                other => self.ignore(other, key_at)?,
            }
        }
        match objects {
            Some(objects) => manifest.objects = objects,
            None => return self.items.fail_at(at, "the description has no objects"),
        }
        Ok(manifest)
    }

    /// Skips the value of an unknown key.
    fn ignore(&mut self, key: &str, at: u64) -> Result<()> {
        self.items.value()?;
        self.limits.charge_items::<(String, u64)>(1)?;
        self.limits.charge_text(key.len())?;
        memory::push(&mut self.ignored, (key.to_owned(), at))
    }

    fn name(&mut self, what: &str) -> Result<Cow<'a, str>> {
        let at = self.items.at();
        let name = self.items.word(what)?;
        if is_name(&name) {
            Ok(name)
        } else {
            let why = format!("{what} has 1 to 1024 bytes and none that is zero");
            self.items.fail_at(at, why)
        }
    }

    fn objects(&mut self) -> Result<Vec<Object<'a>>> {
        let mut objects = Vec::new();
        let mut left = self.items.map("a map of objects")?;
        while self.items.more(&mut left)? {
            let at = self.items.at();
            let name = self.name("the name of an object")?;
            self.limits.charge_items::<Object>(1)?;
            memory::push(&mut objects, self.object(name, at)?)?;
            self.limits.check_tensors(to_u64(objects.len()))?;
        }
        Ok(objects)
    }

    fn object(&mut self, name: Cow<'a, str>, at: u64) -> Result<Object<'a>> {
        let (mut shape, mut layout, mut parts) = (None, None, Vec::new());
        let mut attributes = Meta::new();
        let mut left = self.items.map("the map of an object")?;
        while self.items.more(&mut left)? {
            let key_at = self.items.at();
            let key = self.items.word_among(OBJECT, "a key that is text")?;
            let value_at = self.items.at();
            match &*key {
                "shape" => shape = Some((self.shape()?, value_at)),
                "layout" => layout = Some(self.items.word("a layout that is text")?),
                "parts" => parts = self.parts()?,
                "attributes" => attributes = self.attributes()?,
                other => self.ignore(other, key_at)?,
            }
        }
        let Some((shape, shape_at)) = shape else {
            return self.missing(at, "the object", "shape");
        };
        let Some(layout) = layout else {
            return self.missing(at, "the object", "layout");
        };
        if parts.is_empty() {
            return self.missing(at, "the object", "parts");
        }
        Ok(Object {
            name,
            at,
            shape,
            shape_at,
            layout,
            parts,
            attributes,
        })
    }

    fn missing<T>(&self, at: u64, whose: &str, what: &str) -> Result<T> {
        self.items.fail_at(at, format!("{whose} has no {what}"))
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        let at = self.items.at();
        let mut left = self.items.array("a shape that is an array")?;
        let mut sizes = Vec::new();
        let mut cells = Some(1_u64);
        while self.items.more(&mut left)? {
            let size = self.items.u64("a size of a dimension")?;
            self.limits.charge_items::<u64>(1)?;
            sizes.push(size);
            cells = cells.and_then(|cells| cells.checked_mul(size));
            if to_u64(sizes.len()) > MOST_DIMS {
                let why = format!("more than {MOST_DIMS} dimensions");
                return self.items.fail_at(at, why);
            }
        }
        self.limits.check_ndim(to_u64(sizes.len()))?;
        match cells {
            Some(_) => Ok(sizes),
            None => self
                .items
                .fail_at(at, "the shape has more cells than 64 bits count"),
        }
    }

    fn attributes(&mut self) -> Result<Meta> {
        let mut pairs: Vec<(String, Value)> = Vec::new();
        let mut left = self.items.map("attributes that are a map")?;
        while self.items.more(&mut left)? {
            let name = self.name("the name of an attribute")?.into_owned();
            self.limits.charge_items::<(String, Value)>(1)?;
            self.limits.charge_text(name.len())?;
            memory::push(&mut pairs, (name, self.items.value()?))?;
        }
        // The keys were checked to ascend.
        Ok(Meta::of_unique(pairs))
    }

    fn parts(&mut self) -> Result<Vec<Part<'a>>> {
        let mut parts = Vec::new();
        let mut left = self.items.map("a map of parts")?;
        while self.items.more(&mut left)? {
            let at = self.items.at();
            let name = self.name("the name of a part")?;
            self.limits.charge_items::<Part>(1)?;
            memory::push(&mut parts, self.part(name, at)?)?;
        }
        Ok(parts)
    }

    fn part(&mut self, name: Cow<'a, str>, at: u64) -> Result<Part<'a>> {
        let (mut dtype, mut blob) = (None, None);
        let mut part = Part {
            name,
            at,
            dtype: Cow::Borrowed(""),
            type_name: None,
            offset: 0,
            len: 0,
            blob_at: at,
            shard: None,
            encoding: None,
            decoded_len: None,
            digest: None,
        };
        let mut left = self.items.map("the map of a part")?;
        while self.items.more(&mut left)? {
            let key_at = self.items.at();
            let key = self.items.word_among(PART, "a key that is text")?;
            let value_at = self.items.at();
            let items = &mut self.items;
            match &*key {
                "dtype" => dtype = Some(items.word("a dtype that is text")?),
                "blob" => blob = Some((self.blob()?, value_at)),
                "type" => part.type_name = Some(items.word("a type that is text")?),
                "shard" => part.shard = Some(items.word("a shard that is text")?),
                "encoding" => part.encoding = Some(items.word("an encoding that is text")?),
                "decoded_length" => part.decoded_len = Some(items.u64("a decoded length")?),
                "digest" => {
                    part.digest = Some((items.word("a digest that is text")?, value_at));
                }
                other => self.ignore(other, key_at)?,
            }
        }
        let Some(dtype) = dtype else {
            return self.missing(at, "the part", "dtype");
        };
        let Some(((offset, len), blob_at)) = blob else {
            return self.missing(at, "the part", "blob");
        };
        (part.dtype, part.offset, part.len, part.blob_at) = (dtype, offset, len, blob_at);
        if part.encoding.is_some() != part.decoded_len.is_some() {
            let why = "an encoding and a decoded length, one without the other";
            return self.items.fail_at(at, why);
        }
        Ok(part)
    }

    /// The offset and length of a blob.
    fn blob(&mut self) -> Result<(u64, u64)> {
        let at = self.items.at();
        let mut left = self.items.array("a blob that is an array")?;
        let mut numbers = [None; 3];
        for number in &mut numbers {
            if !self.items.more(&mut left)? {
                break;
            }
            *number = Some(self.items.u64("an offset or a length")?);
        }
        match numbers {
            [Some(offset), Some(len), None] => Ok((offset, len)),
            _ => self
                .items
                .fail_at(at, "a blob is two numbers, its offset and its length"),
        }
    }

    fn shards(&mut self) -> Result<Vec<Shard<'a>>> {
        let mut shards = Vec::new();
        let mut left = self.items.map("a map of shards")?;
        while self.items.more(&mut left)? {
            let at = self.items.at();
            let name = self.items.word("the name of a shard")?;
            if !is_shard_name(&name) {
                let why = "a shard is named by 1 to 64 letters, digits and ._-, not first a dot";
                return self.items.fail_at(at, why);
            }
            self.limits.charge_items::<Shard>(1)?;
            memory::push(&mut shards, self.shard(name, at)?)?;
        }
        Ok(shards)
    }

    fn shard(&mut self, name: Cow<'a, str>, at: u64) -> Result<Shard<'a>> {
        let (mut size, mut digest) = (None, None);
        let mut left = self.items.map("the map of a shard")?;
        while self.items.more(&mut left)? {
            let key_at = self.items.at();
            let key = self.items.word("a key that is text")?;
            let value_at = self.items.at();
            match &*key {
                "size" => size = Some(self.items.u64("a size")?),
                "digest" => {
                    digest = Some((self.items.word("a digest that is text")?, value_at));
                }
                other => self.ignore(other, key_at)?,
            }
        }
        match (size, digest) {
            (Some(size), Some(digest)) => Ok(Shard {
                name,
                size,
                digest,
                at,
            }),
            (None, _) => self.missing(at, "the shard", "size"),
            (_, None) => self.missing(at, "the shard", "digest"),
        }
    }
}

/// Whether a text is a valid name of a shard: it becomes part of a file name.
fn is_shard_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(is_plain) && !text.starts_with('.')
}
