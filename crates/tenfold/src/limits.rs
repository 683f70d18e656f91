//! How much an untrusted file may ask for.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

use crate::error::{Error, Result};

/// Bounds on what a file may make the reader do; the defaults are safe for a server.
///
/// Every limit can be set by name, which is how the command line's `--max-NAME` flags work:
///
/// ```
/// let mut limits = tenfold::Limits::default();
/// limits.set("ndim", 8)?;
/// assert_eq!(limits.ndim, 8);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of header or index that are read into memory.
    pub header: u64,
    /// Bytes of memory that what a file describes may take: names, shapes, metadata.
    pub structure: u64,
    /// Tensors in one file.
    pub tensors: u64,
    /// Dimensions of one tensor.
    pub ndim: u64,
    /// Bytes of one name or label.
    pub text: u64,
    /// Levels of nesting in metadata.
    pub depth: u64,
    /// Symmetries that one tensor declares.
    pub symmetries: u64,
    /// Labelled blocks in one tensor.
    pub labels: u64,
    /// Bytes that one tensor may become when it is decompressed, unpacked or made dense.
    pub decoded: u64,
    /// How many times larger than its compressed bytes a tensor may be.
    pub ratio: u64,
    /// Cells that packed symmetries may tie together (the size of the group they generate).
    pub orbit: u64,
    /// Bytes of memory that work on tensors larger than it may take: not a limit on files, but a
    /// budget. Whatever does not fit is done in slabs, or through temporary files.
    pub memory: u64,
    /// What has been built of the file that is read with these limits.
    pub(crate) account: Account,
}

/// Bytes of memory that a reader has filled with what a file describes, counted where they are filled.
/// Its clones are the same account; there is none until a file is opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Account(Option<Arc<AtomicU64>>);

/// Limits are equal whatever has been done under them.
impl PartialEq for Account {
    fn eq(&self, _: &Account) -> bool {
        true
    }
}

impl Eq for Account {}

/// One limit: its name, its default and what it bounds.
#[derive(Debug, Clone, Copy)]
pub struct LimitInfo {
    /// The field of [`Limits`], and the word after `--max-`.
    pub name: &'static str,
    /// The value unless set otherwise.
    pub default: u64,
    /// What it bounds.
    pub about: &'static str,
}

