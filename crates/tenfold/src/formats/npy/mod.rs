//! NumPy's array file, `.npy` versions 1.0, 2.0 and 3.0.
//!
//! The page is the documentation of `numpy.lib.format`. The header's length is little-endian, the
//! values are in the byte order that the header names.
//!
//! | at | bytes | field | |
//! |---:|---:|---|---|
//! | 0 | 6 | magic | 0x93, `NUMPY` |
//! | 6 | 1 | major version | 1, 2 or 3 |
//! | 7 | 1 | minor version | 0 |
//! | 8 | 2 or 4 | n | the length of the header: u16 in version 1.0, u32 in 2.0 and 3.0 |
//! | 10 or 12 | n | header | a Python dictionary, spaces, and a newline; Latin-1, in version 3.0 UTF-8 |
//! | … | … | values | in C order, or in Fortran order if the header says so; to the end of the file |
//!
//! The dictionary has three keys:
//!
//! | key | value | |
//! |---|---|---|
//! | `descr` | text such as `'<f8'` | byte order (`<` little, `>` big, <code>&#124;</code> where it has none), kind, bytes |
//! | `fortran_order` | `True`, `False` | whether the first index runs fastest |
//! | `shape` | tuple such as `(2, 3)` | sizes; `()` for a single value, `(3,)` for one dimension |
//!
//! # What it holds
//! One dense tensor, in either order and either byte order, of bool (`b1`), integers (`i1` to `i8`,
//! `u1` to `u8`), floats (`f2`, `f4`, `f8`) or complex floats (`c8`, `c16`); up to 64 dimensions, no
//! names, no metadata.
//!
//! Not supported: structured types, text, dates, raw bytes (`V2` is also how `bfloat16` of
//! `ml_dtypes` is saved: the file does not say so), Python objects, which are pickled and never
//! unpickled here, and extended floats (`f16`, `c32`), which are padded x87 numbers on one machine
//! and IEEE binary128 on another.
//!
//! # Where the spec is silent
//! 1. Written is what `numpy.save` writes, byte for byte: the padding lets the slowest size grow to
//!    21 digits and ends at a multiple of 64; Fortran order is said only where it differs from C
//!    order. Headers read may be padded to any length.
//! 2. The version and the byte order a file was read in are kept; arrays from files of other formats
//!    are little-endian unless `--opt endian=big` is given. NumPy takes 1.0, since no header of these types is
//!    too long for it.
//! 3. The header is what `repr` gives, spaced in any way, with keys in any order; text with any of
//!    Python's escapes, and sizes that Python 2 wrote with an `L` (not in version 3.0, as in NumPy).
//!    Comments, computed and concatenated values are refused. A key that repeats is refused, where
//!    Python would take the last.
//! 4. A header that does not end with a newline, and bytes after the values, are passed over by
//!    NumPy, the first against its documentation; both are refused here, and noted by a lenient
//!    reader.
//! 5. A type of several bytes without a byte order (`f8`, `=f8`, <code>&#124;f8</code>) means that
//!    of the machine, NumPy says, and not of which. It is refused; a lenient reader takes it as
//!    little-endian and notes it. A byte order of a type of one byte says nothing, and other
//!    programs write it. Other spellings that NumPy reads and never writes (`float64`, `<d`) are
//!    refused.
//! 6. The sizes that are not 0, and the bytes of an element, multiply to less than 2^63, or NumPy
//!    refuses the array, even an empty one. 64 is NumPy's number of dimensions (32 before 2.0).
//! 7. Bytes of bool are kept as they are.

mod header;
mod read;
mod write;

pub(super) use read::{Array, behind_pickle, callables};
pub(super) use write::parts;

use crate::bundle::Bundle;
use crate::bytes::to_u64;
use crate::dtype::{Arity, DType, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, ENDIAN, Format, Info, MetaSupport, Names, ReadOptions, SidecarSlot,
    StorageKind, WriteOptions, elements_of,
};
use crate::io::{Sink, Source};
use crate::key::Key;
use crate::loss::{Aspect, Loss};
use crate::tensor::{Order, Tensor, product};

/// The `.npy` format.
#[derive(Debug)]
pub struct Npy;

