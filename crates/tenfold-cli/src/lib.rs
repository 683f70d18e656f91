//! The command line of Tenfold, as a library: `main` is one call of [`run`].
//!
//! Data goes to the output, words go to the errors, and what [`run`] gives back is the [`Exit`]
//! code. Each command has a file in `commands`; what they print with is in `render`.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod exit;
mod failure;
mod input;
mod options;
mod render;
#[cfg(test)]
mod samples;
mod select;
mod streams;
mod transform;

use std::ffi::OsString;

use clap::Parser;

use args::Tenfold;
pub use exit::Exit;
use failure::Failure;
pub use streams::Streams;

/// Does what the arguments say; the first is the name of the program.
///
/// ```
/// use tenfold_cli::{Exit, Streams, run};
///
/// let mut streams = Streams::new(std::io::empty(), std::io::sink(), std::io::sink());
/// assert_eq!(run(["tenfold", "formats"], &mut streams), Exit::Fine);
/// assert_eq!(run(["tenfold", "info", "no/such/file"], &mut streams), Exit::Trouble);
/// ```
pub fn run<I>(args: I, streams: &mut Streams) -> Exit
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    let outcome = match Tenfold::try_parse_from(args) {
        Ok(tenfold) => commands::run(&tenfold.command, streams),
        Err(answer) => give(&answer, streams),
    };
    let flushed = streams.out.flush().map_err(Failure::from);
    let exits = [outcome, flushed.map(|()| Exit::Fine)].map(|outcome| {
        outcome.unwrap_or_else(|failure| {
            streams.report(&failure);
            failure.exit
        })
    });
    exits.into_iter().max().unwrap_or(Exit::Fine)
}

/// Prints what clap has to say: help and the version on the output, complaints on the errors.
fn give(answer: &clap::Error, streams: &mut Streams) -> Result<Exit, Failure> {
    let text = answer.render().to_string();
    if answer.use_stderr() {
        streams.say(&text);
        return Ok(Exit::Trouble);
    }
    streams.out.text(&text)?;
    Ok(Exit::Fine)
}
