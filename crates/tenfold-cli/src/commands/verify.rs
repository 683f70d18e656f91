//! `tenfold verify`: whether files are sound, to the last byte.

use std::path::Path;

use tenfold::{Error, Format, Mode, Note, NoteKind, Overflow, Result};

use super::{Outcome, each_file};
use crate::address::Address;
use crate::args::{Reading, Verify};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::meter::Meter;
use crate::options;
use crate::render::{Json, counted, note, note_text, plain, shown_name};
use crate::sets::Set;
use crate::streams::{Out, Streams};

const SCHEMA: &str = "tenfold.verify/1";

pub(super) fn run(args: &Verify, streams: &mut Streams) -> Outcome {
    if let Some(out) = &args.salvage {
        return super::salvage::run(args, out, streams);
    }
    let args = &args.files;
    each_file(&args.files, streams, |file, streams| {
        let mut found = Found::default();
        let fault = examine(file, &args.reading, streams, &mut found).err();
        if args.json {
            print_json(file, &found, fault.as_ref(), &mut streams.out)?;
        } else {
            print(file, &found, fault.as_ref(), streams)?;
        }
        fault.map_or(Ok(Exit::Fine), Err)
    })
}

/// What is known of a file by the time something is wrong with it, or nothing is.
#[derive(Default)]
struct Found {
    format: Option<&'static dyn Format>,
    n_tensors: Option<u64>,
    notes: Vec<Note>,
}

fn examine(
    file: &Path,
    reading: &Reading,
    streams: &mut Streams,
    found: &mut Found,
) -> Result<(), Failure> {
    let address = Address::find(file);
    let Some(set) = Set::find(&address.file, &reading.limits.0)? else {
        return examine_file(&address, None, reading, streams, found);
    };
    for file in &set.files {
        let mut of_file = Found::default();
        let address = Address::whole(file);
        let done = examine_file(&address, Some(&set), reading, streams, &mut of_file);
        found.format = of_file.format;
        let sum = found.n_tensors.unwrap_or(0);
        found.n_tensors = of_file.n_tensors.map(|count| sum.saturating_add(count));
        found.notes.extend(of_file.notes);
        done.map_err(|failure| failure.about(file))?;
    }
    Ok(())
}

fn examine_file(
    address: &Address,
    set: Option<&Set>,
    reading: &Reading,
    streams: &mut Streams,
    found: &mut Found,
) -> Result<(), Failure> {
    let file = &address.file;
    let source = input::source(&address.file, reading, streams)?;
    let format = input::detect(&source, &address.file, reading)?;
    let info = format.info();
    found.format = Some(format);
    streams.detail(file, &format!("read as {}", info.name));
    let (options, _) = options::of(reading, info, None)?;
    let mut bundle = input::read(&source, format, reading, options, Overflow::Fails)?.bundle;
    if let Some(set) = set {
        input::narrow_to_set(set, file, &mut bundle, streams)?;
    }
    address.narrow(&mut bundle, info, &reading.limits.0)?;
    found.n_tensors = u64::try_from(bundle.entries().len()).ok();
    found.notes = bundle.notes().to_vec();
    let meter = Meter::reading(streams, bundle.stored_len());
    let notes = bundle.check(&reading.limits.0);
    drop(meter);
    let notes = notes.map_err(|error| error.of(info.name))?;
    let broken = notes.iter().find(|note| note.kind == NoteKind::Lenient);
    let fault = broken
        .filter(|_| reading.mode() == Mode::Strict)
        .map(|note| fault(format, note));
    found.notes.extend(notes.clone());
    match fault {
        Some(error) => Err(error.into()),
        None => input::refuse_notes(format, &found.notes, reading),
    }
}

/// What a lenient reader forgives, as the error that it is to a strict one.
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
    }
}

/// Prints the good news, and notes; a fault is reported by whoever called.
fn print(file: &Path, found: &Found, fault: Option<&Failure>, streams: &mut Streams) -> Result<()> {
    let (None, Some(format)) = (fault, found.format) else {
        return Ok(());
    };
    let info = format.info();
    for note in &found.notes {
        streams.note(file, &note_text(info, note));
    }
    let file = plain(&file.display().to_string());
    let count = counted(found.n_tensors.unwrap_or(0), "tensor");
    streams
        .out
        .text(&format!("{file}: ok, {}, {count}\n", info.name))
}

fn print_json(file: &Path, found: &Found, fault: Option<&Failure>, out: &mut Out) -> Result<()> {
    let info = found.format.map(Format::info);
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
        json.name("notes")?.list(|json| {
            let mut notes = found.notes.iter();
            notes.try_for_each(|item| note(json, info, item))
        })?;
        json.name("tensors")?.number_or_null(found.n_tensors)
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
            key: Some(Key::tree(vec!["h".into()])),
            at: Some(99),
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
