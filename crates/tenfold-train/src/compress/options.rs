//! What the caller wants of a train.

use std::ops::ControlFlow;

/// How a tensor is compressed: how near the train must be, and what it may cost.
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

/// Is told now and then how far a compression has come, from any thread, and may stop it.
pub type Watcher<'a> = dyn Fn(Progress) -> ControlFlow<()> + Sync + 'a;

/// How far a compression has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Cells read so far; some are read more than once.
    pub read: u64,
    /// The cells of the tensor.
    pub cells: u64,
}

/// The largest ranks that are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caps {
    /// Any.
    None,
    /// The same at every bond.
    All(usize),
    /// One a bond, from the first to the last.
    Each(Vec<usize>),
}

impl Caps {
    /// The largest rank allowed at a bond, counted from 1.
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

/// The ways to a train; see the documentation of the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Read off: one cell, one vector, or all zeros.
    Trivial,
    /// From both sides by orthogonal factorizations or Gram matrices of everything.
    TwoSided,
    /// One pass that projects, measures what is left, and extends the basis where it has to.
    VerifiedPass,
    /// From both sides with bases guessed from a sample and then verified.
    Sampled,
}

impl Method {
    /// The words for it.
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

    /// The error is also at most `error`, absolutely.
    #[must_use]
    pub fn with_absolute(mut self, error: f64) -> Options<'a> {
        self.absolute = Some(error);
        self
    }

    /// No rank exceeds `rank`.
    #[must_use]
    pub fn with_max_rank(mut self, rank: usize) -> Options<'a> {
        self.caps = Caps::All(rank);
        self
    }

    /// No rank exceeds that of its bond, one number for each bond between two modes.
    #[must_use]
    pub fn with_max_ranks(mut self, ranks: Vec<usize>) -> Options<'a> {
        self.caps = Caps::Each(ranks);
        self
    }

    /// If the ranks do not allow the error, the train with the smallest error found is returned
    /// all the same.
    #[must_use]
    pub fn best_effort(mut self) -> Options<'a> {
        self.is_best_effort = true;
        self
    }

    /// A train is of use only if it takes less than `bytes`: where it is soon clear that none does
    /// which is near enough, there is an error instead of a long computation.
    ///
    /// A train that is returned may still be larger.
    #[must_use]
    pub fn smaller_than(mut self, bytes: u64) -> Options<'a> {
        self.below = Some(bytes);
        self
    }

    /// Works on `count` threads instead of all of them. The result is the same, bit by bit.
    #[must_use]
    pub fn on_threads(mut self, count: usize) -> Options<'a> {
        self.threads = Some(count);
        self
    }

    /// How many bytes of a source that does not lie in memory as doubles may be brought there: 1 GiB
    /// by default.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Options<'a> {
        self.memory = bytes;
        self
    }

    /// Goes one way, where that is possible, instead of choosing: for tests and measurements.
    #[must_use]
    pub fn by(mut self, route: Method) -> Options<'a> {
        self.route = Some(route);
        self
    }

    /// Tells `watcher` how far it is; it may stop the work.
    #[must_use]
    pub fn watched_by(mut self, watcher: &'a Watcher<'a>) -> Options<'a> {
        self.watcher = Some(watcher);
        self
    }
}
