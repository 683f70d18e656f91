//! Metadata: whatever a file says besides its tensors.

use std::collections::{HashMap, HashSet};

/// A value of any kind that a supported format can attach to a file or a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A floating point number, with the width it was stored in: 16, 32 or 64 bits.
    Float {
        /// Its bits.
        bits: u64,
        /// How many of them count.
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
    /// A CBOR tag and what it applies to.
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

    /// Whether it, or a value in it, is such a one.
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

    /// The number, if it is a whole one that is not negative.
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

    /// The value under a text key, if it is a map that has it.
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

/// How the names begin of what was proven of values: the certificates of `.blz` files.
const PROOF: &str = "blz:";

/// Named values in the order in which they came; two are equal in any order.
#[derive(Debug, Clone, Default)]
pub struct Meta(Vec<(String, Value)>);

impl Meta {
    /// The name under which a train has what the tensor it stands for was, and how near it is.
    pub const COMPRESSED: &str = "tenfold.compressed";

    /// No metadata.
    #[must_use]
    pub const fn new() -> Meta {
        Meta(Vec::new())
    }

    /// Takes values whose names are known to differ.
    pub(crate) fn of_unique(values: Vec<(String, Value)>) -> Meta {
        Meta(values)
    }

    /// Sets a value, in place if the name is known.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The names of what was proven of the values that a compression gave, and is true of no others.
    pub(crate) fn proofs(&self) -> Vec<String> {
        let names = self.iter().map(|(name, _)| name);
        let proofs = names.filter(|name| name.starts_with(PROOF));
        proofs.map(str::to_owned).collect()
    }

    /// Takes away what was proven of how near a train is, where its values change; whether there was
    /// something.
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

    /// Both together; a name that both have keeps its own value.
    #[must_use]
    pub(crate) fn joined(mut self, other: Meta) -> Meta {
        let known: HashSet<String> = self.0.iter().map(|(name, _)| name.clone()).collect();
        let others = other.0.into_iter();
        self.0
            .extend(others.filter(|(name, _)| !known.contains(name)));
        self
    }

    /// Takes a value away, if there is one called `name`.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(place).1)
    }

    /// The value called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The text called `name`.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_text)
    }

    /// All names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many values there are.
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
