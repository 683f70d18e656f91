//! The index of a file as parsed from CBOR, before its meaning is checked.
#![deny(clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::collections::HashSet;

use crate::bytes::to_u64;
use crate::error::Result;
use crate::limits::Limits;
use crate::memory;
use crate::meta::{Meta, Value};
use crate::wire::cbor::Items;

/// The whole index.
#[derive(Default)]
pub(super) struct Manifest {
    pub(super) version: Option<String>,
    pub(super) generator: Option<String>,
    pub(super) attributes: Meta,
    pub(super) objects: Vec<Object>,
}

#[derive(Default)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) at: u64,
    /// For all components without one of their own: generation 1.0.
    pub(super) dtype: Option<String>,
    pub(super) shape: Option<Vec<u64>>,
    pub(super) shape_at: u64,
    pub(super) format: Option<String>,
    pub(super) components: Vec<Component>,
    pub(super) attributes: Meta,
}

impl Object {
    /// The beginning and the end of its bytes: of two with the same beginning, the first is empty.
    pub(super) fn place(&self) -> Option<(u64, u64)> {
        let components = self.components.iter();
        components
            .filter_map(|component| {
                let start = component.offset?;
                Some((start, start.saturating_add(component.len?)))
            })
            .reduce(|(start, end), (first, last)| (start.min(first), end.max(last)))
    }
}

#[derive(Default)]
pub(super) struct Component {
    pub(super) role: String,
    pub(super) at: u64,
    pub(super) dtype: Option<String>,
    pub(super) type_name: Option<String>,
    pub(super) offset: Option<u64>,
    pub(super) offset_at: u64,
    pub(super) len: Option<u64>,
    pub(super) decoded_len: Option<u64>,
    pub(super) encoding: Option<String>,
    pub(super) digest: Option<(String, u64)>,
}

