//! Launching the browser without exposing the URL to other users.
//!
//! Process arguments are visible to every user of the machine, and the URL contains the token. So
//! the browser is given a file that only its user can read and that redirects to the URL. It is
//! removed after use.

use std::ffi::OsString;
use std::fs::{OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use tempfile::TempDir;

/// Time allowed for a browser to start and read the file.
const KEPT: Duration = Duration::from_secs(120);

/// The folder of snaps, if there are any.
const SNAPS: [&str; 2] = ["/snap/bin", "/var/lib/snapd/snap/bin"];

/// The redirecting file, until it is removed.
static REDIRECT: Mutex<Option<Redirect>> = Mutex::new(None);

fn redirect() -> MutexGuard<'static, Option<Redirect>> {
    REDIRECT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens `url` in the default browser.
pub(crate) fn open(url: &str) -> io::Result<()> {
    open_with(url, KEPT, |path| ::open::that_detached(path))
}

/// Launches a browser with the file that redirects to `url`, and keeps the file for that time.
fn open_with(
    url: &str,
    kept: Duration,
    launch: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let path = {
        let mut redirect = redirect();
        let has_snaps = SNAPS.iter().any(|folder| Path::new(folder).is_dir());
        let folders = folders(has_snaps, |name| std::env::var_os(name));
        let created = Redirect::create(&folders, url)?;
        redirect.insert(created).path.clone()
    };
    launch(&path).inspect_err(|_| remove_redirect())?;
    thread::spawn(move || {
        thread::sleep(kept);
        remove_redirect();
    });
    Ok(())
}

/// Removes the redirecting file, if it still exists.
pub(crate) fn remove_redirect() {
    redirect().take();
}

/// Removes it for the last time, in a process about to exit: none is created after that.
pub(crate) fn end() {
    let mut redirect = redirect();
    redirect.take();
    std::mem::forget(redirect);
}

/// A file that redirects a browser to a URL, in a folder of its own; both are removed on drop.
struct Redirect {
    path: PathBuf,
    _folder: TempDir,
}

impl Redirect {
    /// Creates the file in the first writable folder of `parents`.
    fn create(parents: &[PathBuf], url: &str) -> io::Result<Redirect> {
        let mut last = io::ErrorKind::NotFound.into();
        for parent in parents {
            match Redirect::create_in(parent, url) {
                Ok(redirect) => return Ok(redirect),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn create_in(parent: &Path, url: &str) -> io::Result<Redirect> {
        let folder = tempfile::Builder::new()
            .prefix("tenfold-view-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)?;
        let path = folder.path().join("open.html");
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        // The URL contains no character that is special in HTML.
        write!(
            file,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<title>tenfold view</title>\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n\
             <p><a href=\"{url}\">Open the viewer</a>\n"
        )?;
        Ok(Redirect {
            path,
            _folder: folder,
        })
    }
}

/// Folders where the browser can read a file, best first.
///
/// Browsers installed as snaps read neither `/tmp` nor the runtime folder nor hidden folders, but
/// they can read the home folder. For those installed as flatpaks the desktop passes the file on.
fn folders(has_snaps: bool, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let home = variable("HOME").filter(|_| has_snaps);
    let runtime = variable("XDG_RUNTIME_DIR");
    let folders = [home, runtime].into_iter().flatten().map(PathBuf::from);
    let folders = folders.filter(|folder| folder.is_absolute());
    folders.chain([std::env::temp_dir()]).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const URL: &str = "http://127.0.0.1:4000/?token=0123456789abcdef";

    #[test]
    fn only_the_user_can_read_the_address_and_it_is_gone_after_use() {
        let parent = tempfile::tempdir().unwrap();
        let missing = parent.path().join("missing");
        let redirect = Redirect::create(&[missing, parent.path().into()], URL).unwrap();
        let path = redirect.path.clone();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        let page = fs::read_to_string(&path).unwrap();
        assert!(
            page.contains(&format!("content=\"0; url={URL}\"")),
            "{page}"
        );
        assert!(!path.display().to_string().contains("0123456789abcdef"));
        drop(redirect);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_file_of_a_browser_that_does_not_come_is_removed() {
        let mut paths = Vec::new();
        let refused = |path: &Path| {
            paths.push(path.to_owned());
            Err(io::ErrorKind::NotFound.into())
        };
        assert!(open_with(URL, KEPT, refused).is_err());
        assert!(!paths.pop().unwrap().exists());
        let kept = Duration::from_millis(50);
        let launch = |path: &Path| {
            paths.push(path.to_owned());
            Ok(())
        };
        open_with(URL, kept, launch).unwrap();
        let path = paths.pop().unwrap();
        for _ in 0..1000 {
            if !path.exists() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{} is still there", path.display());
    }

    #[test]
    fn the_folder_is_one_that_the_browser_can_read() {
        let temporary = std::env::temp_dir();
        let set = |name: &str| match name {
            "HOME" => Some(OsString::from("/home/user")),
            "XDG_RUNTIME_DIR" => Some(OsString::from("/run/user/1000")),
            _ => None,
        };
        let [home, runtime] = ["/home/user", "/run/user/1000"].map(PathBuf::from);
        assert_eq!(folders(false, set), [runtime.clone(), temporary.clone()]);
        assert_eq!(folders(true, set), [home, runtime, temporary.clone()]);
        let relative = |_: &str| Some(OsString::from("relative"));
        let nothing = |_: &str| None;
        for folders in [folders(true, relative), folders(true, nothing)] {
            assert_eq!(folders, std::slice::from_ref(&temporary));
        }
    }
}
