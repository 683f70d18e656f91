//! Tests of the library as a whole, over all formats.
#![allow(
    clippy::as_conversions,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod corpus;
mod docs;
mod generate;
mod honesty;
mod layering;
mod meaning;
mod roundtrip;
mod support;
mod vectors;
