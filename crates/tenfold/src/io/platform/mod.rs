//! All that differs between systems: positioned reads, unnamed files, names of files, hints for the kernel.
//!
//! Each system has the same functions, in a file of its own; nothing else in the library asks which system it is on.

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
