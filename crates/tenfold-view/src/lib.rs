//! Images of tensors: in a local page, in files, in the terminal.
//!
//! [`image`] reduces any part of a tensor to screen size, in bounded memory; it knows nothing about
//! pages or files. The other modules draw its results.
#![forbid(unsafe_code)]

pub mod image;
pub mod plot;
mod server;

pub use server::{ConnectionLimits, Event, File, Print, Server, Wording};
