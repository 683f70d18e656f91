//! The engine of trains, against closed forms, brute force and the classical algorithm.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod adversarial;
mod arithmetic;
mod bound;
mod closed_forms;
mod edges;
mod reference;
mod repeat;
mod rounding;
mod sources;
mod support;
mod trials;
mod uneven;
