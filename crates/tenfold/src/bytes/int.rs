//! Lengths of files and of memory, one as the other.

use crate::error::{Error, Result};

/// A length in memory as the `u64` in which files count.
#[must_use]
pub(crate) fn to_u64(len: usize) -> u64 {
    // No supported machine has more than 64 bits of address.
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// A length that a file states as one that memory can have.
pub(crate) fn to_usize(len: u64) -> Result<usize> {
    usize::try_from(len)
        .map_err(|_| Error::invalid(format!("{len} bytes do not fit this machine's memory")))
}
