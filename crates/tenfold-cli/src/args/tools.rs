//! Arguments of commands about the program itself.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// The arguments of `demo`.
#[derive(Args)]
pub(crate) struct Demo {
    /// The folder to make; one that a demo made before is made anew
    #[arg(value_name = "DIR", default_value = "tenfold-demo")]
    pub(crate) folder: PathBuf,
}

/// The arguments of `completions`.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// The arguments of `man`.
#[derive(Args)]
pub(crate) struct Man {
    /// Write a page for every command into this folder, rather than print the main one
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