impl Component {
    /// Its fields besides place and checksum, with `dtype` if it has no type of its own.
    pub(super) fn fields(&self, dtype: Option<&str>) -> Vec<(Value, Value)> {
        let text = |name: &str, text: Option<&str>| Some((name.into(), text?.into()));
        let decoded = self.decoded_len.map(|len| (DECODED.into(), len.into()));
        [
            text("dtype", self.dtype.as_deref().or(dtype)),
            text("type", self.type_name.as_deref()),
            text("encoding", self.encoding.as_deref()),
            decoded,
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The field with the decoded length of a component.
pub(super) const DECODED: &str = "uncompressed_length";

/// Reads an index: a map with the key `objects`, or `tensors` in generation 1.0.
pub(super) struct Reader<'a> {
    pub(super) items: Items<'a>,
    pub(super) limits: &'a Limits,
}

impl Reader<'_> {
    /// Reads a map: `each` reads the value of every key, which must be unique.
    fn pairs(
        &mut self,
        what: &str,
        each: &mut dyn FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        let mut seen = HashSet::new();
        let mut left = self.items.map(what)?;
        while self.items.more(&mut left)? {
            let key_at = self.items.at();
            let key = self.items.word("a key that is text")?;
            self.limits.charge_items::<Cow<str>>(1)?;
            each(self, &key)?;
            if let Some(key) = seen.replace(key) {
                let why = format!("the key {key:?} stands twice");
                return self.items.fail_at(key_at, why);
            }
        }
        Ok(())
    }

    pub(super) fn manifest(&mut self) -> Result<Manifest> {
        let at = self.items.at();
        let mut manifest = Manifest::default();
        let mut objects = None;
        self.pairs("an index that is a map", &mut |reader, key| {
            match key {
                "version" => manifest.version = reader.optional("a version that is text")?,
                "generator" => manifest.generator = reader.optional("a generator that is text")?,
                "attributes" => manifest.attributes = reader.attributes()?,
                "objects" | "tensors" => objects = Some(reader.objects()?),
                _ => drop(reader.items.value()?),
            }
            Ok(())
        })?;
        if !self.items.is_done() {
            let at = self.items.at();
            return self.items.fail_at(at, "bytes left over after the index");
        }
        match objects {
            Some(objects) => manifest.objects = objects,
            None => return self.items.fail_at(at, "the index has no objects"),
        }
        Ok(manifest)
    }

    /// Text, or null for none.
    fn optional(&mut self, what: &str) -> Result<Option<String>> {
        Ok(if self.items.null()? {
            None
        } else {
            let text = self.items.text(what)?;
            self.limits.charge_text(text.len())?;
            Some(text)
        })
    }

    /// A number, or null for none.
    fn optional_number(&mut self, what: &str) -> Result<Option<u64>> {
        Ok(if self.items.null()? {
            None
        } else {
            Some(self.items.u64(what)?)
        })
    }

    fn attributes(&mut self) -> Result<Meta> {
        if self.items.null()? {
            return Ok(Meta::new());
        }
        let mut pairs: Vec<(String, Value)> = Vec::new();
        self.pairs("attributes that are a map", &mut |reader, key| {
            reader.limits.charge_items::<(String, Value)>(1)?;
            reader.limits.charge_text(key.len())?;
            memory::push(&mut pairs, (key.to_owned(), reader.items.value()?))
        })?;
        Ok(Meta::of_unique(pairs))
    }

    /// The objects, in file order; names may be duplicate.
    fn objects(&mut self) -> Result<Vec<Object>> {
        let mut objects = Vec::new();
        let mut left = self.items.map("a map of objects")?;
        while self.items.more(&mut left)? {
            let at = self.items.at();
            let name = self.items.text("a name that is text")?;
            self.limits.charge_items::<Object>(1)?;
            self.limits.charge_text(name.len())?;
            let object = self.object(name, at)?;
            memory::push(&mut objects, object)?;
            self.limits.check_tensors(to_u64(objects.len()))?;
        }
        Ok(objects)
    }

    fn object(&mut self, name: String, at: u64) -> Result<Object> {
        let mut object = Object {
            name,
            at,
            shape_at: at,
            ..Object::default()
        };
        self.pairs("the map of an object", &mut |reader, key| {
            let value_at = reader.items.at();
            match key {
                "dtype" => object.dtype = reader.optional("a dtype that is text")?,
                "shape" => {
                    object.shape = Some(reader.shape()?);
                    object.shape_at = value_at;
                }
                "format" => object.format = reader.optional("a format that is text")?,
                "components" => object.components = reader.components()?,
                "attributes" => object.attributes = reader.attributes()?,
                _ => drop(reader.items.value()?),
            }
            Ok(())
        })?;
        Ok(object)
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        let mut left = self.items.array("a shape that is an array")?;
        let mut sizes = Vec::new();
        while self.items.more(&mut left)? {
            sizes.push(self.items.u64("a size of a dimension")?);
            self.limits.charge_items::<u64>(1)?;
            self.limits.check_ndim(to_u64(sizes.len()))?;
        }
        Ok(sizes)
    }

    fn components(&mut self) -> Result<Vec<Component>> {
        let mut components = Vec::new();
        self.pairs("a map of components", &mut |reader, role| {
            reader.limits.charge_items::<Component>(1)?;
            reader.limits.charge_text(role.len())?;
            let component = reader.component(role)?;
            memory::push(&mut components, component)
        })?;
        Ok(components)
    }

    fn component(&mut self, role: &str) -> Result<Component> {
        let at = self.items.at();
        let mut component = Component {
            role: role.to_owned(),
            at,
            offset_at: at,
            ..Component::default()
        };
        self.pairs("the map of a component", &mut |reader, key| {
            let value_at = reader.items.at();
            match key {
                "dtype" => component.dtype = reader.optional("a dtype that is text")?,
                "type" => component.type_name = reader.optional("a type that is text")?,
                "offset" => {
                    component.offset = Some(reader.items.u64("an offset")?);
                    component.offset_at = value_at;
                }
                "length" => component.len = Some(reader.items.u64("a length")?),
                DECODED => {
                    component.decoded_len = reader.optional_number("an uncompressed length")?;
                }
                "encoding" => component.encoding = reader.optional("an encoding that is text")?,
                "digest" => {
                    let digest = reader.optional("a digest that is text")?;
                    component.digest = digest.map(|digest| (digest, value_at));
                }
                _ => drop(reader.items.value()?),
            }
            Ok(())
        })?;
        Ok(component)
    }
}
