//! The JSON header, parsed in one pass.
#![deny(clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::fmt;

use hashbrown::HashSet;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::{METADATA, NAME, Type};
use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::memory;

/// The parsed header.
#[derive(Default)]
pub(super) struct Header {
    /// Names and texts, in order.
    pub(super) metadata: Metadata,
    pub(super) entries: Vec<Entry>,
}

/// The member for the file.
#[derive(Default)]
pub(super) enum Metadata {
    #[default]
    Missing,
    /// A value that the reference treats as absent.
    Null,
    Texts(Vec<(String, String)>),
}

/// The member for one tensor.
pub(super) struct Entry {
    pub(super) name: String,
    /// The offset of its name in the file, if it is known.
    pub(super) at: Option<u64>,
    pub(super) kind: Named,
    pub(super) shape: Vec<u64>,
    pub(super) offsets: (u64, u64),
    /// Whether there are unknown members.
    pub(super) has_more: bool,
}

/// A type by its name.
pub(super) enum Named {
    Known(&'static Type),
    Unknown(String),
}

/// Parses a header at offset `at` of the file.
pub(super) fn parse(text: &str, at: u64, limits: &Limits) -> Result<Header> {
    let mut state = State {
        text,
        at,
        limits,
        names: HashSet::new(),
        header: Header::default(),
        failed: None,
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = DeserializeSeed::deserialize(Whole(&mut state), &mut json).and_then(|()| json.end());
    match read {
        Ok(()) => Ok(state.header),
        Err(error) => Err(state.failed.unwrap_or_else(|| blame(&error, text, at))),
    }
}

/// The error of malformed JSON, with its offset.
fn blame(error: &serde_json::Error, text: &str, at: u64) -> Error {
    let mut before = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let lines = before
        .by_ref()
        .fold(0_usize, |sum, line| sum.saturating_add(line.len()));
    let place = lines.saturating_add(error.column().saturating_sub(1));
    let words = error.to_string();
    let why = words.split(" at line ").next().unwrap_or(&words);
    Error::malformed(
        at.saturating_add(to_u64(place)),
        format!("the header: {why}"),
    )
    .of(NAME)
}

/// The state of parsing.
struct State<'a> {
    text: &'a str,
    at: u64,
    limits: &'a Limits,
    names: HashSet<Cow<'a, str>>,
    header: Header,
    /// The error of a header that is valid JSON.
    failed: Option<Error>,
}

impl<'a> State<'a> {
    /// The offset in the file of a text from the header, unless it is an unescaped copy.
    fn place(&self, part: &str) -> Option<u64> {
        let start = self.text.as_ptr().addr();
        let offset = part.as_ptr().addr().checked_sub(start)?;
        (offset < self.text.len()).then(|| self.at.saturating_add(to_u64(offset)))
    }

    /// Records an error that the parser cannot represent.
    fn fail<E: serde::de::Error>(&mut self, error: Error) -> E {
        self.failed.get_or_insert(error);
        E::custom("")
    }

    fn malformed<E: serde::de::Error>(&mut self, at: Option<u64>, why: String) -> E {
        self.fail(Error::malformed(at, why).of(NAME))
    }

    fn check<E: serde::de::Error>(&mut self, checked: Result<()>) -> Result<(), E> {
        checked.map_err(|error| self.fail(error))
    }
}

/// A text, borrowed if it has no escapes.
struct Text<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        json.deserialize_str(TextVisitor)
    }
}

/// The whole object.
struct Whole<'s, 'a>(&'s mut State<'a>);

impl<'a> DeserializeSeed<'a> for Whole<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Whole<'_, 'a> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut members: M) -> Result<(), M::Error> {
        let state = self.0;
        while let Some(Text(name)) = members.next_key()? {
            let at = state.place(&name);
            state.check(state.limits.check_text(to_u64(name.len())))?;
            let room = memory::reserve_set(&mut state.names, 1);
            state.check(room)?;
            if !state.names.insert(name.clone()) {
                return Err(state.malformed(at, format!("the name {name:?} stands twice")));
            }
            if name == METADATA {
                let metadata = members.next_value_seed(AboutFile(state))?;
                state.header.metadata = metadata;
                continue;
            }
            let seed = OneTensor {
                state: &mut *state,
                name,
                at,
            };
            let entry = members.next_value_seed(seed)?;
            // The name is stored among the entries and among the names.
            let name_len = entry.name.len().saturating_mul(2);
            state.check(state.limits.charge_items::<(Entry, Cow<str>)>(1))?;
            state.check(state.limits.charge_text(name_len))?;
            let room = memory::reserve(&mut state.header.entries, 1);
            state.check(room)?;
            state.header.entries.push(entry);
            let count = to_u64(state.header.entries.len());
            state.check(state.limits.check_tensors(count))?;
        }
        Ok(())
    }
}

