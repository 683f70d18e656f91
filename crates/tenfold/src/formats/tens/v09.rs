//! Version 0.9, as programs read it: bare doubles, dense and without symmetries.

use super::{NAME, OPTIONS, TITLE, Tens, name, write};
use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Info, MetaSupport, Names, ReadOptions, SidecarSlot,
    StorageKind, WriteOptions,
};
use crate::io::{Sink, Source};
use crate::loss::{Aspect, Loss};
use crate::tensor::{Order, Storage, Tensor};

/// TENS, version 0.9, as a format of its own: doubles and complex doubles, as its programs
/// interpret all numbers as the type they expect.
#[derive(Debug)]
pub struct Version09;

/// The same for a file of version 0.9 that is rewritten, which keeps its number type.
#[derive(Debug)]
pub(super) struct Rewritten09;

static INFO: Info = Info {
    name: NAME,
    title: TITLE,
    extensions: &["tens", "bin", "elements"],
    magic: super::MAGIC,
    versions: &["0.9"],
    only_read: &[],
    options: OPTIONS,
    holds: holds(&[Number::F64], &[Arity::Real, Arity::Complex]),
};

static REWRITTEN: Info = Info {
    name: NAME,
    title: TITLE,
    extensions: &["tens", "bin", "elements"],
    magic: super::MAGIC,
    versions: &["0.9"],
    only_read: &[],
    options: OPTIONS,
    holds: holds(&[Number::F32, Number::F64, Number::F128], Arity::ALL),
};

const fn holds(numbers: &'static [Number], arities: &'static [Arity]) -> Capabilities {
    Capabilities {
        names: Names::One,
        numbers,
        arities,
        kinds: &[StorageKind::Dense],
        orders: &[Order::Column],
        ndim: (0, 255),
        size: (0, 0xffff_ffff),
        dim_names: DimNames::Letter,
        symmetry: false,
        state: false,
        meta: MetaSupport {
            file: false,
            tensor: false,
        },
        carries: SidecarSlot::No,
    }
}

/// The version of a written bundle, if it is 0.9: on request, or because the bundle was read from
/// such a file and still fits it.
pub(super) fn edition(bundle: &Bundle, how: &WriteOptions) -> Option<&'static dyn Format> {
    let keeps = bundle.hints.text(name::VERSION) == Some("0.9") && has_its_numbers(bundle);
    match how.version.as_deref() {
        Some("0.9") if keeps => Some(&Rewritten09),
        Some("0.9") => Some(&Version09),
        None if keeps && is_plain(bundle) => Some(&Rewritten09),
        _ => None,
    }
}

/// Whether a file of version 0.9 can have numbers of these types.
fn has_its_numbers(bundle: &Bundle) -> bool {
    let mut tensors = bundle.entries().iter().map(|(_, tensor)| tensor);
    tensors.all(|tensor| REWRITTEN.holds.numbers.contains(&tensor.dtype().number))
}

/// Whether version 0.9 can hold everything else.
fn is_plain(bundle: &Bundle) -> bool {
    let is_dense = |tensor: &Tensor| {
        matches!(tensor.storage(), Storage::Dense { .. }) && tensor.symmetries().is_empty()
    };
    let mut tensors = bundle.entries().iter().map(|(_, tensor)| tensor);
    tensors.all(is_dense) && bundle.meta.get(name::CHUNKS).is_none()
}

fn format_losses(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = super::format_losses(bundle);
    if bundle.meta.get(name::CHUNKS).is_some() {
        let detail = "chunks, which version 1.0 has";
        losses.push(Loss::impossible(None, Aspect::Metadata, detail));
    }
    losses
}

impl Format for Version09 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        Tens.read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write_0_9(bundle, out, how)
    }

    fn versions(&self) -> &'static [&'static dyn Format] {
        &[&Tens]
    }

    fn lacks_own_meta(&self, key: &str) -> bool {
        key == name::CHUNKS
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(format_losses(bundle))
    }
}

impl Format for Rewritten09 {
    fn info(&self) -> &'static Info {
        &REWRITTEN
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        Tens.read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write_0_9(bundle, out, how)
    }

    fn versions(&self) -> &'static [&'static dyn Format] {
        &[&Tens]
    }

    fn lacks_own_meta(&self, key: &str) -> bool {
        key == name::CHUNKS
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(format_losses(bundle))
    }
}
