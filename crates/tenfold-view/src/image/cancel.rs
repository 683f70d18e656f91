//! How work ends that nobody waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenfold::{Error, Result};

/// A flag that whoever asked for a picture raises when it is not wanted any more.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Raises it.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails if it was raised.
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
