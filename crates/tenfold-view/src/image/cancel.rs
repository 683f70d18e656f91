//! Cancellation of reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenfold::{Error, Result};

/// A flag raised by the requester when the result is no longer needed.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Cancels the operation.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails if it was cancelled.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            Err(Error::Stopped)
        } else {
            Ok(())
        }
    }
}
