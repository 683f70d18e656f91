//! Limits on the resources that an untrusted file may use.

use std::any::Any;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};

use crate::error::{Error, Result};

/// Limits on the work and memory that a file may cause; the defaults are safe for a server.
///
/// Every limit can be set by name, as the command line's `--max-NAME` flags do:
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
    /// Bytes of a header or index that are read into memory.
    pub header: u64,
    /// Bytes of memory for what a file describes: names, shapes, metadata.
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
    /// Length of one tensor in bytes when it is decompressed, unpacked or densified.
    pub decoded: u64,
    /// Ratio of a tensor's length to its compressed length.
    pub ratio: u64,
    /// Cells in an orbit of packed symmetries (the order of the group they generate).
    pub orbit: u64,
    /// Cells and stored bytes visited beyond [`Limits::WORK_PER_BYTE`] for each byte of the file,
    /// where a file can cause more visits than it has bytes.
    pub work: u64,
    /// Bytes of all temporary files together; by default a quarter of the free space of their file
    /// system.
    pub temp: u64,
    /// Bytes of memory for work on tensors larger than it: not a limit on files, but a budget.
    /// Larger work is done in slabs, or through temporary files.
    pub memory: u64,
    /// The resources used so far by the file that is read with these limits.
    pub(crate) account: Account,
    /// Data that a layer above passes down along with the limits of one reading.
    pub(crate) carried: Carried,
}

/// The resources used by one file. Clones share the account; it is empty until a file is opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Account(Option<Arc<Spent>>);

#[derive(Debug, Default)]
struct Spent {
    /// Bytes of memory that a reader has filled with what the file describes, counted where they
    /// are filled.
    structure: AtomicU64,
    /// Cells and bytes visited, counted where a file can cause many visits with few bytes.
    work: AtomicU64,
    /// The visits that the length of the file allows for free.
    free: AtomicU64,
    /// The job whose work is counted, see [`Limits::begin_job`]: 0 if all are counted together.
    job: AtomicU64,
    /// Decompressed length of the file, with that of data that it describes in few bytes.
    decoded: AtomicU64,
    /// Bytes of temporary files used for the numbers of a text.
    temp: AtomicU64,
}

/// The number of the most recent job.
static JOBS: AtomicU64 = AtomicU64::new(1);

/// Counts work on the values of one file; without a file, nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    account: Account,
    allowed: u64,
}

impl Meter {
    /// Counts cells and bytes about to be visited.
    pub(crate) fn charge(&self, visits: impl Into<u128>) -> Result<()> {
        let Account(Some(spent)) = &self.account else {
            return Ok(());
        };
        let (job, last) = (JOBS.load(Relaxed), spent.job.load(Relaxed));
        if last != 0 && spent.job.swap(job, Relaxed) != job {
            spent.work.store(0, Relaxed);
        }
        let visits = u64::try_from(visits.into()).unwrap_or(u64::MAX);
        let add = |before: u64| Some(before.saturating_add(visits));
        let before = spent.work.fetch_update(Relaxed, Relaxed, add);
        let wanted = before.unwrap_or_else(|same| same).saturating_add(visits);
        let wanted = wanted.saturating_sub(spent.free.load(Relaxed));
        let why = "too many cells and bytes have to be visited for a file of this length";
        check("work", why, wanted, self.allowed)
    }
}

impl Meter {
    /// Allows work on so many bytes of further files.
    pub(crate) fn allow_for(&self, len: u64) {
        if let Account(Some(spent)) = &self.account {
            let more = len.saturating_mul(Limits::WORK_PER_BYTE);
            let free = spent.free.load(Relaxed);
            spent.free.store(free.saturating_add(more), Relaxed);
        }
    }

    /// Counts bytes of a temporary file used for the numbers of a text.
    pub(crate) fn charge_temp(&self, bytes: u64) -> Result<()> {
        let Account(Some(spent)) = &self.account else {
            return Ok(());
        };
        let temp = spent.temp.fetch_add(bytes, Relaxed).saturating_add(bytes);
        let decoded = spent.decoded.load(Relaxed);
        let allowed = decoded.saturating_mul(Limits::TEMP_PER_BYTE);
        let why = "the numbers of a text take too much of temporary files";
        check("temp", why, temp, allowed.saturating_add(MIB))
    }

