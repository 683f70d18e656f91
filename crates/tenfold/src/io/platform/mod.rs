//! All that differs between systems: positioned reads, unnamed files, file names, hints for the
//! kernel.
//!
//! Each system has the same functions, in a file of its own; no other module asks which system it
//! runs on.

#[cfg(unix)]
mod unix;
#[cfg(not(any(unix, windows)))]
mod wasm;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(not(any(unix, windows)))]
pub(crate) use wasm::*;
#[cfg(windows)]
pub(crate) use windows::*;
