//! The namelist at the beginning of a file.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;

use super::{MOST_ORBITALS, NAME, PREFIX};
use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Head, Source};
use crate::limits::Limits;
use crate::memory;
use crate::meta::{Meta, Value};
use crate::wire::text::{Field, Line, Lines, cut};

/// The content of the namelist.
pub(super) struct Namelist {
    /// The number of orbitals.
    pub(super) norb: u64,
    /// The other settings, as metadata.
    pub(super) settings: Meta,
}

/// Longest blank text before the namelist for a file to be recognized.
const BLANK: usize = 256;

/// Whether a file begins with a namelist `FCI`.
pub(super) fn begins(head: &Head) -> bool {
    let start = head.bytes();
    let start = start.get(..BLANK).unwrap_or(start);
    rest_of_start(start.trim_ascii_start()).is_some()
}

/// The text after `&FCI`.
fn rest_of_start(text: &[u8]) -> Option<&[u8]> {
    let (name, rest) = text.split_at_checked(4)?;
    let is_name = name.eq_ignore_ascii_case(b"&FCI") || name.eq_ignore_ascii_case(b"$FCI");
    let is_whole = rest
        .first()
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (is_name && is_whole).then_some(rest)
}

/// A word, or the sign that the preceding word is a name.
enum Token {
    Word(u64, Vec<u8>),
    Equals(u64),
}

impl Namelist {
    /// Reads the namelist, up to the end of its last line.
    pub(super) fn read(lines: &mut Lines, source: &Source) -> Result<Namelist> {
        let limits = lines.limits();
        let first = lines.next_full()?;
        let first = first.ok_or_else(|| cut(source, "the namelist &FCI"))?;
        let (at, start) = (first.at, first.text.trim_ascii_start());
        let Some(rest) = rest_of_start(start) else {
            let why = "the file does not begin with the namelist &FCI";
            return Err(Error::malformed(first.at, why));
        };
        let before = to_u64(first.text.len().saturating_sub(rest.len()));
        let mut tokens = Vec::new();
        let mut is_ended = read_tokens(
            &Line {
                at: first.at.saturating_add(before),
                text: rest,
            },
            &mut tokens,
            limits,
        )?;
        while !is_ended {
            let line = lines.next()?;
            let line = line.ok_or_else(|| cut(source, "the end of the namelist, &END or /"))?;
            is_ended = read_tokens(&line, &mut tokens, limits)?;
        }
        Namelist::of(&tokens, at)
    }

    fn of(tokens: &[Token], at: u64) -> Result<Namelist> {
        let mut norb = None;
        let mut names = HashSet::new();
        let mut kept = Vec::new();
        for setting in settings(tokens)? {
            let name = setting.key()?;
            if !names.insert(name.clone()) {
                return Err(setting.name.wrong("is set twice"));
            }
            match name.as_str() {
                "NORB" => norb = Some(setting.orbitals()?),
                "IUHF" | "UHF" if !setting.is_off() => {
                    return Err(Error::Unsupported {
                        format: NAME,
                        what: format!("a file of unrestricted orbitals ({name})"),
                    });
                }
                _ => kept.push((format!("{PREFIX}{name}"), setting.value(&name)?)),
            }
        }
        let none = || Error::malformed(at, "NORB, the number of orbitals, is not set");
        let norb = norb.ok_or_else(none)?;
        let settings = Meta::of_unique(kept);
        Ok(Namelist { norb, settings })
    }
}

/// A name and its values.
struct Setting<'a> {
    name: Field<'a>,
    values: Vec<Field<'a>>,
}

/// Combines names and values.
fn settings(tokens: &[Token]) -> Result<Vec<Setting<'_>>> {
    let mut settings: Vec<Setting> = Vec::new();
    let mut all = tokens.iter().peekable();
    while let Some(token) = all.next() {
        let field = match token {
            Token::Word(at, text) => Field { at: *at, text },
            Token::Equals(at) => return Err(Error::malformed(*at, "\"=\" without a name")),
        };
        if all
            .next_if(|next| matches!(next, Token::Equals(_)))
            .is_some()
        {
            settings.push(Setting {
                name: field,
                values: Vec::new(),
            });
        } else if let Some(last) = settings.last_mut() {
            last.values.push(field);
        } else {
            return Err(field.wrong("is a value without a name"));
        }
    }
    Ok(settings)
}

