//! Writes generation 1.2 as its reference program does.

use std::collections::HashSet;

use super::super::checksum::kept;
use super::super::object::{Object, Part as ReadPart};
use super::super::parts::{Content, Part, is_types, misfit, parts};
use super::super::types::stored_as;
use super::super::v0::fits_cbor;
use super::super::{NAME, checksum, hint, refuse_option, zstd_level};
use super::manifest::DECODED;
use super::{ALIGNMENT, DIALECT, INFO, MAGIC};
use crate::bundle::Bundle;
use crate::bytes::{Algorithm, Compressor, to_u64};
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::format::{Options, WriteOptions, elements_of};
use crate::io::Sink;
use crate::limits::Limits;
use crate::loss::{Aspect, Loss};
use crate::meta::{Meta, Value};
use crate::tensor::{Storage, Tensor};
use crate::wire::cbor::Out;

/// The version that files declare.
const VERSION: &str = "1.2.0";

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    refuse_option(&how.options, "align", "2")?;
    refuse_option(&how.options, "endian", "0.1")?;
    out.write(MAGIC)?;
    let mut objects = Vec::new();
    for (key, tensor) in bundle.entries() {
        let name = key.flat_name();
        let name = name.ok_or_else(|| Error::invalid("a tensor without a plain name"))?;
        let plan = Plan::new(tensor, &how.options)?;
        objects.push((name, tensor, plan.write(tensor, out, &how.limits)?));
    }
    objects.sort_by_key(|(name, ..)| *name);
    let mut index = Out::new();
    index.map(if bundle.meta.is_empty() { 2 } else { 3 })?;
    index.text("version")?;
    index.text(VERSION)?;
    attributes(bundle.meta.iter().collect(), &mut index)?;
    index.text("objects")?;
    index.map(objects.len())?;
    for (name, tensor, written) in &objects {
        index.text(name)?;
        write_object(tensor, written, &mut index)?;
    }
    let index = index.finish();
    out.write(&index)?;
    out.write(&to_u64(index.len()).to_le_bytes())?;
    out.write(MAGIC)
}

/// The way the components of an object are written.
struct Plan {
    /// The zstd level, or raw.
    level: Option<i32>,
    digest: Option<Algorithm>,
    keeps_unknown: bool,
}

/// The description of an object in the index.
struct Written<'a> {
    layout: &'a str,
    components: Vec<Component<'a>>,
}

struct Component<'a> {
    part: Part<'a>,
    offset: u64,
    len: u64,
    /// Its decoded length, if it is compressed.
    decoded: Option<u64>,
    digest: Option<String>,
}

impl Plan {
    fn new(tensor: &Tensor, options: &Options) -> Result<Plan> {
        let was = tensor.hints.text(hint::ENCODING) == Some("zstd");
        let level = zstd_level(options, was)?.filter(|_| said(tensor).is_none());
        let algorithms = [
            ("none", None),
            ("crc32c", Some(Algorithm::Crc32c)),
            ("sha256", Some(Algorithm::Sha256)),
        ];
        let asked = options.choose("checksum", &algorithms)?;
        let had = tensor.hints.text(hint::CHECKSUM);
        let known = algorithms.iter().find(|(name, _)| Some(*name) == had);
        Ok(Plan {
            level,
            digest: asked.unwrap_or_else(|| known.and_then(|(_, algorithm)| *algorithm)),
            keeps_unknown: asked.is_none(),
        })
    }

    fn write<'a>(
        &self,
        tensor: &'a Tensor,
        out: &mut Sink,
        limits: &Limits,
    ) -> Result<Written<'a>> {
        let (layout, parts) = parts(tensor, &DIALECT)?;
        let mut components = Vec::new();
        for part in parts {
            components.push(self.component(part, out, limits)?);
        }
        Ok(Written { layout, components })
    }

    fn component<'a>(
        &self,
        part: Part<'a>,
        out: &mut Sink,
        limits: &Limits,
    ) -> Result<Component<'a>> {
        out.pad_to(ALIGNMENT)?;
        let offset = out.at();
        out.start_digest(self.digest);
        let decoded = part.content.len();
        match self.level {
            None => part.content.write(limits, out)?,
            Some(level) => {
                let mut compressor = Compressor::new(decoded, level, limits)?;
                part.content
                    .for_each(limits, &mut |piece| compressor.push(piece, out))?;
                compressor.finish(out)?;
            }
        }
        let computed = out.take_digest();
        let digest = match (self.digest, computed) {
            (Some(algorithm), Some(digest)) => Some(checksum::text(algorithm, &digest)),
            _ => self.unknown_digest(&part).map(str::to_owned),
        };
        Ok(Component {
            part,
            offset,
            len: out.at().saturating_sub(offset),
            decoded: self.level.map(|_| decoded),
            digest,
        })
    }

    fn unknown_digest<'a>(&self, part: &Part<'a>) -> Option<&'a str> {
        match part.content {
            Content::Numbers(numbers) if self.keeps_unknown => {
                kept(numbers, self.level, checksum::BEFORE_2)
            }
            _ => None,
        }
    }
}

/// Writes attributes, if there are any, after their key.
fn attributes(mut pairs: Vec<(&str, &Value)>, out: &mut Out) -> Result<()> {
    if pairs.is_empty() {
        return Ok(());
    }
    pairs.sort_by_key(|(name, _)| *name);
    out.text("attributes")?;
    out.map(pairs.len())?;
    pairs.into_iter().try_for_each(|(name, value)| {
        out.text(name)?;
        out.value(value)
    })
}

