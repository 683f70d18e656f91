//! Writes `.npz` as a stream, each member as `numpy.save` would write it.

use super::{CARRIED, SUFFIX, hint};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Deflater, Endian, PIECE, to_u64};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::formats::npy;
use crate::io::Sink;
use crate::key::Key;
use crate::meta::Value;
use crate::tensor::Tensor;
use crate::wire::zip::{Method, Sizes, Writer};

/// Alignment of stored arrays; the length of their headers is a multiple of it.
const ALIGNMENT: u64 = 64;

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let choices = [("stored", Method::Stored), ("deflate", Method::Deflated)];
    let asked = how.options.choose("compress", &choices)?;
    let level = match how.options.get("level").unwrap_or("6").parse() {
        Ok(level @ 1..=9) => level,
        _ => return Err(Error::invalid("a deflate level is a number from 1 to 9")),
    };
    let mut writer = Writer::default();
    for (key, tensor) in bundle.entries() {
        let was = tensor.hints.text(hint::COMPRESS);
        let was = choices.iter().find(|(name, _)| Some(*name) == was);
        let method = asked.or(was.map(|(_, method)| *method));
        let member = OneMember {
            name: name(key)?,
            tensor,
            endian: how.options.endian(&tensor.hints, hint::ENDIAN)?,
            method: method.unwrap_or(Method::Stored),
            level,
        };
        member.write(&mut writer, out)?;
    }
    let carried = bundle.meta.text(CARRIED).map(str::as_bytes);
    let foreign = match bundle.hints.get(hint::COMMENT) {
        Some(Value::Text(text)) => text.as_bytes(),
        Some(Value::Bytes(bytes)) => bytes,
        _ => &[],
    };
    writer.finish(carried.unwrap_or(foreign), out)
}

fn name(key: &Key) -> Result<String> {
    let name = key.flat_name();
    let name = name.ok_or_else(|| Error::invalid("a tensor without a plain name"))?;
    Ok(format!("{name}{SUFFIX}"))
}

/// An array to be written.
struct OneMember<'a> {
    name: String,
    tensor: &'a Tensor,
    endian: Endian,
    method: Method,
    level: u32,
}

impl OneMember<'_> {
    fn write(&self, writer: &mut Writer, out: &mut Sink) -> Result<()> {
        let version = self.tensor.hints.text(hint::VERSION);
        let (header, values) = npy::parts(self.tensor, self.endian, version)?;
        let len = to_u64(header.len()).saturating_add(values.bytes.len());
        let align = match self.method {
            Method::Stored => ALIGNMENT,
            _ => 1,
        };
        writer.start(&self.name, self.method, len, align, out)?;
        let start = out.at();
        let crc = match self.method {
            Method::Deflated => deflate(&header, values, self.endian, self.level, out)?,
            _ => store(&header, values, self.endian, out)?,
        };
        let stored = out.at().saturating_sub(start);
        writer.end_member(Sizes { crc, stored, len }, out)
    }
}

/// Writes an array uncompressed; returns its CRC-32.
fn store(header: &[u8], values: &Numbers, endian: Endian, out: &mut Sink) -> Result<u32> {
    out.start_digest(Some(Algorithm::Crc32));
    out.write(header)?;
    values.write(out, endian)?;
    let digest = out.take_digest().unwrap_or_default();
    let digest = <[u8; 4]>::try_from(digest.as_slice());
    digest
        .map(u32::from_be_bytes)
        .map_err(|_| Error::invalid("no checksum was computed"))
}

/// Writes an array deflated; returns its CRC-32.
fn deflate(
    header: &[u8],
    values: &Numbers,
    endian: Endian,
    level: u32,
    out: &mut Sink,
) -> Result<u32> {
    let mut crc = crc32fast::Hasher::new();
    let mut deflater = Deflater::new(level)?;
    let mut push = |piece: &[u8]| {
        crc.update(piece);
        deflater.push(piece, out)
    };
    push(header)?;
    values.for_each(endian, values.number.width(), PIECE, &mut push)?;
    deflater.finish(out)?;
    Ok(crc.finalize())
}
