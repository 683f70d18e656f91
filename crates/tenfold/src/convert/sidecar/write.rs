//! Writes the sidecar: one JSON text with what a target has no field for, which
//! [`restore`](crate::convert::restore) reads.
//!
//! `docs/carried.md` describes the JSON.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};

use crate::bundle::Bundle;
use crate::error::Result;
use crate::format::{Capabilities, Info, SidecarSlot};
use crate::key::Key;
use crate::memory;
use crate::meta::Meta;
use crate::tensor::{Symmetry, Tensor};

/// The metadata name of the text.
pub(crate) const NAME: &str = "tenfold";
/// The version of the text.
pub(crate) const VERSION: u64 = 1;
/// Hints of a feed that are metadata in other formats: the names of its documents and their field,
/// and its operation.
pub(crate) const NAMES_OF_FEED: [&str; 4] = [
    "vespa-feed:namespace",
    "vespa-feed:schema",
    "vespa-feed:field",
    "vespa-feed:operation",
];
/// The default separator of path segments in names.
pub(crate) const SEPARATOR: char = '/';
/// Longest text: what a reader accepts with its default limits.
pub(crate) const MOST: usize = 1 << 20;
/// Longest comment.
const MOST_IN_COMMENT: usize = 65_535;
/// Deepest nesting that is carried; parsers stop at 128.
const DEEPEST: usize = 100;

/// Length of the text without its content: version, list of tensors.
const FILE_FRAME: usize = 50;

/// Hints by which a file with carried metadata is rewritten to the same bytes.
pub(crate) mod hint {
    /// The name of an unnamed tensor in a file that needs one.
    pub(in crate::convert) const NAME: &str = "tenfold:name";
    /// The separator of path segments.
    pub(in crate::convert) const SEPARATOR: &str = "tenfold:separator";
}

/// Collects the carried metadata of a file.
pub(crate) struct SidecarWriter {
    carries: SidecarSlot,
    file: Map<String, Json>,
    /// The fields of each tensor, in order.
    tensors: Vec<Map<String, Json>>,
    /// Bytes left in the current text.
    room: usize,
    /// Length of the current tensor's object without its content and its name.
    frame: usize,
    /// Its name in the target; `None` once its length is counted.
    name: Option<String>,
}

impl SidecarWriter {
    pub(crate) fn new(holds: &Capabilities, is_off: bool, n_tensors: usize) -> SidecarWriter {
        let carries = match holds.carries {
            _ if is_off => SidecarSlot::No,
            SidecarSlot::Tensor if n_tensors == 0 => SidecarSlot::No,
            carries => carries,
        };
        SidecarWriter {
            carries,
            file: Map::new(),
            tensors: Vec::new(),
            room: match carries {
                SidecarSlot::Comment => MOST_IN_COMMENT,
                SidecarSlot::No | SidecarSlot::Tensor | SidecarSlot::File => MOST,
            },
            frame: 0,
            name: None,
        }
    }

    /// Starts the next tensor, whose key in the target is `key`.
    pub(crate) fn next(&mut self, key: &Key, ndim: usize) -> Result<()> {
        // A size has 20 digits at most; the version and the field names are short.
        self.frame = ndim.saturating_mul(21).saturating_add(100);
        let name = self.name.get_or_insert_default();
        name.clear();
        name.push_str(key.flat_name().unwrap_or_default());
        if self.carries == SidecarSlot::Tensor && !self.tensors.is_empty() {
            self.room = MOST;
        }
        memory::push(&mut self.tensors, Map::new())
    }

    /// Whether the target has a place for carried metadata.
    pub(crate) fn is_on(&self) -> bool {
        self.carries != SidecarSlot::No
    }

    /// Carries a field of the current tensor; false if that is not possible.
    pub(crate) fn add(&mut self, name: &str, value: Json) -> bool {
        let own = { self.name.as_ref() }.map_or(0, |name| json!(name).to_string().len());
        let is_added = self.takes(name, &value, self.frame.saturating_add(own));
        if is_added && let Some(fields) = self.tensors.last_mut() {
            // The object is counted once.
            (self.frame, self.name) = (0, None);
            fields.insert(name.into(), value);
        }
        is_added
    }

    /// Carries a field of the file; false if that is not possible.
    pub(crate) fn add_file(&mut self, name: &str, value: Json) -> bool {
        let is_added = self.takes(name, &value, FILE_FRAME);
        if is_added {
            self.file.insert(name.into(), value);
        }
        is_added
    }

    fn takes(&mut self, name: &str, value: &Json, frame: usize) -> bool {
        if self.carries == SidecarSlot::No || depth(value) > DEEPEST {
            return false;
        }
        let len = value
            .to_string()
            .len()
            .saturating_add(name.len())
            .saturating_add(frame)
            .saturating_add(8);
        let Some(room) = self.room.checked_sub(len) else {
            return false;
        };
        self.room = room;
        true
    }

