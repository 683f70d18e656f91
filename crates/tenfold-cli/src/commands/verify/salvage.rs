//! `tenfold verify --salvage`: the intact tensors of a damaged file.

use std::path::Path;

use tenfold::ops::{Member, TensorRef, stem};
use tenfold::{Format, Info, Lost, Proof, ReadOptions, Result, Salvaged, WriteOptions};

use crate::commands::output::{Destination, target};
use crate::commands::{Outcome, Verify};
use crate::error::Failure;
use crate::exit::Exit;
use crate::input::DASH;
use crate::render::{Json, note, note_text, shown_name};
use crate::terminal::{Meter, Out, Streams, counted, plain};
use crate::{input, options};

const SCHEMA: &str = "tenfold.salvage/1";

/// Saves the intact tensors of the only input as `out`.
pub(crate) fn run(args: &Verify, out: &Path, streams: &mut Streams) -> Outcome {
    let [file] = args.files.files.as_slice() else {
        return Err(Failure::usage("--salvage is for one file at a time"));
    };
    if out == Path::new(DASH) {
        return Err(Failure::usage("--salvage writes a file: name it"));
    }
    let about = |failure: Failure| failure.about(file);
    let destination = Destination::File(out.into());
    destination.refuse_existing(args.force)?;
    let reading = &args.files.reading;
    let input = input::find_alone(&TensorRef::whole(file), reading, streams)
        .map_err(|error| about(error.into()))?;
    let [Member { source, format, .. }] = input.members() else {
        return Err(Failure::usage("--salvage is for one file at a time"));
    };
    let format = *format;
    let target = target::choose(args.to.as_ref(), &destination, Some(format), &[file])?;
    let (options, writing) = options::of(reading, format.info(), Some(target.info()))?;
    let how = ReadOptions {
        limits: reading.limits.0.clone(),
        options,
        skip_restore: reading.no_restore,
        ..ReadOptions::default()
    };
    let meter = Meter::reading(streams, source.len());
    let salvaged = tenfold::salvage(source, format, &how);
    drop(meter);
    let salvaged = salvaged.map_err(|error| about(error.into()))?;
    let is_saved = !salvaged.bundle.entries().is_empty();
    if is_saved {
        let how = WriteOptions {
            version: args.to.as_ref().and_then(|to| to.version.clone()),
            options: writing,
            stem: stem(file),
            limits: reading.limits.0.clone(),
            ..WriteOptions::default()
        };
        tenfold::save(&salvaged.bundle, out, target, &how, args.force)
            .map_err(|error| Failure::from(error).about(out))?;
    }
    let found = Found {
        file,
        out: is_saved.then_some(out),
        format,
        salvaged,
    };
    if args.files.json {
        found.print_json(&mut streams.out)?
    } else {
        found.print(streams)?
    }
    Ok(if found.salvaged.lost.is_empty() {
        Exit::Fine
    } else {
        Exit::No
    })
}

/// The result.
struct Found<'a> {
    file: &'a Path,
    /// The output file, if there are any tensors.
    out: Option<&'a Path>,
    format: &'static dyn Format,
    salvaged: Salvaged,
}

impl Found<'_> {
    fn info(&self) -> &'static Info {
        self.format.info()
    }

    fn lost_name(&self, lost: &Lost) -> Option<String> {
        lost.key.as_ref().map(|key| shown_name(self.info(), key))
    }

    fn print(&self, streams: &mut Streams) -> Result<()> {
        let Salvaged { bundle, lost, .. } = &self.salvaged;
        for note in bundle.notes() {
            streams.note(self.file, &note_text(self.info(), note));
        }
        let file = plain(&self.file.display().to_string());
        for lost in lost {
            let name = self.lost_name(lost).filter(|name| !name.is_empty());
            let name = name.map_or_else(String::new, |name| format!(" {name}"));
            let at = lost
                .at
                .map_or_else(String::new, |at| format!(" (byte {at})"));
            let line = plain(&format!("lost{name}: {}{at}", lost.why));
            streams.out.text(&format!("{file}: {line}\n"))?;
        }
        let count = |proof| {
            let alike = self.salvaged.proofs.iter().filter(|known| **known == proof);
            alike.count()
        };
        let line = match self.out {
            None => "nothing is saved".to_owned(),
            Some(out) => {
                let n_saved = u64::try_from(bundle.entries().len()).unwrap_or(u64::MAX);
                format!(
                    "saved {} as {}: {} by checksum, {} by structure",
                    counted(n_saved, "tensor"),
                    plain(&out.display().to_string()),
                    count(Proof::Checksum),
                    count(Proof::Structure),
                )
            }
        };
        streams.out.text(&format!("{file}: {line}\n"))
    }

    fn print_json(&self, out: &mut Out) -> Result<()> {
        let Salvaged {
            bundle,
            proofs,
            lost,
        } = &self.salvaged;
        let output = self.out.map(Path::to_string_lossy);
        let mut json = Json::new(out);
        json.object(|json| {
            json.name("schema")?.text(SCHEMA)?;
            json.name("file")?.text(&self.file.to_string_lossy())?;
            json.name("format")?.text(self.info().name)?;
            json.name("output")?.text_or_null(output.as_deref())?;
            json.name("saved")?.list(|json| {
                bundle
                    .entries()
                    .iter()
                    .zip(proofs)
                    .try_for_each(|((key, _), proof)| {
                        json.object(|json| {
                            json.name("name")?.text(&shown_name(self.info(), key))?;
                            json.name("proof")?.text(proof.as_str())
                        })
                    })
            })?;
            json.name("lost")?.list(|json| {
                lost.iter().try_for_each(|lost| {
                    json.object(|json| {
                        json.name("name")?
                            .text_or_null(self.lost_name(lost).as_deref())?;
                        json.name("at")?.number_or_null(lost.at)?;
                        json.name("text")?.text(&lost.why)
                    })
                })
            })?;
            json.name("notes")?.list(|json| {
                let mut notes = bundle.notes().iter();
                notes.try_for_each(|item| note(json, Some(self.info()), item))
            })
        })?;
        json.end_line()
    }
}
