//! Fitting a bundle into a target format, and reporting what is lost; saving it, and restoring
//! carried metadata on reading.

mod fit;
mod fit_dims;
mod fit_names;
mod fit_storage;
mod losses;
mod save;
mod sidecar;
mod training_state;

pub use losses::losses;
pub use save::{dry_run, forecast, save, write_to};
pub(crate) use sidecar::read::restore;
pub use training_state::{statistics_left_out, without_state};
