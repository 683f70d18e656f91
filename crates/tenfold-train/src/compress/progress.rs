//! Progress, cancellation and memory accounting.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::options::{Progress, Watcher};
use tenfold::memory;

use crate::error::{Error, Result};

/// Counts the cells read.
pub(crate) struct Watch<'a> {
    watcher: Option<&'a Watcher<'a>>,
    cells: u64,
    /// Most bytes held of a source that is not in memory.
    memory: Option<usize>,
    read: AtomicU64,
    is_stopped: AtomicBool,
}

impl<'a> Watch<'a> {
    /// A count of the cells read of a tensor that has `cells`. With `memory`, no more than that
    /// many bytes may be held at a time.
    pub(crate) fn new(
        watcher: Option<&'a Watcher<'a>>,
        cells: usize,
        memory: Option<usize>,
    ) -> Watch<'a> {
        Watch {
            watcher,
            cells: u64::try_from(cells).unwrap_or(u64::MAX),
            memory,
            read: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
        }
    }

    /// Counts `cells` more; fails if the caller wants to stop.
    pub(crate) fn advance(&self, cells: usize) -> Result<()> {
        let cells = u64::try_from(cells).unwrap_or(u64::MAX);
        let read = self
            .read
            .fetch_add(cells, Ordering::Relaxed)
            .saturating_add(cells);
        if let Some(watcher) = self.watcher {
            let progress = Progress {
                read,
                cells: self.cells,
            };
            if self.is_stopped.load(Ordering::Relaxed) || watcher(progress).is_break() {
                self.is_stopped.store(true, Ordering::Relaxed);
                return Err(Error::Stopped);
            }
        }
        Ok(())
    }

    /// Fails if that many numbers exceed the limit or the available memory.
    pub(crate) fn hold<T>(&self, count: usize) -> Result<()> {
        let needed = count.saturating_mul(size_of::<T>());
        match self.memory {
            Some(allowed) if needed > allowed => Err(Error::Memory {
                needed: u64::try_from(needed).unwrap_or(u64::MAX),
                allowed: u64::try_from(allowed).unwrap_or(u64::MAX),
            }),
            // Checked here, as the matrix library cannot report a failed allocation.
            _ => Ok(memory::probe(needed)?),
        }
    }

    /// The cells read so far.
    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}
