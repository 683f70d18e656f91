//! Arguments of `tenfold compress`, `reconstruct` and `tt`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tenfold::Number;
use tenfold_train::Caps;

use crate::args::{Files, Part, Reading, Saving, Selection, number};
use crate::commands::convert::args::{Permission, aspects};
use crate::commands::convert::transform_args::{PerTensor, share, size_list, text};

/// The arguments of `compress`.
#[derive(Args)]
pub(crate) struct Compress {
    /// The file to read, or a part of it as in `FILE:KEY[0:3]` or `FILE KEY 0:3`, then the file to
    /// write. `-` is standard input or output
    #[arg(required = true, value_name = "IN… OUT", num_args = 1..=4)]
    pub(crate) words: Vec<PathBuf>,
    /// Measure the true error too, in one more pass over the tensor
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print how large the train is at each power of ten between two tolerances, such as
    /// `1e-1..1e-8`; OUT is written only if `--eps` says which one
    #[arg(long, value_name = "A..B", value_parser = tolerances)]
    pub(crate) sweep: Option<Tolerances>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) nearness: Tolerance,
    /// Put the dimensions into another order first, by number or name: `0,2,1`, `x,z,y` or `acb`;
    /// neighbors that belong together make smaller trains
    #[arg(long, value_name = "[GLOB=]ORDER", value_parser = text, help_heading = "Shape")]
    pub(crate) permute: Vec<PerTensor<String>>,
    #[command(flatten)]
    pub(crate) reshaping: Reshaping,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) saving: Saving,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How near a train must be, and how large it may be.
#[derive(Args, Default)]
#[command(next_help_heading = "Nearness")]
pub(crate) struct Tolerance {
    /// How far the train may be from the tensor, as a part of its norm: a bound that is proven
    #[arg(long, visible_alias = "rel-error", value_name = "E", value_parser = tolerance)]
    pub(crate) eps: Option<f64>,
    /// How far the train may be from the tensor: the norm of the difference
    #[arg(long, value_name = "E", value_parser = tolerance)]
    pub(crate) abs_error: Option<f64>,
    /// The largest rank, or one for every bond, such as `4,8,4`
    #[arg(long, value_name = "R", value_parser = ranks)]
    pub(crate) max_rank: Option<Caps>,
    /// If the ranks do not allow the error, take the nearest train found and say how near it is
    #[arg(long, requires = "max_rank")]
    pub(crate) best_effort: bool,
}

/// The shape in which a tensor is compressed.
#[derive(Args, Default)]
#[command(next_help_heading = "Shape")]
#[group(multiple = false)]
pub(crate) struct Reshaping {
    /// Compress under other sizes, of the cells in row-major order; one may be -1
    #[arg(long, value_name = "SIZES", value_parser = sizes, allow_hyphen_values = true)]
    pub(crate) reshape: Option<Sizes>,
    /// Compress 2^N cells as N dimensions of size 2
    #[arg(long, value_name = "N")]
    pub(crate) qubits: Option<u32>,
    /// Split every dimension into its prime factors, the largest first
    #[arg(long)]
    pub(crate) qtt: bool,
}

/// Sizes of dimensions, one of which may be left open.
#[derive(Clone)]
pub(crate) struct Sizes(pub(crate) Vec<Option<u64>>);

/// Tolerances, loosest first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tolerances(pub(crate) Vec<f64>);

/// The arguments of `reconstruct`.
#[derive(Args)]
pub(crate) struct Reconstruct {
    /// The file to read, or a part of it as in `FILE:KEY` or `FILE KEY`, then the file to write.
    /// `-` is standard input or output
    #[arg(required = true, value_name = "IN… OUT", num_args = 1..=4)]
    pub(crate) words: Vec<PathBuf>,
    /// Write this number type, rounded to the nearest; a value that has no room is refused unless
    /// `--allow precision`
    #[arg(long, visible_alias = "dtype", value_name = "DTYPE", value_parser = number)]
    pub(crate) cast: Option<Number>,
    /// Give the tensor the number type, the shape and the names of dimensions that it has here: in
    /// the file that was compressed, or one like it
    #[arg(long, value_name = "FILE")]
    pub(crate) like: Option<PathBuf>,
    /// Permit these losses, or all that can be
    #[arg(long, value_name = "ASPECT,…|all", value_delimiter = ',', value_parser = aspects())]
    pub(crate) allow: Vec<Permission>,
    /// Print what was written, and what is lost, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) part: Part,
    #[command(flatten)]
    pub(crate) saving: Saving,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The arguments of `tt`.
#[derive(Args)]
pub(crate) struct Tt {
    #[command(subcommand)]
    pub(crate) command: TtCommand,
}

/// What there is to do with trains.
#[derive(Subcommand)]
pub(crate) enum TtCommand {
    /// Say how trains are built: ranks, sizes, norms, and the singular values at every bond
    #[command(after_help = "Example:\n  tenfold tt info field.blz\n  \
                            tenfold tt info --json field.blz")]
    Info(Files),
    /// Write trains anew with smaller ranks
    #[command(
        after_help = "Example:\n  tenfold tt round field.blz small.blz --eps 1e-3\n  \
                            tenfold tt round field.blz eight.blz --max-rank 8"
    )]
    Round(TtRound),
    /// Print the inner product of two trains: the sum of conj(A) times B over all cells; of complex
    /// ones, its real and its imaginary part
    #[command(after_help = "Example:\n  tenfold tt dot field.blz field.blz")]
    Dot(TtDot),
    /// Write the sum of two trains, whose ranks add up: `tt round` makes them small again
    #[command(after_help = "Example:\n  tenfold tt add field.blz field.blz twice.blz")]
    Add(TtSum),
    /// Write the difference of two trains, A minus B, whose ranks add up
    #[command(after_help = "Example:\n  tenfold tt sub field.blz field.blz difference.blz")]
    Sub(TtSum),
    /// Print how far apart two trains are: the norm of A minus B, without expanding them
    #[command(after_help = "Example:\n  tenfold tt distance field.blz field.blz")]
    Distance(TtDot),
    /// Print the norm of a train: the root of the sum of squares over all cells
    #[command(after_help = "Example:\n  tenfold tt norm field.blz")]
    Norm(Files),
}