impl Setting<'_> {
    /// The name, in upper case.
    fn key(&self) -> Result<String> {
        let text = String::from_utf8_lossy(self.name.text);
        if is_key(&text) {
            Ok(text.to_ascii_uppercase())
        } else {
            Err(self.name.wrong("is no name of a setting"))
        }
    }

    fn orbitals(&self) -> Result<u64> {
        let [field] = self.values.as_slice() else {
            return Err(self.name.wrong("is one whole number"));
        };
        let norb = field.whole()?;
        if norb > MOST_ORBITALS {
            return Err(Error::Unsupported {
                format: NAME,
                what: format!("a file of {norb} orbitals, more than {MOST_ORBITALS},"),
            });
        }
        Ok(norb)
    }

    /// Whether it is zero or false.
    fn is_off(&self) -> bool {
        self.values.iter().all(|field| {
            let text = field.text.trim_ascii_start();
            let text = text.strip_prefix(b".").unwrap_or(text);
            matches!(text.first(), Some(b'0' | b'F' | b'f'))
        })
    }

    /// An integer, a list of integers, or else the text itself.
    fn value(&self, name: &str) -> Result<Value> {
        let numbers: Option<Vec<i64>> = { self.values.iter() }
            .map(|field| field.integer().ok())
            .collect();
        match numbers.as_deref() {
            Some([]) => return Ok(Value::Null),
            Some([number]) if name != LIST => return Ok(Value::Int((*number).into())),
            Some(numbers) => {
                let numbers = numbers.iter().map(|number| Value::Int((*number).into()));
                return Ok(Value::List(numbers.collect()));
            }
            None => {}
        }
        let words: Vec<&[u8]> = self.values.iter().map(|field| field.text).collect();
        match String::from_utf8(words.join(&b',')) {
            Ok(text) => Ok(Value::Text(text)),
            Err(_) => Err(self.name.wrong("is set to what is no text")),
        }
    }
}

/// The setting that is always a list, even of one item.
const LIST: &str = "ORBSYM";

/// Whether a text can be the name of a setting.
pub(super) fn is_key(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_letter)
}

/// Reads the words of a line; returns whether the namelist ends on it.
fn read_tokens(line: &Line, tokens: &mut Vec<Token>, limits: &Limits) -> Result<bool> {
    let at = |rest: &[u8]| {
        let before = line.text.len().saturating_sub(rest.len());
        line.at.saturating_add(to_u64(before))
    };
    let mut rest = line.text;
    loop {
        let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
        let from = rest.iter().position(|byte| !is_blank(byte));
        rest = rest.get(from.unwrap_or(rest.len())..).unwrap_or_default();
        let Some(first) = rest.first() else {
            return Ok(false);
        };
        let len = match first {
            b'!' => return Ok(false), // a comment
            b'=' => {
                limits.charge_items::<(Token, Setting)>(1)?;
                memory::push(tokens, Token::Equals(at(rest)))?;
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            b'/' => return ended(line, at(rest), 1),
            b'&' | b'$' => {
                let name = rest.get(1..4).unwrap_or_default();
                if !name.eq_ignore_ascii_case(b"END") {
                    let why = "a namelist within the namelist, which has no end";
                    return Err(Error::malformed(at(rest), why));
                }
                return ended(line, at(rest), 4);
            }
            b'\'' | b'"' => {
                let close = rest.iter().skip(1).position(|byte| byte == first);
                let Some(close) = close else {
                    return Err(Error::malformed(at(rest), "a text without an end"));
                };
                close.saturating_add(2)
            }
            _ => {
                let is_end = |byte: &u8| is_blank(byte) || b"=/&$!'\"".contains(byte);
                rest.iter().position(is_end).unwrap_or(rest.len())
            }
        };
        let (word, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        // It becomes a field, a number and a value.
        limits.charge_items::<(Token, Field, i64, Value)>(1)?;
        limits.charge_text(word.len())?;
        memory::push(tokens, Token::Word(at(rest), word.to_vec()))?;
        rest = after;
    }
}

/// Checks that nothing follows the end of the namelist, which is `len` bytes at `end`.
fn ended(line: &Line, end: u64, len: u64) -> Result<bool> {
    let skip = to_usize(end.saturating_add(len).saturating_sub(line.at))?;
    let after = line.text.get(skip..).unwrap_or_default();
    if after.trim_ascii().is_empty() {
        Ok(true)
    } else {
        let why = "more on the line that ends the namelist";
        Err(Error::malformed(end.saturating_add(len), why))
    }
}
