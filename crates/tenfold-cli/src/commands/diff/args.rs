//! Arguments of `tenfold diff`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{KeyValues, Reading, given};

/// The arguments of `diff`.
#[derive(Args)]
pub(crate) struct Diff {
    /// The first file; `-` is standard input
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The second file, of any format
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// List at most N changed tensors, those that changed most [default: 20; all with --json]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Compare only tensors whose names match, in A after `--map`; `*` stands for any text, `?` for any
    /// letter
    #[arg(long, visible_alias = "include", value_name = "GLOB")]
    pub(crate) only: Vec<String>,
    /// Leave out the tensors whose names match
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Compare tensor A of the first file with tensor B of the second; each `*` in B takes the
    /// text of the one in A
    #[arg(long, value_name = "A=B", value_parser = map)]
    pub(crate) map: Vec<(String, String)>,
    /// Compare metadata, names of dimensions and declared symmetries too
    #[arg(long)]
    pub(crate) meta: bool,
    #[command(flatten)]
    pub(crate) sameness: ToleranceFlags,
    /// Set options of A's format alone, as `--opt` does of both
    #[arg(long, value_name = "KEY=VALUE[,…]", value_parser = given)]
    #[arg(help_heading = "Reading")]
    pub(crate) opt_a: Vec<KeyValues>,
    /// Set options of B's format alone
    #[arg(long, value_name = "KEY=VALUE[,…]", value_parser = given)]
    #[arg(help_heading = "Reading")]
    pub(crate) opt_b: Vec<KeyValues>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// When cells are the same.
#[derive(Args)]
#[command(next_help_heading = "What is the same")]
pub(crate) struct ToleranceFlags {
    /// Cells are the same if |a-b| <= atol + rtol * max(|a|, |b|)
    #[arg(long, value_name = "R", default_value = "0", value_parser = amount)]
    pub(crate) rtol: f64,
    /// See --rtol
    #[arg(long, value_name = "X", default_value = "0", value_parser = amount)]
    pub(crate) atol: f64,
    /// So are floats at most N units in the last place apart, both rounded to the coarser type
    #[arg(long, value_name = "N")]
    pub(crate) ulp: Option<u64>,
    /// So are two NaN, whatever their bits
    #[arg(long)]
    pub(crate) equal_nan: bool,
    /// Tensors may be the same though their number types differ
    #[arg(long)]
    pub(crate) ignore_dtype: bool,
}

fn map(text: &str) -> Result<(String, String), String> {
    let (a, b) = text
        .split_once('=')
        .ok_or("a pair of names A=B is wanted")?;
    let stars = |glob: &str| glob.matches('*').count();
    if stars(b) > stars(a) {
        return Err(format!("{b:?} has more stars than {a:?} has text for"));
    }
    Ok((a.into(), b.into()))
}

fn amount(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount >= 0.0 && amount.is_finite() => Ok(amount),
        _ => Err("a number such as 1e-5 is wanted, not a negative one".into()),
    }
}
