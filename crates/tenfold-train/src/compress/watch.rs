//! Tells the caller how far the work is, and hears whether to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::options::{Progress, Watcher};
use crate::error::{Error, Result};

/// Counts the cells that were read.
pub(crate) struct Watch<'a> {
    watcher: Option<&'a Watcher<'a>>,
    cells: u64,
    read: AtomicU64,
    is_stopped: AtomicBool,
}

impl<'a> Watch<'a> {
    /// A count of the cells read of a tensor that has `cells`.
    pub(crate) fn new(watcher: Option<&'a Watcher<'a>>, cells: usize) -> Watch<'a> {
        Watch {
            watcher,
            cells: u64::try_from(cells).unwrap_or(u64::MAX),
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

    /// The cells read so far.
    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}
