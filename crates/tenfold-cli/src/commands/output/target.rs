//! Choice of the target format.

use std::path::Path;

use tenfold::ops::presence;
use tenfold::{Format, formats, is_stream};

use super::Destination;
use crate::args::{Target, is_shared};
use crate::error::Failure;

/// The format named by `--to`, otherwise the one that the output name implies; `own` if the output
/// has the extension of all `inputs`, or is a stream.
pub(in crate::commands) fn choose(
    to: Option<&Target>,
    destination: &Destination,
    own: Option<&'static dyn Format>,
    inputs: &[&Path],
) -> Result<&'static dyn Format, Failure> {
    if let Some(to) = to {
        return Ok(to.format);
    }
    match (destination, own) {
        (Destination::File(file), _) if presence::is_dir(file)? => Err(Failure::usage(format!(
            "{} is a folder: --out-dir writes a file for every tensor into it",
            file.display()
        ))),
        (Destination::File(file), own) if !is_stream(file) => by_name(file, own, inputs),
        (_, Some(own)) if !own.info().is_written() => Err(Failure::usage(format!(
            "{}: name one with --to",
            only_read(own)
        ))),
        (_, Some(own)) => Ok(own),
        (Destination::File(file), None) => by_name(file, None, inputs),
        (Destination::Stream | Destination::Folder(_), None) => Err(Failure::usage(
            "the inputs are of several formats: name one with --to",
        )),
    }
}

fn by_name(
    file: &Path,
    own: Option<&'static dyn Format>,
    inputs: &[&Path],
) -> Result<&'static dyn Format, Failure> {
    let (meant, others): (Vec<_>, Vec<_>) =
        { formats::by_extension(file).into_iter() }.partition(|format| format.info().is_written());
    let own = own.filter(|own| own.info().is_written());
    let names: Vec<&str> = meant.iter().map(|format| format.info().name).collect();
    if let Some(own) = own.filter(|own| names.contains(&own.info().name)) {
        return Ok(own);
    }
    let shown = file.display();
    let ending = ending(file);
    let is_shared = ending.as_deref().is_some_and(is_shared);
    match (meant.as_slice(), own) {
        ([format], _) if !is_shared => Ok(*format),
        ([], Some(own)) if is_called_alike(ending.as_deref(), inputs) => Ok(own),
        ([], _) => {
            let known = formats::named().map(|format| format.info());
            let known = known.filter(|info| info.is_written());
            let known: Vec<&str> = known.map(|info| info.name).collect();
            let why = match (others.as_slice(), ending) {
                ([other, ..], _) => only_read(*other),
                ([], Some(ending)) => format!("no format is known by .{ending}"),
                ([], None) => "the name says no format".into(),
            };
            let known = known.join(", ");
            Err(Failure::usage(format!(
                "{shown}: {why}: name one with --to, of {known}"
            )))
        }
        _ => {
            let names = names.join(" or ");
            let more = if is_shared {
                ", or a file of some other program"
            } else {
                ""
            };
            Err(Failure::usage(format!(
                "{shown} could be {names}{more}: name one with --to"
            )))
        }
    }
}

fn only_read(format: &dyn Format) -> String {
    format!("{} is read and never written", format.info().name)
}

fn ending(file: &Path) -> Option<String> {
    let ending = file.extension()?.to_str()?;
    Some(ending.to_ascii_lowercase())
}

/// Whether all inputs, at least one, are files with the same extension.
fn is_called_alike(wanted: Option<&str>, inputs: &[&Path]) -> bool {
    let is_alike =
        |file: &&Path| *file != Path::new(crate::input::DASH) && ending(file).as_deref() == wanted;
    !inputs.is_empty() && inputs.iter().all(is_alike)
}
