//! The `tenfold` program.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use tenfold_cli::Streams;

fn main() -> ExitCode {
    tenfold_cli::install_signal_handlers();
    tenfold_cli::raise_open_files();
    tenfold_cli::run(std::env::args_os(), &mut Streams::process()).into()
}
