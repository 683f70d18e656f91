//! zTensor 0.1, the machine learning weights format: blobs, then a CBOR index at the end.
//!
//! The page is the zTensor file format specification 0.1.0; what the programs 0.1.0 to 0.1.4 wrote
//! decides where they differ.
//!
//! | at | bytes | field | |
//! |---:|---:|---|---|
//! | 0 | 8 | magic | `ZTEN0001` |
//! | 64·k | … | blobs | one a tensor, each at a multiple of 64, zeros between |
//! | end−8−n | n | index | a CBOR array of maps, one a tensor |
//! | end−8 | 8 | n | u64, little-endian |
//!
//! The map of a tensor:
//!
//! | key | value |
//! |---|---|
//! | `name` | text, any |
//! | `offset`, `size` | where its blob is, as stored |
//! | `dtype` | `float64` `float32` `float16` `bfloat16` `int64` … `int8` `uint64` … `uint8` `bool` |
//! | `layout` | `dense`, `sparsecoo`, `sparsecsr` |
//! | `shape` | sizes; empty for a scalar; row-major |
//! | `encoding` | `raw` or `zstd` |
//! | `data_endianness` | `little` or `big`, for raw numbers of several bytes |
//! | `checksum` | `crc32c:0x…` or `sha256:…`, over the blob as stored |
//! | anything else | the user's own |
//!
//! # What it holds
//! Any number of named tensors of the thirteen types, dense, with metadata of any kind each; no
//! metadata for the file, no names of dimensions.
//!
//! # Where the spec is silent
//! 1. `layout` is not on the page, but every program writes and demands it: absent is read as dense,
//!    and it is always written.
//! 2. Maps of indefinite length and keys in the order above are what the programs write; so do we,
//!    which gives the same bytes. The user's own keys follow in bytewise order. Any CBOR is read.
//! 3. Numbers in zstd blobs are little-endian; a `data_endianness` there is ignored with a note.
//! 4. The length of a decompressed blob follows from the shape; one that decodes to more or less, or
//!    does not end with its last frame, is refused. A shape 65536 times larger than its compressed
//!    bytes is refused before anything is decoded.
//! 5. Compressed blobs are written with their content size: one frame below 32 MiB, else frames of
//!    16 MiB, whatever the number of threads.
//! 6. A type, encoding or layout that is not known costs its own tensor, with a note; the rest is
//!    read.
//! 7. Names may repeat: both are listed, looking one up finds the first. Saving them is refused.
//! 8. Blobs may be the same run, which is noted; overlapping in part is refused, and so is a blob
//!    that reaches into the magic or the index.
//! 9. The sparse layouts exist in the programs only: all integers u64, `sparsecoo` is records of
//!    coordinates and value, `sparsecsr` is row starts, columns, values. Where the lengths do not
//!    fit, the blob is kept as it is.
//! 10. A checksum of another kind is noted and kept. An index of no bytes is refused; a lenient
//!     reader takes it for an empty one.

mod read;
mod sparse;
mod write;

use crate::bundle::Bundle;
use crate::bytes::{Sink, Source};
use crate::error::{Aspect, Loss, Result};
use crate::format::{
    Carries, DimNames, Format, Holds, HoldsMeta, Info, Names, OptionInfo, ReadOptions, StorageKind,
    When, WriteOptions,
};
use crate::meta::Value;
use crate::number::{Arity, Number};
use crate::tensor::{Order, Storage};

/// The zTensor format, generation 0.1.
#[derive(Debug)]
pub struct ZTensor;

const NAME: &str = "ztensor";
const MAGIC: &[u8; 8] = b"ZTEN0001";
const ALIGNMENT: u64 = 64;

/// The fields of a tensor's map that are not the user's own.
const FIELDS: &[&str] = &[
    "name",
    "offset",
    "size",
    "dtype",
    "layout",
    "shape",
    "encoding",
    "data_endianness",
    "checksum",
];

