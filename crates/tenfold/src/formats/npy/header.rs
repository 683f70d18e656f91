//! The header's dictionary: the subset of Python's literals that NumPy writes.
#![deny(clippy::arithmetic_side_effects)]

use super::{NAME, Version};
use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::limits::Limits;

/// The content of the dictionary.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) descr: Descr,
    pub(super) descr_at: u64,
    pub(super) is_fortran: bool,
    pub(super) shape: Vec<u64>,
    pub(super) shape_at: u64,
}

/// A type in the dictionary.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Descr {
    /// A plain type, such as `<f8`.
    Plain(String),
    /// A list of fields, or a type with a shape of its own.
    Structured,
}

/// The smallest size that is too large for NumPy.
const TOO_LARGE: u64 = 1 << 63;

/// Deepest nesting of brackets in Python, whatever the limits.
const MOST_NESTED: u64 = 200;

/// Parses the header `bytes`, which are at offset `at` of the file.
pub(super) fn parse(bytes: &[u8], at: u64, version: Version, limits: &Limits) -> Result<Header> {
    let text = match version {
        Version::V1 | Version::V2 => bytes.iter().copied().map(char::from).collect(),
        Version::V3 => std::str::from_utf8(bytes)
            .map_err(|error| {
                let at = at.saturating_add(to_u64(error.valid_up_to()));
                Error::malformed(at, "the header is not UTF-8").of(NAME)
            })?
            .to_owned(),
    };
    let mut parser = Parser {
        rest: &text,
        at,
        version,
        limits,
    };
    let header = parser.dictionary()?;
    parser.space();
    match parser.peek() {
        None => Ok(header),
        Some(_) => parser.fail("the header goes on after its dictionary"),
    }
}

struct Parser<'a> {
    rest: &'a str,
    /// The offset of `rest` in the file.
    at: u64,
    version: Version,
    limits: &'a Limits,
}

