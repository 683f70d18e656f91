//! Encodings that formats share: CBOR, JSON, MessagePack, pickle (as data, never run), text, YAML,
//! zip; with offsets in errors and limits on reading.

pub(crate) mod cbor;
pub(crate) mod json;
pub(crate) mod json_tree;
pub(crate) mod msgpack;
pub(crate) mod pickle;
pub(crate) mod text;
pub(crate) mod yaml;
pub(crate) mod zip;
