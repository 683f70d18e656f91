//! primitiv File Format 0.1: models, parameters with their statistics, and optimizers.
//!
//! The page is "primitiv File Format v0.1" of the primitiv neural network toolkit. A file is
//! MessagePack objects one after the other, with nothing around them.
//!
//! | object | field | |
//! |---|---|---|
//! | u32 | major version | 0 |
//! | u32 | minor version | 1 |
//! | u32 | type | 0x0 shape, 0x100 tensor, 0x200 parameter, 0x300 model, 0x400 optimizer |
//! | … | body | by type |
//!
//! | body | is |
//! |---|---|
//! | shape | array of u32 dims, u32 batch |
//! | tensor | shape, bin: f32, little-endian, column-major, the batch slowest |
//! | parameter | tensor, u32 n, n × (str name, tensor): its value and its statistics |
//! | model | u32 n, n × (array of str key, parameter) |
//! | optimizer | map of str to u32, map of str to f32 |
//!
//! | item | bytes |
//! |---|---|
//! | u32 | `ce`, 4 bytes big-endian, however small the number |
//! | f32 | `ca`, 4 bytes big-endian |
//! | str, bin, array, map | any form of MessagePack is read, the shortest is written |
//!
//! # What it holds
//! Dense f32 tensors of up to 8 dimensions and a batch, which becomes a last dimension called
//! `batch`. A model is a tree of parameters; statistics lie beside their parameter. An optimizer
//! and a bare shape have no tensors: they are metadata under `primitiv:`.
//!
//! # Where the spec is silent
//! 1. The forms of an item: those of the table, which are the only ones primitiv itself reads. A
//!    lenient reader takes any number that fits for a u32 or (rounded) an f32, and bin and str for
//!    each other.
//! 2. Bytes after the body are refused, though primitiv ignores them; a lenient reader notes them.
//! 3. A statistic or config that is there twice is refused; lenient, the first counts. A key that
//!    is there twice is refused; lenient, the last counts. Both are primitiv's own choice.
//! 4. The key `[]`, and keys of which one continues another (`["a"]`, `["a", "b"]`), can be in no
//!    model together. They are refused; a lenient reader notes them.
//! 5. A shape has at most 8 dims, and no dim or batch of 0. Trailing dims of 1 are dropped, and
//!    reported where they are written: to primitiv they are not there.
//! 6. The cells of a shape are fewer than 2^32. primitiv counts them in 32 bits without looking.
//! 7. The page says that a batch is always 1. primitiv demands it of a parameter's value alone.
//! 8. Names are UTF-8; to primitiv they are bytes.
//! 9. The entries of a model are written sorted by their keys, segment by segment; statistics and
//!    configs in the order they have, since primitiv takes them from a hash table.
//! 10. primitiv has no program that writes or reads shape and tensor files. They are as the page
//!     says.
//! 11. The extension says what is written: `.model`, `.param`, `.optimizer`, `.tensor`, `.shape`. Where
//!     there is none of these, and no `--opt type=`, a file stays what it was, or is what fits.
//! 12. In a model, a plain name of another format is a path whose segments are separated by `/`: that is
//!     what `Model::load` looks for. `--sep` chooses another letter.
//! 13. There is no magic. A file is recognized by its versions and its type, also when it is cut
//!     within the type: it is a broken primitiv file then, not an unknown one.

mod items;
mod keys;
mod losses;
mod read;
mod write;

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Adapted, Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, OptionInfo,
    ReadOptions, SidecarSlot, StorageKind, When, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::key::Key;
use crate::loss::Loss;
use crate::tensor::{Order, Tensor};

/// The primitiv format.
#[derive(Debug)]
pub struct Primitiv;

const NAME: &str = "primitiv";
const MAJOR: u32 = 0;
const MINOR: u32 = 1;
/// The versions at the beginning of a file, and the prefix common to all types.
const MAGIC: &[u8] = b"\xce\0\0\0\0\xce\0\0\0\x01\xce\0\0";
/// Length of the versions and the type.
const HEADER: usize = 15;
/// Length of that prefix by which a truncated file is recognized: the versions.
const RECOGNISABLE: usize = 10;
const MAX_DIMS: u64 = 8;
/// The name of the last dimension if it is a batch.
const BATCH: &str = "batch";

/// The hint with the type of a file.
const HINT_TYPE: &str = "primitiv:type";
const META_DIMS: &str = "primitiv:dims";
const META_BATCH: &str = "primitiv:batch";
const META_UINTS: &str = "primitiv:uint_configs";
const META_FLOATS: &str = "primitiv:float_configs";

/// The type of a file, which determines its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DataType {
    Shape,
    Tensor,
    Parameter,
    Model,
    Optimizer,
}

impl DataType {
    const ALL: [DataType; 5] = [
        DataType::Shape,
        DataType::Tensor,
        DataType::Parameter,
        DataType::Model,
        DataType::Optimizer,
    ];

    /// The number of the type in a header.
    fn code(self) -> u32 {
        match self {
            DataType::Shape => 0x000,
            DataType::Tensor => 0x100,
            DataType::Parameter => 0x200,
            DataType::Model => 0x300,
            DataType::Optimizer => 0x400,
        }
    }

