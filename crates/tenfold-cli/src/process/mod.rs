//! The process: signals, open files, the browser it starts.

pub(crate) mod browser;
mod file_limit;
pub(crate) mod signals;

pub use file_limit::raise_open_files;
pub use signals::install_signal_handlers;
