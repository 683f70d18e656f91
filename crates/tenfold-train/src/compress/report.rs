//! What a compression did, and what can be proven about it.

use super::options::Method;
use crate::train::Train;

/// A train, and what is known about it.
#[derive(Debug, Clone)]
pub struct Compressed<T> {
    /// The train.
    pub train: Train<T>,
    /// What is proven about it, and what it took.
    pub report: Report,
}

/// What is proven about a train, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The way that led to the train.
    pub route: Method,
    /// The norm of the tensor.
    pub norm: f64,
    /// A bound on the norm of the difference between tensor and train: measured, plus
    /// [`Report::rounding`].
    pub error: f64,
    /// The part of the bound that stands for rounding in the arithmetic.
    pub rounding: f64,
    /// The bonds between modes, from the first to the last.
    pub bonds: Vec<Bond>,
    /// Cells read of the source and of what was made of it.
    pub read: u64,
    /// Bytes of the tensor as doubles, or pairs of them.
    pub dense_len: u64,
    /// Bytes of the cores.
    pub train_len: u64,
    /// How long it took.
    pub seconds: f64,
    /// What the caller should know, in words.
    pub notes: Vec<String>,
}

/// What happened at one bond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bond {
    /// The rank.
    pub rank: usize,
    /// The rank that the tolerance needed; larger than `rank` if that was capped.
    pub needed: usize,
    /// The square of the error made there.
    pub left_out: f64,
}

impl Report {
    /// The bound on the error as a part of the norm; 0 for a tensor of zeros.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        if self.error == 0.0 {
            0.0
        } else {
            self.error / self.norm
        }
    }

    /// How many times smaller the train is than the tensor as doubles; below 1 it is larger.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        crate::num::nearest(self.dense_len) / crate::num::nearest(self.train_len.max(1))
    }
}
