//! MessagePack: objects read from a [`Scan`] with their offsets, and written to a [`Sink`].
//!
//! An object is one field: errors in it are reported at its first byte, the marker.
#![deny(clippy::arithmetic_side_effects)]

use std::io;

use rmp::encode;
use rmp::encode::ValueWriteError;

use crate::bytes::{Scan, to_u64};
use crate::error::{Error, Result};
use crate::io::Sink;

pub(crate) use rmp::Marker;

/// The head of an object: its marker, and the number or length after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    /// The offset of the marker.
    pub(crate) at: u64,
    /// Its encoding.
    pub(crate) marker: Marker,
    /// Its meaning.
    pub(crate) item: Item,
}

/// The meaning of a head, independent of its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    /// A non-negative integer, signed or not.
    Uint(u64),
    /// A negative number.
    Negative(i64),
    /// The bits of a 32-bit float.
    F32(u32),
    /// The bits of a 64-bit float.
    F64(u64),
    /// Text of this many bytes, which follow and are in bounds.
    Str(u64),
    /// This many bytes, which follow and are in bounds.
    Bin(u64),
    /// This many items, which follow.
    Array(u64),
    /// This many pairs, which follow.
    Map(u64),
    /// Nil, a boolean, an extension, or the byte that is never used.
    Other,
}

impl Head {
    /// The name of its encoding.
    pub(crate) fn form(&self) -> &'static str {
        match self.marker {
            Marker::FixPos(_) => "fixint",
            Marker::FixNeg(_) => "negative fixint",
            Marker::U8 => "u8",
            Marker::U16 => "u16",
            Marker::U32 => "u32",
            Marker::U64 => "u64",
            Marker::I8 => "i8",
            Marker::I16 => "i16",
            Marker::I32 => "i32",
            Marker::I64 => "i64",
            Marker::F32 => "f32",
            Marker::F64 => "f64",
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => "str",
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => "bin",
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => "array",
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => "map",
            Marker::Null => "nil",
            Marker::True | Marker::False => "bool",
            Marker::Reserved => "the reserved byte c1",
            Marker::FixExt1
            | Marker::FixExt2
            | Marker::FixExt4
            | Marker::FixExt8
            | Marker::FixExt16
            | Marker::Ext8
            | Marker::Ext16
            | Marker::Ext32 => "ext",
        }
    }
}

/// Reads the head of the next object; the bytes of a `str` or `bin` are next then.
pub(crate) fn head(scan: &mut Scan) -> Result<Head> {
    let at = scan.at();
    let marker = Marker::from_u8(scan.u8()?);
    let item = match marker {
        Marker::FixPos(number) => Item::Uint(number.into()),
        Marker::U8 => Item::Uint(u8::from_be_bytes(rest(scan, at)?).into()),
        Marker::U16 => Item::Uint(u16::from_be_bytes(rest(scan, at)?).into()),
        Marker::U32 => Item::Uint(u32::from_be_bytes(rest(scan, at)?).into()),
        Marker::U64 => Item::Uint(u64::from_be_bytes(rest(scan, at)?)),
        Marker::FixNeg(number) => signed(number.into()),
        Marker::I8 => signed(i8::from_be_bytes(rest(scan, at)?).into()),
        Marker::I16 => signed(i16::from_be_bytes(rest(scan, at)?).into()),
        Marker::I32 => signed(i32::from_be_bytes(rest(scan, at)?).into()),
        Marker::I64 => signed(i64::from_be_bytes(rest(scan, at)?)),
        Marker::F32 => Item::F32(u32::from_be_bytes(rest(scan, at)?)),
        Marker::F64 => Item::F64(u64::from_be_bytes(rest(scan, at)?)),
        Marker::FixStr(len) => Item::Str(len.into()),
        Marker::Str8 => Item::Str(u8::from_be_bytes(rest(scan, at)?).into()),
        Marker::Str16 => Item::Str(u16::from_be_bytes(rest(scan, at)?).into()),
        Marker::Str32 => Item::Str(u32::from_be_bytes(rest(scan, at)?).into()),
        Marker::Bin8 => Item::Bin(u8::from_be_bytes(rest(scan, at)?).into()),
        Marker::Bin16 => Item::Bin(u16::from_be_bytes(rest(scan, at)?).into()),
        Marker::Bin32 => Item::Bin(u32::from_be_bytes(rest(scan, at)?).into()),
        Marker::FixArray(count) => Item::Array(count.into()),
        Marker::Array16 => Item::Array(u16::from_be_bytes(rest(scan, at)?).into()),
        Marker::Array32 => Item::Array(u32::from_be_bytes(rest(scan, at)?).into()),
        Marker::FixMap(count) => Item::Map(count.into()),
        Marker::Map16 => Item::Map(u16::from_be_bytes(rest(scan, at)?).into()),
        Marker::Map32 => Item::Map(u32::from_be_bytes(rest(scan, at)?).into()),
        Marker::Null
        | Marker::Reserved
        | Marker::True
        | Marker::False
        | Marker::FixExt1
        | Marker::FixExt2
        | Marker::FixExt4
        | Marker::FixExt8
        | Marker::FixExt16
        | Marker::Ext8
        | Marker::Ext16
        | Marker::Ext32 => Item::Other,
    };
    let head = Head { at, marker, item };
    match item {
        Item::Str(len) | Item::Bin(len) if len > scan.left() => {
            let (form, left) = (head.form(), scan.left());
            scan.fail_at(at, format!("a {form} of {len} bytes, {left} left"))
        }
        _ => Ok(head),
    }
}

