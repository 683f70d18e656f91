//! Writes zTensor 0.1 as its reference program does, byte for byte.

use super::super::{NAME, checksum, hint, refuse_option, zstd_level};
use super::{ALIGNMENT, DTYPES, MAGIC, sparse};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Bytes, Compressor, Endian, PIECE, to_u64};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::format::{BIG, Options, WriteOptions};
use crate::io::Sink;
use crate::key::Key;
use crate::limits::Limits;
use crate::meta::Value;
use crate::tensor::{Order, Storage, Tensor};
use crate::wire::cbor::Out;

pub(in super::super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    refuse_option(&how.options, "align", "2")?;
    out.write(MAGIC)?;
    let mut index = Out::new();
    index.array(bundle.entries().len())?;
    for (key, tensor) in bundle.entries() {
        out.pad_to(ALIGNMENT)?;
        let plan = Plan::new(tensor, &how.options)?;
        let blob = plan.blob(tensor, out, &how.limits)?;
        write_entry(key, tensor, &blob, &mut index)?;
    }
    let index = index.finish();
    out.write(&index)?;
    out.write(&to_u64(index.len()).to_le_bytes())
}

/// The way a tensor is written.
struct Plan {
    /// The zstd level, or raw.
    level: Option<i32>,
    checksum: Option<Algorithm>,
    /// A checksum of an unknown kind, over these very bytes.
    kept_checksum: Option<String>,
    /// The byte order of raw numbers.
    endian: Endian,
}

/// The description of a blob in the index.
struct Blob {
    offset: u64,
    size: u64,
    layout: String,
    encoding: String,
    endian: Option<Endian>,
    checksum: Option<String>,
}

impl Plan {
    fn new(tensor: &Tensor, options: &Options) -> Result<Plan> {
        let was = tensor.hints.text(hint::ENCODING) == Some("zstd");
        let level = zstd_level(options, was)?;
        let endian = options.endian(&tensor.hints, hint::ENDIANNESS)?;
        let algorithms = [
            ("none", None),
            ("crc32c", Some(Algorithm::Crc32c)),
            ("sha256", Some(Algorithm::Sha256)),
        ];
        let asked = options.choose("checksum", &algorithms)?;
        let had = tensor.hints.text(hint::CHECKSUM);
        let known = algorithms.iter().find(|(name, _)| Some(*name) == had);
        let kept = if asked.is_none() {
            copied(tensor, level, endian)
                .and_then(|bytes| checksum::spelled(bytes, checksum::BEFORE_2))
        } else {
            None
        };
        Ok(Plan {
            level,
            checksum: asked.unwrap_or_else(|| known.and_then(|(_, algorithm)| *algorithm)),
            kept_checksum: kept.map(str::to_owned),
            endian,
        })
    }

    fn blob(&self, tensor: &Tensor, out: &mut Sink, limits: &Limits) -> Result<Blob> {
        let offset = out.at();
        out.start_digest(self.checksum);
        let mut encoding = "raw";
        let mut endian = None;
        let mut layout = "dense".to_owned();
        match tensor.storage() {
            Storage::Dense { values, .. } => match self.level {
                Some(level) => {
                    encoding = "zstd";
                    compress(values, level, limits, out)?;
                }
                None => {
                    values.write(out, self.endian)?;
                    endian = (values.number.width() > 1).then_some(self.endian);
                }
            },
            Storage::Sparse { .. } if self.level.is_some() => {
                let why = format!(
                    "the sparse layouts of version 0.1 have no compression; {NAME}@2 has one for them"
                );
                return Err(Error::Invalid(why));
            }
            Storage::Sparse { values, .. } => {
                layout = sparse::write(tensor, out, self.endian, limits)?.into();
                endian = (values.number.width() > 1).then_some(self.endian);
            }
            Storage::Opaque { layout: own, parts } => {
                layout = tensor.hints.text(hint::LAYOUT).unwrap_or(own).into();
                parts
                    .iter()
                    .try_for_each(|(_, part)| out.copy(&part.bytes))?;
                encoding = tensor.hints.text(hint::ENCODING).unwrap_or(encoding);
                endian = match tensor.hints.text(hint::ENDIANNESS) {
                    Some(BIG) => Some(Endian::Big),
                    Some(_) => Some(Endian::Little),
                    None => None,
                };
            }
            Storage::Train { .. } => return Err(Error::invalid("ztensor holds no trains")),
        }
        let size = out.at().saturating_sub(offset);
        let computed = out.take_digest();
        let checksum = match (self.checksum, computed) {
            (Some(algorithm), Some(digest)) => Some(checksum::text(algorithm, &digest)),
            _ => self.kept_checksum.clone(),
        };
        Ok(Blob {
            offset,
            size,
            layout,
            encoding: encoding.to_owned(),
            endian,
            checksum,
        })
    }
}