/// What the format calls the number types.
const DTYPES: &[(&str, Number)] = &[
    ("float64", Number::F64),
    ("float32", Number::F32),
    ("float16", Number::F16),
    ("bfloat16", Number::Bf16),
    ("int64", Number::I64),
    ("int32", Number::I32),
    ("int16", Number::I16),
    ("int8", Number::I8),
    ("uint64", Number::U64),
    ("uint32", Number::U32),
    ("uint16", Number::U16),
    ("uint8", Number::U8),
    ("bool", Number::Bool),
];

/// Hints of this format.
mod hint {
    /// How a blob was encoded, where it was not raw.
    pub(super) const ENCODING: &str = "ztensor:encoding";
    /// Which checksum a blob had: the algorithm, or the whole text where that is not known.
    pub(super) const CHECKSUM: &str = "ztensor:checksum";
    /// The byte order of a blob that is kept as it is.
    pub(super) const ENDIANNESS: &str = "ztensor:data_endianness";
}

static INFO: Info = Info {
    name: NAME,
    title: "machine learning weights: CBOR index, zstd, checksums",
    extensions: &["zt"],
    magic: MAGIC,
    versions: &["0.1"],
    only_read: &[],
    options: &[
        OptionInfo {
            name: "compress",
            when: When::Write,
            values: "none|zstd",
            about: "how blobs are encoded; kept as it was unless given",
        },
        OptionInfo {
            name: "level",
            when: When::Write,
            values: "1..22",
            about: "how hard zstd tries; 3 unless given",
        },
        OptionInfo {
            name: "checksum",
            when: When::Write,
            values: "none|crc32c|sha256",
            about: "which checksum blobs get; kept as it was unless given",
        },
    ],
    holds: Holds {
        names: Names::Flat,
        numbers: &[
            Number::Bool,
            Number::U8,
            Number::U16,
            Number::U32,
            Number::U64,
            Number::I8,
            Number::I16,
            Number::I32,
            Number::I64,
            Number::F16,
            Number::Bf16,
            Number::F32,
            Number::F64,
        ],
        arities: &[Arity::Real],
        kinds: &[StorageKind::Dense, StorageKind::Sparse, StorageKind::Opaque],
        orders: &[Order::Row],
        ndim: (0, u64::MAX),
        size: (0, u64::MAX),
        dim_names: DimNames::No,
        symmetry: false,
        state: false,
        meta: HoldsMeta {
            file: false,
            tensor: true,
        },
        carries: Carries::Tensor,
    },
};

impl Format for ZTensor {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    fn quirks(&self, bundle: &Bundle) -> Vec<Loss> {
        let mut losses = Vec::new();
        for (key, tensor) in bundle.entries() {
            let mut add =
                |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
            for (name, value) in tensor.meta.iter() {
                if FIELDS.contains(&name) {
                    add(
                        Aspect::Metadata,
                        format!("metadata called {name}, which the format uses"),
                    );
                }
                if !fits_cbor(value) {
                    add(
                        Aspect::Metadata,
                        format!("metadata {name} has an integer beyond 64 bits"),
                    );
                }
            }
            if let Storage::Opaque { layout, .. } = tensor.storage()
                && !matches!(layout.as_str(), "sparsecoo" | "sparsecsr")
            {
                let detail = format!("the layout {layout:?} is not one of its own");
                add(Aspect::Skipped, detail);
            }
            let is_scalar = tensor.dims().is_empty();
            if is_scalar && matches!(tensor.storage(), Storage::Sparse { .. }) {
                add(Aspect::Sparsity, "a sparse scalar".into());
            }
        }
        losses
    }
}

fn fits_cbor(value: &Value) -> bool {
    match value {
        Value::Int(number) => minicbor::data::Int::try_from(*number).is_ok(),
        Value::List(items) => items.iter().all(fits_cbor),
        Value::Map(pairs) => pairs
            .iter()
            .all(|(key, value)| fits_cbor(key) && fits_cbor(value)),
        Value::Tag(_, item) => fits_cbor(item),
        Value::Null
        | Value::Bool(_)
        | Value::Float { .. }
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Simple(_) => true,
    }
}
