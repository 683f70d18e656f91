//! TENS, the binary tensor file format of cc4s: quantum chemistry's tensors of any number type.
//!
//! The page is cc4s' "Binary tensor file format". It defines version 1.0; the programs wrote
//! version 0.9, which has the same header and dimensions and then bare values. Both are read and
//! written. All integers in headers are little-endian and unsigned.
//!
//! | at | bytes | field | |
//! |---:|---:|---|---|
//! | 0 | 4 | magic | `TENS` |
//! | 4 | 4 | version | 0x00010000 = 1.0, 0x00009000 = 0.9 |
//! | 8 | 4 | number type | `uint` `sint` little-endian, `UINT` `SINT` big-endian integers, `IEEE` floats |
//! | 12 | 4 | bytes per number | integers 1, 2, 4, 8, 16; floats 4, 8, 16 |
//! | 16 | 4 | numbers per element | 1, 2, 4, 8: real, complex, quaternion, octonion |
//! | 20 | 4 | order | the number of dimensions |
//! | 24 | 4 | flags | bit 0, IX: values come as (index, value) pairs |
//! | 28 | 4 | zero | |
//! | 32 | 8·order | dimensions | each: length u32, name u8, flags u8 (bit 0, SP: sparse), zero u16 |
//!
//! Version 0.9 goes on with the values, first index fastest, to the end of the file. Version 1.0
//! goes on with chunks, each a magic of 8 printable characters, a u64 total size (a multiple of 8),
//! and its content:
//!
//! | chunk | content |
//! |---|---|
//! | `SYMMETRY` | flags u8 (bit 0, PK: packed), length n of the code u8, code, one name a dimension, zeros to a multiple of 8 |
//! | `tenfold:` | what has no field here, as JSON in UTF-8, then NULs to a multiple of 8; see `docs/carried.md` |
//! | `DENSDATA` | the values in ascending global index, first index fastest, zeros to a multiple of 8 |
//! | anything else | kept, and written again |
//!
//! With IX there is no `DENSDATA`; the chunks are followed by the number of pairs u64, and each pair
//! is the global index u64 and the value, without padding, to the end of the file.
//!
//! # What it holds
//! One tensor of any integer or IEEE type but f16 and bf16, with one to eight numbers an element;
//! dense or index-value; names of one byte a dimension; symmetries with the operations `x`, `-x`,
//! `x*`, `-x*`, packed or not.
//!
//! # Where the spec is silent
//! 1. Floats are little-endian, as the programs wrote them; `--opt ieee-endian=big` reads others.
//!    16-byte floats are IEEE binary128.
//! 2. The names a, b, c, … are the default of every writer: such dimensions are unnamed. Names that
//!    are all NUL are unnamed too. A name byte is the character with that code.
//! 3. After the dimensions of an IX file, 8 printable bytes begin a chunk and anything else is the
//!    number of pairs: as a number they would be more than 2·10^18.
//! 4. Packing: of each orbit the element with the smallest global index is stored, in ascending
//!    order, unless the symmetry forces it to be zero. Dense data is packed by one symmetry at
//!    most, which may be any permutation; pairs by any number.
//! 5. Pairs are read in any order and with zeros, but an index, or two of one orbit, must not
//!    repeat. They are written in ascending order and without values whose bytes are all zero
//!    (`--opt zeros=keep` keeps those).
//! 6. The product of the lengths is below 2^63. A length of 0 makes an empty tensor.
//! 7. Reserved flags that could change the meaning are refused; zeros that are not zero, padding
//!    that is not, are refused and noted by a lenient reader. Version 0.9 left the flags of
//!    dimensions uninitialized: they are ignored there.
//! 8. Version 0.9 files of 2018 to 2020 give the size of a complex number as the size of a number;
//!    the length of the file tells, and a note says that it was put right.
//! 9. Unknown chunks are kept in metadata as `tens:chunks`, `SYMMETRY` chunks come first when
//!    written. Chosen names are kept in version 0.9 too: its readers pass over them.
//! 10. The chunk `tenfold:` is one that other programs pass over, as the page has them do. It stands before the
//!     values, after the symmetries; a second one, or one that is no UTF-8, is kept as an unknown chunk.
//! 11. The programs of version 0.9 pass over the number type and take the values for the doubles, or complex
//!     doubles, that they expect. Nothing else is written but where a file of version 0.9 had it.

mod chunks;
mod read;
mod v09;
mod write;

pub use v09::Version09;

use crate::bundle::Bundle;
use crate::bytes::to_u64;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Info, MetaSupport, Names, OptionInfo, ReadOptions, SidecarSlot,
    StorageKind, When, WriteOptions,
};
use crate::io::{Sink, Source};
use crate::loss::{Aspect, Loss};
use crate::tensor::Order;

/// The TENS format.
#[derive(Debug)]
pub struct Tens;

const NAME: &str = "tens";
const MAGIC: &[u8] = b"TENS";
const VERSION_1_0: u32 = 0x0001_0000;
const VERSION_0_9: u32 = 0x0000_9000;
const FLAG_IX: u32 = 1;
const FLAG_SP: u8 = 1;
const FLAG_PK: u8 = 1;
const SYMMETRY: &[u8; 8] = b"SYMMETRY";
const DENSDATA: &[u8; 8] = b"DENSDATA";
/// The chunk of carried metadata.
const CARRIED: &[u8; 8] = b"tenfold:";
/// Length of a chunk's header: magic and total size.
const CHUNK_HEADER: u64 = 16;
/// The smallest product of lengths that is too large.
const TOO_MANY_CELLS: u128 = 1 << 63;

