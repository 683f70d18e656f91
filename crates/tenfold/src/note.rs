//! What a reader has to say about a file that it could read.

use crate::key::Key;

/// A remark about a file: what was skipped, repaired or doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What kind of remark.
    pub kind: NoteKind,
    /// The name of the file it concerns, if that is one of several that were opened together.
    pub file: Option<String>,
    /// The tensor it concerns, if one.
    pub key: Option<Key>,
    /// The byte it concerns, if one.
    pub at: Option<u64>,
    /// How many bytes it concerns, from `at` on where that is known.
    pub len: Option<u64>,
    /// The remark.
    pub text: String,
}

/// The kinds of remarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoteKind {
    /// A tensor could not be read and was left out.
    Skipped,
    /// Two tensors have one name; looking it up finds the first.
    DuplicateName,
    /// Two tensors share their bytes.
    SharedBytes,
    /// A checksum of a kind that cannot be verified.
    UnknownChecksum,
    /// A field that has no meaning where it stands.
    IgnoredField,
    /// A rule is broken that only a lenient reader forgives.
    Lenient,
    /// A known fault of some writer was put right.
    Repaired,
    /// A name that other programs refuse.
    OddName,
    /// An empty label, which other programs refuse.
    EmptyLabel,
    /// What a conversion carried as text cannot be restored.
    NotRestored,
    /// Bytes that belong to nothing that the file says, or to nothing that is read.
    UnreadBytes,
    /// Values of one cell were added up.
    Summed,
    /// A tensor is damaged, and was left out so that others could be saved.
    Lost,
    /// Files of a set are missing.
    Incomplete,
    /// Files or tensors that are no part of a set are left out.
    LeftOut,
    /// The files of a set say different things about the same metadata.
    DifferingMetadata,
    /// A compression ended without a train.
    Verdict,
    /// The file is one of another kind as well.
    Polyglot,
}

impl NoteKind {
    /// The word for it.
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
    /// A remark about the file as a whole.
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

    /// The remark about a checksum of a kind that is not known.
    pub(crate) fn unknown_checksum(checksum: &str) -> Note {
        let text = format!("the checksum {checksum:?} is of an unknown kind and was not compared");
        Note::new(NoteKind::UnknownChecksum, text)
    }

    /// The same remark about one tensor.
    pub(crate) fn on(mut self, key: &Key) -> Note {
        self.key = Some(key.clone());
        self
    }

    /// The same remark, about one of several files unless it names one.
    pub(crate) fn in_file(mut self, name: Option<&str>) -> Note {
        self.file = self.file.or_else(|| name.map(str::to_owned));
        self
    }

    /// The same remark about one byte.
    pub(crate) fn at(mut self, at: impl Into<Option<u64>>) -> Note {
        self.at = at.into();
        self
    }

    /// The same remark about as many bytes.
    pub(crate) fn len(mut self, len: u64) -> Note {
        self.len = Some(len);
        self
    }
}
