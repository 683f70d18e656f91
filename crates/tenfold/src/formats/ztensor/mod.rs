//! zTensor, the machine learning weights format: blobs, then a CBOR index at the end.
//!
//! There are five generations under one extension and three magics. All are read; 0.1, 1.2 and 2 are
//! written. The pages are the zTensor file format specifications; what the programs wrote decides
//! where they differ.
//!
//! | generation | begins with | ends with | index |
//! |---|---|---|---|
//! | 0.1 | `ZTEN0001` | u64 its length | an array of maps |
//! | 1.0 | `ZTEN1000` | u64 its length | a map with `tensors` |
//! | 1.1, 1.2 | `ZTEN1000` | u64 its length, `ZTEN1000` | a map with `objects` |
//! | 2 | `89 5A 54 32 0D 0A 1A 0A` | a footer of 40 bytes | a map with `objects`, deterministic |
//!
//! Generation 0.1:
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
//! Generations 1.0 to 1.2 have blobs at multiples of 64 too. Their index is a map of `version`,
//! `attributes` and `objects`; an object has a `shape`, a `format` (`dense`, `sparse_csr`,
//! `sparse_coo` or any other), `attributes`, and `components`, each with `dtype`, `type`, `offset`,
//! `length`, `uncompressed_length`, `encoding` and `digest`. In 1.0 the `dtype` is the object's, and
//! the objects are `tensors`.
//!
//! Generation 2:
//!
//! | at | bytes | field | |
//! |---:|---:|---|---|
//! | 0 | 8 | magic | `89 5A 54 32 0D 0A 1A 0A` |
//! | 4096·k | … | blobs | one a part, at multiples of 4096; of 65536 in the canonical form |
//! | 4096·k | n | description | a map, aligned as a blob |
//! | end−40 | 8 | | u64, where the description is |
//! | end−32 | 8 | n | u64 |
//! | end−24 | 8 | hash | u64, XXH3 of the description |
//! | end−16 | 4 | version | u32, 2 |
//! | end−12 | 4 | reserved | ignored |
//! | end−8 | 8 | magic | once more |
//!
//! The description has `objects`, and may have `attributes` and `shards`. An object has a `shape`, a
//! `layout` (`dense`, `zt.sparse_csr/1`, `zt.sparse_coo/1` or any other), `parts` and perhaps
//! `attributes`; a part has a `dtype`, a `blob` of offset and length, and perhaps a `type` that is
//! laid over the numbers, a `shard`, an `encoding` with its `decoded_length`, and a `digest`, `xxh3:…`
//! or `sha256:…`, over the decoded bytes.
//!
//! # What it holds
//! Any number of named tensors of the thirteen types, dense or sparse, with metadata of any kind each.
//! Version 2 also holds metadata of the file, complex numbers, numbers of 8 bits and less as opaque
//! bytes, and objects of layouts that are not understood. No names of dimensions.
//!
//! # Where the spec is silent
//! 1. `layout` is not on the page of 0.1, but every program writes and demands it: absent is read as
//!    dense, and it is always written.
//! 2. Maps of indefinite length and keys in the order above are what the programs of 0.1 write; so do
//!    we, which gives the same bytes. The user's own keys follow in bytewise order. Any CBOR is read,
//!    but in version 2, where only its deterministic encoding is.
//! 3. Numbers in zstd blobs are little-endian; a `data_endianness` there is ignored with a note. Raw
//!    numbers are written little-endian, which the later programs take for granted, unless the file that
//!    they are from is big-endian 0.1 or `--opt endian=big` is given.
//! 4. The length of a decompressed blob follows from the shape, or is stated; one that decodes to more
//!    or less, or does not end with its last frame, is refused. A shape 65536 times larger than its
//!    compressed bytes is refused before anything is decoded. Where a sparse component of 1.0 or 1.1
//!    does not say its length, it is decoded once to learn it.
//! 5. Compressed blobs of 0.1 and 1.2 are written with their content size: one frame below 32 MiB, else frames
//!    of 16 MiB, whatever the number of threads.
//! 6. A tensor whose type or encoding is not known, and in 0.1 its layout, is opaque before version 2, and
//!    written again as it is. In version 2 an unknown encoding costs its own tensor, with a note, and an
//!    unknown `dtype` is refused, as its page demands.
//! 7. Names may repeat before version 2: both are listed, looking one up finds the first. Saving them
//!    is refused.
//! 8. Blobs may be the same run, which is noted before version 2; overlapping in part is refused, and
//!    so is a blob that reaches into the magic, the index or the footer. Bytes between them may be any; `verify`
//!    notes those that are not zeros up to the next multiple.
//! 9. The sparse layouts of 0.1 exist in its writer only, and no program reads them: all integers u64,
//!    `sparsecoo` is records of coordinates and value, `sparsecsr` is row starts, columns, values. They are
//!    written where a file of 0.1 had them; other sparse tensors are written dense, and that they were sparse
//!    is carried. Where the lengths do not fit, there and in 1.x, the parts are kept as they are.
//! 10. A checksum of another kind is noted, and written again only with a copy of the same bytes, in a
//!     file of 0.1 to 1.2 if it comes from one and of 2 if it comes from one: they spell checksums
//!     differently. One of a known kind with too few or too many digits is malformed. An index of no bytes is refused; a lenient
//!     reader takes it for an empty one.
//! 11. A file of 1.0, 1.1 or 1.2 is written again as 1.2, which the programs of 1.1 and 1.2 read, unless
//!     another version is asked for. `sparse_coo` has its indices in 64 bits there.
//! 12. Version 2 is written in the canonical form, but that names stay as they are: the reference
//!     demands Unicode's composed form (NFC) of canonical files, and its reader does not. With
//!     `align` below 65536 blobs are in the order of the tensors. Blobs with the same bytes are one.
//! 13. Truths that are neither 0 nor 1 are true; in version 2 they are refused, and 0 and 1 are written.
//!     Columns of compressed rows rise in version 2; rows where they do not are written as coordinates.
//! 14. A shard `n` of `model.zt` is `model-n.zt` beside it. Where it is missing, or the file was not
//!     opened by its name, its tensors are listed and cannot be read; what is no regular file is refused.
//!     Its length is compared when the file is opened, its checksum by `verify`. It is not written.
//! 15. Keys of version 2 that have no meaning are ignored with a note, and not written again. Checksums
//!     are compared whenever all of a part is read; a slice of it is not checked, but by `verify`. Of
//!     seekable frames a slice decodes those that it lies in; a table that does not fit is not used.
//! 16. Numbers of 8 bits and less are kept under the names that safetensors has for them, such as
//!     `F8_E4M3`. The types of the parts of other opaque objects are metadata, `ztensor:types`.

