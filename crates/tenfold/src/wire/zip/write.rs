//! Streaming zip writer: the sizes of a member are in a descriptor after it, and in the directory.

use super::{
    DESCRIPTOR, ELSEWHERE_16, ELSEWHERE_32, END, ENTRY, LOCAL, LOCATOR, Method, PADDING_FIELD,
    WIDE_END, WIDE_FIELD, flag,
};
use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::io::Sink;
use crate::memory;

/// The earliest date, so that the output depends on nothing but its content.
const DATE: u16 = 1 << 5 | 1;
/// The specification version that archives require, and the one that Zip64 archives require.
const VERSION: u16 = 20;
const WIDE_VERSION: u16 = 45;
/// Made on Unix, without an owner, readable by everyone.
const MADE_BY: u16 = 3 << 8 | WIDE_VERSION;
const READABLE: u32 = 0o100_644 << 16;
/// Shortest padding field.
const LEAST_PADDING: u64 = 6;

/// An archive in progress.
#[derive(Default)]
pub(crate) struct Writer {
    entries: Vec<Entry>,
}

/// Checksum and sizes of a member, known once it is written.
pub(crate) struct Sizes {
    /// The CRC-32 of its content.
    pub(crate) crc: u32,
    /// Length of the stored data.
    pub(crate) stored: u64,
    /// Length of its content.
    pub(crate) len: u64,
}

struct Entry {
    name: Vec<u8>,
    flags: u16,
    method: u16,
    header: u64,
    is_wide: bool,
    sizes: Sizes,
}

impl Writer {
    /// Writes the local header of a member of `len` bytes. Its data is aligned to a multiple of
    /// `align`.
    pub(crate) fn start(
        &mut self,
        name: &str,
        method: Method,
        len: u64,
        align: u64,
        out: &mut Sink,
    ) -> Result<()> {
        let method = match method {
            Method::Stored => 0,
            Method::Deflated => 8,
            Method::Other(_) | Method::Encrypted => {
                return Err(Error::invalid(
                    "only stored and deflated members are written",
                ));
            }
        };
        // Deflate slightly expands incompressible data.
        let is_wide = len.saturating_add(len / 512).saturating_add(1 << 10) >= ELSEWHERE_32.into();
        let encoding = if name.is_ascii() { 0 } else { flag::UTF_8 };
        let entry = Entry {
            name: name.as_bytes().to_vec(),
            flags: flag::DESCRIBED | encoding,
            method,
            header: out.at(),
            is_wide,
            sizes: Sizes {
                crc: 0,
                stored: 0,
                len: 0,
            },
        };
        let mut extra = Vec::new();
        if is_wide {
            put_wide(&mut extra, &[0, 0]);
        }
        let unpadded = out.at() + 30 + to_u64(entry.name.len()) + to_u64(extra.len());
        put_padding(&mut extra, unpadded, align)?;
        let size = if is_wide { ELSEWHERE_32 } else { 0 };
        let mut record = LOCAL.to_vec();
        entry.put_start(&mut record, 0, [size, size]);
        put(&mut record, [short(entry.name.len())?, short(extra.len())?]);
        record.extend(&entry.name);
        record.extend(extra);
        memory::push(&mut self.entries, entry)?;
        out.write(&record)
    }

    /// Writes the record after the data of the current member.
    pub(crate) fn end_member(&mut self, sizes: Sizes, out: &mut Sink) -> Result<()> {
        let Some(entry) = self.entries.last_mut() else {
            return Err(Error::invalid("no member was started"));
        };
        let mut record = DESCRIPTOR.to_vec();
        record.extend(sizes.crc.to_le_bytes());
        for size in [sizes.stored, sizes.len] {
            if entry.is_wide {
                record.extend(size.to_le_bytes())
            } else {
                let too_long = |_| Error::invalid("a member is longer than it was said to be");
                let size = u32::try_from(size).map_err(too_long)?;
                record.extend(size.to_le_bytes());
            }
        }
        entry.sizes = sizes;
        out.write(&record)
    }

