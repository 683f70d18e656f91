//! Generations 1.0, 1.1 and 1.2: objects of several components, described by a CBOR map. They are
//! written as 1.2, which the programs of 1.1 and 1.2 read.

mod manifest;
mod read;
mod write;

pub(super) use read::read;

use super::checksum;
use super::parts::Dialect;
use crate::bundle::Bundle;
use crate::dtype::Arity;
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Info, MetaSupport, Names, ReadOptions, SidecarSlot,
    StorageKind, WriteOptions,
};
use crate::io::{Sink, Source};
use crate::loss::Loss;
use crate::tensor::{Order, Tensor};

pub(super) const MAGIC: &[u8; 8] = b"ZTEN1000";
const ALIGNMENT: u64 = 64;

/// How objects are described.
static DIALECT: Dialect = Dialect {
    rows: "sparse_csr",
    coordinates: "sparse_coo",
    has_short_indices: false,
    has_bool: true,
    has_values_first: true,
    is_name: |_| true,
};

/// zTensor, generation 1.2, as a format of its own.
#[derive(Debug)]
pub struct Version1;

static INFO: Info = Info {
    name: super::NAME,
    title: super::TITLE,
    extensions: &["zt"],
    magic: MAGIC,
    versions: &["1.2"],
    only_read: &[],
    options: super::OPTIONS,
    holds: Capabilities {
        names: Names::Flat,
        numbers: super::NUMBERS,
        arities: &[Arity::Real, Arity::Complex],
        kinds: &[StorageKind::Dense, StorageKind::Sparse, StorageKind::Opaque],
        orders: &[Order::Row],
        ndim: (0, u64::MAX),
        size: (0, u64::MAX),
        dim_names: DimNames::No,
        symmetry: false,
        state: false,
        meta: MetaSupport {
            file: true,
            tensor: true,
        },
        carries: SidecarSlot::Tensor,
    },
};

impl Format for Version1 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        super::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    fn keeps_checksum(&self, tensor: &Tensor, how: &WriteOptions) -> Result<bool> {
        checksum::is_kept(tensor, &how.options, checksum::BEFORE_2)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(write::format_losses(bundle))
    }
}
