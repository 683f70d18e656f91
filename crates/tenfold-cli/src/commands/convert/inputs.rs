//! The input files of a conversion.

use std::path::{Path, PathBuf};

use tenfold::ops::{
    Input, Part, ReadInput, TensorRef, demand_all, matches, name_by_files, retain,
    retain_with_statistics, stem,
};
use tenfold::{
    Aspect, Bundle, Format, Info, Key, Loss, Names, Options, ReadOptions, Tier, When, formats,
    memory, statistics_left_out,
};

use super::{allowed, merge, overflow};
use crate::args::Target;
use crate::commands::Convert;
use crate::commands::output::{Content, Destination, name_of_all, target};
use crate::error::Failure;
use crate::render::note_text;
use crate::terminal::Streams;
use crate::{input, options};

/// The files of one argument.
pub(super) struct Found<'a> {
    /// As given on the command line.
    word: &'a Path,
    reference: TensorRef,
    input: Input,
}

impl Found<'_> {
    fn info(&self) -> &'static Info {
        self.input.format().info()
    }
}

/// Opens the files and detects their formats.
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
    let (mut found, mut sets) = (Vec::new(), Vec::new());
    for word in words {
        let about = |error: tenfold::Error| Failure::from(error).about(word);
        let reference = TensorRef::find(word)
            .and_then(|found| found.with(part.tensor.as_deref(), part.slice.as_deref()))
            .map_err(about)?;
        let input = input::find(&reference, &args.reading, streams).map_err(about)?;
        if !crate::commands::is_repeated(&input, &reference, &mut sets) {
            found.push(Found {
                word,
                reference,
                input,
            });
        }
    }
    Ok(found)
}

/// Reads the selected tensors, merging those of several files, and the options for writing.
pub(super) fn read(
    args: &Convert,
    found: Vec<Found>,
    target: &Info,
    streams: &mut Streams,
) -> Result<(Content, Options), Failure> {
    let info = naming(&found);
    let infos: Vec<&Info> = found.iter().map(Found::info).collect();
    let mut writing = Options::default();
    let (mut parts, mut hows, mut narrowed) = (Vec::new(), Vec::new(), Vec::new());
    for found in &found {
        let own = found.info();
        let given = options_for(args, &infos, own, target);
        let (reading, for_writing) = options::of_these(&args.reading, &given, own, Some(target))?;
        writing = for_writing;
        let about = |failure: Failure| failure.about(found.word);
        let how = input::read_options(&args.reading, reading);
        let read = parts_of(args, found, &how, target, &mut narrowed).map_err(about)?;
        hows.push(how);
        for part in &read {
            let notes = part.bundle.notes();
            input::refuse_notes(found.input.format(), notes, &args.reading).map_err(about)?;
            for note in notes {
                streams.note(found.word, &note_text(own, note));
            }
        }
        input::say_format(&found.input, streams);
        parts.extend(read);
    }
    let is_tree = info.holds.names == Names::Tree;
    if parts.len() > 1 || args.renaming.prefix_stem {
        name_by_files(&mut parts, args.renaming.prefix_stem, is_tree);
    }
    let only = match found.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let words: Vec<&Path> = found.iter().map(|found| found.word).collect();
    let about = |failure: Failure| match name_of_all(&words) {
        Some(name) => failure.about(&name),
        None => failure,
    };
    let mut left_out = choose(args, info, target, &mut parts).map_err(about)?;
    left_out.extend(narrowed);
    let merged = merge::merge(parts, info, target, &allowed(args));
    let (bundle, mut said) = merged.map_err(|failure| {
        if failure.is_usage() {
            failure
        } else {
            about(failure)
        }
    })?;
    said.extend(left_out);
    let (file, stem) = (
        only.map(|found| found.word.to_owned()),
        only.and_then(|found| stem(&found.reference.file)),
    );
    let inputs = found.into_iter().zip(hows).map(|(found, how)| ReadInput {
        input: found.input,
        how,
    });
    let content = Content {
        bundle,
        info,
        file,
        stem,
        said,
        inputs: inputs.collect(),
    };
    Ok((content, writing))
}

