//! What only a check of a whole file looks at: bytes with a checksum that are in no tensor, and bytes that
//! are part of nothing.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;
use std::sync::Arc;

use crate::bytes::{Bytes, PIECE};
use crate::error::Result;
use crate::io::Source;
use crate::limits::Limits;
use crate::memory;
use crate::note::{Note, NoteKind};

/// The parts of a file that its tensors do not show, as its reader leaves them for
/// [`Bundle::check`](crate::Bundle::check). Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Audit {
    /// Bytes that have checksums, each with their name in errors.
    sums: Vec<(Arc<str>, Bytes)>,
    gaps: Vec<Gaps>,
    notes: Vec<Note>,
}

/// The stretches of one file that its format does not account for.
#[derive(Debug, Clone)]
struct Gaps {
    source: Source,
    /// The name of the file, if it is not the one that was opened.
    name: Option<Arc<str>>,
    runs: Arc<Vec<Range<u64>>>,
    /// Shorter stretches of zeros are padding.
    align: u64,
}

impl Audit {
    /// Adds bytes whose checksum is to be compared; `name` says in errors which they are.
    pub(crate) fn compare(&mut self, name: &str, bytes: Bytes, limits: &Limits) -> Result<()> {
        limits.charge_items::<(Arc<str>, Bytes)>(1)?;
        limits.charge_text(name.len())?;
        self.sums.push((name.into(), bytes));
        Ok(())
    }

    /// Adds stretches of a file that belong to nothing, unless they are shorter than `align` and all 0.
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
                runs: Arc::new(runs),
                align,
            });
        }
        Ok(())
    }

    /// The same for the last stretches that were added, which are those of another file.
    pub(crate) fn of_file(&mut self, name: &str) {
        if let Some(last) = self.gaps.last_mut() {
            last.name = Some(name.into());
        }
    }

    /// Adds a remark that matters to those alone who want to know whether a file is sound.
    pub(crate) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Adds what another file has.
    pub(crate) fn append(&mut self, other: Audit) {
        self.sums.extend(other.sums);
        self.gaps.extend(other.gaps);
        self.notes.extend(other.notes);
    }

    /// Compares the checksums and notes the bytes that belong to nothing.
    pub(crate) fn check(&self) -> Result<Vec<Note>> {
        for (name, bytes) in &self.sums {
            bytes.check().map_err(|error| error.in_part(name))?;
        }
        let mut notes = self.notes.clone();
        for gaps in &self.gaps {
            gaps.note(&mut notes)?;
        }
        Ok(notes)
    }
}

impl Gaps {
    /// Notes the first stretches that belong to nothing, and how many more there are.
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
            let what = match is_padding {
                true => "bytes of padding that are not 0",
                false => "bytes that belong to nothing",
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
        match (&self.name, run) {
            (None, None) => Note::new(NoteKind::UnreadBytes, text),
            (None, Some((at, len))) => Note::new(NoteKind::UnreadBytes, text).at(at).len(len),
            // The byte of a note is one of the file that was opened.
            (Some(name), None) => Note::new(NoteKind::UnreadBytes, format!("{name}: {text}")),
            (Some(name), Some((at, len))) => {
                let text = format!("{name}: {text}, from byte {at} on");
                Note::new(NoteKind::UnreadBytes, text).len(len)
            }
        }
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
