//! `tenfold diff`: differences between two files.

pub(super) mod args;
mod json;
mod meta;
mod text;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tenfold::ops::{Input, TensorRef, captures, demand_all, retain, retain_by};
use tenfold::{
    Comparison, DiffOptions, DiffTolerance, Error, Info, Key, Limits, Opened, Result, Tensor,
    Verdict, When, compare, memory, pair,
};

use super::output::name_of_all;
use super::{Diff, Outcome};
use crate::args::KeyValues;
use crate::error::Failure;
use crate::exit::Exit;
use crate::render::{note_text, shown_name};
use crate::terminal::{Meter, Streams};
use crate::{input, options};
use meta::MetaChange;

pub(super) fn run(args: &Diff, streams: &mut Streams) -> Outcome {
    let report = gather(args, streams).map_err(|mut failure| {
        // An unreadable file leaves the question open.
        if failure.exit == Exit::No {
            failure.exit = Exit::Trouble;
        }
        failure
    })?;
    for row in &report.failed {
        streams.report(&row.failure);
    }
    let printed = if args.json {
        json::print(args, &report, &mut streams.out)
    } else {
        text::print(args, &report, &mut streams.out)
    };
    match printed.map_err(Failure::from) {
        Err(failure) if !failure.is_quiet() => Err(failure),
        _ => Ok(report.exit()),
    }
}

/// One of the two files.
struct File<'a> {
    path: &'a Path,
    opened: Opened,
}

impl File<'_> {
    fn info(&self) -> &'static Info {
        self.opened.format.info()
    }

    /// The tensor at an index, with its name.
    fn entry(&self, place: usize) -> Option<(String, &Key, &Tensor)> {
        let (key, tensor) = self.opened.bundle.entries().get(place)?;
        Some((shown_name(self.info(), key), key, tensor))
    }

    fn names(&self, places: &[usize]) -> Vec<String> {
        let entries = places.iter().filter_map(|place| self.entry(*place));
        entries.map(|(name, ..)| name).collect()
    }
}

/// The properties of a tensor that are printed.
struct Side {
    name: String,
    key: Key,
    tensor: Tensor,
}

/// Two tensors that differ.
struct Row {
    a: Side,
    b: Side,
    found: Comparison,
    meta: Vec<MetaChange>,
}

/// Two tensors that could not be compared.
struct Failed {
    a: String,
    b: String,
    failure: Failure,
}

/// The result for two files.
#[derive(Default)]
struct Report {
    formats: [&'static str; 2],
    identical: u64,
    equal: u64,
    near: u64,
    changed: Vec<Row>,
    failed: Vec<Failed>,
    only_a: Vec<String>,
    only_b: Vec<String>,
    /// Differences in the metadata of the files.
    meta: Vec<MetaChange>,
}

impl Report {
    fn n_same(&self) -> u64 {
        self.identical + self.equal + self.near
    }

    fn is_same(&self) -> bool {
        self.changed.is_empty()
            && self.only_a.is_empty()
            && self.only_b.is_empty()
            && self.meta.is_empty()
    }

    fn exit(&self) -> Exit {
        match (self.failed.is_empty(), self.is_same()) {
            (false, _) => Exit::Trouble,
            (true, true) => Exit::Fine,
            (true, false) => Exit::No,
        }
    }
}

fn gather(args: &Diff, streams: &mut Streams) -> Result<Report, Failure> {
    let (mut a, mut b) = open(args, streams)?;
    let map = mapped(args, &a, &b)?;
    // Names are selected after mapping.
    let new_names: HashMap<&str, &str> = map.iter().map(|(a, b)| (&**a, &**b)).collect();
    let renamed = |name: String| match new_names.get(&*name) {
        Some(new) => (*new).to_owned(),
        None => name,
    };
    let own = a.info().names_of(&a.opened.bundle)?.into_iter();
    let others = b.info().names_of(&b.opened.bundle)?;
    let mut all_names: Vec<String> = memory::collected(own.map(renamed).chain(others))?;
    all_names.sort_unstable();
    all_names.dedup();
    let (only, exclude) = (&args.only, &args.exclude);
    demand_all(only.iter().chain(exclude), &all_names)
        .map_err(|error| Failure::from(error).about(&both(&a, &b)))?;
    let info = a.info();
    retain_by(&mut a.opened.bundle, only, exclude, |key| {
        renamed(info.name_of(key))
    });
    let info = b.info();
    retain(&mut b.opened.bundle, info, only, exclude);
    let pairing = pair(&a.opened.bundle, &b.opened.bundle, &map)?;
    let mut report = Report {
        formats: [a.info().name, b.info().name],
        only_a: a.names(&pairing.only_a),
        only_b: b.names(&pairing.only_b),
        ..Report::default()
    };
    if args.meta {
        let (a, b) = (&a.opened.bundle.meta, &b.opened.bundle.meta);
        report.meta = meta::changes(a, b);
    }
    let how = options(args);
    let lens = [&a, &b].map(|file| file.opened.bundle.stored_len());
    let meter = Meter::reading(streams, lens.into_iter().fold(0, u64::saturating_add));
    for (left, right) in pairing.pairs {
        report.look(args, (&a, left), (&b, right), &how);
    }
    drop(meter);
    report.changed.sort_by(text::by_change);
    Ok(report)
}

/// The file named in errors that may concern either of the two.
fn both(a: &File, b: &File) -> PathBuf {
    name_of_all(&[a.path, b.path]).unwrap_or_default()
}

/// Common options, then those of one side.
fn with(mut options: Vec<(String, String)>, own: &[KeyValues]) -> Vec<(String, String)> {
    options.extend(own.iter().flat_map(|given| given.0.iter().cloned()));
    options
}

/// Opens both files. An option applies to the files whose formats have it; `--opt-a` and `--opt-b`
/// apply to one of them.
fn open<'a>(args: &'a Diff, streams: &mut Streams) -> Result<(File<'a>, File<'a>), Failure> {
    let find = |path: &'a Path, own: &[KeyValues], streams: &mut Streams| {
        let about = |error: tenfold::Error| Failure::from(error).about(path);
        let reference = TensorRef::find(path).map_err(about)?;
        let reading = args.reading.with_options(with(args.reading.options(), own));
        let input = input::find(&reference, &reading, streams).map_err(about)?;
        Ok::<_, Failure>((path, reference, input))
    };
    let a = find(&args.a, &args.opt_a, streams)?;
    let b = find(&args.b, &args.opt_b, streams)?;
    let infos = [&a, &b].map(|(_, _, input)| input.format().info());
    let mut open = |(path, reference, input): (&'a Path, TensorRef, Input), own: &[KeyValues]| {
        let info = input.format().info();
        let has = |info: &Info, name: &str| options::has(info, name, When::Read);
        let mut given = args.reading.options();
        given.retain(|(name, _)| has(info, name) || !infos.iter().any(|info| has(info, name)));
        let reading = args.reading.with_options(with(given, own));
        let (opened, _) = input::read(&input, &reference, &reading, None, streams)
            .map_err(|failure| failure.about(path))?;
        for note in opened.bundle.notes() {
            streams.note(path, &note_text(info, note));
        }
        Ok::<_, Failure>(File { path, opened })
    };
    Ok((open(a, &args.opt_a)?, open(b, &args.opt_b)?))
}