/// The stored bytes of a tensor, if they are written unchanged.
fn copied(tensor: &Tensor, level: Option<i32>, endian: Endian) -> Option<&Bytes> {
    match tensor.storage() {
        Storage::Dense {
            order: Order::Row,
            values,
        } if level.is_none() && !values.must_swap(endian) && !values.bytes.is_compressed() => {
            Some(&values.bytes)
        }
        Storage::Opaque { parts, .. } => parts.first().map(|(_, part)| &part.bytes),
        _ => None,
    }
}

/// Whether a checksum of an unknown kind is written again, along with its bytes, rather than
/// replaced by a requested one.
pub(in super::super) fn keeps_checksum(tensor: &Tensor, options: &Options) -> Result<bool> {
    Ok(options.get("checksum").is_some() || Plan::new(tensor, options)?.kept_checksum.is_some())
}

fn compress(values: &Numbers, level: i32, limits: &Limits, out: &mut Sink) -> Result<()> {
    let mut compressor = Compressor::new(values.bytes.len(), level, limits)?;
    let width = values.number.width();
    values.for_each(Endian::Little, width, PIECE, &mut |piece| {
        compressor.push(piece, out)
    })?;
    compressor.finish(out)
}

/// Writes the map of a tensor, of indefinite length, with its keys in the order of the reference.
fn write_entry(key: &Key, tensor: &Tensor, blob: &Blob, index: &mut Out) -> Result<()> {
    let number = tensor.dtype().number;
    let dtype = DTYPES
        .iter()
        .find(|(_, known)| *known == number)
        .map(|(name, _)| *name);
    let dtype = match tensor.storage() {
        Storage::Opaque { .. } => tensor.hints.text(hint::DTYPE).or(dtype),
        _ => dtype,
    };
    let dtype = dtype.ok_or_else(|| Error::invalid(format!("ztensor has no {number}")))?;
    let name = key
        .flat_name()
        .ok_or_else(|| Error::invalid("a tensor without a plain name"))?;
    let sizes = tensor.sizes()?;
    index.open_map()?;
    index.text("name")?;
    index.text(name)?;
    index.text("offset")?;
    index.u64(blob.offset)?;
    index.text("size")?;
    index.u64(blob.size)?;
    index.text("dtype")?;
    index.text(dtype)?;
    index.text("layout")?;
    index.text(&blob.layout)?;
    index.text("shape")?;
    index.array(sizes.len())?;
    sizes.iter().try_for_each(|size| index.u64(*size))?;
    index.text("encoding")?;
    index.text(&blob.encoding)?;
    if let Some(endian) = blob.endian {
        index.text("data_endianness")?;
        index.text(if endian == Endian::Little {
            "little"
        } else {
            "big"
        })?;
    }
    if let Some(checksum) = &blob.checksum {
        index.text("checksum")?;
        index.text(checksum)?;
    }
    let mut own: Vec<(&str, &Value)> = tensor.meta.iter().collect();
    own.sort_by_key(|(name, _)| *name);
    for (name, value) in own {
        index.text(name)?;
        index.value(value)?;
    }
    index.end()
}
