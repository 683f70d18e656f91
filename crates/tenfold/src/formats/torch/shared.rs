//! Tensors that share bytes.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use crate::key::Key;
use crate::note::{Note, NoteKind};

/// The range of a storage used by a tensor.
pub(super) struct Use<'a> {
    pub(super) storage: &'a str,
    pub(super) range: Range<u64>,
    /// The index of the tensor, in file order.
    pub(super) place: usize,
}

/// A note for every tensor that shares bytes with an earlier one; `key` returns the key of a tensor
/// by its index.
pub(super) fn notes(mut uses: Vec<Use>, key: impl Fn(usize) -> Key) -> Vec<Note> {
    uses.sort_by(|left, right| {
        let order = |used: &Use| (used.range.start, used.place);
        left.storage
            .cmp(right.storage)
            .then_with(|| order(left).cmp(&order(right)))
    });
    let mut notes: Vec<(usize, Note)> = Vec::new();
    // The one so far that extends furthest.
    let mut before: Option<&Use> = None;
    for used in &uses {
        let other = before.filter(|other| {
            let is_same = other.storage == used.storage && other.place != used.place;
            is_same && used.range.start < other.range.end && !used.range.is_empty()
        });
        if let Some(other) = other {
            let (first, second) = if other.place < used.place {
                (other, used)
            } else {
                (used, other)
            };
            let text = format!("it shares its bytes with {}", key(first.place));
            notes.push((
                second.place,
                Note::new(NoteKind::SharedBytes, text).on(&key(second.place)),
            ));
        }
        let reaches_further = before
            .is_none_or(|other| other.storage != used.storage || used.range.end > other.range.end);
        if reaches_further {
            before = Some(used);
        }
    }
    notes.sort_by_key(|(place, _)| *place);
    notes.into_iter().map(|(_, note)| note).collect()
}
