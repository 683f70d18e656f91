//! What can be said of one tensor, or of two: content hashes, statistics, differences.

mod diff;
mod hash;
mod stats;

pub use diff::{
    Basis, Blocks, Comparison, DiffOptions, DiffTolerance, Measures, Pairing, Verdict, Worst,
    compare, pair,
};
pub use hash::{ContentHash, SparseHashing, file_hash, tensor_hashes};
pub use stats::{Finding, Finite, NotFinite, Place, QUANTILES, Samples, Scalar, Stats};