mod blobs;
mod checksum;
mod index;
mod object;
mod parts;
mod readers;
mod types;
mod v0;
mod v1;
mod v2;

pub use v1::Version1;
pub use v2::Version2;

use crate::bundle::Bundle;
use crate::bytes::to_u64;
use crate::dtype::{Arity, Number};
use crate::error::{Error, Result};
use crate::format::{
    Capabilities, DimNames, ENDIAN, Format, Info, Match, MetaSupport, Names, OptionInfo, Options,
    ReadOptions, SidecarSlot, StorageKind, When, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::loss::Loss;
use crate::tensor::{Order, Tensor, product};

/// The zTensor format, of every generation; generation 0.1 is written by default.
#[derive(Debug)]
pub struct ZTensor;

const NAME: &str = "ztensor";
const TITLE: &str = "machine learning weights: CBOR index, zstd, checksums";

/// Metadata of an opaque tensor: the logical types of its parts.
const TYPES: &str = "ztensor:types";

/// Hints of this format.
mod hint {
    /// The generation of the file, if it is not the first.
    pub(super) const VERSION: &str = "ztensor:version";
    /// The alignment of blobs, if it is not the default.
    pub(super) const ALIGN: &str = "ztensor:align";
    /// The encoding of a blob, if it was not raw.
    pub(super) const ENCODING: &str = "ztensor:encoding";
    /// The checksum of a blob: the algorithm, or the whole text if it is unknown, which is kept
    /// only by a copy of the same bytes; `none` if it had none and others of its generation have
    /// one.
    pub(super) const CHECKSUM: &str = "ztensor:checksum";
    /// The program that wrote a file.
    pub(super) const GENERATOR: &str = "ztensor:generator";
    /// The byte order of a blob, if it is big-endian or an opaque one's.
    pub(super) const ENDIANNESS: &str = "ztensor:data_endianness";
    /// The layout of a sparse blob of generation 0.1, and of any opaque blob.
    pub(super) const LAYOUT: &str = "ztensor:layout";
    /// The fields of an object's components, if some are unknown.
    pub(super) const COMPONENTS: &str = "ztensor:components";
    /// The type of a blob's numbers, if it is unknown.
    pub(super) const DTYPE: &str = "ztensor:dtype";
}

/// The number types of every generation.
const NUMBERS: &[Number] = Number::WEIGHTS;

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
        about: "which checksum blobs get; kept as it was unless given; crc32c is for versions 0.1 and \
                1.2, xxh3 for version 2, which has it unless told otherwise",
    },
    OptionInfo {
        name: "align",
        when: When::Write,
        values: "4096|8192|16384|32768|65536",
        about: "what blobs of version 2 are aligned to; kept as it was unless given, else 65536",
    },
    OptionInfo {
        about: "the byte order of raw numbers of version 0.1; kept as it was there, else little",
        ..ENDIAN
    },
];

