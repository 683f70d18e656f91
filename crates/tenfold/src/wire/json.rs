//! A streaming JSON reader: it holds nothing but its position, so that a text or a list may be as
//! long as the file.
#![deny(clippy::arithmetic_side_effects)]

use crate::bytes::{Scan, to_u64};
use crate::error::Result;
use crate::io::Source;
use crate::limits::Limits;
use crate::memory;

/// A cursor in a JSON text, for a caller that requests each next token; its position is its only
/// state.
pub(crate) struct Json<'a> {
    pub(crate) scan: Scan<'a>,
    limits: &'a Limits,
}

/// The kind of a value, as seen from its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    Text,
    Number,
    /// `true`, `false` or `null`.
    Word,
    /// No JSON value.
    Other,
    /// The end of the file.
    End,
}

/// Whether the next item of a list is the first: only later ones follow a comma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct First(pub(crate) bool);

impl First {
    pub(crate) fn new() -> First {
        First(true)
    }
}

impl<'a> Json<'a> {
    pub(crate) fn new(source: &'a Source, format: &'static str, limits: &'a Limits) -> Json<'a> {
        Json {
            scan: Scan::new(source, format),
            limits,
        }
    }

    /// The offset of the next byte.
    pub(crate) fn at(&self) -> u64 {
        self.scan.at()
    }

    /// Skips whitespace and returns the next byte; `None` at the end of the file.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        self.scan
            .pass(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))?;
        match self.scan.left() {
            0 => Ok(None),
            _ => self.scan.peek().map(Some),
        }
    }

    /// The kind of the next value.
    pub(crate) fn kind(&mut self) -> Result<Kind> {
        Ok(match self.peek()? {
            None => Kind::End,
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::Text,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            Some(b't' | b'f' | b'n') => Kind::Word,
            Some(_) => Kind::Other,
        })
    }

    /// An error at the next byte that is no whitespace, which was not expected.
    pub(crate) fn unexpected<T>(&mut self, wanted: &str) -> Result<T> {
        let found = match self.peek()? {
            None => "the end".into(),
            Some(byte) if byte.is_ascii_graphic() => format!("{:?}", char::from(byte)),
            Some(byte) => format!("the byte {byte:#04x}"),
        };
        self.scan.fail(format!("{wanted} expected, not {found}"))
    }

    /// Consumes a byte, if it is next.
    pub(crate) fn take(&mut self, byte: u8) -> Result<bool> {
        let is_next = self.peek()? == Some(byte);
        if is_next {
            self.scan.skip(1)?;
        }
        Ok(is_next)
    }

    /// Consumes a required byte.
    pub(crate) fn need(&mut self, byte: u8) -> Result<()> {
        if self.take(byte)? {
            Ok(())
        } else {
            self.unexpected(&format!("{:?}", char::from(byte)))
        }
    }

    /// Advances to the next item of a list that ends in `close`; false at its end, which is
    /// consumed.
    pub(crate) fn next(&mut self, first: &mut First, close: u8) -> Result<bool> {
        let is_first = std::mem::replace(&mut first.0, false);
        if self.take(close)? {
            return Ok(false);
        }
        if !is_first {
            if !self.take(b',')? {
                let wanted = format!("',' or {:?}", char::from(close));
                return self.unexpected(&wanted);
            }
            if self.peek()? == Some(close) {
                return self.unexpected("a value after ','");
            }
        }
        Ok(true)
    }

    /// Advances to the next member of the current object, and reads its name; false at its end.
    pub(crate) fn member(&mut self, first: &mut First, name: &mut String) -> Result<bool> {
        if !self.next(first, b'}')? {
            return Ok(false);
        }
        self.text(name)?;
        self.need(b':')?;
        Ok(true)
    }

    /// Reads a string.
    pub(crate) fn text(&mut self, out: &mut String) -> Result<()> {
        let mut bytes = std::mem::take(out).into_bytes();
        bytes.clear();
        if self.peek()? != Some(b'"') {
            return self.unexpected("a text");
        }
        let at = self.at();
        let limits = self.limits;
        self.pieces(&mut |piece| {
            memory::append(&mut bytes, piece)?;
            limits.check_text(to_u64(bytes.len()))
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => *out = text,
            Err(_) => return self.scan.fail_at(at, "a text is not UTF-8"),
        }
        Ok(())
    }

    /// Hands out the bytes of a string, unescaped, in pieces.
    pub(crate) fn pieces(&mut self, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.need(b'"')?;
        let mut piece = Vec::new();
        loop {
            piece.clear();
            let is_plain = |byte| !matches!(byte, b'"' | b'\\' | 0..0x20);
            self.scan.run(is_plain, &mut piece)?;
            each(&piece)?;
            match self.scan.left() {
                0 => return self.scan.fail("a text has no end"),
                _ => match self.scan.peek()? {
                    b'"' => return self.scan.skip(1),
                    b'\\' => {
                        let letter = self.escaped()?;
                        each(letter.encode_utf8(&mut [0; 4]).as_bytes())?;
                    }
                    0..0x20 => return self.scan.fail("a text has a control character in it"),
                    // As many bytes as are handed out at once.
                    _ => {}
                },
            }
        }
    }

    fn escaped(&mut self) -> Result<char> {
        let at = self.at();
        self.scan.skip(1)?;
        Ok(match self.scan.u8()? {
            letter @ (b'"' | b'\\' | b'/') => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(at),
            _ => return self.scan.fail_at(at, "an escape that JSON does not have"),
        })
    }

    fn unicode(&mut self, at: u64) -> Result<char> {
        let first = self.four_digits(at)?;
        let code = match first {
            0xd800..0xdc00 => {
                let follows = self.scan.array::<2>()? == *b"\\u";
                let second = if follows { self.four_digits(at)? } else { 0 };
                if !(0xdc00..0xe000).contains(&second) {
                    return self.scan.fail_at(at, "half of a pair of surrogates");
                }
                let high = (first & 0x3ff) << 10;
                (high | second & 0x3ff).saturating_add(0x10000)
            }
            code => code,
        };
        match char::from_u32(code) {
            Some(letter) => Ok(letter),
            None => self.scan.fail_at(at, "half of a pair of surrogates"),
        }
    }

    fn four_digits(&mut self, at: u64) -> Result<u32> {
        let digits = self.scan.array::<4>()?;
        let text = std::str::from_utf8(&digits).unwrap_or_default();
        let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
        match u32::from_str_radix(text, 16) {
            Ok(code) if is_hex => Ok(code),
            _ => self.scan.fail_at(at, "\\u needs four hexadecimal digits"),
        }
    }

    /// Reads the characters of a number unchanged.
    pub(crate) fn number(&mut self, out: &mut String) -> Result<()> {
        self.peek()?;
        let at = self.at();
        self.token(
            |byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte),
            out,
        )?;
        if is_number(out.as_bytes()) {
            Ok(())
        } else {
            self.scan.fail_at(at, format!("{out:?} is no number"))
        }
    }

    /// Fails if the limits do not allow a text of so many bytes.
    pub(crate) fn check_text(&self, len: usize) -> Result<()> {
        self.limits.check_text(to_u64(len))
    }

    /// Reads ASCII bytes while `accept` holds, up to the longest text allowed.
    pub(crate) fn token(&mut self, accept: impl Fn(u8) -> bool, out: &mut String) -> Result<()> {
        let mut bytes = std::mem::take(out).into_bytes();
        bytes.clear();
        loop {
            let before = bytes.len();
            self.scan
                .run(|byte| byte.is_ascii() && accept(byte), &mut bytes)?;
            self.check_text(bytes.len())?;
            if bytes.len() == before {
                break;
            }
        }
        *out = String::from_utf8(bytes).unwrap_or_default();
        Ok(())
    }

    /// Reads `true`, `false` or `null`.
    pub(crate) fn word(&mut self) -> Result<&'static str> {
        self.peek()?;
        let at = self.at();
        let mut found = String::new();
        self.token(|byte| byte.is_ascii_alphanumeric(), &mut found)?;
        let known = ["true", "false", "null"].into_iter();
        match known.into_iter().find(|word| *word == found) {
            Some(word) => Ok(word),
            None => self.scan.fail_at(at, format!("{found:?} is no value")),
        }
    }

    /// Skips the next value, at any nesting.
    pub(crate) fn skip(&mut self) -> Result<()> {
        let mut open: Vec<(u8, First)> = Vec::new();
        let mut text = String::new();
        loop {
            match self.kind()? {
                kind @ (Kind::Object | Kind::Array) => {
                    self.scan.skip(1)?;
                    let close = if kind == Kind::Object { b'}' } else { b']' };
                    open.push((close, First::new()));
                    self.limits.check_depth(to_u64(open.len()))?;
                }
                Kind::Text => self.pieces(&mut |_| Ok(()))?,
                Kind::Number => self.number(&mut text)?,
                Kind::Word => drop(self.word()?),
                Kind::Other | Kind::End => return self.unexpected("a value"),
            }
            loop {
                let Some((close, first)) = open.last_mut() else {
                    return Ok(());
                };
                let goes_on = match *close {
                    b'}' => self.member(first, &mut text)?,
                    close => self.next(first, close)?,
                };
                if goes_on {
                    break;
                }
                open.pop();
            }
        }
    }

    /// Fails unless only whitespace is left.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.peek()?;
        self.scan.end()
    }
}

