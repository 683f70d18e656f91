//! Machines that are not at hand: with 32 bits, and with the larger end first; and Miri on what is `unsafe`.

use super::targets::{compiles, installs, is_available};
use crate::command::{program, run};

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
    "dtype::",
    "wire::",
    "bytes::extent",
    "bytes::records",
    "bytes::cursor",
    "tensor::dense::strided",
    "tensor::dense::transpose",
    "tensor::index::slice",
    "tensor::symmetry::mean",
    "tensor::symmetry::signs",
];

/// Compiles the library for each, and has Miri run the tests of its kernels on all of them, and here those of
/// what is done with addresses.
pub(crate) fn check() -> Result<(), String> {
    for target in TARGETS {
        if is_available(target) {
            compiles(target, "mmap")?;
        }
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
    // Without an interpreter of Python, which has to be there only when something of it is called.
    miri(&["--package", "tenfold-py"], &["memory::"])?;
    for target in TARGETS {
        miri(&[&["--target", target], WITHOUT_C].concat(), KERNELS)?;
    }
    Ok(())
}

/// Has Miri run some tests of a library.
fn miri(which: &[&str], tests: &[&str]) -> Result<(), String> {
    let words = ["+nightly", "miri", "test", "--lib"];
    let mut test = program("cargo", &[&words, which, &["--"], tests].concat());
    // Temporary files are part of what is tested.
    test.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    test.env("CARGO_TARGET_DIR", "target/machines");
    run(test)
}
