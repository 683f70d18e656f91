//! `tenfold convert`: files written anew.

mod file_names;
mod folder;
mod inputs;
mod merge;
mod output;
mod shards;
mod target;

use std::path::{Path, PathBuf};

use tenfold::{Allow, Aspect, Bundle, Info, Loss, Names, Overflow, Progress, WriteOptions};

use super::Outcome;
use crate::args::{Convert, allow};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::DASH;
use crate::meter::Meter;
use crate::rename::rename;
use crate::select::cast;
use crate::streams::Streams;
use crate::transform::{self, Wanted};

pub(super) fn run(args: &Convert, streams: &mut Streams) -> Outcome {
    let (words, destination) = destination(args)?;
    let found = inputs::find(args, words, streams)?;
    let format = target::choose(args, &destination, &found)?;
    let (mut content, options) = inputs::read(args, found, format.info(), streams)?;
    let labels = prepare(args, &mut content, format.info(), streams)?;
    let to = args.output.to.as_ref();
    let how = WriteOptions {
        version: to.and_then(|to| to.version.clone()),
        options,
        allow: allowed(args),
        strict: args.reading.strict,
        stem: content.stem.clone(),
        limits: args.reading.limits.0.clone(),
        skip_sync: args.output.no_sync,
        progress: Progress::default(),
        skip_carry: args.naming.no_carry,
        naming: args.naming.naming(),
    };
    let job = Job {
        content: &content,
        format,
        how: &how,
        force: args.output.force,
    };
    let _meter = Meter::start(streams, &how.progress);
    match (&destination, args.output.max_size) {
        (Destination::Folder(folder), _) => folder::write(&job, folder, streams)?,
        (Destination::File(file), Some(most)) => shards::write(&job, file, most, streams)?,
        (Destination::File(file), None) => output::write(&job, file, streams)?,
        (Destination::Stream, None) => output::stream(&job, streams)?,
        (Destination::Stream, Some(_)) => {
            let why = "--max-size writes several files, and standard output is one: name a file";
            return Err(Failure::usage(why));
        }
    }
    labels.save(args.output.force, args.output.no_sync)?;
    Ok(Exit::Fine)
}

/// Where to write.
enum Destination {
    /// Standard output.
    Stream,
    File(PathBuf),
    /// A file a tensor in this folder.
    Folder(PathBuf),
}

/// What was read, from one file or from several.
struct Content {
    bundle: Bundle,
    /// A format that names tensors as these are named.
    info: &'static Info,
    /// The file it comes from, if it is one.
    file: Option<PathBuf>,
    /// What a tensor without a name is called.
    stem: Option<String>,
    /// What putting files together has lost.
    said: Vec<Loss>,
}

/// Everything it takes to write.
struct Job<'a> {
    content: &'a Content,
    format: &'static dyn tenfold::Format,
    how: &'a WriteOptions,
    force: bool,
}

impl Job<'_> {
    /// Says about which file a failure is: about the input, where there is one, else about `file`.
    fn blame(&self, file: &Path, error: tenfold::Error) -> Failure {
        match Failure::from(error) {
            failure if failure.is_usage() => failure,
            failure => failure.about(self.content.file.as_deref().unwrap_or(file)),
        }
    }
}

/// What is done to the tensors between reading and writing, in this order; gives the lists of labels
/// to write beside them. Which of them are meant
/// at all has been decided by then: see [`inputs::read`].
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
    rename(bundle, info, is_tree, &args.selection.rename)?;
    let over = match allowed(args).permits(Aspect::Precision) {
        true => Overflow::Saturates,
        false => Overflow::Fails,
    };
    let all = Path::new("the inputs");
    let file = content.file.as_deref().unwrap_or(all);
    transform::apply(bundle, info, args, file, streams)
        .and_then(|labels| cast(bundle, info, args, over).map(|()| labels))
        .map_err(|failure| match &content.file {
            Some(file) => failure.about(file),
            None => failure,
        })
}

/// Parts the words into what is read and what is written.
fn destination(args: &Convert) -> Result<(&[PathBuf], Destination), Failure> {
    let to_file = |path: &Path| match path == Path::new(DASH) {
        true => Destination::Stream,
        false => Destination::File(path.into()),
    };
    let words = args.words.as_slice();
    match (&args.output.file, &args.output.out_dir) {
        (Some(file), _) => Ok((words, to_file(file))),
        (None, Some(folder)) => Ok((words, Destination::Folder(folder.clone()))),
        (None, None) => match words.split_last() {
            Some((out, inputs)) if !inputs.is_empty() => Ok((inputs, to_file(out))),
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
