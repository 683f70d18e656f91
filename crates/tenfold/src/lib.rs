//! One tool for every tensor file.
//!
//! A tensor file is read by adding one meaning at a time; each step is one type:
//!
//! | step | what it adds |
//! |---|---|
//! | [`Bytes`] | where the bytes are: a lazy stretch of a file |
//! | [`Numbers`] | what numbers they spell |
//! | [`Storage`] | which cell each number is for |
//! | [`Tensor`] | dimensions, element type, symmetries |
//! | [`Bundle`] | names, metadata, notes |
//!
//! A [`Format`] builds this ladder from a file's headers and walks it to write; [`crate::formats::ALL`]
//! lists them. Opening reads headers only:
//!
//! ```no_run
//! let file = tenfold::open("model.zt")?;
//! for (key, tensor) in file.bundle.entries() {
//!     println!("{key}: {} {:?}", tensor.dtype(), tensor.indexed_sizes());
//! }
//! let weights: Vec<f32> = file.bundle.get("enc/w").unwrap().to_vec()?;
//! # Ok::<(), tenfold::Error>(())
//! ```

mod audit;
#[cfg(test)]
mod boundaries;
mod bundle;
mod bytes;
mod compare;
mod convert;
mod dtype;
mod error;
mod format;
pub mod formats;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hint;
mod io;
mod key;
mod limits;
mod loss;
pub mod memory;
mod meta;
mod note;
pub mod ops;
mod tensor;
mod units;
mod wire;

use std::collections::HashSet;
use std::path::Path;

use crate::io::Putting;
use ops::{Input, OpenOptions, TensorRef};

pub use bundle::{Bundle, Callable};
pub use bytes::{Algorithm, Bytes, Digest, Endian, RecordsBuilder};
pub use compare::{
    Basis, Blocks, Comparison, ContentHash, DiffOptions, DiffTolerance, Finding, Finite, Measures,
    NotFinite, Pairing, Place, QUANTILES, Samples, Scalar, SparseHashing, Stats, Verdict, Worst,
    compare, file_hash, pair, tensor_hashes,
};
pub use convert::{dry_run, forecast, losses, save, statistics_left_out, without_state, write_to};
pub use dtype::{
    Arity, ComplexPart, DType, Element, F128, Kind, Number, Numbers, Overflow, Rounding,
    write_element, write_number,
};
pub use error::{Error, Result};
pub use format::{
    Adapted, Allow, Capabilities, DimNames, Format, Info, Match, MetaSupport, Mode, Names, Naming,
    OptionInfo, Options, ReadOptions, Shard, SidecarSlot, StorageKind, When, WriteOptions,
};
pub use formats::{by_extension, by_name, detect};
pub use hint::Hint;
pub use io::{
    Compute, Head, Progress, Sink, Source, Spool, is_stream, make_folder, remove_temp_files,
    save_with,
};
pub use key::Key;
pub use limits::{LimitInfo, Limits};
pub use loss::{Aspect, Loss, LossGroup, Refusal, Tier, group_losses};
pub use meta::{Meta, Value};
pub use note::{Note, NoteKind};
pub use ops::{Lost, Proof, Salvaged, salvage};
pub use tensor::{
    Address, CastChanges, Cell, Density, Dim, Duplicates, IndexExpr, Labels, Operation, Orbits,
    Order, Packing, Placed, Size, Slice, Storage, Symmetry, Tensor, Tolerance,
};
pub use units::{bytes_text, measure_text, percent_text, scaled_text};

/// An opened file: its content and its format.
pub struct Opened {
    /// The format as which it was read.
    pub format: &'static dyn Format,
    /// The content.
    pub bundle: Bundle,
}

/// Opens tensors of any format: reads the headers, and leaves the numbers in the file.
///
/// A path is a file, a folder, an index such as `model.safetensors.index.json`, or a glob whose
/// files are opened as one; `FILE:KEY[0:3]` is one tensor, or a slice of it. A file compressed by
/// gzip, zstd or xz is decompressed first.
///
/// # Errors
/// [`Error::Unrecognised`] if no format claims the file, [`Error::Malformed`] if it breaks the
/// rules of its format.
pub fn open(path: impl AsRef<Path>) -> Result<Opened> {
    let reference = TensorRef::find(path.as_ref())?;
    let (find, read) = (OpenOptions::default(), ReadOptions::default());
    let mut opened = Input::find(&reference.file, &find)?.read(&read)?;
    let info = opened.format.info();
    reference.narrow(&mut opened.bundle, info, &read.limits)?;
    Ok(opened)
}

/// Reads the headers of a source as `format`.
///
/// # Errors
/// [`Error::Malformed`] if it breaks the rules of that format.
pub fn read(source: &Source, format: &'static dyn Format, how: &ReadOptions) -> Result<Opened> {
    let info = format.info();
    how.options.check(info, When::Read)?;
    let mut how = ReadOptions {
        limits: how.limits.for_file(source.len()),
        ..how.clone()
    };
    if how.values_later {
        let (source, own) = (source.clone(), how.clone());
        let putting = Putting::later(move |putting| {
            let mut how = own.clone();
            how.limits = how.limits.for_file(source.len()).carrying(putting);
            format.read(&source, &how).map(|_| ())
        });
        how.limits = how.limits.carrying(putting);
    }
    let how = &how;
    let bundle = format.read(source, how);
    if let Some(putting) = how.limits.carried::<Putting>() {
        putting.close();
    }
    let bundle = bundle.map_err(|error| error.of(info.name))?;
    let mut bundle = if how.skip_restore {
        bundle
    } else {
        crate::convert::restore(bundle, info, &how.limits)
    };
    let meter = how.limits.meter();
    let companions = source.companions().into_iter().map(|(_, len)| len);
    let companions = companions.fold(0, u64::saturating_add);
    meter.allow_for(companions);
    // Bytes shared by tensors are read once for each such tensor.
    let is_shared = bundle.stored_len() / 2 > source.len().saturating_add(companions);
    let mut decoded = HashSet::new();
    for (_, tensor) in bundle.entries_mut() {
        tensor.count_work(&meter, is_shared, &mut decoded);
    }
    if let Some(rule) = how.duplicates {
        resolve_duplicates(&mut bundle, rule, &how.limits)?;
    }
    bundle.audit().look_at_end(source);
    if let Some(name) = source.packing().name() {
        bundle.hints.set("compression", name);
    }
    Ok(Opened { format, bundle })
}

/// Resolves duplicate cells of sparse tensors, with a note for each such tensor.
fn resolve_duplicates(bundle: &mut Bundle, rule: Duplicates, limits: &Limits) -> Result<()> {
    let mut notes = Vec::new();
    for (key, tensor) in bundle.entries_mut() {
        let (resolved, merged) = tensor.resolve_duplicates(rule, limits)?;
        *tensor = resolved;
        if merged > 0 {
            let what = match rule {
                Duplicates::Sum => "added to earlier ones of the same cell",
                Duplicates::Last => "left out for later ones of the same cell",
            };
            let text = format!("values {what}: {merged}");
            notes.push(Note::new(NoteKind::Summed, text).on(key));
        }
    }
    notes.into_iter().for_each(|note| bundle.note(note));
    Ok(())
}
