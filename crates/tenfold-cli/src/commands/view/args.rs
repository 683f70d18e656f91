//! Arguments of `tenfold view`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Choice, Reading};

/// The arguments of `view`.
#[derive(Args)]
pub(crate) struct View {
    /// The files, or tensors of them as in `FILE:KEY` or `FILE:KEY[0:3]`; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print the address of the page and leave opening it to others
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Listen on this port; any that is free if none is named
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
