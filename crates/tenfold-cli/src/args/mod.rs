//! The words on the command line.

mod convert;
mod limits;
mod size;
mod transform;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use tenfold::{Format, Mode, formats};

pub(crate) use convert::{Cast, Convert};
pub(crate) use limits::LimitFlags;
pub(crate) use transform::{Meant, Transform};

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
    Convert(Box<Convert>),
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
}
