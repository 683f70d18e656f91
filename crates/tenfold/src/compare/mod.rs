//! What several commands compute over one tensor or two.

mod diff;

pub use diff::{
    Basis, Blocks, Comparison, DiffOptions, Measures, Pairing, Tolerance, Verdict, Worst, compare,
    pair,
};