fn signed(number: i64) -> Item {
    u64::try_from(number).map_or(Item::Negative(number), Item::Uint)
}

/// The bytes of the number or length after the marker at `at`.
fn rest<const N: usize>(scan: &mut Scan, at: u64) -> Result<[u8; N]> {
    let left = scan.left();
    if left < to_u64(N) {
        return scan.fail_at(
            at,
            format!("{N} bytes expected after its first, {left} left"),
        );
    }
    scan.array()
}

/// Writes a u32 as such, however small: four bytes after the marker.
pub(crate) fn put_u32(out: &mut Sink, number: u32) -> Result<()> {
    put(out, |head| encode::write_u32(head, number))
}

/// Writes a 32-bit float, given by its bits so that NaN is preserved.
pub(crate) fn put_f32(out: &mut Sink, bits: u32) -> Result<()> {
    out.write(&[Marker::F32.to_u8()])?;
    out.write(&bits.to_be_bytes())
}

/// Writes text.
pub(crate) fn put_str(out: &mut Sink, text: &str) -> Result<()> {
    let len = count(text.len())?;
    put(out, |head| encode::write_str_len(head, len))?;
    out.write(text.as_bytes())
}

/// Writes the head of a `bin`; the caller writes its bytes next.
pub(crate) fn put_bin(out: &mut Sink, len: u64) -> Result<()> {
    let len = count(len)?;
    put(out, |head| encode::write_bin_len(head, len))
}

/// Writes the head of an array; the caller writes its items next.
pub(crate) fn put_array(out: &mut Sink, items: usize) -> Result<()> {
    let items = count(items)?;
    put(out, |head| encode::write_array_len(head, items))
}

/// Writes the head of a map; the caller writes its pairs next.
pub(crate) fn put_map(out: &mut Sink, pairs: usize) -> Result<()> {
    let pairs = count(pairs)?;
    put(out, |head| encode::write_map_len(head, pairs))
}

/// A length as MessagePack encodes it.
pub(crate) fn count<T: TryInto<u32> + Copy + std::fmt::Display>(len: T) -> Result<u32> {
    len.try_into()
        .map_err(|_| Error::invalid(format!("a length is {len}, MessagePack counts to 2^32 - 1")))
}