/// The original fields of an opaque tensor's components, if some are unknown.
fn said(tensor: &Tensor) -> Option<&Value> {
    let is_opaque = matches!(tensor.storage(), Storage::Opaque { .. });
    tensor.hints.get(hint::COMPONENTS).filter(|_| is_opaque)
}

fn write_object(tensor: &Tensor, written: &Written, out: &mut Out) -> Result<()> {
    let own = tensor.meta.iter();
    let own: Vec<(&str, &Value)> = own.filter(|(name, _)| !is_types(tensor, name)).collect();
    out.map(if own.is_empty() { 3 } else { 4 })?;
    out.text("shape")?;
    let sizes = tensor.sizes()?;
    out.array(sizes.len())?;
    sizes.iter().try_for_each(|size| out.u64(*size))?;
    out.text("format")?;
    let layout = said(tensor).and_then(|_| tensor.hints.text(hint::LAYOUT));
    out.text(layout.unwrap_or(written.layout))?;
    attributes(own, out)?;
    out.text("components")?;
    let mut components: Vec<&Component> = written.components.iter().collect();
    components.sort_by_key(|component| component.part.name);
    out.map(components.len())?;
    for component in components {
        let name = component.part.name;
        out.text(name)?;
        write_component(component, said(tensor).and_then(|said| said.get(name)), out)?;
    }
    Ok(())
}

/// Writes the map of a component; `said` are its original fields, if some are unknown.
fn write_component(component: &Component, said: Option<&Value>, out: &mut Out) -> Result<()> {
    let part = &component.part;
    let text = |name: &'static str, text: &str| (name, Value::from(text));
    let mut fields = Vec::new();
    let said = |name: &str| said.and_then(|said| said.get(name));
    match said("dtype") {
        Some(dtype) => fields.push(("dtype", dtype.clone())),
        None => fields.push(text("dtype", part.number.as_str())),
    }
    if let Some(type_name) = said("type") {
        fields.push(("type", type_name.clone()));
    } else if let Some(type_name) = part.type_name {
        fields.push(text("type", type_name));
    }
    fields.push(("offset", component.offset.into()));
    fields.push(("length", component.len.into()));
    let decoded = component.decoded.map(Value::from);
    fields.extend(
        decoded
            .as_ref()
            .or(said(DECODED))
            .map(|len| (DECODED, len.clone())),
    );
    let zstd = component.decoded.map(|_| Value::from("zstd"));
    let encoding = zstd.as_ref().or(said("encoding"));
    fields.extend(encoding.map(|encoding| ("encoding", encoding.clone())));
    fields.extend(
        component
            .digest
            .as_deref()
            .map(|digest| text("digest", digest)),
    );
    out.map(fields.len())?;
    fields.iter().try_for_each(|(name, value)| {
        out.text(name)?;
        out.value(value)
    })
}

/// The losses of a bundle.
pub(super) fn format_losses(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = Vec::new();
    for detail in misfits(&bundle.meta) {
        let detail = format!("file {detail}");
        losses.push(Loss::impossible(None, Aspect::Metadata, detail));
    }
    let mut seen = HashSet::new();
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        if !seen.insert(key) {
            add(Aspect::Keys, "a name that is used twice".into());
        }
        for detail in misfits(&tensor.meta) {
            add(Aspect::Metadata, detail);
        }
        let dtype = tensor.dtype();
        let is_held =
            INFO.holds.numbers.contains(&dtype.number) && INFO.holds.arities.contains(&dtype.arity);
        match tensor.storage() {
            Storage::Opaque { layout, parts } => {
                if let Some(why) = opaque_misfit(tensor, layout, parts) {
                    add(Aspect::Skipped, why);
                }
            }
            Storage::Sparse { .. } if tensor.dims().is_empty() => {
                add(Aspect::Sparsity, "a sparse scalar".into());
            }
            _ if is_held && dtype != DType::real(Number::Bool) && stored_as(dtype).is_none() => {
                add(Aspect::Number, elements_of(dtype));
            }
            _ => {}
        }
    }
    losses
}

fn misfits(meta: &Meta) -> impl Iterator<Item = String> {
    meta.iter()
        .filter(|(_, value)| !fits_cbor(value))
        .map(|(name, _)| format!("metadata {name} has an integer beyond 64 bits"))
}

/// The reason why opaque bytes cannot be written such that they are read back the same: under the
/// name of a sparse layout they can, if they do not fit it.
fn opaque_misfit(tensor: &Tensor, layout: &str, parts: &[(String, Numbers)]) -> Option<String> {
    let is_its_own = |said: &Value| {
        let is_bytes = |part: &Numbers| part.number == Number::U8;
        { parts.iter() }.all(|(name, part)| is_bytes(part) && said.get(name).is_some())
    };
    if said(tensor).is_some_and(is_its_own) {
        return None;
    }
    let is_sparse = [DIALECT.rows, DIALECT.coordinates].contains(&layout);
    if !is_sparse || tensor.meta.get(super::super::TYPES).is_some() {
        return misfit(tensor, layout, parts, &DIALECT);
    }
    let sizes = tensor.indexed_sizes();
    let part = |(name, numbers): &(String, Numbers)| ReadPart {
        name: name.clone().into(),
        at: 0,
        number: numbers.number,
        type_name: None,
        bytes: numbers.bytes.clone(),
    };
    let object = Object {
        layout: layout.to_owned().into(),
        shape_at: 0,
        dims: tensor.dims().into(),
        sizes,
        parts: parts.iter().map(part).collect(),
    };
    let read = object.tensor(DIALECT.layout(layout), &Limits::default());
    let fits = read.is_ok_and(|read| !matches!(read.storage(), Storage::Opaque { .. }));
    fits.then(|| format!("{NAME} would take the layout {layout:?} for sparse cells"))
}
