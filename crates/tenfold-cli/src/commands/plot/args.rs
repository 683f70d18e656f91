//! Arguments of `tenfold plot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tenfold_view::image::{ColorMap, Part as Component, Scale};
use tenfold_view::plot::{Ends, Kind};

use crate::args::{Part, Positional, Reading};

/// The arguments of `plot`.
#[derive(Args)]
pub(crate) struct Plot {
    /// The file, or a part of it as in `FILE:KEY[0:3]`; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) words: Positional,
    #[command(flatten)]
    pub(crate) part: Part,
    /// The picture to write; its name ends in .png or .svg
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Draw in the terminal
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub(crate) term: bool,
    /// Print what was drawn, and where, as JSON
    #[arg(long, conflicts_with = "term", help_heading = "Output")]
    pub(crate) json: bool,
    /// Replace a file that exists
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Pixels of the picture, right and down; in the terminal, letters
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Output")]
    pub(crate) size: Option<(u32, u32)>,
    /// What sort of picture; a line for one dimension, a heat map for more, unless it is said
    #[arg(long, value_enum, help_heading = "Picture")]
    pub(crate) kind: Option<Sort>,
    /// How numbers are spread, in a histogram their counts: linear, log or symlog
    #[arg(
        long,
        value_name = "SCALE",
        default_value = "linear",
        help_heading = "Picture"
    )]
    pub(crate) scale: Scale,
    /// The colours: viridis, cividis, grey, or blue-red around zero
    #[arg(
        long,
        value_name = "NAME",
        default_value = "viridis",
        help_heading = "Picture"
    )]
    pub(crate) colors: ColorMap,
    /// The ends of the numbers, as `-1:1`, or as percentiles of them, as `1%:99%`
    #[arg(
        long,
        value_name = "LOW:HIGH",
        allow_hyphen_values = true,
        help_heading = "Picture"
    )]
    pub(crate) range: Option<Ends>,
    /// Of elements of several numbers: real, imaginary, magnitude, phase, or 0 to 7
    #[arg(long, value_name = "PART", help_heading = "Picture")]
    pub(crate) component: Option<Component>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What sort of picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// Numbers as colours
    Heat,
    /// Rows as lines
    Line,
    /// How often numbers are how large
    Histogram,
}

impl From<Sort> for Kind {
    fn from(sort: Sort) -> Kind {
        match sort {
            Sort::Heat => Kind::Heat,
            Sort::Line => Kind::Line,
            Sort::Histogram => Kind::Histogram,
        }
    }
}

/// Parses a size such as `800x600`.
fn size(text: &str) -> Result<(u32, u32), String> {
    const SIDES: std::ops::RangeInclusive<u32> = 4..=8192;
    let side = |text: &str| text.parse().ok().filter(|side| SIDES.contains(side));
    let sides = text.split_once('x');
    sides
        .and_then(|(width, height)| side(width).zip(side(height)))
        .ok_or_else(|| "a size is WIDTHxHEIGHT, each from 4 to 8192".into())
}
