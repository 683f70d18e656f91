//! The words on the command line.

mod limits;
mod size;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use tenfold::{Aspect, Format, Mode, Number, formats};

pub(crate) use limits::LimitFlags;

/// One tool for every tensor file.
#[derive(Parser)]
#[command(
    name = "tenfold",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Exit codes: 0 fine, 1 the answer is no (a malformed file, say), 2 a usage or \
                  input/output problem, 3 refused because something would be lost."
)]
pub(crate) struct Tenfold {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What there is to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Say what is in files, from their headers alone
    #[command(after_help = "Example:\n  tenfold info model.zt\n  tenfold info --json *.zt")]
    Info(Files),
    /// Read files to the last byte and say whether they are sound
    #[command(after_help = "Example:\n  tenfold verify model.zt\n  \
                            tenfold verify --strict --json *.zt")]
    Verify(Files),
    /// Print the values of a file
    #[command(after_help = "Example:\n  tenfold show train.blz\n  \
                            tenfold show --json model.zt > model.json")]
    Show(Show),
    /// Write a file anew, in its own format or another
    #[command(
        after_help = "What the target cannot hold is said where all values survive, and \
                            refused where they do not.\n\n\
                            Example:\n  tenfold convert integrals.tens integrals.zt\n  \
                            tenfold convert model.zt w.npy --only enc.w\n  \
                            tenfold convert train.blz full.zt --allow train\n  \
                            tenfold convert old.zt - --to ztensor > new.zt"
    )]
    Convert(Convert),
    /// List the formats and what they hold
    #[command(after_help = "Example:\n  tenfold formats\n  tenfold formats blz")]
    Formats(Formats),
}

/// The arguments of the commands that take any number of files.
#[derive(Args)]
pub(crate) struct Files {
    /// The files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON, one object a file and line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The arguments of `show`.
#[derive(Args)]
pub(crate) struct Show {
    /// The file; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print all values, exactly, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

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
    pub(crate) reading: Reading,
}

/// The arguments of `formats`.
#[derive(Args)]
pub(crate) struct Formats {
    /// Say everything about this one
    #[arg(value_name = "NAME", value_parser = names())]
    pub(crate) format: Option<&'static dyn Format>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How files are read: the same for all commands that read any.
#[derive(Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Read as this format, whatever the content shows
    #[arg(short, long, visible_alias = "from", value_name = "NAME", value_parser = names())]
    pub(crate) format: Option<&'static dyn Format>,
    /// Let nothing pass that is worth a note
    #[arg(long, conflicts_with = "lenient")]
    pub(crate) strict: bool,
    /// Forgive harmless violations, with a note
    #[arg(long)]
    lenient: bool,
    /// Set an option of the format; `tenfold formats NAME` lists them
    #[arg(long = "opt", value_name = "KEY=VALUE", value_parser = option)]
    pub(crate) options: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,
}

impl Reading {
    /// How strictly headers are read.
    pub(crate) fn mode(&self) -> Mode {
        if self.lenient {
            Mode::Lenient
        } else {
            Mode::Strict
        }
    }
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
fn aspects() -> impl TypedValueParser<Value = Permission> {
    let words = Aspect::ALL.iter().map(|aspect| aspect.as_str());
    PossibleValuesParser::new(words.chain(["all"])).map(|word| {
        let is_it = |aspect: &&Aspect| aspect.as_str() == word;
        Aspect::ALL.iter().find(is_it).copied()
    })
}

/// Reads the name of a format.
fn names() -> impl TypedValueParser<Value = &'static dyn Format> {
    let names = formats::ALL.iter().map(|format| format.info().name);
    PossibleValuesParser::new(names).try_map(|name| named(&name))
}

fn named(name: &str) -> Result<&'static dyn Format, String> {
    tenfold::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = formats::ALL
            .iter()
            .map(|format| format.info().name)
            .collect();
        format!("the formats are {}", names.join(", "))
    })
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

fn option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("an option is KEY=VALUE".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Tenfold::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        for command in Tenfold::command().get_subcommands() {
            let after = command.get_after_help().unwrap().to_string();
            let example = format!("tenfold {}", command.get_name());
            assert!(after.contains(&example), "{example}");
        }
    }

    #[test]
    fn a_target_may_name_a_version() {
        let target = target("blz@1").ok().unwrap();
        assert_eq!(target.format.info().name, "blz");
        assert_eq!(target.version.as_deref(), Some("1"));
        let error = super::target("blz@7").err().unwrap();
        assert_eq!(error, "blz is written in version 1");
    }
}