/// The texts of the file.
struct AboutFile<'s, 'a>(&'s mut State<'a>);

impl<'a> DeserializeSeed<'a> for AboutFile<'_, 'a> {
    type Value = Metadata;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<Metadata, D::Error> {
        json.deserialize_option(self)
    }
}

impl<'a> Visitor<'a> for AboutFile<'_, 'a> {
    type Value = Metadata;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object of texts")
    }

    fn visit_none<E>(self) -> Result<Metadata, E> {
        Ok(Metadata::Null)
    }

    fn visit_some<D: Deserializer<'a>>(self, json: D) -> Result<Metadata, D::Error> {
        json.deserialize_map(self)
    }

    fn visit_map<M: MapAccess<'a>>(self, mut members: M) -> Result<Metadata, M::Error> {
        let mut texts = Vec::new();
        let mut names = HashSet::new();
        while let Some((Text(name), Text(text))) = members.next_entry()? {
            self.0.check(memory::reserve_set(&mut names, 1))?;
            if !names.insert(name.clone()) {
                let at = self.0.place(&name);
                let why = format!("the name {name:?} stands twice in {METADATA}");
                return Err(self.0.malformed(at, why));
            }
            let limits = self.0.limits;
            let len = name.len().saturating_add(text.len());
            let kept = limits.charge_items::<(String, [String; 2], Cow<str>)>(1);
            let kept = kept.and_then(|()| limits.charge_text(len));
            self.0.check(kept)?;
            self.0.check(memory::reserve(&mut texts, 1))?;
            texts.push((name.into_owned(), text.into_owned()));
        }
        Ok(Metadata::Texts(texts))
    }
}

/// The object of one tensor.
struct OneTensor<'s, 'a> {
    state: &'s mut State<'a>,
    name: Cow<'a, str>,
    at: Option<u64>,
}

impl<'a> DeserializeSeed<'a> for OneTensor<'_, 'a> {
    type Value = Entry;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<Entry, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for OneTensor<'_, 'a> {
    type Value = Entry;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object with dtype, shape and data_offsets")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut members: M) -> Result<Entry, M::Error> {
        let OneTensor { state, name, at } = self;
        let (mut kind, mut shape, mut offsets, mut has_more) = (None, None, None, false);
        while let Some(Text(field)) = members.next_key()? {
            let is_new = match field.as_ref() {
                "dtype" => {
                    let Text(word) = members.next_value()?;
                    let named = match Type::named(&word) {
                        Some(known) => Named::Known(known),
                        None => Named::Unknown(word.into_owned()),
                    };
                    kind.replace(named).is_none()
                }
                "shape" => {
                    let sizes = members.next_value_seed(Shape(state))?;
                    shape.replace(sizes).is_none()
                }
                "data_offsets" => offsets
                    .replace(members.next_value::<(u64, u64)>()?)
                    .is_none(),
                _ => {
                    members.next_value::<IgnoredAny>()?;
                    has_more = true;
                    true
                }
            };
            if !is_new {
                let why = format!("the tensor {name:?} has two members {field:?}");
                return Err(state.malformed(state.place(&field), why));
            }
        }
        let mut missing = |what| {
            let why = format!("the tensor {name:?} has no {what}");
            state.malformed::<M::Error>(at, why)
        };
        Ok(Entry {
            kind: kind.ok_or_else(|| missing("dtype"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
            offsets: offsets.ok_or_else(|| missing("data_offsets"))?,
            name: name.into_owned(),
            at,
            has_more,
        })
    }
}

/// The sizes of a tensor.
struct Shape<'s, 'a>(&'s mut State<'a>);

impl<'a> DeserializeSeed<'a> for Shape<'_, 'a> {
    type Value = Vec<u64>;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<Vec<u64>, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Shape<'_, 'a> {
    type Value = Vec<u64>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a shape that is an array")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut items: S) -> Result<Vec<u64>, S::Error> {
        let mut sizes = Vec::new();
        while let Some(size) = items.next_element()? {
            sizes.push(size);
            self.0
                .check(self.0.limits.check_ndim(to_u64(sizes.len())))?;
        }
        Ok(sizes)
    }
}
