//! Salvaging of damaged files.

use std::collections::HashSet;

use crate::bundle::Bundle;
use crate::error::{Error, Result};
use crate::format::{Format, Mode, ReadOptions};
use crate::io::Source;
use crate::key::Key;
use crate::note::{Note, NoteKind};
use crate::tensor::Tensor;

/// The result of salvaging a file.
#[derive(Debug)]
pub struct Salvaged {
    /// The intact tensors, and the metadata of the file.
    pub bundle: Bundle,
    /// The proof that each of them, in order, is intact.
    pub proofs: Vec<Proof>,
    /// The losses.
    pub lost: Vec<Lost>,
}

/// The proof that a tensor is intact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// All its bytes match the checksum in the file.
    Checksum,
    /// The file has no checksum for it. Its bytes all exist, where the file says they are, and
    /// break no rule; a changed value is not detected.
    Structure,
}

/// A lost tensor, or a lost part of the file with unknown content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The tensor, if its key is known.
    pub key: Option<Key>,
    /// The offset of the fault, if it is known.
    pub at: Option<u64>,
    /// The reason.
    pub why: String,
}

impl Proof {
    /// The name of the proof.
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

/// Reads a damaged file leniently, and keeps every tensor that is provably intact: whose bytes all
/// exist and match their checksum, or break no rule if the file has none.
///
/// This requires that the metadata locating the tensors, such as the header of safetensors and GGUF
/// or the index of a zTensor, is intact itself. A primitiv file is read up to the fault; an npz
/// archive without its directory by the headers of its members.
///
/// # Errors
/// Those of [`read`](crate::read), if the metadata locating the tensors is damaged.
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
