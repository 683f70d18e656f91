//! Raw numbers: a file of values without any header.
//!
//! What C programs write with `fwrite`, Fortran programs to a stream, and `ndarray.tofile` gives.
//! There is no page for it; what the numbers mean is said by options:
//!
//! | option | says | unless given |
//! |---|---|---|
//! | `dtype` | the number type, such as `f32`, `c128`, `quaternion<f64>` | needed to read; the tensor's own to write |
//! | `shape` | the sizes, such as `3x4`; one may be `?` or `-1` | one dimension of everything |
//! | `order` | `C`, the last index changes first, or `F`, the first does | `C` |
//! | `endian` | `little` or `big` | `little` |
//! | `offset` | how many bytes stand before the values | 0 |
//!
//! # What it holds
//! One dense tensor of any number type. Its type and its shape are not in the file, and writing says
//! by which words it is read again.
//!
//! # Where the spec is silent
//! 1. No file is ever detected as raw: it is read and written only if the format is named.
//! 2. Bytes after the values are said in a note, which a strict reader does not let pass; too few are
//!    refused. A size that is left open is as large as whole elements allow.
//! 3. An offset is written as zeros. A shape is checked, never made.

mod layout;
mod read;
mod write;

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Adapted, Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, OptionInfo, Options,
    ReadOptions, SidecarSlot, StorageKind, When, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::key::Key;
use crate::tensor::{Order, Tensor};

/// Raw numbers.
#[derive(Debug)]
pub struct Raw;

const NAME: &str = "raw";

static INFO: Info = Info {
    name: NAME,
    title: "raw numbers: values and nothing else, where all other formats fail",
    extensions: &[],
    magic: &[],
    versions: &["1"],
    only_read: &[],
    options: &[
        OptionInfo::new("dtype", When::Read, "f32", "the number type; needed"),
        OptionInfo::new(
            "shape",
            When::Read,
            "3x4",
            "the sizes, one of which may be ?; one dimension of everything unless given",
        ),
        OptionInfo::new(
            "order",
            When::Read,
            "C|F",
            "whether the last or the first index changes first; C unless given",
        ),
        OptionInfo::new(
            "endian",
            When::Read,
            "little|big",
            "the byte order; little unless given",
        ),
        OptionInfo::new(
            "offset",
            When::Read,
            "BYTES",
            "what stands before the values; 0 unless given",
        ),
        OptionInfo::new(
            "dtype",
            When::Write,
            "f32",
            "the number type to cast to; the tensor's own unless given",
        ),
        OptionInfo::new(
            "shape",
            When::Write,
            "3x4",
            "the sizes that the tensor must have; any unless given",
        ),
        OptionInfo::new(
            "order",
            When::Write,
            "C|F",
            "whether the last or the first index changes first; C unless given",
        ),
        OptionInfo::new(
            "endian",
            When::Write,
            "little|big",
            "the byte order; little unless given",
        ),
        OptionInfo::new(
            "offset",
            When::Write,
            "BYTES",
            "how many zeros stand before the values; none unless given",
        ),
    ],
    holds: Capabilities {
        names: Names::One,
        numbers: Number::ALL,
        arities: Arity::ALL,
        kinds: &[StorageKind::Dense],
        orders: &[Order::Row, Order::Column],
        ndim: (0, u64::MAX),
        size: (0, u64::MAX),
        dim_names: DimNames::No,
        symmetry: false,
        state: false,
        meta: MetaSupport {
            file: false,
            tensor: false,
        },
        carries: SidecarSlot::No,
    },
};

impl Format for Raw {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    /// Any file might be raw, so that none is detected as raw.
    fn probe(&self, _: &Head) -> Result<Match> {
        Ok(Match::No)
    }

    fn options_to_read(&self, tensor: &Tensor, options: &Options) -> Result<Options> {
        let mut needed = Options::default();
        let said = layout::Layout::of(options)?.options(tensor.dtype(), &tensor.sizes()?);
        said.into_iter()
            .for_each(|(name, value)| needed.set(name, value));
        Ok(needed)
    }

    fn adapt(&self, _: &Key, tensor: &Tensor, how: &WriteOptions) -> Result<Option<Adapted>> {
        write::adapt(tensor, how)
    }
}
