//! Linux, macOS and other Unix systems. Features of Linux alone are no-ops elsewhere, or fall back
//! to portable ones.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Longest file name, in bytes.
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

/// Opens a file without following links, and without waiting for a writer if it is a pipe.
pub(crate) fn open_without_links(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut how = OpenOptions::new();
    how.read(true).custom_flags(flags.bits().cast_signed());
    how.open(path)
}

/// Whether an error reports a cycle of links.
pub(crate) fn is_circle(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Whether a path is a block device, which has a length but is written as a stream.
pub(crate) fn is_block_device(about: &Metadata) -> bool {
    about.file_type().is_block_device()
}

/// Whether a path is a name of one of this process's standard streams.
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

/// The name, cut at a character boundary so that `rest` bytes are left for more.
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

/// Gives a file the owner, group and permissions of the one it replaces, as far as permitted.
pub(crate) fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::fchown;
    let new = file.metadata()?;
    let mut mode = old.mode() & 0o777;
    if (new.uid(), new.gid()) != (old.uid(), old.gid())
        && fchown(file, Some(old.uid()), Some(old.gid())).is_err()
        && fchown(file, None, Some(old.gid())).is_err()
    {
        // Permissions of the old group must not pass to another group.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Syncs the entries of a folder to disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    use rustix::io::Errno;
    // A folder that cannot be read, or a system that cannot sync one, is no failed save.
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

/// A file in `folder` without a name; `None` where the system has no such files.
#[cfg(target_os = "linux")]
pub(crate) fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::Mode;
    // It is named later through this folder.
    if !Path::new(OWN_FILES).exists() {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    // Any failure falls back to a hidden name, where a real failure appears again.
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

/// Only Linux has nameless files.
#[cfg(not(target_os = "linux"))]
pub(crate) fn nameless(_: &Path) -> Option<File> {
    None
}

/// Only Linux has nameless files.
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

/// Read-ahead: announces that a range of a file will be read soon.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn will_read(file: &File, at: u64, len: u64) {
    use rustix::fs::{Advice, fadvise};
    // Advice only; the kernel may ignore it.
    let _ = fadvise(file, at, std::num::NonZeroU64::new(len), Advice::WillNeed);
}

/// Other systems, and Miri, read ahead on their own.
#[cfg(any(not(target_os = "linux"), miri))]
pub(crate) fn will_read(_: &File, _: u64, _: u64) {}

/// Preallocates space for bytes that will be written, so that the file is written faster and is
/// contiguous. Its length does not change.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn preallocate(file: &File, at: u64, len: u64) {
    use rustix::fs::{FallocateFlags, fallocate};
    if len > 0 {
        // A file system without preallocation does without; a full one reports that on writing.
        let _ = fallocate(file, FallocateFlags::KEEP_SIZE, at, len);
    }
}

/// Other systems, and Miri, allocate on writing.
#[cfg(any(not(target_os = "linux"), miri))]
pub(crate) fn preallocate(_: &File, _: u64, _: u64) {}

/// Early write-back: the kernel begins to write a range to disk, ahead of the final sync.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn write_back(file: &File, range: Range<u64>) {
    use rustix::fs::{Advice, fadvise};
    let len = std::num::NonZeroU64::new(range.end.saturating_sub(range.start));
    // That the pages may be dropped is a side effect: those under write-back stay.
    let _ = fadvise(file, range.start, len, Advice::DontNeed);
}

/// Other systems, and Miri, write back on their own.
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
