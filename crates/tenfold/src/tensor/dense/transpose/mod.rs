//! Transposition: the values in another order of the dimensions, in bounded memory.
//!
//! | file | |
//! |---|---|
//! | `gather.rs` | strided elements in memory, made contiguous |
//! | `tiles.rs` | narrow elements in tiles |
//! | `stored.rs` | boxes of stored values, in any order of dimensions |
//! | `grid.rs` | partition of a tensor into boxes that fit in memory |
//! | `two_pass.rs` | two passes through a temporary file, where a single one would read tiny runs |
//! | `view.rs` | all of it as lazy bytes, computed a slab at a time |

mod gather;
mod grid;
mod stored;
#[cfg(test)]
mod tests;
mod tiles;
mod two_pass;
mod view;

pub(crate) use stored::Stored;
pub(crate) use view::View;
