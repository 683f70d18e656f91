//! The commands, one module each.

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
mod show;
mod stats;
mod tt;
mod verify;
mod view;

pub(crate) use compress::args::{
    Compress, Reconstruct, Reshaping, Tolerance, Tolerances, Tt, TtCommand, TtDot, TtRound, TtSum,
};
pub(crate) use convert::args::{Convert, allow};
pub(crate) use convert::transform_args::{PerTensor, Transform};
pub(crate) use diff::args::Diff;
pub(crate) use edit::args::Edit;
pub(crate) use hash::args::Hash;
pub(crate) use info::args::{Describe, Sort};
pub(crate) use plot::args::Plot;
pub(crate) use stats::args::Stats;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
pub(crate) use verify::args::Verify;
pub(crate) use view::args::View;

use tenfold::ops::{Input, Listing, Skipped, TensorRef};

use crate::args::{Command, Reading};
use crate::error::Failure;
use crate::exit::Exit;
use crate::terminal::Streams;
use crate::{input, options};

/// The result of a command.
type Outcome = Result<Exit, Failure>;

/// Runs a command.
pub(crate) fn run(command: &Command, streams: &mut Streams) -> Outcome {
    match command {
        Command::Info(args) => info::run(args, streams),
        Command::Verify(args) => verify::run(args, streams),
        Command::Show(args) => show::run(args, streams),
        Command::Convert(args) => convert::run(args, streams),
        Command::Compress(args) => compress::run(args, streams),
        Command::Reconstruct(args) => compress::reconstruct::run(args, streams),
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

/// Runs `each` for every file, whatever the result of the others; the worst result counts.
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

/// The input of one of several arguments.
struct Found {
    reference: TensorRef,
    input: Input,
}

/// Runs `each` for every input, whatever the result of the others; the worst result counts. A
/// folder can stand for many inputs, and several arguments for one, as the shards of a model do.
/// `each` gets the name of the input, and the input or the error.
fn each_input(
    words: &[PathBuf],
    reading: &Reading,
    streams: &mut Streams,
    mut each: impl FnMut(&Path, Result<&Found, Failure>, &mut Streams) -> Outcome,
) -> Outcome {
    let mut sets = Vec::new();
    each_file(words, streams, |word, streams| {
        let found = TensorRef::find(word).and_then(|reference| {
            let listing = input::find_all(&reference, reading, streams)?;
            Ok((reference, listing))
        });
        let (reference, listing) = match found {
            Ok(found) => found,
            Err(error) => return each(word, Err(error.into()), streams),
        };
        let Listing {
            inputs,
            skipped,
            faults,
        } = listing;
        let inputs: Vec<Input> = inputs
            .into_iter()
            .flat_map(|input| whole_or_apart(input, reading))
            .collect();
        let is_alone = inputs.len() == 1 && faults.is_empty();
        let found = inputs.into_iter().map(|input| {
            let name = if is_alone { word } else { input.path() };
            (name.to_owned(), Ok(input))
        });
        let faults = faults.into_iter().map(|error| {
            let (path, error) = error.split_file();
            let name = path.unwrap_or_else(|| word.to_owned());
            (name, Err(Failure::from(error)))
        });
        let mut worst = Exit::Fine;
        for (name, found) in found.chain(faults) {
            let outcome = match found {
                Err(failure) => each(&name, Err(failure), streams),
                Ok(input) if is_repeated(&input, &reference, &mut sets) => Ok(Exit::Fine),
                Ok(input) => {
                    let reference = reference.clone();
                    each(&name, Ok(&Found { reference, input }), streams)
                }
            };
            let exit = match outcome {
                Err(failure) if !is_alone && !failure.is_quiet() => {
                    let failure = failure.about(&name);
                    streams.report(&failure);
                    failure.exit
                }
                other => other?,
            };
            worst = worst.max(exit);
        }
        note_skipped(word, &skipped, streams);
        Ok(worst)
    })
}

/// The files of a folder one by one if a shard is damaged: the others are still usable.
fn whole_or_apart(input: Input, reading: &Reading) -> Vec<Input> {
    let is_damaged = || {
        let (options, _) = options::of(reading, input.format().info(), None).ok()?;
        let how = input::read_options(reading, options);
        let mut members = input.members().iter();
        // A file that cannot be read is not damaged: reading all of it reports the error.
        let is_damage = |error: tenfold::Error| error.is_of_content();
        Some(members.any(|member| input.read_member(member, &how).is_err_and(is_damage)))
    };
    if !input.path().is_dir() || input.members().len() < 2 || is_damaged() != Some(true) {
        return vec![input];
    }
    input.apart().unwrap_or_else(|input| vec![*input])
}

/// Whether an earlier argument already stands for the same shards.
fn is_repeated(input: &Input, reference: &TensorRef, sets: &mut Vec<Vec<PathBuf>>) -> bool {
    if input.members().len() < 2 || !reference.is_whole() {
        return false;
    }
    let files = input::files(input);
    let is_known = sets.contains(&files);
    if !is_known {
        sets.push(files);
    }
    is_known
}

/// Lists the files of a folder that are not tensor files, one line per reason.
fn note_skipped(folder: &Path, skipped: &[Skipped], streams: &mut Streams) {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in skipped {
        let name = one.path.file_name().unwrap_or_default().to_string_lossy();
        let names = reasons.entry(&one.why).or_default();
        names.push(name.into_owned());
    }
    for (why, mut names) in reasons {
        names.sort();
        streams.note(folder, &format!("left out {}: {why}", names.join(", ")));
    }
}
