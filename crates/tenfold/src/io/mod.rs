//! Where bytes come from and go to: files, pipes, memory, temporary files.

mod head;
mod hints;
mod missing;
#[cfg(feature = "mmap")]
mod mmap;
mod page_reader;
mod parallel;
mod platform;
pub mod presence;
mod progress;
mod save;
mod sibling;
mod sink;
mod source;
mod spool;
mod zip_end;

pub use head::Head;
pub(crate) use missing::Missing;
pub(crate) use page_reader::Pages;
pub(crate) use parallel::{Threads, alone, join, no_thread, ordered_pipeline, par_for_each, spawn};
pub use progress::Progress;
pub use save::atomic_file::remove_temp_files;
pub use save::folder::make_folder;
pub use save::{is_stream, save_with};
pub(crate) use sibling::{Lookup, Sibling, check_beside, is_closed, open_beside};
pub(crate) use sink::SiblingSink;
pub use sink::Sink;
pub(crate) use source::Packing;
pub use source::{Compute, Source};
pub use spool::Spool;
pub(crate) use spool::append_at;
pub(crate) use spool::deferred::Putting;
pub(crate) use spool::parallel_fill::in_parts;
pub(crate) use spool::scratch::Scratch;
pub(crate) use zip_end::{is_zip, zip_end};
