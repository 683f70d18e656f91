//! Flags of every command: verbosity, color and progress.

use clap::{Args, ValueEnum};

use super::stdio::Verbosity;

/// How much is said, and how.
#[derive(Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct OutputFlags {
    /// Print nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more: what files are read as, what is written, how long it takes
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Use colours: auto, always or never; `auto` is on a terminal, and as NO_COLOR and
    /// CLICOLOR_FORCE say
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, hide_short_help = true, value_enum)]
    color: ColorWhen,
    /// Show how far long work is: auto, always or never; `auto` is on a terminal
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, hide_short_help = true, value_enum)]
    progress: ColorWhen,
}

impl OutputFlags {
    pub(crate) fn voice(&self) -> Verbosity {
        Verbosity {
            quiet: self.quiet,
            verbose: self.verbose,
            color: self.color,
            progress: self.progress,
        }
    }
}

/// Whether something is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}