    /// The type suggested by a file name extension.
    fn of_extension(extension: &str) -> Option<DataType> {
        match extension {
            "shape" => Some(DataType::Shape),
            "tensor" => Some(DataType::Tensor),
            "param" => Some(DataType::Parameter),
            "model" => Some(DataType::Model),
            "optimizer" => Some(DataType::Optimizer),
            _ => None,
        }
    }

    /// The name of the type.
    fn word(self) -> &'static str {
        match self {
            DataType::Shape => "shape",
            DataType::Tensor => "tensor",
            DataType::Parameter => "parameter",
            DataType::Model => "model",
            DataType::Optimizer => "optimizer",
        }
    }
}

const INFO: Info = Info {
    name: NAME,
    title: "MessagePack models, parameters with statistics, optimizers",
    extensions: &["model", "param", "optimizer", "tensor", "shape"],
    magic: MAGIC,
    versions: &["0.1"],
    only_read: &[],
    options: &[OptionInfo {
        name: "type",
        when: When::Write,
        values: "auto, tensor, parameter, model, shape, optimizer",
        about: "what the file is, whatever its extension says; auto keeps what it was, or takes what \
                fits",
    }],
    holds: Capabilities {
        names: Names::Tree,
        numbers: &[Number::F32],
        arities: &[Arity::Real],
        kinds: &[StorageKind::Dense],
        orders: &[Order::Column],
        ndim: (0, MAX_DIMS + 1),
        size: (1, 0xffff_ffff),
        dim_names: DimNames::Batch,
        symmetry: false,
        state: true,
        meta: MetaSupport {
            file: false,
            tensor: false,
        },
        carries: SidecarSlot::No,
    },
};

static ANY: Info = INFO;
/// The capabilities of a file of one parameter: its value and its statistics.
static OF_PARAMETER: Info = Info {
    holds: Capabilities {
        names: Names::One,
        ..INFO.holds
    },
    ..INFO
};
static OF_TENSOR: Info = Info {
    holds: Capabilities {
        names: Names::One,
        state: false,
        ..INFO.holds
    },
    ..INFO
};

impl Format for Primitiv {
    fn info(&self) -> &'static Info {
        &ANY
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, write::data_type(bundle, how)?)
    }

    fn edition(&self, bundle: &Bundle, how: &WriteOptions) -> Option<&'static dyn Format> {
        // An unknown type is refused when the file is written.
        let data_type = write::data_type(bundle, how).ok()?;
        Some(match data_type {
            DataType::Shape => &Object(DataType::Shape),
            DataType::Tensor => &Object(DataType::Tensor),
            DataType::Parameter => &Object(DataType::Parameter),
            DataType::Model => &Object(DataType::Model),
            DataType::Optimizer => &Object(DataType::Optimizer),
        })
    }

    fn lone_extension(&self) -> Option<&'static str> {
        Some("param")
    }

    /// Looks for the header of a known type. A file truncated within it is a malformed primitiv
    /// file, not an unrecognized one.
    fn probe(&self, head: &Head) -> Result<Match> {
        let start = head.bytes();
        let start = start.get(..HEADER).unwrap_or(start);
        let is_header = match start.strip_prefix(MAGIC) {
            Some(rest) => matches!(rest, [] | [0..=4] | [0..=4, 0]),
            None => start.len() >= RECOGNISABLE && MAGIC.starts_with(start),
        };
        Ok(if is_header { Match::Yes } else { Match::No })
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(losses::format_losses(bundle, write::choose(bundle)))
    }
}

/// Files of one type, as a format of their own: each type has its own capabilities.
#[derive(Debug)]
struct Object(DataType);

impl Format for Object {
    fn info(&self) -> &'static Info {
        match self.0 {
            DataType::Shape | DataType::Model | DataType::Optimizer => &ANY,
            DataType::Parameter => &OF_PARAMETER,
            DataType::Tensor => &OF_TENSOR,
        }
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, _: &WriteOptions) -> Result<()> {
        write::write(bundle, out, self.0)
    }

    fn name_separator(&self, bundle: &Bundle) -> Option<char> {
        // Names from a file of this format are segments already.
        let is_own = bundle.hints.get(HINT_TYPE).is_some();
        (self.0 == DataType::Model && !is_own).then_some('/')
    }

    fn adapt(&self, key: &Key, tensor: &Tensor, _: &WriteOptions) -> Result<Option<Adapted>> {
        losses::adapt(key, tensor, self.0)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(losses::format_losses(bundle, self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(bytes: &[u8]) -> Match {
        let head = Head::of(&Source::memory(bytes.to_vec())).unwrap();
        Primitiv.probe(&head).unwrap()
    }

    #[test]
    fn a_file_cut_after_its_versions_is_still_recognised() {
        let header = b"\xce\0\0\0\0\xce\0\0\0\x01\xce\0\0\x03\0";
        for len in 0..=header.len() {
            let expected = if len < 10 { Match::No } else { Match::Yes };
            assert_eq!(probe(&header[..len]), expected, "{len}");
        }
        for other in [
            b"\xce\0\0\0\0\xce\0\0\0\x01\xce\0\0\x05\0",
            b"\xce\0\0\0\0\xce\0\0\0\x01\xce\0\0\x03\x01",
            b"\xce\0\0\0\0\xce\0\0\0\x02\xce\0\0\x03\0",
        ] {
            assert_eq!(probe(other), Match::No);
        }
    }
}
