//! Conversion between number types: one number, many at once, lazily.

pub(super) mod changes;
pub(super) mod lazy;
pub(super) mod map;
pub(super) mod scalar;
pub(super) mod simd;
