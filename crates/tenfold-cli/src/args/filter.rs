//! Tensor selection: `--only`, `--exclude` and statistics.

use clap::Args;

use super::Part;

/// A choice of tensors by name.
#[derive(Args, Default)]
pub(crate) struct Choice {
    /// Take only the tensors whose names match; `*` stands for any text, `?` for any letter
    #[arg(long, visible_alias = "include", value_name = "GLOB")]
    pub(crate) only: Vec<String>,
    /// Leave out the tensors whose names match
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
}

/// A choice of tensors by name, or a part of one.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Selection {
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) part: Part,
}
