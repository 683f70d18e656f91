//! GGUF, the models of llama.cpp: typed metadata, a table of tensors, aligned and often quantized
//! values.
//!
//! The page is `docs/gguf.md` of ggml; where it is silent, what the Python package `gguf` (0.19) and
//! ggml itself do decides. All numbers are little-endian; in version 3 a whole file can be
//! big-endian instead, and shows it by the bytes of its version.
//!
//! | bytes | field | |
//! |---:|---|---|
//! | 4 | magic | `GGUF` |
//! | 4 | version | 2 or 3, which differ in nothing but big-endian files |
//! | 8 | n_tensors | |
//! | 8 | n_values | |
//! | … | values | of metadata: name, type (4 bytes), value |
//! | … | tensors | name, ndim (4), a size (8) each, type (4), offset (8) |
//! | … | padding | to a multiple of the alignment |
//! | … | data | of all tensors, each padded to a multiple of the alignment |
//!
//! A text is its length (8 bytes) and as many bytes of UTF-8. An array is the type of its items (4),
//! their number (8) and the items, without types of their own; arrays may hold arrays.
//!
//! | type of value | |
//! |---|---|
//! | 0 to 7 | u8, i8, u16, i16, u32, i32, f32, bool |
//! | 8, 9 | text, array |
//! | 10 to 12 | u64, i64, f64 |
//!
//! Offsets are counted from the beginning of the data. The alignment is 32, or what the value
//! `general.alignment` says, a u32.
//!
//! Sizes stand in the order of ggml, in which the first runs fastest. Here they are as NumPy and
//! PyTorch see them, which is **the other way round**: `[4096, 32000]` in the file, which ggml calls
//! ne, is a shape of 32000 × 4096, and row-major.
//!
//! | type of tensor | |
//! |---|---|
//! | 0, 1, 28, 30 | f32, f16, f64, bf16 |
//! | 24 to 27 | i8, i16, i32, i64 |
//! | 2, 3, 6 to 9 | Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1: blocks of 32 cells |
//! | 10 to 15 | Q2_K to Q6_K, Q8_K: blocks of 256 cells |
//! | 16 to 23, 29 | IQ2_XXS, IQ2_XS, IQ3_XXS, IQ1_S, IQ4_NL, IQ3_S, IQ2_S, IQ4_XS, IQ1_M |
//! | 34, 35, 39 to 41 | TQ1_0, TQ2_0, MXFP4, NVFP4, Q1_0 |
//! | others | unknown: kept as they are |
//!
//! A model may be cut into several files, called `NAME-00001-of-00003.gguf` and so on. Each has
//! the values `split.no` (u16, from 0), `split.count` (u16) and `split.tensors.count` (i32, of all
//! files together); the first has all other metadata.
//!
//! # What it holds
//! Any number of named dense tensors of four dimensions at most, and typed metadata of the file.
//! Quantized tensors are opaque: kept and rewritten bit for bit.
//! [`Tensor::dequantized`](crate::Tensor::dequantized) computes their values, for all types but
//! Q8_1, Q8_K and Q1_0.
//!
//! # Where the spec is silent
//! 1. Tensors lie in the order of the table, each at the first multiple of the alignment behind the
//!    one before it: ggml refuses anything else. It is refused, and noted by a lenient reader, which
//!    still refuses tensors that overlap. Padding is zeros, and `verify` notes where it is not; that
//!    behind the last tensor may be missing.
//! 2. The page wants the alignment to be a multiple of 8, and every reader a power of 2. One that is
//!    no power of 2 is refused; 1, 2 and 4 are noted by a lenient reader.
//! 3. A name that repeats, among the values or the tensors, is refused.
//! 4. Names of values are ASCII of 65 535 bytes at most, those of tensors 64 bytes at most, and there
//!    are no more than four sizes, says the page; a lenient reader notes what is longer.
//! 5. A text that is not UTF-8 is refused. A lenient reader takes it as bytes where it is a value.
//! 6. A bool that is neither 0 nor 1 is refused, as the page says.
//! 7. Version 1 counted in 32 bits; it is obsolete, and not supported. Big-endian files of version
//!    2 never were; a lenient reader notes them.
//! 8. Tensors of a type that was taken out of ggml (4, 5, 31 to 33, 36 to 38) or is newer than this
//!    table have no known length: they reach to the next tensor, or to the end, and are kept and
//!    written again as they are.
//! 9. A block of Q8_1, which no file has, takes 36 bytes in ggml and 40 in the package; here it
//!    takes 40.
//! 10. In a big-endian file the scales inside blocks are big-endian too. They are byte-swapped on
//!     reading and writing, so that blocks mean the same in any file. For Q5_0, Q5_1, Q8_1, Q8_K,
//!     IQ4_XS, Q1_0 and those with codebooks no big-endian layout is defined: such tensors, and
//!     those of unknown types, are not supported there.
//! 11. Metadata keeps the types it was read with as long as values fit them. What comes from
//!     elsewhere is what llama.cpp expects: whole numbers u32, or else i32, u64, i64, and in arrays
//!     i32, or else u32, i64, u64.
//! 12. Any file of a set stands for all of them, as their names lead to the others. A set has to
//!     have as many files and tensors as it says. Joined, the values of `split` are left out.

mod metadata_type;
mod read;
mod split;
mod types;
mod values;
mod write;

