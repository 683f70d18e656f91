//! From a bundle to a file: what would be lost, what has to change, and the saving; and back from
//! what was carried.

mod carry;
mod companions;
mod cores;
mod dims;
mod draft;
mod folder;
mod keys;
mod kind;
mod losses;
mod lower;
mod opaque;
mod place;
mod restore;
mod save;
mod state;
mod typed;

pub use draft::remove_drafts;
pub use folder::make_folder;
pub use losses::losses;
pub use place::{is_stream, save_with};
pub(crate) use restore::restore;
pub use save::{forecast, save, write_to};
pub use state::{statistics_left_out, without_state};