const NAME: &str = "npy";
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
const MOST_DIMS: u64 = 64;
/// The smallest length of an array in bytes that is too large.
const TOO_LONG: u128 = 1 << 63;
/// The hint with the version of a file, if it is not the usual one.
const HINT_VERSION: &str = "npy:version";
/// The hint that an array is big-endian.
pub(super) const HINT_ENDIAN: &str = "npy:endian";

/// The versions, which differ in the header alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// A length of 16 bits, Latin-1.
    V1,
    /// A length of 32 bits, Latin-1.
    V2,
    /// A length of 32 bits, UTF-8.
    V3,
}

impl Version {
    const ALL: [Version; 3] = [Version::V1, Version::V2, Version::V3];

    fn as_str(self) -> &'static str {
        match self {
            Version::V1 => "1.0",
            Version::V2 => "2.0",
            Version::V3 => "3.0",
        }
    }

    fn major(self) -> u8 {
        match self {
            Version::V1 => 1,
            Version::V2 => 2,
            Version::V3 => 3,
        }
    }
}

/// The types: kind and width of an element, as in `descr` after the byte order.
const TYPES: &[(&str, DType)] = &[
    ("b1", DType::real(Number::Bool)),
    ("u1", DType::real(Number::U8)),
    ("u2", DType::real(Number::U16)),
    ("u4", DType::real(Number::U32)),
    ("u8", DType::real(Number::U64)),
    ("i1", DType::real(Number::I8)),
    ("i2", DType::real(Number::I16)),
    ("i4", DType::real(Number::I32)),
    ("i8", DType::real(Number::I64)),
    ("f2", DType::real(Number::F16)),
    ("f4", DType::real(Number::F32)),
    ("f8", DType::real(Number::F64)),
    ("c8", DType::complex(Number::F32)),
    ("c16", DType::complex(Number::F64)),
];

static INFO: Info = Info {
    name: NAME,
    title: "NumPy's array file: one dense array, in C or Fortran order",
    extensions: &["npy"],
    magic: MAGIC,
    versions: &["1.0", "2.0", "3.0"],
    only_read: &[],
    options: &[ENDIAN],
    holds: HOLDS,
};

/// The capabilities of an array.
pub(super) const HOLDS: Capabilities = Capabilities {
    names: Names::One,
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
        Number::F32,
        Number::F64,
    ],
    arities: &[Arity::Real, Arity::Complex],
    kinds: &[StorageKind::Dense],
    orders: &[Order::Row, Order::Column],
    ndim: (0, MOST_DIMS),
    size: (0, (1 << 63) - 1),
    dim_names: DimNames::No,
    symmetry: false,
    state: false,
    meta: MetaSupport {
        file: false,
        tensor: false,
    },
    carries: SidecarSlot::No,
};

impl Format for Npy {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        let entries = bundle.entries().iter();
        let losses = entries.flat_map(|(key, tensor)| misfits(key, tensor));
        Ok(losses.collect())
    }
}

/// The reasons why NumPy has no such array, where [`Capabilities`] does not imply them.
pub(super) fn misfits(key: &Key, tensor: &Tensor) -> Vec<Loss> {
    let mut losses = Vec::new();
    let dtype = tensor.dtype();
    let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
    let is_known = TYPES.iter().any(|(_, known)| *known == dtype);
    // Others that are no types of NumPy are not its numbers, or not its arities.
    if dtype.arity == Arity::Complex && HOLDS.numbers.contains(&dtype.number) && !is_known {
        add(Aspect::Number, elements_of(dtype));
    }
    if len(&tensor.indexed_sizes(), dtype).is_none() {
        add(Aspect::Shape, "an array of 2^63 bytes or more".into());
    }
    losses
}

/// The length of an array's values in bytes; `None` if it is too large for NumPy.
fn len(sizes: &[u64], dtype: DType) -> Option<u64> {
    let mut factors: Vec<u64> = sizes.iter().copied().filter(|size| *size != 0).collect();
    factors.push(to_u64(dtype.width()));
    let len = product(&factors).filter(|len| *len < TOO_LONG)?;
    if sizes.contains(&0) {
        return Some(0);
    }
    u64::try_from(len).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_array_is_too_large_as_if_it_were_not_empty() {
        let dtype = DType::real(Number::F64);
        assert_eq!(len(&[0, (1 << 60) - 1], dtype), Some(0));
        assert_eq!(len(&[0, 1 << 60], dtype), None);
        assert_eq!(len(&[], dtype), Some(8));
    }
}
