//! Errors of tensor-train operations.

use tenfold::measure_text;

use crate::compress::Report;

/// The result of operations on trains.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason that an operation on trains fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading the tensor failed.
    #[error(transparent)]
    Tensor(#[from] tenfold::Error),
    /// An invalid request.
    #[error("{0}")]
    Invalid(String),
    /// A cell is NaN or infinite; no train can approximate it.
    #[error("cell {index:?} is {value}: only finite values can be compressed")]
    NotFinite {
        /// The first such cell, in storage order.
        index: Vec<usize>,
        /// Its value.
        value: String,
    },
    /// The ranks do not permit the tolerance.
    #[error("{0}")]
    RankLimit(Box<RankLimit>),
    /// An intermediate result of a source that exceeds memory exceeds memory as well.
    #[error("what is left of the tensor takes {needed} bytes of memory, {allowed} are allowed")]
    Memory {
        /// The bytes required.
        needed: u64,
        /// The bytes permitted.
        allowed: u64,
    },
    /// Every train within the tolerance is too large to be useful.
    #[error(
        "every train within the error has a rank of {rank} or more, which takes {least} bytes at \
         least; less than {below} were asked for"
    )]
    NotSmaller {
        /// The least rank at some bond.
        rank: usize,
        /// The least size in bytes of a train with that rank.
        least: u64,
        /// The size limit in bytes (exclusive).
        below: u64,
    },
    /// A factorization did not converge.
    #[error("a {0} did not converge")]
    Numeric(&'static str),
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
}

/// A tolerance and a rank limit that exclude each other, and the smallest error found.
#[derive(Debug, Clone)]
pub struct RankLimit {
    /// The bond, counted from 1, whose truncation, alone or with those before it, exceeded the
    /// tolerance.
    pub bond: usize,
    /// The rank that bond required.
    pub needed: usize,
    /// The rank permitted there.
    pub allowed: usize,
    /// The requested relative error.
    pub wanted: f64,
    /// The relative error proven with these ranks.
    pub reached: f64,
    /// The method that was used.
    pub report: Report,
}

impl std::fmt::Display for RankLimit {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "an error of {} needs rank {} at bond {}, {} is allowed; that gives {}",
            measure_text(self.wanted, 4),
            self.needed,
            self.bond,
            self.allowed,
            measure_text(self.reached, 4)
        )
    }
}

impl Error {
    /// Creates an [`Error::Invalid`].
    pub(crate) fn invalid(why: impl Into<String>) -> Error {
        Error::Invalid(why.into())
    }

    /// The error for a number that is out of range of a double.
    pub(crate) fn out_of_range(what: impl Into<String>) -> Error {
        Error::Tensor(tenfold::Error::OutOfRange(what.into()))
    }
}