/// Whether a text is a number in JSON's grammar.
fn is_number(letters: &[u8]) -> bool {
    fn digits(rest: &[u8]) -> Option<&[u8]> {
        let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest.get(len..).filter(|_| len > 0)
    }
    let whole = letters.strip_prefix(b"-").unwrap_or(letters);
    let after_whole = match whole.strip_prefix(b"0") {
        Some(rest) => Some(rest),
        None => digits(whole),
    };
    let after_point = after_whole.and_then(|rest| match rest.strip_prefix(b".") {
        Some(rest) => digits(rest),
        None => Some(rest),
    });
    let rest = after_point.and_then(|rest| match rest {
        [b'e' | b'E', b'+' | b'-', rest @ ..] | [b'e' | b'E', rest @ ..] => digits(rest),
        rest => Some(rest),
    });
    rest.is_some_and(<[u8]>::is_empty)
}

/// Appends a text with the quotes and escapes of JSON.
pub(crate) fn put_text(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter < ' ' => {
                out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(text: &str) -> Result<()> {
        let source = Source::memory(text.as_bytes().to_vec());
        let limits = Limits::default();
        let mut json = Json::new(&source, "", &limits);
        json.skip()?;
        json.end()
    }

    #[test]
    fn every_value_that_json_has_is_passed_over() {
        for text in [
            "{}",
            " [ ] ",
            r#"{"a":[1,-0.5e+3,{"b":null}],"c":"\u00e9\ud83d\ude00\n","d":true}"#,
            "[[[]],[]]",
            "0",
        ] {
            skipped(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    #[test]
    fn what_json_has_not_is_refused_at_its_byte() {
        for (text, why) in [
            ("[1,]", "a value after ',' expected, not ']' (byte 3)"),
            ("[1 2]", "',' or ']' expected, not '2' (byte 3)"),
            ("{\"a\" 1}", "':' expected, not '1' (byte 5)"),
            ("{a:1}", "a text expected, not 'a' (byte 1)"),
            ("01", "\"01\" is no number (byte 0)"),
            ("[+1]", "a value expected, not '+' (byte 1)"),
            ("1.", "\"1.\" is no number (byte 0)"),
            ("nul", "\"nul\" is no value (byte 0)"),
            ("\"a", "a text has no end (byte 2)"),
            ("\"\n\"", "a text has a control character in it (byte 1)"),
            ("\"\\ud800x\"", "half of a pair of surrogates (byte 1)"),
            ("\"\\udc00\"", "half of a pair of surrogates (byte 1)"),
            ("\"\\x\"", "an escape that JSON does not have (byte 1)"),
            (
                "1 2",
                "bytes left over after the end of the data: 1 (byte 2)",
            ),
            ("", "a value expected, not the end (byte 0)"),
        ] {
            assert_eq!(skipped(text).unwrap_err().to_string(), why, "{text}");
        }
    }

    #[test]
    fn nesting_is_limited_and_takes_no_stack() {
        let error = skipped(&"[".repeat(100_000)).unwrap_err();
        assert!(error.to_string().contains("nested too deeply"), "{error}");
    }

    #[test]
    fn a_written_text_reads_back() {
        let text = "a\"\\\n\u{1}é😀/";
        let mut written = String::new();
        put_text(text, &mut written);
        let source = Source::memory(written.into_bytes());
        let limits = Limits::default();
        let mut json = Json::new(&source, "", &limits);
        let mut read = String::new();
        json.text(&mut read).unwrap();
        assert_eq!(read, text);
    }
}
