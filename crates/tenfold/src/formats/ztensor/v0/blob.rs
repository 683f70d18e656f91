//! Constructs the tensor of a blob.
#![deny(clippy::arithmetic_side_effects)]

use std::hash::BuildHasher;

use super::super::{checksum, dense_len, hint};
use super::read::{Entry, Place, Reader};
use super::{DTYPES, PART, sparse};
use crate::bytes::{Bytes, Endian, Filter};
use crate::dtype::{DType, Number, Numbers};
use crate::error::Result;
use crate::format::BIG;
use crate::key::Key;
use crate::meta::Meta;
use crate::note::{Note, NoteKind};
use crate::tensor::{Order, Storage, Tensor};

impl Reader<'_> {
    /// A tensor whose dtype, layout and encoding are known.
    pub(super) fn place(
        &mut self,
        entry: Entry,
        place: Place,
        number: Number,
        encoding: &str,
        layout: &str,
    ) -> Result<()> {
        let mut hints = Meta::new();
        let blob = self.blob(&entry, &place, &mut hints)?;
        let endian = self.endian(&entry, &place.key, number, encoding)?;
        if encoding != "raw" {
            hints.set(hint::ENCODING, encoding);
        }
        let storage = match (layout, encoding) {
            ("dense", "raw") => self.dense(number, endian, blob),
            ("dense", _) => {
                let Some(decoded) = dense_len(&self.sizes, number.width()) else {
                    let why = "the shape has more bytes than 64 bits count";
                    return self.items.fail_at(place.shape_at, why);
                };
                self.limits.check_ratio(blob.stored_len(), decoded)?;
                let bytes = blob.filtered(Filter::Zstd { decoded });
                self.dense(number, Endian::Little, bytes)
            }
            _ => {
                hints.set(hint::LAYOUT, layout);
                let is_raw = encoding == "raw";
                sparse::read(
                    self.source,
                    blob,
                    layout,
                    is_raw,
                    &self.sizes,
                    number,
                    endian,
                )?
            }
        };
        if matches!(storage, Storage::Opaque { .. }) {
            keep_endianness(&entry, &mut hints);
        } else if endian == Endian::Big {
            hints.set(hint::ENDIANNESS, BIG);
        }
        self.push(entry, place, number, storage, hints)
    }

    /// An opaque tensor of a blob with an unknown property, which a rewrite preserves.
    pub(super) fn keep(
        &mut self,
        entry: Entry,
        place: Place,
        dtype: &str,
        encoding: &str,
        layout: &str,
    ) -> Result<()> {
        let mut hints = Meta::new();
        let bytes = self.blob(&entry, &place, &mut hints)?;
        let known = { DTYPES.iter() }.find(|(name, _)| *name == dtype);
        let is_layout_known = super::LAYOUTS.contains(&layout);
        let named = match known {
            None => {
                hints.set(hint::DTYPE, dtype);
                dtype
            }
            Some(_) if !is_layout_known => layout,
            Some(_) => encoding,
        };
        hints.set(hint::LAYOUT, layout);
        if encoding != "raw" {
            hints.set(hint::ENCODING, encoding);
        }
        keep_endianness(&entry, &mut hints);
        let values = Numbers {
            number: Number::U8,
            endian: Endian::Little,
            bytes,
        };
        let storage = Storage::Opaque {
            layout: named.into(),
            parts: vec![(PART.into(), values)],
        };
        let number = known.map_or(Number::U8, |(_, number)| *number);
        self.push(entry, place, number, storage, hints)
    }

    fn dense(&self, number: Number, endian: Endian, bytes: Bytes) -> Storage {
        let values = Numbers {
            number,
            endian,
            bytes,
        };
        let order = Order::Row;
        Storage::Dense { order, values }
    }

    fn push(
        &mut self,
        entry: Entry,
        place: Place,
        number: Number,
        storage: Storage,
        hints: Meta,
    ) -> Result<()> {
        let dims = self.shapes.of(&self.sizes);
        let tensor = Tensor::sharing(dims, DType::real(number), storage);
        let Ok(mut tensor) = tensor else {
            return self
                .items
                .fail_at(place.size_at, "the blob does not fit the shape");
        };
        (tensor.meta, tensor.hints) = (Meta::of_unique(entry.own), hints);
        let hash = self.hasher.hash_one(&place.key);
        self.found
            .push(place.key, tensor, place.run, hash, self.limits)?;
        Ok(())
    }

    fn endian(
        &mut self,
        entry: &Entry,
        key: &Key,
        number: Number,
        encoding: &str,
    ) -> Result<Endian> {
        let Some((order, at)) = &entry.endianness else {
            return Ok(Endian::Little);
        };
        let endian = match &**order {
            "little" => Endian::Little,
            BIG => Endian::Big,
            other => {
                let why = format!("the byte order {other:?}, little or big was expected");
                return self.items.fail_at(*at, why);
            }
        };
        if number.width() == 1 {
            return Ok(Endian::Little); // one byte has no order
        }
        if encoding == "raw" {
            return Ok(endian);
        }
        let text = "data_endianness has no meaning for compressed numbers, which are little-endian";
        let note = Note::new(NoteKind::IgnoredField, text);
        self.found.bundle.note(note.on(key).at(*at));
        Ok(Endian::Little)
    }

    /// The bytes of a tensor with their checksum; one of an unknown kind is noted.
    fn blob(&mut self, entry: &Entry, place: &Place, hints: &mut Meta) -> Result<Bytes> {
        let blob = Bytes::run(self.source, place.run.clone())?;
        let Some((text, at)) = &entry.checksum else {
            return Ok(blob);
        };
        let blob = match checksum::over(blob, text) {
            Ok(blob) => blob,
            Err(why) => return self.items.fail_at(*at, why),
        };
        match blob.digest() {
            Some(digest) => hints.set(hint::CHECKSUM, checksum::name(digest.algorithm)),
            None => {
                hints.set(hint::CHECKSUM, &**text);
                let note = Note::unknown_checksum(text);
                self.found.bundle.note(note.on(&place.key).at(*at));
            }
        }
        Ok(blob)
    }
}

/// Keeps the declared byte order of an opaque blob.
fn keep_endianness(entry: &Entry, hints: &mut Meta) {
    if let Some((order, _)) = &entry.endianness {
        hints.set(hint::ENDIANNESS, &**order);
    }
}
