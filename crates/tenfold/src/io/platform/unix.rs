//! Linux, macOS and their kin. What Linux alone has does nothing elsewhere, or falls back to what all have.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The longest name of a file, in bytes.
const LONGEST_NAME: usize = 255;

/// Fills a buffer with the bytes of a file from an offset on.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(buffer, at)
}

/// Writes bytes to a file at an offset.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// The free space of the file system that a file is on.
pub(crate) fn free_space(file: &File) -> io::Result<u64> {
    let about = rustix::fs::fstatvfs(file)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Opens a file that is no link, without waiting for a writer where it is a pipe.
pub(crate) fn open_without_links(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut how = OpenOptions::new();
    how.read(true).custom_flags(flags.bits().cast_signed());
    how.open(path)
}

/// Whether an error says that links lead in a circle.
pub(crate) fn is_circle(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Whether a path is a block device, which has a length but takes bytes as they come.
pub(crate) fn is_block_device(about: &Metadata) -> bool {
    about.file_type().is_block_device()
}

/// Whether a path is another word for one of the streams that this process was given.
pub(crate) fn is_own_stream(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    let streams = ["/dev/stdout", "/dev/stderr"];
    let is_in = |folder: &&str| path.parent() == Some(Path::new(folder));
    folders.iter().any(is_in) || streams.iter().any(|name| path == Path::new(name))
}

/// Whether a file has lost its last name.
pub(crate) fn is_unlinked(about: &Metadata) -> bool {
    about.nlink() == 0
}

/// The name, or as many whole letters of it as leave `rest` bytes for more.
pub(crate) fn shortened(name: &OsStr, rest: usize) -> OsString {
    let mut bytes = name.as_bytes().to_vec();
    let is_within_letter = |byte: &u8| byte & 0xc0 == 0x80;
    let mut end = LONGEST_NAME.saturating_sub(rest);
    while end > 0 && bytes.get(end).is_some_and(is_within_letter) {
        end = end.saturating_sub(1);
    }
    bytes.truncate(end);
    OsString::from_vec(bytes)
}

/// Gives a file the owner, group and permissions of the one it replaces, as far as it may.
pub(crate) fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::fchown;
    let new = file.metadata()?;
    let mut mode = old.mode() & 0o777;
    if (new.uid(), new.gid()) != (old.uid(), old.gid())
        && fchown(file, Some(old.uid()), Some(old.gid())).is_err()
        && fchown(file, None, Some(old.gid())).is_err()
    {
        // What the old group might do is not for another group to do.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Brings the names in a folder to the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    use rustix::io::Errno;
    // A folder that is not for us to read, or a system that cannot sync one, is no failed save.
    let folder = match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        folder => folder?,
    };
    let cannot = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::BADF];
    let is_of = |error: &io::Error, code: &Errno| error.raw_os_error() == Some(code.raw_os_error());
    match folder.sync_all() {
        Err(error) if cannot.iter().any(|code| is_of(&error, code)) => Ok(()),
        done => done,
    }
}

/// Renames a file to a name that must be free.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            other => return Ok(other?),
        }
    }
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// A file in `folder` without a name; `None` where the system has no such thing.
#[cfg(target_os = "linux")]
pub(crate) fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::Mode;
    // Naming it later goes through this folder.
    if !Path::new(OWN_FILES).exists() {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    // Any failure falls back to a hidden name, where a real one shows up again.
    rustix::fs::open(folder, flags, Mode::from_bits_truncate(0o666))
        .ok()
        .map(File::from)
}

#[cfg(target_os = "linux")]
const OWN_FILES: &str = "/proc/self/fd";

/// Gives a nameless file a name.
#[cfg(target_os = "linux")]
pub(crate) fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    let own = format!("{OWN_FILES}/{}", file.as_raw_fd());
    rustix::fs::linkat(CWD, own.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW)?;
    Ok(())
}

/// Elsewhere no file is nameless.
#[cfg(not(target_os = "linux"))]
pub(crate) fn nameless(_: &Path) -> Option<File> {
    None
}

/// Elsewhere no file is nameless.
#[cfg(not(target_os = "linux"))]
pub(crate) fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Copies bytes between two files inside the kernel and advances `at`; 0 where the kernel does not.
#[cfg(target_os = "linux")]
pub(crate) fn copy_range(from: &File, at: &mut u64, to: &File, len: usize) -> io::Result<usize> {
    Ok(rustix::fs::copy_file_range(from, Some(at), to, None, len)?)
}

/// Copies bytes between two files inside the kernel and advances `at`; 0 where the kernel does not.
#[cfg(not(target_os = "linux"))]
pub(crate) fn copy_range(_: &File, _: &mut u64, _: &File, _: usize) -> io::Result<usize> {
    Ok(0)
}

/// Tells the system that some bytes of a file will be read soon.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn will_read(file: &File, at: u64, len: u64) {
    use rustix::fs::{Advice, fadvise};
    // A wish; what comes of it is the system's affair.
    let _ = fadvise(file, at, std::num::NonZeroU64::new(len), Advice::WillNeed);
}

/// Other systems, and an interpreter, read ahead as they see fit.
#[cfg(any(not(target_os = "linux"), miri))]
pub(crate) fn will_read(_: &File, _: u64, _: u64) {}

/// Sets space aside for bytes that will be written to a file: it is written quicker then, and lies in one piece.
/// Its length stays what it is.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn preallocate(file: &File, at: u64, len: u64) {
    use rustix::fs::{FallocateFlags, fallocate};
    if len > 0 {
        // A file system that cannot do it goes on without; one that is full says so when the file is written.
        let _ = fallocate(file, FallocateFlags::KEEP_SIZE, at, len);
    }
}

/// Other systems, and an interpreter, find space as they go.
#[cfg(any(not(target_os = "linux"), miri))]
pub(crate) fn preallocate(_: &File, _: u64, _: u64) {}

/// Has the system begin to bring bytes of a file to the disk, ahead of the sync at its end.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn write_back(file: &File, range: Range<u64>) {
    use rustix::fs::{Advice, fadvise};
    let len = std::num::NonZeroU64::new(range.end.saturating_sub(range.start));
    // That it may drop the pages is the lesser part: those that are on their way stay.
    let _ = fadvise(file, range.start, len, Advice::DontNeed);
}

/// Other systems, and an interpreter, begin when they see fit.
#[cfg(any(not(target_os = "linux"), miri))]
pub(crate) fn write_back(_: &File, _: Range<u64>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_between_letters() {
        let len = |name: String| shortened(OsStr::new(&name), 15).len();
        assert_eq!(len("ä".repeat(127)), 240);
        assert_eq!(len(format!("x{}", "ä".repeat(127))), 239);
        assert_eq!(len("short".to_owned()), 5);
    }
}
