//! safetensors, the machine learning weights format: a JSON header, then all values in a row.
//!
//! The page is the section *Format* of the safetensors documentation; what the reference program
//! (0.8) does decides where the page is silent. All numbers are little-endian.
//!
//! | at | bytes | field | |
//! |---:|---:|---|---|
//! | 0 | 8 | n | the length of the header, 100 000 000 at most |
//! | 8 | n | header | a JSON object in UTF-8, and spaces |
//! | 8 + n | … | values | of all tensors, row-major, one after the other, to the end of the file |
//!
//! The object has a member for every tensor, under its name, and perhaps one for the file:
//!
//! | name | value |
//! |---|---|
//! | `__metadata__` | an object of texts |
//! | any other | `{"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}` |
//!
//! The offsets are those of the first byte and of the one after the last, counted from the end of
//! the header.
//!
//! | dtype | bits |
//! |---|---:|
//! | `BOOL` `U8` `I8` `U16` `I16` `U32` `I32` `U64` `I64` `F16` `BF16` `F32` `F64` | as they say; bool 8, bf16 16 |
//! | `C64` | 64: two F32 |
//! | `F8_E5M2` `F8_E4M3` `F8_E8M0` `F8_E4M3FNUZ` `F8_E5M2FNUZ` | 8 |
//! | `F6_E2M3` `F6_E3M2` | 6 |
//! | `F4` | 4 |
//!
//! # What it holds
//! Any number of named dense tensors, row-major and little-endian, and texts about the file.
//! Numbers of 8 bits and less that the model has no word for (the last three rows) are opaque: kept
//! and rewritten bit for bit, never computed on.
//!
//! # Where the spec is silent
//! 1. Tensors may stand in the header in any order; by their offsets they lie in a row from the
//!    first byte of the data to the last of the file: no holes, no overlaps, nothing behind. They
//!    are listed in the order of their values.
//! 2. Written is what the reference writes, byte for byte: tensors by type, those of the widest
//!    numbers first, then by the bytes of their names; the header without spaces inside and with as
//!    many behind it as make it a multiple of 8. `__metadata__` comes first and keeps its order; one that
//!    is empty stays.
//! 3. A name that repeats is forbidden by the page; the reference takes the last. It is refused, and
//!    so is one inside `__metadata__` or inside the object of a tensor.
//! 4. The page wants `{` to be the first byte of the header and spaces to be all that follows the
//!    last; the reference passes over any white space. Other than as the page says is refused, and
//!    noted by a lenient reader. So is `"__metadata__": null`.
//! 5. Members of a tensor's object besides the three are passed over by the reference; here too,
//!    with a note. An array in place of that object, which the reference happens to read, is refused.
//! 6. The sizes of a shape and the bits of its type are multiplied one by one in 64 bits, by the
//!    reference: a product that overflows on the way is refused, whatever a later 0 would make of it.
//!    Bits that are no whole bytes are refused.
//! 7. A type that is not in the table is refused, as its values have no known length; a lenient
//!    reader leaves its tensor out, with a note.
//! 8. `format` in `__metadata__` is what some programs look for before they load anything, `pt` for
//!    PyTorch. It is metadata as any other: kept, and written when `--opt format=pt` asks for it, or when
//!    a checkpoint of PyTorch is converted: `transformers` refuses files without it.
//! 9. A tensor cannot be called `__metadata__`.
//! 10. Bytes of bool are kept as they are.

mod header;
mod read;
mod write;

use hashbrown::HashSet;

use crate::bundle::Bundle;
use crate::dtype::{Arity, DType, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, FROM_TORCH, Format, Info, Match, MetaSupport, Names, OptionInfo,
    ReadOptions, SidecarSlot, StorageKind, When, WriteOptions, elements_of, layout_not_held,
};
use crate::io::{Head, Sink, Source};
use crate::loss::{Aspect, Loss};
use crate::meta::Value;
use crate::tensor::{Order, Storage, Tensor};

/// The safetensors format.
#[derive(Debug)]
pub struct Safetensors;

const NAME: &str = "safetensors";
/// Longest header that the reference reads.
const MOST_HEADER: u64 = 100_000_000;
/// The header member that is no tensor.
const METADATA: &str = "__metadata__";
/// The hint that a file has an empty metadata member.
const EMPTY: &str = "safetensors:metadata";
/// The metadata with the program that a file is for.
const FORMAT: &str = "format";
/// The name of the only part of an opaque tensor.
const PART: &str = "data";

/// A type of the format.
#[derive(Debug, PartialEq, Eq)]
struct Type {
    name: &'static str,
    /// Bits per element.
    bits: u64,
    /// The element type, if the model has one for it.
    dtype: Option<DType>,
}

const fn real(name: &'static str, bits: u64, number: Number) -> Type {
    let dtype = Some(DType::real(number));
    Type { name, bits, dtype }
}

const fn opaque(name: &'static str, bits: u64) -> Type {
    let dtype = None;
    Type { name, bits, dtype }
}

/// All types, in the order of the reference: the last are written first.
static TYPES: [Type; 22] = [
    real("BOOL", 8, Number::Bool),
    opaque("F4", 4),
    opaque("F6_E2M3", 6),
    opaque("F6_E3M2", 6),
    real("U8", 8, Number::U8),
    real("I8", 8, Number::I8),
    opaque("F8_E5M2", 8),
    opaque("F8_E4M3", 8),
    opaque("F8_E8M0", 8),
    opaque("F8_E4M3FNUZ", 8),
    opaque("F8_E5M2FNUZ", 8),
    real("I16", 16, Number::I16),
    real("U16", 16, Number::U16),
    real("F16", 16, Number::F16),
    real("BF16", 16, Number::Bf16),
    real("I32", 32, Number::I32),
    real("U32", 32, Number::U32),
    real("F32", 32, Number::F32),
    Type {
        name: "C64",
        bits: 64,
        dtype: Some(DType::complex(Number::F32)),
    },
    real("F64", 64, Number::F64),
    real("I64", 64, Number::I64),
    real("U64", 64, Number::U64),
];

