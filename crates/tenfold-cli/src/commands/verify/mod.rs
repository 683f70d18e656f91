//! `tenfold verify`: integrity of files, to the last byte.

pub(super) mod args;
pub(super) mod salvage;

use std::path::Path;

use tenfold::ops::{Input, demand_all, retain};
use tenfold::{
    Bundle, Callable, Error, Format, Mode, Note, NoteKind, Overflow, ReadOptions, Result,
};

use super::{Found, Outcome, Verify, each_input};
use crate::args::{Choice, Reading};
use crate::error::Failure;
use crate::exit::Exit;
use crate::render::{Json, note, note_text, shown_name};
use crate::terminal::{Meter, Out, Streams, counted, plain};
use crate::{input, options};

const SCHEMA: &str = "tenfold.verify/1";

pub(super) fn run(args: &Verify, streams: &mut Streams) -> Outcome {
    if let Some(out) = &args.salvage {
        return salvage::run(args, out, streams);
    }
    let files = &args.files;
    let reading = &files.reading;
    each_input(&files.files, reading, streams, |file, found, streams| {
        let mut verdict = Verdict::default();
        let examined = found.and_then(|found| examine(found, args, streams, &mut verdict));
        let fault = examined.err();
        if files.json {
            print_json(file, &verdict, fault.as_ref(), &mut streams.out)?;
        } else {
            print(file, &verdict, fault.as_ref(), streams)?;
        }
        fault.map_or(Ok(Exit::Fine), Err)
    })
}

/// The state of a check, up to its end or its first error.
#[derive(Default)]
struct Verdict {
    format: Option<&'static dyn Format>,
    n_tensors: Option<u64>,
    notes: Vec<Note>,
    /// The functions that unpickling the files in Python would call.
    callables: Vec<Callable>,
}

fn examine(
    found: &Found,
    args: &Verify,
    streams: &mut Streams,
    verdict: &mut Verdict,
) -> Result<(), Failure> {
    let (input, reading) = (&found.input, &args.files.reading);
    input::say_format(input, streams);
    verdict.format = Some(input.format());
    let (options, _) = options::of(reading, input.format().info(), None)?;
    let how = ReadOptions {
        callables: true,
        ..input::read_options(reading, options)
    };
    if !found.reference.is_whole() {
        let mut opened = input.read(&how)?;
        let info = opened.format.info();
        found
            .reference
            .narrow(&mut opened.bundle, info, &reading.limits.0)?;
        input::choose(&mut opened, &args.choice)?;
        examine_bundle(opened.format, &opened.bundle, reading, streams, verdict)?;
        return refuse_callables(verdict);
    }
    let Choice { only, exclude } = &args.choice;
    demand_any(input, &how, &args.choice)?;
    let mut parts = Vec::new();
    for member in input.members() {
        let part = input.read_member(member, &how)?;
        let mut chosen = part.bundle.try_clone()?;
        retain(&mut chosen, member.format.info(), only, exclude);
        examine_bundle(member.format, &chosen, reading, streams, verdict)
            .map_err(|failure| failure.about(&member.path))?;
        parts.push(part);
    }
    input.check_set(&parts)?;
    let notes = input.notes();
    verdict.notes.extend(notes.clone());
    input::refuse_incomplete(&verdict.notes)?;
    refuse_callables(verdict)?;
    input::refuse_notes(input.format(), &notes, reading)
}

/// Fails unless each pattern matches a tensor in one of the files.
fn demand_any(input: &Input, how: &ReadOptions, choice: &Choice) -> Result<()> {
    if choice.only.is_empty() && choice.exclude.is_empty() {
        return Ok(());
    }
    let opened = input.read(how)?;
    let names = opened.format.info().names_of(&opened.bundle)?;
    demand_all(choice.only.iter().chain(&choice.exclude), &names)
}

/// Fails if unpickling the files in Python would call more than PyTorch allows for weights.
fn refuse_callables(verdict: &Verdict) -> Result<(), Failure> {
    let all = verdict.callables.iter();
    let odd: Vec<&Callable> = all.filter(|callable| !callable.is_allowed).collect();
    if odd.is_empty() {
        Ok(())
    } else {
        Err(Failure::unsafe_pickle(&odd))
    }
}

