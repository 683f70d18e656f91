//! What other programs say: each folder of `oracles` is one, with an environment of its own.

use std::path::{Path, PathBuf};

use crate::command::{cargo, program, root, run};

/// Those whose packages are gigabytes; only `cargo xtask oracles` asks them.
const LARGE: &[&str] = &["torch"];

/// Asks all but the large ones.
pub(super) fn check() -> Result<(), String> {
    check_these(|name| !LARGE.contains(&name))
}

/// Asks every one.
pub(super) fn check_all() -> Result<(), String> {
    check_these(|_| true)
}

fn check_these(wanted: impl Fn(&str) -> bool) -> Result<(), String> {
    run(cargo(&["build", "--package", "tenfold-cli"]))?;
    let example = ["--package", "tenfold-train", "--example", "workloads"];
    run(cargo(&[&["build"], &example[..]].concat()))?;
    let listed = std::fs::read_dir(root().join("oracles")).map_err(|error| error.to_string())?;
    let mut folders: Vec<PathBuf> = listed
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .filter(|path| { path.file_name() }.is_some_and(|name| wanted(&name.to_string_lossy())))
        .collect();
    folders.sort();
    folders.iter().try_for_each(|folder| ask(folder))
}

/// Makes the environment of an oracle, unless it is there already, and runs its check.
fn ask(folder: &Path) -> Result<(), String> {
    let name = folder.file_name().unwrap_or_default();
    let environment = root().join("target/oracles").join(name);
    let python = environment.join("bin/python");
    let wanted = folder.join("requirements.txt");
    let installed = environment.join("requirements.txt");
    let is_ready = match (std::fs::read(&wanted), std::fs::read(&installed)) {
        (Ok(wanted), Ok(installed)) => wanted == installed,
        _ => false,
    };
    if !is_ready {
        let mut make = program("python3", &["-m", "venv", "--clear"]);
        make.arg(&environment);
        run(make)?;
        let mut install = program(
            &python,
            &["-m", "pip", "install", "--quiet", "--requirement"],
        );
        install.arg(&wanted);
        if let Err(why) = run(install) {
            println!("SKIPPED: the oracle {}: {why}", name.to_string_lossy());
            return Ok(());
        }
        std::fs::copy(&wanted, &installed).map_err(|error| error.to_string())?;
    }
    let mut check = program(&python, &[]);
    check.arg(folder.join("check.py"));
    check.env("TENFOLD", root().join("target/debug/tenfold"));
    check.env("WORKLOADS", root().join("target/debug/examples/workloads"));
    check.env("PYTHONPATH", root().join("oracles")); // what they share
    run(check)
}
