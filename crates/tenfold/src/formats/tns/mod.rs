//! FROSTT's text of sparse tensors, `.tns`.
//!
//! The page is `frostt.io/tensors/file-formats.html`. A file is text, one entry a line; fields stand
//! between spaces, indices count from 1, and there is no header: how many dimensions there are is
//! seen from the first entry, how large they are from the largest indices.
//!
//! | lines | field | |
//! |---|---|---|
//! | any | comments | each begins with `#` |
//! | … | entries | an index for every dimension, then the value |
//!
//! What MLIR calls the extended format has two lines more before the entries:
//!
//! | lines | field | |
//! |---|---|---|
//! | any | comments | each begins with `#`; one may be `# extended FROSTT format` |
//! | 1 | rank, count | how many dimensions there are, and how many entries follow |
//! | 1 | sizes | of every dimension |
//! | … | entries | as above |
//!
//! # What it holds
//! One sparse tensor of f64 with one dimension or more. Comments before the first entry are the metadata
//! `tns:comments`, as one text. What a conversion carries goes into comments that begin with
//! `#tenfold:`; where the largest indices do not give the sizes, a comment says them, as in
//! `# tenfold: shape 3 4 5`.
//!
//! # Where the spec is silent
//! 1. A file has the two lines of the extended format if a comment says so as above, or if its first
//!    line has two whole numbers, its second as many as the first of them says, and its third
//!    (none where there are no entries) one field more. Any other has none.
//! 2. It is written with these lines if it was read with them, if a comment says so, or by
//!    `--opt header=extended`; `--opt header=none` leaves them and that comment out.
//! 3. Values are doubles, also where all are whole numbers. They are rounded, refused and spelled as in
//!    Matrix Market's text: the shortest that reads back to the same bits.
//! 4. An entry that is given twice is refused when values are read.
//! 5. Entries are written in the order of their indices, the last running fastest, zeros included.
//! 6. A file without entries that nowhere says its sizes is refused, as is an index 0.
//! 7. Comments may stand between entries; these are read over, and said to be. Blank lines may stand
//!    anywhere.
//! 8. Tensors of 2^64 cells or more, which a few of FROSTT's are, are not read.

mod header;
mod read;
mod write;

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, OptionInfo, ReadOptions,
    SidecarSlot, StorageKind, When, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::tensor::Order;
use crate::wire::text::CommentStyle;

/// FROSTT's format.
#[derive(Debug)]
pub struct Tns;

const NAME: &str = "tns";
/// The syntax of comments.
const COMMENTS: CommentStyle = CommentStyle {
    mark: "#",
    name: "tns:comments",
};
/// The comment that declares a header.
const EXTENDED: &[u8] = b"extended FROSTT format";
/// The fields of a comment with the sizes, before them.
const SHAPE: [&[u8]; 3] = [b"#", b"tenfold:", b"shape"];
/// The hint that there was a header.
const HEADER: &str = "tns:header";

static INFO: Info = Info {
    name: NAME,
    title: "FROSTT's text: one sparse tensor",
    extensions: &["tns"],
    magic: b"",
    versions: &["1"],
    only_read: &[],
    options: &[OptionInfo {
        name: "header",
        when: When::Write,
        values: "none|extended",
        about: "whether lines of sizes come first; as it was unless given",
    }],
    holds: Capabilities {
        names: Names::One,
        numbers: &[Number::F64],
        arities: &[Arity::Real],
        kinds: &[StorageKind::Sparse],
        orders: &[Order::Row],
        ndim: (1, 255),
        size: (0, i64::MAX.cast_unsigned()),
        dim_names: DimNames::No,
        symmetry: false,
        state: false,
        meta: MetaSupport {
            file: false,
            tensor: false,
        },
        carries: SidecarSlot::Comment,
    },
};

impl Format for Tns {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn probe(&self, head: &Head) -> Result<Match> {
        Ok(if read::is_likely(head) {
            Match::Looks
        } else {
            Match::No
        })
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }
}
