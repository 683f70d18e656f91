//! `tenfold show`: the values of a file.

mod cells;
mod human;
mod json;

use super::Outcome;
use crate::args::Show;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::render::note_text;
use crate::streams::Streams;

pub(super) fn run(args: &Show, streams: &mut Streams) -> Outcome {
    let about = |failure: Failure| failure.about(&args.file);
    let (_, opened) = input::open(&args.file, &args.reading, streams).map_err(about)?;
    let info = opened.format.info();
    let limits = &args.reading.limits.0;
    let printed = if args.json {
        json::print(info, &opened.bundle, limits, &mut streams.out)
    } else {
        for note in opened.bundle.notes() {
            streams.note(&args.file, &note_text(info, note));
        }
        human::print(info, &opened.bundle, limits, &mut streams.out)
    };
    match printed {
        Ok(()) => Ok(Exit::Fine),
        Err(error) => Err(about(error.of(info.name).into())),
    }
}
