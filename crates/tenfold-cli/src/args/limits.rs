//! One `--max-NAME` flag for every limit of the library.

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use tenfold::{LimitInfo, Limits};

use super::size::size;

/// The limits, as far as flags raise or lower them.
pub(crate) struct LimitFlags(pub(crate) Limits);

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
                .help(format!("{} [default: {}]", limit.about, limit.default))
                .help_heading("Limits, in numbers such as 1_000_000, 64MiB or 2GB")
                .hide_short_help(true)
        };
        command.args(Limits::ALL.iter().map(arg))
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
        Ok(LimitFlags(limits))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = LimitFlags::from_arg_matches(matches)?;
        Ok(())
    }
}
