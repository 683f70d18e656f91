//! Traversal of a pickle's objects: tensors by their paths, and metadata.
//!
//! The walk goes down containers by a list of its own, never by calling itself, and as deep as metadata
//! may be nested. What stands in several places through the memo is walked in each of them; a count of
//! all that is walked keeps that in proportion to the pickle.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, HashSet};

use super::calls::{Calls, Found};
use super::plain::{Seen, View};
use super::shared::Use;
use super::{NAME, shared};
use crate::bundle::Bundle;
use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::meta::{Meta, Value};
use crate::note::{Note, NoteKind};
use crate::wire::pickle::{Id, Item, Pickle};

/// The metadata name of a pickle that is no container.
const LONE: &str = "value";
/// Values and bytes that any pickle may expand to, besides a multiple of its own.
const LEAST: (u64, u64) = (1024, 64 << 10);
const TIMES: u64 = 8;
/// The cost of a tensor, in values: less than that of its name.
const TENSOR: usize = 6;

/// An open container.
struct Frame<'a> {
    id: Id,
    view: View<'a>,
    /// The next child.
    next: usize,
    /// The key of the container in its parent.
    key: Value,
    /// Whether the key is a segment of the path.
    is_segment: bool,
    /// The metadata of the container.
    values: Vec<(Value, Value)>,
    n_tensors: usize,
}

/// A class that is ignored.
struct Class {
    count: u64,
    at: Option<u64>,
    key: Key,
    what: &'static str,
}

pub(super) struct Walk<'a> {
    pub(super) calls: Calls<'a>,
    bundle: Bundle,
    frames: Vec<Frame<'a>>,
    path: Vec<String>,
    uses: Vec<Use<'a>>,
    classes: BTreeMap<String, Class>,
    /// The values and bytes left in the budget.
    left: (u64, u64),
}

impl<'a> Walk<'a> {
    pub(super) fn new(calls: Calls<'a>) -> Walk<'a> {
        let items = to_u64(calls.pickle.n_items());
        let allowed = |least: u64, own: u64| least.saturating_add(own.saturating_mul(TIMES));
        Walk {
            left: (allowed(LEAST.0, items), allowed(LEAST.1, calls.pickle.len)),
            calls,
            bundle: Bundle::new(),
            frames: Vec::new(),
            path: Vec::new(),
            uses: Vec::new(),
            classes: BTreeMap::new(),
        }
    }

    fn pickle(&self) -> &'a Pickle {
        self.calls.pickle
    }

    /// Counts values and bytes about to be created.
    pub(super) fn spend(&mut self, id: Id, values: usize, bytes: usize) -> Result<()> {
        let left = (
            self.left.0.checked_sub(to_u64(values)),
            self.left.1.checked_sub(to_u64(bytes)),
        );
        match left {
            (Some(values), Some(bytes)) => {
                self.left = (values, bytes);
                Ok(())
            }
            _ => {
                let why = "objects that repeat through the memo stand for too many values";
                self.calls.fail(id, why)
            }
        }
    }

    /// Notes that a class is ignored; one note per class.
    pub(super) fn class(&mut self, name: String, id: Id, what: &'static str) {
        let key = Key::tree(self.path.clone());
        let at = self.pickle().at(id);
        let known = self.classes.entry(name).or_insert(Class {
            count: 0,
            at,
            key,
            what,
        });
        known.count = known.count.saturating_add(1);
    }

    pub(super) fn run(mut self) -> Result<Bundle> {
        let root = self.pickle().root;
        if let Some(value) = self.enter(root, Value::Null, None)? {
            self.bundle.meta.set(LONE, value);
        }
        while let Some(frame) = self.frames.last_mut() {
            let child = frame.view.child(self.calls.pickle, frame.next);
            frame.next = frame.next.saturating_add(1);
            match child {
                Some(child) => self.child(child)?,
                None => self.leave()?,
            }
        }
        let entries = self.bundle.entries();
        let key = |place: usize| entries.get(place).map(|(key, _)| key.clone());
        let shared = shared::notes(self.uses, |place| key(place).unwrap_or_default());
        for note in shared {
            self.bundle.note(note);
        }
        for (name, class) in self.classes {
            let more = match class.count {
                1 => String::new(),
                count => format!(" ({count} objects)"),
            };
            let text = format!("the class {name} is not known: {}{more}", class.what);
            let note = Note::new(NoteKind::IgnoredField, text).at(class.at);
            self.bundle.note(if class.key.is_empty() {
                note
            } else {
                note.on(&class.key)
            });
        }
        Ok(self.bundle)
    }

