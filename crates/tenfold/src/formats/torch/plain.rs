//! Classification of a pickle's items: tensors, containers, or plain values.
#![deny(clippy::arithmetic_side_effects)]

use super::calls::Found;
use super::content::Walk;
use super::types::Type;
use crate::error::Result;
use crate::meta::Value;
use crate::wire::pickle::{Id, Item, Object, Pickle};

/// The class of an item.
pub(super) enum Seen<'a> {
    Tensor(Box<Found<'a>>),
    Container(View<'a>),
    Value(Value),
    /// An item that is left out, with a note.
    Nothing,
}

/// The children of a container.
#[derive(Clone, Copy)]
pub(super) enum View<'a> {
    /// Keys and values, alternating.
    Pairs(&'a [Id]),
    /// Pairs of a key and a value.
    Entries(&'a [Id]),
    /// Values by index.
    Items(&'a [Id]),
    /// The attributes of a `torch.nn.Module`, alternating with their names.
    Module(&'a [Id]),
}

/// One child of a container.
pub(super) struct Child {
    /// Its key; `None` if its index is its name.
    pub(super) key: Option<Id>,
    pub(super) place: usize,
    pub(super) id: Id,
    /// Whether its name is a segment of paths.
    pub(super) is_segment: bool,
}

/// The attributes of a module with tensors and submodules.
const OF_MODULES: [&str; 3] = ["_parameters", "_buffers", "_modules"];

impl View<'_> {
    /// The number of children.
    pub(super) fn len(&self) -> usize {
        match self {
            View::Pairs(pairs) => pairs.len() / 2,
            View::Entries(items) | View::Items(items) => items.len(),
            View::Module(_) => OF_MODULES.len(),
        }
    }

    /// Whether children are identified by index.
    pub(super) fn is_list(&self) -> bool {
        matches!(self, View::Items(_))
    }

    /// The child at an index.
    pub(super) fn child(&self, pickle: &Pickle, place: usize) -> Option<Child> {
        let (key, id) = match self {
            View::Items(items) => (None, *items.get(place)?),
            View::Entries(items) => match pickle.sequence(*items.get(place)?)? {
                [key, id] => (Some(*key), *id),
                _ => return None,
            },
            View::Pairs(pairs) => {
                let start = place.checked_mul(2)?;
                match pairs.get(start..start.checked_add(2)?)? {
                    [key, id] => (Some(*key), *id),
                    _ => return None,
                }
            }
            View::Module(pairs) => {
                let known = OF_MODULES.iter();
                let mut own = known.filter_map(|name| attribute(pickle, pairs, name));
                let (key, id) = own.nth(place)?;
                (Some(key), id)
            }
        };
        let is_segment = !matches!(self, View::Module(_));
        Some(Child {
            key,
            place,
            id,
            is_segment,
        })
    }
}

/// The key and the value of an attribute.
fn attribute(pickle: &Pickle, pairs: &[Id], name: &str) -> Option<(Id, Id)> {
    pairs.chunks(2).find_map(|pair| match pair {
        [key, value] if pickle.text(*key) == Some(name) => Some((*key, *value)),
        _ => None,
    })
}

impl<'a> Walk<'a> {
    /// Classifies an item.
    pub(super) fn look(&mut self, id: Id) -> Result<Seen<'a>> {
        let pickle: &'a Pickle = self.calls.pickle;
        let value = match pickle.item(id) {
            Item::None => Value::Null,
            Item::Bool(truth) => Value::Bool(*truth),
            Item::Int(number) => Value::Int((*number).into()),
            Item::Long(bytes) => match long(bytes) {
                Some(number) => Value::Int(number),
                None => {
                    self.class("of a number of more than 128 bits".into(), id, LEFT_OUT);
                    return Ok(Seen::Nothing);
                }
            },
            Item::Float(number) => Value::Float {
                bits: number.to_bits(),
                width: 64,
            },
            Item::Text(text) => {
                self.spend(id, 0, text.len())?;
                Value::Text(text.to_string())
            }
            Item::Bytes(range) => {
                let len = range.end.saturating_sub(range.start);
                self.spend(id, 0, usize::try_from(len).unwrap_or(usize::MAX))?;
                let bytes = pickle.bytes(id, self.calls.source)?;
                Value::Bytes(bytes.unwrap_or_default())
            }
            Item::Tuple(items) => return Ok(Seen::Container(View::Items(items))),
            Item::List(items) | Item::Set(items) => return Ok(Seen::Container(View::Items(items))),
            Item::Dict(pairs) => return Ok(Seen::Container(View::Pairs(pairs))),
            Item::Global(names) => match Type::named(&names.0, &names.1) {
                Some(kind) => Value::Text(format!("torch.{}", kind.name)),
                None => {
                    self.class(format!("{}.{}", names.0, names.1), id, LEFT_OUT);
                    return Ok(Seen::Nothing);
                }
            },
            Item::Persistent(_) | Item::Object(_) => {
                if let Some((module, name)) = kept_class(pickle, id) {
                    self.class(format!("{module}.{name}"), id, LEFT_OUT);
                    return Ok(Seen::Nothing);
                }
                if let Some(found) = self.calls.tensor(id)? {
                    return Ok(Seen::Tensor(Box::new(found)));
                }
                return self.object(id);
            }
        };
        Ok(Seen::Value(value))
    }

    /// Classifies an object that is no tensor.
    fn object(&mut self, id: Id) -> Result<Seen<'a>> {
        let pickle: &'a Pickle = self.calls.pickle;
        let Item::Object(object) = pickle.item(id) else {
            return Ok(Seen::Nothing);
        };
        let Some((module, name, args)) = pickle.call(id) else {
            return Ok(self.unknown(id, object));
        };
        let items = |id: &Id| pickle.sequence(*id);
        let container = |view| Ok(Seen::Container(view));
        match (module, name, args) {
            ("collections", "OrderedDict", [entries]) if object.pairs.is_empty() => {
                let is_pair = |entry: &Id| items(entry).is_some_and(|entry| entry.len() == 2);
                match items(entries).filter(|entries| entries.iter().all(is_pair)) {
                    Some(entries) => container(View::Entries(entries)),
                    None => self.calls.fail(id, "an OrderedDict of no list of pairs"),
                }
            }
            ("collections", "OrderedDict" | "defaultdict", _) => {
                container(View::Pairs(&object.pairs))
            }
            ("torch", "Size", [inner])
            | ("builtins" | "__builtin__", "set" | "frozenset" | "list" | "tuple", [inner]) => {
                match items(inner) {
                    Some(items) => container(View::Items(items)),
                    None => self.calls.fail(id, format!("{module}.{name} of no list")),
                }
            }
            ("builtins" | "__builtin__", "complex", [_, _]) => container(View::Items(args)),
            ("torch", "device", _) => {
                let parts = args.iter().map(|part| match pickle.item(*part) {
                    Item::Int(number) => number.to_string(),
                    _ => pickle.text(*part).unwrap_or_default().to_owned(),
                });
                let parts: Vec<String> = parts.take(2).collect();
                let text = parts.join(":");
                self.spend(id, 0, text.len())?;
                Ok(Seen::Value(Value::Text(text)))
            }
            ("_codecs", "encode", [text, _]) => {
                self.spend(id, 0, pickle.text(*text).map_or(0, str::len))?;
                match self.calls.raw(id)? {
                    Some(bytes) => Ok(Seen::Value(Value::Bytes(bytes.to_vec()?))),
                    None => Ok(self.unknown(id, object)),
                }
            }
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar", args) => {
                self.calls.scalar(id, args).map(Seen::Value)
            }
            ("argparse", "Namespace", _) | ("types", "SimpleNamespace", _) => {
                match object.state.map(|state| pickle.item(state)) {
                    Some(Item::Dict(pairs)) => container(View::Pairs(pairs)),
                    _ => container(View::Pairs(&[])),
                }
            }
            _ => Ok(self.unknown(id, object)),
        }
    }

    /// An object of an unknown class: its content is kept, under plain names.
    fn unknown(&mut self, id: Id, object: &'a Object) -> Seen<'a> {
        let pickle: &'a Pickle = self.calls.pickle;
        let args = pickle.sequence(object.args).unwrap_or_default();
        let class = match (pickle.global(object.class), args) {
            // Protocol 2 creates objects of old-style classes like this.
            (Some(("copy_reg" | "copyreg", "_reconstructor")), [class, ..]) => {
                pickle.global(*class)
            }
            (Some(class), _) => Some(class),
            (None, _) => kept_class(pickle, object.class),
        };
        let (module, name) = class.unwrap_or(("a call", "without a name"));
        let state = match object.state.map(|state| pickle.item(state)) {
            // Attributes, and those of classes with slots.
            Some(Item::Tuple(parts)) => parts.first().map(|state| pickle.item(*state)),
            state => state,
        };
        let (view, what) = match state {
            _ if !object.pairs.is_empty() => (View::Pairs(&object.pairs), "it is kept as a dict"),
            _ if !object.items.is_empty() => (View::Items(&object.items), "it is kept as a list"),
            Some(Item::Dict(pairs)) if attribute(pickle, pairs, "_modules").is_some() => {
                let what = "its parameters, buffers and modules are kept";
                (View::Module(pairs), what)
            }
            Some(Item::Dict(pairs)) => (View::Pairs(pairs), "its attributes are kept as a dict"),
            _ => {
                self.class(format!("{module}.{name}"), id, LEFT_OUT);
                return Seen::Nothing;
            }
        };
        self.class(format!("{module}.{name}"), id, what);
        Seen::Container(view)
    }
}

/// A class that the older layout stores with its source: `("module", class, file, source)`.
pub(super) fn kept_class(pickle: &Pickle, id: Id) -> Option<(&str, &str)> {
    let Item::Persistent(tuple) = pickle.item(id) else {
        return None;
    };
    match pickle.sequence(*tuple)? {
        [tag, class, ..] if pickle.text(*tag) == Some("module") => pickle.global(*class),
        _ => None,
    }
}

const LEFT_OUT: &str = "it was left out";

/// An integer of up to 16 bytes.
fn long(bytes: &[u8]) -> Option<i128> {
    let is_negative = bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut all = [if is_negative { 0xff } else { 0 }; 16];
    for (place, byte) in bytes.iter().enumerate() {
        *all.get_mut(place)? = *byte;
    }
    Some(i128::from_le_bytes(all))
}
