//! CBOR, as an adapter over minicbor.
#![deny(clippy::arithmetic_side_effects)]

mod chunks;
pub(crate) mod deterministic;

pub(crate) use chunks::{Part, Parts};

use std::borrow::Cow;
use std::collections::HashSet;

use minicbor::data::{Tag, Type};
use minicbor::{Decoder, Encoder};

use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::memory;
use crate::meta::Value;

/// Deepest nesting that is read, whatever the limits allow, as the stack is finite.
const DEEPEST: u64 = 1000;

/// The end of an array or a map of indefinite length.
const BREAK: u8 = 0xff;

/// Reads CBOR items from bytes in memory, with their offsets in the file.
pub(crate) struct Items<'a> {
    decoder: Decoder<'a>,
    base: u64,
    format: &'static str,
    limits: &'a Limits,
}

/// The number of items left in an array or a map, if it is definite.
#[derive(Debug, Clone, Default)]
pub(crate) struct Left(Option<u64>);

impl Left {
    /// A capacity for items in `bytes`, if each takes at least `least` of them.
    pub(crate) fn room(&self, bytes: u64, least: u64) -> usize {
        let most = bytes.checked_div(least).unwrap_or(bytes);
        usize::try_from(self.0.unwrap_or(0).min(most)).unwrap_or(0)
    }

    /// Skips the next items.
    fn pass(&mut self, count: u64) {
        if let Some(left) = &mut self.0 {
            *left = left.saturating_sub(count);
        }
    }
}

impl<'a> Items<'a> {
    /// Reads `bytes`, which lie at `base` in a file of `format`.
    pub(crate) fn new(
        bytes: &'a [u8],
        base: u64,
        format: &'static str,
        limits: &'a Limits,
    ) -> Self {
        Items {
            decoder: Decoder::new(bytes),
            base,
            format,
            limits,
        }
    }

    /// The offset in the file of the next item.
    pub(crate) fn at(&self) -> u64 {
        self.base.saturating_add(to_u64(self.decoder.position()))
    }

    pub(crate) fn fail_at<T>(&self, at: u64, why: impl Into<String>) -> Result<T> {
        Err(Error::malformed(at, why).of(self.format))
    }

    /// Converts an error of the decoder to one at the offset `at`.
    fn checked<T>(
        &self,
        at: u64,
        what: &str,
        read: Result<T, minicbor::decode::Error>,
    ) -> Result<T> {
        match read {
            Ok(value) => Ok(value),
            Err(error) if error.is_end_of_input() => {
                self.fail_at(at, format!("{what} expected, the index ends"))
            }
            Err(_) => self.fail_at(at, format!("{what} expected")),
        }
    }

    /// The number of bytes, read or not.
    pub(crate) fn len(&self) -> u64 {
        to_u64(self.decoder.input().len())
    }

    /// Whether every byte has been read.
    pub(crate) fn is_done(&self) -> bool {
        self.decoder.position() >= self.decoder.input().len()
    }

    fn kind(&mut self) -> Result<Type> {
        let at = self.at();
        let kind = self.decoder.datatype();
        self.checked(at, "an item", kind)
    }

    /// Enters an array; `what` names it in errors.
    pub(crate) fn array(&mut self, what: &str) -> Result<Left> {
        let at = self.at();
        let count = self.decoder.array();
        Ok(Left(self.checked(at, what, count)?))
    }

    /// Enters a map.
    pub(crate) fn map(&mut self, what: &str) -> Result<Left> {
        let at = self.at();
        let count = self.decoder.map();
        Ok(Left(self.checked(at, what, count)?))
    }

    /// Whether another item follows; skips the break after the last.
    pub(crate) fn more(&mut self, left: &mut Left) -> Result<bool> {
        match &mut left.0 {
            Some(0) => Ok(false),
            Some(count) => {
                *count = count.saturating_sub(1);
                Ok(true)
            }
            None => {
                let place = self.decoder.position();
                match self.decoder.input().get(place) {
                    Some(&BREAK) => {
                        self.decoder.set_position(place.saturating_add(1));
                        Ok(false)
                    }
                    Some(_) => Ok(true),
                    None => self.kind().map(|_| true),
                }
            }
        }
    }

