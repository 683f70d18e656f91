//! The fields of a line, and parsing of their numbers.
#![deny(clippy::arithmetic_side_effects)]

use std::fmt::Write as _;

use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::memory;

/// The remaining fields of a line.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    at: u64,
    text: &'a [u8],
}

/// One field: the text between spaces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    /// Its offset.
    pub(crate) at: u64,
    /// Its text.
    pub(crate) text: &'a [u8],
}

/// The bits of the NaN that hardware produces, without its sign.
const QUIET: u64 = 1 << 51;
/// The bits that distinguish NaNs, besides the sign.
const PAYLOAD: u64 = (1 << 52) - 1;

impl<'a> Fields<'a> {
    pub(super) fn new(at: u64, text: &'a [u8]) -> Fields<'a> {
        Fields { at, text }
    }

    /// The next field, named `what` in errors.
    pub(crate) fn need(&mut self, what: &str) -> Result<Field<'a>> {
        let at = self.at;
        match self.next() {
            Some(field) => Ok(field),
            None => Err(Error::malformed(at, format!("the line ends before {what}"))),
        }
    }

    /// Two numbers in brackets, as Fortran writes a complex one: `(0.5, -1.0)`.
    pub(crate) fn pair(&mut self) -> Result<[Field<'a>; 2]> {
        let from = self.text.iter().position(|byte| !is_space(*byte));
        let skip = from.unwrap_or(self.text.len());
        let at = self.at.saturating_add(to_u64(skip));
        let text = self.text.get(skip..).unwrap_or_default();
        let none = || Error::malformed(at, "no complex number, such as (0.5,-1.0)");
        // A NaN may have brackets of its own.
        let mut depth = 0_u64;
        let is_last = |byte: &u8| {
            match byte {
                b'(' => depth = depth.saturating_add(1),
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            *byte == b')' && depth == 0
        };
        let len = text.iter().position(is_last).ok_or_else(none)?;
        let (inside, rest) = text.split_at_checked(len).ok_or_else(none)?;
        let inside = inside.strip_prefix(b"(").ok_or_else(none)?;
        let comma = inside
            .iter()
            .position(|byte| *byte == b',')
            .ok_or_else(none)?;
        let (real, imaginary) = inside.split_at_checked(comma).ok_or_else(none)?;
        let real_at = at.saturating_add(1);
        let imaginary_at = real_at.saturating_add(to_u64(comma)).saturating_add(1);
        let one = |at: u64, text: &'a [u8]| {
            let mut fields = Fields::new(at, text);
            let field = fields.need("a number")?;
            fields.end()?;
            Ok::<Field<'a>, Error>(field)
        };
        let pair = [
            one(real_at, real)?,
            one(imaginary_at, imaginary.get(1..).unwrap_or_default())?,
        ];
        self.at = at.saturating_add(to_u64(len)).saturating_add(1);
        self.text = rest.get(1..).unwrap_or_default();
        Ok(pair)
    }

    /// Fails if there is another field.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.next() {
            None => Ok(()),
            Some(field) => Err(field.wrong("is more than the line has to say")),
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let from = self.text.iter().position(|byte| !is_space(*byte))?;
        let rest = self.text.get(from..)?;
        let len = rest.iter().position(|byte| is_space(*byte));
        let (text, rest) = rest.split_at_checked(len.unwrap_or(rest.len()))?;
        let at = self.at.saturating_add(to_u64(from));
        self.at = at.saturating_add(to_u64(text.len()));
        self.text = rest;
        Some(Field { at, text })
    }
}

/// The field at an offset of a source, held in `buffer`; the beginning of a long one.
pub(crate) fn field_at<'a>(source: &Source, at: u64, buffer: &'a mut Vec<u8>) -> Result<Field<'a>> {
    const LONG: u64 = 4096;
    let len = source.len().saturating_sub(at).min(LONG);
    memory::resize(buffer, to_usize(len)?)?;
    source.read_at(at, buffer)?;
    Fields::new(at, buffer).need("a field")
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

impl Field<'_> {
    /// An error about this field.
    pub(crate) fn wrong(&self, why: &str) -> Error {
        const LONG: usize = 40;
        let text = String::from_utf8_lossy(self.text);
        let short: String = text.chars().take(LONG).collect();
        let dots = if short.len() < text.len() { "…" } else { "" };
        Error::malformed(self.at, format!("{short:?}{dots} {why}"))
    }

    /// Parses a non-negative integer.
    pub(crate) fn whole(&self) -> Result<u64> {
        let mut number = 0_u64;
        for byte in self.text {
            let digit = u64::from(byte.wrapping_sub(b'0'));
            if digit > 9 {
                return Err(self.wrong("is no whole number"));
            }
            let next = number.checked_mul(10).and_then(|n| n.checked_add(digit));
            number = next.ok_or_else(|| self.wrong("needs more than 64 bits"))?;
        }
        Ok(number)
    }

    /// Parses a 1-based index, and converts it to a 0-based one in a dimension of `size`.
    pub(crate) fn index(&self, what: &str, size: u64) -> Result<u64> {
        let number = self.whole()?;
        match number.checked_sub(1) {
            Some(place) if place < size => Ok(place),
            _ => {
                let why = format!("{what} {number} of {size}, counted from 1");
                Err(Error::malformed(self.at, why))
            }
        }
    }

    /// Parses an integer.
    pub(crate) fn integer(&self) -> Result<i64> {
        let text = std::str::from_utf8(self.text).unwrap_or_default();
        text.parse().map_err(|_| {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            let is_long = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            self.wrong(if is_long {
                "does not fit 64 bits with a sign"
            } else {
                "is no whole number"
            })
        })
    }

    /// Parses a number, rounded to the nearest double.
    pub(crate) fn float(&self) -> Result<f64> {
        let text = std::str::from_utf8(self.text).unwrap_or_default();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(number)
                if number.is_infinite()
                    && text.contains(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) =>
            {
                Err(self.wrong("is too large for a double"))
            }
            Ok(number) if number.is_infinite() => Ok(number),
            _ => not_a_number(text).ok_or_else(|| self.wrong("is no number")),
        }
    }
}

