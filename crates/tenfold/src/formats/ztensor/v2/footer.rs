//! The footer: the last 40 bytes of a file, which locate its manifest.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::super::NAME;
use super::LEAST_ALIGNMENT;
use crate::bytes::Endian::Little;
use crate::bytes::{Scan, to_u64};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::limits::Limits;

/// The signature at both ends of a file.
pub(in super::super) const MAGIC: &[u8; 8] = b"\x89ZT2\r\n\x1a\n";
/// The length of the footer.
const LEN: u64 = 40;
const VERSION: u32 = 2;
/// Longest manifest.
const MOST: u64 = 1 << 30;

/// The location of a file's manifest.
pub(super) struct Footer {
    pub(super) manifest: Range<u64>,
    hash: u64,
}

impl Footer {
    /// The offset of the footer in a file: blobs end before it.
    pub(super) fn start(len: u64) -> u64 {
        len.saturating_sub(LEN)
    }

    /// The range for blobs in a file of `len` bytes.
    pub(super) fn blobs(len: u64) -> Range<u64> {
        to_u64(MAGIC.len())..Footer::start(len)
    }

    /// The reserved field of a footer.
    pub(super) fn reserved(len: u64) -> Range<u64> {
        len.saturating_sub(12)..len.saturating_sub(8)
    }

    pub(super) fn read(source: &Source) -> Result<Footer> {
        let mut scan = Scan::new(source, NAME);
        if scan.array()? != *MAGIC {
            return scan.fail_at(0, "the magic is not \\x89ZT2\\r\\n\\x1a\\n");
        }
        let start = Footer::start(source.len());
        if start < to_u64(MAGIC.len()) {
            return scan.fail("the file ends before its footer");
        }
        scan.seek(start)?;
        let offset = scan.u64(Little)?;
        let len = scan.u64(Little)?;
        let hash = scan.u64(Little)?;
        let version_at = scan.at();
        let version = scan.u32(Little)?;
        scan.skip(4)?; // reserved, and to be ignored
        let magic_at = scan.at();
        if scan.array()? != *MAGIC {
            return scan.fail_at(magic_at, "the magic at the end is not that at the start");
        }
        if version != VERSION {
            return scan.fail_at(version_at, format!("version {version}, not {VERSION}"));
        }
        if len > MOST {
            let why = format!("a description of {len} bytes, more than 1 GiB");
            return scan.fail_at(start.saturating_add(8), why);
        }
        if len == 0 && (offset, hash) != (0, 0) {
            return scan.fail_at(start, "a place for a description of no bytes");
        }
        let end = offset.checked_add(len).filter(|end| *end <= start);
        let Some(end) = end else {
            let why = format!("a description of {len} bytes at {offset} reaches into the footer");
            return scan.fail_at(start, why);
        };
        if len > 0 && (offset == 0 || !offset.is_multiple_of(LEAST_ALIGNMENT)) {
            let why = format!("a description at {offset}, no multiple of {LEAST_ALIGNMENT}");
            return scan.fail_at(start, why);
        }
        let manifest = offset..end;
        Ok(Footer { manifest, hash })
    }

    /// The manifest, after verification of its checksum.
    pub(super) fn manifest(&self, source: &Source, limits: &Limits) -> Result<Vec<u8>> {
        let len = self.manifest.end.saturating_sub(self.manifest.start);
        limits.check_header(len)?;
        let bytes = Scan::part(source, NAME, self.manifest.clone()).keep(len, limits)?;
        let found = xxhash_rust::xxh3::xxh3_64(&bytes);
        if found == self.hash {
            return Ok(bytes);
        }
        let why = format!(
            "the checksum of the description is {:016x}, its bytes have {found:016x}",
            self.hash
        );
        Err(Error::malformed(self.manifest.start, why))
    }

    /// The footer for a manifest at `offset`.
    pub(super) fn bytes(offset: u64, manifest: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(offset.to_le_bytes());
        bytes.extend(to_u64(manifest.len()).to_le_bytes());
        bytes.extend(xxhash_rust::xxh3::xxh3_64(manifest).to_le_bytes());
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(MAGIC);
        bytes
    }
}
