//! References to a tensor or slice, given apart from the file name.

use clap::Args;

/// A tensor and a slice as flags.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Part {
    /// Take this tensor; `FILE:KEY` says the same
    #[arg(long, value_name = "KEY")]
    pub(crate) tensor: Option<String>,
    /// Take this part of it, by NumPy's rules, as in `0:3, ::2, -1`; `FILE:KEY[0:3]` says the same
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    pub(crate) slice: Option<String>,
}

/// A tensor and a slice as words after the file.
#[derive(Args)]
pub(crate) struct Positional {
    /// The tensor, if not all; `FILE:KEY` says the same
    #[arg(value_name = "KEY", conflicts_with = "tensor")]
    pub(crate) key: Option<String>,
    /// A part of it, by NumPy's rules, as in `0:3, ::2, -1`; `FILE:KEY[0:3]` says the same
    #[arg(
        value_name = "SLICE",
        conflicts_with = "slice",
        allow_hyphen_values = true
    )]
    pub(crate) places: Option<String>,
}
