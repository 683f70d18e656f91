//! The process: signals, the limit on open files, launching the browser.

pub(crate) mod browser;
mod file_limit;
pub(crate) mod signals;

pub use file_limit::raise_open_files;
pub use signals::install_signal_handlers;
