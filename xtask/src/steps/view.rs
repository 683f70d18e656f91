//! The page of the viewer: its types, and its behavior in a browser.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::environment::is_ready;
use crate::command::{program, root, run};

/// The browser's path on Debian.
const CHROMIUM: &str = "/usr/bin/chromium";

/// Checks the types of the page, builds the command, and views files with it in a browser.
pub(super) fn check() -> Result<(), String> {
    let tests = copies().map_err(|error| error.to_string())?;
    if let Err(why) = install(&tests)? {
        println!("SKIPPED: the page of the viewer: {why}");
        return Ok(());
    }
    run(npm(&tests, &["run", "--silent", "types"]))?;
    if let Err(why) = browser() {
        println!("SKIPPED: the viewer in a browser: {why}");
        return Ok(());
    }
    super::rust::build()?;
    let mut test = npm(&tests, &["test", "--silent"]);
    test.env("TENFOLD_ROOT", root());
    run(test)
}

/// Copies the page and its tests to a folder with installed packages; returns the tests' folder.
fn copies() -> io::Result<PathBuf> {
    let from = root().join("crates/tenfold-view");
    let to = root().join("target/view");
    for folder in ["assets", "e2e"] {
        let copy = to.join(folder);
        fs::create_dir_all(&copy)?;
        // Removed tests and modules are removed here as well; packages stay.
        for entry in fs::read_dir(&copy)? {
            let path = entry?.path();
            let stays = [INSTALLED, "node_modules"].map(|name| path.ends_with(name));
            if stays.contains(&true) {
                continue;
            }
            if path.is_dir() {
                fs::remove_dir_all(path)?;
            } else {
                fs::remove_file(path)?;
            }
        }
        copy_folder(&from.join(folder), &copy)?;
    }
    Ok(to.join("e2e"))
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        match path.is_dir() {
            // Left over from manual test runs.
            true if name == "node_modules" => {}
            true => copy_folder(&path, &to.join(name))?,
            false => drop(fs::copy(&path, to.join(name))?),
        }
    }
    Ok(())
}

/// A copy of the list of installed packages.
const INSTALLED: &str = "installed.json";

/// Installs the locked packages, unless they are there already; the inner result contains the
/// reason if they are not available.
fn install(tests: &Path) -> Result<Result<(), String>, String> {
    if let Err(why) = answers("node").and_then(|()| answers("npm")) {
        return Ok(Err(why));
    }
    let (wanted, installed) = (tests.join("package-lock.json"), tests.join(INSTALLED));
    if !is_ready(&wanted, &installed) {
        if let Err(why) = run(npm(tests, &["ci", "--silent", "--no-audit", "--no-fund"])) {
            return Ok(Err(why));
        }
        fs::copy(&wanted, &installed).map_err(|error| error.to_string())?;
    }
    Ok(Ok(()))
}

fn npm(folder: &Path, args: &[&str]) -> Command {
    let mut command = program("npm", args);
    command.current_dir(folder);
    command
}

/// Whether a program is installed.
fn answers(name: &str) -> Result<(), String> {
    run(quiet(name, &["--version"]))
}

/// Installs the browser if it is missing and may be installed.
fn browser() -> Result<(), String> {
    if Path::new(CHROMIUM).exists() {
        return Ok(());
    }
    // Package lists may be missing or outdated; if they cannot be updated, the old ones may
    // suffice.
    let _ = run(quiet("apt-get", &["update"]));
    let install = quiet("apt-get", &["install", "--yes", "chromium"]);
    run(install).map_err(|why| format!("{CHROMIUM} is missing, and {why}"))
}

fn quiet(name: &str, args: &[&str]) -> Command {
    let mut command = program(name, args);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_is_named() {
        let why = answers("no-such-program").unwrap_err();
        assert!(why.starts_with("no-such-program cannot be run"), "{why}");
    }
}
