//! Windows. No file is nameless there: a save has a hidden name from the start, and replaces by renaming.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// The longest name of a file, in units of UTF-16.
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

/// The free space of the file system that a file is on: not known without a call that is `unsafe`.
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

/// Whether an error says that links lead in a circle (`ERROR_CANT_RESOLVE_FILENAME`).
pub(crate) fn is_circle(error: &io::Error) -> bool {
    error.raw_os_error() == Some(1921)
}

/// Whether a path is a block device: these have other names here.
pub(crate) fn is_block_device(_: &Metadata) -> bool {
    false
}

/// Whether a path is another word for one of the streams that this process was given.
pub(crate) fn is_own_stream(path: &Path) -> bool {
    ["CON", "CONOUT$"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Whether a file has lost its last name: one that is open here cannot have.
pub(crate) fn is_unlinked(_: &Metadata) -> bool {
    false
}

/// The name, or as many whole letters of it as leave `rest` units for more.
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

/// Gives a file the permissions of the one it replaces: here, that it may be written to.
pub(crate) fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Brings the names in a folder to the disk: the system does that with the renaming.
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Renames a file to a name that must be free.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// No file is nameless here.
pub(crate) fn nameless(_: &Path) -> Option<File> {
    None
}

/// No file is nameless here.
pub(crate) fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Bytes are copied through a buffer here.
pub(crate) fn copy_range(_: &File, _: &mut u64, _: &File, _: usize) -> io::Result<usize> {
    Ok(0)
}

/// The system reads ahead as it sees fit.
pub(crate) fn will_read(_: &File, _: u64, _: u64) {}

/// The system finds space as it goes.
pub(crate) fn preallocate(_: &File, _: u64, _: u64) {}

/// The system begins when it sees fit.
pub(crate) fn write_back(_: &File, _: Range<u64>) {}
