//! Atomic files: a file that appears under its name complete, or not at all.
//!
//! Where the system has nameless files (`O_TMPFILE`), a kill at any moment leaves nothing behind:
//! a new file is linked to its name when it is complete. A name that is taken can only change
//! hands by renaming, so the complete file is linked to a hidden name first, `.NAME.tenfold-0`,
//! and renamed at once; a kill between the two leaves that hidden file. Where there are no
//! nameless files the hidden name is there from the start.
//!
//! A process that uses a hidden name holds a lock on its file, which ends with the process. The
//! next save to the same target removes hidden files without a lock. They are numbered from 0
//! rather than at random, so that they are found without listing the folder, which may be long, or
//! not readable.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::io::{platform, presence};

/// Number of hidden names that are searched for remains of a killed save.
const SWEPT: u32 = 8;
/// Largest number of concurrent saves to one target.
const SLOTS: u32 = 1000;
/// How much longer a hidden name is than the name it stands for.
const AFFIXES: usize = 15;

/// Hidden names in use by this process.
static IN_USE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the hidden files of unfinished saves of this process, for a caller that is about to end
/// it. Those saves then fail, or have succeeded.
pub fn remove_temp_files() {
    for hidden in in_use().drain(..) {
        // The process is about to end; remaining files are removed by the next save.
        let _ = std::fs::remove_file(hidden);
    }
}

fn in_use() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that has no name yet, or a hidden one.
pub(crate) struct AtomicFile {
    pub(crate) file: File,
    path: PathBuf,
    hidden: Option<Hidden>,
}

impl AtomicFile {
    /// Creates a file that will be published as `path`.
    pub(crate) fn create(path: &Path) -> Result<AtomicFile> {
        if let Some(file) = platform::nameless(folder_of(path)) {
            lock(&file);
            return Ok(AtomicFile {
                file,
                path: path.into(),
                hidden: None,
            });
        }
        AtomicFile::hidden(path)
    }

    /// The same with a hidden name from the start.
    fn hidden(path: &Path) -> Result<AtomicFile> {
        let (hidden, file) = Hidden::take(path, |name| {
            // Never an existing file, nor through a link that was placed there meanwhile.
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create_new(true).open(name)?;
            lock(&file);
            // Before the lock was held, another save could have taken the file for an abandoned
            // one.
            let about = file.metadata().inspect_err(|_| {
                // The save has failed already; the remaining file is removed by the next one.
                let _ = std::fs::remove_file(name);
            })?;
            let is_removed = platform::is_unlinked(&about);
            Ok((!is_removed).then_some(file))
        })?;
        Ok(AtomicFile {
            file,
            path: path.into(),
            hidden: Some(hidden),
        })
    }

    /// Publishes the file under its name; an existing file is replaced only if `replace` is set.
    pub(crate) fn publish(mut self, replace: bool, sync: bool) -> Result<()> {
        if replace && let Some(old) = presence::metadata(&self.path)? {
            platform::take_after(&self.file, &old)?;
        }
        if sync {
            self.file.sync_all()?;
        }
        self.give_name(replace)?;
        if sync {
            platform::sync_folder(folder_of(&self.path))?;
        }
        Ok(())
    }

    fn give_name(&mut self, replace: bool) -> Result<()> {
        if self.hidden.is_none() {
            match platform::link(&self.file, &self.path) {
                Err(error) if replace && error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
                Ok(()) => return Ok(()),
            }
            let (hidden, ()) = Hidden::take(&self.path, |name| {
                platform::link(&self.file, name).map(|()| Some(()))
            })?;
            self.hidden = Some(hidden);
        }
        match self.hidden.take() {
            None => Ok(()),
            Some(hidden) => Ok(hidden.leave(|name| {
                if replace {
                    std::fs::rename(name, &self.path)
                } else {
                    platform::rename_new(name, &self.path)
                }
            })?),
        }
    }
}

/// A hidden name in use, released on drop.
struct Hidden(PathBuf);

