//! `--out-dir`: one file per tensor, and an index of their true names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tenfold::ops::presence;
use tenfold::{Aspect, Bundle, Error, Format, Info, Key, Loss, Names, Refusal, Tensor};

use super::file_names::file_names;
use crate::commands::output::file::Written;
use crate::commands::output::report::{Report, SavedFile};
use crate::commands::output::{WriteJob, file as output};
use crate::error::Failure;
use crate::render::shown_name;
use crate::terminal::{Streams, counted};

const SCHEMA: &str = "tenfold.index/1";

/// The index: which file holds which tensor.
const INDEX: &str = "index.json";

/// Saves every tensor as a file of its own in `folder`, the index last.
pub(super) fn write(
    job: &WriteJob,
    folder: &Path,
    streams: &mut Streams,
) -> Result<Report, Failure> {
    let groups = groups(job);
    if groups.is_empty() {
        let why = "there is no tensor, and --out-dir writes a file for each: -o names one file";
        let name = job.content.name();
        return Err(Failure::refused(why).about(name.as_deref().unwrap_or(folder)));
    }
    let names = names(job, &groups);
    let (lowered, said) = forecast(job, &groups).map_err(|error| job.blame(folder, error))?;
    let inside = made(folder, job.how.skip_sync)?;
    let index = inside.join(INDEX);
    let files: Vec<PathBuf> = names.iter().map(|name| inside.join(name)).collect();
    let all = files.iter().chain([&index]).map(PathBuf::as_path);
    output::refuse_existing(all.clone(), job.force)?;
    refuse_links(all)?;
    output::say_losses(folder, job.content.said.iter().chain(&said), streams);
    let mut report = Report {
        losses: [job.content.said.as_slice(), &said].concat(),
        ..Report::default()
    };
    for (group, file) in groups.iter().zip(&files) {
        let alone = alone(job, group);
        let said = tenfold::save(&alone, file, job.format, job.how, job.force)
            .map_err(|error| job.blame(file, error))?;
        report
            .losses
            .extend(output::say_rounding(file, &said, streams));
        let (_, saved) = output::saved(job, file)?;
        report.files.extend(saved);
    }
    let text =
        index_text(job, &groups, &lowered, &names).map_err(|error| job.blame(&index, error))?;
    tenfold::save_with(&index, job.force, job.how.skip_sync, |out| {
        out.write(text.as_bytes())
    })
    .map_err(|error| job.blame(&index, error))?;
    report.files.push(SavedFile::find(&index, None)?);
    let n_files = report.files.len().saturating_sub(1);
    let n_files = counted(u64::try_from(n_files).unwrap_or(u64::MAX), "file");
    let format = job.format.info().name;
    let version = match files.first() {
        Some(file) => format!(" {}", Written::find(job, file)?.version),
        None => String::new(),
    };
    let folder = folder.display();
    streams.done(&format!(
        "wrote {folder}: {n_files} of {format}{version}, and {INDEX}"
    ));
    Ok(report)
}

/// Fails if one of the files exists and must not be replaced.
pub(super) fn refuse_existing(job: &WriteJob, folder: &Path) -> Result<(), Failure> {
    let names = names(job, &groups(job));
    let names = names.iter().map(String::as_str).chain([INDEX]);
    let files: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    output::refuse_existing(files.iter().map(PathBuf::as_path), job.force)
}

/// The content of one file: a tensor, and its statistics if the file holds them.
type Group<'a> = Vec<&'a (Key, Tensor)>;

fn groups<'a>(job: &'a WriteJob) -> Vec<Group<'a>> {
    let entries = job.content.bundle.entries();
    let has_state = edition(job).holds.state;
    let (statistics, owners): (Vec<_>, Vec<_>) =
        { entries.iter() }.partition(|(key, _)| has_state && key.state.is_some());
    let mut of_owner: HashMap<Key, Group> = HashMap::new();
    for statistic in statistics {
        of_owner
            .entry(statistic.0.owner())
            .or_default()
            .push(statistic);
    }
    let mut groups: Vec<Group> = Vec::new();
    for owner in owners {
        let own = of_owner.remove(&owner.0).unwrap_or_default();
        groups.push(std::iter::once(owner).chain(own).collect());
    }
    // Statistics without an owner are refused by name.
    groups.extend(of_owner.into_values());
    groups
}

/// The content of a file with one tensor.
fn edition(job: &WriteJob) -> &'static Info {
    let edition = job.format.edition(&Bundle::new(), job.how);
    edition.map_or_else(|| job.format.info(), Format::info)
}

