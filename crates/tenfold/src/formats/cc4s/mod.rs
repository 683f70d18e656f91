//! cc4s' tensors: a `NAME.yaml` that describes, and a `NAME.elements` beside it that has the values.
//!
//! There is no page; this is what cc4s' user manual and programs say, and what VASP, FHI-aims,
//! Abinit and others write for it.
//!
//! | key of a tensor | |
//! |---|---|
//! | `version` | 100 |
//! | `type` | `Tensor` |
//! | `scalarType` | `Real64`: doubles; `Complex64`: pairs of them, real part first |
//! | `dimensions` | a list, or a map with the keys 0, 1, …, of maps with a `length` and perhaps a `type`, such as `State` |
//! | `elements` | a map whose `type` is `IeeeBinaryFile` or `TextFile` |
//! | `unit` | a number: what the elements are in atomic units; they are not multiplied by it |
//! | `metaData` | may be there: any map |
//! | `nonZeroCondition` | may be there: which blocks have elements at all |
//!
//! A map whose `type` is `TensorSet` has `components`, whose values are such maps again; the
//! elements of one called `KEY` are in `NAME.components.KEY.elements`. Any other map leads on to
//! `NAME.KEY.elements` and so on.
//!
//! Elements come with the first index fastest: doubles, little-endian, and nothing else, or text,
//! with complex ones as `(re,im)`. With `nonZeroCondition: {all: […]}` only those of some blocks are
//! there. A condition has `properties`, each a `dimension` and the name of a `property`, and
//! `nonZeros`, each a list of one value per property. The properties of a dimension of type `T` are
//! in `T.yaml` beside the file, under `propertyIndices`: for each a list of one value per index. A
//! block is one choice of `nonZeros` for every condition, that of the first condition changing
//! fastest; its elements are those at the indices that have these values.
//!
//! The yaml of 2020 has `version: v1.0`, `scalarType: complex64`, no `type`, `data`: the name of the
//! file of elements, which is text unless there is `binary: 1`, and metadata among all that.
//!
//! # What it holds
//! Tensors of f64 or c128 in a tree of names. A dimension's `type` is its name. `metaData` is metadata
//! of the tensor, `unit` the metadata `cc4s:unit` unless it is 1. With a `nonZeroCondition` a tensor is
//! sparse: the cells of all blocks, zeros included; the condition is the metadata
//! `cc4s:nonZeroCondition`, and what `T.yaml` says `cc4s:dimensionTypes`. A sparse tensor that has both,
//! and just these cells, is written with the condition; any other becomes dense.
//!
//! # Where the spec is silent
//! 1. A file of elements that is too long is what an older, larger one left: cc4s writes over files
//!    without cutting them. What is too much is passed over with a note. One too short is refused.
//! 2. sisi4s writes a whole TENS 0.9 file as elements. Where one is found of the length that fits, its
//!    header is passed over with a note.
//! 3. Dry runs leave `# dry-run…` as elements. That is refused.
//! 4. Names of files never lead out of the folder; a key with `/` in it is refused. Where elements are
//!    missing, the tensor is listed, and reading its values fails.
//! 5. Text is read as `re`, `(re)` or `(re,im)`, as many in a line as there are, and written one a
//!    line, the shortest that reads back to the same bits.
//! 6. Scalars are those of YAML 1.2, so that `1e3` is a number. Everything is read but anchors,
//!    aliases, tags and second documents. Keys that are not known are passed over with a note; what
//!    stands beside tensors in other maps is metadata of the file.
//! 7. A tuple that `nonZeros` lists twice is refused: its block would be there twice.
//! 8. Files beside the yaml are written first, then the yaml. A `T.yaml` that is there with the same
//!    bytes is left as it is.

mod blocks;
mod describe;
mod elements;
mod read;
mod write;

use std::path::{Path, PathBuf};

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, OptionInfo, ReadOptions,
    SidecarSlot, StorageKind, When, WriteOptions,
};
use crate::io::{Head, Sink, Source, presence};
use crate::loss::{Aspect, Loss};
use crate::tensor::{Order, Storage};
use crate::wire::yaml;

/// The present format of cc4s.
#[derive(Debug)]
pub struct Cc4s;

const NAME: &str = "cc4s";
/// The ending of the names of files of elements.
const ELEMENTS: &str = "elements";
/// The only version so far, as cc4s writes it.
const VERSION: u64 = 100;
/// The words for elements stored as doubles and as text.
const BINARY: &str = "IeeeBinaryFile";
const TEXT: &str = "TextFile";

/// Names of metadata.
mod meta {
    pub(super) const UNIT: &str = "cc4s:unit";
    pub(super) const CONDITION: &str = "cc4s:nonZeroCondition";
    pub(super) const TYPES: &str = "cc4s:dimensionTypes";
    /// A hint: the word for the storage of the elements.
    pub(super) const ELEMENTS: &str = "cc4s:elements";
    /// A hint: the version of the yaml, if it is another one.
    pub(super) const VERSION: &str = "cc4s:version";
}

static INFO: Info = Info {
    name: NAME,
    title: "tensors of cc4s: a yaml, and files of elements beside it",
    extensions: &["yaml", "yml"],
    magic: b"",
    versions: &["100"],
    only_read: &["v1.0"],
    options: &[OptionInfo {
        name: "elements",
        when: When::Write,
        values: "binary, text",
        about: "how elements are kept",
    }],
    holds: Capabilities {
        names: Names::Tree,
        numbers: &[Number::F64],
        arities: &[Arity::Real, Arity::Complex],
        kinds: &[StorageKind::Dense, StorageKind::Sparse],
        orders: &[Order::Column],
        ndim: (0, 255),
        size: (0, i64::MAX.cast_unsigned()),
        dim_names: DimNames::Any,
        symmetry: false,
        state: false,
        meta: MetaSupport {
            file: false,
            tensor: true,
        },
        carries: SidecarSlot::Tensor,
    },
};

impl Format for Cc4s {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn probe(&self, head: &Head) -> Result<Match> {
        let has = |word: &str| {
            let mut parts = head.bytes().windows(word.len());
            parts.any(|part| part == word.as_bytes())
        };
        let is_likely = ["version:", "scalarType:", "dimensions:"]
            .into_iter()
            .all(has);
        Ok(if is_likely { Match::Maybe } else { Match::No })
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    fn primary_of(&self, path: &Path) -> Result<Option<PathBuf>> {
        if path.extension().is_none_or(|ending| ending != ELEMENTS) {
            return Ok(None);
        }
        // `NAME.components.KEY.elements` belongs to `NAME.yaml`.
        let mut stem = path.with_extension("");
        while let Some(name) = stem.file_name() {
            let mut name = name.to_owned();
            name.push(".yaml");
            let yaml = path.with_file_name(name);
            if presence::is_file(&yaml)? || stem.extension().is_none() {
                return Ok(Some(yaml));
            }
            stem = stem.with_extension("");
        }
        Ok(None)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        let mut losses = write::odd_names(bundle);
        for (key, tensor) in bundle.entries() {
            for (name, value) in tensor.meta.iter() {
                if !yaml::fits(value) {
                    let detail = format!("metadata {name}, of a kind that YAML has no word for");
                    losses.push(Loss::impossible(key, Aspect::Metadata, detail));
                }
            }
            let is_sparse = matches!(tensor.storage(), Storage::Sparse { .. });
            if is_sparse && tensor.n_mapped() == 0 && !blocks::fit(tensor)? {
                let detail = "cells that no nonZeroCondition tells";
                losses.push(Loss::impossible(key, Aspect::Sparsity, detail));
            }
        }
        Ok(losses)
    }
}
