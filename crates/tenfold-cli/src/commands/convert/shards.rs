//! `--max-size`: a file cut into several.

use std::path::{Path, PathBuf};

use tenfold::{Bundle, Key, Names, Result, Tensor};

use crate::commands::output::{Job, file as output};
use crate::failure::Failure;
use crate::render::{bytes_text, shown_name};
use crate::streams::Streams;

/// Saves the tensors, in order, in as few files as hold `most` bytes of values each.
pub(super) fn write(
    job: &Job,
    file: &Path,
    most: u64,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let info = job.format.info();
    if info.holds.names == Names::One {
        let name = info.name;
        return Err(Failure::usage(format!(
            "{name} holds one tensor, which --max-size cannot cut: --out-dir writes a file for each"
        )));
    }
    let (_, said) = tenfold::forecast(&job.content.bundle, job.format, job.how)
        .map_err(|error| job.blame(file, error))?;
    let shards = cut(job, most).map_err(|error| job.blame(file, error))?;
    if shards.len() < 2 {
        return output::write(job, file, streams);
    }
    let files = names(file, shards.len());
    output::refuse_existing(files.iter().map(PathBuf::as_path), job.force)?;
    output::say_losses(file, job.content.said.iter().chain(&said), streams);
    for (file, shard) in files.iter().zip(shards) {
        let bundle = bundled(job, shard.entries);
        tenfold::save(&bundle, file, job.format, job.how, job.force)
            .map_err(|error| job.blame(file, error))?;
        output::say_written(job, file, streams);
        if let (true, Some((key, _))) = (shard.len > most, shard.entries.first()) {
            let (name, len) = (shown_name(info, key), bytes_text(shard.len));
            streams.note(file, &format!("{name} alone has {len} of values"));
        }
    }
    Ok(())
}

/// What goes into one file.
struct Shard<'a> {
    entries: &'a [(Key, Tensor)],
    /// How many bytes of values the file will have.
    len: u64,
}

/// Some of the tensors, with the metadata of all.
fn bundled(job: &Job, entries: &[(Key, Tensor)]) -> Bundle {
    let mut bundle = Bundle::new();
    let all = &job.content.bundle;
    (bundle.meta, bundle.hints) = (all.meta.clone(), all.hints.clone());
    for (key, tensor) in entries {
        bundle.push(key.clone(), tensor.clone());
    }
    bundle
}

/// How many bytes of values some tensors have once they are as the format holds them.
fn weight(job: &Job, entries: &[(Key, Tensor)]) -> Result<u64> {
    let (lowered, _) = tenfold::forecast(&bundled(job, entries), job.format, job.how)?;
    let lens = lowered
        .entries()
        .iter()
        .map(|(_, tensor)| tensor.storage().stored_len());
    Ok(lens.fold(0, u64::saturating_add))
}

/// Cuts the entries into runs of at most `most` bytes; a tensor and its statistics stay together.
fn cut<'a>(job: &'a Job, most: u64) -> Result<Vec<Shard<'a>>> {
    let entries = job.content.bundle.entries();
    let (mut shards, mut start, mut end, mut held) = (Vec::new(), 0, 0, 0_u64);
    let shard = |range: std::ops::Range<usize>, len| Shard {
        entries: entries.get(range).unwrap_or_default(),
        len,
    };
    for family in entries.chunk_by(|(first, _), (second, _)| first.path == second.path) {
        let len = weight(job, family)?;
        if end > start && held.saturating_add(len) > most {
            shards.push(shard(start..end, held));
            (start, held) = (end, 0);
        }
        held = held.saturating_add(len);
        end += family.len();
    }
    shards.push(shard(start..end, held));
    Ok(shards)
}

/// The names of the files, such as `model-00001-of-00003.zt`.
fn names(file: &Path, count: usize) -> Vec<PathBuf> {
    let name = |number| {
        let mut name = file.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{number:05}-of-{count:05}"));
        if let Some(extension) = file.extension() {
            name.push(".");
            name.push(extension);
        }
        file.with_file_name(name)
    };
    (1..=count).map(name).collect()
}
