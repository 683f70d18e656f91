//! Writing a file so that it is there whole, or not at all.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use super::{losses, lower::lower};
use crate::bundle::Bundle;
use crate::bytes::Sink;
use crate::error::{Error, Loss, Refusal, Result, Tier};
use crate::format::{Format, When, WriteOptions};

/// Gives a bundle as `format` would hold it, lazily, and what it loses on the way, if all of that
/// is permitted: what [`save`] would do, before it is done.
///
/// # Errors
/// [`Error::Refused`] with everything the format cannot hold.
pub fn forecast(
    bundle: &Bundle,
    format: &dyn Format,
    how: &WriteOptions,
) -> Result<(Bundle, Vec<Loss>)> {
    let info = format.info();
    how.options.check(info, When::Write)?;
    if let Some(version) = &how.version
        && !info.versions.contains(&version.as_str())
    {
        let known = info.versions.join(", ");
        let why = format!(
            "{} version {version} cannot be written; these can: {known}",
            info.name
        );
        return Err(Error::invalid(why));
    }
    let (lowered, changes) = lower(bundle, info, how)?;
    let permitted = |loss: &Loss| match loss.tier {
        Tier::Said => !how.strict || how.allow.permits(loss.aspect),
        Tier::Refused => how.allow.permits(loss.aspect),
        Tier::Impossible => false,
    };
    let all = changes.into_iter().chain(losses(&lowered, format));
    let (said, losses): (Vec<Loss>, Vec<Loss>) = all.partition(permitted);
    if !losses.is_empty() {
        return Err(Refusal {
            format: info.name,
            losses,
        }
        .into());
    }
    Ok((lowered, said))
}

/// Writes a bundle to `out`, if the format holds it or what it loses is permitted; gives what was
/// lost.
///
/// # Errors
/// [`Error::Refused`] with everything the format cannot hold; nothing was written then.
pub fn write_to(
    bundle: &Bundle,
    out: &mut Sink,
    format: &dyn Format,
    how: &WriteOptions,
) -> Result<Vec<Loss>> {
    let (lowered, said) = forecast(bundle, format, how)?;
    format
        .write(&lowered, out, how)
        .map_err(|error| error.of(format.info().name))?;
    Ok(said)
}

/// Saves a bundle as the file `path`, which must not exist unless `replace` is set.
///
/// The file is written under no name, brought to the disk, and only then named: `path` is never a
/// part of a file, whatever happens. Replacing names it `.NAME.tenfold-new` for the moment before
/// it takes the old one's place.
///
/// # Errors
/// [`Error::Refused`] if the format cannot hold everything, [`Error::Io`] if the system fails.
pub fn save(
    bundle: &Bundle,
    path: &Path,
    format: &dyn Format,
    how: &WriteOptions,
    replace: bool,
) -> Result<Vec<Loss>> {
    save_with(path, replace, how.skip_sync, |out| {
        write_to(bundle, out, format, how)
    })
}

/// Saves what `write` writes as the file `path`, in the way of [`save`].
///
/// # Errors
/// What `write` gives, and [`Error::Io`] if the system fails.
pub fn save_with<T>(
    path: &Path,
    replace: bool,
    skip_sync: bool,
    write: impl FnOnce(&mut Sink) -> Result<T>,
) -> Result<T> {
    let in_file = |error: Error| error.in_file(path);
    if !replace && path.symlink_metadata().is_ok() {
        let why = format!("{} exists already; --force replaces it", path.display());
        return Err(Error::invalid(why));
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let draft = Draft::create(folder, path).map_err(in_file)?;
    let mut out = Sink::file(draft.file.try_clone()?);
    let written = write(&mut out).map_err(in_file)?;
    out.finish().map_err(in_file)?;
    draft.publish(path, replace, !skip_sync).map_err(in_file)?;
    if !skip_sync {
        File::open(folder)?.sync_all()?;
    }
    Ok(written)
}

/// A file that has no name yet, or a hidden one where the system cannot do without.
struct Draft {
    file: File,
    hidden: Option<PathBuf>,
}

impl Draft {
    fn create(folder: &Path, path: &Path) -> Result<Draft> {
        #[cfg(target_os = "linux")]
        if let Some(file) = nameless(folder) {
            return Ok(Draft { file, hidden: None });
        }
        let _ = folder;
        let hidden = hidden_name(path)?;
        remove(&hidden)?;
        // Never an existing file, nor through a link that somebody laid there meanwhile.
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&hidden)?;
        Ok(Draft {
            file,
            hidden: Some(hidden),
        })
    }

    /// Gives the file its name.
    fn publish(mut self, path: &Path, replace: bool, sync: bool) -> Result<()> {
        if sync {
            self.file.sync_all()?;
        }
        #[cfg(target_os = "linux")]
        if self.hidden.is_none() {
            if !replace {
                return link(&self.file, path);
            }
            let hidden = hidden_name(path)?;
            remove(&hidden)?;
            link(&self.file, &hidden)?;
            self.hidden = Some(hidden);
        }
        if let Some(hidden) = &self.hidden {
            std::fs::rename(hidden, path)?;
            self.hidden = None;
        }
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            // The save has failed already; what stays is a hidden file that the next one replaces.
            let _ = std::fs::remove_file(hidden);
        }
    }
}

/// Removes what a save that was killed left behind.
fn remove(hidden: &Path) -> Result<()> {
    match std::fs::remove_file(hidden) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn hidden_name(path: &Path) -> Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| Error::invalid("a file needs a name"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(".tenfold-new");
    Ok(path.with_file_name(hidden))
}

/// A file in `folder` without a name; `None` where the file system has no such thing.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    // Any failure falls back to a hidden name, where a real one shows up again.
    rustix::fs::open(folder, flags, Mode::from_bits_truncate(0o666))
        .ok()
        .map(File::from)
}

/// Gives a nameless file a name.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::linkat(CWD, own.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW)
        .map_err(|error| std::io::Error::from(error).into())
}
