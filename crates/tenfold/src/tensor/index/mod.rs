//! Which cells: index expressions as NumPy writes them, resolved slices, selection.

pub(super) mod expr;
pub(super) mod select;
pub(super) mod slice;
