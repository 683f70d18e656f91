//! Comparisons with other programs: each folder of `oracles` is one, with an environment of its
//! own.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::environment::install;
use crate::command::{program, root, run};

/// Those with gigabytes of packages; only `cargo xtask oracles` runs them.
const LARGE: &[&str] = &["torch", "torchtt", "transformers"];

/// Runs all except the large ones.
pub(super) fn check() -> Result<(), String> {
    check_these(|name| !LARGE.contains(&name))
}

/// Runs all of them.
pub(super) fn check_all() -> Result<(), String> {
    check_these(|_| true)
}

fn check_these(wanted: impl Fn(&str) -> bool) -> Result<(), String> {
    super::rust::build()?;
    let listed = std::fs::read_dir(root().join("oracles")).map_err(|error| error.to_string())?;
    let mut folders: Vec<PathBuf> = listed
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.join("check.py").is_file())
        .filter(|path| { path.file_name() }.is_some_and(|name| wanted(&name.to_string_lossy())))
        .collect();
    folders.sort();
    let mut skipped = Vec::new();
    let done = folders.iter().try_for_each(|folder| {
        let name = folder.file_name().unwrap_or_default();
        let environment = root().join("target/oracles").join(name);
        let python = environment.join("bin/python");
        let installed = install(folder, &environment)?;
        let name = name.to_string_lossy();
        skipped.extend(ask(&name, installed, || run(check_of(folder, &python)))?);
        Ok(())
    });
    // Last, where it is not overlooked.
    skipped.iter().for_each(|line| println!("{line}"));
    done
}

/// Runs an oracle; if its packages cannot be installed, returns a line that says so.
fn ask(
    name: &str,
    installed: Result<(), String>,
    check: impl FnOnce() -> Result<(), String>,
) -> Result<Option<String>, String> {
    match installed {
        Ok(()) => check().map(|()| None),
        Err(why) => Ok(Some(format!("SKIPPED: the oracle {name}: {why}"))),
    }
}

fn check_of(folder: &Path, python: &Path) -> Command {
    let mut check = program(python, &[]);
    check.arg(folder.join("check.py"));
    check.env("TENFOLD", root().join("target/debug/tenfold"));
    check.env("WORKLOADS", root().join("target/debug/examples/workloads"));
    // The shared code; in a folder of its own, as Python would import one called `torch` as that
    // package.
    check.env("PYTHONPATH", root().join("oracles/shared"));
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oracle_that_cannot_be_installed_is_skipped_by_name_and_not_asked() {
        let missing = Err("pip ended with 1".into());
        let line = ask("ztensor-2", missing, || Err("asked all the same".into()));
        let text = "SKIPPED: the oracle ztensor-2: pip ended with 1";
        assert_eq!(line, Ok(Some(text.into())));
    }

    #[test]
    fn an_oracle_that_is_there_and_differs_fails() {
        assert_eq!(ask("npz", Ok(()), || Ok(())), Ok(None));
        let wrong = ask("npz", Ok(()), || Err("other bits".into()));
        assert_eq!(wrong, Err("other bits".into()));
    }
}
