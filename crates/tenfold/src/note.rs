//! Notes of a reader about a file that it could read.

use crate::key::Key;

/// A note about a file: something skipped, repaired or doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The kind of note.
    pub kind: NoteKind,
    /// The name of the file, if it is one of several opened together.
    pub file: Option<String>,
    /// The tensor, if the note is about one.
    pub key: Option<Key>,
    /// The offset, if the note is about one.
    pub at: Option<u64>,
    /// The number of bytes, from `at` on if that is known.
    pub len: Option<u64>,
    /// The text.
    pub text: String,
}

/// The kinds of notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoteKind {
    /// A tensor could not be read and was left out.
    Skipped,
    /// Two tensors have the same name; a lookup finds the first.
    DuplicateName,
    /// Two tensors share their bytes.
    SharedBytes,
    /// A checksum of an unknown kind, which cannot be verified.
    UnknownChecksum,
    /// A field without meaning in its place.
    IgnoredField,
    /// A broken rule that a lenient reader accepts.
    Lenient,
    /// A known bug of some writer was corrected.
    Repaired,
    /// A name that other programs reject.
    OddName,
    /// An empty label, which other programs reject.
    EmptyLabel,
    /// Metadata that a conversion carried as text cannot be restored.
    NotRestored,
    /// Bytes that belong to nothing in the file, or to nothing that is read.
    UnreadBytes,
    /// Values of one cell were added.
    Summed,
    /// A tensor is damaged, and was left out so that others could be saved.
    Lost,
    /// Files of a set are missing.
    Incomplete,
    /// Files or tensors outside the set are left out.
    LeftOut,
    /// The files of a set have different values for the same metadata.
    DifferingMetadata,
    /// A compression ended without a train.
    Verdict,
    /// The file is valid in another format as well.
    Polyglot,
}

impl NoteKind {
    /// The name of the kind.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            NoteKind::Skipped => "skipped",
            NoteKind::DuplicateName => "duplicate-name",
            NoteKind::SharedBytes => "shared-bytes",
            NoteKind::UnknownChecksum => "unknown-checksum",
            NoteKind::IgnoredField => "ignored-field",
            NoteKind::Lenient => "lenient",
            NoteKind::Repaired => "repaired",
            NoteKind::OddName => "odd-name",
            NoteKind::EmptyLabel => "empty-label",
            NoteKind::NotRestored => "not-restored",
            NoteKind::UnreadBytes => "unread-bytes",
            NoteKind::Summed => "summed",
            NoteKind::Lost => "lost",
            NoteKind::Incomplete => "incomplete",
            NoteKind::LeftOut => "left-out",
            NoteKind::DifferingMetadata => "differing-metadata",
            NoteKind::Verdict => "verdict",
            NoteKind::Polyglot => "polyglot",
        }
    }
}

impl Note {
    /// A note about the file as a whole.
    pub(crate) fn new(kind: NoteKind, text: impl Into<String>) -> Note {
        Note {
            kind,
            file: None,
            key: None,
            at: None,
            len: None,
            text: text.into(),
        }
    }

    /// The note about a checksum of an unknown kind.
    pub(crate) fn unknown_checksum(checksum: &str) -> Note {
        let text = format!("the checksum {checksum:?} is of an unknown kind and was not compared");
        Note::new(NoteKind::UnknownChecksum, text)
    }

    /// The same note about one tensor.
    pub(crate) fn on(mut self, key: &Key) -> Note {
        self.key = Some(key.clone());
        self
    }

    /// The same note about one of several files, unless it names one.
    pub(crate) fn in_file(mut self, name: Option<&str>) -> Note {
        self.file = self.file.or_else(|| name.map(str::to_owned));
        self
    }

    /// The same note about one offset.
    pub(crate) fn at(mut self, at: impl Into<Option<u64>>) -> Note {
        self.at = at.into();
        self
    }

    /// The same note about so many bytes.
    pub(crate) fn len(mut self, len: u64) -> Note {
        self.len = Some(len);
        self
    }
}
