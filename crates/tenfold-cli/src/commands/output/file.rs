//! Output to one file or to standard output.

use std::path::{Path, PathBuf};

use tenfold::ops::presence;
use tenfold::{Aspect, Bundle, Loss, ReadOptions, Sink, Source, Tier, is_stream};

use super::WriteJob;
use super::report::{Report, SavedFile};
use crate::error::Failure;
use crate::render::bytes_text;
use crate::terminal::{Streams, counted, in_output};

/// Saves all tensors as one file.
pub(in crate::commands) fn write(
    job: &WriteJob,
    file: &Path,
    streams: &mut Streams,
) -> Result<Report, Failure> {
    let bundle = &job.content.bundle;
    let said = tenfold::save(bundle, file, job.format, job.how, job.force)
        .map_err(|error| job.blame(file, error))?;
    let losses = [job.content.said.as_slice(), &said].concat();
    say_losses(file, losses.iter(), streams);
    say_remark(job, file, streams);
    let files = say_written(job, file, streams)?;
    Ok(Report { files, losses })
}

/// Writes all tensors to standard output.
pub(in crate::commands) fn stream(
    job: &WriteJob,
    streams: &mut Streams,
) -> Result<Report, Failure> {
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
    let losses = [job.content.said.as_slice(), &said].concat();
    say_losses(dash, losses.iter(), streams);
    say_remark(job, dash, streams);
    Ok(Report {
        losses,
        ..Report::default()
    })
}

/// Fails if one of the files exists and must not be overwritten.
pub(in crate::commands) fn refuse_existing<'a>(
    files: impl Iterator<Item = &'a Path>,
    force: bool,
) -> Result<(), Failure> {
    for file in files.filter(|_| !force) {
        if presence::link_metadata(file)?.is_some() {
            let file = file.display();
            let why = format!("{file} exists already; --force replaces it");
            return Err(Failure::usage(why));
        }
    }
    Ok(())
}

/// Reports permitted losses and notes, one line per reason; if verbose, also metadata kept in a
/// sidecar.
pub(in crate::commands) fn say_losses<'a>(
    file: &Path,
    losses: impl Iterator<Item = &'a Loss>,
    streams: &mut Streams,
) {
    let (carried, said): (Vec<Loss>, Vec<Loss>) =
        losses.cloned().partition(|loss| loss.tier == Tier::Carried);
    for group in tenfold::group_losses(&carried) {
        let word = group.aspect.as_str();
        streams.detail(file, &format!("carried, {word}: {}", group.detail));
    }
    for group in tenfold::group_losses(&said) {
        let word = group.aspect.as_str();
        streams.note(file, &format!("{word}: {}", group.detail));
    }
}

/// Reports compatibility notes on the written file.
pub(in crate::commands) fn say_remark(job: &WriteJob, file: &Path, streams: &mut Streams) {
    if let Some(remark) = job.format.remark(&job.content.bundle, job.how) {
        streams.note(file, remark);
    }
}

/// Reports values changed by casts, which are known only after writing.
pub(in crate::commands) fn say_rounding(
    file: &Path,
    losses: &[Loss],
    streams: &mut Streams,
) -> Vec<Loss> {
    let is_rounding = |loss: &&Loss| loss.key.is_none() && loss.aspect == Aspect::Precision;
    let found: Vec<Loss> = losses.iter().filter(is_rounding).cloned().collect();
    say_losses(file, found.iter(), streams);
    found
}

/// Reports a written file and its companions; pipes and devices are not reported.
pub(in crate::commands) fn say_written(
    job: &WriteJob,
    file: &Path,
    streams: &mut Streams,
) -> tenfold::Result<Vec<SavedFile>> {
    if is_stream(file) {
        return Ok(Vec::new());
    }
    let (name, shown) = (job.format.info().name, file.display());
    let (written, files) = saved(job, file)?;
    let beside = match written.beside.as_slice() {
        [] => String::new(),
        [(only, _)] => format!(" and {}", only.display()),
        many => format!(" and {} files beside it", many.len()),
    };
    let version = written.version;
    let n_tensors = counted(written.n_tensors, "tensor");
    let size = bytes_text(files.iter().map(|file| u128::from(file.len)).sum::<u128>());
    let readers = readers(job, &version, written.readers.as_deref());
    streams.done(&format!(
        "wrote {shown}{beside}: {name} {version}{readers}, {n_tensors}, {size}"
    ));
    Ok(files)
}

