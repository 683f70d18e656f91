//! Windows, which has no nameless files: a save has a hidden name from the start, and replaces by
//! renaming.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Longest file name, in UTF-16 code units.
const LONGEST_NAME: usize = 255;
/// Opens a link itself, rather than what it leads to (`FILE_FLAG_OPEN_REPARSE_POINT`).
const OPEN_LINK: u32 = 0x0020_0000;

/// Fills a buffer with the bytes of a file from an offset on.
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match file.seek_read(buffer, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(done) => {
                buffer = buffer.get_mut(done..).unwrap_or_default();
                at = at.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes bytes to a file at an offset.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(done) => {
                bytes = bytes.get(done..).unwrap_or_default();
                at = at.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The free space of the file system that a file is on: unknown, as the call for it is `unsafe`.
pub(crate) fn free_space(_: &File) -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Opens a file that is no link.
pub(crate) fn open_without_links(path: &Path) -> io::Result<File> {
    let mut how = OpenOptions::new();
    let file = how.read(true).custom_flags(OPEN_LINK).open(path)?;
    if file.metadata()?.is_symlink() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(file)
}

/// Whether an error reports a cycle of links (`ERROR_CANT_RESOLVE_FILENAME`).
pub(crate) fn is_circle(error: &io::Error) -> bool {
    error.raw_os_error() == Some(1921)
}

/// Whether a path is a block device: never, as these have names of another kind on Windows.
pub(crate) fn is_block_device(_: &Metadata) -> bool {
    false
}

/// Whether a path is a name of one of this process's standard streams.
pub(crate) fn is_own_stream(path: &Path) -> bool {
    ["CON", "CONOUT$"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Whether a file has lost its last name: impossible while it is open on Windows.
pub(crate) fn is_unlinked(_: &Metadata) -> bool {
    false
}

/// The name, cut at a character boundary so that `rest` code units are left for more.
pub(crate) fn shortened(name: &OsStr, rest: usize) -> OsString {
    let mut units: Vec<u16> = name.encode_wide().collect();
    let is_within_letter = |unit: &u16| (0xdc00..0xe000).contains(unit);
    let mut end = LONGEST_NAME.saturating_sub(rest);
    while end > 0 && units.get(end).is_some_and(is_within_letter) {
        end = end.saturating_sub(1);
    }
    units.truncate(end);
    OsString::from_wide(&units)
}

/// Gives a file the permissions of the one it replaces: on Windows, the read-only flag alone.
pub(crate) fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Syncs the entries of a folder to disk: Windows does that on renaming.
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Renames a file to a name that must be free.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// Windows has no nameless files.
pub(crate) fn nameless(_: &Path) -> Option<File> {
    None
}

/// Windows has no nameless files.
pub(crate) fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No copies inside the kernel: bytes go through a buffer.
pub(crate) fn copy_range(_: &File, _: &mut u64, _: &File, _: usize) -> io::Result<usize> {
    Ok(0)
}

/// Windows reads ahead on its own.
pub(crate) fn will_read(_: &File, _: u64, _: u64) {}

/// Windows allocates on writing.
pub(crate) fn preallocate(_: &File, _: u64, _: u64) {}

/// Windows writes back on its own.
pub(crate) fn write_back(_: &File, _: Range<u64>) {}
