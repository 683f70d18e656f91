//! Arguments of `tenfold info`.

use clap::{Args, ValueEnum};

use crate::args::{Choice, Files};

/// The arguments of `info`.
#[derive(Args)]
pub(crate) struct Describe {
    /// Fold names into a tree at each `/` and `.`, with sums
    #[arg(long, conflicts_with = "json")]
    pub(crate) tree: bool,
    /// The order of the tensors; in JSON that of the file unless another is asked for
    #[arg(long, value_name = "ORDER", value_enum)]
    pub(crate) sort: Option<Sort>,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) files: Files,
}

/// In which order tensors are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// By name, numbers in it by value: `layer.2` before `layer.10`
    Name,
    /// The largest first
    Size,
    /// As in the file
    File,
}