impl Parser<'_> {
    fn fail<T>(&self, why: impl Into<String>) -> Result<T> {
        self.fail_at(self.at, why)
    }

    fn fail_at<T>(&self, at: u64, why: impl Into<String>) -> Result<T> {
        Err(Error::malformed(at, why).of(NAME))
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next()?;
        self.rest = chars.as_str();
        let len = match self.version {
            Version::V1 | Version::V2 => 1,
            Version::V3 => next.len_utf8(),
        };
        self.at = self.at.saturating_add(to_u64(len));
        Some(next)
    }

    fn next_if(&mut self, is_wanted: impl Fn(char) -> bool) -> Option<char> {
        if self.peek().is_some_and(is_wanted) {
            self.next()
        } else {
            None
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.next_if(|next| next == wanted).is_some()
    }

    fn space(&mut self) {
        while self
            .next_if(|next| matches!(next, ' ' | '\t' | '\n' | '\r' | '\x0c'))
            .is_some()
        {}
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        if self.eat(wanted) {
            return Ok(());
        }
        self.wanted(&format!("{wanted:?}"))
    }

    /// An error at the next character, which was not expected.
    fn wanted<T>(&self, what: &str) -> Result<T> {
        match self.peek() {
            Some(next) => self.fail(format!("{what} expected in the header, {next:?} found")),
            None => self.fail(format!("{what} expected, the header ends")),
        }
    }

    fn dictionary(&mut self) -> Result<Header> {
        self.space();
        let start = self.at;
        self.expect('{')?;
        let (mut descr, mut is_fortran, mut shape) = (None, None, None);
        loop {
            self.space();
            if self.eat('}') {
                break;
            }
            let key_at = self.at;
            let key = self.text()?;
            self.space();
            self.expect(':')?;
            self.space();
            let at = self.at;
            let was_there = match key.as_str() {
                "descr" => descr.replace((at, self.descr()?)).is_some(),
                "fortran_order" => is_fortran.replace(self.truth()?).is_some(),
                "shape" => shape.replace((at, self.shape()?)).is_some(),
                _ => {
                    let key = excerpt(&key);
                    return self.fail_at(key_at, format!("the header has a key {key}"));
                }
            };
            if was_there {
                return self.fail_at(key_at, format!("the key {key:?} repeats"));
            }
            self.space();
            if !self.eat(',') {
                self.expect('}')?;
                break;
            }
        }
        match (descr, is_fortran, shape) {
            (Some((descr_at, descr)), Some(is_fortran), Some((shape_at, shape))) => Ok(Header {
                descr,
                descr_at,
                is_fortran,
                shape,
                shape_at,
            }),
            (None, _, _) => self.fail_at(start, "the header has no descr"),
            (_, None, _) => self.fail_at(start, "the header has no fortran_order"),
            (_, _, None) => self.fail_at(start, "the header has no shape"),
        }
    }

    fn descr(&mut self) -> Result<Descr> {
        match self.peek() {
            Some('[' | '(') => {
                self.pass(0)?;
                Ok(Descr::Structured)
            }
            _ => Ok(Descr::Plain(self.text()?)),
        }
    }

    fn truth(&mut self) -> Result<bool> {
        let at = self.at;
        match self.word().as_str() {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => self.fail_at(at, "fortran_order is neither True nor False"),
        }
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        let at = self.at;
        self.expect('(')?;
        let mut sizes = Vec::new();
        loop {
            self.space();
            if self.eat(')') {
                break;
            }
            self.limits
                .check_ndim(to_u64(sizes.len()).saturating_add(1))?;
            sizes.push(self.size()?);
            self.space();
            if !self.eat(',') {
                self.expect(')')?;
                if sizes.len() == 1 {
                    return self.fail_at(at, "the shape is a number, a tuple of one has a comma");
                }
                break;
            }
        }
        Ok(sizes)
    }

    fn size(&mut self) -> Result<u64> {
        let at = self.at;
        if self.peek() == Some('-') {
            return self.fail("a size is negative");
        }
        let digits = self.digits(10, usize::MAX);
        if digits.is_empty() {
            return self.wanted("a size");
        }
        if digits.len() > 1 && digits.starts_with('0') {
            return self.fail_at(at, "a size has leading zeros");
        }
        if self.version != Version::V3 {
            self.eat('L');
        }
        match digits.parse() {
            Ok(size) if size < TOO_LARGE => Ok(size),
            _ => self.fail_at(at, "a size is 2^63 or more"),
        }
    }

    /// Skips any literal: the inside of a structured type does not matter.
    fn pass(&mut self, depth: u64) -> Result<()> {
        self.limits.check_depth(depth)?;
        if depth > MOST_NESTED {
            return self.fail("brackets are nested too deeply");
        }
        let close = match self.peek() {
            Some('(') => ')',
            Some('[') => ']',
            Some('\'' | '"' | 'u') => return self.text().map(drop),
            Some('0'..='9' | '-' | 'A'..='Z') => {
                self.eat('-');
                let at = self.at;
                let word = self.word();
                let is_number = word.strip_suffix('L').unwrap_or(&word).parse::<u64>();
                return match word.as_str() {
                    "True" | "False" | "None" => Ok(()),
                    _ if is_number.is_ok() => Ok(()),
                    _ => self.fail_at(at, format!("{} is no literal", excerpt(&word))),
                };
            }
            _ => return self.wanted("a value"),
        };
        self.next();
        loop {
            self.space();
            if self.eat(close) {
                return Ok(());
            }
            self.pass(depth.saturating_add(1))?;
            self.space();
            if !self.eat(',') {
                return self.expect(close);
            }
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(next) = self.next_if(|next| next.is_ascii_alphanumeric() || next == '_') {
            word.push(next);
        }
        word
    }

    fn digits(&mut self, radix: u32, most: usize) -> String {
        let mut digits = String::new();
        while digits.len() < most
            && let Some(next) = self.next_if(|next| next.is_digit(radix))
        {
            digits.push(next);
        }
        digits
    }

    /// A quoted text.
    fn text(&mut self) -> Result<String> {
        let at = self.at;
        // Python 2 marks Unicode text.
        self.eat('u');
        let Some(quote) = self.next_if(|next| matches!(next, '\'' | '"')) else {
            return self.wanted("text in quotes");
        };
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('\n') => return self.fail_at(at, "a text does not end"),
                Some('\\') => self.escape(&mut text)?,
                Some(next) if next == quote => return Ok(text),
                Some(next) => text.push(next),
            }
        }
    }

    /// The character of an escape sequence.
    fn escape(&mut self, text: &mut String) -> Result<()> {
        let at = self.at.saturating_sub(1);
        if let Some('0'..='7') = self.peek() {
            let code = u32::from_str_radix(&self.digits(8, 3), 8).ok();
            text.extend(code.and_then(char::from_u32));
            return Ok(());
        }
        let digits = match self.next() {
            Some('\n') => return Ok(()),
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some('N') => return self.fail_at(at, "a character by name is not understood"),
            Some(next) => {
                match plain_escape(next) {
                    Some(meant) => text.push(meant),
                    None => text.extend(['\\', next]), // as Python does
                }
                return Ok(());
            }
            None => return self.fail_at(at, "a text does not end"),
        };
        let code = self.digits(16, digits);
        let meant = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
        match meant {
            Some(meant) if code.len() == digits => text.push(meant),
            _ => return self.fail_at(at, format!("{digits} digits of a character expected")),
        }
        Ok(())
    }
}

