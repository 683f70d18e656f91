//! The words after `tenfold convert`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tenfold::{Allow, Aspect, Format, Number};

use super::naming::NamingFlags;
use super::{Reading, Transform, named};

/// The arguments of `convert`.
#[derive(Args)]
pub(crate) struct Convert {
    /// The file to read; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The file to write; `-` is standard output
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format to write, if OUT's name does not say, and perhaps its version
    #[arg(long, value_name = "FORMAT[@VERSION]", value_parser = target)]
    pub(crate) to: Option<Target>,
    /// Take only the tensors whose names match; `*` stands for any text, `?` for any letter
    #[arg(long, visible_alias = "include", value_name = "GLOB")]
    pub(crate) only: Vec<String>,
    /// Leave out the tensors whose names match
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Write another number type: all tensors, or those whose names match. May round; a value
    /// that has no room is refused unless `--allow precision`
    #[arg(long, visible_alias = "dtype", value_name = "[GLOB=]DTYPE", value_parser = cast)]
    pub(crate) cast: Vec<Cast>,
    /// Permit these losses, or all that can be
    #[arg(long, value_name = "ASPECT,…|all", value_delimiter = ',', value_parser = aspects())]
    pub(crate) allow: Vec<Permission>,
    /// Replace OUT if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not wait for the disk: quicker, but a power failure may lose OUT
    #[arg(long)]
    pub(crate) no_sync: bool,
    #[command(flatten)]
    pub(crate) naming: NamingFlags,
    #[command(flatten)]
    pub(crate) transform: Transform,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What `--to` says.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) format: &'static dyn Format,
    pub(crate) version: Option<String>,
}

/// One word of `--allow`: an aspect, or all of them.
pub(crate) type Permission = Option<Aspect>;

/// Reads the name of an aspect, or `all`.
pub(super) fn aspects() -> impl TypedValueParser<Value = Permission> {
    let words = Aspect::ALL.iter().map(|aspect| aspect.as_str());
    PossibleValuesParser::new(words.chain(["all"])).map(|word| {
        let is_it = |aspect: &&Aspect| aspect.as_str() == word;
        Aspect::ALL.iter().find(is_it).copied()
    })
}

/// What the words of `--allow` permit.
pub(crate) fn allow(permissions: &[Permission]) -> Allow {
    let aspects: Option<Vec<Aspect>> = permissions.iter().copied().collect();
    aspects.map_or(Allow::Everything, Allow::These)
}

fn target(text: &str) -> Result<Target, String> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let format = named(name)?;
    let versions = format.info().versions;
    match version {
        Some(version) if !versions.contains(&version) => Err(format!(
            "{name} is written in version {}",
            versions.join(" or ")
        )),
        _ => Ok(Target {
            format,
            version: version.map(str::to_owned),
        }),
    }
}

/// What `--cast` says.
#[derive(Clone)]
pub(crate) struct Cast {
    /// The names of the tensors that are meant; all if there is none.
    pub(crate) glob: Option<String>,
    pub(crate) number: Number,
}

fn cast(text: &str) -> Result<Cast, String> {
    let (glob, name) = match text.rsplit_once('=') {
        Some((glob, name)) => (Some(glob.to_owned()), name),
        None => (None, text),
    };
    let found = Number::ALL.iter().find(|number| number.as_str() == name);
    let number = found.copied().ok_or_else(|| {
        let names: Vec<&str> = Number::ALL.iter().map(|number| number.as_str()).collect();
        format!("the number types are {}", names.join(", "))
    })?;
    Ok(Cast { glob, number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_may_name_a_version() {
        let target = target("blz@1").ok().unwrap();
        assert_eq!(target.format.info().name, "blz");
        assert_eq!(target.version.as_deref(), Some("1"));
        let error = super::target("blz@7").err().unwrap();
        assert_eq!(error, "blz is written in version 1");
    }
}