    /// Reads text, of definite or indefinite length.
    pub(crate) fn text(&mut self, what: &str) -> Result<String> {
        Ok(self.word(what)?.into_owned())
    }

    /// Reads text as [`Items::text`], borrowed if it is contiguous.
    pub(crate) fn word(&mut self, what: &str) -> Result<Cow<'a, str>> {
        if let Some((short, end)) = self.short()
            && let Ok(word) = std::str::from_utf8(short)
        {
            self.decoder.set_position(end);
            self.limits.check_text(to_u64(word.len()))?;
            return Ok(Cow::Borrowed(word));
        }
        let at = self.at();
        if let Ok(Type::String) = self.decoder.datatype() {
            let word = self.decoder.str();
            let word = self.checked(at, what, word)?;
            self.limits.check_text(to_u64(word.len()))?;
            return Ok(Cow::Borrowed(word));
        }
        let mut all = String::new();
        let pieces = self.decoder.str_iter();
        let pieces: Result<Vec<&str>, _> = pieces.and_then(Iterator::collect);
        for piece in self.checked(at, what, pieces)? {
            self.limits
                .check_text(to_u64(all.len()).saturating_add(to_u64(piece.len())))?;
            all.push_str(piece);
        }
        Ok(Cow::Owned(all))
    }

    /// Reads text as [`Items::word`]; faster if it is one of `known`.
    pub(crate) fn word_among(
        &mut self,
        known: &[&'static str],
        what: &str,
    ) -> Result<Cow<'a, str>> {
        if let Some((short, end)) = self.short()
            && let Some(word) = known.iter().find(|word| word.as_bytes() == short)
        {
            self.decoder.set_position(end);
            return Ok(Cow::Borrowed(word));
        }
        self.word(what)
    }

    /// The bytes and the end of the next item if it is a text of less than 256 bytes, as most of an
    /// index is.
    fn short(&self) -> Option<(&'a [u8], usize)> {
        let place = self.decoder.position();
        let rest = self.decoder.input().get(place..)?;
        let (head, len, rest) = match rest {
            [head @ 0x60..=0x77, rest @ ..] => (1, head & 0x1f, rest),
            [0x78, len, rest @ ..] => (2, *len, rest),
            _ => return None,
        };
        let len = usize::from(len);
        let end = place.saturating_add(head).saturating_add(len);
        Some((rest.get(..len)?, end))
    }

    /// Reads an unsigned integer.
    pub(crate) fn u64(&mut self, what: &str) -> Result<u64> {
        let at = self.at();
        let number = self.decoder.u64();
        self.checked(at, what, number)
    }

    /// Skips a null, if it is next.
    pub(crate) fn null(&mut self) -> Result<bool> {
        if self.kind()? != Type::Null {
            return Ok(false);
        }
        let at = self.at();
        let null = self.decoder.null();
        self.checked(at, "null", null)?;
        Ok(true)
    }

    /// Reads any item.
    pub(crate) fn value(&mut self) -> Result<Value> {
        self.nested(1)
    }

    fn nested(&mut self, depth: u64) -> Result<Value> {
        self.limits.check_depth(depth)?;
        // One byte of an index may become a much larger value.
        self.limits.charge_items::<Value>(1)?;
        let deeper = depth.saturating_add(1);
        let at = self.at();
        if depth > DEEPEST {
            return self.fail_at(at, format!("more than {DEEPEST} levels of nesting"));
        }
        Ok(match self.kind()? {
            Type::Bool => {
                let truth = self.decoder.bool();
                Value::Bool(self.checked(at, "a boolean", truth)?)
            }
            Type::Null => {
                self.null()?;
                Value::Null
            }
            Type::Undefined => {
                let undefined = self.decoder.undefined();
                self.checked(at, "an undefined", undefined)?;
                Value::Simple(23)
            }
            Type::U8
            | Type::U16
            | Type::U32
            | Type::U64
            | Type::I8
            | Type::I16
            | Type::I32
            | Type::I64
            | Type::Int => {
                let number = self.decoder.int();
                Value::Int(self.checked(at, "an integer", number)?.into())
            }
            Type::F16 => self.float(16)?,
            Type::F32 => self.float(32)?,
            Type::F64 => self.float(64)?,
            Type::Simple => {
                let in_two_bytes = self.decoder.input().get(self.decoder.position()) == Some(&0xf8);
                let simple = self.decoder.simple();
                let simple = self.checked(at, "a simple value", simple)?;
                // RFC 8949, 3.3: these are not well-formed.
                if in_two_bytes && simple < 32 {
                    let why = format!(
                        "the simple value {simple} in two bytes, which are for 32 and above"
                    );
                    return self.fail_at(at, why);
                }
                Value::Simple(simple)
            }
            Type::Bytes | Type::BytesIndef => {
                let bytes = self.bytes()?;
                self.limits.charge_text(bytes.len())?;
                Value::Bytes(bytes)
            }
            Type::String | Type::StringIndef => {
                let text = self.text("text")?;
                self.limits.charge_text(text.len())?;
                Value::Text(text)
            }
            Type::Array | Type::ArrayIndef => {
                let mut left = self.array("an array")?;
                // A list allocates room for several items at once.
                self.limits.charge_items::<Value>(2)?;
                let mut items = Vec::new();
                while self.more(&mut left)? {
                    memory::push(&mut items, self.nested(deeper)?)?;
                }
                Value::List(items)
            }
            Type::Map | Type::MapIndef => self.pairs(deeper)?,
            Type::Tag => {
                let tag = self.decoder.tag();
                let tag = self.checked(at, "a tag", tag)?.as_u64();
                Value::Tag(tag, Box::new(self.nested(deeper)?))
            }
            Type::Break => return self.fail_at(at, "a break where an item was expected"),
            Type::Unknown(byte) => {
                return self.fail_at(at, format!("no item begins with 0x{byte:02x}"));
            }
        })
    }

    fn pairs(&mut self, depth: u64) -> Result<Value> {
        let mut left = self.map("a map")?;
        self.limits.charge_items::<(Value, Value)>(2)?;
        let mut pairs = Vec::new();
        let mut seen = HashSet::new();
        while self.more(&mut left)? {
            let at = self.at();
            let from = self.decoder.position();
            self.limits.charge_items::<&[u8]>(1)?;
            let key = self.nested(depth)?;
            let to = self.decoder.position();
            let spelt = self.decoder.input().get(from..to).unwrap_or_default();
            if !memory::insert(&mut seen, spelt)? {
                return self.fail_at(at, "a key stands twice in one map");
            }
            memory::push(&mut pairs, (key, self.nested(depth)?))?;
        }
        Ok(Value::Map(pairs))
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let at = self.at();
        let pieces = self.decoder.bytes_iter();
        let pieces: Result<Vec<&[u8]>, _> = pieces.and_then(Iterator::collect);
        Ok(self.checked(at, "bytes", pieces)?.concat())
    }

    /// Reads the bits of a float unchanged, so that NaN payloads are preserved.
    fn float(&mut self, width: u8) -> Result<Value> {
        let at = self.at();
        let from = self.decoder.position().saturating_add(1);
        let to = from.saturating_add(usize::from(width >> 3));
        let Some(bytes) = self.decoder.input().get(from..to) else {
            return self.fail_at(at, "a float expected, the index ends");
        };
        let bits = bytes
            .iter()
            .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        self.decoder.set_position(to);
        Ok(Value::Float { bits, width })
    }
}

