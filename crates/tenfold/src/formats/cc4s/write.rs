//! Writes files of elements, and then the yaml that describes them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::blocks::Stored;
use super::describe::is_one;
use super::{BINARY, ELEMENTS, TEXT, VERSION, blocks, meta};
use crate::bundle::Bundle;
use crate::bytes::{Endian, PIECE, TEXT_LEN, to_u64};
use crate::dtype::{Arity, Element, Numbers};
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::{Sibling, Sink};
use crate::key::Key;
use crate::loss::{Aspect, Loss};
use crate::meta::Value;
use crate::tensor::{Order, Storage, Tensor};
use crate::wire::text::write_float;
use crate::wire::yaml::write_pair;

/// Most segments of a path, so that maps are not nested too deeply for any reader.
const DEEP: usize = 24;

/// The storage of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Binary,
    Text,
}

const KEPT: &[(&str, Kept)] = &[("binary", Kept::Binary), ("text", Kept::Text)];

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let asked = how.options.choose("elements", KEPT)?;
    let mut text = String::new();
    let mut types = BTreeMap::new();
    let mut files = Vec::new();
    let tree = Tree::of(bundle);
    let mut visit = |tensor: &Tensor, ending: String, indent, text: &mut String| {
        let kept = asked.unwrap_or_else(|| kept_before(tensor));
        let is_sparse = matches!(tensor.storage(), Storage::Sparse { .. });
        describe(tensor, kept, is_sparse, indent, text);
        if let (true, Some(Value::Map(about))) = (is_sparse, tensor.meta.get(meta::TYPES)) {
            types.extend(about.iter().map(|(name, about)| {
                (name.as_text().unwrap_or_default().to_owned(), about.clone())
            }));
        }
        files.push((ending, tensor.clone(), kept));
    };
    tree.write(0, &mut Vec::new(), &mut text, &mut visit);
    for (ending, tensor, kept) in files {
        out.beside(Sibling::Ending(&ending), |out| {
            elements(&tensor, kept, out, how)
        })?;
    }
    for (name, about) in types {
        let mut text = String::new();
        for (key, value) in about.as_map().unwrap_or_default() {
            write_pair(key.as_text().unwrap_or_default(), value, 0, &mut text);
        }
        let file = format!("{name}.yaml");
        out.beside(Sibling::Called(&file), |out| out.write(text.as_bytes()))?;
    }
    out.write(text.as_bytes())
}

/// The storage in the file that a tensor was read from.
fn kept_before(tensor: &Tensor) -> Kept {
    match tensor.hints.text(meta::ELEMENTS) {
        Some("text") => Kept::Text,
        _ => Kept::Binary,
    }
}

/// The tensors of a bundle by the segments of their names, in their order.
enum Tree<'a> {
    Tensor(&'a Tensor),
    Inner(Parts<'a>),
}

/// Parts by name, in order of appearance, with the index of each.
#[derive(Default)]
struct Parts<'a> {
    all: Vec<(&'a str, Tree<'a>)>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Tree<'a> {
    fn of(bundle: &'a Bundle) -> Tree<'a> {
        let mut tree = Tree::Inner(Parts::default());
        for (key, tensor) in bundle.entries() {
            tree.add(key.path(), tensor);
        }
        tree
    }

    /// Conflicting names have been refused before.
    fn add(&mut self, path: &'a [String], tensor: &'a Tensor) {
        let Some((name, rest)) = path.split_first() else {
            *self = Tree::Tensor(tensor);
            return;
        };
        let Tree::Inner(parts) = self else { return };
        let place = parts.places.get(name.as_str()).copied();
        match place.and_then(|place| parts.all.get_mut(place)) {
            Some((_, part)) => part.add(rest, tensor),
            None => {
                let mut part = Tree::Inner(Parts::default());
                part.add(rest, tensor);
                parts.places.insert(name, parts.all.len());
                parts.all.push((name, part));
            }
        }
    }

    /// Whether all its members are tensors.
    fn is_set(&self) -> bool {
        match self {
            Tree::Tensor(_) => false,
            Tree::Inner(parts) => parts
                .all
                .iter()
                .all(|(_, part)| matches!(part, Tree::Tensor(_))),
        }
    }

    fn write(
        &self,
        indent: usize,
        file: &mut Vec<String>,
        text: &mut String,
        visit: &mut dyn FnMut(&Tensor, String, usize, &mut String),
    ) {
        let parts = match self {
            Tree::Tensor(tensor) => return visit(tensor, ending(file), indent, text),
            Tree::Inner(parts) => &parts.all,
        };
        let mut inner = indent;
        if self.is_set() {
            write_pair("version", &VERSION.into(), indent, text);
            write_pair("type", &"TensorSet".into(), indent, text);
            if parts.is_empty() {
                return write_pair("components", &Value::Map(vec![]), indent, text);
            }
            open("components", indent, text);
            file.push("components".into());
            inner = indent.saturating_add(1);
        }
        for (name, part) in parts {
            open(name, inner, text);
            file.push((*name).to_owned());
            part.write(inner.saturating_add(1), file, text, visit);
            file.pop();
        }
        if self.is_set() {
            file.pop();
        }
    }
}

/// Appends a key whose value follows on later lines.
fn open(name: &str, indent: usize, text: &mut String) {
    write_pair(name, &Value::Null, indent, text);
    let len = text.len().saturating_sub(" null\n".len());
    text.truncate(len);
    text.push('\n');
}

fn ending(file: &[String]) -> String {
    let names = file.iter().map(String::as_str).chain([ELEMENTS]);
    names.collect::<Vec<_>>().join(".")
}

/// Appends the map of a tensor.
fn describe(tensor: &Tensor, kept: Kept, is_sparse: bool, indent: usize, text: &mut String) {
    let mut pair = |key: &str, value: &Value| write_pair(key, value, indent, text);
    pair("version", &VERSION.into());
    pair("type", &"Tensor".into());
    let scalar = match tensor.dtype().arity {
        Arity::Complex => "Complex64",
        _ => "Real64",
    };
    pair("scalarType", &scalar.into());
    let dims = tensor.dims().iter().map(|dim| {
        let length = dim.indexed_size().unwrap_or(0);
        let mut pairs = vec![("length".into(), length.into())];
        let name = dim.name.as_deref();
        pairs.extend(name.map(|name| ("type".into(), name.into())));
        Value::Map(pairs)
    });
    pair("dimensions", &Value::List(dims.collect()));
    let word = match kept {
        Kept::Binary => BINARY,
        Kept::Text => TEXT,
    };
    pair("elements", &Value::Map(vec![("type".into(), word.into())]));
    let one = Value::Float {
        bits: 1_f64.to_bits(),
        width: 64,
    };
    let unit = tensor.meta.get(meta::UNIT).filter(|unit| is_unit(unit));
    let hint = tensor.hints.get(meta::UNIT).filter(|unit| is_one(unit));
    pair("unit", unit.or(hint).unwrap_or(&one));
    let is_said = |name: &str, value: &Value| match name {
        meta::UNIT => is_unit(value),
        meta::CONDITION | meta::TYPES => is_sparse,
        _ => false,
    };
    let rest = tensor
        .meta
        .iter()
        .filter(|(name, value)| !is_said(name, value));
    let rest: Vec<_> = rest
        .map(|(name, value)| (name.into(), value.clone()))
        .collect();
    if !rest.is_empty() {
        pair("metaData", &Value::Map(rest));
    }
    if let (true, Some(condition)) = (is_sparse, tensor.meta.get(meta::CONDITION)) {
        pair("nonZeroCondition", condition);
    }
}

/// Whether metadata can be written as the unit.
fn is_unit(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Float { .. }) && !is_one(value)
}

