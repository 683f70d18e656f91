//! The Python package: tests, types and wheels.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::environment::install;
use crate::command::{program, root, run};

/// The environment in which the package is built and tested.
fn environment() -> PathBuf {
    root().join("target/python")
}

/// A program of the environment.
fn tool(name: &str, args: &[&str]) -> Command {
    tool_in(&environment(), name, args)
}

fn tool_in(environment: &Path, name: &str, args: &[&str]) -> Command {
    let mut command = program(environment.join("bin").join(name), args);
    command.env("VIRTUAL_ENV", environment);
    command
}

/// Builds the package for its tests.
const BUILD: [&str; 4] = ["develop", "--quiet", "--profile", "dev"];

/// Builds the package, runs its tests and the examples in its documentation, checks its types, and
/// that the stubs match the compiled half.
pub(crate) fn check() -> Result<(), String> {
    if let Err(why) = install(&root().join("python"), &environment())? {
        println!("SKIPPED: the Python package: {why}");
        return Ok(());
    }
    run(tool("maturin", &BUILD))?;
    let tests = ["-m", "pytest", "--quiet"];
    let package = ["--doctest-modules", "python/tenfold", "python/tests"];
    run(tool("python", &[&tests[..], &package].concat()))?;
    // Separately, as its examples run in a folder of their own.
    let pages = ["--doctest-glob=*.md", "docs/python.md"];
    run(tool("python", &[&tests[..], &pages].concat()))?;
    run(tool("python", &["-m", "mypy"]))?;
    run(tool("python", &["-m", "mypy.stubtest", "tenfold._tenfold"]))
}

/// Runs the tests that need PyTorch itself, a very large download, and those of safetensors against
/// the drop-in modules.
pub(crate) fn check_with_torch() -> Result<(), String> {
    let environment = root().join("target/python-torch");
    if let Err(why) = install(&root().join("python/with-torch"), &environment)? {
        println!("SKIPPED: the Python package with PyTorch: {why}");
        return Ok(());
    }
    run(tool_in(&environment, "maturin", &BUILD))?;
    let tests = ["-m", "pytest", "--quiet", "-k", "torch", "python/tests"];
    run(tool_in(&environment, "python", &tests))?;
    let suite = ["python/with-torch/safetensors_suite.py"];
    run(tool_in(&environment, "python", &suite))
}

/// Builds a wheel for distribution, in `target/wheels`.
pub(crate) fn wheel() -> Result<(), String> {
    install(&root().join("python"), &environment())??;
    run(tool("maturin", &["build", "--release"]))
}
