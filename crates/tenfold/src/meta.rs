//! Metadata of files and tensors.

use std::collections::{HashMap, HashSet};

/// A metadata value of any type that a supported format can store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Null.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A floating point number with its stored width: 16, 32 or 64 bits.
    Float {
        /// Its bits.
        bits: u64,
        /// The number of significant bits.
        width: u8,
    },
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// Pairs, in file order.
    Map(Vec<(Value, Value)>),
    /// A CBOR tag and its value.
    Tag(u64, Box<Value>),
    /// A CBOR simple value other than true, false and null.
    Simple(u8),
}

impl Value {
    /// A 32-bit float.
    #[must_use]
    pub fn f32(number: f32) -> Value {
        Value::Float {
            bits: number.to_bits().into(),
            width: 32,
        }
    }

    /// Whether the value, or one in it, satisfies `is_it`.
    pub(crate) fn contains(&self, is_it: &dyn Fn(&Value) -> bool) -> bool {
        is_it(self)
            || match self {
                Value::List(items) => items.iter().any(|item| item.contains(is_it)),
                Value::Map(pairs) => pairs
                    .iter()
                    .any(|(key, item)| key.contains(is_it) || item.contains(is_it)),
                Value::Tag(_, item) => item.contains(is_it),
                _ => false,
            }
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is a non-negative integer.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The items, if it is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The pairs, if it is a map.
    #[must_use]
    pub fn as_map(&self) -> Option<&[(Value, Value)]> {
        match self {
            Value::Map(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// The value of a text key, if it is a map that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?
            .iter()
            .find(|(name, _)| name.as_text() == Some(key))
            .map(|(_, value)| value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Int(number.into())
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

/// The prefix of proofs about values: the certificates of `.blz` files.
const PROOF: &str = "blz:";

/// Named values in insertion order, which does not matter for equality.
#[derive(Debug, Clone, Default)]
pub struct Meta(Vec<(String, Value)>);

impl Meta {
    /// The name of a train's metadata about the original tensor and the error bound.
    pub const COMPRESSED: &str = "tenfold.compressed";

    /// Empty metadata.
    #[must_use]
    pub const fn new() -> Meta {
        Meta(Vec::new())
    }

    /// Metadata of values whose names are known to be unique.
    pub(crate) fn of_unique(values: Vec<(String, Value)>) -> Meta {
        Meta(values)
    }

    /// Sets a value, in place if the name exists.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The names of proofs about the values that a compression gave, which apply to no others.
    pub(crate) fn proofs(&self) -> Vec<String> {
        let names = self.iter().map(|(name, _)| name);
        let proofs = names.filter(|name| name.starts_with(PROOF));
        proofs.map(str::to_owned).collect()
    }

    /// Removes the proven error bound of a train when its values change; returns whether there was
    /// one.
    pub fn remove_proven_error(&mut self) -> bool {
        let Some((_, Value::Map(fields))) =
            self.0.iter_mut().find(|(name, _)| name == Meta::COMPRESSED)
        else {
            return false;
        };
        let n_fields = fields.len();
        fields.retain(|(name, _)| name.as_text() != Some("error"));
        fields.len() < n_fields
    }

    /// The union of both; for a common name its own value is kept.
    #[must_use]
    pub(crate) fn joined(mut self, other: Meta) -> Meta {
        let known: HashSet<String> = self.0.iter().map(|(name, _)| name.clone()).collect();
        let others = other.0.into_iter();
        self.0
            .extend(others.filter(|(name, _)| !known.contains(name)));
        self
    }

    /// Removes the value named `name`, if there is one.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(place).1)
    }

    /// The value named `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The text named `name`.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_text)
    }

    /// All names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for Meta {
    fn eq(&self, other: &Meta) -> bool {
        let (mut own, mut others): (Vec<_>, Vec<_>) =
            (self.iter().collect(), other.iter().collect());
        own.sort_by_key(|(name, _)| *name);
        others.sort_by_key(|(name, _)| *name);
        own == others
    }
}

impl Eq for Meta {}

impl FromIterator<(String, Value)> for Meta {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(pairs: I) -> Meta {
        let mut meta = Meta::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (name, value) in pairs {
            match places.get(&name).and_then(|place| meta.0.get_mut(*place)) {
                Some((_, old)) => *old = value,
                None => {
                    places.insert(name.clone(), meta.0.len());
                    meta.0.push((name, value));
                }
            }
        }
        meta
    }
}
