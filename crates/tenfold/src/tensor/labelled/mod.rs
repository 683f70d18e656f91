//! Dimensions addressed by label.

pub(super) mod blocks;
pub(super) mod decimal;
pub(super) mod from_indexed;
pub(super) mod labels;
pub(super) mod set_labels;
pub(super) mod to_indexed;
