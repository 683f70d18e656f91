//! PyTorch's checkpoints, `.pt`, `.pth`, `.bin`, `.ckpt`: a pickle that names tensors, and their
//! values beside it. Read only, and the pickle is never run.
//!
//! There is no page of the layout; what `torch.save` writes and `torch.load` reads (2.x, and 0.1.10 on
//! for the older layout) decides.
//!
//! Since 1.6 a file is a zip archive whose members are stored, below a folder of any name:
//!
//! | member | |
//! |---|---|
//! | `data.pkl` | a pickle of the object that was saved |
//! | `data/0`, `data/1`, … | the values of a storage each, at multiples of 64 |
//! | `byteorder` | `little` or `big`; little where it is missing |
//! | `version`, `.format_version`, `.storage_alignment`, `.data/serialization_id` | about the archive |
//!
//! Before, and when asked, it is a row of pickles and of values:
//!
//! | what | |
//! |---|---|
//! | a pickle | the number 0x1950a86a20f9469cfc6c |
//! | a pickle | 1001, the version |
//! | a pickle | a dict about the machine |
//! | a pickle | the object that was saved |
//! | a pickle | a list of the keys of all storages |
//! | for each of these | how many elements it has (8 bytes, little-endian), and their values |
//!
//! In the pickle a tensor is the call of a function, such as `torch._utils._rebuild_tensor_v2`, with a
//! storage, the first element, the sizes and the strides; a storage is a persistent id, the tuple
//! `("storage", torch.FloatStorage, "0", "cpu", 24)` of its type, its key, where it was, and how many
//! elements it has.
//!
//! # What it holds
//! Whatever Python can pickle. Tensors are found in dicts, lists, tuples and objects, whose keys
//! make their path; texts and numbers beside them are metadata of the file. All types of PyTorch
//! but the quantized ones; sparse tensors as coordinates or compressed rows; arrays of NumPy.
//! Floats of 8 bits and less are opaque, by the names that safetensors has for them.
//!
//! # Where the spec is silent
//! 1. A call is never made and a name never looked up. The calls that mean something here are those of
//!    tensors, of Python's and PyTorch's plain containers, and of NumPy's arrays and scalars; any other
//!    is a class that is not known. Of an object of such a class what it holds (items, or attributes) is
//!    kept under plain names, and a note says so; what holds nothing is left out, with a note.
//! 2. Of a pickled `torch.nn.Module`, told by its attributes, parameters, buffers and modules are kept by
//!    the names that its `state_dict` has, a segment a module; all else about it is left out.
//! 3. Tensors that share bytes (tied weights) are tensors of their own, with a note.
//! 4. A tensor that cannot be read (quantized, on no device, of an unknown type) is left out, with
//!    a note. One whose cells lie outside of its storage makes the file malformed.
//! 5. A tensor whose storage has fewer elements than it has cells (expanded, say) is read only as far as
//!    the limit for decoded tensors allows.
//! 6. `requires_grad`, hooks, devices and the `_metadata` of a `state_dict` say nothing about values and
//!    are dropped. The bits `conj` and `neg` are applied.
//! 7. The CRC-32 of a member is compared when all values of a tensor are read that is all of its
//!    storage; `verify` compares all others too. PyTorch compares none, and writes 0 for all when told
//!    not to compute them: 0 is none.
//! 8. A dict with one key twice, and an object that holds itself, are refused. What the memo makes
//!    stand for many times as many values as the pickle has items is refused too.
//! 9. The opcodes of protocol 0 and the extension registry are refused; PyTorch writes protocol 2.
//! 10. The tar archives of PyTorch before 0.1.10 are refused by name.
//! 11. Storages of the older layout are little-endian on all machines.
//! 12. Bytes of bool are kept as they are.
//! 13. Values of a sparse tensor that is not said to be coalesced add up where they share a cell, in their
//!     own type and in their order, as `Tensor.coalesce` has it; a note says how many.
//! 14. Members that the pickle does not name and PyTorch does not write, bytes between members, and
//!     comments are passed over; `verify` notes them.

mod archive;
mod callables;
mod calls;
mod content;
mod legacy;
mod numpy;
mod plain;
mod read;
mod shared;
mod sparse;
mod storages;
mod types;

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, ReadOptions, SidecarSlot,
    StorageKind, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::tensor::Order;

/// PyTorch's checkpoints.
#[derive(Debug)]
pub struct Torch;

const NAME: &str = "torch";

/// Hints of this format.
mod hint {
    /// The layout of the file.
    pub(super) const LAYOUT: &str = crate::format::FROM_TORCH;
}

static INFO: Info = Info {
    name: NAME,
    title: "PyTorch's checkpoints: a pickle, never run, and values beside it",
    extensions: &["pt", "pth", "ckpt", "bin"],
    magic: b"PK\x03\x04",
    versions: &[],
    only_read: &["zip", "legacy"],
    options: &[],
    holds: Capabilities {
        names: Names::Tree,
        numbers: Number::WEIGHTS,
        arities: &[Arity::Real, Arity::Complex],
        kinds: &[StorageKind::Dense, StorageKind::Sparse, StorageKind::Opaque],
        orders: &[Order::Row, Order::Column],
        ndim: (0, u64::MAX),
        size: (0, u64::MAX),
        dim_names: DimNames::No,
        symmetry: false,
        state: false,
        meta: MetaSupport {
            file: true,
            tensor: false,
        },
        carries: SidecarSlot::No,
    },
};

impl Format for Torch {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, _: &Bundle, _: &mut Sink, _: &WriteOptions) -> Result<()> {
        Err(INFO.only_reads())
    }

    fn probe(&self, head: &Head) -> Result<Match> {
        let is_own = legacy::looks_right(head) || read::is_tar(head) || archive::looks_right(head)?;
        Ok(if is_own { Match::Yes } else { Match::No })
    }
}