use std::collections::HashSet;

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, ENDIAN, Format, Info, MetaSupport, Names, ReadOptions, Shard,
    SidecarSlot, StorageKind, WriteOptions, layout_not_held,
};
use crate::io::{Sink, Source};
use crate::loss::{Aspect, Loss};
use crate::meta::Value;
use crate::tensor::{Order, Storage, Tensor};
use metadata_type::Kind;
use types::Type;

/// The GGUF format.
#[derive(Debug)]
pub struct Gguf;

const NAME: &str = "gguf";
const MAGIC: &[u8] = b"GGUF";
/// The default alignment of values.
const ALIGNMENT: u64 = 32;
/// The name of the metadata value with another alignment.
const ALIGNMENT_NAME: &str = "general.alignment";
/// Largest alignment that is written: the space between tensors is padding.
const MOST_ALIGNMENT: i128 = 1 << 16;
/// Longest name of a metadata value.
const MOST_NAME: usize = 65_535;
/// Longest name of a tensor.
const MOST_TENSOR_NAME: usize = 64;
/// The greatest number of dimensions.
const MOST_DIMS: u64 = 4;
/// The name of the only part of a quantized tensor.
const PART: &str = "data";
/// The hint about the version.
const VERSION: &str = "gguf:version";
/// The hint about the byte order.
const HINT_ENDIAN: &str = "gguf:endian";
/// The hint with types of metadata that are not the defaults.
const KINDS: &str = "gguf:types";

static INFO: Info = Info {
    name: NAME,
    title: "models of llama.cpp: typed metadata, plain or quantised values",
    extensions: &["gguf"],
    magic: MAGIC,
    versions: &["3", "2"],
    only_read: &[],
    options: &[ENDIAN],
    holds: Capabilities {
        names: Names::Flat,
        numbers: &[
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
        kinds: &[StorageKind::Dense, StorageKind::Opaque],
        orders: &[Order::Row],
        ndim: (0, MOST_DIMS),
        size: (0, i64::MAX.cast_unsigned()),
        dim_names: DimNames::No,
        symmetry: false,
        state: false,
        meta: MetaSupport {
            file: true,
            tensor: false,
        },
        carries: SidecarSlot::File,
    },
};

impl Format for Gguf {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    fn has_numbered_sets(&self) -> bool {
        true
    }

    fn shard(&self, bundle: &Bundle) -> Option<Shard> {
        split::shard(bundle)
    }

    fn mark_shard(&self, bundle: &mut Bundle, shard: Option<&Shard>) {
        split::mark(bundle, shard);
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        let mut losses = Vec::new();
        for (name, value) in bundle.meta.iter() {
            if let Some(why) = no_value(name, value) {
                let detail = format!("file metadata {name} {why}");
                losses.push(Loss::impossible(None, Aspect::Metadata, detail));
            }
        }
        let mut seen = HashSet::new();
        for (key, tensor) in bundle.entries() {
            if key
                .flat_name()
                .is_some_and(|name| name.len() > MOST_TENSOR_NAME)
            {
                let detail = format!("a name of more than {MOST_TENSOR_NAME} bytes");
                losses.push(Loss::impossible(key, Aspect::Keys, detail));
            }
            if !seen.insert(key) {
                let detail = "a name that is used twice";
                losses.push(Loss::impossible(key, Aspect::Keys, detail));
            }
            if let Some((aspect, detail)) = misfit(tensor) {
                losses.push(Loss::impossible(key, aspect, detail));
            }
        }
        Ok(losses)
    }
}

/// The reason why metadata cannot be stored, if there is one.
fn no_value(name: &str, value: &Value) -> Option<&'static str> {
    if !is_name(name) {
        return Some("has a name that is not ASCII, or too long");
    }
    if name == ALIGNMENT_NAME && alignment(value).is_none() {
        return Some("is no alignment");
    }
    Kind::of(value)
        .is_none()
        .then_some("is of a type it does not have")
}

/// Whether a metadata name is valid.
fn is_name(name: &str) -> bool {
    name.is_ascii() && (1..=MOST_NAME).contains(&name.len())
}

/// The alignment in a value, if it is one that is written.
fn alignment(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) if (8..=MOST_ALIGNMENT).contains(number) => {
            u64::try_from(*number).ok().filter(|n| n.is_power_of_two())
        }
        _ => None,
    }
}

/// The reason why a tensor cannot be stored, where [`Capabilities`] does not imply it.
fn misfit(tensor: &Tensor) -> Option<(Aspect, String)> {
    let known = Type::of(tensor);
    match tensor.storage() {
        Storage::Opaque { layout, parts } => {
            let Some(known) = known else {
                let detail = layout_not_held(layout);
                return Some((Aspect::Skipped, detail));
            };
            let fits = match (parts.as_slice(), known) {
                ([_], Type::Unknown(_)) => true,
                ([(_, part)], _) => known.len(&tensor.indexed_sizes()) == Some(part.bytes.len()),
                _ => false,
            };
            let detail = format!("bytes that its shape does not need of {}", known.name());
            (!fits).then_some((Aspect::Shape, detail))
        }
        // Others are not its numbers, or not its arities.
        _ => match known?.len(&tensor.indexed_sizes()) {
            Some(_) => None,
            None => Some((Aspect::Shape, "a shape of 2^64 bytes or more".into())),
        },
    }
}
