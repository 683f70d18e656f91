//! Running with the GIL released, on threads of this process: a forked process does not inherit
//! those of its parent.

use std::sync::{Mutex, OnceLock};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use tenfold::Limits;

/// The process that owns the default thread pool.
static HOME: OnceLock<u32> = OnceLock::new();

/// The thread pool of a forked process, with its process id.
static FORKED: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);

/// Runs a function with the GIL released.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl Send + FnOnce() -> T) -> T {
    py.detach(|| on_own_threads(work))
}

/// Runs a function on threads of this process, as a job of its own.
pub(crate) fn on_own_threads<T: Send>(work: impl Send + FnOnce() -> T) -> T {
    Limits::begin_job();
    let process = std::process::id();
    if *HOME.get_or_init(|| process) == process {
        return work();
    }
    // A process forked while another thread held the lock never acquires it.
    let Ok(mut forked) = FORKED.try_lock() else {
        return on_new_threads(work);
    };
    let pool = match *forked {
        Some((owner, pool)) if owner == process => pool,
        _ => match new_threads() {
            Ok(pool) => {
                let pool: &'static ThreadPool = Box::leak(Box::new(pool));
                *forked = Some((process, pool));
                pool
            }
            Err(_) => return work(),
        },
    };
    drop(forked);
    pool.install(work)
}

fn on_new_threads<T: Send>(work: impl Send + FnOnce() -> T) -> T {
    match new_threads() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// A pool of the default size, or of this thread alone if the system cannot create others.
fn new_threads() -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().build().or_else(|_| {
        let alone = ThreadPoolBuilder::new().num_threads(1);
        alone.use_current_thread().build()
    })
}
