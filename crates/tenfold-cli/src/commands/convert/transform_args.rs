//! Flags of `convert` that change tensors.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tenfold::{ComplexPart, Rounding};

/// What is done to tensors between reading and writing, in this order.
#[derive(Args)]
#[command(
    next_help_heading = "Transforming, in this order; GLOB= means only the tensors that match"
)]
pub(crate) struct Transform {
    /// Store every cell of sparse tensors and trains; labels become positions, if `--allow labels`
    #[arg(long, value_name = "GLOB", num_args = 0..=1, require_equals = true,
          default_missing_value = "*")]
    pub(crate) dense: Option<String>,
    /// The value that absent cells get with `--dense`, such as `nan`
    #[arg(long, value_name = "[GLOB=]VALUE", value_parser = text, allow_hyphen_values = true)]
    pub(crate) fill: Vec<PerTensor<String>>,
    /// Write the labels of a dimension that become positions, one a line, in their order
    #[arg(long, value_name = "DIM=FILE", value_parser = labels_out)]
    pub(crate) labels_out: Vec<(String, PathBuf)>,
    /// Store all cells of packed tensors; the symmetries stay declared
    #[arg(long, value_name = "GLOB", num_args = 0..=1, require_equals = true,
          default_missing_value = "*")]
    pub(crate) unpack: Option<String>,
    /// Give the cells, in row-major order, other sizes; one may be -1 and is worked out
    #[arg(long, value_name = "[GLOB=]SIZES", value_parser = sizes, allow_hyphen_values = true)]
    pub(crate) reshape: Vec<PerTensor<Vec<Option<u64>>>>,
    /// Put the dimensions into another order, by number or name: `0,2,1`, `x,z,y` or `acb`
    #[arg(long, value_name = "[GLOB=]ORDER", value_parser = text)]
    pub(crate) permute: Vec<PerTensor<String>>,
    /// Name the dimensions, such as `x,y`; `_` is no name
    #[arg(long, value_name = "[GLOB=]NAMES", value_parser = names)]
    pub(crate) dims: Vec<PerTensor<Vec<Option<String>>>>,
    /// Give the positions along a dimension labels, one a line of FILE; for a mapped dimension that
    /// becomes positions, the order of its labels
    #[arg(long, value_name = "DIM=@FILE", value_parser = labels)]
    pub(crate) labels: Vec<(String, PathBuf)>,
    /// Take one part of complex numbers: `re`, `im`, `abs` or `arg`; of quaternions and octonions `re` or `abs`
    #[arg(long, value_name = "[GLOB=]PART", value_parser = part)]
    pub(crate) part: Vec<PerTensor<ComplexPart>>,
    /// Make every cell the mean of its orbit under a symmetry, written as for `--pack`, so that the
    /// values have it; given several times, under all that follow from them together
    #[arg(long, value_name = "[GLOB=]SYMMETRY", value_parser = text, allow_hyphen_values = true)]
    pub(crate) symmetrize: Vec<PerTensor<String>>,
    /// Find and declare the symmetries that values have, bit for bit or within `--symmetry-tol`,
    /// among up to 6 dimensions
    #[arg(long, value_name = "GLOB", num_args = 0..=1, require_equals = true,
          default_missing_value = "*")]
    pub(crate) detect_symmetry: Option<String>,
    /// Store only the cells that are not zero
    #[arg(long, value_name = "GLOB", num_args = 0..=1, require_equals = true,
          default_missing_value = "*")]
    pub(crate) sparse: Option<String>,
    /// Store one cell of every orbit of a symmetry: T[ab] = T[ba] is `ba`, a change of sign `-ba`,
    /// a conjugate `ba*`. Refused unless the values have it
    #[arg(long, value_name = "[GLOB=]SYMMETRY", value_parser = text, allow_hyphen_values = true)]
    pub(crate) pack: Vec<PerTensor<String>>,
    /// How far values may be from a symmetry, as a share of the largest; 0 forgives the sign of
    /// zeros
    #[arg(long, value_name = "T", value_parser = share)]
    pub(crate) symmetry_tol: Option<f64>,
    /// How `--cast` rounds, which comes next; before `--symmetrize` where it gives integers negatives or fractions
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Round::Nearest)]
    pub(crate) round: Round,
    /// Write complex numbers, quaternions and octonions as real numbers with their components along a
    /// last dimension, for formats that have none; `split` is the one way
    #[arg(long, value_name = "HOW", value_parser = ["split"])]
    pub(crate) complex: Option<String>,
}

