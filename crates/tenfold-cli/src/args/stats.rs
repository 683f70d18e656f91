//! The words after `tenfold stats`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tenfold::Fault;

use super::{Choice, Reading};

/// The arguments of `stats`.
#[derive(Args)]
pub(crate) struct Stats {
    /// The files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON, one object a file and line
    #[arg(long)]
    pub(crate) json: bool,
    /// Say everything about every tensor, as is done for a lone one
    #[arg(long)]
    pub(crate) long: bool,
    /// Draw how the values are distributed
    #[arg(long)]
    pub(crate) hist: bool,
    /// Into how many equal intervals the values are counted
    #[arg(long, value_name = "N", default_value_t = 20, requires = "hist",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) bins: u16,
    /// Draw the logarithms of the counts, so that few values are seen beside many
    #[arg(long, requires = "hist")]
    pub(crate) log: bool,
    /// Exit with 1 if a tensor has values that are NaN or infinite, or is zero or constant
    /// throughout
    #[arg(long, value_name = "FAULT,…", value_delimiter = ',', value_parser = faults())]
    pub(crate) fail_on: Vec<Fault>,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Reads the name of a fault.
fn faults() -> impl TypedValueParser<Value = Fault> {
    let words = Fault::ALL.iter().map(|fault| fault.as_str());
    PossibleValuesParser::new(words).try_map(|word| {
        let is_it = |fault: &&Fault| fault.as_str() == word;
        let found = Fault::ALL.iter().find(is_it).copied();
        found.ok_or("no such fault")
    })
}