/// Hints and metadata of this format.
mod name {
    /// The version of the file that was read: `1.0` or `0.9`.
    pub(super) const VERSION: &str = "tens:version";
    /// The SP flag of each dimension, if they differ from those that a writer would set.
    pub(super) const SPARSE_DIMS: &str = "tens:sparse-dims";
    /// Whether all names are NUL.
    pub(super) const NUL_NAMES: &str = "tens:nul-names";
    /// Unknown chunks: a list of maps of magic, after (the data) and data.
    pub(super) const CHUNKS: &str = "tens:chunks";
    /// Carried metadata.
    pub(super) const CARRIED: &str = "tenfold";
}

const TITLE: &str =
    "quantum chemistry's TENS: any number type, dense, index-value, symmetry-packed";

const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "ieee-endian",
        when: When::Read,
        values: "little|big",
        about: "byte order of floats, which the format does not state",
    },
    OptionInfo {
        name: "zeros",
        when: When::Write,
        values: "drop|keep",
        about: "whether pairs whose value is zero are written",
    },
];

static INFO: Info = Info {
    name: NAME,
    title: TITLE,
    extensions: &["tens", "bin", "elements"],
    magic: MAGIC,
    versions: &["1.0", "0.9"],
    only_read: &[],
    options: OPTIONS,
    holds: Capabilities {
        names: Names::One,
        numbers: &[
            Number::U8,
            Number::U16,
            Number::U32,
            Number::U64,
            Number::U128,
            Number::I8,
            Number::I16,
            Number::I32,
            Number::I64,
            Number::I128,
            Number::F32,
            Number::F64,
            Number::F128,
        ],
        arities: Arity::ALL,
        kinds: &[StorageKind::Dense, StorageKind::Sparse],
        orders: &[Order::Column],
        ndim: (0, 255),
        size: (0, 0xffff_ffff),
        dim_names: DimNames::Letter,
        symmetry: true,
        state: false,
        meta: MetaSupport {
            file: false,
            tensor: false,
        },
        carries: SidecarSlot::File,
    },
};

impl Format for Tens {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        match self.edition(bundle, how) {
            Some(edition) => edition.write(bundle, out, how),
            None => write::write_1_0(bundle, out, how),
        }
    }

    fn versions(&self) -> &'static [&'static dyn Format] {
        &[&Version09]
    }

    fn edition(&self, bundle: &Bundle, how: &WriteOptions) -> Option<&'static dyn Format> {
        v09::edition(bundle, how)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(format_losses(bundle))
    }
}

/// The losses of both versions.
fn format_losses(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: &str| losses.push(Loss::impossible(key, aspect, detail));
        if tensor.cells().is_none_or(|cells| cells >= TOO_MANY_CELLS) {
            add(Aspect::Shape, "2^63 cells or more");
        }
        let mut names: Vec<&str> = tensor
            .dims()
            .iter()
            .filter_map(|dim| dim.name.as_deref())
            .collect();
        if !names.is_empty() && names.len() < tensor.dims().len() {
            add(
                Aspect::DimNames,
                "some dimensions have a name and others have none",
            );
        }
        if names.len() == tensor.dims().len() && names.iter().all(|name| *name == "\0") {
            if !names.is_empty() {
                add(Aspect::DimNames, "names that are all NUL read as none");
            }
        } else if !tensor.symmetries().is_empty() {
            let n_names = names.len();
            names.sort_unstable();
            names.dedup();
            if names.len() < n_names || names.contains(&"\0") {
                add(
                    Aspect::DimNames,
                    "a symmetry needs names that differ and are not NUL",
                );
            }
        }
        for symmetry in tensor.symmetries() {
            let code = symmetry.operation.as_bytes();
            if code.is_empty() || code.len() > 255 || !code.iter().all(is_printable) {
                add(
                    Aspect::Symmetry,
                    "an operation code is 1 to 255 printable characters",
                );
            }
        }
    }
    losses
}

fn is_printable(byte: &u8) -> bool {
    (0x20..=0x7e).contains(byte)
}

/// The default name of dimension `place` in version 1.0: letters, digits, other printable
/// characters, and then whatever is left.
fn default_name(place: usize) -> u8 {
    let mut bytes = (b'a'..=b'z').chain(b'A'..=b'Z').chain(b'0'..=b'9');
    bytes
        .nth(place)
        .or_else(|| {
            let others = (0x20..=0x7e_u8)
                .chain(0x80..=0xff)
                .chain(1..=0x1f)
                .chain([0x7f]);
            others
                .filter(|byte| !byte.is_ascii_alphanumeric())
                .nth(place.saturating_sub(62))
        })
        .unwrap_or(0)
}

/// The default name of dimension `place` in version 0.9, continuing past `z` as its programs did.
fn old_name(place: usize) -> u8 {
    let [low, ..] = (to_u64(place) & 0xff).to_le_bytes();
    b'a'.wrapping_add(low)
}

/// The next multiple of 8.
fn align8(len: u128) -> u128 {
    len.div_ceil(8).saturating_mul(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_names_differ_for_255_dimensions() {
        let mut names: Vec<u8> = (0..255).map(default_name).collect();
        assert_eq!(
            &names[..63],
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
        );
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), names[0]), (255, 1));
    }
}