impl Hidden {
    /// Removes the remains of killed saves to `path`, and reserves a free name with `make`, which
    /// fails with "already exists" if the name is taken, and returns `None` if it lost it.
    fn take<T>(
        path: &Path,
        mut make: impl FnMut(&Path) -> io::Result<Option<T>>,
    ) -> Result<(Hidden, T)> {
        let mut names = in_use();
        for number in 0..SWEPT {
            remove_left(&hidden_name(path, number)?);
        }
        for number in 0..SLOTS {
            let name = hidden_name(path, number)?;
            match make(&name) {
                Ok(Some(made)) => {
                    names.push(name.clone());
                    return Ok((Hidden(name), made));
                }
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
        let why = format!("{SLOTS} other saves of {} are going on", path.display());
        Err(Error::invalid(why))
    }

    /// Releases the name with `end`, which moves the file to another.
    fn leave(&self, end: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        // Under the lock, so that the next user of the name does not have it removed.
        let mut names = in_use();
        end(&self.0)?;
        names.retain(|name| *name != self.0);
        Ok(())
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let mut names = in_use();
        if names.contains(&self.0) {
            // The save has failed already; the remaining file is removed by the next one.
            let _ = std::fs::remove_file(&self.0);
            names.retain(|name| *name != self.0);
        }
    }
}

/// Removes a hidden file without a lock. One that cannot be removed stays: its name counts as
/// taken.
fn remove_left(hidden: &Path) {
    let Ok(file) = platform::open_without_links(hidden) else {
        return;
    };
    let is_file = file.metadata().is_ok_and(|about| about.is_file());
    if is_file && file.try_lock().is_ok() {
        let _ = std::fs::remove_file(hidden);
    }
}

/// `.NAME.tenfold-3` for NAME, which is cut if it is long.
fn hidden_name(path: &Path, number: u32) -> Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| Error::invalid("a file needs a name"))?;
    let mut hidden = OsString::from(".");
    hidden.push(platform::shortened(name, AFFIXES));
    hidden.push(format!(".tenfold-{number}"));
    Ok(path.with_file_name(hidden))
}

/// Locks a file until it is closed, if the file system has locks; without them no file is ever
/// taken for an abandoned one.
fn lock(file: &File) {
    let _ = file.lock();
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    type Begin = fn(&Path) -> Result<AtomicFile>;
    const WAYS: [Begin; 2] = [AtomicFile::create, AtomicFile::hidden];

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn begin(way: Begin, path: &Path) -> AtomicFile {
        let mut draft = way(path).unwrap();
        draft.file.write_all(b"new").unwrap();
        draft
    }

    /// The remains of a killed save: the file without its lock.
    fn kill(draft: AtomicFile) {
        let mut draft = draft;
        let hidden = draft.hidden.take().unwrap();
        in_use().retain(|name| *name != hidden.0);
    }

    #[test]
    fn a_file_appears_when_it_is_complete_and_a_failure_leaves_nothing() {
        for way in WAYS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.zt");
            drop(begin(way, &path));
            assert!(names(folder.path()).is_empty());
            let draft = begin(way, &path);
            assert!(!path.exists());
            draft.publish(false, true).unwrap();
            assert_eq!(names(folder.path()), ["a.zt"]);
        }
    }

    #[test]
    fn a_name_that_was_taken_meanwhile_is_left_alone() {
        for way in WAYS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.zt");
            let draft = begin(way, &path);
            std::fs::write(&path, "theirs").unwrap();
            assert!(draft.publish(false, false).is_err());
            assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
            assert_eq!(names(folder.path()), ["a.zt"]);
        }
    }

    #[test]
    fn what_a_kill_leaves_is_removed_by_the_next_save_and_what_is_in_use_is_not() {
        for way in WAYS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.zt");
            std::fs::write(&path, "old").unwrap();
            let going_on = begin(AtomicFile::hidden, &path);
            kill(begin(AtomicFile::hidden, &path));
            let left = [".a.zt.tenfold-0", ".a.zt.tenfold-1", "a.zt"];
            assert_eq!(names(folder.path()), left);
            begin(way, &path).publish(true, false).unwrap();
            assert_eq!(names(folder.path()), [".a.zt.tenfold-0", "a.zt"]);
            going_on.publish(true, false).unwrap();
            assert_eq!(names(folder.path()), ["a.zt"]);
        }
    }

    #[test]
    fn what_only_looks_like_ours_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zt");
        std::fs::write(&path, "old").unwrap();
        std::fs::create_dir(folder.path().join(".a.zt.tenfold-0")).unwrap();
        std::os::unix::fs::symlink(&path, folder.path().join(".a.zt.tenfold-1")).unwrap();
        begin(AtomicFile::hidden, &path)
            .publish(true, false)
            .unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let names = names(folder.path());
        assert_eq!(names, [".a.zt.tenfold-0", ".a.zt.tenfold-1", "a.zt"]);
    }

    #[test]
    fn permissions_are_kept_when_a_file_is_replaced() {
        for (way, mode) in WAYS.into_iter().zip([0o600, 0o754]) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.zt");
            std::fs::write(&path, "old").unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            begin(way, &path).publish(true, false).unwrap();
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, mode);
            assert_eq!(std::fs::read(&path).unwrap(), b"new");
        }
    }

    #[test]
    fn the_longest_name_leaves_room_for_the_hidden_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{}x", "ä".repeat(127)));
        begin(AtomicFile::hidden, &path)
            .publish(true, false)
            .unwrap();
        assert!(path.exists());
    }
}
