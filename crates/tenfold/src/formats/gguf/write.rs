//! Writes GGUF as the Python package does: all sizes are known, so the header goes first.

use std::collections::HashMap;

use super::metadata_type::Kind;
use super::types::Type;
use super::{ALIGNMENT, ALIGNMENT_NAME, HINT_ENDIAN, KINDS, MAGIC, NAME, VERSION, alignment};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, to_u64};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::limits::Limits;
use crate::memory;
use crate::meta::Value;
use crate::tensor::{Storage, Tensor};

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let endian = how.options.endian(&bundle.hints, HINT_ENDIAN)?;
    let kept = bundle.hints.get(VERSION).and_then(Value::as_u64);
    let version = match (how.version.as_deref(), kept, endian) {
        (Some("2"), _, Endian::Big) => {
            let why = "version 2 has no big-endian files; --to gguf@3 does";
            return Err(Error::invalid(why));
        }
        (Some("2"), _, _) | (None, Some(2), Endian::Little) => 2,
        _ => 3,
    };
    let aligned = bundle.meta.get(ALIGNMENT_NAME).and_then(alignment);
    let mut writer = Writer {
        out,
        endian,
        alignment: aligned.unwrap_or(ALIGNMENT),
    };
    writer.out.write(MAGIC)?;
    writer.u32(version)?;
    writer.u64(to_u64(bundle.entries().len()))?;
    writer.u64(to_u64(bundle.meta.len()))?;
    writer.values(bundle)?;
    let plans = plans(bundle, endian, &how.limits)?;
    writer.table(&plans)?;
    writer.pad()?;
    for (number, plan) in (1..).zip(&plans) {
        plan.values.write(writer.out, endian)?;
        // A tensor of unknown type ends at the end of the file.
        if number < plans.len() || !plan.is_unknown {
            writer.pad()?;
        }
    }
    Ok(())
}

/// A tensor to be written.
struct Plan<'a> {
    name: &'a str,
    sizes: Vec<u64>,
    code: u32,
    is_unknown: bool,
    values: Numbers,
}

fn plans<'a>(bundle: &'a Bundle, endian: Endian, limits: &Limits) -> Result<Vec<Plan<'a>>> {
    let entries = bundle.entries().iter();
    let plan = |(key, tensor): &'a (crate::key::Key, Tensor)| {
        let name = key.flat_name();
        let name = name.ok_or_else(|| Error::invalid("a tensor without a plain name"))?;
        let lacks = || Error::invalid(format!("{NAME} has no place for {key}"));
        let known = Type::of(tensor).ok_or_else(lacks)?;
        let values = match (tensor.storage(), known) {
            (Storage::Dense { values, .. }, _) => values.clone(),
            (Storage::Opaque { parts, .. }, Type::Blocks(_) | Type::Unknown(_)) => {
                let (_, part) = parts.first().ok_or_else(lacks)?;
                let bytes: Option<Bytes> = match (endian, known) {
                    (Endian::Little, _) => Some(part.bytes.clone()),
                    (Endian::Big, Type::Blocks(block)) => block.turned(&part.bytes, limits),
                    (Endian::Big, _) => None,
                };
                let unknown = || {
                    let name = known.name();
                    Error::invalid(format!(
                        "big-endian {name} is not known; --opt endian=little"
                    ))
                };
                Numbers {
                    bytes: bytes.ok_or_else(unknown)?,
                    ..part.clone()
                }
            }
            _ => return Err(lacks()),
        };
        Ok(Plan {
            name,
            sizes: tensor.sizes()?,
            code: known.code().ok_or_else(lacks)?,
            is_unknown: matches!(known, Type::Unknown(_)),
            values,
        })
    };
    memory::gathered(entries.map(plan))
}

struct Writer<'a> {
    out: &'a mut Sink,
    endian: Endian,
    alignment: u64,
}

