//! The Python package: its tests, its types, and wheels of it.

use std::path::PathBuf;
use std::process::Command;

use super::environment::install;
use crate::command::{program, root, run};

/// Where the package is built and tested.
fn environment() -> PathBuf {
    root().join("target/python")
}

/// A program of the environment.
fn tool(name: &str, args: &[&str]) -> Command {
    let mut command = program(environment().join("bin").join(name), args);
    command.env("VIRTUAL_ENV", environment());
    command
}

/// Builds the package, runs its tests and the examples in its documentation, checks its types, and
/// that the stubs say of the compiled half what it is.
pub(crate) fn check() -> Result<(), String> {
    if let Err(why) = install(&root().join("python"), &environment())? {
        println!("SKIPPED: the Python package: {why}");
        return Ok(());
    }
    run(tool("maturin", &["develop", "--quiet", "--profile", "dev"]))?;
    let tests = ["-m", "pytest", "--quiet"];
    let package = ["--doctest-modules", "python/tenfold", "python/tests"];
    run(tool("python", &[&tests[..], &package].concat()))?;
    // Apart from the others, as its examples run in a folder of their own.
    let pages = ["--doctest-glob=*.md", "docs/python.md"];
    run(tool("python", &[&tests[..], &pages].concat()))?;
    run(tool("python", &["-m", "mypy"]))?;
    run(tool("python", &["-m", "mypy.stubtest", "tenfold._tenfold"]))
}

/// Builds a wheel to hand on, in `target/wheels`.
pub(crate) fn wheel() -> Result<(), String> {
    install(&root().join("python"), &environment())??;
    run(tool("maturin", &["build", "--release"]))
}
