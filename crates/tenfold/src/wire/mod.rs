//! Thin adapters over wire formats: offsets and limits.

pub(crate) mod msgpack;
