//! Conversion of lengths between `usize` and `u64`.

use crate::error::{Error, Result};

/// A length in memory as a `u64`, in which files count.
#[must_use]
pub(crate) fn to_u64(len: usize) -> u64 {
    // No supported machine has more than 64 bits of address.
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// A length stated in a file as a length in memory.
pub(crate) fn to_usize(len: u64) -> Result<usize> {
    usize::try_from(len)
        .map_err(|_| Error::invalid(format!("{len} bytes do not fit this machine's memory")))
}
