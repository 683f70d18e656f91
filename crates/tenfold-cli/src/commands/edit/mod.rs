//! `tenfold edit`: names and metadata edited in place.

pub(super) mod args;

use std::io;
use std::path::Path;

use tenfold::ops::{TensorRef, presence};
use tenfold::{Error, Result, WriteOptions, formats};

use super::output::Destination;
use super::output::file::say_losses;
use super::{Edit, Outcome, allow};
use crate::edit::{Change, Content, changes};
use crate::error::Failure;
use crate::exit::Exit;
use crate::input;
use crate::input::DASH;
use crate::render::{Json, note_text};
use crate::terminal::{Meter, Out, Row, Streams, Table, counted, plain};

const SCHEMA: &str = "tenfold.edit/1";

pub(super) fn run(args: &Edit, streams: &mut Streams) -> Outcome {
    let about = |failure: Failure| failure.about(&args.file);
    let out = args.output.as_deref().unwrap_or(&args.file);
    if out == Path::new(DASH) {
        let why = "edit writes a file: name it with --output";
        return Err(Failure::usage(why));
    }
    let file = TensorRef::whole(&args.file);
    let input =
        input::find_alone(&file, &args.reading, streams).map_err(|error| about(error.into()))?;
    let format = input.format();
    let info = format.info();
    keep_format(info.name, out)?;
    let (mut opened, writing) =
        input::read(&input, &file, &args.reading, Some(info), streams).map_err(about)?;
    let notes = opened.bundle.notes();
    for note in notes {
        streams.note(&args.file, &note_text(info, note));
    }
    if !info.is_written() {
        let name = info.name;
        let why =
            format!("{name} is read and never written: convert the file, and edit the new one");
        return Err(about(Failure::usage(why)));
    }
    let changes = changes(&mut opened.bundle, info, args).map_err(about)?;
    if changes.is_empty() {
        let why = "nothing to change: --rename, --drop, --set, --unset or --strip-state says what";
        return Err(Failure::usage(why));
    }
    let how = WriteOptions {
        options: writing,
        allow: allow(&args.allow),
        strict: true,
        limits: args.reading.limits.0.clone(),
        skip_sync: args.no_sync,
        ..WriteOptions::default()
    };
    let blame = |error| match Failure::from(error) {
        failure if failure.is_usage() => failure,
        failure => failure.of(info).about(&args.file),
    };
    let replace = args.output.is_none() || args.force;
    if args.dry_run {
        refuse_destination(out, replace)?;
    }
    let meter = Meter::start(streams, &how.progress);
    let losses = if args.dry_run {
        tenfold::dry_run(&opened.bundle, out, format, &how)
    } else {
        tenfold::save(&opened.bundle, out, format, &how, replace)
    };
    drop(meter);
    let losses = losses.map_err(blame)?;
    say_losses(out, losses.iter(), streams);
    if args.json {
        print_json(args, out, &changes, &mut streams.out)?
    } else {
        print(args, out, &changes, &mut streams.out)?
    }
    Ok(Exit::Fine)
}

/// Fails where a file cannot be saved.
fn refuse_destination(out: &Path, replace: bool) -> Result<(), Failure> {
    let about = |error: io::Error| Failure::from(Error::from(error).in_file(out));
    if presence::is_dir(out)? {
        return Err(about(io::ErrorKind::IsADirectory.into()));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), |folder| folder.metadata().map(drop).map_err(about))?;
    Destination::File(out.to_owned()).refuse_existing(replace)
}

/// Fails if the output has the extension of another format.
fn keep_format(name: &str, out: &Path) -> Result<(), Failure> {
    let meant = formats::by_extension(out);
    if meant.is_empty() || meant.iter().any(|format| format.info().name == name) {
        return Ok(());
    }
    let out = out.display();
    let why = format!("edit keeps the format, {name}, and {out} is named as another: see convert");
    Err(Failure::usage(why))
}

fn print(args: &Edit, file: &Path, changes: &[Change], out: &mut Out) -> Result<()> {
    let n_changes = u64::try_from(changes.len()).unwrap_or(u64::MAX);
    let count = counted(n_changes, "change");
    let made = if args.dry_run { ", not made" } else { "" };
    let file = out.paint.name(&plain(&file.display().to_string()));
    out.text(&format!("{file}: {count}{made}\n"))?;
    let mut table = Table::default();
    for change in changes {
        let of = match (&change.tensor, &change.key) {
            (Some(tensor), Some(key)) => format!("{tensor}: {key}"),
            (Some(tensor), None) => tensor.clone(),
            (None, key) => key.clone().unwrap_or_default(),
        };
        let detail = match (&change.old, &change.new) {
            (None, None) => String::new(),
            (None, Some(Content::Name(new))) => format!("-> {new}"),
            (None, Some(new)) => format!("= {}", new.text()),
            (Some(old), None) => format!("was {}", old.text()),
            (Some(old), Some(new)) => format!("= {}, was {}", new.text(), old.text()),
        };
        table.push(Row::new([change.what, &of, &detail]));
    }
    table.print("  ", out)
}

fn print_json(args: &Edit, file: &Path, changes: &[Change], out: &mut Out) -> Result<()> {
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("file")?.text(&file.to_string_lossy())?;
        json.name("made")?.number(!args.dry_run)?;
        json.name("changes")?.list(|json| {
            changes.iter().try_for_each(|change| {
                json.object(|json| {
                    json.name("change")?.text(change.what)?;
                    json.name("tensor")?
                        .text_or_null(change.tensor.as_deref())?;
                    json.name("key")?.text_or_null(change.key.as_deref())?;
                    let both = [("old", &change.old), ("new", &change.new)];
                    both.into_iter().try_for_each(|(name, content)| {
                        let text = content.as_ref().map(|content| content.json());
                        json.name(name)?.raw(text.as_deref().unwrap_or("null"))
                    })
                })
            })
        })
    })?;
    json.end_line()
}