static INFO: Info = Info {
    name: NAME,
    title: TITLE,
    extensions: &["zt"],
    magic: v0::MAGIC,
    versions: &["0.1", "1.2", "2"],
    only_read: &["1.0", "1.1"],
    options: OPTIONS,
    holds: Capabilities {
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
        meta: MetaSupport {
            file: false,
            tensor: true,
        },
        carries: SidecarSlot::Tensor,
    },
};

/// The generations, by their signature.
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
    fn of(head: &Head) -> Option<Generation> {
        match head.bytes().first_chunk()? {
            v0::MAGIC => Some(Generation::First),
            v1::MAGIC => Some(Generation::Between),
            v2::MAGIC => Some(Generation::Second),
            _ => None,
        }
    }
}

fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    match Generation::of(&Head::of(source)?) {
        Some(Generation::Second) => v2::read(source, how),
        Some(Generation::Between) => v1::read(source, how),
        // The error of a file without a known signature is that of the first generation.
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

    fn probe(&self, head: &Head) -> Result<Match> {
        let generation = Generation::of(head);
        Ok(generation.map_or(Match::No, |_| Match::Yes))
    }

    fn versions(&self) -> &'static [&'static dyn Format] {
        &[&Version1, &Version2]
    }

    fn edition(&self, bundle: &Bundle, how: &WriteOptions) -> Option<&'static dyn Format> {
        let read = bundle.hints.text(hint::VERSION);
        match how.version.as_deref().or(read) {
            None | Some("0.1") => None,
            Some("2") => Some(&Version2),
            // Everything that 1.0 and 1.1 hold, 1.2 holds too.
            Some(_) => Some(&Version1),
        }
    }

    fn readers(&self, version: &str, written: Option<&Bundle>) -> Option<String> {
        readers::of(version, written)
    }

    fn keeps_checksum(&self, tensor: &Tensor, how: &WriteOptions) -> Result<bool> {
        v0::keeps_checksum(tensor, &how.options)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        v0::format_losses(bundle)
    }
}

/// Fails if an option is given that applies to another version.
fn refuse_option(options: &Options, name: &str, version: &str) -> Result<()> {
    if options.get(name).is_none() {
        return Ok(());
    }
    let why = format!("{name} is for version {version}, which --to {NAME}@{version} writes");
    Err(Error::invalid(why))
}

/// The level of compression of blobs, if they are compressed: as requested, or as before.
fn zstd_level(options: &Options, was_compressed: bool) -> Result<Option<i32>> {
    let chosen = options.choose("compress", &[("none", false), ("zstd", true)])?;
    match options.get("level").unwrap_or("3").parse() {
        Ok(level @ 1..=22) => Ok(chosen.unwrap_or(was_compressed).then_some(level)),
        _ => Err(Error::invalid("a zstd level is a number from 1 to 22")),
    }
}

/// The length of all cells in bytes; `None` on 64-bit overflow.
fn dense_len(sizes: &[u64], width: usize) -> Option<u64> {
    let cells = product(sizes)?;
    u64::try_from(cells.checked_mul(to_u64(width).into())?).ok()
}
