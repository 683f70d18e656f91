//! Arguments of `tenfold verify`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Choice, Files, Target, target};

/// The arguments of `verify`.
#[derive(Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Save the tensors of a damaged file that are provably whole as OUT, and list what is lost
    #[arg(long, value_name = "OUT", conflicts_with_all = ["strict", "only", "exclude"])]
    pub(crate) salvage: Option<PathBuf>,
    /// The format of OUT, if its name does not say, and perhaps its version
    #[arg(long, value_name = "FORMAT[@VERSION]", value_parser = target, requires = "salvage")]
    pub(crate) to: Option<Target>,
    /// Replace OUT if it exists
    #[arg(long, requires = "salvage")]
    pub(crate) force: bool,
}
