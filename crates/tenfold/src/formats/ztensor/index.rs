//! The index of a file: at its end, before its own length.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::NAME;
use crate::bundle::Bundle;
use crate::bytes::{Endian, Scan, to_u64};
use crate::error::Result;
use crate::format::{Mode, ReadOptions};
use crate::io::Source;
use crate::note::{Note, NoteKind};

/// The range for blobs: between the magic and the index.
pub(super) fn room(magic: &[u8; 8], index: &Range<u64>) -> Range<u64> {
    to_u64(magic.len())..index.start
}

/// Finds the index of a file that begins with `magic` and has `after` bytes after the length.
pub(super) fn find(
    source: &Source,
    magic: &[u8; 8],
    after: u64,
    how: &ReadOptions,
    bundle: &mut Bundle,
) -> Result<Range<u64>> {
    let mut scan = Scan::new(source, NAME);
    if scan.take(to_u64(magic.len()))? != magic {
        let name = String::from_utf8_lossy(magic);
        return scan.fail_at(0, format!("the magic is not {name}"));
    }
    let end = source.len().saturating_sub(after.saturating_add(8));
    if end < to_u64(magic.len()) {
        return scan.fail("the file ends before the size of its index");
    }
    scan.seek(end)?;
    let size = scan.u64(Endian::Little)?;
    let start = end
        .checked_sub(size)
        .filter(|start| *start >= to_u64(magic.len()));
    let Some(start) = start else {
        return scan.fail_at(
            end,
            format!("an index of {size} bytes is longer than the file"),
        );
    };
    if size == 0 {
        let text = "the index has no bytes, an empty one was expected";
        match how.mode {
            Mode::Strict => return scan.fail_at(end, text),
            Mode::Lenient => bundle.note(Note::new(NoteKind::Lenient, text).at(end)),
        }
    }
    how.limits.check_header(size)?;
    Ok(start..end)
}
