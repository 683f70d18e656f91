//! What can go wrong with a train.

use tenfold::measure_text;

use crate::compress::Report;

/// The result of anything that computes with trains.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no train, or no number.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading the tensor failed.
    #[error(transparent)]
    Tensor(#[from] tenfold::Error),
    /// The caller asked for something that makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// A cell is NaN or infinite; no train comes near it.
    #[error("cell {index:?} is {value}: only finite values can be compressed")]
    NotFinite {
        /// The first such cell, in the order in which the cells are stored.
        index: Vec<usize>,
        /// What it is.
        value: String,
    },
    /// The tolerance cannot be met with ranks as small as asked for.
    #[error("{0}")]
    RankLimit(Box<RankLimit>),
    /// What a source that does not fit into memory comes down to does not fit either.
    #[error("what is left of the tensor takes {needed} bytes of memory, {allowed} are allowed")]
    Memory {
        /// The bytes it takes.
        needed: u64,
        /// The bytes that were allowed.
        allowed: u64,
    },
    /// Every train within the tolerance is too large to be of use.
    #[error(
        "every train within the error has a rank of {rank} or more, which takes {least} bytes at \
         least; less than {below} were asked for"
    )]
    NotSmaller {
        /// The least rank at some bond.
        rank: usize,
        /// The bytes that a train with such a rank has at least.
        least: u64,
        /// The bytes that it should have stayed below.
        below: u64,
    },
    /// A factorization did not converge.
    #[error("a {0} did not converge")]
    Numeric(&'static str),
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
}

/// A tolerance and a rank limit that exclude each other, and how near they came.
#[derive(Debug, Clone)]
pub struct RankLimit {
    /// The bond, counted from 1, whose cut alone or with those before it broke the tolerance.
    pub bond: usize,
    /// The rank that bond would have needed.
    pub needed: usize,
    /// The rank it was allowed.
    pub allowed: usize,
    /// The relative error that was asked for.
    pub wanted: f64,
    /// The relative error that can be proven with these ranks.
    pub reached: f64,
    /// What was done to get there.
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
    /// Makes an [`Error::Invalid`].
    pub(crate) fn invalid(why: impl Into<String>) -> Error {
        Error::Invalid(why.into())
    }

    /// Says that a number is no double.
    pub(crate) fn out_of_range(what: impl Into<String>) -> Error {
        Error::Tensor(tenfold::Error::OutOfRange(what.into()))
    }
}
