//! How `tenfold view` opens the browser: by a file that only its user can read and that does not
//! stay.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};
use tempfile::TempDir;

use crate::support::{corpus, interruptible};
use crate::viewer::Viewer;

/// Writes down what it is given, and what every user sees of all processes meanwhile.
const BROWSER: &str = "#!/bin/sh
printf '%s\\n' \"$@\" > \"$RECORD/arguments\"
stat -c %a \"$1\" \"${1%/*}\" > \"$RECORD/modes\"
cat \"$1\" > \"$RECORD/page\"
cat /proc/[0-9]*/cmdline > \"$RECORD/processes\" 2> /dev/null
mv \"$RECORD/page\" \"$RECORD/opened\"
";

/// A viewer that has opened a browser of this test.
struct Opened {
    viewer: Viewer,
    /// The folder in which the file is made.
    home: TempDir,
    record: TempDir,
}

impl Opened {
    fn new() -> Opened {
        let [home, record, programs] = [(), (), ()].map(|()| tempfile::tempdir().unwrap());
        let browser = programs.path().join("xdg-open");
        fs::write(&browser, BROWSER).unwrap();
        fs::set_permissions(&browser, Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let folders = [programs.path().to_owned()].into_iter();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
        let mut command = interruptible(env!("CARGO_BIN_EXE_tenfold"));
        command.args(["view", &corpus("blz/good/two_dims.blz")]);
        command.env("PATH", path).env("RECORD", record.path());
        command
            .env("HOME", home.path())
            .env("XDG_RUNTIME_DIR", home.path());
        let viewer = Viewer::start(&mut command);
        let opened = record.path().join("opened");
        assert!(happens(|| opened.exists()), "no browser was opened");
        Opened {
            viewer,
            home,
            record,
        }
    }

    /// What the browser has written down.
    fn recorded(&self, name: &str) -> String {
        let bytes = fs::read(self.record.path().join(name)).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The file that the browser was given.
    fn file(&self) -> PathBuf {
        self.recorded("arguments").trim_end().into()
    }

    fn is_home_empty(&self) -> bool {
        fs::read_dir(self.home.path()).unwrap().next().is_none()
    }
}

/// Waits for something that happens soon.
fn happens(condition: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !condition() {
        if begun.elapsed() > Duration::from_secs(10) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn no_process_has_the_token_in_its_arguments() {
    let opened = Opened::new();
    let token = &opened.viewer.token;
    let processes = opened.recorded("processes");
    assert!(processes.contains("xdg-open"), "{processes}");
    assert!(!processes.contains(token.as_str()));
    assert!(opened.file().starts_with(opened.home.path()));
    assert_eq!(opened.recorded("modes"), "600\n700\n");
    let address = format!("http://127.0.0.1:{}/?token={token}", opened.viewer.port);
    let page = opened.recorded("opened");
    assert!(
        page.contains(&format!("content=\"0; url={address}\"")),
        "{page}"
    );
}

#[test]
fn the_file_is_removed_when_the_browser_has_come() {
    let opened = Opened::new();
    let viewer = &opened.viewer;
    // Others are no reason to remove it.
    assert_eq!(viewer.send("GET /", &[&viewer.host()]).status, 403);
    let address = format!("GET /?token={}", viewer.token);
    assert_eq!(viewer.send(&address, &[&viewer.host()]).status, 200);
    assert!(Path::new(&opened.file()).exists());
    assert_eq!(viewer.get("/").status, 200);
    assert!(happens(|| opened.is_home_empty()));
}

#[test]
fn the_file_is_removed_when_the_viewer_ends() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut opened = Opened::new();
        assert!(opened.file().exists());
        kill_process(opened.viewer.pid(), signal).unwrap();
        opened.viewer.child.wait().unwrap();
        assert!(opened.is_home_empty(), "{signal:?}");
    }
}
