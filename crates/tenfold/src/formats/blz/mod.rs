//! Tensor trains, `.blz`: tensors kept as a product of small cores.
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
//! The same project's newer container, `BLZ2`, keeps what is known of the compression beside its
//! result; there is no page, so this is what its programs write. `--to blz@2` writes it.
//!
//! | bytes | field | |
//! |---:|---|---|
//! | 4 | magic | `BLZ2` |
//! | 1 | version | 1 |
//! | 1 | dtype | as above |
//! | 1 | ndim | 1 to 255 |
//! | 1 | kind | 0 declined, 1 compressed, 2 undecided |
//! | 8 + 8 | tolerance, most rank | f64, relative; i64, −1 for none |
//! | 8 + 8 + 8 | values, dense bytes, bytes | u64: of all cores, of the tensor, of all cores |
//! | 8 | ratio | f64 |
//! | 8 + 8 | bounds | f64: of the absolute error, of the relative |
//! | 8 + 8 | measured, tail | f64, NaN for none: the relative error, what the cap on ranks cut off |
//! | 4 + 4 + 4 | cap | i32, −1 for none: the cut it bound first, the rank wanted there, the rank kept |
//! | 4 | cuts | u32, fewer than ndim |
//! | 28 each | a cut | u32 index, rank wanted, rank, singular values; u8 capped; 3 zeros; f64 delta |
//! | 8·ndim | shape | u64 each |
//! | 8·(ndim+1), … | ranks, cores | as above, if compressed |
//! | 32 | checksum | SHA-256 of all before |
//!
//! # What it holds
//! One tensor train of doubles or complex doubles; no names, no metadata but the certificate.
//!
//! # Where the spec is silent
//! 1. The file must be exactly as long as its cores: shorter and longer ones are refused.
//! 2. Reserved bytes that are not zero are refused; a lenient reader notes them.
//! 3. A size of 0 is legal and its core has no bytes. A rank of 0 is refused: the product over an
//!    empty rank is the zero tensor, and no program writes that.
//! 4. NaN and infinities in cores are kept.
//! 5. A train may stand for more cells than a computer can count; it is never expanded unasked.
//! 6. One dimension, which the project's own command writes, is refused; a lenient reader notes it.
//! 7. `BLZ2`: the certificate becomes metadata of the file; what it says of the cores' size must be
//!    so. What is not compressed has no cores: it opens without tensors, a note says the verdict, and it is written again.
//!    The checksum is compared when all cores are read; where there are none, at once.
//! 8. A certificate is written of what is known: the bound that `compress` has proven, or what the
//!    file that was read said. Else its floats are NaN and its caps −1.

mod certificate;
mod read;
mod v2;
mod write;

pub use certificate::{Proven, certify, strip};

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, ReadOptions, SidecarSlot,
    StorageKind, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::loss::Loss;

/// The `.blz` format.
#[derive(Debug)]
pub struct Blz;

const NAME: &str = "blz";
const MAGIC: &[u8] = b"BLZ1";
const MAGIC_2: &[u8] = b"BLZ2";
const VERSION: u8 = 1;
const DTYPE_F64: u8 = 0;
const DTYPE_COMPLEX: u8 = 1;
const RESERVED: usize = 8;
const DIGEST_LEN: usize = 32;
/// The kind of a `BLZ2` file with cores.
const COMPRESSED: u8 = 1;

/// Hints of this format.
mod hint {
    /// The version of the container, if it is not the one that is written by default.
    pub(super) const VERSION: &str = "blz:version";
}

static INFO: Info = Info {
    name: NAME,
    title: "tensor trains: compressed by decomposition",
    extensions: &["blz"],
    magic: MAGIC,
    versions: &["1", "2"],
    only_read: &[],
    options: &[],
    holds: HOLDS,
};

/// `BLZ2` as a format of its own.
#[derive(Debug)]
pub struct Version2;

static INFO_2: Info = Info {
    name: NAME,
    title: "tensor trains with a certificate of their compression",
    extensions: &["blz"],
    magic: MAGIC_2,
    versions: &["2"],
    only_read: &[],
    options: &[],
    holds: HOLDS,
};

const HOLDS: Capabilities = Capabilities {
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
    meta: MetaSupport {
        file: false,
        tensor: false,
    },
    carries: SidecarSlot::No,
};

impl Format for Blz {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn probe(&self, head: &Head) -> Result<Match> {
        let is_signed = [MAGIC, MAGIC_2]
            .iter()
            .any(|magic| head.bytes().starts_with(magic));
        Ok(if is_signed { Match::Yes } else { Match::No })
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        match self.edition(bundle, how) {
            Some(edition) => edition.write(bundle, out, how),
            None => write::write(bundle, out),
        }
    }

    fn versions(&self) -> &'static [&'static dyn Format] {
        &[&Version2]
    }

    fn edition(&self, bundle: &Bundle, how: &WriteOptions) -> Option<&'static dyn Format> {
        // The specified version is written, unless the other one is requested, or is the only one
        // that can hold a verdict.
        let is_other = match how.version.as_deref() {
            None => v2::Verdict::of(bundle).is_some(),
            Some(version) => version == "2",
        };
        is_other.then_some(&Version2)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        let lost = certificate::unsaid(bundle, " is dropped, --to blz@2 keeps it");
        Ok(lost.into_iter().collect())
    }
}

impl Format for Version2 {
    fn info(&self) -> &'static Info {
        &INFO_2
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, _: &WriteOptions) -> Result<()> {
        write::write_2(bundle, out)
    }

    fn needs_no_tensor(&self, bundle: &Bundle) -> bool {
        v2::Verdict::of(bundle).is_some()
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(certificate::format_losses(bundle))
    }
}