/// Parses a NaN: `nan`, or `nan(0x1)` with its payload.
fn not_a_number(text: &str) -> Option<f64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (1 << 63, text),
        None => (0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (word, rest) = text.split_at_checked(3)?;
    if !word.eq_ignore_ascii_case("nan") {
        return None;
    }
    let payload = match rest.strip_prefix('(') {
        None if rest.is_empty() => QUIET,
        None => return None,
        Some(rest) => {
            let digits = rest.strip_suffix(')')?.strip_prefix("0x")?;
            u64::from_str_radix(digits, 16).ok()?
        }
    };
    let is_one = (1..=PAYLOAD).contains(&payload);
    is_one.then(|| f64::from_bits(sign | f64::INFINITY.to_bits() | payload))
}

/// Appends the shortest text that [`Field::float`] reads back to the same bits.
pub(crate) fn write_float(number: f64, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = if !number.is_nan() {
        write!(out, "{number:?}")
    } else {
        let sign = if number.is_sign_negative() { "-" } else { "" };
        match number.to_bits() & PAYLOAD {
            QUIET => write!(out, "{sign}nan"),
            payload => write!(out, "{sign}nan({payload:#x})"),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(text: &str) -> Result<f64> {
        let mut fields = Fields::new(0, text.as_bytes());
        fields.need("a number")?.float()
    }

    #[test]
    fn every_double_comes_back_with_its_bits() {
        let mut bits = 1_u64;
        for _ in 0..if cfg!(miri) { 50 } else { 100_000 } {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            for bits in [bits, bits | f64::INFINITY.to_bits(), bits % 1000] {
                let mut text = String::new();
                write_float(f64::from_bits(bits), &mut text);
                assert_eq!(float(&text).unwrap().to_bits(), bits, "{text}");
            }
        }
    }

    #[test]
    fn numbers_are_spelled_as_other_programs_do() {
        for (text, wanted) in [
            ("1", 1.0),
            ("+1", 1.0),
            ("-1.", -1.0),
            (".5", 0.5),
            ("1E3", 1000.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e-400", 0.0),
        ] {
            assert_eq!(float(text).unwrap().to_bits(), wanted.to_bits(), "{text}");
        }
        for text in [
            "1e999", "x", "1d3", "0x10", "--1", "nan()", "nan(0x0)", "nan(0x1", "é",
        ] {
            assert!(float(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_complex_number_stands_in_brackets() {
        let parts = |text: &'static str| -> Result<(String, u64)> {
            let mut fields = Fields::new(0, text.as_bytes());
            let pair = fields.pair()?;
            let texts = pair.map(|field| String::from_utf8_lossy(field.text).into_owned());
            assert_eq!(fields.need("more")?.text, b"7", "{text}");
            Ok((texts.join(" "), pair[1].at))
        };
        assert_eq!(parts("(1,2) 7").unwrap(), ("1 2".into(), 3));
        assert_eq!(parts(" ( 1 ,\t2 )7").unwrap(), ("1 2".into(), 7));
        let (text, at) = parts("(nan(0x1),-nan(0x2)) 7").unwrap();
        assert_eq!((text.as_str(), at), ("nan(0x1) -nan(0x2)", 10));
        for text in ["", "1 2", "(1 2)", "(1,2", "(1,)", "(,2)", "(1 2,3)"] {
            let found = Fields::new(0, text.as_bytes()).pair();
            assert!(found.is_err(), "{text}");
        }
    }

    #[test]
    fn whole_numbers_know_their_ends() {
        let field = |text: &'static str| Field {
            at: 3,
            text: text.as_bytes(),
        };
        assert_eq!(field("18446744073709551615").whole().unwrap(), u64::MAX);
        assert_eq!(field("-9223372036854775808").integer().unwrap(), i64::MIN);
        for (text, why) in [
            ("18446744073709551616", "needs more than 64 bits"),
            ("-1", "is no whole number"),
            ("1.0", "is no whole number"),
        ] {
            let error = field(text).whole().unwrap_err();
            assert_eq!(error.to_string(), format!("{text:?} {why} (byte 3)"));
        }
        let error = field("9223372036854775808").integer().unwrap_err();
        assert!(error.to_string().contains("64 bits with a sign"));
        assert_eq!(field("3").index("row", 3).unwrap(), 2);
        for text in ["0", "4"] {
            let error = field(text).index("row", 3).unwrap_err();
            let wanted = format!("row {text} of 3, counted from 1 (byte 3)");
            assert_eq!(error.to_string(), wanted);
        }
    }
}