/// What a small piece of memory takes besides its bytes, as allocators round up and keep notes.
const PIECE_COST: u64 = 24;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Limits {
    /// The memory budget unless set otherwise. The same on every machine, so that a conversion that
    /// works here works in a small container, and takes the same way through temporary files.
    pub const MEMORY: u64 = 512 * MIB;

    /// All limits, in the order in which they are documented.
    pub const ALL: &'static [LimitInfo] = &[
        LimitInfo {
            name: "header",
            default: 256 * MIB,
            about: "bytes of header or index read into memory",
        },
        LimitInfo {
            name: "structure",
            default: 192 * MIB,
            about: "bytes of memory that names, shapes and metadata of one file take",
        },
        LimitInfo {
            name: "tensors",
            default: 1_000_000,
            about: "tensors in one file",
        },
        LimitInfo {
            name: "ndim",
            default: 255,
            about: "dimensions of one tensor",
        },
        LimitInfo {
            name: "text",
            default: MIB,
            about: "bytes of one name or label",
        },
        LimitInfo {
            name: "depth",
            default: 64,
            about: "levels of nesting in metadata",
        },
        LimitInfo {
            name: "symmetries",
            default: 256,
            about: "symmetries that one tensor declares",
        },
        LimitInfo {
            name: "labels",
            default: 1 << 24,
            about: "labelled blocks in one tensor",
        },
        LimitInfo {
            name: "decoded",
            default: 16 * GIB,
            about: "bytes one tensor may become when decompressed, unpacked or made dense",
        },
        LimitInfo {
            name: "ratio",
            default: 64 * KIB,
            about: "how many times larger than its compressed bytes a tensor may be",
        },
        LimitInfo {
            name: "orbit",
            default: 8 * KIB,
            about: "cells that packed symmetries may tie together",
        },
    ];

    fn field(&mut self, name: &str) -> Option<&mut u64> {
        Some(match name {
            "header" => &mut self.header,
            "structure" => &mut self.structure,
            "tensors" => &mut self.tensors,
            "ndim" => &mut self.ndim,
            "text" => &mut self.text,
            "depth" => &mut self.depth,
            "symmetries" => &mut self.symmetries,
            "labels" => &mut self.labels,
            "decoded" => &mut self.decoded,
            "ratio" => &mut self.ratio,
            "orbit" => &mut self.orbit,
            _ => return None,
        })
    }

    /// Sets the limit called `name`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such limit.
    pub fn set(&mut self, name: &str, value: u64) -> Result<()> {
        let field = self
            .field(name)
            .ok_or_else(|| Error::invalid(format!("no limit called {name}")))?;
        *field = value;
        Ok(())
    }

    /// The same limits, with an account of their own for one file.
    pub(crate) fn for_file(&self) -> Limits {
        Limits {
            account: Account(Some(Arc::default())),
            ..self.clone()
        }
    }

    /// Counts memory that is about to be filled with what the file describes.
    pub(crate) fn charge(&self, bytes: u64) -> Result<()> {
        self.charge_for("what the file describes takes too much memory", bytes)
    }

    /// Counts memory as [`Limits::charge`], and says `why` if there is too much.
    pub(crate) fn charge_for(&self, why: &str, bytes: u64) -> Result<()> {
        let Account(Some(spent)) = &self.account else {
            return Ok(());
        };
        let before = spent.fetch_add(bytes, Relaxed);
        let wanted = before.saturating_add(bytes);
        check("structure", why, wanted, self.structure)
    }

    /// Takes off the account what is held no longer.
    pub(crate) fn release(&self, bytes: u64) {
        if let Account(Some(spent)) = &self.account {
            spent.fetch_sub(bytes, Relaxed);
        }
    }

    /// For how many items a list is made at once that a file says to have `count`: it grows where they
    /// come.
    pub(crate) fn room<T>(&self, count: usize) -> usize {
        let most = self
            .structure
            .checked_div(wide(size_of::<T>()).saturating_mul(16));
        count.min(usize::try_from(most.unwrap_or(0)).unwrap_or(usize::MAX))
    }

    /// Counts `count` items that a list of them is about to hold, which may be half empty as it grows.
    pub(crate) fn charge_items<T>(&self, count: usize) -> Result<()> {
        let each = wide(size_of::<T>()).saturating_mul(2);
        self.charge(wide(count).saturating_mul(each))
    }

    /// Counts a list of `count` items that is made at once.
    pub(crate) fn charge_list<T>(&self, count: u64) -> Result<()> {
        self.charge(count.saturating_mul(wide(size_of::<T>())))
    }

    /// Counts a text with what a small piece of memory costs besides its bytes.
    pub(crate) fn charge_text(&self, len: usize) -> Result<()> {
        self.charge(wide(len).saturating_add(PIECE_COST))
    }

    pub(crate) fn check_header(&self, wanted: u64) -> Result<()> {
        check("header", "the header is too large", wanted, self.header)
    }

    pub(crate) fn check_tensors(&self, wanted: u64) -> Result<()> {
        check("tensors", "too many tensors", wanted, self.tensors)
    }

    pub(crate) fn check_ndim(&self, wanted: u64) -> Result<()> {
        check("ndim", "too many dimensions", wanted, self.ndim)
    }

    pub(crate) fn check_text(&self, wanted: u64) -> Result<()> {
        check("text", "a name or label is too long", wanted, self.text)
    }

    pub(crate) fn check_depth(&self, wanted: u64) -> Result<()> {
        check("depth", "metadata is nested too deeply", wanted, self.depth)
    }

    pub(crate) fn check_symmetries(&self, wanted: u64) -> Result<()> {
        check("symmetries", "too many symmetries", wanted, self.symmetries)
    }

    pub(crate) fn check_labels(&self, wanted: u64) -> Result<()> {
        check("labels", "too many labelled blocks", wanted, self.labels)
    }

    pub(crate) fn check_orbit(&self, wanted: u64) -> Result<()> {
        check(
            "orbit",
            "the packed symmetries generate too large a group",
            wanted,
            self.orbit,
        )
    }

    /// Fails if a tensor may not become as many bytes when it is made dense, say.
    ///
    /// # Errors
    /// [`Error::Limit`] with what was about to happen.
    pub fn check_decoded(&self, why: &str, wanted: impl Into<u128>) -> Result<()> {
        check("decoded", why, wanted, self.decoded)
    }

    pub(crate) fn check_memory(&self, why: &str, wanted: impl Into<u128>) -> Result<()> {
        check("memory", why, wanted, self.memory)
    }

    /// Whether `decoded` bytes may come out of `stored` compressed ones.
    pub(crate) fn check_ratio(&self, stored: u64, decoded: u64) -> Result<()> {
        let allowed = u128::from(stored).saturating_mul(self.ratio.into());
        if u128::from(decoded) <= allowed {
            return Ok(());
        }
        Err(Error::Limit {
            limit: "ratio",
            why: format!("{decoded} bytes would have to come out of {stored} compressed ones"),
            wanted: u128::from(decoded).div_ceil(stored.max(1).into()),
            allowed: self.ratio,
        })
    }
}

/// The limits unless set otherwise: worked out once, as every tensor that is made asks for them.
static DEFAULT: LazyLock<Limits> = LazyLock::new(|| {
    let mut limits = Limits {
        header: 0,
        structure: 0,
        tensors: 0,
        ndim: 0,
        text: 0,
        depth: 0,
        symmetries: 0,
        labels: 0,
        decoded: 0,
        ratio: 0,
        orbit: 0,
        memory: Limits::MEMORY,
        account: Account::default(),
    };
    for limit in Limits::ALL {
        if let Some(field) = limits.field(limit.name) {
            *field = limit.default;
        }
    }
    limits
});

impl Default for Limits {
    fn default() -> Self {
        DEFAULT.clone()
    }
}

/// A number of bytes or items: `bytes`, which has a word for it, stands above.
fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn check(limit: &'static str, why: &str, wanted: impl Into<u128>, allowed: u64) -> Result<()> {
    let wanted = wanted.into();
    if wanted <= allowed.into() {
        return Ok(());
    }
    Err(Error::Limit {
        limit,
        why: why.into(),
        wanted,
        allowed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_limit_is_a_field_and_has_its_default() {
        let mut limits = Limits::default();
        for limit in Limits::ALL {
            assert_eq!(
                limits.field(limit.name).copied(),
                Some(limit.default),
                "{}",
                limit.name
            );
        }
    }

    #[test]
    fn a_limit_error_names_the_flag_that_lifts_it() {
        let error = Limits::default().check_ndim(256).unwrap_err();
        assert_eq!(
            error.to_string(),
            "too many dimensions (256 wanted, 255 allowed; raise it with --max-ndim)"
        );
        let limits = Limits {
            memory: 10,
            ..Limits::default()
        };
        let error = limits.check_memory("labels are held", 11_u64).unwrap_err();
        let text = "labels are held (11 wanted, 10 allowed; raise it with --memory)";
        assert_eq!(error.to_string(), text);
    }
}
