//! What can be said about one tensor, or about two.

mod diff;
mod hash;
mod stats;

pub use diff::{
    Basis, Blocks, Closeness, Comparison, DiffOptions, Measures, Pairing, Verdict, Worst, compare,
    pair,
};
pub use hash::{ContentHash, SparseAs, file_hash, tensor_hashes};
pub use stats::{Finding, Finite, NotFinite, PERCENTS, Place, Samples, Scalar, Stats};
