//! WebAssembly without a system: bytes are in memory or computed, and there are no files.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::path::Path;

/// The error of every file operation.
fn none<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// There are no files to read.
pub(crate) fn read_exact_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    none()
}

/// There are no files to write to.
pub(crate) fn write_all_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    none()
}

/// There is no file system.
pub(crate) fn free_space(_: &File) -> io::Result<u64> {
    none()
}

/// There are no files to open.
pub(crate) fn open_without_links(_: &Path) -> io::Result<File> {
    none()
}

/// There are no links.
pub(crate) fn is_circle(_: &io::Error) -> bool {
    false
}

/// There are no devices.
pub(crate) fn is_block_device(_: &Metadata) -> bool {
    false
}

/// There are no streams.
pub(crate) fn is_own_stream(_: &Path) -> bool {
    false
}

/// There are no names.
pub(crate) fn is_unlinked(_: &Metadata) -> bool {
    false
}

/// The name as it is.
pub(crate) fn shortened(name: &OsStr, _: usize) -> OsString {
    name.into()
}

/// There are no permissions.
pub(crate) fn take_after(_: &File, _: &Metadata) -> io::Result<()> {
    none()
}

/// There are no folders.
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    none()
}

/// There are no names.
pub(crate) fn rename_new(_: &Path, _: &Path) -> io::Result<()> {
    none()
}

/// There are no files.
pub(crate) fn nameless(_: &Path) -> Option<File> {
    None
}

/// There are no names.
pub(crate) fn link(_: &File, _: &Path) -> io::Result<()> {
    none()
}

/// No copies inside a kernel.
pub(crate) fn copy_range(_: &File, _: &mut u64, _: &File, _: usize) -> io::Result<usize> {
    Ok(0)
}

/// No hints.
pub(crate) fn will_read(_: &File, _: u64, _: u64) {}

/// No hints.
pub(crate) fn preallocate(_: &File, _: u64, _: u64) {}

/// No hints.
pub(crate) fn write_back(_: &File, _: Range<u64>) {}