    /// Counts bytes that a file implies without storing them.
    pub(crate) fn count_decoded(&self, bytes: u64) {
        if let Account(Some(spent)) = &self.account {
            spent.decoded.fetch_add(bytes, Relaxed);
        }
    }

    /// Counts work on the file separately for each job.
    pub(crate) fn count_each_job(&self) {
        if let Account(Some(spent)) = &self.account {
            spent.job.store(JOBS.load(Relaxed), Relaxed);
        }
    }
}

/// Data that the limits carry without knowing it, see [`Limits::carrying`].
#[derive(Clone, Default)]
pub(crate) struct Carried(Option<Arc<dyn Any + Send + Sync>>);

/// Limits are equal regardless of the data they carry.
impl PartialEq for Carried {
    fn eq(&self, _: &Carried) -> bool {
        true
    }
}

impl Eq for Carried {}

impl std::fmt::Debug for Carried {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Carried({})", self.0.is_some())
    }
}

/// Limits are equal regardless of the resources used.
impl PartialEq for Account {
    fn eq(&self, _: &Account) -> bool {
        true
    }
}

impl Eq for Account {}

/// A limit: its name, its default and its meaning.
#[derive(Debug, Clone, Copy)]
pub struct LimitInfo {
    /// The field of [`Limits`], and the name after `--max-`.
    pub name: &'static str,
    /// The default value.
    pub default: u64,
    /// The quantity it limits.
    pub about: &'static str,
}

impl LimitInfo {
    /// The default value as text, for values that depend on the machine.
    #[must_use]
    pub fn default_text(&self) -> String {
        match self.name {
            "temp" => "a quarter of the free space".into(),
            _ => self.default.to_string(),
        }
    }
}

