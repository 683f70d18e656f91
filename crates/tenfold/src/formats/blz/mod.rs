//! Tensor trains, `.blz` version 1: tensors kept as a product of small cores.
//!
//! The page is the format specification of the Blaze project. All numbers are little-endian and
//! nothing is padded, so nothing is aligned.
//!
//! | bytes | field | |
//! |---:|---|---|
//! | 4 | magic | `BLZ1` |
//! | 1 | version | 1 |
//! | 1 | dtype | 0 = f64, 1 = two f64, real and imaginary part (the page's `c64`, our `c128`) |
//! | 1 | ndim | 2 to 255 |
//! | 8 | reserved | zero |
//! | 8·ndim | shape | u64 each |
//! | 8·(ndim+1) | ranks | u64 each, the first and the last are 1 |
//! | … | cores | core i has shape (rank i, shape i, rank i+1), row-major, one after the other |
//!
//! # What it holds
//! One tensor train of doubles or complex doubles; no names, no metadata.
//!
//! # Where the spec is silent
//! 1. The file must be exactly as long as its cores: shorter and longer ones are refused.
//! 2. Reserved bytes that are not zero are refused; a lenient reader notes them.
//! 3. A size of 0 is legal and its core has no bytes. A rank of 0 is refused: the product over an
//!    empty rank is the zero tensor, and nobody writes that.
//! 4. NaN and infinities in cores are kept.
//! 5. A train may stand for more cells than a computer can count; it is never expanded unasked.

mod read;
mod write;

use crate::bundle::Bundle;
use crate::bytes::{Sink, Source};
use crate::error::Result;
use crate::format::{
    Carries, DimNames, Format, Holds, HoldsMeta, Info, Names, ReadOptions, StorageKind,
    WriteOptions,
};
use crate::number::{Arity, Number};

/// The `.blz` format.
#[derive(Debug)]
pub struct Blz;

const NAME: &str = "blz";
const MAGIC: &[u8] = b"BLZ1";
const VERSION: u8 = 1;
const DTYPE_F64: u8 = 0;
const DTYPE_COMPLEX: u8 = 1;
const RESERVED: usize = 8;

static INFO: Info = Info {
    name: NAME,
    title: "tensor trains: compressed by decomposition",
    extensions: &["blz"],
    magic: MAGIC,
    versions: &["1"],
    options: &[],
    holds: Holds {
        names: Names::One,
        numbers: &[Number::F64],
        arities: &[Arity::Real, Arity::Complex],
        kinds: &[StorageKind::Train],
        orders: &[],
        ndim: (2, 255),
        size: (0, u64::MAX),
        dim_names: DimNames::No,
        symmetry: false,
        state: false,
        meta: HoldsMeta {
            file: false,
            tensor: false,
        },
        carries: Carries::No,
    },
};

impl Format for Blz {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, _: &WriteOptions) -> Result<()> {
        write::write(bundle, out)
    }
}