/// Reads one input, the selected tensor or every file of it; adds omitted statistics to `said`.
fn parts_of(
    args: &Convert,
    found: &Found,
    how: &ReadOptions,
    target: &Info,
    said: &mut Vec<Loss>,
) -> Result<Vec<Part>, Failure> {
    let (input, reference) = (&found.input, &found.reference);
    let mut parts = if reference.is_whole() {
        input.read_parts(how)?
    } else {
        let bundle = input.read(how)?.bundle;
        vec![Part {
            path: reference.file.clone(),
            stem: stem(&reference.file),
            bundle,
        }]
    };
    for part in &mut parts {
        leave_set(found.input.format(), &mut part.bundle, said);
        input::dequantize(&mut part.bundle, &args.reading, overflow(args))?;
        let limits = &args.reading.limits.0;
        let before = keys(&part.bundle)?;
        if target.holds.state {
            reference.narrow_with_statistics(&mut part.bundle, found.info(), limits)?;
        } else {
            reference.narrow(&mut part.bundle, found.info(), limits)?;
        }
        said.extend(statistics_left_out(&before, &part.bundle));
    }
    Ok(parts)
}

/// Removes the metadata of the set from a file taken out of it.
fn leave_set(format: &dyn Format, bundle: &mut Bundle, said: &mut Vec<Loss>) {
    if let Some(shard) = format.shard(bundle) {
        format.mark_shard(bundle, None);
        let (number, count) = (shard.number.saturating_add(1), shard.count);
        said.push(Loss {
            key: None,
            tier: Tier::Said,
            aspect: Aspect::Metadata,
            detail: format!("that it is file {number} of {count} is dropped"),
        });
    }
}

/// The options for one of the inputs; an option that no input knows is given to the first, which
/// reports it.
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

/// Keeps the tensors selected by `--only` and `--exclude`, with statistics if the target holds
/// them; each pattern must match in one of the files. Returns the omitted statistics.
fn choose(
    args: &Convert,
    info: &Info,
    target: &Info,
    parts: &mut [Part],
) -> Result<Vec<Loss>, Failure> {
    let choice = &args.selection.choice;
    let (only, exclude) = (&choice.only, &choice.exclude);
    if only.is_empty() && exclude.is_empty() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for part in &*parts {
        let mut own = info.names_of(&part.bundle)?;
        memory::reserve(&mut names, own.len())?;
        names.append(&mut own);
    }
    demand_all(only.iter().chain(exclude), &names)?;
    let mut said = Vec::new();
    for part in parts {
        let before = keys(&part.bundle)?;
        if target.holds.state {
            retain_with_statistics(&mut part.bundle, info, only, exclude)
        } else {
            retain(&mut part.bundle, info, only, exclude)
        }
        let left_out = statistics_left_out(&before, &part.bundle);
        // Tensors excluded by name are not reported.
        let is_named = |loss: &Loss| {
            let name = loss.key.as_ref().map(|key| info.name_of(key));
            name.is_some_and(|name| exclude.iter().any(|glob| matches(glob, &name)))
        };
        said.extend(left_out.into_iter().filter(|loss| !is_named(loss)));
    }
    Ok(said)
}

/// The keys of all statistics.
fn keys(bundle: &Bundle) -> tenfold::Result<Vec<Key>> {
    let keys = bundle.entries().iter().map(|(key, _)| key);
    memory::collected(keys.filter(|key| key.state.is_some()).cloned())
}

/// A format that names tensors as all these files together do: by path if any of them does,
/// otherwise by plain names.
fn naming(found: &[Found]) -> &'static Info {
    let infos = || found.iter().map(Found::info);
    let by = |names| infos().find(|info| info.holds.names == names);
    let flat = || {
        let mut all = formats::ALL.iter().map(|format| format.info());
        all.find(|info| info.holds.names == Names::Flat)
    };
    let is_one = match found {
        [only] => only.input.members().len() == 1,
        _ => false,
    };
    let first = infos().next().filter(|_| is_one);
    first
        .or_else(|| by(Names::Tree))
        .or_else(|| by(Names::Flat))
        .or_else(flat)
        .unwrap_or_else(|| tenfold::formats::npy::Npy.info())
}

/// The target format.
pub(super) fn target(
    to: Option<&Target>,
    destination: &Destination,
    found: &[Found],
) -> Result<&'static dyn Format, Failure> {
    let members = found.iter().flat_map(|found| found.input.members());
    let inputs: Vec<&Path> = members.map(|member| member.path.as_path()).collect();
    target::choose(to, destination, own(found), &inputs)
}

/// The common format of the inputs.
fn own(found: &[Found]) -> Option<&'static dyn Format> {
    let first = found.first()?;
    let is_own = |other: &Found| other.info().name == first.info().name;
    found.iter().all(is_own).then(|| first.input.format())
}
