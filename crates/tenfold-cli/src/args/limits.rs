//! One `--max-NAME` flag for every limit of the library, and `--memory`.

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use tenfold::{LimitInfo, Limits};

use super::size::size;

/// The limits after the flags that raise or lower them.
#[derive(Clone)]
pub(crate) struct LimitFlags(pub(crate) Limits);

const MEMORY: &str = "memory";

/// Parses a memory size that is large enough to work with.
fn memory(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 1 << 20;
    match size(text)? {
        less if less < LEAST => Err("at least 1MiB is needed".into()),
        enough => Ok(enough),
    }
}

fn flag(limit: &LimitInfo) -> String {
    format!("max-{}", limit.name)
}

impl Args for LimitFlags {
    fn augment_args(command: Command) -> Command {
        let arg = |limit| {
            Arg::new(flag(limit))
                .long(flag(limit))
                .value_name("N")
                .value_parser(size)
                .help(format!(
                    "{} [default: {}]",
                    limit.about,
                    limit.default_text()
                ))
                .help_heading("Limits, in numbers such as 1_000_000, 64MiB or 2GB")
                .hide_short_help(true)
        };
        let memory = Arg::new(MEMORY)
            .long(MEMORY)
            .value_name("SIZE")
            .value_parser(memory)
            .help(format!(
                "Work in so much memory, with temporary files for what needs more \
                 [default: {}MiB]",
                Limits::MEMORY >> 20
            ));
        command.arg(memory).args(Limits::ALL.iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        LimitFlags::augment_args(command)
    }
}

impl FromArgMatches for LimitFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LimitFlags, Error> {
        let mut limits = Limits::default();
        for limit in Limits::ALL {
            if let Some(value) = matches.get_one::<u64>(&flag(limit)) {
                limits
                    .set(limit.name, *value)
                    .map_err(|error| Error::raw(ErrorKind::ValueValidation, error))?;
            }
        }
        if let Some(value) = matches.get_one::<u64>(MEMORY) {
            limits.memory = *value;
        }
        Ok(LimitFlags(limits))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = LimitFlags::from_arg_matches(matches)?;
        Ok(())
    }
}
