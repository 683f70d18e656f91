//! `tenfold convert`: a file written anew.

use std::path::Path;

use tenfold::{
    Allow, Aspect, Bundle, Format, Loss, Overflow, Progress, Sink, Tier, WriteOptions, formats,
};

use super::Outcome;
use crate::args::{Convert, allow};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, DASH};
use crate::meter::Meter;
use crate::options;
use crate::render::{bytes_text, note_text};
use crate::select::{cast, select};
use crate::streams::{Streams, in_output};
use crate::transform;

pub(super) fn run(args: &Convert, streams: &mut Streams) -> Outcome {
    let about_input = |failure: Failure| failure.about(&args.input);
    let source = input::source(&args.input, &args.reading, streams)
        .map_err(|error| about_input(error.into()))?;
    let format = input::detect(&source, &args.input, &args.reading)
        .map_err(|error| about_input(error.into()))?;
    let target = target(args, format)?;
    let (reading, writing) =
        options::split(&args.reading.options, format.info(), Some(target.info()))?;
    let mut opened = input::read(&source, format, &args.reading, reading)
        .map_err(|error| about_input(error.into()))?;
    let (bundle, info) = (&mut opened.bundle, format.info());
    select(bundle, info, &args.only, &args.exclude)?;
    transform::apply(bundle, info, args, streams).map_err(about_input)?;
    let over = match allowed(args).permits(Aspect::Precision) {
        true => Overflow::Saturates,
        false => Overflow::Fails,
    };
    cast(bundle, info, args, over).map_err(about_input)?;
    let notes = opened.bundle.notes();
    input::refuse_notes(format, notes, &args.reading).map_err(about_input)?;
    for note in notes {
        streams.note(&args.input, &note_text(format.info(), note));
    }
    let how = WriteOptions {
        version: args.to.as_ref().and_then(|to| to.version.clone()),
        options: writing,
        allow: allowed(args),
        strict: args.reading.strict,
        stem: stem(&args.input),
        limits: args.reading.limits.0.clone(),
        skip_sync: args.no_sync,
        progress: Progress::default(),
        skip_carry: args.naming.no_carry,
        naming: args.naming.naming(),
    };
    streams.detail(&args.input, &format!("read as {}", info.name));
    let said = write(args, &opened.bundle, target, &how, streams)?;
    let len = bytes_text(how.progress.done());
    streams.detail(
        &args.output,
        &format!("{len} written as {}", target.info().name),
    );
    let (carried, said): (Vec<Loss>, Vec<Loss>) = said
        .into_iter()
        .partition(|loss| loss.tier == Tier::Carried);
    for alike in tenfold::alike(&carried) {
        let word = alike.aspect.as_str();
        streams.detail(&args.output, &format!("carried, {word}: {}", alike.detail));
    }
    for alike in tenfold::alike(&said) {
        let word = alike.aspect.as_str();
        streams.note(&args.output, &format!("{word}: {}", alike.detail));
    }
    Ok(Exit::Fine)
}

fn allowed(args: &Convert) -> Allow {
    allow(&args.allow)
}

/// What a tensor without a name is called: as its file.
fn stem(path: &Path) -> Option<String> {
    let stem = path.file_stem().filter(|_| path != Path::new(DASH))?;
    stem.to_str().map(str::to_owned)
}

/// The format to write: the one named, else that of the input unless the name of the output says
/// another.
fn target(args: &Convert, source: &'static dyn Format) -> Result<&'static dyn Format, Failure> {
    let meant = match &args.to {
        Some(to) => vec![to.format],
        None => formats::by_extension(&args.output),
    };
    match meant.as_slice() {
        [] => Ok(source),
        [format] => Ok(*format),
        several => {
            let own = source.info().name;
            let same = several.iter().find(|format| format.info().name == own);
            let names: Vec<&str> = several.iter().map(|format| format.info().name).collect();
            same.copied().ok_or_else(|| {
                let output = args.output.display();
                Failure::usage(format!(
                    "{output} could be {}: name one with --to",
                    names.join(" or ")
                ))
            })
        }
    }
}

fn write(
    args: &Convert,
    bundle: &Bundle,
    format: &dyn Format,
    how: &WriteOptions,
    streams: &mut Streams,
) -> Result<Vec<Loss>, Failure> {
    let about_input = |error: tenfold::Error| match Failure::from(error) {
        failure if failure.is_usage() => failure,
        failure => failure.about(&args.input),
    };
    let _meter = Meter::start(streams, &how.progress);
    if args.output != Path::new(DASH) {
        return tenfold::save(bundle, &args.output, format, how, args.force).map_err(about_input);
    }
    if streams.is_terminal() {
        let why = "the output is a terminal, and these bytes are not for reading: name a file, \
                   or pipe them somewhere";
        return Err(Failure::usage(why));
    }
    let mut out = Sink::stream(streams.out.take());
    tenfold::write_to(bundle, &mut out, format, how)
        .and_then(|said| out.finish().map(|_| said))
        .map_err(|error| about_input(in_output(error)))
}
