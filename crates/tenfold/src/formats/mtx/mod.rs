//! Matrix Market's exchange format, `.mtx`.
//!
//! The page is `math.nist.gov/MatrixMarket/formats.html`. A file is text, one entry a line; fields
//! stand between spaces, indices count from 1.
//!
//! | lines | field | |
//! |---|---|---|
//! | 1 | banner | `%%MatrixMarket matrix`, then layout, field and symmetry, in any case |
//! | any | comments | each begins with `%` |
//! | 1 | sizes | rows and columns; of `coordinate` also how many entries follow |
//! | … | entries | of `coordinate` row, column and value; of `array` the value alone, the first column first |
//!
//! | word | | |
//! |---|---|---|
//! | layout | `coordinate` | sparse: the entries that are there |
//! | | `array` | dense: all of them |
//! | field | `real` | f64 |
//! | | `integer` | i64 |
//! | | `complex` | c128: two numbers an entry |
//! | | `pattern` | bool: no value; of `coordinate` only |
//! | | `unsigned-integer` | u64: not of the page, but what SciPy writes |
//! | symmetry | `general` | none |
//! | | `symmetric` | a_ij = a_ji: the lower triangle is stored, and packed by `x` here |
//! | | `skew-symmetric` | a_ij = -a_ji: the lower triangle without the diagonal; `-x` |
//! | | `hermitian` | a_ij is the conjugate of a_ji: as `symmetric`, of complex entries only; `x*` |
//!
//! # What it holds
//! One matrix, dense in column-major order or sparse, of bool (sparse only), i64, u64, f64 or c128,
//! with one of these symmetries. Comments are the metadata `mtx:comments`, as one text. What a
//! conversion carries goes into comments that begin with `%tenfold:`.
//!
//! # Where the spec is silent
//! 1. An entry that is given twice is refused when values are read, where SciPy takes the sum.
//! 2. Numbers are rounded to the nearest double; one too large for any is refused. Written is the
//!    shortest text that reads back to the same bits. Infinite values are `inf` and `-inf`, NaN is
//!    `nan`; one with other bits than those that hardware makes is `nan(0x1)`, as C spells it, which
//!    SciPy takes as any NaN.
//! 3. Each entry has a line of its own, and nothing else stands on it. Blank lines may stand anywhere
//!    but before the banner; comments only before the sizes, as in SciPy.
//! 4. An entry above the diagonal of a matrix with a symmetry is refused, as is one on the diagonal
//!    of a skew-symmetric one; the page says that they are not stored, and SciPy takes them.
//! 5. `double` is taken for `real`, as SciPy does. A real hermitian matrix, a pattern or unsigned
//!    matrix that is skew-symmetric and an array of a pattern are refused.
//! 6. Entries are written in the order of their columns, zeros included. Comments that say nothing,
//!    as SciPy writes one, are a hint and no metadata.
//! 7. Lines that a conversion carries have less than 1024 bytes, the page's limit; lines read may be
//!    longer.

mod header;
mod read;
mod write;

use header::{Banner, Word};

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, ReadOptions, SidecarSlot,
    StorageKind, WriteOptions, elements_of,
};
use crate::io::{Head, Sink, Source};
use crate::loss::{Aspect, Loss};
use crate::tensor::{Order, Storage, Tensor};
use crate::wire::text::CommentStyle;

/// The Matrix Market format.
#[derive(Debug)]
pub struct Mtx;

const NAME: &str = "mtx";
const MAGIC: &[u8] = b"%%MatrixMarket";
/// The syntax of comments.
const COMMENTS: CommentStyle = CommentStyle {
    mark: "%",
    name: "mtx:comments",
};

static INFO: Info = Info {
    name: NAME,
    title: "Matrix Market's text: one matrix, dense or sparse, perhaps symmetric",
    extensions: &["mtx"],
    magic: MAGIC,
    versions: &["1"],
    only_read: &[],
    options: &[],
    holds: Capabilities {
        names: Names::One,
        numbers: &[Number::I64, Number::U64, Number::F64, Number::Bool],
        arities: &[Arity::Real, Arity::Complex],
        kinds: &[StorageKind::Dense, StorageKind::Sparse],
        orders: &[Order::Column],
        ndim: (2, 2),
        size: (0, i64::MAX.cast_unsigned()),
        dim_names: DimNames::No,
        symmetry: true,
        state: false,
        meta: MetaSupport {
            file: false,
            tensor: false,
        },
        carries: SidecarSlot::Comment,
    },
};

impl Format for Mtx {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn probe(&self, head: &Head) -> Result<Match> {
        let start = head.bytes().get(..MAGIC.len());
        let is_signed = start.is_some_and(|start| start.eq_ignore_ascii_case(MAGIC));
        Ok(if is_signed { Match::Yes } else { Match::No })
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        let mut losses = Vec::new();
        for (key, tensor) in bundle.entries() {
            if let Some(detail) = no_number(tensor) {
                losses.push(Loss::impossible(key, Aspect::Number, detail));
            }
            if !tensor.symmetries().is_empty() && Banner::symmetry_of(tensor).is_none() {
                let detail = "symmetries other than one of a packed matrix";
                losses.push(Loss::impossible(key, Aspect::Symmetry, detail));
            }
        }
        Ok(losses)
    }
}

/// The reason why a tensor's elements cannot be stored, where [`Capabilities`] does not imply it.
fn no_number(tensor: &Tensor) -> Option<String> {
    let dtype = tensor.dtype();
    let is_dense = matches!(tensor.storage(), Storage::Dense { .. });
    let is_known = INFO.holds.numbers.contains(&dtype.number);
    if dtype.arity == Arity::Complex && is_known && dtype.number != Number::F64 {
        Some(elements_of(dtype))
    } else if dtype.number == Number::Bool && is_dense {
        Some("dense bool, a pattern is sparse; --cast i64 gives numbers".into())
    } else {
        None
    }
}