    /// Stores the text where the target keeps it.
    pub(crate) fn finish(self, bundle: &mut Bundle) {
        let SidecarWriter {
            carries,
            mut file,
            tensors,
            ..
        } = self;
        let mut all = Vec::new();
        for ((key, tensor), fields) in bundle.entries_mut().zip(tensors) {
            let fields = match carries {
                SidecarSlot::Tensor => std::mem::take(&mut file)
                    .into_iter()
                    .chain(fields)
                    .collect(),
                SidecarSlot::No | SidecarSlot::File | SidecarSlot::Comment => fields,
            };
            if fields.is_empty() {
                continue;
            }
            let mut object = frame(key, tensor);
            object.extend(fields);
            match carries {
                SidecarSlot::Tensor => set(&mut tensor.meta, versioned(object)),
                SidecarSlot::No | SidecarSlot::File | SidecarSlot::Comment => {
                    all.push(Json::Object(object));
                }
            }
        }
        if !all.is_empty() {
            file.insert("tensors".into(), all.into());
        }
        if !file.is_empty() {
            set(&mut bundle.meta, versioned(file));
        }
    }
}

fn set(meta: &mut Meta, object: Map<String, Json>) {
    meta.set(NAME, Json::Object(object).to_string().as_str());
}

fn versioned(fields: Map<String, Json>) -> Map<String, Json> {
    let version = ("version".to_owned(), json!(VERSION));
    std::iter::once(version).chain(fields).collect()
}

/// Fields by which a reader verifies that the tensor is still the one that was written.
fn frame(key: &Key, tensor: &Tensor) -> Map<String, Json> {
    let sizes: Vec<Option<u64>> = tensor.dims().iter().map(|dim| dim.indexed_size()).collect();
    let fields = [("name", json!(key.flat_name())), ("shape", json!(sizes))];
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// The nesting depth of a value.
fn depth(value: &Json) -> usize {
    let inner = match value {
        Json::Array(items) => items.iter().map(depth).max(),
        Json::Object(fields) => fields.values().map(depth).max(),
        _ => return 0,
    };
    inner.unwrap_or(0).saturating_add(1)
}

/// A key as JSON: the path and the statistic.
pub(crate) fn key_json(key: &Key) -> Json {
    json!({ "path": key.path(), "state": key.state })
}

pub(crate) fn symmetries_json<'a>(symmetries: impl Iterator<Item = &'a Symmetry>) -> Json {
    let one = |symmetry: &Symmetry| {
        json!({
            "permutation": symmetry.permutation,
            "operation": symmetry.operation,
            "packed": symmetry.packed,
        })
    };
    symmetries.map(one).collect()
}

