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
//! | updates | `{"update":"id:…","fields":{"FIELD":{"assign":{"values":[1.0,2.0]}}}}` |
//! | plain objects | `{"id":"a","embedding":[1.0,2.0]}`, where `--opt field=embedding,id=id` names both |
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
//! 1. A label is what stands behind `id:NAMESPACE:SCHEMA::` where all documents share that, else
//!    the whole id; `--opt ids=full` keeps whole ids anyway, `--opt ids=short` refuses others. A
//!    label that is a whole id is written as it is. Labels of which only some are whole ids are not
//!    written, as a reader could not tell them apart.
//! 2. The type of the field is `--opt type=…`, or what the first document says; where others say one
//!    it is the same. Vespa ignores it. It is written in the first line, unless it was given. The lists
//!    of plain objects are doubles along `x`, or `x`, `y`, `z` where they are nested, unless it is given.
//! 3. Without `--opt field=…` the first document's only field is meant, or the only one that says a type.
//! 4. A document that lacks the field, has a value of another shape, or was there before is refused,
//!    and so are removals, and updates of the field that do not assign to it.
//! 5. A document whose field has mapped dimensions and no cell has no place in a tensor: a note says
//!    how many there are. The blocks of a document are written together, in the order of the first.
//! 6. Of mapped dimensions, the one called `id` or given by `--opt id-dim=` is that of the documents; where
//!    none is, the tensor is refused. The first dimension of a dense tensor is, unless one is given.
//! 7. The other fields of documents, and the members `create` and `condition`, are kept as the JSON they are in the
//!    metadata `vespa-feed:documents`, by label, and written again; `--opt others=drop` leaves them out. What an update
//!    does to another field but assign, such as `increment`, is written in updates alone.
//!    The document type and the namespace of the ids, and the name of the field, are metadata in other formats
//!    (`vespa-feed:schema`, `vespa-feed:namespace`, `vespa-feed:field`), and written again.
//! 8. `put` replaces a document in Vespa, which a remark says unless it was asked for or read.
//! 9. Signs are packed as `binarize | pack_bits` of Vespa's indexing language packs them: a bit for each value above 0,
//!    the first of eight the most significant, and the last byte filled up with zeros.

mod adapt;
mod documents;
mod others;
mod read;
mod rows;
mod write;

use super::vespa::{CELL_TYPES, MOST, SCALARS, positions};
use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Adapted, Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, OptionInfo, Options,
    ReadOptions, SPARSE_CELLS, SidecarSlot, StorageKind, When, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::key::Key;
use crate::loss::Loss;
use crate::tensor::{Order, Tensor};

/// Vespa's feeds.
#[derive(Debug)]
pub struct VespaFeed;

const NAME: &str = "vespa-feed";
/// The dimension whose labels are the ids.
const ID: &str = "id";
/// The option for the dimension that becomes it.
const ID_DIM: &str = "id-dim";
const OPERATION: &str = "operation";
const BINARIZE: &str = "binarize";

/// The operation of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// Replaces the whole document with its id.
    Put,
    /// Replaces its fields in the document with its id.
    Update,
}

impl Operation {
    const ALL: [Operation; 2] = [Operation::Put, Operation::Update];

    fn word(self) -> &'static str {
        match self {
            Operation::Put => "put",
            Operation::Update => "update",
        }
    }

    /// The text before the value of a field.
    fn before(self) -> &'static str {
        match self {
            Operation::Put => "",
            Operation::Update => "{\"assign\":",
        }
    }

    /// The text after it.
    fn after(self) -> &'static str {
        match self {
            Operation::Put => "",
            Operation::Update => "}",
        }
    }
}

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
            ID,
            When::Read,
            "NAME",
            "the member that is the id, where documents are plain objects: {\"id\":…,\"embedding\":[…]}",
        ),
        OptionInfo::new(
            "others",
            When::Read,
            "keep|drop",
            "whether the other fields of documents are kept for a feed that is written; they are unless dropped",
        ),
        positions::LABELS,
        positions::SHAPE,
        OptionInfo::new(
            OPERATION,
            When::Write,
            "put|update",
            "whether whole documents are put or the field is assigned to; put unless the file had updates",
        ),
        OptionInfo::new(
            ID_DIM,
            When::Write,
            "NAME",
            "the dimension whose labels are the ids; the one called id or, of dense tensors, the first unless given",
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
            "the type of the field: rows are cast to its cells and get the names of its dimensions, and those \
             that it has mapped get their numbers for labels",
        ),
        OptionInfo::new(
            BINARIZE,
            When::Write,
            "int8",
            "packs signs into bits, as Vespa's pack_bits does: a bit is set for a value above 0, the first of \
             eight is the most significant",
        ),
        SPARSE_CELLS,
        OptionInfo::new(
            "hex",
            When::Write,
            "true|false",
            "whether values are hexadecimal digits",
        ),
    ],
    holds: Capabilities {
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
        meta: MetaSupport {
            file: false,
            tensor: false,
        },
        carries: SidecarSlot::No,
    },
};

impl Format for VespaFeed {
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

    /// A file that begins with a document is likely a feed.
    fn probe(&self, head: &Head) -> Result<Match> {
        let is_likely = read::is_likely(head)?;
        Ok(if is_likely { Match::Maybe } else { Match::No })
    }

    fn adapt(&self, _: &Key, tensor: &Tensor, how: &WriteOptions) -> Result<Option<Adapted>> {
        adapt::adapt(tensor, how)
    }

    fn numbers(&self, tensor: &Tensor) -> &'static [Number] {
        match tensor.dims() {
            // A row is a tensor without dimensions.
            [_] => SCALARS,
            _ => CELL_TYPES,
        }
    }

    fn remark(&self, bundle: &Bundle, how: &WriteOptions) -> Option<&'static str> {
        let operation = write::operation(bundle.only().ok()?, how);
        operation.is_ok_and(|known| known.is_none()).then_some(
            "put replaces whole documents in Vespa, with all their fields; --opt operation=update assigns to this \
             field alone",
        )
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        adapt::format_losses(bundle)
    }
}