fn options(args: &Diff) -> DiffOptions {
    DiffOptions {
        tolerance: DiffTolerance {
            relative: args.sameness.rtol,
            absolute: args.sameness.atol,
            ulp: args.sameness.ulp,
            equal_nan: args.sameness.equal_nan,
        },
        ignore_dtype: args.sameness.ignore_dtype,
        limits: args.reading.limits.0.clone(),
    }
}

/// The pairs of names given by `--map`.
fn mapped(args: &Diff, a: &File, b: &File) -> Result<Vec<(String, String)>, Failure> {
    let own = a.info().names_of(&a.opened.bundle)?;
    let others = b.info().names_of(&b.opened.bundle)?;
    let mut map = Vec::new();
    for (glob, target) in &args.map {
        demand_all([glob].into_iter(), &own).map_err(|error| Failure::from(error).about(a.path))?;
        if !target.contains('*') {
            demand_all([target].into_iter(), &others)
                .map_err(|error| Failure::from(error).about(b.path))?;
        }
        for name in &own {
            let Some(texts) = captures(glob, name) else {
                continue;
            };
            let mut texts = texts.into_iter();
            let mut parts = target.split('*');
            let mut other = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                other.push_str(&texts.next().unwrap_or_default());
                other.push_str(part);
            }
            map.push((name.clone(), other));
        }
    }
    Ok(map)
}

impl Report {
    /// Compares a pair of tensors.
    fn look(
        &mut self,
        args: &Diff,
        (a, left): (&File, usize),
        (b, right): (&File, usize),
        how: &DiffOptions,
    ) {
        let (Some(own), Some(other)) = (a.entry(left), b.entry(right)) else {
            return;
        };
        let (tensor_a, tensor_b) = (own.2, other.2);
        let side = |(name, key, tensor): (String, &Key, &Tensor)| Side {
            name,
            key: key.clone(),
            tensor: tensor.clone(),
        };
        let meta = if args.meta {
            meta::tensor_changes(tensor_a, tensor_b)
        } else {
            Vec::new()
        };
        let found = match compare(tensor_a, tensor_b, how) {
            Ok(found) => found,
            Err(error) => {
                let failure = blame(error, (a, own.2), (b, other.2), &own.0, &how.limits);
                self.failed.push(Failed {
                    a: own.0,
                    b: other.0,
                    failure,
                });
                return;
            }
        };
        match found.verdict {
            _ if !meta.is_empty() => {}
            Verdict::Identical => return self.identical += 1,
            Verdict::Equal => return self.equal += 1,
            Verdict::Near => return self.near += 1,
            Verdict::Changed => {}
        }
        self.changed.push(Row {
            a: side(own),
            b: side(other),
            found,
            meta,
        });
    }
}

/// Determines which of the two files is at fault.
fn blame(
    error: Error,
    (a, tensor_a): (&File, &Tensor),
    (b, tensor_b): (&File, &Tensor),
    name: &str,
    limits: &Limits,
) -> Failure {
    let is_malformed = matches!(error, Error::Malformed { .. });
    let is_sound = |tensor: &Tensor| !is_malformed || tensor.check(limits).is_ok();
    let guilty = match (is_sound(tensor_a), is_sound(tensor_b)) {
        (false, _) => Some(a),
        (true, false) => Some(b),
        (true, true) => None,
    };
    let mut failure = match guilty {
        Some(file) => Failure::from(error.of(file.info().name)).about(file.path),
        None => Failure::from(error).about(&both(a, b)),
    };
    if !name.is_empty() {
        failure.text = format!("{}: {}", crate::terminal::plain(name), failure.text);
    }
    failure
}
