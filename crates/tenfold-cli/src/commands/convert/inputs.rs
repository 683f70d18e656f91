//! The files that are read.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use tenfold::{Bundle, Format, Info, Names, Options, Source, When, formats};

use super::{allowed, merge, overflow};
use crate::address::Address;
use crate::args::{Convert, Target};
use crate::commands::output::{Content, Destination, stem, target};
use crate::failure::Failure;
use crate::input;
use crate::options;
use crate::render::note_text;
use crate::select;
use crate::sets::Set;
use crate::streams::Streams;

/// A file that is open, and of a known format.
pub(super) struct Found<'a> {
    /// As it stands on the command line.
    word: &'a Path,
    pub(super) address: Address,
    source: Source,
    pub(super) format: &'static dyn Format,
    /// The set that the file is one of, if it is.
    set: Option<Rc<Set>>,
}

/// What was read of one file.
pub(super) struct Part {
    /// As it stands on the command line.
    pub(super) word: PathBuf,
    /// What a tensor without a name is called.
    pub(super) stem: Option<String>,
    pub(super) bundle: Bundle,
}

/// Opens the files and finds out what they are.
pub(super) fn find<'a>(
    args: &Convert,
    words: &'a [PathBuf],
    streams: &mut Streams,
) -> Result<Vec<Found<'a>>, Failure> {
    let part = &args.selection.part;
    if words.len() > 1 && (part.tensor.is_some() || part.slice.is_some()) {
        let why = "--tensor and --slice are for one input: say FILE:KEY[0:3] for each";
        return Err(Failure::usage(why));
    }
    let mut found = Vec::new();
    for word in words {
        let about = |failure: Failure| failure.about(word);
        let address = Address::find(word)
            .with(part.tensor.as_deref(), part.slice.as_deref())
            .map_err(about)?;
        let set = Set::find(&address.file, &args.reading.limits.0);
        let set = set.map_err(|error| about(error.into()))?.map(Rc::new);
        let files = match &set {
            None => vec![address.file.clone()],
            Some(set) if address.is_whole() => set.files.clone(),
            // Whatever file the tensor is in, they are of one format, and opened as one.
            Some(set) => set.files.iter().take(1).cloned().collect(),
        };
        for file in files {
            let about = |error: tenfold::Error| Failure::from(error).about(&file);
            let source = input::source(&file, &args.reading, streams).map_err(about)?;
            let format = input::detect(&source, &file, &args.reading).map_err(about)?;
            let address = match set {
                Some(_) if address.is_whole() => Address::whole(&file),
                _ => address.clone(),
            };
            found.push(Found {
                word,
                address,
                source,
                format,
                set: set.clone(),
            });
        }
    }
    Ok(found)
}

/// Reads the tensors that are meant, gives those of several files in one, and the options for
/// writing.
pub(super) fn read(
    args: &Convert,
    found: Vec<Found>,
    target: &Info,
    streams: &mut Streams,
) -> Result<(Content, Options), Failure> {
    let info = naming(&found);
    let infos: Vec<&Info> = found.iter().map(|found| found.format.info()).collect();
    let mut writing = Options::default();
    let mut parts = Vec::new();
    for found in &found {
        let own = found.format.info();
        let given = options_for(args, &infos, own, target);
        let (reading, for_writing) = options::of_these(&args.reading, &given, own, Some(target))?;
        writing = for_writing;
        let bundle = match &found.set {
            Some(set) if !found.address.is_whole() => {
                input::open_set(set, &args.reading, Some(target), streams)
                    .map(|(_, opened, _)| opened.bundle)
            }
            _ => one(args, found, reading, streams),
        };
        let about = |failure: Failure| failure.about(found.word);
        let mut bundle = bundle.map_err(about)?;
        let narrowed = found
            .address
            .narrow(&mut bundle, own, &args.reading.limits.0);
        narrowed.map_err(about)?;
        parts.push(Part {
            word: found.word.into(),
            stem: stem(&found.address.file),
            bundle,
        });
    }
    let is_tree = info.holds.names == Names::Tree;
    merge::name(&mut parts, args.renaming.prefix_stem, is_tree);
    choose(args, info, &mut parts)?;
    for (part, found) in parts.iter().zip(&found) {
        let notes = part.bundle.notes();
        input::refuse_notes(found.format, notes, &args.reading)
            .map_err(|failure| failure.about(found.word))?;
        for note in notes {
            streams.note(found.word, &note_text(info, note));
        }
        let name = found.format.info().name;
        streams.detail(found.word, &format!("read as {name}"));
    }
    let content = merge::merge(parts, info, target, &allowed(args))?;
    Ok((content, writing))
}

/// The options that concern one of the inputs; what concerns none of them concerns the first, which
/// says so.
fn options_for(
    args: &Convert,
    infos: &[&Info],
    own: &Info,
    target: &Info,
) -> Vec<(String, String)> {
    let is_for = |name: &str, info: &Info| options::has(info, name, When::Read);
    let given = args.reading.options();
    let given = given.iter();
    let meant = given.filter(|(name, _)| {
        is_for(name, own)
            || options::has(target, name, When::Write)
            || !infos.iter().any(|info| is_for(name, info))
    });
    meant.cloned().collect()
}

fn one(
    args: &Convert,
    found: &Found,
    options: Options,
    streams: &mut Streams,
) -> Result<Bundle, Failure> {
    let over = overflow(args);
    let mut bundle = input::read(&found.source, found.format, &args.reading, options, over)?.bundle;
    if let Some(set) = &found.set {
        input::narrow_to_set(set, &found.address.file, &mut bundle, streams)?;
    }
    Ok(bundle)
}

/// Keeps what `--only` and `--exclude` want; each must match something in one of the files.
fn choose(args: &Convert, info: &Info, parts: &mut [Part]) -> Result<(), Failure> {
    let choice = &args.selection.choice;
    let (only, exclude) = (&choice.only, &choice.exclude);
    if let [part] = parts {
        return select::select(&mut part.bundle, info, only, exclude);
    }
    let names = parts.iter().map(|part| select::names(&part.bundle, info));
    let names: Vec<String> = names.flatten().collect();
    select::demand_all(only.iter().chain(exclude), &names)?;
    for part in parts {
        select::keep(&mut part.bundle, info, only, exclude);
    }
    Ok(())
}

/// A format that names tensors as these files together do: by path if one of them does, else by
/// plain names.
fn naming(found: &[Found]) -> &'static Info {
    let infos = || found.iter().map(|found| found.format.info());
    let by = |names| infos().find(|info| info.holds.names == names);
    let flat = || {
        let mut all = formats::ALL.iter().map(|format| format.info());
        all.find(|info| info.holds.names == Names::Flat)
    };
    let first = infos().next().filter(|_| found.len() == 1);
    first
        .or_else(|| by(Names::Tree))
        .or_else(|| by(Names::Flat))
        .or_else(flat)
        .unwrap_or_else(|| tenfold::formats::npy::Npy.info())
}

/// The format to write.
pub(super) fn target(
    to: Option<&Target>,
    destination: &Destination,
    found: &[Found],
) -> Result<&'static dyn Format, Failure> {
    let inputs: Vec<&Path> = found.iter().map(|one| one.address.file.as_path()).collect();
    target::choose(to, destination, own(found), &inputs)
}

/// The format of all inputs.
fn own(found: &[Found]) -> Option<&'static dyn Format> {
    let first = found.first()?.format;
    let is_own = |found: &Found| found.format.info().name == first.info().name;
    found.iter().all(is_own).then_some(first)
}
