//! Progress and cancellation of long work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// A shared count of bytes done and expected, for observers on other threads, which may also stop
/// the work; clones share the count.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    expected: AtomicU64,
    is_stopped: AtomicBool,
}

impl Progress {
    /// How many bytes are done.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// How many bytes there are to do; 0 while that is unknown.
    #[must_use]
    pub fn expected(&self) -> u64 {
        self.0.expected.load(Ordering::Relaxed)
    }

    /// Starts over with so many bytes to do; stopped work may continue.
    pub fn restart(&self, expected: u64) {
        self.0.is_stopped.store(false, Ordering::Relaxed);
        self.0.done.store(0, Ordering::Relaxed);
        self.0.expected.store(expected, Ordering::Relaxed);
    }

    /// Counts bytes that are done.
    pub fn add(&self, len: u64) {
        self.0.done.fetch_add(len, Ordering::Relaxed);
    }

    /// Adds to the bytes that are to be done.
    pub fn expect(&self, len: u64) {
        self.0.expected.fetch_add(len, Ordering::Relaxed);
    }

    /// Cancels the work: its next read or write fails with [`Error::Stopped`].
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the work has been canceled.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped.load(Ordering::Relaxed)
    }

    /// Fails once the work has been canceled.
    pub(crate) fn go_on(&self) -> Result<()> {
        if self.is_stopped() {
            Err(Error::Stopped)
        } else {
            Ok(())
        }
    }
}
