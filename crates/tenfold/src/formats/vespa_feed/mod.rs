//! Vespa's feeds: a tensor field of many documents, as one tensor with the ids for labels.
//!
//! The page is the document JSON format of the Vespa search engine. A feed has a line for every
//! document; what `vespa visit` and the document API give is read too:
//!
//! | form | looks like |
//! |---|---|
//! | lines | `{"put":"id:NAMESPACE:SCHEMA::ID","fields":{"FIELD":{"values":[1.0,2.0]}}}` |
//! | a visit | the same with `"id"` for `"put"`, and more members |
//! | a list | `[{"put":…},{"put":…}]` |
//! | an answer | `{"documents":[{"id":…,"fields":…}]}`, with more members around it |
//!
//! The value of a field is any of the JSON forms of the `vespa-text` format.
//!
//! # What it holds
//! One labelled tensor: its mapped dimension `id` has a label for every document, its other
//! dimensions are those of the field, which may be mapped too: `tensor(category{},x[3])` of all
//! documents is a tensor of `category{}`, `id{}` and `x[3]`. Rows without labels are called by their
//! numbers.
//!
//! # Where the spec is silent
//! 1. A label is what stands behind `id:NAMESPACE:SCHEMA::` where all documents share that, else the
//!    whole id; `--opt ids=full` keeps whole ids anyway, `--opt ids=short` refuses others. A label
//!    that is a whole id is written as it is.
//!    Labels of which only some are whole ids are not written: nobody could tell them apart again.
//! 2. The type of the field is `--opt type=…`, or what the first document says; where others say one
//!    it is the same. Vespa ignores it. It is written in the first line, unless it was given.
//! 3. Without `--opt field=…` the first document's only field is meant.
//! 4. A document that lacks the field, has a value of another shape, or was there before is refused,
//!    and so are updates and removals.
//! 5. A document whose field has mapped dimensions and no cell has no place in a tensor: a note says
//!    how many there are. The blocks of a document are written together, in the order of the first.
//! 6. Of several mapped dimensions, the one called `id` is that of the documents; where none is, the
//!    tensor is refused.

mod read;
mod write;

use super::vespa::{CELL_TYPES, MOST};
use crate::bundle::Bundle;
use crate::bytes::{Sink, Source};
use crate::error::{Loss, Result};
use crate::format::{
    Adapted, Carries, DimNames, Format, Holds, HoldsMeta, Info, Match, Names, OptionInfo,
    ReadOptions, StorageKind, When, WriteOptions,
};
use crate::key::Key;
use crate::number::Arity;
use crate::tensor::{Order, Tensor};

/// Vespa's feeds.
#[derive(Debug)]
pub struct VespaFeed;

const NAME: &str = "vespa-feed";
/// The dimension whose labels are the ids.
const ID: &str = "id";

static INFO: Info = Info {
    name: NAME,
    title: "Vespa's feeds: a tensor field of many documents, a line each",
    extensions: &["jsonl"],
    magic: &[],
    versions: &["1"],
    only_read: &[],
    options: &[
        OptionInfo::new(
            "field",
            When::Read,
            "NAME",
            "the field to read; the only one, unless given",
        ),
        OptionInfo::new(
            "type",
            When::Read,
            "tensor<float>(x[3])",
            "the type of the field, where the first document does not say it",
        ),
        OptionInfo::new(
            "ids",
            When::Read,
            "short|full",
            "whether labels are whole ids, or what is behind the schema; short if all have one",
        ),
        OptionInfo::new(
            "schema",
            When::Write,
            "NAME",
            "the document type; doc unless given",
        ),
        OptionInfo::new(
            "namespace",
            When::Write,
            "NAME",
            "the namespace of ids; the schema unless given",
        ),
        OptionInfo::new(
            "field",
            When::Write,
            "NAME",
            "the field to write; tensor unless given",
        ),
        OptionInfo::new(
            "ids",
            When::Write,
            "@FILE",
            "the ids, a line for every row; the labels or the numbers of rows unless given",
        ),
        OptionInfo::new(
            "type",
            When::Write,
            "tensor<bfloat16>(x[384])",
            "the type of the field: rows are cast to its cells and get the names of its dimensions",
        ),
        OptionInfo::new(
            "hex",
            When::Write,
            "true|false",
            "whether values are hexadecimal digits",
        ),
    ],
    holds: Holds {
        names: Names::One,
        numbers: CELL_TYPES,
        arities: &[Arity::Real],
        kinds: &[StorageKind::Labelled],
        orders: &[Order::Row],
        ndim: (1, 255),
        size: (1, MOST),
        dim_names: DimNames::Required,
        symmetry: false,
        state: false,
        meta: HoldsMeta {
            file: false,
            tensor: false,
        },
        carries: Carries::No,
    },
};

impl Format for VespaFeed {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    /// A file that begins with a document is likely one.
    fn probe(&self, source: &Source) -> Match {
        match read::is_likely(source) {
            true => Match::Maybe,
            false => Match::No,
        }
    }

    fn adapt(&self, _: &Key, tensor: &Tensor, how: &WriteOptions) -> Result<Option<Adapted>> {
        write::adapt(tensor, how)
    }

    fn quirks(&self, bundle: &Bundle) -> Vec<Loss> {
        write::quirks(bundle)
    }
}
