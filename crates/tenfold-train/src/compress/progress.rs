//! Tells the caller how far the work is, hears whether to stop, and sees to the memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::options::{Progress, Watcher};
use tenfold::memory;

use crate::error::{Error, Result};

/// Counts the cells that were read.
pub(crate) struct Watch<'a> {
    watcher: Option<&'a Watcher<'a>>,
    cells: u64,
    /// Bytes that may be held of a source that is not in memory.
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

    /// Fails if so many numbers may not be held, or memory has no place for them.
    pub(crate) fn hold<T>(&self, count: usize) -> Result<()> {
        let needed = count.saturating_mul(size_of::<T>());
        match self.memory {
            Some(allowed) if needed > allowed => Err(Error::Memory {
                needed: u64::try_from(needed).unwrap_or(u64::MAX),
                allowed: u64::try_from(allowed).unwrap_or(u64::MAX),
            }),
            // Here, as what multiplies and decomposes matrices has no way to say that memory is short.
            _ => Ok(memory::probe(needed)?),
        }
    }

    /// The cells read so far.
    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}
