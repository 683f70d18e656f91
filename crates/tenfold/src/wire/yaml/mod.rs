//! YAML as data: block and flow collections and scalars, with their offsets in the text.
//!
//! The events come from `saphyr-parser`. Features by which a short text stands for a long one, or
//! for something else than it shows, are refused: anchors, aliases, tags, several documents,
//! duplicate keys. Nothing is recursive, and nesting is limited by [`Limits`].
#![deny(clippy::arithmetic_side_effects)]

mod scalar;
mod write;

pub(crate) use write::{fits, write_pair};

use std::borrow::Cow;
use std::collections::HashSet;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::bytes::{Scan, to_u64};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::limits::Limits;
use crate::memory;
use crate::meta::Value;

/// A node of a YAML text.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    /// Its byte offset.
    pub(crate) at: u64,
    pub(crate) kind: Kind<'a>,
}

/// The kind of a node.
#[derive(Debug)]
pub(crate) enum Kind<'a> {
    /// A plain scalar, whose type follows from its text.
    Plain(Cow<'a, str>),
    /// A quoted scalar, which is always a text.
    Quoted(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Map(Vec<(Node<'a>, Node<'a>)>),
}

/// All of a source as text.
pub(crate) fn text(source: &Source, format: &'static str, limits: &Limits) -> Result<String> {
    limits.check_header(source.len())?;
    // The parser builds a text of at most this length, in a buffer that doubles.
    limits.charge(source.len().saturating_mul(2))?;
    let bytes = Scan::new(source, format).keep(source.len(), limits)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = to_u64(error.utf8_error().valid_up_to());
        Error::malformed(at, "text that is not UTF-8")
    })
}

/// Parses a text of one document.
pub(crate) fn parse<'a>(text: &'a str, limits: &Limits) -> Result<Node<'a>> {
    let mut places = Places::new(text);
    let mut builder = Builder {
        open: Vec::new(),
        done: None,
        limits,
    };
    let mut parser = Parser::new_from_str(text);
    let mut n_documents = 0_u32;
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| {
            let why = format!("no YAML: {}", error.info());
            Error::malformed(places.at(error.marker().index()), why)
        })?;
        let at = places.of(span);
        if let Event::DocumentStart(_) = event {
            n_documents = n_documents.saturating_add(1);
            if n_documents > 1 {
                return Err(Error::malformed(at, "a second document"));
            }
        }
        builder.take(event, at)?;
    }
    let nothing = || Error::malformed(0, "there is nothing in it");
    builder.done.ok_or_else(nothing)
}

/// Converts offsets in characters to bytes; they arrive in about the order of the text.
struct Places<'a> {
    text: &'a str,
    is_ascii: bool,
    letter: usize,
    byte: usize,
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Places<'a> {
        Places {
            text,
            is_ascii: text.is_ascii(),
            letter: 0,
            byte: 0,
        }
    }

    fn of(&mut self, span: Span) -> u64 {
        self.at(span.start.index())
    }

    fn at(&mut self, letter: usize) -> u64 {
        if self.is_ascii {
            return to_u64(letter.min(self.text.len()));
        }
        let (before, after) = self.text.split_at_checked(self.byte).unwrap_or_default();
        self.byte = match letter.checked_sub(self.letter) {
            Some(steps) => {
                let found = after.char_indices().nth(steps);
                let step = found.map_or(after.len(), |(at, _)| at);
                self.byte.saturating_add(step)
            }
            None => {
                let steps = self.letter.saturating_sub(letter).saturating_sub(1);
                let found = before.char_indices().nth_back(steps);
                found.map_or(0, |(at, _)| at)
            }
        };
        self.letter = letter;
        to_u64(self.byte)
    }
}

/// An open collection.
struct Open<'a> {
    at: u64,
    items: Items<'a>,
}