/// Longest head of an item.
const HEAD: usize = 9;

/// Writes CBOR items to memory: integers as short as possible, lengths definite by default.
pub(crate) struct Out(Encoder<Vec<u8>>);

impl Out {
    pub(crate) fn new() -> Self {
        Out(Encoder::new(Vec::new()))
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.into_writer()
    }

    /// Reserves memory for the head of an item and `len` bytes, as the encoder cannot report a
    /// failed allocation.
    fn room(&mut self, len: usize) -> Result<()> {
        memory::reserve(self.0.writer_mut(), len.saturating_add(HEAD))
    }

    /// Writing to memory cannot fail; the encoder's error type says otherwise.
    fn done<E>(result: Result<&mut Encoder<Vec<u8>>, E>) -> Result<()> {
        result
            .map(|_| ())
            .map_err(|_| Error::invalid("CBOR could not be written to memory"))
    }

    pub(crate) fn array(&mut self, count: usize) -> Result<()> {
        self.room(0)?;
        Out::done(self.0.array(to_u64(count)))
    }

    pub(crate) fn map(&mut self, count: usize) -> Result<()> {
        self.room(0)?;
        Out::done(self.0.map(to_u64(count)))
    }

    pub(crate) fn open_map(&mut self) -> Result<()> {
        self.room(0)?;
        Out::done(self.0.begin_map())
    }

