//! Ways past an error, which each face of the tool words in its own language.

/// A way past an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// A [`Duplicates`](crate::Duplicates) rule, of which `Sum` applies only to one position given twice.
    Duplicates {
        /// Whether the values may be added up.
        sum: bool,
    },
}
