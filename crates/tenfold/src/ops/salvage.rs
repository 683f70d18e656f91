//! What can be saved of a damaged file.

use std::collections::HashSet;

use crate::bundle::Bundle;
use crate::error::{Error, Result};
use crate::format::{Format, Mode, ReadOptions};
use crate::io::Source;
use crate::key::Key;
use crate::note::{Note, NoteKind};
use crate::tensor::Tensor;

/// What could be saved of a file, and what could not.
#[derive(Debug)]
pub struct Salvaged {
    /// The tensors that are whole, with what the file says besides them.
    pub bundle: Bundle,
    /// How each of them, in their order, is known to be whole.
    pub proofs: Vec<Proof>,
    /// What is lost.
    pub lost: Vec<Lost>,
}

/// How a tensor is known to be whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// All its bytes have the checksum that the file says they have.
    Checksum,
    /// The file has no checksum for it. Its bytes are all there, where the file says they are, and
    /// break no rule; a value that was changed into another is not noticed.
    Structure,
}

/// A tensor that is lost, or a part of the file of which nobody knows what was in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The tensor, if its name is known.
    pub key: Option<Key>,
    /// The byte that is wrong, if one is.
    pub at: Option<u64>,
    /// Why it is lost.
    pub why: String,
}

impl Proof {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Proof::Checksum => "checksum",
            Proof::Structure => "structure",
        }
    }

    fn of(tensor: &Tensor) -> Proof {
        let mut parts = tensor.storage().parts().into_iter();
        if parts.all(|part| part.bytes.has_checksum()) {
            Proof::Checksum
        } else {
            Proof::Structure
        }
    }
}

impl Lost {
    fn of(note: &Note) -> Lost {
        Lost {
            key: note.key.clone(),
            at: note.at,
            why: note.text.clone(),
        }
    }

    fn by(key: &Key, error: Error) -> Lost {
        let (at, why) = match error {
            Error::Malformed { at, why, .. } => (at, why),
            other => (None, other.to_string()),
        };
        let key = Some(key.clone());
        Lost { key, at, why }
    }
}

/// Reads a damaged file leniently, and keeps every tensor that is provably whole: whose bytes are all
/// there and have their checksum, or break no rule where the file has none.
///
/// That takes what says where the tensors are, such as the header of safetensors and GGUF or the index of
/// a zTensor, to be whole itself. A primitiv file is read up to the fault; an npz archive without its
/// directory by the headers of its members.
///
/// # Errors
/// Those of [`read`](crate::read), if what says where the tensors are is damaged.
pub fn salvage(
    source: &Source,
    format: &'static dyn Format,
    how: &ReadOptions,
) -> Result<Salvaged> {
    let how = ReadOptions {
        mode: Mode::Lenient,
        salvage: true,
        ..how.clone()
    };
    let found = crate::read(source, format, &how)?.bundle;
    let is_lost = |note: &&Note| matches!(note.kind, NoteKind::Lost | NoteKind::Skipped);
    let mut lost: Vec<Lost> = found.notes().iter().filter(is_lost).map(Lost::of).collect();
    let (mut bundle, mut proofs) = (Bundle::new(), Vec::new());
    let mut remarks = Vec::new();
    for (key, tensor) in found.entries() {
        match tensor.check(&how.limits) {
            Ok(notes) => {
                remarks.extend(notes.into_iter().map(|note| note.on(key)));
                proofs.push(Proof::of(tensor));
                bundle.push(key.clone(), tensor.clone());
            }
            Err(error) => lost.push(Lost::by(key, error)),
        }
    }
    let gone: HashSet<Key> = lost.iter().filter_map(|lost| lost.key.clone()).collect();
    let is_kept =
        |note: &&Note| !is_lost(note) && note.key.as_ref().is_none_or(|key| !gone.contains(key));
    let notes = found.notes().iter().filter(is_kept).cloned();
    notes.chain(remarks).for_each(|note| bundle.note(note));
    (bundle.meta, bundle.hints) = (found.meta, found.hints);
    Ok(Salvaged {
        bundle,
        proofs,
        lost,
    })
}
