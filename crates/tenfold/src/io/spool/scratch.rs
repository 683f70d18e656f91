//! Nameless temporary files, and the limit on their total size.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::{Error, Result};
use crate::io::Source;
use crate::io::platform::{self, preallocate};
use crate::limits::Limits;

/// The total size of the temporary files of this process.
static USED: AtomicU64 = AtomicU64::new(0);

/// A nameless file, removed with its last user.
#[derive(Debug)]
pub(crate) struct Scratch {
    file: Arc<File>,
    /// How many bytes of it count as used.
    taken: AtomicU64,
    /// The limit on the total size.
    allowed: u64,
    /// The total size so far.
    used: &'static AtomicU64,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.used.fetch_sub(self.taken.load(Relaxed), Relaxed);
    }
}

impl Deref for Scratch {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Scratch {
    /// An empty file in `TMPDIR`, or else in `/var/tmp`, as `/tmp` is often in memory. The total
    /// size is limited to `temp` bytes, or to a quarter of the free and the used space.
    pub(crate) fn new(temp: u64) -> Result<Scratch> {
        let file = unnamed()?;
        let allowed = match temp {
            u64::MAX => {
                let free = platform::free_space(&file)?;
                free.saturating_add(USED.load(Relaxed)) / 4
            }
            temp => temp,
        };
        Ok(Scratch {
            file: Arc::new(file),
            taken: AtomicU64::new(0),
            allowed,
            used: &USED,
        })
    }

    /// A file of `len` zero bytes, preallocated: it is written several times faster than one that
    /// grows.
    pub(crate) fn of_len(len: u64, limits: &Limits) -> Result<Scratch> {
        let scratch = Scratch::new(limits.temp)?;
        scratch.prepare(len)?;
        Ok(scratch)
    }

    /// Makes an empty file `len` bytes long.
    pub(crate) fn prepare(&self, len: u64) -> Result<()> {
        self.grow(len)?;
        self.file.set_len(len)?;
        preallocate(&self.file, 0, len);
        Ok(())
    }

    /// Counts the bytes up to `len` as used.
    pub(crate) fn grow(&self, len: u64) -> Result<()> {
        let more = len.saturating_sub(self.taken.load(Relaxed));
        let used = self.used.fetch_add(more, Relaxed).saturating_add(more);
        self.taken.fetch_add(more, Relaxed);
        Limits::check_temp(used, self.allowed)
    }

    /// Cuts the file off at `len` bytes.
    pub(crate) fn shrink(&self, len: u64) -> Result<()> {
        self.file.set_len(len)?;
        let less = self.taken.load(Relaxed).saturating_sub(len);
        self.taken.fetch_sub(less, Relaxed);
        self.used.fetch_sub(less, Relaxed);
        Ok(())
    }

    /// The written bytes as a source.
    pub(crate) fn into_source(self) -> Result<Source> {
        let len = self.file.metadata()?.len();
        Ok(Source::part_of_scratch(&Arc::new(self), 0, len))
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }
}

fn unnamed() -> Result<File> {
    let large = Path::new("/var/tmp");
    if std::env::var_os("TMPDIR").is_none()
        && let Ok(file) = tempfile::tempfile_in(large)
    {
        return Ok(file);
    }
    let folder = std::env::temp_dir();
    let file = tempfile::tempfile_in(&folder);
    file.map_err(|error| Error::from(error).in_file(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_bounded_together_and_give_back_what_they_take() {
        // A counter of its own, as other tests create temporary files at the same time.
        static OWN: AtomicU64 = AtomicU64::new(0);
        let taken = |len| {
            let scratch = Scratch {
                file: Arc::new(unnamed().unwrap()),
                taken: AtomicU64::new(0),
                allowed: 100,
                used: &OWN,
            };
            scratch.grow(len).map(|()| scratch)
        };
        let first = taken(60).unwrap();
        assert!(taken(41).is_err());
        let second = taken(40).unwrap();
        let error = second.grow(41).unwrap_err().to_string();
        assert!(error.starts_with("temporary files are too large (101 wanted, 100 allowed"));
        drop(second);
        let source = first.into_source().unwrap();
        let clone = source.clone();
        drop(source);
        assert!(taken(41).is_err());
        drop(clone);
        let last = taken(100).unwrap();
        last.shrink(30).unwrap();
        assert!(taken(70).is_ok());
        drop(last);
        assert_eq!(OWN.load(Relaxed), 0);
    }
}