/// Writes a file of elements.
fn elements(tensor: &Tensor, kept: Kept, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    match tensor.storage() {
        Storage::Dense { values, .. } => numbers(values, tensor, kept, out),
        Storage::Sparse { values, .. } => match blocks::of_tensor(tensor)? {
            Some((_, Stored::InOrder)) => numbers(values, tensor, kept, out),
            Some((blocks, Stored::Otherwise)) => {
                let dense = tensor.dense(Order::Column, &how.limits)?;
                let dense = dense.spooled(&how.limits)?;
                let width = tensor.dtype().width();
                let mut element = vec![0; width];
                let mut written = Ok(());
                blocks.for_each(&mut |place| {
                    let at = place.saturating_mul(to_u64(width));
                    let read = dense.bytes.read_at(at, &mut element);
                    written = read.and_then(|()| piece(&element, width, kept, out));
                    written.is_ok()
                })?;
                written
            }
            None => Err(Error::invalid("sparse cells that are no blocks")),
        },
        _ => Err(Error::invalid("neither dense nor sparse")),
    }
}

fn numbers(values: &Numbers, tensor: &Tensor, kept: Kept, out: &mut Sink) -> Result<()> {
    let width = tensor.dtype().width();
    match kept {
        Kept::Binary => values.write(out, Endian::Little),
        Kept::Text => values.for_each(Endian::Little, width, PIECE, &mut |bytes| {
            piece(bytes, width, kept, out)
        }),
    }
}

/// Writes some elements.
fn piece(bytes: &[u8], width: usize, kept: Kept, out: &mut Sink) -> Result<()> {
    if kept == Kept::Binary {
        return out.write(bytes);
    }
    let mut text = String::new();
    for element in bytes.chunks_exact(width) {
        match element.split_at_checked(8) {
            Some((real, imaginary)) if !imaginary.is_empty() => {
                text.push('(');
                write_float(f64::from_le(real), &mut text);
                text.push(',');
                write_float(f64::from_le(imaginary), &mut text);
                text.push(')');
            }
            _ => write_float(f64::from_le(element), &mut text),
        }
        text.push('\n');
        if text.len() >= TEXT_LEN {
            out.write(text.as_bytes())?;
            text.clear();
        }
    }
    out.write(text.as_bytes())
}

/// File names that are impossible or shared by two tensors, and types that two tensors define
/// differently.
pub(super) fn odd_names(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut odd = |key: &Key, detail: &str| {
        losses.push(Loss::impossible(key, Aspect::Keys, detail));
    };
    let paths: HashSet<&[String]> = bundle.entries().iter().map(|(key, _)| key.path()).collect();
    let mut files = HashSet::new();
    for (key, _) in bundle.entries() {
        let has = |letters: &[char]| key.path().iter().any(|name| name.contains(letters));
        if has(&['\\', '\0']) {
            odd(
                key,
                "no name of a file, for its characters; --rename changes it",
            );
        } else if has(&['/']) {
            odd(
                key,
                "no name of a file, for its /; --sep / makes a path of it, --rename changes it",
            );
        }
        if key.path().len() > DEEP {
            odd(key, "a path of more segments than readers take");
        }
        let mut before = (0..key.path().len()).filter_map(|len| key.path().get(..len));
        if before.any(|path| paths.contains(path)) {
            odd(key, "the path leads through another tensor");
        }
        if !files.insert(key.path().join(".")) {
            odd(key, "its file would be that of another tensor");
        }
    }
    losses
}