/// The file names, in the order of the tensors.
fn names(job: &WriteJob, groups: &[Group]) -> Vec<String> {
    let content = job.content;
    let name = |(key, _): &(Key, Tensor)| match shown_name(content.info, key) {
        name if name.is_empty() => content.stem.clone().unwrap_or_else(|| "tensor".into()),
        name => name,
    };
    let firsts = groups.iter().filter_map(|group| group.first());
    let names: Vec<String> = firsts.map(|first| name(first)).collect();
    let usual = job.format.info().extensions.first().copied();
    let extension = job
        .format
        .lone_extension()
        .or(usual)
        .unwrap_or(job.format.info().name);
    let stems = file_names(&names).into_iter();
    stems.map(|stem| format!("{stem}.{extension}")).collect()
}

/// A bundle of one tensor; if the file is the tensor itself, the index keeps the name.
fn alone(job: &WriteJob, group: &Group) -> Bundle {
    let mut bundle = Bundle::new();
    for (key, tensor) in group {
        let key = match edition(job).holds.names {
            Names::One => Key::root().with_state(key.state.clone()),
            Names::Flat | Names::Tree => key.clone(),
        };
        bundle.push(key, tensor.clone());
    }
    bundle.meta = job.content.bundle.meta.clone();
    bundle.hints = job.content.bundle.hints.clone();
    bundle
}

/// The content of the files and their losses, all permitted for every tensor: nothing is written
/// before that is known.
fn forecast(job: &WriteJob, groups: &[Group]) -> Result<(Vec<Bundle>, Vec<Loss>), Error> {
    let bundle = &job.content.bundle;
    let skipped = tenfold::losses(bundle, job.format)?.into_iter();
    let skipped = skipped.filter(|loss| loss.aspect == Aspect::Skipped && loss.key.is_none());
    let may_skip = job.how.allow.permits(Aspect::Skipped);
    let (mut said, mut refused): (Vec<Loss>, Vec<Loss>) = skipped.partition(|_| may_skip);
    let mut lowered = Vec::new();
    for group in groups {
        let Some((owner, _)) = group.first() else {
            continue;
        };
        let alone = alone(job, group);
        let (losses, list) = match tenfold::forecast(&alone, job.format, job.how) {
            Ok((bundle, losses)) => {
                lowered.push(bundle);
                (losses, &mut said)
            }
            Err(Error::Refused(refusal)) => (refusal.losses, &mut refused),
            Err(error) => return Err(error),
        };
        list.extend(losses.into_iter().map(|loss| Loss {
            key: loss.key.map(|key| owner.clone().with_state(key.state)),
            ..loss
        }));
    }
    if refused.is_empty() {
        return Ok((lowered, said));
    }
    Err(Refusal {
        format: job.format.info().name,
        losses: refused,
    }
    .into())
}

/// The folder, created if missing, as a canonical path: links are resolved once, before anything is
/// written.
fn made(folder: &Path, skip_sync: bool) -> Result<PathBuf, Failure> {
    tenfold::make_folder(folder, skip_sync)?;
    let in_folder = |error: std::io::Error| Failure::from(Error::from(error).in_file(folder));
    folder.canonicalize().map_err(in_folder)
}

/// Fails if one of the files is a link, which may point anywhere.
fn refuse_links<'a>(files: impl Iterator<Item = &'a Path>) -> Result<(), Failure> {
    for file in files {
        if presence::link_metadata(file)?.is_some_and(|about| about.is_symlink()) {
            let file = file.display();
            let why = format!("{file} is a link, and --out-dir writes inside the folder alone");
            return Err(Failure::usage(why));
        }
    }
    Ok(())
}

fn index_text(
    job: &WriteJob,
    groups: &[Group],
    lowered: &[Bundle],
    files: &[String],
) -> Result<String, Error> {
    let firsts = groups.iter().filter_map(|group| group.first());
    let entries = firsts.zip(lowered).zip(files);
    let entries = entries.map(|((entry, lowered), file)| index_entry(job, entry, lowered, file));
    let index = json!({
        "schema": SCHEMA,
        "format": job.format.info().name,
        "tensors": entries.collect::<Result<Vec<_>, Error>>()?,
    });
    Ok(format!("{index:#}\n"))
}

/// The index entry of one file, with the options needed to read it again.
fn index_entry(
    job: &WriteJob,
    (key, tensor): &(Key, Tensor),
    lowered: &Bundle,
    file: &str,
) -> Result<Json, Error> {
    let dims = tensor.dims().iter();
    let mut entry = serde_json::Map::new();
    let mut say = |name: &str, value: Json| entry.insert(name.to_owned(), value);
    say("file", file.into());
    say("name", shown_name(job.content.info, key).into());
    say("key", key.path().into());
    say("state", key.state.clone().into());
    say("dtype", tensor.dtype().to_string().into());
    say("shape", dims.map(tenfold::Dim::indexed_size).collect());
    if let Some((stored, written)) = lowered.entries().first() {
        if stored != key && !stored.is_empty() {
            say("stored", stored.path().into());
        }
        let options = job.format.options_to_read(written, &job.how.options)?;
        let options: serde_json::Map<_, _> = { options.iter() }
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        if !options.is_empty() {
            say("options", options.into());
        }
    }
    Ok(entry.into())
}