/// The arguments of `tt round`.
#[derive(Args)]
#[group(id = "smallness", args = ["eps", "max_rank"], required = true, multiple = true)]
pub(crate) struct TtRound {
    /// The file to read, or a tensor of it as in `FILE:KEY`, then the file to write
    #[arg(required = true, value_name = "IN OUT", num_args = 1..=2)]
    pub(crate) words: Vec<PathBuf>,
    /// How far the new train may be from the old one, as a part of its norm
    #[arg(long, value_name = "E", value_parser = tolerance)]
    pub(crate) eps: Option<f64>,
    /// The largest rank, whatever that costs
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_rank: Option<u32>,
    /// Permit these losses, or all that can be: `train` expands to all cells
    #[arg(long, value_name = "ASPECT,…|all", value_delimiter = ',', value_parser = aspects())]
    pub(crate) allow: Vec<Permission>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) saving: Saving,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The arguments of `tt add` and `tt sub`.
#[derive(Args)]
pub(crate) struct TtSum {
    /// The first train
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The second train
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// Permit these losses, or all that can be: `train` expands to all cells
    #[arg(long, value_name = "ASPECT,…|all", value_delimiter = ',', value_parser = aspects())]
    pub(crate) allow: Vec<Permission>,
    #[command(flatten)]
    pub(crate) saving: Saving,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The arguments of `tt dot` and `tt distance`.
#[derive(Args)]
pub(crate) struct TtDot {
    /// The first train; of complex ones the conjugate counts
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The second train
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

pub(crate) fn tolerance(word: &str) -> Result<f64, String> {
    match share(word)? {
        error if error.is_finite() => Ok(error),
        _ => Err("a tolerance is finite".into()),
    }
}

fn ranks(word: &str) -> Result<Caps, String> {
    let rank = |word: &str| match word.trim().parse() {
        Ok(0) | Err(_) => Err("ranks are 1 or more, such as 8 or 4,8,4".to_owned()),
        Ok(rank) => Ok(rank),
    };
    if word.contains(',') {
        word.split(',')
            .map(rank)
            .collect::<Result<_, _>>()
            .map(Caps::Each)
    } else {
        rank(word).map(Caps::All)
    }
}

fn sizes(word: &str) -> Result<Sizes, String> {
    size_list(word).map(Sizes)
}

fn tolerances(word: &str) -> Result<Tolerances, String> {
    let wrong = || "a sweep is between powers of ten, such as 1e-1..1e-8".to_owned();
    let exponent = |word: &str| {
        let value: f64 = word.trim().parse().ok()?;
        (-16..=0_i16).find(|exponent| format!("1e{exponent}").parse() == Ok(value))
    };
    let (one, other) = word.split_once("..").ok_or_else(wrong)?;
    let ends = exponent(one).zip(exponent(other)).ok_or_else(wrong)?;
    let (loose, tight) = (ends.0.max(ends.1), ends.0.min(ends.1));
    let exponents = (tight..=loose).rev();
    let parsed = exponents.map(|exponent| format!("1e{exponent}").parse().map_err(|_| wrong()));
    parsed.collect::<Result<_, _>>().map(Tolerances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_goes_from_the_loosest_to_the_tightest() {
        let wanted = Tolerances(vec![0.1, 0.01, 0.001]);
        for word in ["1e-1..1e-3", "1e-3..1e-1", "0.1..0.001"] {
            assert_eq!(tolerances(word), Ok(wanted.clone()), "{word}");
        }
        for word in ["1e-1", "2e-1..1e-3", "a..b", "1e-1..1e-99", ".."] {
            assert!(tolerances(word).is_err(), "{word}");
        }
    }

    #[test]
    fn one_rank_is_for_every_bond_and_a_list_for_each() {
        assert_eq!(ranks("8"), Ok(Caps::All(8)));
        assert_eq!(ranks("4, 8,4"), Ok(Caps::Each(vec![4, 8, 4])));
        assert!(ranks("0").is_err() && ranks("4,").is_err() && ranks("-1").is_err());
        assert!(tolerance("inf").is_err() && tolerance("1e-6").is_ok());
    }
}
