//! Tests of the library as a whole, over all formats.
#![expect(
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod audit;
mod carried;
mod checksums;
mod corpus;
mod docs;
#[path = "../shared/files.rs"]
mod files;
mod generate;
mod hash;
mod honesty;
mod integrals;
mod inventory;
mod layering;
mod matrix;
mod meaning;
mod pages;
mod raw;
mod roundtrip;
mod salvage;
mod samples;
mod shards;
mod sliced;
mod stats;
mod support;
mod trains;
mod transform;
mod uncommon;
mod unreadable;
mod vectors;
mod ztensor;
