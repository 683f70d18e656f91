//! Checks of a file beyond its tensors, for `verify`: checksums of bytes in no tensor, and bytes
//! that belong to nothing.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;
use std::sync::Arc;

use crate::bytes::{Bytes, PIECE};
use crate::error::Result;
use crate::io::{Source, is_zip, zip_end};
use crate::limits::Limits;
use crate::memory;
use crate::note::{Note, NoteKind};

/// The parts of a file outside its tensors, as its reader registers them for
/// [`Bundle::check`](crate::Bundle::check). Shared by clones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Audit {
    /// Bytes with checksums, each with a name for errors.
    sums: Vec<(Arc<str>, Bytes)>,
    gaps: Vec<Gaps>,
    notes: Vec<Note>,
    /// The files, each with its name if it is one of several.
    files: Vec<(Source, Option<Arc<str>>)>,
    /// Whether the file is read as a zip archive.
    is_archive: bool,
}

/// The ranges of one file that its format does not account for.
#[derive(Debug, Clone)]
struct Gaps {
    source: Source,
    /// The name of the file within the set, if it is not the one that was opened.
    name: Option<Arc<str>>,
    /// The name of the file that was opened, if it is one of several.
    file: Option<Arc<str>>,
    runs: Arc<Vec<Range<u64>>>,
    /// Shorter ranges of zeros are padding.
    align: u64,
}

impl Audit {
    /// Adds bytes whose checksum is to be verified; `name` identifies them in errors.
    pub(crate) fn compare(&mut self, name: &str, bytes: Bytes, limits: &Limits) -> Result<()> {
        limits.charge_items::<(Arc<str>, Bytes)>(1)?;
        limits.charge_text(name.len())?;
        self.sums.push((name.into(), bytes));
        Ok(())
    }

    /// Adds ranges of a file that belong to nothing, unless they are shorter than `align` and all
    /// 0.
    pub(crate) fn account(
        &mut self,
        source: &Source,
        gaps: impl Iterator<Item = Range<u64>>,
        align: u64,
        limits: &Limits,
    ) -> Result<()> {
        let mut runs = Vec::new();
        for run in gaps.filter(|run| !run.is_empty()) {
            limits.charge_items::<Range<u64>>(1)?;
            memory::push(&mut runs, run)?;
        }
        if !runs.is_empty() {
            self.gaps.push(Gaps {
                source: source.clone(),
                name: None,
                file: None,
                runs: Arc::new(runs),
                align,
            });
        }
        Ok(())
    }

    /// Attributes the most recently added ranges to another file.
    pub(crate) fn of_file(&mut self, name: &str) {
        if let Some(last) = self.gaps.last_mut() {
            last.name = Some(name.into());
        }
    }

    /// Adds a note that only matters to checks of the file.
    pub(crate) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Records that the file is read as a zip archive.
    pub(crate) fn is_archive(&mut self) {
        self.is_archive = true;
    }

    /// Adds a file; the check notes if it ends as a zip archive and begins as something else.
    pub(crate) fn look_at_end(&mut self, source: &Source) {
        if self.is_archive {
            return;
        }
        self.files.push((source.clone(), None));
    }

    /// Names the opened file, one of several, in notes.
    pub(crate) fn name_file(&mut self, name: &str) {
        let name: Arc<str> = name.into();
        let gaps = self.gaps.iter_mut().map(|gaps| &mut gaps.file);
        let files = self.files.iter_mut().map(|(_, file)| file);
        for file in gaps.chain(files) {
            file.get_or_insert_with(|| Arc::clone(&name));
        }
        for note in &mut self.notes {
            *note = note.clone().in_file(Some(&name));
        }
    }

    /// Adds the entries of another audit.
    pub(crate) fn append(&mut self, other: Audit) {
        self.files.extend(other.files);
        self.sums.extend(other.sums);
        self.gaps.extend(other.gaps);
        self.notes.extend(other.notes);
    }

