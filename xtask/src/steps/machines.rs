//! Machines that are not at hand: with 32 bits, and with the larger end first.

use std::process::Stdio;

use crate::command::{cargo, program, run};

/// One of each kind.
const TARGETS: &[&str] = &["i686-unknown-linux-gnu", "s390x-unknown-linux-gnu"];

/// Where compilers look for what depends on C, which would need a compiler of C for each.
const WITHOUT_C: &[&str] = &[
    "--package",
    "tenfold",
    "--no-default-features",
    "--features",
    "mmap",
];

/// What reads bytes as numbers and back, and walks over memory: the tests that an interpreter can do in minutes.
const KERNELS: &[&str] = &[
    "number::",
    "wire::",
    "bytes::extent",
    "bytes::records",
    "bytes::scan",
    "tensor::relayout",
    "tensor::slice",
    "tensor::strided",
];

/// Compiles the library for each, and has Miri run the tests of its kernels on all of them.
pub(crate) fn check() -> Result<(), String> {
    for target in TARGETS {
        if !installs(&["target", "add", target]) {
            println!("SKIPPED: {target}: its standard library cannot be had");
            continue;
        }
        let mut check = cargo(&[&["check", "--target", target], WITHOUT_C].concat());
        check.env("CARGO_TARGET_DIR", "target/machines");
        run(check)?;
    }
    if !installs(&[
        "component",
        "add",
        "--toolchain",
        "nightly",
        "miri",
        "rust-src",
    ]) {
        println!("SKIPPED: Miri cannot be had");
        return Ok(());
    }
    for target in TARGETS {
        let test = ["+nightly", "miri", "test", "--lib", "--target", target];
        let mut test = program("cargo", &[&test, WITHOUT_C, &["--"], KERNELS].concat());
        // Temporary files are part of what is tested.
        test.env("MIRIFLAGS", "-Zmiri-disable-isolation");
        test.env("CARGO_TARGET_DIR", "target/machines");
        run(test)?;
    }
    Ok(())
}

/// Whether rustup can get something.
fn installs(words: &[&str]) -> bool {
    let mut rustup = program("rustup", words);
    rustup.stdout(Stdio::null()).stderr(Stdio::null());
    run(rustup).is_ok()
}
