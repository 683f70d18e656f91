//! Naming of tensors in the target format.

use clap::Args;
use tenfold::Naming;

/// The flags about names, and about what is kept beside them.
#[derive(Args)]
#[command(next_help_heading = "Names")]
pub(crate) struct NamingFlags {
    /// Join paths into names by this letter, `/` unless given, and split names where paths are
    /// wanted; a backslash escapes it inside a name
    #[arg(long, value_name = "LETTER")]
    sep: Option<char>,
    /// Take this off the beginning of names
    #[arg(long, value_name = "PREFIX")]
    strip_prefix: Option<String>,
    /// Leave out statistics and the configs of optimizers
    #[arg(long)]
    no_state: bool,
    /// Do not carry as text what OUT's format has no word for: it is said or refused instead
    #[arg(long)]
    pub(crate) no_carry: bool,
}

impl NamingFlags {
    /// The corresponding library option.
    pub(crate) fn naming(&self) -> Naming {
        Naming {
            separator: self.sep,
            strip_prefix: self.strip_prefix.clone(),
            drop_state: self.no_state,
        }
    }
}