impl Type {
    fn named(name: &str) -> Option<&'static Type> {
        TYPES.iter().find(|known| known.name == name)
    }

    /// The type of a tensor and its index among all, if there is one.
    fn of(tensor: &Tensor) -> Option<(usize, &'static Type)> {
        let mut all = TYPES.iter().enumerate();
        match tensor.storage() {
            Storage::Opaque { layout, .. } => {
                all.find(|(_, known)| known.dtype.is_none() && known.name == layout)
            }
            _ => all.find(|(_, known)| known.dtype == Some(tensor.dtype())),
        }
    }

    /// The length of a tensor in bytes; `None` if the reference refuses the shape.
    fn len(&self, sizes: &[u64]) -> Option<u64> {
        let cells = sizes
            .iter()
            .try_fold(1_u64, |all, size| all.checked_mul(*size));
        let bits = cells?.checked_mul(self.bits)?;
        bits.is_multiple_of(8).then_some(bits / 8)
    }
}

static INFO: Info = Info {
    name: NAME,
    title: "machine learning weights: JSON header, values in a row",
    extensions: &["safetensors"],
    magic: &[],
    versions: &["1"],
    only_read: &[],
    options: &[OptionInfo {
        name: "format",
        when: When::Write,
        values: "pt|tf|flax|np|mlx",
        about: "the program the file is for, which some ask of a file: pt is PyTorch; kept as it \
                was unless given, pt for what was a checkpoint of PyTorch",
    }],
    holds: Capabilities {
        names: Names::Flat,
        numbers: Number::WEIGHTS,
        arities: &[Arity::Real, Arity::Complex],
        kinds: &[StorageKind::Dense, StorageKind::Opaque],
        orders: &[Order::Row],
        ndim: (0, u64::MAX),
        size: (0, u64::MAX),
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

impl Format for Safetensors {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    fn probe(&self, head: &Head) -> Result<Match> {
        let is_likely = read::looks_right(head)?;
        Ok(if is_likely { Match::Maybe } else { Match::No })
    }

    fn added_meta(&self, bundle: &Bundle, how: &WriteOptions) -> Result<Vec<(String, Value)>> {
        let is_from_torch = bundle.hints.get(FROM_TORCH).is_some();
        let is_said = bundle.meta.get(FORMAT).is_some() || how.options.get(FORMAT).is_some();
        if is_from_torch && !is_said {
            Ok(vec![(FORMAT.into(), "pt".into())])
        } else {
            Ok(Vec::new())
        }
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        let mut losses = Vec::new();
        for (name, _) in bundle
            .meta
            .iter()
            .filter(|(_, value)| value.as_text().is_none())
        {
            let detail = format!("file metadata {name} is no text");
            losses.push(Loss::impossible(None, Aspect::Metadata, detail));
        }
        let mut seen = HashSet::new();
        for (key, tensor) in bundle.entries() {
            if key.flat_name() == Some(METADATA) {
                let detail = "a tensor of this name, which the format uses";
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

/// The reason why a tensor cannot be stored, where [`Capabilities`] does not imply it.
fn misfit(tensor: &Tensor) -> Option<(Aspect, String)> {
    let dtype = tensor.dtype();
    let (parts, sizes) = (tensor.storage().parts(), tensor.indexed_sizes());
    match (Type::of(tensor), tensor.storage()) {
        (None, Storage::Opaque { layout, .. }) => {
            let detail = layout_not_held(layout);
            Some((Aspect::Skipped, detail))
        }
        (Some((_, known)), Storage::Opaque { .. }) => {
            let fits = match parts.as_slice() {
                [part] => known.len(&sizes) == Some(part.bytes.len()),
                _ => false,
            };
            let detail = format!("bytes that its shape does not need of {}", known.name);
            (!fits).then_some((Aspect::Shape, detail))
        }
        // Others are not its numbers, or not its arities.
        (None, _) => (dtype.arity == Arity::Complex && INFO.holds.numbers.contains(&dtype.number))
            .then(|| (Aspect::Number, elements_of(dtype))),
        (Some((_, known)), _) => known
            .len(&sizes)
            .is_none()
            .then(|| (Aspect::Shape, "a shape of 2^64 bits or more".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::to_u64;

    #[test]
    fn bits_that_are_no_whole_bytes_have_no_length() {
        let f4 = Type::named("F4").unwrap();
        assert_eq!((f4.len(&[4]), f4.len(&[3])), (Some(2), None));
        let f6 = Type::named("F6_E2M3").unwrap();
        assert_eq!((f6.len(&[2, 2]), f6.len(&[2])), (Some(3), None));
    }

    #[test]
    fn a_shape_that_overflows_on_the_way_has_no_length() {
        let u8 = Type::named("U8").unwrap();
        assert_eq!(u8.len(&[0, 1 << 40, 1 << 40]), Some(0));
        assert_eq!(u8.len(&[1 << 40, 1 << 40, 0]), None);
        assert_eq!(u8.len(&[1 << 61]), None);
        assert_eq!(u8.len(&[]), Some(1));
    }

    #[test]
    fn wider_numbers_have_wider_types() {
        for known in &TYPES {
            if let Some(dtype) = known.dtype {
                assert_eq!(to_u64(dtype.width()) * 8, known.bits, "{}", known.name);
            }
        }
    }
}
