//! Test vectors made with the real programs; see [`crate::support::vectors`].

mod tens;
mod vespa;
mod ztensor;
