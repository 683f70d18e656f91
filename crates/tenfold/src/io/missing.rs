//! Bytes that a file speaks of and that are not there.

use std::path::PathBuf;

use super::Source;
use super::source::Compute;
use crate::error::{Error, Result};

/// Why bytes are not there.
pub(crate) enum Missing {
    /// There is no folder to look for them in.
    Unsupported { format: &'static str, what: String },
    /// The file they are in cannot be opened, for a reason that the system numbers.
    File(PathBuf, i32),
}

impl Missing {
    /// What whoever reads them learns.
    pub(crate) fn error(&self) -> Error {
        match self {
            Missing::Unsupported { format, what } => Error::Unsupported {
                format,
                what: what.clone(),
            },
            Missing::File(path, code) => {
                Error::from(std::io::Error::from_raw_os_error(*code)).in_file(path)
            }
        }
    }
}

struct Nothing {
    len: u64,
    why: Missing,
}

impl Compute for Nothing {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> Result<()> {
        Err(self.why.error())
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl Source {
    /// `len` bytes that are not there: whoever reads them learns why.
    pub(crate) fn absent(len: u64, why: Missing) -> Source {
        Source::computed(Nothing { len, why })
    }
}
