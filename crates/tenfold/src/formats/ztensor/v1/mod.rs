//! Generations 1.0, 1.1 and 1.2: objects of several components, described by a map of CBOR.

mod manifest;
mod read;

pub(super) use read::read;

pub(super) const MAGIC: &[u8; 8] = b"ZTEN1000";
const ALIGNMENT: u64 = 64;
