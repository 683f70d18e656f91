//! Labelled records of a fixed size: some labels each, then a fixed number of bytes.
//!
//! A label is its length as a *short int* (one byte below 128, else four bytes big-endian with the
//! top bit set), then its UTF-8 bytes. This is the encoding of Vespa's blocks, and the internal one
//! of labelled tensors of any format: a Vespa file's blocks stay in the file.
#![deny(clippy::arithmetic_side_effects)]

pub(super) mod unique;

use std::ops::Range;
use std::sync::Arc;

use super::{Bytes, Endian, Extent, LabelSet, Scan, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Source, Spool};
use crate::limits::Limits;
use crate::memory;

/// The extent of labelled records.
#[derive(Debug)]
pub(crate) struct Records {
    span: Range<u64>,
    count: u64,
    labels: usize,
    width: u64,
    /// The offset of every `STEP`th record, from which any record is a short walk away.
    marks: Vec<u64>,
}

/// Callback for every record: its offset, its labels, and a cursor at its cells.
type Each<'a> = dyn FnMut(u64, &[String], &mut Scan) -> Result<()> + 'a;

/// Number of records between two marks.
const STEP: u64 = 1024;

impl Records {
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Number of labels of each record.
    pub(crate) fn n_labels(&self) -> usize {
        self.labels
    }

    pub(crate) fn width(&self) -> u64 {
        self.width
    }

    /// Length of all cells, without labels.
    pub(crate) fn len(&self) -> u64 {
        // Checked when the records were found.
        self.count.saturating_mul(self.width)
    }

    pub(crate) fn span(&self) -> Range<u64> {
        self.span.clone()
    }

    /// Walks over the records from the position of `scan`, calling `each` with the offset and the
    /// labels of every record. Cells are skipped, not read.
    pub(crate) fn find(
        scan: &mut Scan,
        count: u64,
        labels: usize,
        width: u64,
        limits: &Limits,
        each: &mut dyn FnMut(u64, &[String]) -> Result<()>,
    ) -> Result<Records> {
        limits.check_labels(count)?;
        let first = scan.at();
        let mut names = vec![String::new(); labels];
        let mut marks = memory::with_room(scan.room(count.div_ceil(STEP), STEP))?;
        for record in 0..count {
            let at = scan.at();
            if record.is_multiple_of(STEP) {
                memory::push(&mut marks, at)?;
            }
            read_labels(scan, &mut names, limits)?;
            each(at, &names)?;
            scan.skip(width)?;
        }
        if count.checked_mul(width).is_none() {
            return scan.fail(format!("{count} blocks of {width} bytes are too many"));
        }
        Ok(Records {
            span: first..scan.at(),
            count,
            labels,
            width,
            marks,
        })
    }

    /// Records at these offsets, the last of them ending at `end`.
    pub(crate) fn at(
        begins: impl Iterator<Item = u64>,
        end: u64,
        labels: usize,
        width: u64,
    ) -> Records {
        let mut count = 0_u64;
        let mut marks = Vec::new();
        for begin in begins {
            if count.is_multiple_of(STEP) {
                marks.push(begin);
            }
            count = count.saturating_add(1);
        }
        Records {
            span: marks.first().copied().unwrap_or(0)..end,
            count,
            labels,
            width,
            marks,
        }
    }

    /// A cursor, and how many records to skip with it to reach record `record`.
    fn approach<'a>(&self, source: &'a Source, record: u64) -> Result<(Scan<'a>, u64)> {
        let mark = self
            .marks
            .get(to_usize(record / STEP)?)
            .copied()
            .unwrap_or(self.span.end);
        Ok((Scan::part(source, "", mark..self.span.end), record % STEP))
    }

    /// The labels of the record at `at`.
    pub(crate) fn labels_at(&self, source: &Source, at: u64) -> Result<Vec<String>> {
        Ok(self.record_at(source, at)?.0)
    }

    /// The labels of the record at `at`, and the offset of its cells.
    pub(crate) fn record_at(&self, source: &Source, at: u64) -> Result<(Vec<String>, u64)> {
        let mut scan = Scan::part(source, "", at..self.span.end);
        let mut names = vec![String::new(); self.labels];
        read_labels(&mut scan, &mut names, &lifted())?;
        Ok((names, scan.at()))
    }

    /// Walks over all records; `each` may read or skip the cells.
    pub(crate) fn for_each(&self, source: &Source, each: &mut Each) -> Result<()> {
        let mut scan = Scan::part(source, "", self.span.clone());
        let mut names = vec![String::new(); self.labels];
        let limits = lifted();
        for _ in 0..self.count {
            let at = scan.at();
            read_labels(&mut scan, &mut names, &limits)?;
            let next = scan.at().saturating_add(self.width);
            each(at, &names, &mut scan)?;
            scan.seek(next)?;
        }
        Ok(())
    }

    pub(crate) fn for_each_cells(
        &self,
        source: &Source,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.for_each(source, &mut |_, _, scan| {
            scan.pieces(self.width, budget, each)
        })
    }

    pub(crate) fn read_at(&self, source: &Source, at: u64, buffer: &mut [u8]) -> Result<()> {
        if buffer.is_empty() {
            return Ok(());
        }
        let (mut scan, skip) = self.approach(source, at.checked_div(self.width).unwrap_or(0))?;
        let mut names = vec![String::new(); self.labels];
        for _ in 0..skip {
            read_labels(&mut scan, &mut names, &lifted())?;
            scan.skip(self.width)?;
        }
        let mut within = at.checked_rem(self.width).unwrap_or(0);
        let mut rest = buffer;
        while !rest.is_empty() {
            read_labels(&mut scan, &mut names, &lifted())?;
            scan.skip(within)?;
            let part = to_usize(self.width.saturating_sub(within).min(to_u64(rest.len())))?;
            let (now, later) = rest.split_at_mut(part);
            scan.fill(now)?;
            rest = later;
            within = 0;
        }
        Ok(())
    }
}

