//! Arguments of `tenfold hash`.

use std::path::PathBuf;

use clap::Args;
use tenfold::SparseHashing;

use crate::args::{Choice, Reading};

/// The arguments of `hash`.
#[derive(Args)]
pub(crate) struct Hash {
    /// The files; `-` is standard input
    #[arg(required_unless_present = "check", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Compare files with the hashes listed here, as this command printed them
    #[arg(long, value_name = "SUMS", conflicts_with_all = ["files", "tensors", "json"])]
    pub(crate) check: Option<PathBuf>,
    /// Print the hash of every tensor, not that of the file
    #[arg(long)]
    pub(crate) tensors: bool,
    /// Hash a sparse tensor like the dense one with the same values
    #[arg(long)]
    dense: bool,
    /// Print JSON, one object a file and line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl Hash {
    /// Hashing mode of sparse tensors.
    pub(crate) fn sparse_as(&self) -> SparseHashing {
        if self.dense {
            SparseHashing::Dense
        } else {
            SparseHashing::Cells
        }
    }
}
