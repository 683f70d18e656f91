//! Vespa's tensors as text: JSON documents and literals.
//!
//! The pages are the document JSON format, the constant tensor JSON format and the tensor guide of
//! the Vespa search engine. A text has a type and values:
//!
//! | form | looks like |
//! |---|---|
//! | short, dense | `{"type":"tensor(x[2],y[2])","values":[[1.0,2.0],[3.0,4.0]]}` |
//! | short, mapped | `{"type":"tensor(x{})","cells":{"a":1.0}}` |
//! | short, blocks | `{"type":"tensor(k{},x[2])","blocks":{"a":[1.0,2.0]}}` |
//! | several mapped | `"blocks":[{"address":{"k":"a","l":"b"},"values":[1.0,2.0]}]`, and `cells` alike |
//! | long | `{"type":"tensor(x[1])","cells":[{"address":{"x":"0"},"value":1.0}]}` |
//! | hex | as short, with `"3FF0000000000000"` for the values of a block |
//! | values alone | what stands in `values`, `cells` or `blocks`, where `--opt type=…` says the type |
//! | literal | `tensor(k{},x[2]):{a:[1.0, 2.0]}`; without a type `{{x:a}:1.0}` |
//!
//! A type is `tensor`, the type of the cells unless it is double (`<float>`, `<bfloat16>`,
//! `<int8>`), and the dimensions: `name{}` is mapped, `name[3]` indexed. Values of JSON come in the
//! order of the sorted names, those of a literal in the order of its own type.
//!
//! # What it holds
//! As the binary form: one tensor of f64, f32, bf16 or i8 whose dimensions all have names.
//!
//! # Where the spec is silent
//! 1. Types have spaces between any two words, names of letters, digits and `_`, sizes from 1 to
//!    2^31-1, and no comma after the last dimension. `double` is `tensor()`, whose cells are double.
//!    One size may be left out, `x[]`, where all values are given and no dimension is mapped.
//! 2. The type in a file and `--opt type=` have to be the same; Vespa ignores the former.
//! 3. Values are flat, or nested by all dimensions with the length of each; there are exactly as many
//!    as the type has. Vespa takes any nesting, and one of its readers fills up with zeros.
//! 4. A value is a number, a text that spells one, `null` for NaN, or `inf`, `infinity`, `nan` in
//!    any case and with a sign. One that is too large for its type, or no whole number for int8, is
//!    refused; Vespa takes infinity and cuts. Casting to bfloat16 rounds to the nearest; Vespa cuts.
//! 5. Digits may be those of another type, by their number, but for int8 and in literals.
//! 6. Cells that are not listed in a dense block are 0. A cell or block that is there twice is
//!    refused, and so are dimensions that are unknown or missing. Labels may be numbers.
//! 7. In an object without a type, `cells`, `blocks` and `values` are labels where what they hold is
//!    no list of addresses, no object and no dense value.
//! 8. A literal's block of one cell may be a number, else a word is its digits.
//!
//! # How it is written
//! As Vespa's Java code does (JDK 19 and later, whose numbers have no needless digits), with these
//! differences: float and bfloat16 cells have the shortest digits of a float, `0.1`, where Vespa has those
//! of the double, `0.10000000149011612`; NaN and the infinities are the texts `"NaN"`, `"Infinity"` and
//! `"-Infinity"`, where Vespa writes `null` and loses them. Blocks come in their own order. A dense part with NaNs whose
//! bits no text spells becomes digits. In literals a block of one cell keeps its brackets, and the
//! cells of several mapped dimensions come block by block. A text ends with a line break.

pub(in crate::formats) mod builder;
pub(in crate::formats) mod cell;
pub(in crate::formats) mod document;
mod gather;
mod literal;
pub(in crate::formats) mod read;
pub(in crate::formats) mod values;
pub(in crate::formats) mod write;

use super::vespa;
use super::vespa::{HOLDS, positions};
use crate::bundle::Bundle;
use crate::dtype::Number;
use crate::error::Result;
use crate::format::{
    Format, Info, Match, OptionInfo, Options, ReadOptions, SPARSE_CELLS, When, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::loss::Loss;
use crate::tensor::Tensor;

/// Vespa's JSON forms and literals.
#[derive(Debug)]
pub struct VespaText;

const NAME: &str = "vespa-text";

static INFO: Info = Info {
    name: NAME,
    title: "Vespa's tensors as text: JSON in all its forms, and literals",
    extensions: &["json"],
    magic: &[],
    versions: &["1"],
    only_read: &[],
    options: &[
        OptionInfo {
            name: "type",
            when: When::Read,
            values: "tensor<float>(x[3])",
            about: "the type, where the text does not say it",
        },
        positions::LABELS,
        positions::SHAPE,
        OptionInfo {
            name: "form",
            when: When::Write,
            values: "short|long|hex|literal",
            about: "JSON with short or whole addresses or hexadecimal values, or a literal",
        },
        SPARSE_CELLS,
    ],
    holds: HOLDS,
};

impl Format for VespaText {
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

    /// A file that begins with its type is likely a tensor.
    fn probe(&self, head: &Head) -> Result<Match> {
        let is_likely = read::is_likely(head)?;
        Ok(if is_likely { Match::Maybe } else { Match::No })
    }

    /// Most JSON is no tensor.
    fn probe_named(&self, head: &Head) -> Result<Match> {
        let is_tensor = read::is_tensor(head)?;
        Ok(if is_tensor { Match::Maybe } else { Match::No })
    }

    fn numbers(&self, tensor: &Tensor) -> &'static [Number] {
        vespa::numbers(tensor)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        write::format_losses(bundle)
    }
}
