//! The result of a compression and its proven error.

use super::options::Method;
use crate::train::Train;

/// A train and its report.
#[derive(Debug, Clone)]
pub struct Compressed<T> {
    /// The train.
    pub train: Train<T>,
    /// Its proven error and the cost.
    pub report: Report,
}

/// The proven error of a train, and the cost of computing it.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The method that gave the train.
    pub route: Method,
    /// The norm of the tensor.
    pub norm: f64,
    /// A bound on the norm of the difference between tensor and train: measured, plus
    /// [`Report::rounding`].
    pub error: f64,
    /// The part of the bound for rounding in the arithmetic.
    pub rounding: f64,
    /// The bonds between modes, from the first to the last.
    pub bonds: Vec<Bond>,
    /// Cells read of the source and of intermediate tensors.
    pub read: u64,
    /// Bytes of the tensor as doubles, or complex doubles.
    pub dense_len: u64,
    /// Bytes of the cores.
    pub train_len: u64,
    /// The elapsed time.
    pub seconds: f64,
    /// Notes for the caller, as text.
    pub notes: Vec<String>,
}

/// The result at one bond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bond {
    /// The rank.
    pub rank: usize,
    /// The rank that the tolerance required; larger than `rank` if that was capped.
    pub needed: usize,
    /// The square of the error made there.
    pub left_out: f64,
}

impl Report {
    /// The bound on the error relative to the norm; 0 for a tensor of zeros.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        if self.error == 0.0 {
            0.0
        } else {
            self.error / self.norm
        }
    }

    /// The size of the tensor as doubles relative to that of the train; below 1 the train is
    /// larger.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        crate::num::nearest(self.dense_len) / crate::num::nearest(self.train_len.max(1))
    }
}
