//! `tenfold show`: the values of a tensor.

mod cells;
mod csv;
mod json;
mod literal;
mod text;

use tenfold::{Bundle, Limits, Result};

use super::Outcome;
use super::output::file::say_losses;
use crate::args::{Form, Show, Table};
use crate::error::Failure;
use crate::exit::Exit;
use crate::input;
use crate::render::note_text;
use crate::terminal::{Out, Streams};

pub(super) use json::print as json;

/// Prints the only tensor of a bundle as a table.
pub(super) fn csv_wide(bundle: &Bundle, limits: &Limits, out: &mut Out) -> Result<()> {
    csv::print(bundle, Table::Wide, false, limits, out)
}

pub(super) fn run(args: &Show, streams: &mut Streams) -> Outcome {
    let about = |failure: Failure| failure.about(&args.file);
    let reference = input::reference(&args.file, &args.words, &args.part)
        .map_err(|error| about(error.into()))?;
    let (_, mut opened) = input::open_at(&reference, &args.reading, streams).map_err(about)?;
    input::choose(&mut opened, &args.choice).map_err(|error| about(error.into()))?;
    let info = opened.format.info();
    let limits = &args.reading.limits.0;
    let table = args
        .csv
        .or((args.form == Some(Form::Csv)).then_some(Table::Auto));
    let is_json = args.json || args.form == Some(Form::Json);
    // JSON includes them itself.
    for note in opened.bundle.notes().iter().filter(|_| !is_json) {
        streams.note(&args.file, &note_text(info, note));
    }
    let printed = if let Some(table) = table {
        let is_for_eyes = streams.is_terminal();
        csv::print(&opened.bundle, table, is_for_eyes, limits, &mut streams.out)
    } else if args.form == Some(Form::Literal) {
        literal::print(info, &opened.bundle, limits, &mut streams.out).map(|invented| {
            say_losses(&args.file, invented.iter(), streams);
        })
    } else if is_json {
        json::print(info, &opened.bundle, limits, &mut streams.out)
    } else {
        text::print(info, &opened.bundle, limits, &mut streams.out)
    };
    match printed {
        Ok(()) => Ok(Exit::Fine),
        Err(error) => Err(about(error.of(info.name).into())),
    }
}