enum Items<'a> {
    List(Vec<Node<'a>>),
    Map(Vec<(Node<'a>, Node<'a>)>, Option<Node<'a>>),
}

/// Builds collections as they end.
struct Builder<'a, 'l> {
    open: Vec<Open<'a>>,
    done: Option<Node<'a>>,
    limits: &'l Limits,
}

impl<'a> Builder<'a, '_> {
    fn take(&mut self, event: Event<'a>, at: u64) -> Result<()> {
        match event {
            Event::Alias(_) => Err(Error::malformed(at, "an alias, and none is read")),
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(anchor, _)
            | Event::MappingStart(anchor, _)
                if anchor != 0 =>
            {
                Err(Error::malformed(at, "an anchor, and none is read"))
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                Err(Error::malformed(at, "a tag, and none is read"))
            }
            Event::Scalar(text, style, ..) => self.put(Node {
                at,
                kind: match style {
                    ScalarStyle::Plain => Kind::Plain(text),
                    _ => Kind::Quoted(text),
                },
            }),
            Event::SequenceStart(..) => self.begin(at, Items::List(Vec::new())),
            Event::MappingStart(..) => self.begin(at, Items::Map(Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin(&mut self, at: u64, items: Items<'a>) -> Result<()> {
        self.limits
            .check_depth(to_u64(self.open.len()).saturating_add(1))?;
        self.open.push(Open { at, items });
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let Some(Open { at, items }) = self.open.pop() else {
            return Ok(());
        };
        let kind = match items {
            Items::List(items) => Kind::List(items),
            Items::Map(pairs, _) => {
                check_keys(&pairs)?;
                Kind::Map(pairs)
            }
        };
        self.put(Node { at, kind })
    }

    fn put(&mut self, node: Node<'a>) -> Result<()> {
        // Among its siblings, and its text among those of the keys.
        self.limits.charge_items::<(Node, &str)>(1)?;
        if let Kind::Plain(Cow::Owned(text)) | Kind::Quoted(Cow::Owned(text)) = &node.kind {
            self.limits.charge_text(text.len())?;
        }
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.done = Some(node),
            Some(Items::List(items)) => memory::push(items, node)?,
            Some(Items::Map(pairs, waiting)) => match waiting.take() {
                Some(key) => memory::push(pairs, (key, node))?,
                None if node.text().is_none() => {
                    return Err(Error::malformed(node.at, "a key that is no scalar"));
                }
                None => *waiting = Some(node),
            },
        }
        Ok(())
    }
}

fn check_keys(pairs: &[(Node, Node)]) -> Result<()> {
    let mut seen = HashSet::new();
    for (key, _) in pairs {
        let text = key.text().unwrap_or_default();
        if !seen.insert(text) {
            return Err(Error::malformed(key.at, format!("{text:?} is there twice")));
        }
    }
    Ok(())
}

impl<'a> Node<'a> {
    /// The text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Plain(text) | Kind::Quoted(text) => Some(text),
            Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The pairs of a map.
    pub(crate) fn pairs(&self) -> Option<&[(Node<'a>, Node<'a>)]> {
        match &self.kind {
            Kind::Map(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// The items of a list.
    pub(crate) fn items(&self) -> Option<&[Node<'a>]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The value of a key of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'a>> {
        let mut pairs = self.pairs()?.iter();
        pairs
            .find(|(own, _)| own.text() == Some(key))
            .map(|(_, node)| node)
    }

    /// The value of a required key.
    pub(crate) fn need(&self, key: &str) -> Result<&Node<'a>> {
        let missing = || Error::malformed(self.at, format!("there is no {key}"));
        self.get(key).ok_or_else(missing)
    }

    /// A non-negative integer.
    pub(crate) fn whole(&self, what: &str) -> Result<u64> {
        let number = match &self.kind {
            Kind::Plain(_) => self.value().as_u64(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(&format!("is no {what}")))
    }

    /// The node as metadata.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Plain(text) => scalar::value(text),
            Kind::Quoted(text) => Value::Text(text.as_ref().into()),
            Kind::List(items) => Value::List(items.iter().map(Node::value).collect()),
            Kind::Map(pairs) => {
                let pairs = pairs.iter();
                Value::Map(
                    pairs
                        .map(|(key, node)| (key.value(), node.value()))
                        .collect(),
                )
            }
        }
    }

    /// An error about this node.
    pub(crate) fn wrong(&self, why: &str) -> Error {
        const LONG: usize = 40;
        let text = match &self.kind {
            Kind::Plain(text) | Kind::Quoted(text) => {
                let short: String = text.chars().take(LONG).collect();
                format!("{short:?}")
            }
            Kind::List(_) => "a list".into(),
            Kind::Map(_) => "a map".into(),
        };
        Error::malformed(self.at, format!("{text} {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        parse(text, &Limits::default()).unwrap().value()
    }

    fn fault(text: &str) -> String {
        parse(text, &Limits::default()).unwrap_err().to_string()
    }

    #[test]
    fn collections_of_both_styles_are_the_same() {
        let block = value("a:\n- 1\n- x: 2 # why\n  y: \"2\"\nb:\n");
        let flow = value("{a: [1, {x: 2, 'y': '2'}], b: null}");
        assert_eq!(block, flow);
        assert_eq!(block.get("b"), Some(&Value::Null));
    }

    #[test]
    fn what_makes_a_short_text_long_is_refused() {
        assert_eq!(fault("a: &x 1"), "an anchor, and none is read (byte 3)");
        assert!(fault("a: &x [1]\nb: *x").contains("an anchor"));
        assert_eq!(fault("a: !!str 1"), "a tag, and none is read (byte 3)");
        assert_eq!(fault("a: 1\n---\nb: 2"), "a second document (byte 5)");
        assert_eq!(fault("a: 1\nb: 2\na: 3"), "\"a\" is there twice (byte 10)");
        assert_eq!(fault("? [1]\n: 2"), "a key that is no scalar (byte 2)");
        let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
        assert!(fault(&deep(100)).contains("--max-depth"));
        // Beyond that the parser has a limit of its own.
        assert!(fault(&deep(1000)).contains("no YAML"));
        assert!(fault("a: [1").contains("no YAML"), "{}", fault("a: [1"));
        assert_eq!(fault(""), "there is nothing in it (byte 0)");
    }

    #[test]
    fn places_are_bytes_whatever_the_letters() {
        let text = "größe: [é, {ü: 1}]\nx: 2\nü: *a\n";
        let error = fault(text);
        assert!(
            error.contains("no YAML") || error.contains("alias"),
            "{error}"
        );
        let node = parse("ü: é\nö: ß", &Limits::default()).unwrap();
        let places: Vec<u64> = node
            .pairs()
            .unwrap()
            .iter()
            .map(|(key, _)| key.at)
            .collect();
        assert_eq!(places, [0, 7]);
    }
}
