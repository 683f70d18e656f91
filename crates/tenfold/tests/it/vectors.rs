//! Test vectors made with the real programs; see [`crate::support::vectors`].

mod primitiv;
mod tens;
mod vespa;
mod vespa_text;
mod ztensor;
mod ztensor_later;