fn put<T>(
    out: &mut Sink,
    write: impl FnOnce(&mut Vec<u8>) -> std::result::Result<T, ValueWriteError<io::Error>>,
) -> Result<()> {
    let mut head = Vec::with_capacity(5);
    write(&mut head).map_err(io::Error::from)?;
    out.write(&head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Source;

    fn read(bytes: &[u8]) -> Result<Item> {
        let source = Source::memory(bytes.to_vec());
        head(&mut Scan::new(&source, "test")).map(|head| head.item)
    }

    #[test]
    fn every_form_of_a_number_means_the_number() {
        for two in [
            b"\x02".as_slice(),
            b"\xcc\x02",
            b"\xcd\0\x02",
            b"\xce\0\0\0\x02",
            b"\xcf\0\0\0\0\0\0\0\x02",
            b"\xd0\x02",
            b"\xd1\0\x02",
            b"\xd2\0\0\0\x02",
            b"\xd3\0\0\0\0\0\0\0\x02",
        ] {
            assert_eq!(read(two).unwrap(), Item::Uint(2), "{two:02x?}");
        }
        assert_eq!(read(b"\xff").unwrap(), Item::Negative(-1));
        assert_eq!(read(b"\xd1\x80\0").unwrap(), Item::Negative(-32768));
        assert_eq!(read(b"\xca\x3f\x80\0\0").unwrap(), Item::F32(0x3f80_0000));
    }

    #[test]
    fn every_form_of_a_length_means_the_length() {
        for text in [
            b"\xa1w".as_slice(),
            b"\xd9\x01w",
            b"\xda\0\x01w",
            b"\xdb\0\0\0\x01w",
        ] {
            assert_eq!(read(text).unwrap(), Item::Str(1), "{text:02x?}");
        }
        for bytes in [b"\xc4\x01w".as_slice(), b"\xc5\0\x01w", b"\xc6\0\0\0\x01w"] {
            assert_eq!(read(bytes).unwrap(), Item::Bin(1), "{bytes:02x?}");
        }
        assert_eq!(read(b"\x93").unwrap(), Item::Array(3));
        assert_eq!(read(b"\xdc\x01\0").unwrap(), Item::Array(256));
        assert_eq!(read(b"\xdd\0\0\0\x03").unwrap(), Item::Array(3));
        assert_eq!(read(b"\x83").unwrap(), Item::Map(3));
        assert_eq!(read(b"\xde\x01\0").unwrap(), Item::Map(256));
        assert_eq!(read(b"\xdf\0\0\0\x03").unwrap(), Item::Map(3));
    }

    #[test]
    fn a_cut_object_is_refused_at_its_marker() {
        let text = "not a valid test file: 4 bytes expected after its first, 2 left (byte 0)";
        assert_eq!(read(b"\xce\0\0").unwrap_err().to_string(), text);
        let text = "not a valid test file: a str of 4294967295 bytes, 1 left (byte 0)";
        assert_eq!(
            read(b"\xdb\xff\xff\xff\xffw").unwrap_err().to_string(),
            text
        );
    }

    #[test]
    fn heads_are_written_shortest_and_numbers_in_full() {
        let written = |write: &dyn Fn(&mut Sink) -> Result<()>| {
            let mut out = Sink::memory();
            write(&mut out).unwrap();
            out.finish().unwrap().into_memory().unwrap()
        };
        assert_eq!(written(&|out| put_u32(out, 0)), b"\xce\0\0\0\0");
        assert_eq!(
            written(&|out| put_f32(out, 0x7fa0_0001)),
            b"\xca\x7f\xa0\0\x01"
        );
        assert_eq!(written(&|out| put_str(out, "w")), b"\xa1w");
        let long = "n".repeat(32);
        assert!(written(&|out| put_str(out, &long)).starts_with(b"\xd9\x20n"));
        for (len, head) in [
            (0, b"\xc4\0".as_slice()),
            (255, b"\xc4\xff"),
            (256, b"\xc5\x01\0"),
            (65_536, b"\xc6\0\x01\0\0"),
        ] {
            assert_eq!(written(&|out| put_bin(out, len)), head);
        }
        assert_eq!(written(&|out| put_array(out, 15)), b"\x9f");
        assert_eq!(written(&|out| put_array(out, 16)), b"\xdc\0\x10");
        assert_eq!(written(&|out| put_map(out, 15)), b"\x8f");
        assert_eq!(written(&|out| put_map(out, 16)), b"\xde\0\x10");
        assert!(put_bin(&mut Sink::memory(), 1 << 32).is_err());
    }
}
