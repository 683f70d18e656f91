//! Compression options.

use std::ops::ControlFlow;

/// Compression options: the tolerance, and limits on ranks, size and memory.
///
/// ```
/// use tenfold_train::Options;
///
/// let options = Options::relative(1e-6).with_max_rank(50).best_effort();
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct Options<'a> {
    pub(crate) relative: Option<f64>,
    pub(crate) absolute: Option<f64>,
    pub(crate) caps: Caps,
    pub(crate) is_best_effort: bool,
    pub(crate) below: Option<u64>,
    pub(crate) threads: Option<usize>,
    pub(crate) memory: usize,
    pub(crate) route: Option<Method>,
    pub(crate) watcher: Option<&'a Watcher<'a>>,
}

/// A callback for progress, called now and then from any thread; it may stop the compression.
pub type Watcher<'a> = dyn Fn(Progress) -> ControlFlow<()> + Sync + 'a;

/// Progress of a compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Cells read so far; some are counted more than once.
    pub read: u64,
    /// The number of cells of the tensor.
    pub cells: u64,
}

/// The largest permitted ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caps {
    /// Unlimited.
    None,
    /// The same at every bond.
    All(usize),
    /// One per bond, from the first to the last.
    Each(Vec<usize>),
}

impl Caps {
    /// The largest rank permitted at a bond, counted from 1.
    pub(crate) fn at(&self, bond: usize) -> usize {
        match self {
            Caps::None => usize::MAX,
            Caps::All(rank) => *rank,
            Caps::Each(ranks) => {
                let rank = ranks.get(bond.wrapping_sub(1));
                rank.copied().unwrap_or(usize::MAX)
            }
        }
    }
}

/// The compression methods; see the documentation of the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// No computation: one cell, one vector, or all zeros.
    Trivial,
    /// From both sides by orthogonal factorizations or Gram matrices of all cells.
    TwoSided,
    /// One pass that projects, measures the residual, and extends the basis where needed.
    VerifiedPass,
    /// From both sides with bases guessed from a sample and then verified.
    Sampled,
}

impl Method {
    /// A description of the method.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Trivial => "trivial",
            Method::TwoSided => "two-sided",
            Method::VerifiedPass => "verified pass",
            Method::Sampled => "sampled",
        }
    }
}

impl<'a> Options<'a> {
    fn new(relative: Option<f64>, absolute: Option<f64>) -> Options<'a> {
        Options {
            relative,
            absolute,
            caps: Caps::None,
            is_best_effort: false,
            below: None,
            threads: None,
            memory: 1 << 30,
            route: None,
            watcher: None,
        }
    }

    /// A train whose error is at most `eps` times the norm of the tensor.
    ///
    /// 0 asks for a train that is exact up to rounding.
    #[must_use]
    pub fn relative(eps: f64) -> Options<'a> {
        Options::new(Some(eps), None)
    }

    /// A train whose error, the norm of the difference, is at most `error`.
    #[must_use]
    pub fn absolute(error: f64) -> Options<'a> {
        Options::new(None, Some(error))
    }

    /// The best train with ranks up to `rank`, whatever its error.
    #[must_use]
    pub fn ranked(rank: usize) -> Options<'a> {
        Options::new(None, None).with_max_rank(rank)
    }

    /// Bounds the absolute error by `error` as well.
    #[must_use]
    pub fn with_absolute(mut self, error: f64) -> Options<'a> {
        self.absolute = Some(error);
        self
    }

    /// Limits all ranks to `rank`.
    #[must_use]
    pub fn with_max_rank(mut self, rank: usize) -> Options<'a> {
        self.caps = Caps::All(rank);
        self
    }

    /// Limits the rank of each bond, with one number for each bond between two modes.
    #[must_use]
    pub fn with_max_ranks(mut self, ranks: Vec<usize>) -> Options<'a> {
        self.caps = Caps::Each(ranks);
        self
    }

    /// If the ranks do not permit the error, returns the train with the smallest error found.
    #[must_use]
    pub fn best_effort(mut self) -> Options<'a> {
        self.is_best_effort = true;
        self
    }

    /// Requires the train to take less than `bytes`: if it is soon clear that none within the
    /// tolerance does, there is an error instead of a long computation.
    ///
    /// A train that is returned may still be larger.
    #[must_use]
    pub fn smaller_than(mut self, bytes: u64) -> Options<'a> {
        self.below = Some(bytes);
        self
    }

    /// Uses `count` threads instead of all of them. The result is the same, bit for bit.
    #[must_use]
    pub fn on_threads(mut self, count: usize) -> Options<'a> {
        self.threads = Some(count);
        self
    }

    /// Limits the bytes of a source not in memory as doubles that may be loaded: 1 GiB by default.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Options<'a> {
        self.memory = bytes;
        self
    }

    /// Uses a method, where it applies, instead of choosing one: for tests and measurements.
    #[must_use]
    pub fn by(mut self, route: Method) -> Options<'a> {
        self.route = Some(route);
        self
    }

    /// Reports progress to `watcher`, which may stop the compression.
    #[must_use]
    pub fn watched_by(mut self, watcher: &'a Watcher<'a>) -> Options<'a> {
        self.watcher = Some(watcher);
        self
    }
}
