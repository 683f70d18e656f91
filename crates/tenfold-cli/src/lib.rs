//! The command line of Tenfold as a library: `main` is one call of [`run`].
//!
//! Data goes to standard output, messages go to standard error, and [`run`] returns the [`Exit`]
//! code. Each command has a module in `commands`; `render` formats their output.
#![forbid(unsafe_code)]

mod args;
mod before;
mod commands;
mod edit;
mod error;
mod exit;
mod input;
mod options;
mod process;
mod rename;
mod render;
#[cfg(test)]
mod samples;
mod terminal;
mod transform;

use std::ffi::OsString;
use std::time::Instant;

use crate::error::Failure;
use crate::terminal::{Paint, Verbosity};
use args::Tenfold;
pub use exit::Exit;
pub use process::{install_signal_handlers, raise_open_files};
pub use terminal::Streams;

/// Runs the command line; the first argument is the name of the program.
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
    let begun = Instant::now();
    let words: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let parsed = crate::args::parse(&words);
    streams.set_voice(match &parsed {
        Ok(tenfold) => tenfold.voice.voice(),
        Err(_) => Verbosity {
            color: crate::args::color(&words),
            ..Verbosity::default()
        },
    });
    let exit = perform(&words, parsed, streams);
    if streams.voice().verbose {
        let time = begun.elapsed().as_secs_f64();
        let who = streams.paint().head("tenfold:");
        streams.say(&format!("{who} took {time:.3} s\n"));
    }
    exit
}

/// Runs other arguments from inside of a command, with the same verbosity.
fn run_again(words: &[OsString], streams: &mut Streams) -> Exit {
    perform(words, crate::args::parse(words), streams)
}

fn perform(
    words: &[OsString],
    parsed: Result<Tenfold, clap::Error>,
    streams: &mut Streams,
) -> Exit {
    let outcome = match parsed {
        Ok(tenfold) => crate::commands::run(&tenfold.command, streams),
        Err(answer) => give(&answer, words, streams),
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

/// Prints the messages of clap: help and the version on standard output, errors on standard error.
fn give(answer: &clap::Error, words: &[OsString], streams: &mut Streams) -> Result<Exit, Failure> {
    let text = answer.render();
    // Arguments may be file names that come from elsewhere.
    let is_safe = |word: &OsString| !word.to_string_lossy().contains(char::is_control);
    let is_painted = words.iter().all(is_safe);
    let text = |paint: Paint| {
        if paint.is_on && is_painted {
            text.ansi().to_string()
        } else {
            lines_of(&text.to_string())
        }
    };
    if answer.use_stderr() {
        streams.complain(&text(streams.paint()));
        return Ok(Exit::Trouble);
    }
    let text = text(streams.out.paint);
    streams.out.text(&text)?;
    Ok(Exit::Fine)
}

/// The lines of a text, each sanitized for a terminal.
fn lines_of(text: &str) -> String {
    let lines = text
        .split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => format!("{}\n", crate::terminal::plain(line)),
            None => crate::terminal::plain(line),
        });
    lines.collect()
}
