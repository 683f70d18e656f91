//! Tensor trains with a proven error: compress, reconstruct, compute.
//!
//! A tensor train writes a tensor as a chain of small cores; a cell is the product of one matrix
//! of each. [`compress()`] finds a train within a tolerance of a tensor and says what it proved:
//!
//! ```
//! use tenfold_train::{Cells, Options, compress};
//!
//! // 1 / (i + j + k + 1), a tensor with quickly falling singular values.
//! let cells: Vec<f64> = (0..8000)
//!     .map(|n| 1.0 / f64::from(n / 400 + n / 20 % 20 + n % 20 + 1))
//!     .collect();
//! let found = compress(&Cells::new(&[20, 20, 20], &cells)?, &Options::relative(1e-6))?;
//! assert!(found.report.relative_error() <= 1e-6);
//! assert!(found.report.ratio() > 4.0);
//! # Ok::<(), tenfold_train::Error>(())
//! ```
//!
//! ‖A − Â‖ ≤ ε‖A‖ holds for every input, in the Frobenius norm: how that is ensured is described
//! in [`compress`](mod@compress). Results do not depend on the number of threads.
#![forbid(unsafe_code)]

pub mod compress;
mod error;
mod huge_vec;
mod kernels;
mod linalg;
mod num;
mod rng;
mod scalar;
pub mod source;
pub mod train;

pub use compress::{
    Bond, Caps, Compressed, Method, Options, Progress, Report, Watcher, compress, compress_any,
    compress_tensor,
};
pub use error::{Error, RankLimit, Result};
pub use scalar::{Complex64, Scalar};
pub use source::{Access, AnySource, Cells, Promote, Source, TensorSource};
pub use train::{AnyTrain, Core, Distance, Operator, Rounded, Train, prime_factors};
