//! Runs work with the GIL released, checking for signals and reporting progress.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tenfold::Progress;

use crate::threads::{detached, on_own_threads};

/// Work on fewer bytes ends before a signal could matter, and a thread of its own would cost more
/// than it gains.
const SHORT: u64 = 32 << 20;

/// Interval between checks for signals.
const TICK: Duration = Duration::from_millis(50);

/// Runs `work`, which reads or writes about `len` bytes, with the GIL released. For large inputs,
/// signals are checked and `callback` is called with the bytes done and expected, taken from the
/// first of `counts`; either may raise an exception, which cancels the work through all of them.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    len: u64,
    counts: &[&Progress],
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if len < SHORT && callback.is_none() {
        return Ok(detached(py, work));
    }
    let callback = callback.map(|callback| callback.clone().unbind());
    let tick = || -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            match (&callback, counts.first()) {
                (Some(callback), Some(count)) => {
                    // Headers are written as well, and are not in the total.
                    let done = match count.expected() {
                        0 => count.done(),
                        expected => count.done().min(expected),
                    };
                    callback.call1(py, (done, count.expected())).map(drop)
                }
                _ => Ok(()),
            }
        })
    };
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, over) = channel();
            scope.spawn(move || {
                // The receiver waits for exactly this.
                let _ = done.send(on_own_threads(work));
            });
            let mut raised = None;
            loop {
                match over.recv_timeout(TICK) {
                    Ok(_) if raised.is_some() => break,
                    Ok(outcome) => {
                        tick()?;
                        return Ok(outcome);
                    }
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = tick() {
                            counts.iter().for_each(|count| count.stop());
                            raised = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            // Later reads of the same file must not be cancelled.
            counts.iter().for_each(|count| count.restart(0));
            Err(raised.unwrap_or_else(|| PyRuntimeError::new_err("the work stopped halfway")))
        })
    })
}
