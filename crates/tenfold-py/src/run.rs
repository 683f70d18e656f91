//! Long work: without the interpreter, with an ear for Ctrl-C and for whoever wants to know how far
//! it is.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tenfold::Progress;

use crate::threads::{detached, on_own_threads};

/// Work on fewer bytes is over before anybody could press a key, and a thread of its own would cost
/// more than it brings.
const SHORT: u64 = 32 << 20;

/// How often the interpreter is asked for signals.
const TICK: Duration = Duration::from_millis(50);

/// Does `work`, which reads or writes about `len` bytes, without the interpreter. Where there is much
/// to do, signals are heeded and `callback` is called with the bytes done and expected, as the first
/// of `counts` has them; either may raise an exception, which stops the work by way of all of them.
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
                    // Headers are written too, and nobody expects them.
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
                // The other end waits for exactly this.
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
            // What reads the same file later is to go on.
            counts.iter().for_each(|count| count.restart(0));
            Err(raised.unwrap_or_else(|| PyRuntimeError::new_err("the work stopped halfway")))
        })
    })
}
