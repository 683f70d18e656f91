//! Arguments of `tenfold convert`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tenfold::ops::CastRule;
use tenfold::{Allow, Aspect};

use crate::args::{NamingFlags, Output, Reading, Selection, number};
use crate::commands::Transform;
use crate::commands::compress::args::tolerance;
use crate::rename::Rename;

/// The arguments of `convert`.
#[derive(Args)]
pub(crate) struct Convert {
    /// The files to read, or parts of them as in `FILE:KEY[0:3]`, then the file to write; several
    /// are put together. `-` is standard input or output
    #[arg(required = true, value_name = "IN… OUT")]
    pub(crate) words: Vec<PathBuf>,
    /// Write another number type: all tensors, or those whose names match. May round; a value
    /// that has no room is refused unless `--allow precision`
    #[arg(long, visible_alias = "dtype", value_name = "[GLOB=]DTYPE", value_parser = cast)]
    pub(crate) cast: Vec<CastRule>,
    /// Turn tensors into trains that are as near to them as this, relative to their norm, as
    /// `tenfold compress` does
    #[arg(long, visible_alias = "rel-error", value_name = "E", value_parser = tolerance)]
    pub(crate) eps: Option<f64>,
    /// Permit these losses, or all that can be
    #[arg(long, value_name = "ASPECT,…|all", value_delimiter = ',', value_parser = aspects())]
    pub(crate) allow: Vec<Permission>,
    /// Print what was written, and what is lost, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) renaming: Renaming,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) naming: NamingFlags,
    #[command(flatten)]
    pub(crate) transform: Transform,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What tensors are called.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct Renaming {
    /// Change names by a rule as of `sed -E`, such as `s/^model\.//`, with `g` or `i` after it
    #[arg(long, value_name = "s/OLD/NEW/", value_parser = Rename::parse)]
    pub(crate) rename: Vec<Rename>,
    /// Put the name of its file before the name of every tensor
    #[arg(long)]
    pub(crate) prefix_stem: bool,
}

/// One value of `--allow`: an aspect, or all of them.
pub(crate) type Permission = Option<Aspect>;

/// Parses the name of an aspect, or `all`.
pub(crate) fn aspects() -> impl TypedValueParser<Value = Permission> {
    let words = Aspect::ALL.iter();
    let words = words.map(|aspect| PossibleValue::new(aspect.as_str()).help(aspect.about()));
    let all = PossibleValue::new("all").help("all of these");
    PossibleValuesParser::new(words.chain([all])).map(|word| {
        let is_it = |aspect: &&Aspect| aspect.as_str() == word;
        Aspect::ALL.iter().find(is_it).copied()
    })
}

/// The aspects permitted by `--allow`.
pub(crate) fn allow(permissions: &[Permission]) -> Allow {
    let aspects: Option<Vec<Aspect>> = permissions.iter().copied().collect();
    aspects.map_or(Allow::Everything, Allow::These)
}

fn cast(text: &str) -> Result<CastRule, String> {
    let (glob, name) = match text.rsplit_once('=') {
        // NumPy's sign for native byte order, as in `=f4`, is not a separator.
        Some(("", _)) | None => (None, text),
        Some((glob, name)) => (Some(glob.to_owned()), name),
    };
    let number = number(name)?;
    Ok(CastRule { glob, number })
}
