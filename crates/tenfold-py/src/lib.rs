//! The compiled half of the Python package `tenfold`: a thin layer over the library.
//!
//! All computation is in `tenfold` and `tenfold-train`; the public Python API is in
//! `python/tenfold`. Between them this crate opens files, exchanges memory with NumPy, releases the
//! GIL during long operations, and turns errors into exceptions.

mod arrays;
mod compare;
mod construct;
mod entries;
mod errors;
mod file;
mod memory;
mod meta;
mod origin;
mod run;
mod save;
mod tensor;
mod threads;
mod train;
mod writer;

use pyo3::prelude::*;
use threads::detached;

/// Runs the command `tenfold` with the given arguments; returns the exit code.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<std::ffi::OsString>) -> u8 {
    detached(py, || {
        tenfold_cli::install_signal_handlers();
        tenfold_cli::raise_open_files();
        tenfold_cli::run(words, &mut tenfold_cli::Streams::process()).code()
    })
}

#[pymodule]
mod _tenfold {
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use crate::compare::{compare, hashes, pair, stats, verify};
    #[pymodule_export]
    use crate::construct::{dense, labelled, opaque, sparse, symmetric, train};
    #[pymodule_export]
    use crate::file::{FileCore, formats};
    #[pymodule_export]
    use crate::memory::Memory;
    #[pymodule_export]
    use crate::save::{convert, save, save_bytes};
    #[pymodule_export]
    use crate::tensor::TensorCore;
    #[pymodule_export]
    use crate::train::{TrainCore, compress};
    #[pymodule_export]
    use crate::writer::{SpoolFile, SpooledTensor, default_limits};

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
