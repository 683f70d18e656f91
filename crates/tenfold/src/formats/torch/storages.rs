//! The storages of a file, with the values of its tensors.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;

use super::NAME;
use super::types::Type;
use crate::bytes::{Algorithm, Bytes, Deflated, Digest, Endian, Filter};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::wire::pickle::{Id, Item, Pickle};

/// All storages of a file, by their keys.
#[derive(Debug)]
pub(super) struct Storages {
    pub(super) endian: Endian,
    pub(super) by_key: HashMap<String, Stored>,
}

/// The bytes of a storage.
#[derive(Debug)]
pub(super) struct Stored {
    /// The stored bytes.
    pub(super) bytes: Bytes,
    pub(super) packing: Packing,
    /// Their decoded length.
    pub(super) len: u64,
    /// The CRC-32 of all of them, if there is one.
    pub(super) crc: Option<u32>,
}

/// The compression of a storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    AsTheyAre,
    Deflated,
}

impl Stored {
    /// Bytes that are stored uncompressed.
    pub(super) fn plain(source: &Source, range: std::ops::Range<u64>) -> Result<Stored> {
        let bytes = Bytes::run(source, range)?;
        Ok(Stored {
            len: bytes.len(),
            bytes,
            packing: Packing::AsTheyAre,
            crc: None,
        })
    }

    /// Some of the bytes, in bounds; the checksum of the storage covers all of them.
    pub(super) fn part(&self, start: u64, end: u64) -> Result<Bytes> {
        let is_all = start == 0 && end == self.len;
        let outside = || Error::malformed(self.bytes.at(), "bytes outside of a storage").of(NAME);
        match self.packing {
            Packing::AsTheyAre => {
                let part = self.bytes.run_within(start..end).ok_or_else(outside)?;
                let digest = self.crc.filter(|_| is_all).map(|crc| Digest {
                    algorithm: Algorithm::Crc32,
                    expected: crc.to_be_bytes().to_vec(),
                    over: None,
                });
                Ok(part.with_digest(digest))
            }
            Packing::Deflated => {
                let deflated = Deflated {
                    skip: start,
                    len: end.checked_sub(start).ok_or_else(outside)?,
                    total: self.len,
                    crc: self.crc.unwrap_or(0),
                };
                Ok(self.bytes.clone().filtered(Filter::Deflate(deflated)))
            }
        }
    }

    /// All bytes, with random access.
    pub(super) fn whole(&self) -> Result<Bytes> {
        match self.packing {
            Packing::AsTheyAre => Ok(self.bytes.clone()),
            Packing::Deflated => Err(Error::Unsupported {
                format: NAME,
                what: "a deflated storage whose tensors do not lie in a row".into(),
            }),
        }
    }
}

/// The persistent id of a storage.
#[derive(Debug)]
pub(super) struct Named<'a> {
    pub(super) key: &'a str,
    pub(super) kind: &'static Type,
    /// The number of its elements.
    pub(super) count: u64,
    /// The part of it: the first element, and their number.
    pub(super) view: (u64, u64),
}

impl<'a> Named<'a> {
    /// Parses a persistent id; an unknown type is [`Error::Unsupported`].
    pub(super) fn of(pickle: &'a Pickle, id: Id) -> Result<Named<'a>> {
        let fail = |why: &str| Err(Error::malformed(pickle.at(id), why).of(NAME));
        let Item::Persistent(tuple) = pickle.item(id) else {
            return fail("a tensor without a storage");
        };
        let parts = pickle.sequence(*tuple).unwrap_or_default();
        let [tag, class, key, _location, count, view @ ..] = parts else {
            return fail("a persistent id that is no storage");
        };
        if pickle.text(*tag) != Some("storage") {
            return fail("a persistent id that is no storage");
        }
        let (Some(key), Some(count)) = (pickle.text(*key), pickle.count(*count)) else {
            return fail("a storage needs a key and a number of elements");
        };
        let Some((module, name)) = pickle.global(*class) else {
            return fail("a storage without a type");
        };
        let Some(kind) = Type::of_storage(module, name) else {
            return Err(Error::Unsupported {
                format: NAME,
                what: format!("the storage {module}.{name}"),
            });
        };
        let view = match view.first().map(|view| pickle.item(*view)) {
            None | Some(Item::None) => (0, count),
            Some(Item::Tuple(parts)) => match **parts {
                [_, offset, size] => match (pickle.count(offset), pickle.count(size)) {
                    (Some(offset), Some(size)) => (offset, size),
                    _ => return fail("the view of a storage needs numbers"),
                },
                _ => return fail("the view of a storage has three parts"),
            },
            Some(_) => return fail("the view of a storage is no tuple"),
        };
        if view.0.checked_add(view.1).is_none_or(|end| end > count) {
            return fail("a view that reaches beyond its storage");
        }
        Ok(Named {
            key,
            kind,
            count,
            view,
        })
    }
}
