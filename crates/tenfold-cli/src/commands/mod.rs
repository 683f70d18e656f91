//! The commands, a file each.

mod completions;
mod compress;
mod convert;
mod demo;
mod diff;
mod edit;
mod formats;
mod hash;
mod info;
mod man;
mod output;
mod plot;
mod reconstruct;
mod salvage;
mod show;
mod stats;
mod tt;
mod verify;
mod view;

use std::path::{Path, PathBuf};

use crate::args::Command;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::streams::Streams;

/// What comes of a command.
type Outcome = Result<Exit, Failure>;

/// Runs a command.
pub(crate) fn run(command: &Command, streams: &mut Streams) -> Outcome {
    match command {
        Command::Info(args) => info::run(args, streams),
        Command::Verify(args) => verify::run(args, streams),
        Command::Show(args) => show::run(args, streams),
        Command::Convert(args) => convert::run(args, streams),
        Command::Compress(args) => compress::run(args, streams),
        Command::Reconstruct(args) => reconstruct::run(args, streams),
        Command::Tt(args) => tt::run(args, streams),
        Command::Stats(args) => stats::run(args, streams),
        Command::Hash(args) => hash::run(args, streams),
        Command::Diff(args) => diff::run(args, streams),
        Command::Edit(args) => edit::run(args, streams),
        Command::View(args) => view::run(args, streams),
        Command::Plot(args) => plot::run(args, streams),
        Command::Demo(args) => demo::run(args, streams),
        Command::Completions(args) => completions::run(args, streams),
        Command::Man(args) => man::run(args, streams),
        Command::Formats(args) => formats::run(args, streams),
    }
}

/// Does the same for every file, whatever becomes of the others; the worst outcome counts.
fn each_file(
    files: &[PathBuf],
    streams: &mut Streams,
    mut each: impl FnMut(&Path, &mut Streams) -> Outcome,
) -> Outcome {
    let mut worst = Exit::Fine;
    for file in files {
        let exit = match each(file, streams) {
            Ok(exit) => exit,
            Err(failure) if failure.is_quiet() => return Ok(worst),
            Err(failure) => {
                let failure = failure.about(file);
                streams.report(&failure);
                failure.exit
            }
        };
        worst = worst.max(exit);
    }
    Ok(worst)
}
