//! Arguments of `tenfold stats`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tenfold::Finding;

use crate::args::{Choice, Reading};

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
    /// Exit with 1 if a tensor has NaN or infinite values, is zero or constant throughout, or could
    /// not be read
    #[arg(long, value_name = "FINDING,…", value_delimiter = ',', value_parser = findings())]
    pub(crate) fail_on: Vec<Finding>,
    /// Let `--fail-on` pass over tensors that could not be read
    #[arg(long, requires = "fail_on")]
    pub(crate) skip_unreadable: bool,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Parses the name of a finding.
fn findings() -> impl TypedValueParser<Value = Finding> {
    let words = Finding::ALL.iter().map(|finding| finding.as_str());
    PossibleValuesParser::new(words).try_map(|word| {
        let is_it = |finding: &&Finding| finding.as_str() == word;
        let found = Finding::ALL.iter().find(is_it).copied();
        found.ok_or("no such finding")
    })
}
