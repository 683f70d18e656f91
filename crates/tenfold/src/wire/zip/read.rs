//! The central directory of an archive.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::{
    CODE_PAGE, DESCRIPTOR, ELSEWHERE_16, ELSEWHERE_32, END, ENTRY, LOCATOR, Method, WIDE_END,
    WIDE_FIELD, flag,
};
use crate::bytes::{Algorithm, Bytes, Deflated, Digest, Endian, Filter, Scan, gaps, to_u64};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::limits::Limits;
use crate::memory;

/// An archive.
pub(crate) struct Archive {
    pub(crate) members: Vec<Member>,
    pub(crate) comment: Vec<u8>,
    /// The ranges of the file that belong to none of its records, in order.
    pub(crate) gaps: Vec<Range<u64>>,
}

/// A member of an archive.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Offset of its directory entry.
    pub(crate) at: u64,
    pub(crate) method: Method,
    /// The CRC-32 of its content.
    pub(crate) crc: u32,
    /// The range of its stored data.
    pub(crate) stored: Range<u64>,
    /// Length of its content.
    pub(crate) len: u64,
    /// The name as it is in the file.
    pub(super) raw_name: Vec<u8>,
    pub(super) flags: u16,
    /// Whether its header has 64-bit sizes.
    pub(super) is_wide: bool,
    /// Offset of its local header.
    pub(super) header: u64,
}

impl Member {
    /// Its content, with the CRC-32; `None` if the method is unknown.
    pub(crate) fn content(&self, source: &Source, limits: &Limits) -> Result<Option<Bytes>> {
        let stored = Bytes::run(source, self.stored.clone())?;
        Ok(match self.method {
            Method::Stored => Some(stored.with_digest(Some(Digest {
                algorithm: Algorithm::Crc32,
                expected: self.crc.to_be_bytes().to_vec(),
                over: None,
            }))),
            Method::Deflated => {
                limits.check_ratio(stored.len(), self.len)?;
                Some(stored.filtered(Filter::Deflate(Deflated {
                    skip: 0,
                    len: self.len,
                    total: self.len,
                    crc: self.crc,
                })))
            }
            Method::Encrypted | Method::Other(_) => None,
        })
    }
}

/// Reads the directory and every local header; `format` is named in errors.
pub(crate) fn read(source: &Source, format: &'static str, limits: &Limits) -> Result<Archive> {
    let mut reader = Reader::new(source, format);
    let (end, mut members) = reader.listed(limits)?;
    for member in &mut members {
        reader.local(member, end.directory.start)?;
    }
    let mut gaps = reader.between(&members, end.directory.start, limits)?;
    gaps.append(&mut reader.odd);
    let comment = end.comment;
    Ok(Archive {
        members,
        comment,
        gaps,
    })
}

/// The readable part of a damaged archive.
pub(crate) struct Salvaged {
    pub(crate) archive: Archive,
    /// The unreadable members, by name, with the reason.
    pub(crate) lost: Vec<(String, Error)>,
    /// The fault of the directory, if it has one; members are then found by their local headers.
    pub(crate) fault: Option<Error>,
    /// The offset at which that ended, unless it was at the directory or within a member.
    pub(crate) rest: Option<u64>,
}

/// Reads as much of a damaged archive as possible: by its directory, else by the local headers of
/// its members, of which the last may reach beyond the end.
pub(crate) fn salvage(source: &Source, format: &'static str, limits: &Limits) -> Result<Salvaged> {
    let mut reader = Reader::new(source, format);
    let listed = reader.listed(limits);
    let (mut members, mut lost) = (Vec::new(), Vec::new());
    let (end, listed) = match listed {
        Ok(listed) => listed,
        Err(fault @ Error::Malformed { .. }) => {
            let (members, rest) = reader.members(limits)?;
            let archive = Archive {
                members,
                comment: Vec::new(),
                gaps: Vec::new(),
            };
            return Ok(Salvaged {
                archive,
                lost,
                fault: Some(fault),
                rest,
            });
        }
        Err(error) => return Err(error),
    };
    for mut member in listed {
        match reader.local(&mut member, end.directory.start) {
            Ok(()) => memory::push(&mut members, member)?,
            Err(error) => lost.push((member.name, error)),
        }
    }
    let gaps = reader.between(&members, end.directory.start, limits)?;
    let archive = Archive {
        members,
        comment: end.comment,
        gaps,
    };
    Ok(Salvaged {
        archive,
        lost,
        fault: None,
        rest: None,
    })
}

pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) format: &'static str,
    /// Parts of the records after the members that have no meaning: comments of entries, and
    /// unknown data in the Zip64 end record.
    odd: Vec<Range<u64>>,
}

/// The end of central directory record.
struct End {
    directory: Range<u64>,
    count: u64,
    comment: Vec<u8>,
}

/// Length of the end record without its comment.
const END_LEN: usize = 22;
/// Length of the locator.
const LOCATOR_LEN: u64 = 20;

impl<'a> Reader<'a> {
    fn new(source: &'a Source, format: &'static str) -> Self {
        Reader {
            source,
            format,
            odd: Vec::new(),
        }
    }

    pub(super) fn scan(&self, range: Range<u64>) -> Scan<'a> {
        Scan::part(self.source, self.format, range)
    }

    pub(super) fn fail<T>(&self, at: u64, why: impl Into<String>) -> Result<T> {
        self.scan(0..0).fail_at(at, why)
    }

    /// The end record, and the members that the directory lists.
    fn listed(&mut self, limits: &Limits) -> Result<(End, Vec<Member>)> {
        let end = self.end()?;
        limits.check_header(end.directory.end.saturating_sub(end.directory.start))?;
        limits.check_tensors(end.count)?;
        let members = self.directory(&end, limits)?;
        Ok((end, members))
    }

    /// Finds the last record: its comment ends the file.
    fn end(&mut self) -> Result<End> {
        let len = self.source.len();
        let tail_at = len.saturating_sub(to_u64(END_LEN).saturating_add(u16::MAX.into()));
        let tail = self.scan(tail_at..len).take(len.saturating_sub(tail_at))?;
        let fits = |place: &usize| {
            let record = tail.get(*place..).unwrap_or_default();
            let comment = record.len().checked_sub(END_LEN);
            let said = record.get(20..22).map(|len| len.iter().rev());
            let said = said.map(|len| len.fold(0, |sum, byte| sum << 8 | usize::from(*byte)));
            record.starts_with(&END) && comment.is_some() && comment == said
        };
        let Some(place) = (0..tail.len()).rev().find(fits) else {
            return self.fail(len, "no end of a zip archive is found");
        };
        let at = tail_at.saturating_add(to_u64(place));
        let mut scan = self.scan(at..len);
        scan.skip(4)?;
        let [disk, directory_disk] = [short(&mut scan)?, short(&mut scan)?];
        let [here, count] = [short(&mut scan)?, short(&mut scan)?];
        let [size, start] = [scan.u32(Endian::Little)?, scan.u32(Endian::Little)?];
        scan.skip(2)?;
        let comment = scan.take(scan.left())?;
        if let Some(mut end) = self.wide_end(at)? {
            let agrees = (count == ELSEWHERE_16 || u64::from(count) == end.count)
                && (start == ELSEWHERE_32 || u64::from(start) == end.directory.start);
            if !agrees {
                return self.fail(at, "the two ends of the archive differ");
            }
            end.comment = comment;
            return Ok(end);
        }
        if (disk, directory_disk, here) != (0, 0, count) {
            return self.fail(at, "an archive of several disks");
        }
        let (start, size) = (u64::from(start), u64::from(size));
        self.ends_at(at, start, size)?;
        Ok(End {
            directory: start..at,
            count: count.into(),
            comment,
        })
    }

    /// Checks that the directory ends where the records after it begin.
    fn ends_at(&self, at: u64, start: u64, size: u64) -> Result<()> {
        if start.checked_add(size) == Some(at) {
            Ok(())
        } else {
            self.fail(
                at,
                format!("a directory of {size} bytes at {start} does not end here"),
            )
        }
    }

    /// The Zip64 end record, if there is one before the end record at `at`.
    fn wide_end(&mut self, at: u64) -> Result<Option<End>> {
        let Some(locator_at) = at.checked_sub(LOCATOR_LEN) else {
            return Ok(None);
        };
        let mut scan = self.scan(locator_at..at);
        if scan.array()? != LOCATOR {
            return Ok(None);
        }
        let disk = scan.u32(Endian::Little)?;
        let end_at = scan.u64(Endian::Little)?;
        let disks = scan.u32(Endian::Little)?;
        if disk != 0 || disks > 1 {
            return self.fail(locator_at, "an archive of several disks");
        }
        let mut scan = self.scan(0..locator_at);
        scan.seek(end_at)?;
        if scan.array()? != WIDE_END {
            return self.fail(end_at, "the wide end of the archive is not here");
        }
        let len = scan.u64(Endian::Little)?;
        if scan.at().checked_add(len) != Some(locator_at) {
            return self.fail(end_at, "the wide end does not reach the locator");
        }
        scan.skip(4)?; // versions
        let [disk, directory_disk] = [scan.u32(Endian::Little)?, scan.u32(Endian::Little)?];
        let [here, count] = [scan.u64(Endian::Little)?, scan.u64(Endian::Little)?];
        let [size, start] = [scan.u64(Endian::Little)?, scan.u64(Endian::Little)?];
        if (disk, directory_disk, here) != (0, 0, count) {
            return self.fail(end_at, "an archive of several disks");
        }
        self.ends_at(end_at, start, size)?;
        if scan.at() < locator_at {
            self.odd.push(scan.at()..locator_at);
        }
        Ok(Some(End {
            directory: start..end_at,
            count,
            comment: Vec::new(),
        }))
    }

    fn directory(&mut self, end: &End, limits: &Limits) -> Result<Vec<Member>> {
        let mut scan = self.scan(end.directory.clone());
        let mut members = memory::with_room(limits.room::<Member>(scan.room(end.count, 46)))?;
        while to_u64(members.len()) < end.count {
            let member = self.entry(&mut scan, limits)?;
            limits.charge_items::<Member>(1)?;
            limits.charge_text(member.raw_name.len().saturating_mul(3))?;
            memory::push(&mut members, member)?;
        }
        match scan.left() {
            0 => Ok(members),
            left => scan.fail(format!(
                "bytes after the last entry of the directory: {left}"
            )),
        }
    }

    fn entry(&mut self, scan: &mut Scan, limits: &Limits) -> Result<Member> {
        let at = scan.at();
        if scan.array()? != ENTRY {
            return self.fail(at, "an entry of the directory is not here");
        }
        scan.skip(4)?; // versions
        let [flags, method] = [short(scan)?, short(scan)?];
        scan.skip(4)?; // time
        let crc = scan.u32(Endian::Little)?;
        let [stored, len] = [scan.u32(Endian::Little)?, scan.u32(Endian::Little)?];
        let [name_len, extra_len, comment_len] = [short(scan)?, short(scan)?, short(scan)?];
        let disk = short(scan)?;
        scan.skip(6)?; // attributes
        let header = scan.u32(Endian::Little)?;
        limits.check_text(name_len.into())?;
        let raw_name = scan.take(name_len.into())?;
        let extra = self.wide_field(scan, extra_len.into())?;
        let comment_at = scan.at();
        scan.skip(comment_len.into())?;
        if comment_len > 0 {
            limits.charge_items::<Range<u64>>(1)?;
            self.odd.push(comment_at..scan.at());
        }
        let mut extra = extra.into_iter();
        let mut full = |short: u32| match short {
            ELSEWHERE_32 => extra
                .next()
                .map_or_else(|| self.fail(at, "a size of 64 bits is missing"), Ok),
            short => Ok(short.into()),
        };
        let len = full(len)?;
        let stored = full(stored)?;
        let header = full(header)?;
        if disk != 0 && disk != ELSEWHERE_16 {
            return self.fail(at, "a member on another disk");
        }
        Ok(Member {
            name: self.name(&raw_name, flags, at)?,
            at,
            method: Method::of(method, flags),
            crc,
            stored: 0..stored,
            len,
            raw_name,
            flags,
            is_wide: false,
            header,
        })
    }

    /// The 64-bit numbers among the extra fields.
    pub(super) fn wide_field(&self, scan: &mut Scan, len: u64) -> Result<Vec<u64>> {
        let end = scan.at().saturating_add(len);
        let mut numbers = Vec::new();
        let mut rest = self.scan(scan.at()..end);
        scan.skip(len)?;
        // Some writers pad with less than a field.
        while rest.left() >= 4 {
            let [kind, len] = [short(&mut rest)?, short(&mut rest)?];
            let len = u64::from(len);
            if kind != WIDE_FIELD || !numbers.is_empty() {
                rest.skip(len)?;
                continue;
            }
            let field_end = rest.at().saturating_add(len);
            while rest.at().saturating_add(8) <= field_end {
                numbers.push(rest.u64(Endian::Little)?);
            }
            rest.skip(field_end.saturating_sub(rest.at()))?;
        }
        Ok(numbers)
    }

    pub(super) fn name(&self, raw: &[u8], flags: u16, at: u64) -> Result<String> {
        if flags & flag::UTF_8 != 0 {
            return match std::str::from_utf8(raw) {
                Ok(name) => Ok(name.to_owned()),
                Err(_) => self.fail(at, "a name that is said to be UTF-8 is not"),
            };
        }
        let letter = |byte: &u8| match byte.checked_sub(0x80) {
            None => Some(char::from(*byte)),
            Some(place) => CODE_PAGE.chars().nth(place.into()),
        };
        Ok(raw.iter().filter_map(letter).collect())
    }

    /// Reads the local header of a member, which determines the offset of its data.
    fn local(&self, member: &mut Member, directory: u64) -> Result<()> {
        let at = member.header;
        let found = self.local_header(at, directory)?;
        let differs = |what: &str| {
            let why = format!("the {what} of a member is not that in the directory");
            self.fail(at, why)
        };
        if found.raw_name != member.raw_name {
            return differs("name");
        }
        if found.method != member.method {
            return differs("method");
        }
        let size = member.stored.end;
        if found.flags & flag::DESCRIBED == 0 {
            if (found.len, found.crc) != (member.len, member.crc) {
                return differs("size or checksum");
            }
            if found.stored != size {
                return differs("size");
            }
        } else if member.flags & flag::DESCRIBED == 0 {
            return differs("flag");
        }
        let mut scan = self.scan(0..directory);
        scan.seek(found.data)?;
        scan.skip(size)?;
        member.stored = found.data..scan.at();
        if member.method == Method::Stored && size != member.len {
            let why = format!("{size} bytes are stored, {} are said", member.len);
            return self.fail(member.at, why);
        }
        Ok(())
    }

    /// The gaps before the members, between them, and between the last and the directory; no byte
    /// belongs to two of them.
    fn between(
        &self,
        members: &[Member],
        directory: u64,
        limits: &Limits,
    ) -> Result<Vec<Range<u64>>> {
        let mut sorted = memory::collected(members)?;
        sorted.sort_unstable_by_key(|member| (member.header, member.stored.end));
        for pair in sorted.windows(2) {
            let [first, second] = pair else { continue };
            if second.header < first.stored.end {
                let (first, at) = (&first.name, second.header);
                let why = format!("the members {first:?} and {:?} overlap", second.name);
                return self.fail(at, why);
            }
        }
        let starts = sorted.iter().skip(1).map(|next| next.header);
        let mut runs = memory::with_room(sorted.len())?;
        for (member, next) in sorted.iter().zip(starts.chain([directory])) {
            limits.charge_items::<Range<u64>>(1)?;
            let descriptor = self.descriptor_len(member, next)?;
            runs.push(member.header..member.stored.end.saturating_add(descriptor));
        }
        memory::collected(gaps(0..directory, runs))
    }
}