/// The bundle with names that its format keeps as hints turned into metadata, for another format.
pub(crate) fn with_names<'a>(bundle: &'a Bundle, info: &Info) -> Cow<'a, Bundle> {
    let is_own = |name: &str| name.split(':').next() == Some(info.name);
    let names = NAMES_OF_FEED.into_iter().filter(|name| !is_own(name));
    let tensors = || bundle.entries().iter();
    let of_tensors = |name| tensors().find_map(|(_, tensor)| tensor.hints.text(name));
    let text = |name| bundle.hints.text(name).or_else(|| of_tensors(name));
    let names = names.filter_map(|name| Some((name, text(name)?)));
    let names: Vec<(&str, &str)> = names.collect();
    if names.is_empty() {
        return Cow::Borrowed(bundle);
    }
    let mut named = bundle.clone();
    for (name, text) in names {
        named.meta.set(name, text);
    }
    Cow::Owned(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::sidecar::read::restore;
    use crate::dtype::Numbers;
    use crate::format::{Format, Info, WriteOptions};
    use crate::formats::ztensor::ZTensor;
    use crate::limits::Limits;
    use crate::tensor::{Dim, Order, Storage};

    /// zTensor, as if it kept metadata with the file and not with tensors.
    struct Whole(Info);

    impl Format for Whole {
        fn info(&self) -> &'static Info {
            static INFO: std::sync::OnceLock<Info> = std::sync::OnceLock::new();
            INFO.get_or_init(|| whole().0)
        }

        fn read(
            &self,
            source: &crate::io::Source,
            how: &crate::format::ReadOptions,
        ) -> crate::error::Result<Bundle> {
            ZTensor.read(source, how)
        }

        fn write(
            &self,
            bundle: &Bundle,
            out: &mut crate::io::Sink,
            how: &WriteOptions,
        ) -> crate::error::Result<()> {
            ZTensor.write(bundle, out, how)
        }
    }

    fn whole() -> Whole {
        let own = ZTensor.info();
        let meta = crate::format::MetaSupport {
            file: true,
            tensor: false,
        };
        Whole(Info {
            holds: Capabilities {
                carries: SidecarSlot::File,
                meta,
                ..own.holds
            },
            ..*own
        })
    }

    fn tensor(name: &str) -> Tensor {
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(&[1_i8, 2]),
        };
        let dims = vec![Dim::indexed(2).named(name)];
        Tensor::new(dims, "i8".parse().unwrap(), vec![], storage).unwrap()
    }

    #[test]
    fn a_file_can_have_one_text_for_all_its_tensors() {
        let mut bundle = Bundle::new();
        bundle.meta.set("tenfold", "somebody's own");
        bundle.push(Key::tree(vec!["enc".into(), "w".into()]), tensor("x"));
        bundle.push(Key::flat("b"), tensor("a"));
        let mut third = tensor("y");
        third.meta.set("n", 7_u64);
        bundle.push(Key::flat("c"), third);

        let how = WriteOptions::default();
        let (lowered, changes) = crate::convert::fit::lower(&bundle, &whole(), &how).unwrap();
        assert!(
            changes
                .iter()
                .all(|loss| loss.tier == crate::loss::Tier::Carried)
        );
        let text = lowered.meta.text(NAME).unwrap();
        let expected = r#"{"version":1,"file":[["tenfold","somebody's own"]],"tensors":[{"name":"enc/w","shape":[2],"dims":["x"],"key":{"path":["enc","w"],"state":null}},{"name":"c","shape":[2],"dims":["y"],"metadata":[["n",7]]}]}"#;
        assert_eq!(text, expected);
        let restored = restore(lowered, whole().info(), &Limits::default());
        assert_eq!(restored.meta, bundle.meta);
        assert!(restored.notes().is_empty());
        for ((key, tensor), (found_key, found)) in bundle.entries().iter().zip(restored.entries()) {
            assert_eq!((key, &tensor.meta), (found_key, &found.meta));
        }
        assert_eq!(restored.entries()[2].1.dims()[0].name.as_deref(), Some("y"));
    }

    #[test]
    fn trains_of_a_file_with_one_text_are_joined_too() {
        let storage = Storage::Train {
            ranks: vec![1, 2, 1],
            cores: vec![
                Numbers::from_vec(&[1.0_f64; 4]),
                Numbers::from_vec(&[2.0_f64; 6]),
            ],
        };
        let dims = vec![Dim::indexed(2), Dim::indexed(3)];
        let train = Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap();
        let mut bundle = Bundle::new();
        bundle.push(Key::flat("a"), tensor("x"));
        bundle.push(Key::root(), train);
        let how = WriteOptions::default();
        let (lowered, _) = crate::convert::fit::lower(&bundle, &whole(), &how).unwrap();
        assert_eq!(lowered.entries().len(), 3);
        let restored = restore(lowered.clone(), whole().info(), &Limits::default());
        assert!(restored.notes().is_empty(), "{:?}", restored.notes());
        let kinds = restored.entries().iter();
        let kinds = kinds.map(|(key, tensor)| (key.to_string(), tensor.storage().as_str()));
        let expected = [("a".into(), "dense"), (String::new(), "train")];
        assert_eq!(kinds.collect::<Vec<_>>(), expected);

        // A core whose text has other fields is no part of a train.
        let text = lowered.meta.text(NAME).unwrap();
        let more = text.replace("]}]}", r#"]},{"name":"tensor.core.1","shape":[2,3,1]}]}"#);
        let more = if more == text {
            text.replace("}}]}", r#"}},{"name":"tensor.core.1","shape":[2,3,1]}]}"#)
        } else {
            more
        };
        assert_ne!(more, text);
        let mut spoiled = lowered.clone();
        spoiled.meta.set(NAME, more.as_str());
        let restored = restore(spoiled, whole().info(), &Limits::default());
        assert_eq!(restored.entries().len(), 3);
        assert_eq!(restored.notes().len(), 1);
    }

    #[test]
    fn what_has_no_room_is_not_carried() {
        let mut carrier = SidecarWriter::new(&ZTensor.info().holds, false, 2);
        carrier.next(&Key::flat("a"), 1).unwrap();
        assert!(!carrier.add("dims", json!("x".repeat(MOST))));
        assert!(carrier.add("dims", json!("x".repeat(MOST / 2))));
        assert!(!carrier.add("symmetries", json!("x".repeat(MOST / 2))));
        carrier.next(&Key::flat("b"), 1).unwrap();
        assert!(carrier.add("symmetries", json!("x".repeat(MOST / 2))));
        let deep = (0..=DEEPEST).fold(json!(0), |inner, _| json!([inner]));
        assert!(!carrier.add("dims", deep));
    }
}
