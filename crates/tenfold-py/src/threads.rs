//! Work without the interpreter, on threads of this process: those of a process that it was forked from are
//! not there.

use std::sync::{Mutex, OnceLock};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use tenfold::Limits;

/// The process whose threads are those that work shares by default.
static HOME: OnceLock<u32> = OnceLock::new();

/// The threads of a process that was forked, with its number.
static FORKED: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);

/// Does work without the interpreter.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl Send + FnOnce() -> T) -> T {
    py.detach(|| on_own_threads(work))
}

/// Does work on threads of this process, as a job of its own.
pub(crate) fn on_own_threads<T: Send>(work: impl Send + FnOnce() -> T) -> T {
    Limits::begin_job();
    let process = std::process::id();
    if *HOME.get_or_init(|| process) == process {
        return work();
    }
    // A process forked while another thread held the lock never gets it.
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

/// As many threads as work has by default, or this one alone where the system gives no others.
fn new_threads() -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().build().or_else(|_| {
        let alone = ThreadPoolBuilder::new().num_threads(1);
        alone.use_current_thread().build()
    })
}
