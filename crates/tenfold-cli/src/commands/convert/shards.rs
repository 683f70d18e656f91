//! `--max-size`: a file cut into several.

use std::path::{Path, PathBuf};

use tenfold::{Bundle, Key, Names, Tensor};

use super::{Job, output};
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
    let (lowered, said) = tenfold::forecast(&job.content.bundle, job.format, job.how)
        .map_err(|error| job.blame(file, error))?;
    let shards = cut(&lowered, most);
    if shards.len() < 2 {
        return output::write(job, file, streams);
    }
    let files = names(file, shards.len());
    output::refuse_existing(files.iter().map(PathBuf::as_path), job.force)?;
    output::say_losses(file, job.content.said.iter().chain(&said), streams);
    for (file, shard) in files.iter().zip(shards) {
        let mut bundle = Bundle::new();
        (bundle.meta, bundle.hints) = (lowered.meta.clone(), lowered.hints.clone());
        let mut len = 0_u64;
        for (key, tensor) in shard {
            bundle.push(key.clone(), tensor.clone());
            len = len.saturating_add(weight(tensor));
        }
        tenfold::save(&bundle, file, job.format, job.how, job.force)
            .map_err(|error| job.blame(file, error))?;
        output::say_written(file, job.format, bundle.entries().len(), streams);
        if let (true, Some((key, _))) = (len > most, shard.first()) {
            let (name, len) = (shown_name(info, key), bytes_text(len));
            streams.note(file, &format!("{name} alone has {len} of values"));
        }
    }
    Ok(())
}

fn weight(tensor: &Tensor) -> u64 {
    tensor.storage().stored_len()
}

/// Cuts the entries into runs of at most `most` bytes; a tensor and its statistics stay together.
fn cut(bundle: &Bundle, most: u64) -> Vec<&[(Key, Tensor)]> {
    let entries = bundle.entries();
    let (mut shards, mut start, mut end, mut held) = (Vec::new(), 0, 0, 0_u64);
    for family in entries.chunk_by(|(first, _), (second, _)| first.path == second.path) {
        let len = family
            .iter()
            .fold(0_u64, |sum, (_, tensor)| sum.saturating_add(weight(tensor)));
        if end > start && held.saturating_add(len) > most {
            shards.extend(entries.get(start..end));
            (start, held) = (end, 0);
        }
        held = held.saturating_add(len);
        end += family.len();
    }
    shards.extend(entries.get(start..end));
    shards
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