    /// Verifies the checksums and notes the bytes that belong to nothing.
    pub(crate) fn check(&self) -> Result<Vec<Note>> {
        for (name, bytes) in &self.sums {
            bytes.check().map_err(|error| error.in_part(name))?;
        }
        let mut notes = self.notes.clone();
        for gaps in &self.gaps {
            gaps.note(&mut notes)?;
        }
        for (source, file) in &self.files {
            if let Some(at) = zip_end(source)?
                && !is_zip(source)?
            {
                let text = "the file also is a zip archive, which ends here";
                let note = Note::new(NoteKind::Polyglot, text).at(at);
                notes.push(note.in_file(file.as_deref()));
            }
        }
        Ok(notes)
    }
}

impl Gaps {
    /// Notes the first ranges that belong to nothing, and the number of the rest.
    fn note(&self, notes: &mut Vec<Note>) -> Result<()> {
        /// A damaged file may have millions.
        const SHOWN: u64 = 8;
        let (mut count, mut more) = (0_u64, 0_u64);
        for run in self.runs.iter() {
            let len = run.end.saturating_sub(run.start);
            let is_padding = len < self.align;
            if is_padding && self.is_zero(run)? {
                continue;
            }
            count = count.saturating_add(1);
            if count > SHOWN {
                more = more.saturating_add(len);
                continue;
            }
            let what = if is_padding {
                "bytes of padding that are not 0"
            } else {
                "bytes that belong to nothing"
            };
            notes.push(self.remark(format!("{what}: {len}"), Some((run.start, len))));
        }
        if count > SHOWN {
            let places = count.saturating_sub(SHOWN);
            let text = format!("bytes that belong to nothing, in {places} more places: {more}");
            notes.push(self.remark(text, None));
        }
        Ok(())
    }

    fn remark(&self, text: String, run: Option<(u64, u64)>) -> Note {
        let note = match (&self.name, run) {
            (None, None) => Note::new(NoteKind::UnreadBytes, text),
            (None, Some((at, len))) => Note::new(NoteKind::UnreadBytes, text).at(at).len(len),
            // The offset of a note is one in the file that was opened.
            (Some(name), None) => Note::new(NoteKind::UnreadBytes, format!("{name}: {text}")),
            (Some(name), Some((at, len))) => {
                let text = format!("{name}: {text}, from byte {at} on");
                Note::new(NoteKind::UnreadBytes, text).len(len)
            }
        };
        note.in_file(self.file.as_deref())
    }

    fn is_zero(&self, run: &Range<u64>) -> Result<bool> {
        let mut is_zero = true;
        Bytes::run(&self.source, run.clone())?.for_each(PIECE, &mut |piece| {
            is_zero &= piece.iter().all(|byte| *byte == 0);
            Ok(())
        })?;
        Ok(is_zero)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(bytes: &[u8], runs: &[(u64, u64)], align: u64) -> Vec<(String, Option<u64>)> {
        let mut audit = Audit::default();
        let source = Source::memory(bytes.to_vec());
        let gaps = runs.iter().map(|(start, end)| *start..*end);
        let limits = Limits::default();
        audit.account(&source, gaps, align, &limits).unwrap();
        let notes = audit.check().unwrap().into_iter();
        notes.map(|note| (note.text, note.at)).collect()
    }

    #[test]
    fn zeros_up_to_the_alignment_are_padding_and_nothing_else_is() {
        let mut bytes = [0; 300];
        bytes[250] = 1;
        let none = |len| format!("bytes that belong to nothing: {len}");
        assert_eq!(notes(&bytes, &[(1, 64)], 64), []);
        assert_eq!(notes(&bytes, &[(1, 65)], 64), [(none(64), Some(1))]);
        assert_eq!(notes(&bytes, &[(7, 8)], 0), [(none(1), Some(7))]);
        let odd = "bytes of padding that are not 0: 10".to_owned();
        assert_eq!(notes(&bytes, &[(245, 255)], 64), [(odd, Some(245))]);
    }

    #[test]
    fn many_stretches_are_counted_rather_than_listed() {
        let runs: Vec<_> = (0..1000).map(|place| (place * 2, place * 2 + 1)).collect();
        let found = notes(&[0; 2000], &runs, 0);
        assert_eq!(found.len(), 9);
        let more = "bytes that belong to nothing, in 992 more places: 992";
        assert_eq!(found[8], (more.to_owned(), None));
    }
}
