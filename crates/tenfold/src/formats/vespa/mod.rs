//! Vespa's typed binary tensors, `.tbf`: addressed by label, by position, or both.
//!
//! The page is `binary_format.txt` in the sources of the Vespa search engine. A file has no magic,
//! no version and no length; everything in it is big-endian and nothing is padded. All integers
//! are *1_4_ints*: one byte below 128, else four bytes with the top bit set. All texts are *small
//! strings*: a 1_4_int length in bytes, then UTF-8.
//!
//! | bytes | field | |
//! |---:|---|---|
//! | 1, 4 | tag | bit 0: has the fields marked *sparse*, bit 1: *dense*, bit 2: *typed* |
//! | 1, 4 | cell type | *typed*: 0 = f64, 1 = f32, 2 = bf16, 3 = i8; else f64 |
//! | 1, 4 | n_mapped | *sparse*: the number of dimensions addressed by label, else 0 |
//! | … | mapped names | a small string each, sorted by bytes |
//! | 1, 4 | n_indexed | *dense*: the number of dimensions addressed by position, else 0 |
//! | … | indexed dimensions | each a small string, sorted by bytes, then a 1_4_int size of 1 or more |
//! | 1, 4 | n_blocks | if n_mapped > 0 or not *dense*; else there is one block |
//! | … | blocks | each n_mapped labels, small strings, then its cells, last indexed dimension fastest |
//!
//! # What it holds
//! One tensor of f64, f32, bf16 or i8, whose dimensions all have names; no metadata. Without
//! mapped dimensions it is dense; with them, a list of labelled blocks that stays in the file.
//!
//! # Where the spec is silent
//! 1. Cell types from 4 on are refused, and so are tags with neither of bits 0 and 1, or with bits
//!    above 2. (An older page stops at cell type 1.)
//! 2. Names that do not come sorted are refused: Vespa's readers sort them and leave labels and
//!    cells where they are, which mislabels them in silence. A name is given once, mapped or
//!    indexed, is not empty and has no NUL in it.
//! 3. Vespa's Java code refuses names outside `[-_@A-Za-z0-9][_@$A-Za-z0-9]*`: they are read with a
//!    note and not written. It refuses empty labels under tags 1 and 5: they are read with a note.
//! 4. Labels are texts, `0` and `00` are two of them. One that is not UTF-8 is refused.
//! 5. Two blocks with the same labels are refused, equal or not: Vespa's readers keep both, the
//!    last, or none. The order of blocks has no meaning and is kept; `--opt order=labels` sorts.
//! 6. Four-byte integers below 128 are read; writers never make them.
//! 7. The cells of a block take less than 2^64 bytes, even of no block. No block at all is legal,
//!    however large one would be: nothing has to be allocated.
//! 8. A tensor without dimensions is an f64 in any of the six tags. Under tags 1 and 5 it has a
//!    count: 1, or 0, which means the value 0. Vespa's Java code also writes other cell types
//!    here, which its C++ code cannot read: a lenient reader takes them for f64 and notes it.
//! 9. Bytes after the last block are refused; a lenient reader stops before them, as Vespa's own readers
//!    do, and notes how many there are.
//! 10. Of the tags that could say the same, the one without needless bits is written, as Vespa's
//!     C++ code does. Dimensions without names are called a, b, c, … if none has one.
//! 11. A sparse tensor that would take more than a gibibyte, and ten times what it takes, is written with every
//!     dimension mapped: a block for each cell, its positions in decimal digits for labels; `--opt sparse=true`
//!     does that with any. The sizes are not kept. `--opt labels=decimal,shape=3x4` reads it as a sparse tensor.

pub(super) mod positions;
mod read;
pub(super) mod spec;
pub(super) mod write;

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, OptionInfo, Options,
    ReadOptions, SPARSE_CELLS, SidecarSlot, StorageKind, When, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::loss::Loss;
use crate::tensor::{Order, Tensor};

/// Vespa's typed binary format.
#[derive(Debug)]
pub struct Vespa;

const NAME: &str = "vespa";
/// The bits of the tag.
const SPARSE: u32 = 1;
const DENSE: u32 = 2;
const WITH_CELL_TYPE: u32 = 4;
/// The number types, indexed by cell type.
pub(super) const CELL_TYPES: &[Number] = &[Number::F64, Number::F32, Number::Bf16, Number::I8];
/// The number types of a tensor without dimensions.
pub(super) const SCALARS: &[Number] = &[Number::F64];
/// The largest 1_4_int.
pub(super) const MOST: u64 = (1 << 31) - 1;

/// The capabilities of Vespa's tensors, in bytes or as text.
pub(super) const HOLDS: Capabilities = Capabilities {
    names: Names::One,
    numbers: CELL_TYPES,
    arities: &[Arity::Real],
    kinds: &[StorageKind::Dense, StorageKind::Labelled],
    orders: &[Order::Row],
    ndim: (0, 255),
    size: (1, MOST),
    dim_names: DimNames::Required,
    symmetry: false,
    state: false,
    meta: MetaSupport {
        file: false,
        tensor: false,
    },
    carries: SidecarSlot::No,
};

static INFO: Info = Info {
    name: NAME,
    title: "Vespa's tensors: dense, labelled, or labelled blocks of dense cells",
    extensions: &["tbf"],
    magic: &[],
    versions: &["1"],
    only_read: &[],
    options: &[
        positions::LABELS,
        positions::SHAPE,
        OptionInfo::new(
            "order",
            When::Write,
            "file|labels",
            "the order of labelled blocks: as they come, or sorted by their labels' bytes",
        ),
        SPARSE_CELLS,
    ],
    holds: HOLDS,
};

impl Format for Vespa {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        positions::in_place_of_labels(read::read(source, how)?, how)
    }

    fn options_to_read(&self, tensor: &Tensor, _: &Options) -> Result<Options> {
        Ok(positions::options_to_read(tensor))
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    /// Reads the whole structure, as nothing less distinguishes a tensor from other bytes: most
    /// others fail at the tag or at the first count, and a dense tensor is as long as its header
    /// says.
    fn probe(&self, head: &Head) -> Result<Match> {
        if !read::begins(head) {
            return Ok(Match::No);
        }
        let parses =
            head.ask(|source| read::read(source, &ReadOptions::default()).map(|_| true))?;
        Ok(if parses { Match::Maybe } else { Match::No })
    }

    fn numbers(&self, tensor: &Tensor) -> &'static [Number] {
        numbers(tensor)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(write::format_losses(bundle))
    }
}

/// The number types that Vespa has for such a tensor.
pub(super) fn numbers(tensor: &Tensor) -> &'static [Number] {
    if tensor.dims().is_empty() {
        SCALARS
    } else {
        CELL_TYPES
    }
}

/// Whether Vespa's Java code accepts this as the name of a dimension.
pub(super) fn is_usual_name(name: &str) -> bool {
    let follows = |byte: u8| byte.is_ascii_alphanumeric() || b"_@$".contains(&byte);
    let begins = |byte: u8| byte.is_ascii_alphanumeric() || b"-_@".contains(&byte);
    match name.as_bytes().split_first() {
        Some((first, rest)) => begins(*first) && rest.iter().copied().all(follows),
        None => false,
    }
}
