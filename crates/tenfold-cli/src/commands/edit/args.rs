//! Arguments of `tenfold edit`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Reading, option};
use crate::commands::convert::args::{Permission, aspects};
use crate::rename::Rename;

/// The arguments of `edit`.
#[derive(Args)]
pub(crate) struct Edit {
    /// The file to change
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write the result here, and leave FILE as it is
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Give tensors new names, as `sed -E` would: `\1` is the first group, `g` means every match
    #[arg(long, value_name = "s/OLD/NEW/", value_parser = Rename::parse)]
    pub(crate) rename: Vec<Rename>,
    /// Leave out the tensors whose names match, and their statistics
    #[arg(long, value_name = "GLOB")]
    pub(crate) drop: Vec<String>,
    /// Set metadata of the file, of a tensor, or a value of an optimizer. What exists keeps its
    /// type; what is new is read as JSON if it is that, else as text
    #[arg(long, value_name = "[TENSOR:]KEY=VALUE", value_parser = option)]
    pub(crate) set: Vec<(String, String)>,
    /// Remove metadata
    #[arg(long, value_name = "[TENSOR:]KEY")]
    pub(crate) unset: Vec<String>,
    /// Leave out all statistics of tensors, such as an optimizer's moments
    #[arg(long)]
    pub(crate) strip_state: bool,
    /// Say what would change, and change nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Permit these losses, or all that can be
    #[arg(long, value_name = "ASPECT,…|all", value_delimiter = ',', value_parser = aspects())]
    pub(crate) allow: Vec<Permission>,
    /// Replace OUT if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Do not wait for the disk: quicker, but a power failure may lose the change
    #[arg(long)]
    pub(crate) no_sync: bool,
    /// Print what changes as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
