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

mod blobs;
mod checksum;
mod index;
mod object;
mod types;
mod v0;
mod v1;
mod v2;

pub use v2::Version2;

use crate::bundle::Bundle;
use crate::bytes::{Sink, Source, wide};
use crate::error::{Error, Loss, Result};
use crate::format::{
    Carries, DimNames, Format, Holds, HoldsMeta, Info, Match, Names, OptionInfo, Options,
    ReadOptions, StorageKind, When, WriteOptions,
};
use crate::number::{Arity, Number};
use crate::tensor::{Order, product};

/// The zTensor format, of every generation; generation 0.1 is written unless another is asked for.
#[derive(Debug)]
pub struct ZTensor;

const NAME: &str = "ztensor";
const TITLE: &str = "machine learning weights: CBOR index, zstd, checksums";

/// Metadata of an opaque tensor: the types that are laid over the numbers of its parts.
const TYPES: &str = "ztensor:types";

/// Hints of this format.
mod hint {
    /// The generation a file is of, where it is not the first.
    pub(super) const VERSION: &str = "ztensor:version";
    /// What blobs are aligned to, where it is not as usual.
    pub(super) const ALIGN: &str = "ztensor:align";
    /// How a blob was encoded, where it was not raw.
    pub(super) const ENCODING: &str = "ztensor:encoding";
    /// Which checksum a blob had: the algorithm, or the whole text where that is not known; `none`
    /// where it had none and others of its generation have.
    pub(super) const CHECKSUM: &str = "ztensor:checksum";
    /// The program that wrote a file.
    pub(super) const GENERATOR: &str = "ztensor:generator";
    /// The byte order of a blob that is kept as it is.
    pub(super) const ENDIANNESS: &str = "ztensor:data_endianness";
}

/// The numbers that every generation has.
const NUMBERS: &[Number] = &[
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
];

const OPTIONS: &[OptionInfo] = &[
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
        values: "none|crc32c|sha256|xxh3",
        about: "which checksum blobs get; kept as it was unless given; crc32c is for version 0.1, \
                xxh3 for version 2, which has it unless told otherwise",
    },
    OptionInfo {
        name: "align",
        when: When::Write,
        values: "4096|8192|16384|32768|65536",
        about: "what blobs of version 2 are aligned to; kept as it was unless given, else 65536",
    },
];

static INFO: Info = Info {
    name: NAME,
    title: TITLE,
    extensions: &["zt"],
    magic: v0::MAGIC,
    versions: &["0.1", "2"],
    options: OPTIONS,
    holds: Holds {
        names: Names::Flat,
        numbers: NUMBERS,
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

/// What a file of each generation begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    /// 0.1.
    First,
    /// 1.0, 1.1 and 1.2.
    Between,
    /// 2.
    Second,
}

impl Generation {
    fn of(source: &Source) -> Option<Generation> {
        let mut magic = [0; 8];
        source.read_at(0, &mut magic).ok()?;
        match &magic {
            v0::MAGIC => Some(Generation::First),
            v1::MAGIC => Some(Generation::Between),
            v2::MAGIC => Some(Generation::Second),
            _ => None,
        }
    }
}

fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    match Generation::of(source) {
        Some(Generation::Second) => v2::read(source, how),
        Some(Generation::Between) => v1::read(source, how),
        // What is of no generation is told so as one of the first.
        Some(Generation::First) | None => v0::read(source, how),
    }
}

impl Format for ZTensor {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        match self.edition(bundle, how) {
            Some(edition) => edition.write(bundle, out, how),
            None => v0::write(bundle, out, how),
        }
    }

    fn probe(&self, source: &Source) -> Match {
        match Generation::of(source) {
            Some(_) => Match::Yes,
            None => Match::No,
        }
    }

    fn edition(&self, bundle: &Bundle, how: &WriteOptions) -> Option<&'static dyn Format> {
        let read = bundle.hints.text(hint::VERSION);
        match how.version.as_deref().or(read) {
            None | Some("0.1") => None,
            // Whatever a generation between the two has a word for, the second has one for.
            Some(_) => Some(&Version2),
        }
    }

    fn quirks(&self, bundle: &Bundle) -> Vec<Loss> {
        v0::quirks(bundle)
    }
}

/// At which level blobs are compressed, if they are: as asked for, or as they were.
fn zstd_level(options: &Options, was_compressed: bool) -> Result<Option<i32>> {
    let chosen = options.choose("compress", &[("none", false), ("zstd", true)])?;
    match options.get("level").unwrap_or("3").parse() {
        Ok(level @ 1..=22) => Ok(chosen.unwrap_or(was_compressed).then_some(level)),
        _ => Err(Error::invalid("a zstd level is a number from 1 to 22")),
    }
}

/// How many bytes all cells take; `None` if 64 bits do not count them.
fn dense_len(sizes: &[u64], width: usize) -> Option<u64> {
    let cells = product(sizes)?;
    u64::try_from(cells.checked_mul(wide(width).into())?).ok()
}
