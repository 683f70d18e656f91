//! Blobs of a file, which must not overlap.
#![deny(clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::fmt;
use std::fmt::Display;
use std::ops::Range;

use crate::bytes::gaps;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::memory;
use crate::note::{Note, NoteKind};

/// The ranges of all nonempty blobs, and their owners.
pub(super) struct Blobs<T>(Vec<(Range<u64>, T)>);

/// Two blobs with the same range.
pub(super) struct Shared<T> {
    pub(super) first: T,
    pub(super) second: T,
    pub(super) at: u64,
}

impl<T: Display + Clone> Blobs<T> {
    pub(super) fn new() -> Self {
        Blobs(Vec::new())
    }

    /// An empty list with room for so many blobs.
    pub(super) fn with_room(count: usize) -> Result<Self> {
        memory::with_room(count).map(Blobs)
    }

    pub(super) fn add(&mut self, run: Range<u64>, owner: T) -> Result<()> {
        if run.is_empty() {
            Ok(())
        } else {
            memory::push(&mut self.0, (run, owner))
        }
    }

    /// The same in file order.
    pub(super) fn sorted(mut self) -> Result<Self> {
        memory::sort_by_key(&mut self.0, |(run, _)| (run.start, run.end))?;
        Ok(self)
    }

    /// The gaps in `all` between the blobs, which must be sorted.
    pub(super) fn gaps(&self, all: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        gaps(all, self.0.iter().map(|(run, _)| run.clone()))
    }

    /// The blobs with equal ranges, of sorted ones; fails if two overlap in part.
    pub(super) fn shared(&self) -> Result<Vec<Shared<T>>> {
        let mut shared = Vec::new();
        for pair in self.0.windows(2) {
            let [(run, first), (next, second)] = pair else {
                continue;
            };
            if run == next {
                let both = Shared {
                    first: first.clone(),
                    second: second.clone(),
                    at: next.start,
                };
                memory::push(&mut shared, both)?;
            } else if next.start < run.end {
                let why = format!("the blobs of {first} and {second} overlap");
                return Err(Error::malformed(next.start, why));
            }
        }
        Ok(shared)
    }
}

/// The owner of a blob: a tensor.
pub(super) trait Owner: Display + Clone {
    /// The key of the tensor.
    fn key(&self) -> Key;
}

impl Owner for &Key {
    fn key(&self) -> Key {
        (*self).clone()
    }
}

/// The name of a tensor in the index.
#[derive(Clone)]
pub(super) struct Name<'a>(pub(super) Cow<'a, str>);

impl Owner for Name<'_> {
    fn key(&self) -> Key {
        Key::flat(&*self.0)
    }
}

impl Display for Name<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key().fmt(out)
    }
}

impl<T: Owner> Blobs<T> {
    /// Notes on the tensors that share their bytes; fails if two blobs overlap in part.
    pub(super) fn notes(&self) -> Result<Vec<Note>> {
        let shared = self.shared()?.into_iter();
        let notes = shared.map(|shared| {
            let text = format!("its bytes are also those of {}", shared.first);
            let note = Note::new(NoteKind::SharedBytes, text);
            note.on(&shared.second.key()).at(shared.at)
        });
        memory::collected(notes)
    }
}
