//! Other systems: the library compiles for each target.

use std::process::Stdio;

use crate::command::{cargo, program, run};

/// A target and the library's features there: those that need a C compiler for the target are
/// omitted.
const SYSTEMS: [(&str, &str); 2] = [
    ("x86_64-pc-windows-gnu", "mmap,ruzstd"),
    ("wasm32-unknown-unknown", "ruzstd"),
];

pub(super) fn check() -> Result<(), String> {
    for (target, features) in SYSTEMS {
        if is_available(target) {
            compiles(target, features)?;
        }
    }
    Ok(())
}

/// Whether a target's standard library is installed or can be; otherwise it is skipped by name.
pub(super) fn is_available(target: &str) -> bool {
    let is_there = installs(&["target", "add", target]);
    if !is_there {
        println!("SKIPPED: {target}: its standard library cannot be had");
    }
    is_there
}

/// Checks that the library compiles for a target.
pub(super) fn compiles(target: &str, features: &str) -> Result<(), String> {
    let words = ["check", "--package", "tenfold", "--no-default-features"];
    let mut check = cargo(&words);
    check.args(["--features", features, "--target", target]);
    check.env("CARGO_TARGET_DIR", "target/machines");
    check.env("RUSTFLAGS", "-D warnings");
    run(check)
}

/// Whether rustup can install a component.
pub(super) fn installs(words: &[&str]) -> bool {
    let mut rustup = program("rustup", words);
    rustup.stdout(Stdio::null()).stderr(Stdio::null());
    run(rustup).is_ok()
}
