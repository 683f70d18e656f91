//! `tenfold convert`: files in another format or layout.

pub(super) mod args;
mod file_names;
mod folder;
mod inputs;
mod merge;
mod shards;
pub(super) mod transform_args;

use std::path::PathBuf;

use tenfold::ops::cast;
use tenfold::{Allow, Aspect, Bundle, Format, Info, Names, Overflow, WriteOptions, without_state};

use super::output::line::writing;
use super::output::report::{Report, SavedFile, Summary};
use super::output::{Content, Destination, WriteJob, file, report};
use super::{Convert, Outcome, allow, compress};
use crate::error::Failure;
use crate::exit::Exit;
use crate::rename::rename;
use crate::terminal::{Meter, Streams};
use crate::transform;
use crate::transform::Wanted;

const SCHEMA: &str = "tenfold.convert/1";

pub(super) fn run(args: &Convert, streams: &mut Streams) -> Outcome {
    let (words, destination) = destination(args)?;
    report::refuse_stream(args.json, &destination)?;
    let found = inputs::find(args, words, streams)?;
    let saving = &args.output.saving;
    let format = inputs::target(saving.to.as_ref(), &destination, &found)?;
    let extension = match &destination {
        Destination::File(file) => WriteOptions::default().for_path(file).extension,
        Destination::Folder(_) => format.lone_extension().map(str::to_owned),
        Destination::Stream => None,
    };
    let target = target(format, extension.as_deref());
    let (mut content, options) = inputs::read(args, found, target, streams)?;
    let summary = Summary {
        schema: SCHEMA,
        format,
        info: content.info,
        inputs: words,
        destination: &destination,
    };
    let labels = match prepare(args, &mut content, format.info(), streams) {
        Err(failure) if args.json => return Err(summary.refused(failure, streams)),
        other => other?,
    };
    let mut naming = args.naming.naming();
    // The state of a training run is recognized from the whole bundle, not from one tensor, and
    // omitted tensors are not compressed first.
    let is_folder = matches!(destination, Destination::Folder(_));
    if naming.drop_state && (is_folder || args.eps.is_some()) {
        content.bundle = without_state(&content.bundle, &mut content.said);
        naming.drop_state = false;
    }
    let stem = content.stem.clone();
    let how = WriteOptions {
        skip_carry: args.naming.no_carry,
        naming,
        extension,
        split_complex: args.transform.complex.is_some(),
        keep_sparse: args.transform.sparse.is_some(),
        ..writing(saving, &args.reading, options, stem, allowed(args))
    };
    if let Some(eps) = args.eps {
        let job = WriteJob {
            content: &content,
            format,
            how: &how,
            force: saving.force,
        };
        refuse_existing(&job, &destination, args.output.max_size)?;
        compress::turn(&mut content, eps, args, format.info(), streams)
            .map_err(|failure| in_input(failure, &content))?;
    }
    let job = WriteJob {
        content: &content,
        format,
        how: &how,
        force: saving.force,
    };
    let meter = Meter::start(streams, &how.progress);
    let written = write(&job, &destination, args.output.max_size, streams);
    drop(meter);
    let written = written.and_then(|mut report| {
        let lists = labels.save(saving.force, saving.no_sync, streams)?;
        for list in lists {
            report.files.push(SavedFile::find(list, None)?);
        }
        Ok(report)
    });
    if args.json {
        summary.print(&job, written, streams)?
    } else {
        drop(written?)
    }
    Ok(Exit::Fine)
}

fn write(
    job: &WriteJob,
    destination: &Destination,
    most: Option<u64>,
    streams: &mut Streams,
) -> Result<Report, Failure> {
    match (destination, most) {
        (Destination::Folder(folder), _) => folder::write(job, folder, streams),
        (Destination::File(file), Some(most)) => shards::write(job, file, most, streams),
        (Destination::File(file), None) => file::write(job, file, streams),
        (Destination::Stream, None) => file::stream(job, streams),
        (Destination::Stream, Some(_)) => {
            let why = "--max-size writes several files, and standard output is one: name a file";
            Err(Failure::usage(why))
        }
    }
}

/// Fails if a file exists that must not be replaced: before the work, not after it. How many files `--max-size`
/// writes is known only after it.
fn refuse_existing(
    job: &WriteJob,
    destination: &Destination,
    most: Option<u64>,
) -> Result<(), Failure> {
    match (destination, most) {
        (Destination::Folder(folder), _) => folder::refuse_existing(job, folder),
        (_, None) => destination.refuse_existing(job.force),
        (_, Some(_)) => Ok(()),
    }
}

/// The steps between reading and writing, in this order; returns the label lists to write beside
/// the tensors. The tensors are already selected: see [`inputs::read`].
fn prepare(
    args: &Convert,
    content: &mut Content,
    target: &Info,
    streams: &mut Streams,
) -> Result<Wanted, Failure> {
    let Content { bundle, info, .. } = content;
    let is_tree = [*info, target]
        .iter()
        .any(|info| info.holds.names == Names::Tree);
    let renamed = rename(bundle, info, is_tree, &args.renaming.rename);
    renamed.map_err(|failure| in_input(failure, content))?;
    let (allow, limits) = (allowed(args), &args.reading.limits.0);
    let round = args.transform.round.into();
    let name = content.name().unwrap_or_default();
    let Content { bundle, info, .. } = content;
    transform::apply(bundle, info, args, &name, streams)
        .and_then(|labels| {
            cast(bundle, info, &args.cast, round, &allow, limits)?;
            Ok(labels)
        })
        .map_err(|failure| in_input(failure, content))
}

/// Names the file at fault, or all candidates; the format is known only of a single one.
fn in_input(failure: Failure, content: &Content) -> Failure {
    match (&content.file, content.name()) {
        (Some(file), _) => failure.of(content.info).about(file),
        (None, Some(name)) => failure.about(&name),
        (None, None) => failure,
    }
}

/// The content of the output file.
fn target(format: &dyn Format, extension: Option<&str>) -> &'static Info {
    let how = WriteOptions {
        extension: extension.map(str::to_owned),
        ..WriteOptions::default()
    };
    let edition = format.edition(&Bundle::new(), &how);
    edition.map_or_else(|| format.info(), Format::info)
}

/// Handling of values that another number type cannot represent.
fn overflow(args: &Convert) -> Overflow {
    if allowed(args).permits(Aspect::Precision) {
        Overflow::Saturates
    } else {
        Overflow::Fails
    }
}

/// Splits the positional arguments into inputs and output.
fn destination(args: &Convert) -> Result<(&[PathBuf], Destination), Failure> {
    let words = args.words.as_slice();
    match (&args.output.saving.file, &args.output.out_dir) {
        (Some(file), _) => Ok((words, Destination::named(file))),
        (None, Some(folder)) => Ok((words, Destination::Folder(folder.clone()))),
        (None, None) => match words.split_last() {
            Some((out, inputs)) if !inputs.is_empty() => Ok((inputs, Destination::named(out))),
            _ => Err(Failure::usage(
                "nothing says where to write: name a file last, or with -o, or a folder with \
                 --out-dir",
            )),
        },
    }
}

fn allowed(args: &Convert) -> Allow {
    allow(&args.allow)
}