    /// Visits one child of the container on top.
    fn child(&mut self, child: super::plain::Child) -> Result<()> {
        let Some((segment, key)) = self.named(&child)? else {
            return Ok(());
        };
        let segment = Some(segment).filter(|_| child.is_segment);
        let (key, value) = match self.enter(child.id, key.clone(), segment)? {
            Some(value) => (key, value),
            None => return Ok(()),
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.values.push((key, value));
        }
        Ok(())
    }

    /// The name of a child: in a path, and as metadata; `None` if it is left out.
    fn named(&mut self, child: &super::plain::Child) -> Result<Option<(String, Value)>> {
        let Some(key) = child.key else {
            let place = to_u64(child.place);
            return Ok(Some((place.to_string(), place.into())));
        };
        let (segment, value) = match self.pickle().item(key) {
            Item::Text(text) => {
                self.calls.limits.check_text(to_u64(text.len()))?;
                (text.to_string(), Value::Text(text.to_string()))
            }
            Item::Int(number) => (number.to_string(), Value::Int((*number).into())),
            Item::Bool(truth) => {
                let text = if *truth { "True" } else { "False" };
                (text.into(), text.into())
            }
            Item::None => ("None".into(), "None".into()),
            Item::Float(number) => (number.to_string(), number.to_string().as_str().into()),
            _ => {
                let name = "of a key that is no text or number".to_owned();
                self.class(name, key, "what it stands for was left out");
                return Ok(None);
            }
        };
        self.spend(key, 0, segment.len())?;
        Ok(Some((segment, value)))
    }

    /// Visits an item: a tensor is added to the bundle, a container becomes an open one, and a
    /// plain value is returned.
    fn enter(&mut self, id: Id, key: Value, segment: Option<String>) -> Result<Option<Value>> {
        let is_segment = segment.is_some();
        self.path.extend(segment);
        let seen = self.look(id);
        let view = match seen {
            Ok(Seen::Container(view)) => view,
            other => {
                let value = self.put(id, other);
                if is_segment {
                    self.path.pop();
                }
                return value;
            }
        };
        if self.frames.iter().any(|frame| frame.id == id) {
            return self.calls.fail(id, "an object that holds itself");
        }
        self.calls
            .limits
            .check_depth(to_u64(self.frames.len()).saturating_add(1))?;
        self.spend(id, view.len().saturating_add(1), 0)?;
        self.check_keys(id, &view)?;
        self.frames.push(Frame {
            id,
            view,
            next: 0,
            key,
            is_segment,
            values: Vec::new(),
            n_tensors: 0,
        });
        Ok(None)
    }

