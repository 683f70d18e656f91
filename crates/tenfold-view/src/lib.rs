//! Tensors as pictures: in a local page, in files, in the terminal.
//!
//! [`image`] reduces any part of a tensor to what a screen can show, in bounded memory; it knows
//! nothing of pages or files. The rest draws what it gives.
#![forbid(unsafe_code)]

pub mod image;
pub mod plot;
mod server;

pub use server::{ConnectionLimits, Event, File, Print, Server, Wording};
