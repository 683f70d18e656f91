//! Ways past an error, worded by each face of the tool in its own language.

/// A way past an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// A [`Duplicates`](crate::Duplicates) rule, of which `Sum` applies only to values at the same
    /// position.
    Duplicates {
        /// Whether the values may be added.
        sum: bool,
    },
}