/// Verifies the values of one file.
fn examine_bundle(
    format: &'static dyn Format,
    bundle: &Bundle,
    reading: &Reading,
    streams: &mut Streams,
    verdict: &mut Verdict,
) -> Result<(), Failure> {
    let mut bundle = bundle.try_clone()?;
    input::dequantize(&mut bundle, reading, Overflow::Fails)?;
    let count = u64::try_from(bundle.entries().len()).unwrap_or(u64::MAX);
    let sum = verdict.n_tensors.unwrap_or(0);
    verdict.n_tensors = Some(sum.saturating_add(count));
    let mut own = bundle.notes().to_vec();
    verdict.notes.extend(own.clone());
    verdict.callables.extend(bundle.callables().to_vec());
    let meter = Meter::reading(streams, bundle.stored_len());
    let notes = bundle.check(&reading.limits.0);
    drop(meter);
    let notes = notes.map_err(|error| error.of(format.info().name))?;
    let broken = notes.iter().find(|note| note.kind == NoteKind::Lenient);
    let fault = broken
        .filter(|_| reading.mode() == Mode::Strict)
        .map(|note| fault(format, note));
    verdict.notes.extend(notes.clone());
    own.extend(notes);
    match fault {
        Some(error) => Err(error.into()),
        None => input::refuse_notes(format, &own, reading),
    }
}

/// An irregularity tolerated by lenient reading, as the error that strict reading reports.
fn fault(format: &dyn Format, note: &Note) -> Error {
    let name = note.key.as_ref().filter(|key| !key.is_empty());
    let why = match name {
        Some(key) => format!("{}: {}", shown_name(format.info(), key), note.text),
        None => note.text.clone(),
    };
    Error::Malformed {
        format: Some(format.info().name),
        at: note.at,
        why,
        hint: None,
    }
}

/// Prints success and notes; the caller reports errors.
fn print(
    file: &Path,
    verdict: &Verdict,
    fault: Option<&Failure>,
    streams: &mut Streams,
) -> Result<()> {
    let shown = plain(&file.display().to_string());
    if let (None, Some(format)) = (fault, verdict.format) {
        let info = format.info();
        for note in &verdict.notes {
            streams.note(file, &note_text(info, note));
        }
        let count = counted(verdict.n_tensors.unwrap_or(0), "tensor");
        let line = format!("{shown}: ok, {}, {count}\n", info.name);
        streams.out.text(&line)?;
    }
    let is_listed = fault.is_none_or(Failure::is_unsafe);
    if is_listed && !verdict.callables.is_empty() {
        let out = &mut streams.out;
        out.text(&format!("{shown}: loading it in Python calls\n"))?;
        for callable in &verdict.callables {
            let name = plain(&callable.name);
            let count = match callable.count {
                0 => "imported only".to_owned(),
                count => format!("{count} ×"),
            };
            let verdict = if callable.is_allowed {
                ""
            } else {
                ", which weights_only refuses"
            };
            out.text(&format!("  {name} ({count}){verdict}\n"))?;
        }
    }
    Ok(())
}

fn print_json(
    file: &Path,
    verdict: &Verdict,
    fault: Option<&Failure>,
    out: &mut Out,
) -> Result<()> {
    let info = verdict.format.map(Format::info);
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("file")?.text(&file.to_string_lossy())?;
        json.name("format")?
            .text_or_null(info.map(|info| info.name))?;
        json.name("ok")?.number(fault.is_none())?;
        match fault {
            None => json.name("error")?.raw("null")?,
            Some(failure) => json.name("error")?.object(|json| {
                json.name("kind")?.text(failure.kind)?;
                json.name("at")?.number_or_null(failure.at)?;
                json.name("text")?.text(&failure.text)
            })?,
        }
        json.name("callables")?.list(|json| {
            verdict.callables.iter().try_for_each(|callable| {
                json.object(|json| {
                    json.name("name")?.text(&callable.name)?;
                    json.name("allowed")?.number(callable.is_allowed)?;
                    json.name("count")?.number(callable.count)?;
                    json.name("at")?.number_or_null(callable.at)
                })
            })
        })?;
        json.name("notes")?.list(|json| {
            let mut notes = verdict.notes.iter();
            notes.try_for_each(|item| note(json, info, item))
        })?;
        json.name("tensors")?.number_or_null(verdict.n_tensors)
    })?;
    json.end_line()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold::Key;

    #[test]
    fn what_only_a_lenient_reader_forgives_is_a_fault_of_the_tensor() {
        let mut note = Note {
            kind: NoteKind::Lenient,
            file: None,
            key: Some(Key::tree(vec!["h".into()])),
            at: Some(99),
            len: None,
            text: "the symmetry is broken".into(),
        };
        let format = tenfold::by_name("blz").unwrap();
        assert_eq!(
            fault(format, &note).to_string(),
            "not a valid blz file: h: the symmetry is broken (byte 99)"
        );
        note.key = Some(Key::root());
        assert_eq!(
            fault(format, &note).to_string(),
            "not a valid blz file: the symmetry is broken (byte 99)"
        );
    }
}
