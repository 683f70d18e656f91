//! Which tensors of a file are meant.

use clap::Args;

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