    /// Stores an item that is no container.
    fn put(&mut self, id: Id, seen: Result<Seen<'a>>) -> Result<Option<Value>> {
        match seen {
            Ok(Seen::Value(value)) => Ok(Some(value)),
            Ok(Seen::Tensor(found)) => self.tensor(id, *found).map(|()| None),
            Ok(Seen::Nothing | Seen::Container(_)) => Ok(None),
            // A tensor that cannot be read does not affect the others.
            Err(Error::Unsupported { what, .. }) => {
                let key = Key::tree(self.path.clone());
                let text = format!("{what} is not supported");
                let note = Note::new(NoteKind::Skipped, text).at(self.pickle().at(id));
                self.bundle.note(note.on(&key));
                self.count_tensor();
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn count_tensor(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.n_tensors = frame.n_tensors.saturating_add(1);
        }
    }

    fn tensor(&mut self, id: Id, found: Found<'a>) -> Result<()> {
        let place = self.bundle.entries().len();
        self.calls
            .limits
            .check_tensors(to_u64(place).saturating_add(1))?;
        let len = self
            .path
            .iter()
            .map(String::len)
            .fold(0, usize::saturating_add);
        self.spend(id, TENSOR, len)?;
        let key = Key::tree(self.path.clone());
        if let Some(class) = found.class {
            self.class(class, id, "its tensor is kept as a plain one");
        }
        if found.n_added > 0 {
            let text = format!(
                "not coalesced: values that share a cell are added up: {}",
                found.n_added
            );
            self.bundle.note(Note::new(NoteKind::Summed, text).on(&key));
        }
        let uses = found.uses.into_iter();
        self.uses.extend(uses.map(|(storage, range)| Use {
            storage,
            range,
            place,
        }));
        self.bundle.add(key, found.tensor, self.calls.limits)?;
        self.count_tensor();
        Ok(())
    }

    /// Checks that no key of a dict is duplicate, or has the same text as another.
    fn check_keys(&mut self, id: Id, view: &View) -> Result<()> {
        let pickle = self.pickle();
        let mut seen = HashSet::new();
        for place in 0..view.len() {
            let key = view.child(pickle, place).and_then(|child| child.key);
            let is_new = match key.map(|key| pickle.item(key)) {
                Some(Item::Text(text)) => seen.insert(std::borrow::Cow::Borrowed(&**text)),
                Some(Item::Int(number)) => seen.insert(number.to_string().into()),
                _ => true,
            };
            if !is_new {
                return self
                    .calls
                    .fail(key.unwrap_or(id), "a key that stands twice in a dict");
            }
        }
        Ok(())
    }

    /// Ends a container: its metadata becomes a value in its parent.
    fn leave(&mut self) -> Result<()> {
        let Some(mut frame) = self.frames.pop() else {
            return Ok(());
        };
        if frame.is_segment {
            self.path.pop();
        }
        if matches!(frame.view, View::Module(_)) {
            // Other values of a module concern how it runs.
            frame.values.clear();
            frame.n_tensors = frame.n_tensors.max(1);
        }
        let Some(above) = self.frames.last_mut() else {
            self.bundle.meta = file_meta(frame.values)?;
            return Ok(());
        };
        // The paths of its tensors say everything about a container of tensors alone.
        if frame.values.is_empty() && frame.n_tensors > 0 {
            above.n_tensors = above.n_tensors.saturating_add(1);
            return Ok(());
        }
        let value = match (frame.view.is_list(), frame.n_tensors) {
            (false, _) => Value::Map(frame.values),
            (true, 0) => Value::List(frame.values.into_iter().map(|(_, value)| value).collect()),
            // The rest of a list keeps its indices.
            (true, _) => Value::Map(by_place(frame.values)),
        };
        above.values.push((frame.key, value));
        Ok(())
    }
}

/// Values with their indices as text.
fn by_place(values: Vec<(Value, Value)>) -> Vec<(Value, Value)> {
    let text = |key: Value| match key {
        Value::Int(place) => Value::Text(place.to_string()),
        other => other,
    };
    { values.into_iter() }
        .map(|(key, value)| (text(key), value))
        .collect()
}

/// The metadata of a file: the values besides tensors in the outermost container.
fn file_meta(values: Vec<(Value, Value)>) -> Result<Meta> {
    let named = values.into_iter().filter_map(|(key, value)| match key {
        Value::Text(name) => Some((name, value)),
        Value::Int(number) => Some((number.to_string(), value)),
        _ => None,
    });
    let named: Vec<(String, Value)> = named.collect();
    let mut seen = HashSet::new();
    match named.iter().find(|(name, _)| !seen.insert(name.as_str())) {
        None => Ok(Meta::of_unique(named)),
        Some((name, _)) => {
            let why = format!("the key {name:?} stands twice in a dict");
            Err(Error::malformed(None, why).of(NAME))
        }
    }
}