    pub(crate) fn end(&mut self) -> Result<()> {
        self.room(0)?;
        Out::done(self.0.end())
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.room(text.len())?;
        Out::done(self.0.str(text))
    }

    pub(crate) fn u64(&mut self, number: u64) -> Result<()> {
        self.room(0)?;
        Out::done(self.0.u64(number))
    }

    pub(crate) fn value(&mut self, value: &Value) -> Result<()> {
        self.room(match value {
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        })?;
        match value {
            Value::Null => Out::done(self.0.null()),
            Value::Bool(truth) => Out::done(self.0.bool(*truth)),
            Value::Int(number) => {
                let number = minicbor::data::Int::try_from(*number)
                    .map_err(|_| Error::invalid(format!("{number} needs more than 64 bits")))?;
                Out::done(self.0.int(number))
            }
            Value::Float { bits, width } => self.float(*bits, *width),
            Value::Text(text) => self.text(text),
            Value::Bytes(bytes) => Out::done(self.0.bytes(bytes)),
            Value::List(items) => {
                self.array(items.len())?;
                items.iter().try_for_each(|item| self.value(item))
            }
            Value::Map(pairs) => {
                self.map(pairs.len())?;
                pairs.iter().try_for_each(|(key, value)| {
                    self.value(key)?;
                    self.value(value)
                })
            }
            Value::Tag(tag, item) => {
                Out::done(self.0.tag(Tag::new(*tag)))?;
                self.value(item)
            }
            Value::Simple(23) => Out::done(self.0.undefined()),
            Value::Simple(simple) => Out::done(self.0.simple(*simple)),
        }
    }

    fn float(&mut self, bits: u64, width: u8) -> Result<()> {
        let (head, skip) = match width {
            16 => (0xf9, 6),
            32 => (0xfa, 4),
            _ => (0xfb, 0),
        };
        let out = self.0.writer_mut();
        out.push(head);
        out.extend(bits.to_be_bytes().iter().skip(skip));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Value> {
        let limits = Limits::default();
        Items::new(bytes, 100, "test", &limits).value()
    }

    #[test]
    fn items_of_every_kind_are_written_as_they_were_read() {
        let items: [&[u8]; 9] = [
            b"\xf6",
            b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\x3b\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\xf9\x7e\x01",
            b"\xfa\x7f\xc0\x00\x01",
            b"\xa1\x01\x82\xf5\x41\x00",
            b"\xd9\xd9\xf7\xf7",
            b"\xf8\xff",
            b"\xe0",
        ];
        for bytes in items {
            let mut out = Out::new();
            out.value(&read(bytes).unwrap()).unwrap();
            assert_eq!(out.finish(), bytes);
        }
    }

    #[test]
    fn nesting_beyond_the_limit_is_refused_without_recursing_into_it() {
        let error = read(&[0x81; 200_000]).unwrap_err().to_string();
        assert!(error.contains("--max-depth"), "{error}");
    }

    #[test]
    fn a_length_beyond_the_bytes_is_refused_where_it_stands() {
        let error = read(b"\x82\x00\x7b\xff\xff\xff\xff\xff\xff\xff\xff")
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("(byte 102)"), "{error}");
    }

    #[test]
    fn a_simple_value_below_32_in_two_bytes_is_not_well_formed() {
        for byte in [0x00, 0x10, 0x14, 0x1f] {
            let error = read(&[0x81, 0xf8, byte]).unwrap_err().to_string();
            assert!(error.ends_with("(byte 101)"), "{error}");
        }
        assert_eq!(read(b"\xf8\x20").unwrap(), Value::Simple(32));
        assert_eq!(read(b"\xf0").unwrap(), Value::Simple(16));
    }

    #[test]
    fn a_key_that_stands_twice_is_refused() {
        let error = read(b"\xa2\x61a\x00\x61a\x01").unwrap_err().to_string();
        assert!(error.ends_with("(byte 104)"), "{error}");
    }
}
