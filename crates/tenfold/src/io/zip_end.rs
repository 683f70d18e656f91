//! Detection of zip archives from their beginning and their end.
//!
//! Programs find an archive by its last record, so that a file of any format may be a zip archive
//! as well.
#![deny(clippy::arithmetic_side_effects)]

use super::Source;
use crate::bytes::{Endian, Scan, to_u64, to_usize};
use crate::error::Result;

const LOCAL: &[u8] = b"PK\x03\x04";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCATOR: &[u8] = b"PK\x06\x07";
const END: &[u8] = b"PK\x05\x06";

/// Length of the end of central directory record without its comment.
const END_LEN: usize = 22;
/// Length of the locator of a Zip64 directory, which precedes the last record.
const LOCATOR_LEN: usize = 20;

/// Whether a file begins as a zip archive.
pub(crate) fn is_zip(source: &Source) -> Result<bool> {
    let len = to_usize(source.len().min(to_u64(LOCAL.len())))?;
    let mut start = vec![0; len];
    source.read_at(0, &mut start)?;
    Ok(start == LOCAL || start == END)
}

/// The offset of the end of central directory record, if the file ends as a zip archive: a record
/// whose comment ends the file and whose directory exists, also if its offset is relative to the
/// beginning of the archive.
pub(crate) fn zip_end(source: &Source) -> Result<Option<u64>> {
    let most = END_LEN
        .saturating_add(LOCATOR_LEN)
        .saturating_add(u16::MAX.into());
    let tail_at = source.len().saturating_sub(to_u64(most));
    let mut tail = vec![0; to_usize(source.len().saturating_sub(tail_at))?];
    source.read_at(tail_at, &mut tail)?;
    let fits = |place: &usize| {
        let record = tail.get(*place..).unwrap_or_default();
        let comment = record.len().checked_sub(END_LEN);
        let said = record.get(20..END_LEN).map(|len| len.iter().rev());
        let said = said.map(|len| len.fold(0, |sum, byte| sum << 8 | usize::from(*byte)));
        record.starts_with(END) && comment.is_some() && comment == said
    };
    let Some(place) = (0..tail.len()).rev().find(fits) else {
        return Ok(None);
    };
    let at = tail_at.saturating_add(to_u64(place));
    let locator = place.checked_sub(LOCATOR_LEN);
    let locator = locator.and_then(|place| tail.get(place..));
    if locator.is_some_and(|bytes| bytes.starts_with(LOCATOR)) {
        return Ok(Some(at));
    }
    let mut scan = Scan::part(source, "zip", at..source.len());
    scan.skip(12)?;
    let (size, start) = (scan.u32(Endian::Little)?, scan.u32(Endian::Little)?);
    for start in [Some(start.into()), at.checked_sub(size.into())] {
        let Some(start) = start.filter(|start| at.saturating_sub(*start) >= to_u64(ENTRY.len()))
        else {
            continue;
        };
        let mut entry = [0; 4];
        source.read_at(start, &mut entry)?;
        if entry == ENTRY {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of one empty member after `before`, with offsets that are `shift` too small.
    fn archive(before: &[u8], shift: usize, comment: &[u8]) -> Vec<u8> {
        let mut file = before.to_vec();
        let header = u32::try_from(file.len().saturating_sub(shift)).unwrap();
        file.extend(b"PK\x03\x04");
        file.extend([0; 22]);
        file.extend([1, 0, 0, 0, b'a']);
        let directory = u32::try_from(file.len().saturating_sub(shift)).unwrap();
        file.extend(ENTRY);
        file.extend([0; 24]);
        file.extend([1, 0]);
        file.extend([0; 12]);
        file.extend(header.to_le_bytes());
        file.push(b'a');
        file.extend(END);
        file.extend([0, 0, 0, 0, 1, 0, 1, 0, 47, 0, 0, 0]);
        file.extend(directory.to_le_bytes());
        file.extend(u16::try_from(comment.len()).unwrap().to_le_bytes());
        file.extend(comment);
        file
    }

    fn end(bytes: &[u8]) -> Option<u64> {
        zip_end(&Source::memory(bytes.to_vec())).unwrap()
    }

    #[test]
    fn an_archive_is_found_behind_anything() {
        for before in [&b""[..], b"\x93NUMPY", &[7; 100_000]] {
            for shift in [0, before.len()] {
                for comment in [&b""[..], b"more", &[b'x'; 65_535]] {
                    let file = archive(before, shift, comment);
                    let at = file.len() - comment.len() - 22;
                    assert_eq!(end(&file), Some(to_u64(at)));
                    assert_eq!(end(&file[..file.len() - 1]), None);
                    let is_whole = is_zip(&Source::memory(file)).unwrap();
                    assert_eq!(is_whole, before.is_empty());
                }
            }
        }
    }

    #[test]
    fn a_record_without_its_directory_is_no_archive() {
        let mut file = archive(b"before", 0, b"");
        let at = file.len() - 22 - 47;
        file[at] = b'X';
        assert_eq!(end(&file), None);
        let mut short = END.to_vec();
        short.extend([0; 18]);
        assert_eq!(end(&short), None);
        assert_eq!(end(b""), None);
        assert!(!is_zip(&Source::memory(b"PK".to_vec())).unwrap());
    }
}
