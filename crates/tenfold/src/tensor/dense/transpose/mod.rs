//! Values in another order of their dimensions.
//!
//! | file | |
//! |---|---|
//! | `gather.rs` | elements that lie apart in memory, put side by side |
//! | `plane.rs` | narrow elements in tiles |
//! | `stored.rs` | boxes of stored values in any order of dimensions |
//! | `grid.rs` | cutting a tensor into boxes that fit into memory |
//! | `passes.rs` | two passes through a temporary file, where one would read tiny runs |
//! | `view.rs` | all of it as lazy bytes, worked out a slab at a time |

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
