//! Generation 2: parts of objects in aligned blobs, described by deterministic CBOR at the end.

mod dedup;
mod footer;
mod losses;
mod manifest;
mod read;
mod write;

pub(super) use footer::MAGIC;
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

/// zTensor, generation 2, as a format of its own: it holds more than generation 0.1.
#[derive(Debug)]
pub struct Version2;

/// Smallest alignment of blobs.
const LEAST_ALIGNMENT: u64 = 4096;
/// The alignment of blobs in the canonical form, and the default.
const ALIGNMENT: u64 = 65536;
/// Most levels of lists and maps in the manifest.
const LEVELS: u64 = 32;
/// The levels around an attribute of an object, and of the file.
const OBJECT_LEVELS: u64 = 4;
const FILE_LEVELS: u64 = 2;
/// Longest name in bytes.
const LONGEST_NAME: usize = 1024;
/// The most dimensions.
const MOST_DIMS: u64 = 64;
/// The only compression.
const ZSTD: &str = "zt.zstd-seekable/1";
/// How objects are described.
static DIALECT: Dialect = Dialect {
    rows: "zt.sparse_csr/1",
    coordinates: "zt.sparse_coo/1",
    has_short_indices: true,
    has_bool: false,
    has_values_first: false,
    is_name,
};

static INFO: Info = Info {
    name: super::NAME,
    title: super::TITLE,
    extensions: &["zt"],
    magic: MAGIC,
    versions: &["2"],
    only_read: &[],
    options: super::OPTIONS,
    holds: Capabilities {
        names: Names::Flat,
        numbers: super::NUMBERS,
        arities: &[Arity::Real, Arity::Complex],
        kinds: &[StorageKind::Dense, StorageKind::Sparse, StorageKind::Opaque],
        orders: &[Order::Row],
        ndim: (0, MOST_DIMS),
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

impl Format for Version2 {
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
        checksum::is_kept(tensor, &how.options, checksum::SECOND)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(losses::format_losses(bundle))
    }
}

/// Whether a text is a valid name of an object, a part or an attribute.
fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.len()) && !text.contains('\0')
}
