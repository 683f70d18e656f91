//! Checks by Cargo: formatting, lints, tests, documentation.

use crate::command::{cargo, run};

pub(super) fn format() -> Result<(), String> {
    run(cargo(&["fmt", "--all", "--check"]))
}

pub(super) fn clippy() -> Result<(), String> {
    run(cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

pub(super) fn documentation() -> Result<(), String> {
    let mut command = cargo(&["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    run(command)
}

/// Builds the command and all examples with the options of the tests, to avoid a second build.
pub(super) fn build() -> Result<(), String> {
    run(cargo(&["test", "--workspace", "--no-run", "--quiet"]))
}

pub(super) fn tests() -> Result<(), String> {
    run(cargo(&["test", "--workspace"]))
}
