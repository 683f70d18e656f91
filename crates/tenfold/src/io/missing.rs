//! A source whose file is missing; every read fails with its name.

use std::path::PathBuf;

use super::Source;
use super::source::Compute;
use crate::error::{Error, Result};

/// The reason why bytes are missing.
pub(crate) enum Missing {
    /// The source has no folder in which the file could be found.
    Unsupported { format: &'static str, what: String },
    /// The file cannot be opened; with the error number of the system.
    File(PathBuf, i32),
}

impl Missing {
    /// The error that every read gives.
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
    /// A source of `len` missing bytes; every read fails with the reason.
    pub(crate) fn absent(len: u64, why: Missing) -> Source {
        Source::computed(Nothing { len, why })
    }
}
