//! `tenfold stats`: what is wrong with values, and how they are distributed.

mod bars;
mod human;
mod json;

use std::path::Path;

use tenfold::{Bundle, Fault, Info, Key, Limits, Samples, Storage, Tensor};

use super::{Outcome, each_file};
use crate::args;
use crate::exit::Exit;
use crate::input;
use crate::meter::Meter;
use crate::render::{note_text, shown_name};
use crate::select::select;
use crate::streams::Streams;

/// What is known about one tensor.
struct Found<'a> {
    key: &'a Key,
    tensor: &'a Tensor,
    /// Nothing if its layout is not understood.
    known: Option<Known>,
}

struct Known {
    stats: tenfold::Stats,
    /// How many values lie in each interval, if anybody asked.
    histogram: Option<Vec<u64>>,
}

impl Found<'_> {
    fn faults(&self) -> Vec<Fault> {
        let known = self.known.as_ref();
        known.map(|known| known.stats.faults()).unwrap_or_default()
    }
}

pub(super) fn run(args: &args::Stats, streams: &mut Streams) -> Outcome {
    each_file(&args.files, streams, |file, streams| {
        let (_, mut opened) = input::open(file, &args.reading, streams)?;
        let info = opened.format.info();
        let bundle = &mut opened.bundle;
        select(bundle, info, &args.choice.only, &args.choice.exclude)?;
        // Quantiles are found, and a histogram is counted, once the range is known.
        let n_times = if args.hist { 3 } else { 2 };
        let meter = Meter::reading(streams, bundle.stored_len().saturating_mul(n_times));
        let found = examine(bundle, args).map_err(|error| error.of(info.name))?;
        drop(meter);
        if args.json {
            json::print(file, info, &found, &mut streams.out)?;
        } else {
            for note in bundle.notes() {
                streams.note(file, &note_text(info, note));
            }
            human::print(file, info, &found, args, &mut streams.out)?;
        }
        Ok(judge(file, info, &found, args, streams))
    })
}

fn examine<'a>(bundle: &'a Bundle, args: &args::Stats) -> tenfold::Result<Vec<Found<'a>>> {
    let limits = &args.reading.limits.0;
    let entries = bundle.entries().iter();
    let found = entries.map(|(key, tensor)| {
        let known = match tensor.storage() {
            Storage::Opaque { .. } => None,
            Storage::Dense { .. } | Storage::Sparse { .. } | Storage::Train { .. } => {
                Some(work_out(tensor, limits, args)?)
            }
        };
        Ok(Found { key, tensor, known })
    });
    found.collect()
}

fn work_out(tensor: &Tensor, limits: &Limits, args: &args::Stats) -> tenfold::Result<Known> {
    let samples = Samples::of(tensor, limits)?;
    let stats = samples.stats()?;
    let histogram = match &stats.finite {
        Some(finite) if args.hist => Some(samples.histogram(finite, n_bins(finite, args))?),
        _ => None,
    };
    Ok(Known { stats, histogram })
}

/// One interval is enough for one value.
fn n_bins(finite: &tenfold::Finite, args: &args::Stats) -> usize {
    if finite.min == finite.max {
        1
    } else {
        args.bins.into()
    }
}

/// Whether anything is wrong that ought not to be.
fn judge(
    file: &Path,
    info: &Info,
    found: &[Found],
    args: &args::Stats,
    streams: &mut Streams,
) -> Exit {
    let is_bad = |fault: &Fault| args.fail_on.contains(fault);
    let mut bad = found
        .iter()
        .filter(|found| found.faults().iter().any(is_bad));
    let Some(first) = bad.next() else {
        return Exit::Fine;
    };
    let words: Vec<&str> = first
        .faults()
        .into_iter()
        .filter(is_bad)
        .map(Fault::as_str)
        .collect();
    let name = human::name_text(&shown_name(info, first.key));
    let more = match bad.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    streams.note(
        file,
        &format!("--fail-on {}: {name}{more}", words.join(",")),
    );
    Exit::No
}
