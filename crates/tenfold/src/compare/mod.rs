//! What can be said about one tensor, or about two.

mod digest;
mod stats;

pub use digest::{ContentHash, SparseAs, file_hash, tensor_hashes};
pub use stats::{Fault, Finite, PERCENTS, Samples, Scalar, Stats};
