//! Other machines: 32 bits and big-endian targets; and Miri on `unsafe` code.

use super::targets::{compiles, installs, is_available};
use crate::command::{program, run};

/// One target of each kind.
const TARGETS: &[&str] = &["i686-unknown-linux-gnu", "s390x-unknown-linux-gnu"];

/// The search path for C dependencies, which would need a C compiler for each target.
const WITHOUT_C: &[&str] = &[
    "--package",
    "tenfold",
    "--no-default-features",
    "--features",
    "mmap",
];

/// Byte conversion and memory access: the tests that Miri can run in minutes.
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

/// Compiles the library for each target, and runs Miri on the tests of its kernels on all of them,
/// and here on those that use addresses.
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
    // Without a Python interpreter, which is needed only when one of its functions is called.
    miri(&["--package", "tenfold-py"], &["memory::"])?;
    for target in TARGETS {
        miri(&[&["--target", target], WITHOUT_C].concat(), KERNELS)?;
    }
    Ok(())
}

/// Runs Miri on some tests of a library.
fn miri(which: &[&str], tests: &[&str]) -> Result<(), String> {
    let words = ["+nightly", "miri", "test", "--lib"];
    let mut test = program("cargo", &[&words, which, &["--"], tests].concat());
    // The tests include temporary files.
    test.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    test.env("CARGO_TARGET_DIR", "target/machines");
    run(test)
}