/// Overhead of a small allocation, as allocators round up and keep metadata.
const PIECE_COST: u64 = 24;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Limits {
    /// The default memory budget. It is the same on every machine, so that a conversion that works
    /// on one also works in a small container, and uses temporary files in the same way.
    pub const MEMORY: u64 = 512 * MIB;

    /// Cells and bytes that may be visited for each byte of a file before [`Limits::work`] counts:
    /// enough for many passes over a file's content.
    pub const WORK_PER_BYTE: u64 = 1 << 8;

    /// Bytes of temporary files that the numbers of a text may use for each of its bytes, unless
    /// [`Limits::temp`] is set.
    pub const TEMP_PER_BYTE: u64 = 4;

    /// Begins a job on files that stay open for any number of jobs: the work of each is counted
    /// separately, where [`Bundle::count_each_job`](crate::Bundle::count_each_job) was called. If
    /// jobs overlap, the latest also resets the count of the others.
    pub fn begin_job() {
        JOBS.fetch_add(1, Relaxed);
    }

    /// All limits, in the order of the documentation.
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
        LimitInfo {
            name: "work",
            default: 1 << 27,
            about: "cells and bytes visited beyond 256 for each byte of the file",
        },
        LimitInfo {
            name: "temp",
            default: u64::MAX,
            about: "bytes of all temporary files together",
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
            "work" => &mut self.work,
            "temp" => &mut self.temp,
            _ => return None,
        })
    }

    /// Sets the limit named `name`.
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

    /// The same limits with an account of their own, for one file of `len` bytes.
    pub(crate) fn for_file(&self, len: u64) -> Limits {
        let spent = Spent {
            free: len.saturating_mul(Limits::WORK_PER_BYTE).into(),
            decoded: len.into(),
            ..Spent::default()
        };
        Limits {
            account: Account(Some(Arc::new(spent))),
            ..self.clone()
        }
    }

    /// The same limits, carrying `something`.
    pub(crate) fn carrying(&self, something: impl Any + Send + Sync) -> Limits {
        Limits {
            carried: Carried(Some(Arc::new(something))),
            ..self.clone()
        }
    }

    /// The data they carry, if it is a `T`.
    pub(crate) fn carried<T: Any>(&self) -> Option<&T> {
        self.carried.0.as_deref()?.downcast_ref()
    }

    /// The meter of work on values of the file that is read with these limits, usable after
    /// reading.
    pub(crate) fn meter(&self) -> Meter {
        Meter {
            account: self.account.clone(),
            allowed: self.work,
        }
    }

    /// Counts memory about to be filled with what the file describes.
    pub(crate) fn charge(&self, bytes: u64) -> Result<()> {
        self.charge_for("what the file describes takes too much memory", bytes)
    }

    /// Counts memory as [`Limits::charge`], with the reason `why` in the error.
    pub(crate) fn charge_for(&self, why: &str, bytes: u64) -> Result<()> {
        let Account(Some(spent)) = &self.account else {
            return Ok(());
        };
        let before = spent.structure.fetch_add(bytes, Relaxed);
        let wanted = before.saturating_add(bytes);
        check("structure", why, wanted, self.structure)
    }

    /// Uncounts memory that has been freed.
    pub(crate) fn release(&self, bytes: u64) {
        if let Account(Some(spent)) = &self.account {
            spent.structure.fetch_sub(bytes, Relaxed);
        }
    }

    /// Initial capacity of a list that a file claims to have `count` items: it grows as items
    /// arrive.
    pub(crate) fn room<T>(&self, count: usize) -> usize {
        let most = self
            .structure
            .checked_div(wide(size_of::<T>()).saturating_mul(16));
        count.min(usize::try_from(most.unwrap_or(0)).unwrap_or(usize::MAX))
    }

    /// Counts `count` items about to be added to a growing list, which may be half empty.
    pub(crate) fn charge_items<T>(&self, count: usize) -> Result<()> {
        self.charge(Limits::cost_of_items::<T>(count))
    }

    /// The memory that [`Limits::charge_items`] counts.
    pub(crate) fn cost_of_items<T>(count: usize) -> u64 {
        let each = wide(size_of::<T>()).saturating_mul(2);
        wide(count).saturating_mul(each)
    }

    /// Counts a list of `count` items that is allocated at once.
    pub(crate) fn charge_list<T>(&self, count: u64) -> Result<()> {
        self.charge(count.saturating_mul(wide(size_of::<T>())))
    }

    /// Counts a text, with the overhead of a small allocation.
    pub(crate) fn charge_text(&self, len: usize) -> Result<()> {
        self.charge(Limits::cost_of_text(len))
    }

    /// The memory that [`Limits::charge_text`] counts.
    pub(crate) fn cost_of_text(len: usize) -> u64 {
        wide(len).saturating_add(PIECE_COST)
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

    /// Fails if a tensor would become too long, by densifying for example.
    ///
    /// # Errors
    /// [`Error::Limit`] with the operation.
    pub fn check_decoded(&self, why: &str, wanted: impl Into<u128>) -> Result<()> {
        check("decoded", why, wanted, self.decoded)
    }

    /// Fails if all temporary files would exceed the allowed total.
    pub(crate) fn check_temp(wanted: u64, allowed: u64) -> Result<()> {
        check("temp", "temporary files are too large", wanted, allowed)
    }

    pub(crate) fn check_memory(&self, why: &str, wanted: impl Into<u128>) -> Result<()> {
        check("memory", why, wanted, self.memory)
    }

    /// Fails if `decoded` bytes are too many for `stored` compressed ones.
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

/// The default limits: computed once, as every constructed tensor needs them.
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
        work: 0,
        temp: 0,
        memory: Limits::MEMORY,
        account: Account::default(),
        carried: Carried::default(),
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

/// A number of bytes or items as a `u64`; the conversion in `bytes` is a layer above this one.
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

    #[test]
    fn work_is_counted_beyond_what_the_length_of_a_file_allows() {
        let mut limits = Limits::default();
        limits.set("work", 10).unwrap();
        // Without a file there is no length to relate it to.
        limits.meter().charge(u64::MAX).unwrap();
        let limits = limits.for_file(2);
        limits.meter().charge(500_u64).unwrap();
        limits.meter().charge(22_u64).unwrap();
        let error = limits.meter().charge(1_u64).unwrap_err().to_string();
        let end = "(11 wanted, 10 allowed; raise it with --max-work)";
        assert!(error.ends_with(end), "{error}");
        assert!(limits.meter().charge(u128::MAX).is_err());
        let limits = limits.for_file(0);
        limits.meter().count_each_job();
        // Other tests begin no jobs.
        for _ in 0..3 {
            Limits::begin_job();
            limits.meter().charge(10_u64).unwrap();
            assert!(limits.meter().charge(1_u64).is_err());
        }
    }
}
