//! Reports on written files, as text and JSON.

use std::path::{Path, PathBuf};

use tenfold::ops::presence;
use tenfold::{Format, Info, Loss, Result, Tier};

use super::file::Written;
use super::{Destination, WriteJob};
use crate::error::Failure;
use crate::render::{Json, shown_name};
use crate::terminal::Streams;

/// The result of a write.
#[derive(Default)]
pub(in crate::commands) struct Report {
    pub(in crate::commands) files: Vec<SavedFile>,
    pub(in crate::commands) losses: Vec<Loss>,
}

/// A written file.
pub(in crate::commands) struct SavedFile {
    pub(in crate::commands) path: PathBuf,
    /// Number of tensors in it; `None` for an index or a companion file.
    pub(in crate::commands) n_tensors: Option<u64>,
    pub(in crate::commands) len: u64,
}

impl SavedFile {
    /// A file that was just written.
    pub(in crate::commands) fn find(path: &Path, n_tensors: Option<u64>) -> Result<SavedFile> {
        Ok(SavedFile {
            path: path.to_owned(),
            n_tensors,
            len: presence::metadata(path)?.map_or(0, |about| about.len()),
        })
    }
}

/// Fails if JSON would be printed to the same stream as the file.
pub(in crate::commands) fn refuse_stream(
    json: bool,
    destination: &Destination,
) -> Result<(), Failure> {
    if json && matches!(destination, Destination::Stream) {
        let why = "--json prints to standard output, where the file goes: name a file for it";
        return Err(Failure::usage(why));
    }
    Ok(())
}

/// The report of a command that writes tensors.
pub(in crate::commands) struct Summary<'a> {
    pub(in crate::commands) schema: &'static str,
    pub(in crate::commands) format: &'static dyn Format,
    /// A format with the same kind of tensor names as the input.
    pub(in crate::commands) info: &'static Info,
    pub(in crate::commands) inputs: &'a [PathBuf],
    pub(in crate::commands) destination: &'a Destination,
}

impl Summary<'_> {
    /// Prints the written files or the refusal; returns the failure.
    pub(in crate::commands) fn print(
        &self,
        job: &WriteJob,
        written: Result<Report, Failure>,
        streams: &mut Streams,
    ) -> Result<(), Failure> {
        match written {
            Ok(report) => {
                let first = report.files.first();
                let written = first
                    .map(|file| Written::find(job, &file.path))
                    .transpose()?;
                let version = written.map(|written| written.version);
                self.object(&report, version.as_deref(), true, streams)
            }
            Err(failure) => Err(self.refused(failure, streams)),
        }
    }

    /// Prints the reason for a refusal before writing; returns the failure.
    pub(in crate::commands) fn refused(&self, failure: Failure, streams: &mut Streams) -> Failure {
        if failure.losses.is_empty() {
            return failure;
        }
        let report = Report {
            losses: failure.losses.clone(),
            ..Report::default()
        };
        let printed = self.object(&report, None, false, streams);
        printed.err().unwrap_or(failure)
    }

    fn object(
        &self,
        report: &Report,
        version: Option<&str>,
        is_written: bool,
        streams: &mut Streams,
    ) -> Result<(), Failure> {
        let mut json = Json::new(&mut streams.out);
        json.object(|json| {
            json.name("schema")?.text(self.schema)?;
            let inputs = self.inputs.iter().map(|word| word.to_string_lossy());
            json.name("inputs")?.texts(inputs.collect::<Vec<_>>())?;
            json.name("output")?
                .text_or_null(self.output().as_deref())?;
            json.name("format")?.text(self.format.info().name)?;
            json.name("version")?.text_or_null(version)?;
            json.name("written")?.number(is_written)?;
            json.name("files")?.list(|json| {
                report.files.iter().try_for_each(|file| {
                    json.object(|json| {
                        json.name("file")?.text(&file.path.to_string_lossy())?;
                        json.name("tensors")?.number_or_null(file.n_tensors)?;
                        json.name("bytes")?.number(file.len)
                    })
                })
            })?;
            json.name("losses")?.list(|json| {
                let mut losses = report.losses.iter();
                losses.try_for_each(|item| loss(json, self.info, item, is_written))
            })
        })?;
        Ok(json.end_line()?)
    }

    fn output(&self) -> Option<String> {
        match self.destination {
            Destination::Stream => None,
            Destination::File(path) | Destination::Folder(path) => {
                Some(path.to_string_lossy().into_owned())
            }
        }
    }
}

fn loss(json: &mut Json, info: &Info, loss: &Loss, is_written: bool) -> Result<()> {
    let verdict = match (loss.tier, is_written) {
        (Tier::Carried, _) => "carried",
        (Tier::Said, true) => "said",
        (_, true) => "permitted",
        (Tier::Impossible, false) => "never",
        (_, false) => "refused",
    };
    let name = loss.key.as_ref().map(|key| shown_name(info, key));
    json.object(|json| {
        json.name("tensor")?.text_or_null(name.as_deref())?;
        json.name("aspect")?.text(loss.aspect.as_str())?;
        json.name("verdict")?.text(verdict)?;
        json.name("text")?.text(&loss.detail)
    })
}
