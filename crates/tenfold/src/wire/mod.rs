//! Thin adapters over wire formats: offsets in errors, limits on what is read.

pub(crate) mod cbor;
pub(crate) mod json;
pub(crate) mod json_tree;
pub(crate) mod msgpack;
pub(crate) mod pickle;
pub(crate) mod text;
pub(crate) mod yaml;
pub(crate) mod zip;
