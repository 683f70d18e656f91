//! `tenfold compress`: tensors as tensor trains.

pub(super) mod args;
mod json;
mod plan;
pub(super) mod reconstruct;
mod sweep;
mod text;
mod work;

use std::path::Path;

use plan::Entry;
use tenfold::formats::blz::Proven;
use tenfold::{Allow, Arity, Format, Info, Names, Progress, SidecarSlot, StorageKind};
use tenfold_train::{Caps, Options};

use super::output::line::{Line, writing};
use super::output::{Content, Destination, WriteJob, target};
use super::{Compress, Convert, Outcome, Reshaping, Tolerance};
use crate::args::{Choice, Saving};
use crate::error::Failure;
use crate::exit::Exit;
use crate::render::shown_name;
use crate::terminal::{Meter, Streams};
use work::Work;

pub(super) fn run(args: &Compress, streams: &mut Streams) -> Outcome {
    let part = Some(&args.selection.part);
    let line = Line::part(&args.words, part, &args.saving, args.sweep.is_none())?;
    let format = match &line.destination {
        Some(destination) => Some(format(args, destination)?),
        None => None,
    };
    let info = format.map(|format| format.info());
    let (mut content, options) = line.open(&args.reading, info, streams)?;
    let source = content.info;
    let in_input = |failure: Failure| failure.of(source).about(&line.word);
    let is_one = info.is_none_or(|info| info.holds.names == Names::One);
    plan::choose(&mut content, args, is_one)?;
    plan::permute(&mut content, args).map_err(|error| in_input(error.into()))?;
    let progress = Progress::default();
    let mut work = Work {
        nearness: &args.nearness,
        reshaping: &args.reshaping,
        choice: &args.selection.choice,
        must_verify: false,
        may_grow: args.saving.force,
        limits: &args.reading.limits.0,
        progress: &progress,
    };
    if let Some(tolerances) = &args.sweep {
        let _meter = Meter::start(streams, &progress);
        let rows = sweep::run(&work, &content, tolerances).map_err(in_input)?;
        sweep::print(&line.word, &content, &rows, args.json, &mut streams.out)?;
    }
    let (Some(destination), Some(format)) = (&line.destination, format) else {
        return Ok(Exit::Fine);
    };
    destination.refuse_existing(args.saving.force)?;
    if !args.permute.is_empty() && !format.info().holds.meta.tensor {
        let name = format.info().name;
        let text =
            format!("{name} does not keep the order that the dimensions had before --permute");
        streams.note(&line.word, &text);
    }
    self::options(&args.nearness)?;
    work.must_verify = args.verify;
    let meter = Meter::start(streams, &progress);
    let entries = plan::carry_out(&work, &mut content, format.info()).map_err(in_input)?;
    certify(&mut content, &entries, &args.nearness, &args.saving);
    let stem = content.stem.clone();
    let mut how = writing(&args.saving, &args.reading, options, stem, Allow::Nothing);
    how.progress = progress.clone();
    let job = WriteJob {
        content: &content,
        format,
        how: &how,
        force: args.saving.force,
    };
    if !args.json {
        drop(meter);
        text::say(&line.word, &entries, &args.nearness, streams)?;
    }
    job.write(destination, streams)?;
    if args.json {
        json::print(&line.word, content.info, &entries, &mut streams.out)?;
    }
    Ok(Exit::Fine)
}

/// The target format, which must be able to hold trains.
fn format(args: &Compress, destination: &Destination) -> Result<&'static dyn Format, Failure> {
    if args.json && matches!(destination, Destination::Stream) {
        let why = "--json prints to standard output, where the train goes: name a file for it";
        return Err(Failure::usage(why));
    }
    let usual = tenfold::by_name("blz");
    let format = target::choose(args.saving.to.as_ref(), destination, usual, &[])?;
    demand_room(format.info())?;
    Ok(format)
}

fn demand_room(info: &Info) -> Result<(), Failure> {
    let holds = &info.holds;
    if holds.kinds.contains(&StorageKind::Train) || holds.carries != SidecarSlot::No {
        return Ok(());
    }
    let name = info.name;
    let why = format!("{name} has no room for trains: write a .blz file, or a .zt one for many");
    Err(Failure::usage(why))
}