impl Reader<'_> {
    /// Length of the descriptor after the data of a member, before `next`, which repeats checksum
    /// and sizes; 0 if there is no valid one.
    fn descriptor_len(&self, member: &Member, next: u64) -> Result<u64> {
        let at = member.stored.end;
        if member.flags & flag::DESCRIBED == 0 || next <= at {
            return Ok(0);
        }
        let size = member.stored.end.saturating_sub(member.stored.start);
        let crc = member.crc.to_le_bytes();
        let wide_form = [
            crc.as_slice(),
            &size.to_le_bytes(),
            &member.len.to_le_bytes(),
        ]
        .concat();
        let short = |len: u64| u32::try_from(len).unwrap_or(ELSEWHERE_32).to_le_bytes();
        let short_form = [crc, short(size), short(member.len)].concat();
        let found = self.scan(at..next.min(at.saturating_add(24)));
        let found = { found }.take(next.saturating_sub(at).min(24))?;
        // APPNOTE 4.3.9.3: the signature may be missing.
        let unmarked = found.strip_prefix(&DESCRIPTOR);
        let mark = if unmarked.is_some() {
            to_u64(DESCRIPTOR.len())
        } else {
            0
        };
        let rest = unmarked.unwrap_or(&found);
        let form = [wide_form, short_form.to_vec()];
        let is_there = |form: &&Vec<u8>| rest.starts_with(form);
        let form = form.iter().find(is_there);
        Ok(form.map_or(0, |form| mark.saturating_add(to_u64(form.len()))))
    }
}

pub(super) fn short(scan: &mut Scan) -> Result<u16> {
    Ok(u16::from_le_bytes(scan.array()?))
}
