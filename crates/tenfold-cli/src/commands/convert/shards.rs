//! `--max-size`: one file split into shards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use tenfold::{Bundle, Info, Key, Names, Result, Tensor};

use crate::commands::output::report::{Report, SavedFile};
use crate::commands::output::{WriteJob, file as output};
use crate::error::Failure;
use crate::render::{bytes_text, shown_name};
use crate::terminal::Streams;

/// Saves the tensors, in order, in as few files as hold `most` bytes of values each.
pub(super) fn write(
    job: &WriteJob,
    file: &Path,
    most: u64,
    streams: &mut Streams,
) -> Result<Report, Failure> {
    let info = job.format.info();
    if info.holds.names == Names::One {
        let name = info.name;
        return Err(Failure::usage(format!(
            "{name} holds one tensor, which --max-size cannot cut: --out-dir writes a file for each"
        )));
    }
    let (lowered, said) = tenfold::forecast(&job.content.bundle, job.format, job.how)
        .map_err(|error| job.blame(file, error))?;
    let shards = cut(job, most).map_err(|error| job.blame(file, error))?;
    if shards.len() < 2 {
        return output::write(job, file, streams);
    }
    let files = names(file, shards.len());
    let index = has_index(info).then(|| index_name(file));
    let all = files.iter().chain(&index);
    output::refuse_existing(all.map(PathBuf::as_path), job.force)?;
    output::say_losses(file, job.content.said.iter().chain(&said), streams);
    let mut report = Report {
        losses: [job.content.said.as_slice(), &said].concat(),
        ..Report::default()
    };
    let mut owners = Owners::default();
    let n_tensors = u64::try_from(lowered.entries().len()).ok();
    let count = u64::try_from(files.len()).unwrap_or(u64::MAX);
    for ((number, file), shard) in (0..).zip(&files).zip(shards) {
        let mut bundle = bundled(job, shard.entries);
        let place = tenfold::Shard {
            number,
            count,
            n_tensors,
        };
        job.format.mark_shard(&mut bundle, Some(&place));
        if index.is_some() {
            let lowered = tenfold::forecast(&bundle, job.format, job.how);
            owners.add(file, &lowered.map_err(|error| job.blame(file, error))?.0);
        }
        let said = tenfold::save(&bundle, file, job.format, job.how, job.force)
            .map_err(|error| job.blame(file, error))?;
        report
            .losses
            .extend(output::say_rounding(file, &said, streams));
        report
            .files
            .extend(output::say_written(job, file, streams)?);
        if let (true, Some((key, _))) = (shard.len > most, shard.entries.first()) {
            let (name, len) = (shown_name(info, key), bytes_text(shard.len));
            streams.note(file, &format!("{name} alone has {len} of values"));
        }
    }
    // The index is written last: where it exists, so do all files that it names.
    if let Some(index) = index {
        let text = owners.json().map_err(|error| job.blame(&index, error))?;
        tenfold::save_with(&index, job.force, job.how.skip_sync, |out| out.write(&text))
            .map_err(|error| job.blame(&index, error))?;
        let name = index.display();
        streams.done(&format!("wrote {name}: where each tensor is"));
        report.files.push(SavedFile::find(&index, None)?);
    }
    Ok(report)
}

/// Whether programs expect an index beside the shards.
fn has_index(info: &Info) -> bool {
    info.name == "safetensors"
}

/// The name of the index, such as `model.safetensors.index.json`.
fn index_name(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".index.json");
    file.with_file_name(name)
}

/// The file of each tensor.
#[derive(Default)]
struct Owners {
    files: BTreeMap<String, String>,
    /// The total bytes of values.
    len: u64,
}

impl Owners {
    fn add(&mut self, file: &Path, bundle: &Bundle) {
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        for (key, tensor) in bundle.entries() {
            let name = key.flat_name().unwrap_or_default();
            self.files
                .insert(name.to_owned(), file.clone().into_owned());
            self.len = self.len.saturating_add(tensor.storage().stored_len());
        }
    }

    /// The index, in the layout of other programs.
    fn json(&self) -> Result<Vec<u8>> {
        let index = json!({ "metadata": { "total_size": self.len }, "weight_map": self.files });
        let text = serde_json::to_string_pretty(&index);
        let text = text.map_err(|error| tenfold::Error::Invalid(error.to_string()))?;
        Ok((text + "\n").into_bytes())
    }
}

/// The content of one file.
struct Shard<'a> {
    entries: &'a [(Key, Tensor)],
    /// Bytes of values in the file.
    len: u64,
}

/// A subset of the tensors, with the metadata of all.
fn bundled(job: &WriteJob, entries: &[(Key, Tensor)]) -> Bundle {
    let mut bundle = Bundle::new();
    let all = &job.content.bundle;
    (bundle.meta, bundle.hints) = (all.meta.clone(), all.hints.clone());
    for (key, tensor) in entries {
        bundle.push(key.clone(), tensor.clone());
    }
    bundle
}

/// Bytes of values of some tensors in the layout of the format.
fn weight(job: &WriteJob, entries: &[(Key, Tensor)]) -> Result<u64> {
    let (lowered, _) = tenfold::forecast(&bundled(job, entries), job.format, job.how)?;
    let lens = lowered
        .entries()
        .iter()
        .map(|(_, tensor)| tensor.storage().stored_len());
    Ok(lens.fold(0, u64::saturating_add))
}

/// Splits the entries into runs of at most `most` bytes; a tensor and its statistics stay together.
fn cut<'a>(job: &'a WriteJob, most: u64) -> Result<Vec<Shard<'a>>> {
    let entries = job.content.bundle.entries();
    let (mut shards, mut start, mut end, mut held) = (Vec::new(), 0, 0, 0_u64);
    let shard = |range: std::ops::Range<usize>, len| Shard {
        entries: entries.get(range).unwrap_or_default(),
        len,
    };
    for family in entries.chunk_by(|(first, _), (second, _)| first.path() == second.path()) {
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