impl Writer<'_> {
    /// The lowest `width` bytes of a number.
    fn bits(&mut self, bits: u64, width: usize) -> Result<()> {
        let mut bytes = bits.to_le_bytes();
        let bytes = bytes.get_mut(..width).unwrap_or_default();
        if self.endian == Endian::Big {
            bytes.reverse();
        }
        self.out.write(bytes)
    }

    fn u32(&mut self, number: u32) -> Result<()> {
        self.bits(number.into(), 4)
    }

    fn u64(&mut self, number: u64) -> Result<()> {
        self.bits(number, 8)
    }

    fn text(&mut self, text: &[u8]) -> Result<()> {
        self.u64(to_u64(text.len()))?;
        self.out.write(text)
    }

    /// Zeros up to the next multiple of the alignment.
    fn pad(&mut self) -> Result<()> {
        self.out.pad_to(self.alignment)
    }

    fn values(&mut self, bundle: &Bundle) -> Result<()> {
        let kinds = bundle.hints.get(KINDS).and_then(Value::as_map);
        let kinds = kinds.unwrap_or_default().iter();
        let kinds = kinds.filter_map(|(name, word)| Some((name.as_text()?, word.as_text()?)));
        let kinds: HashMap<&str, &str> = memory::mapped(kinds)?;
        for (name, value) in bundle.meta.iter() {
            let hinted = kinds.get(name).and_then(|word| Kind::of_word(word));
            let kind = match hinted.filter(|kind| kind.fits(value)) {
                // Its type determines how the file is read.
                Some(kind) if name != ALIGNMENT_NAME => Some(kind),
                _ => Kind::of(value),
            };
            let kind = kind.ok_or_else(|| no_kind(name))?;
            self.text(name.as_bytes())?;
            self.u32(kind.code())?;
            self.value(value, &kind).map_err(|error| match error {
                Error::Invalid(_) => no_kind(name),
                other => other,
            })?;
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, kind: &Kind) -> Result<()> {
        match (kind, value) {
            (Kind::Whole(whole), Value::Int(number)) => {
                // The lowest bits, also of a negative number.
                let bytes = number.to_le_bytes();
                let low = bytes.first_chunk().copied().unwrap_or_default();
                self.bits(u64::from_le_bytes(low), whole.width())
            }
            (Kind::F32, Value::Float { bits, .. }) => self.bits(*bits, 4),
            (Kind::F64, Value::Float { bits, .. }) => self.bits(*bits, 8),
            (Kind::Bool, Value::Bool(truth)) => self.bits(u64::from(*truth), 1),
            (Kind::Text, Value::Text(text)) => self.text(text.as_bytes()),
            (Kind::Array(None), Value::List(_)) => match Kind::of(value) {
                Some(Kind::Array(None)) | None => Err(Error::invalid("an array of no type")),
                Some(kind) => self.value(value, &kind),
            },
            (Kind::Array(Some(items)), Value::List(values)) => {
                self.u32(items.code())?;
                self.u64(to_u64(values.len()))?;
                values.iter().try_for_each(|value| self.value(value, items))
            }
            _ => Err(Error::invalid("a value of another type")),
        }
    }

    fn table(&mut self, plans: &[Plan]) -> Result<()> {
        let mut offset = 0_u64;
        for plan in plans {
            self.text(plan.name.as_bytes())?;
            self.u32(u32::try_from(plan.sizes.len()).unwrap_or(u32::MAX))?;
            for size in plan.sizes.iter().rev() {
                self.u64(*size)?;
            }
            self.u32(plan.code)?;
            self.u64(offset)?;
            let end = offset.saturating_add(plan.values.bytes.len());
            offset = end
                .checked_next_multiple_of(self.alignment)
                .unwrap_or(u64::MAX);
        }
        Ok(())
    }
}

fn no_kind(name: &str) -> Error {
    Error::invalid(format!("{NAME} has no type for metadata {name}"))
}
