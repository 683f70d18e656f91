//! Reads a yaml, and finds the files next to it.
#![deny(clippy::arithmetic_side_effects)]

use super::blocks::Blocks;
use super::describe::{Described, check_version, is_old};
use super::elements::Found;
use super::{ELEMENTS, NAME, blocks, elements, meta};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, to_u64};
use crate::dtype::{Number, Numbers};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::io::Source;
use crate::key::Key;
use crate::meta::Value;
use crate::tensor::{Address, Order, Storage, Tensor};
use crate::wire::text::with_line;
use crate::wire::yaml;
use crate::wire::yaml::Node;

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut reader = Reader {
        how,
        bundle: Bundle::new(),
        found: Vec::new(),
        meta: Vec::new(),
    };
    with_line(source, reader.describe(source))?;
    for (key, described) in std::mem::take(&mut reader.found) {
        let tensor = tensor(source, described, &key, &mut reader)?;
        reader.bundle.add(key, tensor, &how.limits)?;
    }
    reader.bundle.meta = reader.meta.into_iter().collect();
    Ok(reader.bundle)
}

struct Reader<'a> {
    how: &'a ReadOptions,
    bundle: Bundle,
    found: Vec<(Key, Described)>,
    /// The metadata besides the tensors.
    meta: Vec<(String, Value)>,
}

impl Reader<'_> {
    fn describe(&mut self, source: &Source) -> Result<()> {
        let text = yaml::text(source, NAME, &self.how.limits)?;
        let node = yaml::parse(&text, &self.how.limits)?;
        if is_old(&node) {
            let described = Described::read_old(&node, self.how)?;
            self.bundle.hints.set(meta::VERSION, "v1.0");
            return self.add(Vec::new(), described);
        }
        if !has_tensor(&node) {
            let why = match node.get("dimensionType").and_then(Node::text) {
                Some(kind) => {
                    format!("it describes the dimensions of type {kind:?}, and no tensor")
                }
                None => "there is no tensor in it: nothing is of type Tensor or TensorSet".into(),
            };
            return Err(Error::malformed(node.at, why));
        }
        self.walk(&node, &mut Vec::new(), &mut Vec::new())
    }

    fn add(&mut self, path: Vec<String>, described: Described) -> Result<()> {
        let count = to_u64(self.found.len()).saturating_add(1);
        self.how.limits.check_tensors(count)?;
        self.found.push((Key::tree(path), described));
        Ok(())
    }

    /// Finds the tensors in a map: `key` is its path, `file` the stem of its files' names.
    fn walk(&mut self, node: &Node, key: &mut Vec<String>, file: &mut Vec<String>) -> Result<()> {
        match kind(node) {
            Some("Tensor") => {
                let names = file.iter().map(String::as_str).chain([ELEMENTS]);
                let ending = names.collect::<Vec<_>>().join(".");
                let described = Described::read(node, ending, self.how)?;
                self.add(key.clone(), described)
            }
            Some("TensorSet") => {
                if node.get("version").is_some() {
                    check_version(node)?;
                }
                let all = node.need("components")?;
                let pairs = all
                    .pairs()
                    .ok_or_else(|| all.wrong("is no map of tensors"))?;
                file.push("components".into());
                for (name, component) in pairs {
                    if !has_tensor(component) {
                        return Err(component.wrong("is no tensor"));
                    }
                    self.enter(name, component, key, file)?;
                }
                file.pop();
                Ok(())
            }
            _ => {
                for (name, part) in node.pairs().unwrap_or_default() {
                    if has_tensor(part) {
                        self.enter(name, part, key, file)?;
                    } else {
                        let own = name.text().unwrap_or_default();
                        let names = key.iter().map(String::as_str).chain([own]);
                        let name = names.collect::<Vec<_>>().join("/");
                        self.meta.push((name, part.value()));
                    }
                }
                Ok(())
            }
        }
    }

    fn enter(
        &mut self,
        name: &Node,
        part: &Node,
        key: &mut Vec<String>,
        file: &mut Vec<String>,
    ) -> Result<()> {
        let text = name.text().unwrap_or_default();
        self.how.limits.check_text(to_u64(text.len()))?;
        if text.contains(['/', '\\', '\0']) {
            return Err(name.wrong("cannot be a part of the name of a file"));
        }
        key.push(text.into());
        file.push(text.into());
        self.walk(part, key, file)?;
        key.pop();
        file.pop();
        Ok(())
    }
}

/// The type of a map, if it is a word.
fn kind<'a>(node: &'a Node) -> Option<&'a str> {
    node.get("type").and_then(Node::text)
}

/// Whether a map has a tensor or a set of them; malformed tensors count as well, to report their
/// faults.
fn has_tensor(node: &Node) -> bool {
    let is_one = matches!(kind(node), Some("Tensor" | "TensorSet"));
    let parts = || node.pairs().unwrap_or_default().iter();
    is_one || parts().any(|(_, part)| has_tensor(part))
}

/// Constructs a tensor from its description and the files next to the yaml.
fn tensor(source: &Source, described: Described, key: &Key, reader: &mut Reader) -> Result<Tensor> {
    let limits = &reader.how.limits;
    let mut notes = Vec::new();
    let (storage, types) = match &described.condition {
        None => {
            let found = elements::find(source, &described, described.len)?;
            let values = found.values(described.len, &described, limits, &mut notes)?;
            let order = Order::Column;
            (Storage::Dense { order, values }, None)
        }
        Some((condition, at)) => {
            let types = blocks::read_types(source, condition, &described.dims, limits)
                .map_err(|error| error.or_at(Some(*at)))?;
            let found = elements::find(source, &described, 0)?;
            if let Found::Missing(absent) = found {
                return Err(absent.error());
            }
            let most = found.most_elements(&described);
            let blocks = Blocks::read(condition, &types, &described.dims, most, limits)
                .map_err(|error| error.or_at(Some(*at)))?;
            let width = to_u64(described.dtype.width());
            let len = blocks.cells().saturating_mul(width);
            let values = found.values(len, &described, limits, &mut notes)?;
            let places = Numbers {
                number: Number::U64,
                endian: Endian::Little,
                bytes: Bytes::whole(Source::computed(blocks)),
            };
            let address = Address::Linear(places);
            let order = Order::Column;
            let storage = Storage::Sparse {
                order,
                address,
                values,
            };
            (storage, Some(types))
        }
    };
    let Described {
        dims, dtype, meta, ..
    } = described;
    let mut tensor = Tensor::within(dims, dtype, vec![], storage, limits)?;
    tensor.meta = meta;
    tensor.hints = described.hints;
    if let (Some((condition, _)), Some(types)) = (described.condition, types) {
        tensor.meta.set(meta::CONDITION, condition);
        tensor.meta.set(meta::TYPES, types);
    }
    for note in described.notes.into_iter().chain(notes) {
        reader.bundle.note(note.on(key));
    }
    Ok(tensor)
}