fn plain_escape(letter: char) -> Option<char> {
    Some(match letter {
        '\\' | '\'' | '"' => letter,
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        _ => return None,
    })
}

/// A quotation from a file for an error, of limited length.
pub(super) fn excerpt(text: &str) -> String {
    const MOST: usize = 32;
    let mut start: String = text.chars().take(MOST).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    format!("{start:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, version: Version) -> Result<Header> {
        parse(text.as_bytes(), 100, version, &Limits::default())
    }

    fn shape(text: &str) -> Result<Vec<u64>> {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {text}}}");
        parsed(&text, Version::V1).map(|header| header.shape)
    }

    fn descr(text: &str) -> Result<Descr> {
        let text = format!("{{'shape': (), 'fortran_order': False, 'descr': {text}}}");
        parsed(&text, Version::V3).map(|header| header.descr)
    }

    #[test]
    fn a_dictionary_is_read_in_any_order_and_spacing() {
        let text = "\t{ \"shape\":(2,3,),u'descr' : '\\x3cf8'\n,'fortran_order':True }  \n";
        let header = parsed(text, Version::V2).unwrap();
        let expected = Header {
            descr: Descr::Plain("<f8".into()),
            descr_at: 129,
            is_fortran: true,
            shape: vec![2, 3],
            shape_at: 111,
        };
        assert_eq!(header, expected);
    }

    #[test]
    fn a_shape_is_a_tuple_of_sizes() {
        assert_eq!(shape("()").unwrap(), [0; 0]);
        assert_eq!(shape("(7,)").unwrap(), [7]);
        assert_eq!(shape("(2L, 3)").unwrap(), [2, 3]);
        for (text, at) in [
            ("(7)", 150),
            ("7", 150),
            ("[7]", 150),
            ("(,)", 151),
            ("(2 3)", 153),
            ("(2, -3)", 154),
            ("(2, 03)", 154),
            ("(2, 3.0)", 155),
            ("(9223372036854775808,)", 151),
            ("(True,)", 151),
        ] {
            let error = shape(text).unwrap_err().to_string();
            assert!(error.ends_with(&format!("(byte {at})")), "{text}: {error}");
        }
    }

    #[test]
    fn a_long_integer_of_python_2_is_none_of_version_3() {
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2L,)}";
        assert!(parsed(text, Version::V2).is_ok());
        assert!(parsed(text, Version::V3).is_err());
    }

    #[test]
    fn escapes_are_those_of_python() {
        let plain = |text: &str| Descr::Plain(text.into());
        assert_eq!(
            descr(r"'a\'\\\t\101\x41\u0041\q'").unwrap(),
            plain("a'\\\tAAA\\q")
        );
        assert_eq!(descr("'é\\\n!'").unwrap(), plain("é!"));
        for text in [r"'\x4'", r"'\ud800'", r"'\N{DIGIT ONE}'", "'abc", "'a\nb'"] {
            assert!(descr(text).is_err(), "{text}");
        }
    }

    #[test]
    fn offsets_count_bytes_in_either_encoding() {
        let error = |text, version| parsed(text, version).unwrap_err().to_string();
        let text = "{'é': 1}";
        assert!(error(text, Version::V1).ends_with("a key \"Ã©\" (byte 101)"));
        assert!(error(text, Version::V3).ends_with("a key \"é\" (byte 101)"));
        let text = "{'descr': 'é' 1}";
        assert!(error(text, Version::V1).ends_with("(byte 115)"));
        assert!(error(text, Version::V3).ends_with("(byte 115)"));
    }

    #[test]
    fn structured_types_are_passed_over_and_nested_only_so_deep() {
        let fields = "[('x', '<f4', (2L,)), (('title', u'y'), [('z', '|O')], -1), (None, True)]";
        assert_eq!(descr(fields).unwrap(), Descr::Structured);
        assert!(descr("[('x' '<f4')]").is_err());
        assert!(descr("[open]").is_err());
        let deep = "[".repeat(100_000);
        assert!(
            descr(&deep)
                .unwrap_err()
                .to_string()
                .contains("--max-depth")
        );
        let mut limits = Limits::default();
        limits.set("depth", u64::MAX).unwrap();
        let text = format!("{{'descr': {deep}");
        let error = parse(text.as_bytes(), 0, Version::V2, &limits).unwrap_err();
        assert!(
            error.to_string().contains("nested too deeply (byte 211)"),
            "{error}"
        );
    }
}
