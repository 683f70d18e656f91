//! The last step of the ladder: named tensors, and what a file says besides them.

use crate::bytes::Progress;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::limits::Limits;
use crate::meta::Meta;
use crate::note::{Note, NoteKind};
use crate::tensor::Tensor;

/// The content of a tensor file.
#[derive(Debug, Clone, Default)]
pub struct Bundle {
    entries: Vec<(Key, Tensor)>,
    notes: Vec<Note>,
    /// What the file says about itself.
    pub meta: Meta,
    /// What rewriting it in the same format needs to give the same bytes; no part of its meaning.
    pub hints: Meta,
}

impl Bundle {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Bundle {
        Bundle::default()
    }

    /// A file that is its tensor.
    #[must_use]
    pub fn of(tensor: Tensor) -> Bundle {
        let mut bundle = Bundle::new();
        bundle.push(Key::root(), tensor);
        bundle
    }

    /// Adds a tensor.
    pub fn push(&mut self, key: Key, tensor: Tensor) {
        self.entries.push((key, tensor));
    }

    /// Keeps the tensors whose keys `keep` wants, and the remarks about them and about the file.
    pub fn retain(&mut self, mut keep: impl FnMut(&Key) -> bool) {
        self.notes
            .retain(|note| note.key.as_ref().is_none_or(&mut keep));
        self.entries.retain(|(key, _)| keep(key));
    }

    /// Gives every tensor, and the remarks about it, the key that `name` says.
    pub fn rename(&mut self, mut name: impl FnMut(&Key) -> Key) {
        let keys = self.entries.iter_mut().map(|(key, _)| key);
        let noted = self.notes.iter_mut().filter_map(|note| note.key.as_mut());
        keys.chain(noted).for_each(|key| *key = name(key));
    }

    /// Adds a remark.
    pub(crate) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// All tensors, in file order.
    #[must_use]
    pub fn entries(&self) -> &[(Key, Tensor)] {
        &self.entries
    }

    /// All tensors, in file order, to be changed.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (&Key, &mut Tensor)> {
        self.entries.iter_mut().map(|(key, tensor)| (&*key, tensor))
    }

    /// What the reader had to say.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The tensor called `name`: first as a raw flat name, then as a path as [`Key`] shows it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        let raw = self
            .entries
            .iter()
            .find(|(key, _)| key.flat_name() == Some(name));
        let found = raw.or_else(|| self.entries.iter().find(|(key, _)| key.to_string() == name));
        found.map(|(_, tensor)| tensor)
    }

    /// The only tensor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none, or more than one.
    pub fn only(&self) -> Result<&Tensor> {
        match self.entries.as_slice() {
            [(_, tensor)] => Ok(tensor),
            entries => Err(Error::invalid(format!(
                "{} tensors where one is wanted",
                entries.len()
            ))),
        }
    }

    /// Reads and checks the values of all tensors; gives notes on what only a lenient reader
    /// forgives.
    ///
    /// # Errors
    /// [`Error::Malformed`] at the first fault.
    pub fn check(&self, limits: &Limits) -> Result<Vec<Note>> {
        self.check_watched(limits, &Progress::default())
    }

    /// The same, counting the stored bytes of each tensor once it is checked.
    ///
    /// # Errors
    /// As [`Bundle::check`].
    pub fn check_watched(&self, limits: &Limits, progress: &Progress) -> Result<Vec<Note>> {
        let len = |tensor: &Tensor| tensor.storage().stored_len();
        progress.expect(self.entries.iter().map(|(_, tensor)| len(tensor)).sum());
        let mut notes = Vec::new();
        for (key, tensor) in &self.entries {
            notes.extend(tensor.check(limits)?.into_iter().map(|note| note.on(key)));
            progress.add(len(tensor));
        }
        Ok(notes)
    }

    /// Notes tensors that have one name.
    pub(crate) fn note_duplicates(&mut self) {
        let mut seen = std::collections::HashSet::new();
        let twice: Vec<Key> = self
            .entries
            .iter()
            .map(|(key, _)| key)
            .filter(|key| !seen.insert(*key))
            .cloned()
            .collect();
        for key in twice {
            let text = "the name is used again; looking it up finds the first";
            self.note(Note::new(NoteKind::DuplicateName, text).on(&key));
        }
    }
}
