//! `tenfold tt round`: trains rounded to smaller ranks.

use std::path::Path;

use tenfold::{Info, Key, Result, Storage, Tensor};
use tenfold_train::AnyTrain;

use super::super::Outcome;
use super::super::output::line::{Line, writing};
use super::super::output::{Destination, WriteJob, target};
use super::ranks;
use crate::before::named_like;
use crate::commands::{TtRound, allow};
use crate::error::Failure;
use crate::exit::Exit;
use crate::render::{Json, describe, shown_name};
use crate::terminal::{Out, Streams, growth_text, ranks_text, rough};

/// The result for one train.
struct Rounded {
    key: Key,
    before: Tensor,
    after: Tensor,
    /// The norm of the truncated part, absolute and relative.
    error: f64,
    relative: f64,
}

pub(super) fn run(args: &TtRound, streams: &mut Streams) -> Outcome {
    let line = Line::part(&args.words, None, &args.saving, true)?;
    let destination = line.destination.as_ref().unwrap_or(&Destination::Stream);
    if args.json && matches!(destination, Destination::Stream) {
        let why = "--json prints to standard output, where the train goes: name a file for it";
        return Err(Failure::usage(why));
    }
    let usual = tenfold::by_name("blz");
    let format = target::choose(args.saving.to.as_ref(), destination, usual, &[])?;
    let (mut content, options) = line.open(&args.reading, Some(format.info()), streams)?;
    let mut done = Vec::new();
    for (key, tensor) in content.bundle.entries_mut() {
        if !matches!(tensor.storage(), Storage::Train { .. }) {
            continue;
        }
        let rounded = rounded(key, tensor, args)
            .map_err(|failure| failure.of(content.info).about(&line.word))?;
        *tensor = rounded.after.clone();
        done.push(rounded);
    }
    if done.is_empty() {
        let failure = super::no_train(&content.bundle, "tenfold compress makes one");
        return Err(failure.about(&line.word));
    }
    // The proven error of the input does not apply to its replacement.
    tenfold::formats::blz::strip(&mut content.bundle);
    let stem = content.stem.clone();
    let how = writing(
        &args.saving,
        &args.reading,
        options,
        stem,
        allow(&args.allow),
    );
    let job = WriteJob {
        content: &content,
        format,
        how: &how,
        force: args.saving.force,
    };
    if !args.json {
        for rounded in &done {
            streams.note(&line.word, &rounded.text(content.info));
        }
    }
    job.write(destination, streams)?;
    if args.json {
        print_json(&line.word, content.info, &done, &mut streams.out)?;
    }
    Ok(Exit::Fine)
}

fn rounded(key: &Key, tensor: &Tensor, args: &TtRound) -> Result<Rounded, Failure> {
    if tensor.cells() == Some(0) {
        return Ok(Rounded {
            key: key.clone(),
            before: tensor.clone(),
            after: tensor.clone(),
            error: 0.0,
            relative: 0.0,
        });
    }
    let train = AnyTrain::from_tensor(tensor)?;
    let max_rank = args
        .max_rank
        .map(|rank| usize::try_from(rank).unwrap_or(usize::MAX));
    let (train, error) = train.round(args.eps.unwrap_or(0.0), max_rank)?;
    let norm = AnyTrain::from_tensor(tensor)?.norm()?;
    let mut after = named_like(&train.to_tensor()?, tensor.dims())?;
    after.meta = tensor.meta.clone();
    // The error of the result exceeds the one proven before.
    after.meta.remove_proven_error();
    Ok(Rounded {
        key: key.clone(),
        before: tensor.clone(),
        after,
        error,
        relative: if error == 0.0 { 0.0 } else { error / norm },
    })
}

impl Rounded {
    fn text(&self, info: &Info) -> String {
        let name = match shown_name(info, &self.key) {
            name if name.is_empty() => name,
            name => format!("{name}: "),
        };
        let [before, after] = [&self.before, &self.after].map(ranks);
        let len = |tensor: &Tensor| tensor.storage().stored_len();
        format!(
            "{name}ranks {} become {}, {}, at most {} of the norm left out",
            ranks_text(before, 40),
            ranks_text(after, 40),
            growth_text(len(&self.before), len(&self.after)),
            rough(self.relative)
        )
    }
}

fn print_json(file: &Path, info: &Info, done: &[Rounded], out: &mut Out) -> Result<()> {
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text("tenfold.tt-round/1")?;
        json.name("file")?.text(&file.to_string_lossy())?;
        json.name("trains")?.list(|json| {
            done.iter().try_for_each(|rounded| {
                json.object(|json| {
                    describe(json, info, &rounded.key, &rounded.after)?;
                    json.name("ranks")?.numbers(ranks(&rounded.after))?;
                    let len = rounded.after.storage().stored_len();
                    json.name("bytes")?.number(len)?;
                    let len = rounded.before.storage().stored_len();
                    json.name("bytes_before")?.number(len)?;
                    json.name("error")?.float(rounded.error)?;
                    json.name("relative_error")?.float(rounded.relative)
                })
            })
        })
    })?;
    json.end_line()
}
