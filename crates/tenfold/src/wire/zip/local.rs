//! Local headers of zip members: their names, and the offsets of their data.
#![deny(clippy::arithmetic_side_effects)]

use super::read::{Member, Reader, short};
use super::{DESCRIPTOR, ELSEWHERE_32, ENTRY, LOCAL, Method, flag};
use crate::bytes::{Endian, to_u64};
use crate::error::Result;
use crate::limits::Limits;
use crate::memory;

/// A local header.
pub(super) struct Local {
    pub(super) flags: u16,
    pub(super) method: Method,
    pub(super) crc: u32,
    /// Length of the stored data; 0 if it is in a descriptor after the data.
    pub(super) stored: u64,
    pub(super) len: u64,
    pub(super) raw_name: Vec<u8>,
    /// Offset of the data.
    pub(super) data: u64,
    /// Whether 64-bit sizes are among the extra fields.
    is_wide: bool,
}

/// The name of the first member, as far as the given beginning of the file reaches.
pub(crate) fn first_name(start: &[u8]) -> Option<&[u8]> {
    /// The bytes before the name.
    const FIXED: usize = 30;
    let (fixed, rest) = start.split_at_checked(FIXED)?;
    match fixed {
        [b'P', b'K', 3, 4, .., low, high, _, _] => {
            rest.get(..usize::from(u16::from_le_bytes([*low, *high])))
        }
        _ => None,
    }
}

impl Reader<'_> {
    /// Reads the local header at `at`, which ends before `end`.
    pub(super) fn local_header(&self, at: u64, end: u64) -> Result<Local> {
        let mut scan = self.scan(0..end);
        scan.seek(at)?;
        if scan.array()? != LOCAL {
            return self.fail(at, "the header of a member is not here");
        }
        scan.skip(2)?; // version
        let [flags, method] = [short(&mut scan)?, short(&mut scan)?];
        scan.skip(4)?; // time
        let crc = scan.u32(Endian::Little)?;
        let [stored, len] = [scan.u32(Endian::Little)?, scan.u32(Endian::Little)?];
        let [name_len, extra_len] = [short(&mut scan)?, short(&mut scan)?];
        let raw_name = scan.take(name_len.into())?;
        let extra = self.wide_field(&mut scan, extra_len.into())?;
        let full = |short: u32, place: usize| match short {
            ELSEWHERE_32 => extra.get(place).copied().unwrap_or(short.into()),
            short => short.into(),
        };
        Ok(Local {
            flags,
            method: Method::of(method, flags),
            crc,
            stored: full(stored, usize::from(len == ELSEWHERE_32)),
            len: full(len, 0),
            raw_name,
            data: scan.at(),
            is_wide: !extra.is_empty(),
        })
    }

    /// The members in file order, and the end of the last, unless the directory follows or the last
    /// is cut off.
    pub(super) fn members(&self, limits: &Limits) -> Result<(Vec<Member>, Option<u64>)> {
        let end = self.source.len();
        let (mut members, mut at) = (Vec::new(), 0);
        while let Some(member) = self.member_at(at, limits)? {
            limits.check_tensors(to_u64(members.len()).saturating_add(1))?;
            limits.charge_items::<Member>(1)?;
            limits.charge_text(member.raw_name.len().saturating_mul(3))?;
            let is_cut = member.stored.end > end;
            at = self.after(&member)?;
            memory::push(&mut members, member)?;
            if is_cut {
                return Ok((members, None));
            }
        }
        let mut scan = self.scan(0..end);
        scan.seek(at)?;
        let is_directory = scan.left() >= to_u64(ENTRY.len()) && scan.array()? == ENTRY;
        Ok((members, (!is_directory).then_some(at)))
    }

    /// The offset of the next member.
    fn after(&self, member: &Member) -> Result<u64> {
        let end = member.stored.end;
        let mut scan = self.scan(end..self.source.len());
        let is_described = scan.left() >= to_u64(DESCRIPTOR.len()) && scan.array()? == DESCRIPTOR;
        let len = match (
            is_described && member.flags & flag::DESCRIBED != 0,
            member.is_wide,
        ) {
            (false, _) => 0,
            (true, false) => 16,
            (true, true) => 24,
        };
        Ok(end.saturating_add(len))
    }

    /// Searches for the descriptor after the data of a member, which has the length of the data;
    /// returns whether it was found.
    fn describe(&self, member: &mut Local) -> Result<bool> {
        /// Bytes searched at a time, and the length of a descriptor.
        const PIECE: u64 = 1 << 16;
        const LEN: u64 = 24;
        let mut at = member.data;
        while at < self.source.len() {
            let end = at
                .saturating_add(PIECE)
                .saturating_add(LEN)
                .min(self.source.len());
            let piece = self.scan(at..end).take(end.saturating_sub(at))?;
            for (place, window) in piece.windows(16).enumerate() {
                if !window.starts_with(&DESCRIPTOR) {
                    continue;
                }
                let found = at.saturating_add(to_u64(place));
                if self.is_described_at(found, member)? {
                    return Ok(true);
                }
            }
            at = at.saturating_add(PIECE);
        }
        Ok(false)
    }

    /// Whether there is a descriptor at `at` of a member whose data ends there; if so, it is
    /// applied.
    fn is_described_at(&self, at: u64, member: &mut Local) -> Result<bool> {
        let mut scan = self.scan(at..self.source.len());
        scan.skip(4)?;
        let crc = scan.u32(Endian::Little)?;
        let sizes = match member.is_wide {
            true if scan.left() < 16 => return Ok(false),
            true => [scan.u64(Endian::Little)?, scan.u64(Endian::Little)?],
            false => [scan.u32(Endian::Little)?, scan.u32(Endian::Little)?].map(u64::from),
        };
        let [stored, len] = sizes;
        if member.data.checked_add(stored) != Some(at) {
            return Ok(false);
        }
        (member.crc, member.stored, member.len) = (crc, stored, len);
        Ok(true)
    }

    /// The member with a header at `at`, if there is one; it may reach beyond the end of the file.
    fn member_at(&self, at: u64, limits: &Limits) -> Result<Option<Member>> {
        let mut found = match self.local_header(at, self.source.len()) {
            Err(error) if error.is_of_content() => return Ok(None),
            found => found?,
        };
        if found.flags & flag::DESCRIBED != 0 && !self.describe(&mut found)? {
            // Its end is unknown, so that it is cut at the end of the file.
            found.stored = u64::MAX;
        }
        limits.check_text(to_u64(found.raw_name.len()))?;
        Ok(Some(Member {
            name: self.name(&found.raw_name, found.flags, at)?,
            at,
            method: found.method,
            crc: found.crc,
            stored: found.data..found.data.saturating_add(found.stored),
            len: found.len,
            raw_name: found.raw_name,
            flags: found.flags,
            is_wide: found.is_wide,
            header: at,
        }))
    }
}