/// Compresses the tensors of a conversion, as `compress --eps` does.
pub(super) fn turn(
    content: &mut Content,
    eps: f64,
    args: &Convert,
    target: &Info,
    streams: &mut Streams,
) -> Result<(), Failure> {
    demand_room(target)?;
    let is_one_file = args.output.out_dir.is_none();
    if is_one_file && target.holds.names == Names::One && content.bundle.entries().len() != 1 {
        // Too many or too few tensors: the format reports that itself.
        return Ok(());
    }
    let file = &*content.name().unwrap_or_default();
    split_components(content, args, file, streams)?;
    let nearness = Tolerance {
        eps: Some(eps),
        ..Tolerance::default()
    };
    let progress = Progress::default();
    let work = Work {
        nearness: &nearness,
        reshaping: &Reshaping::default(),
        choice: &Choice::default(),
        must_verify: false,
        may_grow: args.output.saving.force,
        limits: &args.reading.limits.0,
        progress: &progress,
    };
    let meter = Meter::start(streams, &progress);
    let entries = plan::carry_out(&work, content, target)?;
    certify(content, &entries, &nearness, &args.output.saving);
    drop(meter);
    text::say(file, &entries, &nearness, streams)?;
    Ok(())
}

/// Real numbers instead of complex ones if `--complex split` asks for them; trains of quaternions
/// and octonions are not supported.
fn split_components(
    content: &mut Content,
    args: &Convert,
    file: &Path,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let Content { bundle, info, .. } = content;
    for (key, tensor) in bundle.entries_mut() {
        let (dtype, name) = (tensor.dtype(), shown_name(info, key));
        let count = dtype.arity.count();
        if args.transform.complex.is_some() && dtype.arity != Arity::Real {
            *tensor = tensor.split_components(&args.reading.limits.0)?;
            let real = tensor.dtype();
            let name = if key.is_empty() {
                String::new()
            } else {
                format!("{name}: ")
            };
            let line = format!("{name}{dtype} becomes {real} with a last dimension of {count}");
            streams.note(file, &line);
        } else if matches!(dtype.arity, Arity::Quaternion | Arity::Octonion) {
            return Err(Failure::refused(&format!(
                "{name}: trains are of real or complex numbers, not of {dtype}; --complex split adds \
                 a dimension of {count}, --part re|abs keeps one part"
            )));
        }
    }
    Ok(())
}

/// Stores the proven error, for the version of `.blz` that can hold it, in place of the proven
/// errors of the input tensors.
fn certify(content: &mut Content, entries: &[Entry], nearness: &Tolerance, saving: &Saving) {
    if entries.iter().any(|entry| entry.made().is_some()) {
        tenfold::formats::blz::strip(&mut content.bundle);
    }
    let version = saving.to.as_ref().and_then(|to| to.version.as_deref());
    let name = saving.to.as_ref().map(|to| to.format.info().name);
    if let ([entry], Some("blz"), Some("2")) = (entries, name, version)
        && let Some(made) = entry.made()
    {
        let proven = Proven {
            tolerance: nearness.eps,
            max_rank: match &nearness.max_rank {
                Some(Caps::All(rank)) => u64::try_from(*rank).ok(),
                _ => None,
            },
            absolute: made.report.error,
            relative: made.report.relative_error(),
            dense_bytes: made.report.dense_len,
        };
        tenfold::formats::blz::certify(&mut content.bundle, &proven);
    }
}

/// The options of the engine.
fn options<'a>(nearness: &Tolerance) -> Result<Options<'a>, Failure> {
    let Tolerance {
        eps,
        abs_error,
        max_rank,
        best_effort,
    } = nearness;
    let mut options = match (eps, abs_error, max_rank) {
        (Some(eps), None, _) => Options::relative(*eps),
        (Some(eps), Some(error), _) => Options::relative(*eps).with_absolute(*error),
        (None, Some(error), _) => Options::absolute(*error),
        (None, None, Some(_)) => Options::ranked(1),
        (None, None, None) => {
            let why = "nothing says how near the train must be: --eps 1e-6, say, or --abs-error, \
                       or --max-rank; --sweep 1e-1..1e-8 shows what they cost";
            return Err(Failure::usage(why));
        }
    };
    options = match max_rank {
        None | Some(Caps::None) => options,
        Some(Caps::All(rank)) => options.with_max_rank(*rank),
        Some(Caps::Each(ranks)) => options.with_max_ranks(ranks.clone()),
    };
    Ok(match best_effort {
        true => options.best_effort(),
        false => options,
    })
}

/// The requested tolerance in words, such as `1e-6 asked for`.
fn asked(nearness: &Tolerance) -> String {
    let mut asked = Vec::new();
    asked.extend(nearness.eps.map(tolerance_text));
    asked.extend(
        nearness
            .abs_error
            .map(|error| format!("{} absolutely", tolerance_text(error))),
    );
    match asked.as_slice() {
        [] => String::new(),
        asked => format!(", {} asked for", asked.join(" and ")),
    }
}

/// A tolerance in short notation, such as `1e-6`.
fn tolerance_text(tolerance: f64) -> String {
    match tolerance {
        0.0 | 1.0..1e6 => tolerance.to_string(),
        _ => format!("{tolerance:e}"),
    }
}