/// Unlimited, for bytes that have passed the limits on a first walk.
fn lifted() -> Limits {
    Limits {
        text: u64::MAX,
        ..Limits::default()
    }
}

fn read_labels(scan: &mut Scan, names: &mut [String], limits: &Limits) -> Result<()> {
    for name in names {
        short_text(scan, name, limits)?;
    }
    Ok(())
}

/// Reads a short int.
pub(crate) fn short(scan: &mut Scan) -> Result<u32> {
    let first = scan.peek()?;
    if first < 0x80 {
        return Ok(scan.u8()?.into());
    }
    Ok(scan.u32(Endian::Big)? & 0x7fff_ffff)
}

/// Reads a length as a short int, and that many bytes of UTF-8 into `text`; errors point at the
/// length.
pub(crate) fn short_text(scan: &mut Scan, text: &mut String, limits: &Limits) -> Result<()> {
    let at = scan.at();
    let len = u64::from(short(scan)?);
    if len > scan.left() {
        let left = scan.left();
        return scan.fail_at(at, format!("a name or label of {len} bytes, {left} left"));
    }
    limits.check_text(len)?;
    let mut bytes = std::mem::take(text).into_bytes();
    scan.take_into(len, &mut bytes)?;
    match String::from_utf8(bytes) {
        Ok(valid) => *text = valid,
        Err(_) => return scan.fail_at(at, "a name or label is not UTF-8"),
    }
    Ok(())
}

/// Writes a short int in its shortest form.
///
/// # Errors
/// [`Error::Invalid`] from 2^31 on.
pub(crate) fn put_short(value: u64, out: &mut Vec<u8>) -> Result<()> {
    match u32::try_from(value) {
        Ok(small @ 0..0x80) => out.extend(u8::try_from(small)),
        Ok(large @ 0x80..0x8000_0000) => out.extend((large | 0x8000_0000).to_be_bytes()),
        _ => {
            return Err(Error::invalid(format!(
                "{value} is more than a length can be, 2^31-1"
            )));
        }
    }
    Ok(())
}

/// Builds labelled records: in memory while they are few, in a temporary file beyond.
///
/// ```
/// # use tenfold::RecordsBuilder;
/// let mut records = RecordsBuilder::new(1, 2);
/// records.push(&["red"], &[1, 2])?;
/// records.push(&["blue"], &[3, 4])?;
/// assert_eq!(records.finish()?.to_vec()?, [1, 2, 3, 4]);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug)]
pub struct RecordsBuilder {
    labels: usize,
    width: u64,
    /// The labels of records that were pushed; others are known to be unique.
    pushed: LabelSet,
    count: u64,
    bytes: Spool,
    /// Length of the records so far, and the offset of every `STEP`th.
    len: u64,
    marks: Vec<u64>,
}

impl RecordsBuilder {
    /// An empty list of records with `labels` labels and `width` bytes each.
    #[must_use]
    pub fn new(labels: usize, width: usize) -> Self {
        RecordsBuilder::of_width(labels, to_u64(width))
    }

    /// An empty list of records with `labels` labels and `width` bytes each, of any width.
    pub(crate) fn of_width(labels: usize, width: u64) -> Self {
        RecordsBuilder {
            labels,
            width,
            pushed: LabelSet::default(),
            count: 0,
            bytes: Spool::new(),
            len: 0,
            marks: Vec::new(),
        }
    }

    /// The same for records of a file that is read with `limits`.
    pub(crate) fn bounded(self, limits: &Limits) -> Self {
        let bytes = self.bytes.bounded(limits);
        let pushed = if bytes.is_counting() {
            LabelSet::whole()
        } else {
            LabelSet::default()
        };
        RecordsBuilder {
            pushed,
            bytes,
            ..self
        }
    }

