//! `tenfold stats`: problems in values, and their distribution.

pub(super) mod args;
mod bars;
mod json;
mod text;

use std::path::Path;

use tenfold::ops::select;
use tenfold::{
    Bundle, Finding, Info, Key, Limits, NotFinite, NoteKind, Samples, Storage, Tensor, memory,
};

use super::{Outcome, each_input};
use crate::exit::Exit;
use crate::input;
use crate::render::{name_text, note_text, shown_name};
use crate::terminal::{Meter, Streams, counted};

/// The results for one tensor.
struct Found<'a> {
    key: &'a Key,
    tensor: &'a Tensor,
    /// `None` if its layout is not supported.
    known: Option<Known>,
}

struct Known {
    stats: tenfold::Stats,
    /// The positions of the first NaN and the first infinity.
    first: NotFinite,
    /// Counts per interval, if requested.
    histogram: Option<Vec<u64>>,
}

impl Found<'_> {
    fn findings(&self) -> Vec<Finding> {
        let known = self.known.as_ref();
        known
            .map(|known| known.stats.findings())
            .unwrap_or_default()
    }

    /// The findings.
    fn faults(&self) -> Vec<Finding> {
        let mut findings = self.findings();
        findings.retain(|finding| finding.is_fault());
        findings
    }
}

/// The results for a file.
struct Report<'a> {
    tensors: Vec<Found<'a>>,
    /// Number of tensors that the reader omitted.
    n_skipped: usize,
    /// Whether shards are missing.
    is_incomplete: bool,
}

impl Report<'_> {
    /// Number of tensors that could not be examined.
    fn n_unread(&self) -> usize {
        let unread = self.tensors.iter().filter(|found| found.known.is_none());
        unread.count().saturating_add(self.n_skipped)
    }
}

pub(super) fn run(args: &super::Stats, streams: &mut Streams) -> Outcome {
    let reading = &args.reading;
    each_input(&args.files, reading, streams, |file, found, streams| {
        let super::Found { reference, input } = found?;
        let (mut opened, _) = input::read(input, reference, reading, None, streams)?;
        let info = opened.format.info();
        let bundle = &mut opened.bundle;
        select(bundle, info, &args.choice.only, &args.choice.exclude)?;
        // Quantiles and the histogram need the range first.
        let n_times = if args.hist { 3 } else { 2 };
        let meter = Meter::reading(streams, bundle.stored_len().saturating_mul(n_times));
        let tensors = examine(bundle, args).map_err(|error| error.of(info.name))?;
        drop(meter);
        let notes = |kind| bundle.notes().iter().filter(move |note| note.kind == kind);
        let found = Report {
            tensors,
            n_skipped: notes(NoteKind::Skipped).count(),
            is_incomplete: notes(NoteKind::Incomplete).next().is_some(),
        };
        if args.json {
            json::print(file, info, &found, &mut streams.out)?;
        } else {
            for note in bundle.notes() {
                streams.note(file, &note_text(info, note));
            }
            text::print(file, info, &found, args, &mut streams.out)?;
        }
        Ok(judge(file, info, &found, args, streams))
    })
}

fn examine<'a>(bundle: &'a Bundle, args: &super::Stats) -> tenfold::Result<Vec<Found<'a>>> {
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
    memory::gathered(found)
}

fn work_out(tensor: &Tensor, limits: &Limits, args: &super::Stats) -> tenfold::Result<Known> {
    let samples = Samples::of(tensor, limits)?;
    let stats = samples.stats()?;
    let histogram = match &stats.finite {
        Some(finite) if args.hist => Some(samples.histogram(finite, n_bins(finite, args))?),
        _ => None,
    };
    let first = stats.first_not_finite(tensor, limits)?;
    Ok(Known {
        stats,
        first,
        histogram,
    })
}

/// A single value needs only one interval.
fn n_bins(finite: &tenfold::Finite, args: &super::Stats) -> usize {
    if finite.min == finite.max {
        1
    } else {
        args.bins.into()
    }
}

/// Whether there is a finding that should not be there.
fn judge(
    file: &Path,
    info: &Info,
    report: &Report,
    args: &super::Stats,
    streams: &mut Streams,
) -> Exit {
    let n_unread = u64::try_from(report.n_unread()).unwrap_or(u64::MAX);
    let must_read = !args.fail_on.is_empty() && !args.skip_unreadable;
    let is_unread = must_read && (n_unread > 0 || report.is_incomplete);
    if is_unread {
        let what = match n_unread {
            0 => "files of the set are missing".to_owned(),
            count => format!("{} could not be read", counted(count, "tensor")),
        };
        let text = format!("--fail-on: {what}; --skip-unreadable passes over them");
        streams.note(file, &text);
    }
    let is_bad = |finding: &Finding| args.fail_on.contains(finding);
    let mut bad = { report.tensors.iter() }.filter(|found| found.findings().iter().any(is_bad));
    let Some(first) = bad.next() else {
        return if is_unread { Exit::No } else { Exit::Fine };
    };
    let words: Vec<&str> = first
        .findings()
        .into_iter()
        .filter(is_bad)
        .map(Finding::as_str)
        .collect();
    let name = name_text(&shown_name(info, first.key));
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