/// The written file and its companions.
pub(in crate::commands) fn saved(
    job: &WriteJob,
    file: &Path,
) -> tenfold::Result<(Written, Vec<SavedFile>)> {
    let written = Written::find(job, file)?;
    let mut files = vec![SavedFile::find(file, Some(written.n_tensors))?];
    let beside = written.beside.iter();
    for (path, _) in beside {
        files.push(SavedFile::find(path, None)?);
    }
    Ok((written, files))
}

/// The programs that read a version, and the version for other programs, in parentheses.
fn readers(job: &WriteJob, version: &str, readers: Option<&str>) -> String {
    let Some(readers) = readers else {
        return String::new();
    };
    let info = job.format.info();
    let newest = { info.versions.iter().rev() }.find(|other| **other != version);
    let other = newest.and_then(|other| Some((other, job.format.readers(other, None)?)));
    match other.filter(|_| job.how.version.is_none()) {
        Some((other, others)) => {
            format!(
                " (for readers {readers}; --to {}@{other} for {others})",
                info.name
            )
        }
        None => format!(" (for readers {readers})"),
    }
}

/// Properties of the written file, read back from it.
pub(in crate::commands) struct Written {
    pub(in crate::commands) version: String,
    n_tensors: u64,
    /// The programs that read it.
    readers: Option<String>,
    /// Its companion files.
    beside: Vec<(PathBuf, u64)>,
}

impl Written {
    /// Reads the headers again: the format decides which version was written.
    pub(in crate::commands) fn find(job: &WriteJob, file: &Path) -> tenfold::Result<Written> {
        let info = job.format.info();
        let how = ReadOptions {
            limits: job.how.limits.clone(),
            ..ReadOptions::default()
        };
        // A file over a limit, or too large for memory, has still been written; one that cannot be
        // read may not have been.
        let source = unless_refused(Source::open(file)?.unpacked(&how.limits))?;
        let read = |how: &ReadOptions| -> tenfold::Result<Option<Bundle>> {
            let Some(source) = &source else {
                return Ok(None);
            };
            let read = unless_refused(tenfold::read(source, job.format, how))?;
            Ok(read.map(|opened| opened.bundle))
        };
        let found = read(&how)?;
        let bundle = found.as_ref().unwrap_or(&job.content.bundle);
        let edition = job.format.edition(bundle, job.how);
        let edition = edition.map_or(info, tenfold::Format::info);
        let said = { found.as_ref() }
            .and_then(|found| found.hints.text(&format!("{}:version", info.name)));
        let usual = edition.versions.first().copied();
        let version = said.or(usual).unwrap_or_default();
        // They are determined by the content of the file, without the sidecar.
        let readers = match job.format.readers(version, None) {
            None => None,
            Some(_) => {
                let skip_restore = true;
                let plain = read(&ReadOptions {
                    skip_restore,
                    ..how.clone()
                })?;
                job.format.readers(version, plain.as_ref())
            }
        };
        Ok(Written {
            version: version.into(),
            readers,
            n_tensors: u64::try_from(bundle.entries().len()).unwrap_or(u64::MAX),
            beside: source.map_or_else(Vec::new, |source| source.companions()),
        })
    }
}

/// The bundle that was read, or nothing if its content prevents it.
fn unless_refused<T>(read: tenfold::Result<T>) -> tenfold::Result<Option<T>> {
    match read {
        Err(error) if error.is_of_content() || error.is_lack_of_memory() => Ok(None),
        read => read.map(Some),
    }
}