    /// An empty list with the labels of `records`, and `width` bytes each.
    pub(crate) fn like(records: &Records, width: u64) -> Self {
        RecordsBuilder::of_width(records.n_labels(), width)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has another number of labels or bytes than the others.
    pub fn push(&mut self, labels: &[&str], cells: &[u8]) -> Result<()> {
        if labels.len() != self.labels || to_u64(cells.len()) != self.width {
            let why = format!(
                "a record has {} labels and {} bytes, the others {} and {}",
                labels.len(),
                cells.len(),
                self.labels,
                self.width
            );
            return Err(Error::invalid(why));
        }
        self.pushed.push(labels)?;
        self.start(labels)?;
        self.cells(cells)
    }

    /// Begins a record with unique labels; its cells follow.
    pub(crate) fn start(&mut self, labels: &[impl AsRef<str>]) -> Result<()> {
        let mut address = Vec::new();
        for label in labels {
            let label = label.as_ref();
            put_short(to_u64(label.len()), &mut address)?;
            address.extend_from_slice(label.as_bytes());
        }
        if self.count.is_multiple_of(STEP) {
            memory::push(&mut self.marks, self.len)?;
        }
        self.count = self.count.saturating_add(1);
        self.cells(&address)
    }

    /// Begins a record whose labels may be duplicates; its cells follow.
    pub(crate) fn begin(&mut self, labels: &[impl AsRef<str>]) -> Result<()> {
        self.pushed.push(labels)?;
        self.start(labels)
    }

    /// How many records there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds cells to the current record; all pieces together have its width.
    pub(crate) fn cells(&mut self, piece: &[u8]) -> Result<()> {
        self.len = self.len.saturating_add(to_u64(piece.len()));
        self.bytes.write(piece)
    }

    /// Returns the cells of all records as bytes that know their labels.
    ///
    /// # Errors
    /// [`Error::Invalid`] if two records that were pushed have the same labels, [`Error::Io`] if
    /// the temporary file fails.
    pub fn finish(self) -> Result<Bytes> {
        self.finish_unless_twice()?.map_err(|labels| {
            let why = format!("two records are labelled {labels:?}");
            Error::invalid(why)
        })
    }

    /// As [`RecordsBuilder::finish`]; returns duplicate labels if there are any.
    pub(crate) fn finish_unless_twice(self) -> Result<std::result::Result<Bytes, Vec<String>>> {
        let is_counted = self.bytes.is_counted();
        let source = self.bytes.finish()?;
        let mut scan = Scan::new(&source, "");
        let mut limits = lifted();
        limits.labels = u64::MAX;
        let (count, width) = (self.count, self.width);
        let records = if is_counted && count.checked_mul(width).is_some() {
            Records {
                span: 0..self.len,
                count,
                labels: self.labels,
                width,
                marks: self.marks,
            }
        } else {
            Records::find(
                &mut scan,
                count,
                self.labels,
                width,
                &limits,
                &mut |_, _| Ok(()),
            )?
        };
        if let Some(at) = self.pushed.duplicate(&records, &source)? {
            return Ok(Err(records.labels_at(&source, at)?));
        }
        Bytes::part(&source, Extent::Records(Arc::new(records))).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "takes an hour there")]
    fn any_cell_is_found_through_the_marks() {
        let mut records = RecordsBuilder::new(2, 4);
        for number in 0..3000_u32 {
            let label = "x".repeat((number % 200).try_into().unwrap());
            records
                .push(&[&number.to_string(), &label], &number.to_le_bytes())
                .unwrap();
        }
        let bytes = records.finish().unwrap();
        assert_eq!(bytes.len(), 12_000);
        for number in [0_u32, 1, 1023, 1024, 1025, 2047, 2999] {
            let mut cell = [0; 4];
            bytes.read_at(u64::from(number) * 4, &mut cell).unwrap();
            assert_eq!(u32::from_le_bytes(cell), number);
        }
        let mut across = [0; 6];
        bytes.read_at(4 * 1023 + 2, &mut across).unwrap();
        assert_eq!(across, [0, 0, 0, 4, 0, 0]);
    }

    #[test]
    fn short_ints_take_one_byte_below_128_and_four_above() {
        let mut out = Vec::new();
        put_short(127, &mut out).unwrap();
        put_short(128, &mut out).unwrap();
        assert_eq!(out, [127, 0x80, 0, 0, 128]);
        assert!(put_short(1 << 31, &mut out).is_err());
    }

    #[test]
    fn a_text_that_is_too_long_or_no_text_fails_at_its_length() {
        for (bytes, why) in [
            (
                b"\x09\xff\xff\xff\xffa".as_slice(),
                "a name or label of 2147483647 bytes, 1 left (byte 1)",
            ),
            (b"\x09\x01\xff", "a name or label is not UTF-8 (byte 1)"),
        ] {
            let source = Source::memory(bytes.to_vec());
            let mut scan = Scan::new(&source, "");
            scan.skip(1).unwrap();
            let error = short_text(&mut scan, &mut String::new(), &Limits::default());
            assert_eq!(error.unwrap_err().to_string(), why);
        }
    }
}