/// How a cast rounds.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Round {
    /// To the nearest, ties to even
    Nearest,
    /// The rest is cut off, as Vespa does
    TowardZero,
}

impl From<Round> for Rounding {
    fn from(round: Round) -> Rounding {
        match round {
            Round::Nearest => Rounding::NearestEven,
            Round::TowardZero => Rounding::TowardZero,
        }
    }
}

/// The value of a flag, and the tensors it applies to.
#[derive(Clone)]
pub(crate) struct PerTensor<T> {
    /// A glob on tensor names; all tensors if there is none.
    pub(crate) glob: Option<String>,
    pub(crate) what: T,
}

/// Splits an argument at its last `=`: names may contain one, values do not.
pub(crate) fn split(text: &str) -> (Option<String>, &str) {
    match text.rsplit_once('=') {
        Some((glob, what)) => (Some(glob.to_owned()), what),
        None => (None, text),
    }
}

pub(crate) fn text(word: &str) -> Result<PerTensor<String>, String> {
    let (glob, what) = split(word);
    let what = what.to_owned();
    Ok(PerTensor { glob, what })
}

fn part(word: &str) -> Result<PerTensor<ComplexPart>, String> {
    let (glob, what) = split(word);
    let what = what
        .parse()
        .map_err(|error: tenfold::Error| error.to_string())?;
    Ok(PerTensor { glob, what })
}

fn labels(word: &str) -> Result<(String, PathBuf), String> {
    match word.split_once("=@") {
        Some((dim, file)) if !dim.is_empty() && !file.is_empty() => Ok((dim.into(), file.into())),
        _ => Err("labels are DIM=@FILE".into()),
    }
}

fn labels_out(word: &str) -> Result<(String, PathBuf), String> {
    match word.split_once('=') {
        Some((dim, file)) if !dim.is_empty() && !file.is_empty() => {
            // As spelled in `--labels`; a file that begins so can still be given as `./@file`.
            Ok((dim.into(), file.strip_prefix('@').unwrap_or(file).into()))
        }
        _ => Err("labels are written to DIM=FILE".into()),
    }
}

fn sizes(word: &str) -> Result<PerTensor<Vec<Option<u64>>>, String> {
    let (glob, list) = split(word);
    let what = size_list(list)?;
    Ok(PerTensor { glob, what })
}

/// Parses sizes, one of which may be left open.
pub(crate) fn size_list(list: &str) -> Result<Vec<Option<u64>>, String> {
    let size = |word: &str| match word.trim() {
        "-1" => Ok(None),
        number => number.parse().map(Some),
    };
    let sizes = match list {
        "" => Ok(vec![]),
        list => list.split([',', 'x']).map(size).collect(),
    };
    sizes.map_err(|_: std::num::ParseIntError| "sizes are such as 4,-1 or 4x-1".to_owned())
}

fn names(word: &str) -> Result<PerTensor<Vec<Option<String>>>, String> {
    let (glob, list) = split(word);
    let name = |word: &str| (word != "_").then(|| word.to_owned());
    let what: Vec<Option<String>> = list.split(',').map(|word| name(word.trim())).collect();
    if what.iter().flatten().any(String::is_empty) {
        return Err("a name is empty; `_` is no name".into());
    }
    Ok(PerTensor { glob, what })
}

pub(crate) fn share(word: &str) -> Result<f64, String> {
    let share: f64 = word.parse().map_err(|_| "not a number".to_owned())?;
    match share {
        0.0.. => Ok(share),
        _ => Err("less than nothing cannot be tolerated".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_may_be_written_either_way_and_one_left_open() {
        for word in ["4,-1,2", "4x-1x2", "4, -1, 2"] {
            assert_eq!(sizes(word).ok().unwrap().what, [Some(4), None, Some(2)]);
        }
        let meant = sizes("a=b/*=7").ok().unwrap();
        assert_eq!(
            (meant.glob.as_deref(), meant.what),
            (Some("a=b/*"), vec![Some(7)])
        );
        assert!(sizes("").ok().unwrap().what.is_empty());
        assert!(sizes("4,").is_err() && sizes("4,-2").is_err());
    }

    #[test]
    fn a_tolerance_is_a_number_that_is_not_negative() {
        assert!(share("0").is_ok() && share("1e-9").is_ok());
        assert!(share("-1").is_err() && share("nan").is_err() && share("x").is_err());
    }
}
