//! One file, or standard output.

use std::path::Path;

use tenfold::{Aspect, Error, Format, Loss, ReadOptions, Sink, Source};

use super::Job;
use crate::failure::Failure;
use crate::render::{bytes_text, counted};
use crate::streams::{Streams, in_output};

/// Saves everything as one file.
pub(super) fn write(job: &Job, file: &Path, streams: &mut Streams) -> Result<(), Failure> {
    let bundle = &job.content.bundle;
    let said = tenfold::save(bundle, file, job.format, job.how, job.force)
        .map_err(|error| job.blame(file, error))?;
    say_losses(file, job.content.said.iter().chain(&said), streams);
    say_written(file, job.format, bundle.entries().len(), streams);
    Ok(())
}

/// Writes everything to standard output.
pub(super) fn stream(job: &Job, streams: &mut Streams) -> Result<(), Failure> {
    if streams.is_terminal() {
        let why = "the output is a terminal, and these bytes are not for reading: name a file, \
                   or pipe them somewhere";
        return Err(Failure::usage(why));
    }
    let dash = Path::new(crate::input::DASH);
    let mut out = Sink::stream(streams.out.take());
    let said = tenfold::write_to(&job.content.bundle, &mut out, job.format, job.how)
        .and_then(|said| out.finish().map(|_| said))
        .map_err(|error| job.blame(dash, in_output(error)))?;
    say_losses(dash, job.content.said.iter().chain(&said), streams);
    Ok(())
}

/// Fails if one of the files exists and must not be replaced.
pub(super) fn refuse_existing<'a>(
    mut files: impl Iterator<Item = &'a Path>,
    force: bool,
) -> Result<(), Failure> {
    match files.find(|file| !force && file.symlink_metadata().is_ok()) {
        None => Ok(()),
        Some(file) => {
            let file = file.display();
            Err(Failure::usage(format!(
                "{file} exists already; --force replaces it"
            )))
        }
    }
}

/// Says what was permitted or only has to be said: a line for every aspect, with the first of many.
pub(super) fn say_losses<'a>(
    file: &Path,
    losses: impl Iterator<Item = &'a Loss>,
    streams: &mut Streams,
) {
    let losses: Vec<&Loss> = losses.collect();
    for aspect in Aspect::ALL {
        let mut alike = losses.iter().filter(|loss| loss.aspect == *aspect);
        let Some(first) = alike.next() else { continue };
        let word = aspect.as_str();
        let mut line = match first.key.as_ref().filter(|key| !key.is_empty()) {
            Some(key) => format!("{word}: {key}: {}", first.detail),
            None => format!("{word}: {}", first.detail),
        };
        let more = alike.count();
        if more > 0 {
            line.push_str(&format!(" (and {more} more)"));
        }
        streams.note(file, &line);
    }
}

/// Says that a file was written, and what it is; a pipe or a device is none.
pub(super) fn say_written(
    file: &Path,
    format: &'static dyn Format,
    n_tensors: usize,
    streams: &mut Streams,
) {
    let Some(about) = file.metadata().ok().filter(|about| about.is_file()) else {
        return;
    };
    let (name, shown) = (format.info().name, file.display());
    let n_tensors = counted(u64::try_from(n_tensors).unwrap_or(u64::MAX), "tensor");
    let version = version(file, format);
    let size = bytes_text(about.len());
    streams.done(&format!(
        "wrote {shown}: {name} {version}, {n_tensors}, {size}"
    ));
}

/// The version of a file that was just written: what it says itself, where there are several.
pub(super) fn version(file: &Path, format: &'static dyn Format) -> String {
    let info = format.info();
    let usual = info.versions.first().copied().unwrap_or_default();
    if info.versions.len() < 2 {
        return usual.into();
    }
    let says = |source: Source| -> Result<Option<String>, Error> {
        let bundle = tenfold::read(&source, format, &ReadOptions::default())?.bundle;
        let hint = bundle.hints.text(&format!("{}:version", info.name));
        Ok(hint.map(str::to_owned))
    };
    // What cannot be read again has been written all the same.
    let said = Source::open(file).and_then(says).ok().flatten();
    said.unwrap_or_else(|| usual.into())
}
