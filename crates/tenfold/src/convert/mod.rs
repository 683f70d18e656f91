//! From a bundle to a file: what would be lost, what has to change, and the saving.

mod dims;
mod draft;
mod losses;
mod lower;
mod save;

pub use draft::remove_drafts;
pub use losses::losses;
pub use save::{save, write_to};