    /// Writes the directory and the end record.
    pub(crate) fn finish(self, comment: &[u8], out: &mut Sink) -> Result<()> {
        let start = out.at();
        let count = to_u64(self.entries.len());
        for entry in &self.entries {
            out.write(&entry.record()?)?;
        }
        let at = out.at();
        let size = at - start;
        let (short_count, is_many) = within_16(count);
        let [(short_size, is_long), (short_start, is_far)] = [within_32(size), within_32(start)];
        let mut record = Vec::new();
        if is_many || is_long || is_far {
            record.extend(WIDE_END);
            record.extend(44_u64.to_le_bytes());
            put(&mut record, [WIDE_VERSION, WIDE_VERSION]);
            record.extend([0; 8]);
            for number in [count, count, size, start] {
                record.extend(number.to_le_bytes());
            }
            record.extend(LOCATOR);
            record.extend([0; 4]);
            record.extend(at.to_le_bytes());
            record.extend(1_u32.to_le_bytes());
        }
        record.extend(END);
        put(&mut record, [0, 0, short_count, short_count]);
        record.extend(short_size.to_le_bytes());
        record.extend(short_start.to_le_bytes());
        put(&mut record, [short(comment.len())?]);
        record.extend(comment);
        out.write(&record)
    }
}

impl Entry {
    fn version(&self) -> u16 {
        if self.is_wide { WIDE_VERSION } else { VERSION }
    }

    /// The fields that local headers and directory entries share.
    fn put_start(&self, record: &mut Vec<u8>, crc: u32, sizes: [u32; 2]) {
        put(record, [self.version(), self.flags, self.method, 0, DATE]);
        record.extend(crc.to_le_bytes());
        sizes
            .iter()
            .for_each(|size| record.extend(size.to_le_bytes()));
    }

    /// The directory entry.
    fn record(&self) -> Result<Vec<u8>> {
        let Sizes { crc, stored, len } = self.sizes;
        let numbers = [len, stored, self.header];
        let [short_len, short_stored, short_header] = numbers.map(within_32);
        let wide: Vec<u64> = numbers
            .into_iter()
            .filter(|number| within_32(*number).1)
            .collect();
        let mut extra = Vec::new();
        if !wide.is_empty() {
            put_wide(&mut extra, &wide);
        }
        let mut record = ENTRY.to_vec();
        put(&mut record, [MADE_BY]);
        self.put_start(&mut record, crc, [short_stored.0, short_len.0]);
        put(&mut record, [short(self.name.len())?, short(extra.len())?]);
        put(&mut record, [0, 0, 0]); // comment, disk, attributes of a program
        record.extend(READABLE.to_le_bytes());
        record.extend(short_header.0.to_le_bytes());
        record.extend(&self.name);
        record.extend(extra);
        Ok(record)
    }
}

fn put<const N: usize>(record: &mut Vec<u8>, numbers: [u16; N]) {
    record.extend(numbers.into_iter().flat_map(u16::to_le_bytes));
}

fn put_wide(extra: &mut Vec<u8>, numbers: &[u64]) {
    // At most three.
    let len = u16::try_from(numbers.len() * 8).unwrap_or(0);
    put(extra, [WIDE_FIELD, len]);
    numbers
        .iter()
        .for_each(|number| extra.extend(number.to_le_bytes()));
}

/// Adds padding that moves what follows at `at` to a multiple of `align`.
fn put_padding(extra: &mut Vec<u8>, at: u64, align: u64) -> Result<()> {
    let mut padding = at.next_multiple_of(align.max(1)) - at;
    if padding == 0 {
        return Ok(());
    }
    while padding < LEAST_PADDING {
        padding += align;
    }
    let len = short(usize::try_from(padding - 4).unwrap_or(usize::MAX))?;
    put(
        extra,
        [
            PADDING_FIELD,
            len,
            short(usize::try_from(align).unwrap_or(usize::MAX))?,
        ],
    );
    extra.extend(std::iter::repeat_n(0, usize::from(len - 2)));
    Ok(())
}

fn short(len: usize) -> Result<u16> {
    u16::try_from(len).map_err(|_| Error::invalid("a name or comment longer than zip allows"))
}

/// A number in 32 bits, and whether it needs 64 bits elsewhere.
fn within_32(number: u64) -> (u32, bool) {
    match u32::try_from(number) {
        Ok(number) if number != ELSEWHERE_32 => (number, false),
        _ => (ELSEWHERE_32, true),
    }
}

/// A number in 16 bits, and whether it needs more bits elsewhere.
fn within_16(number: u64) -> (u16, bool) {
    match u16::try_from(number) {
        Ok(number) if number != ELSEWHERE_16 => (number, false),
        _ => (ELSEWHERE_16, true),
    }
}
