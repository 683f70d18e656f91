//! The entries found in an index, or in a part of it.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use hashbrown::HashSet;

use super::super::blobs::Blobs;
use super::ALIGNMENT;
use crate::bundle::Bundle;
use crate::error::Result;
use crate::io::Source;
use crate::key::Key;
use crate::limits::Limits;
use crate::memory;
use crate::tensor::Tensor;

#[derive(Default)]
pub(super) struct Found {
    /// The tensors.
    pub(super) bundle: Bundle,
    /// Their number.
    pub(super) count: u64,
    /// The blob of each tensor of the bundle, and the hash of its name.
    blobs: Vec<(Range<u64>, u64)>,
}

impl Found {
    /// A collection for `bundle`, with room for tensors whose number is no mere claim.
    pub(super) fn with_room(mut bundle: Bundle, count: usize) -> Result<Found> {
        bundle.reserve(count)?;
        Ok(Found {
            bundle,
            blobs: memory::with_room(count)?,
            ..Found::default()
        })
    }

    pub(super) fn push(
        &mut self,
        key: Key,
        tensor: Tensor,
        blob: Range<u64>,
        hash: u64,
        limits: &Limits,
    ) -> Result<()> {
        self.bundle.add(key, tensor, limits)?;
        limits.charge_items::<(Range<u64>, u64)>(1)?;
        memory::push(&mut self.blobs, (blob, hash))
    }

    pub(super) fn append(&mut self, mut other: Found) -> Result<()> {
        self.bundle.append(other.bundle)?;
        self.count = self.count.saturating_add(other.count);
        memory::reserve(&mut self.blobs, other.blobs.len())?;
        self.blobs.append(&mut other.blobs);
        Ok(())
    }

    /// Checks and notes relations between tensors, and the bytes between them in `room`.
    pub(super) fn finish(
        mut self,
        source: &Source,
        room: Range<u64>,
        limits: &Limits,
    ) -> Result<Bundle> {
        let mut blobs = Blobs::with_room(self.blobs.len())?;
        for ((key, _), (blob, _)) in self.bundle.entries().iter().zip(&self.blobs) {
            blobs.add(blob.clone(), key)?;
        }
        let blobs = blobs.sorted()?;
        let notes = blobs.notes()?;
        let gaps = memory::collected(blobs.gaps(room))?;
        let audit = self.bundle.audit();
        audit.account(source, gaps.into_iter(), ALIGNMENT, limits)?;
        notes.into_iter().for_each(|note| self.bundle.note(note));
        // Equal names have equal hashes.
        let mut hashes = HashSet::new();
        memory::reserve_set(&mut hashes, self.blobs.len())?;
        if !self.blobs.iter().all(|(_, hash)| hashes.insert(*hash)) {
            self.bundle.note_duplicates()?;
        }
        Ok(self.bundle)
    }
}
