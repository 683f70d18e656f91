//! Which cells: NumPy's index expressions, resolved slices, selection.

pub(super) mod expr;
pub(super) mod select;
pub(super) mod slice;
