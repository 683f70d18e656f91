//! Resolution of command-line arguments to open tensor files.

use std::path::{Path, PathBuf};

use tenfold::ops::{Input, Listing, OpenOptions, TensorRef, list, select};
use tenfold::{
    Bundle, Error, Format, Info, Note, NoteKind, Opened, Options, Overflow, ReadOptions, Result,
    Spool, formats,
};

use crate::args::{Choice, Part, Positional, Reading};
use crate::error::Failure;
use crate::options;
use crate::terminal::{Streams, stdio};

/// The argument for standard input or output.
pub(crate) const DASH: &str = "-";

/// The reference given by an argument, the arguments after it, and flags.
pub(crate) fn reference(file: &Path, words: &Positional, part: &Part) -> Result<TensorRef> {
    TensorRef::find(file)?
        .with_words(words.key.as_deref(), words.places.as_deref())?
        .with(part.tensor.as_deref(), part.slice.as_deref())
}

/// Finds the files of a reference.
pub(crate) fn find(
    reference: &TensorRef,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<Input> {
    let how = opening(reading, streams);
    find_with(reference, how, reading, streams)
}

fn find_with(
    reference: &TensorRef,
    how: OpenOptions,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<Input> {
    let file = &reference.file;
    let found = if file == Path::new(DASH) {
        standard_input(&how, streams)
    } else {
        Input::find(file, &how)
    };
    found.map_err(|error| of_other_file(error, reading))
}

/// Finds a single file, even if it is one of a set of shards.
pub(crate) fn find_alone(
    reference: &TensorRef,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<Input> {
    let how = OpenOptions {
        alone: true,
        ..opening(reading, streams)
    };
    find_with(reference, how, reading, streams)
}

/// Finds all inputs of a reference; a folder may contain many.
pub(crate) fn find_all(
    reference: &TensorRef,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<Listing> {
    let file = &reference.file;
    if file == Path::new(DASH) || !reference.is_whole() {
        let inputs = vec![find(reference, reading, streams)?];
        return Ok(Listing {
            inputs,
            ..Listing::default()
        });
    }
    list(file, &opening(reading, streams)).map_err(|error| of_other_file(error, reading))
}

fn opening(reading: &Reading, streams: &Streams) -> OpenOptions {
    let raw: &'static dyn Format = &formats::raw::Raw;
    OpenOptions {
        format: reading.format,
        fallback: reading.meaning.input.is_some().then_some(raw),
        options: reading.options(),
        alone: reading.alone,
        limits: reading.limits.0.clone(),
        progress: streams.reads().clone(),
    }
}

fn standard_input(how: &OpenOptions, streams: &mut Streams) -> Result<Input> {
    let dash = Path::new(DASH);
    match streams.take_input() {
        Some(stdio::Input::File(file)) => Input::of_file(dash, file, how),
        Some(stdio::Input::Stream(mut stream)) => {
            let source = Spool::read_from(&mut stream, &how.limits)?;
            Input::of_source(dash, source, how)
        }
        None => Err(Error::Invalid(
            "standard input can be read only once".into(),
        )),
    }
}

/// If `--raw` applies to the output, an input of unknown format may be the mistake.
fn of_other_file(error: Error, reading: &Reading) -> Error {
    match error.cause() {
        Error::Unrecognised { .. } if reading.meaning.output.is_some() => {
            let why = "no known format, and --raw is about the file that is written: twice, the \
                       first is about what is read";
            Error::Invalid(why.into())
        }
        _ => error,
    }
}

/// Opens an argument, which may be part of a file, as in `FILE:KEY[0:3]`; also returns the size of
/// the files.
pub(crate) fn open(
    word: &Path,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<(u64, Opened), Failure> {
    let reference = TensorRef::find(word)?;
    open_at(&reference, reading, streams)
}

/// Opens a reference; the bundle holds only that part.
pub(crate) fn open_at(
    reference: &TensorRef,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<(u64, Opened), Failure> {
    let input = find(reference, reading, streams)?;
    let (opened, _) = read(&input, reference, reading, None, streams)?;
    Ok((input.len(), opened))
}

/// Reads the referenced part of an input, to be written as `target`; also returns the options for
/// writing.
pub(crate) fn read(
    input: &Input,
    reference: &TensorRef,
    reading: &Reading,
    target: Option<&Info>,
    streams: &mut Streams,
) -> Result<(Opened, Options), Failure> {
    let (options, writing) = options::of(reading, input.format().info(), target)?;
    let how = read_options(reading, options);
    let opened = read_as(input, reference, reading, &how, streams)?;
    Ok((opened, writing))
}

/// [`read`] without values, which needs no temporary files for them.
pub(crate) fn read_headers(
    input: &Input,
    reference: &TensorRef,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<Opened, Failure> {
    let (options, _) = options::of(reading, input.format().info(), None)?;
    let how = ReadOptions {
        values_later: true,
        ..read_options(reading, options)
    };
    read_as(input, reference, reading, &how, streams)
}

fn read_as(
    input: &Input,
    reference: &TensorRef,
    reading: &Reading,
    how: &ReadOptions,
    streams: &mut Streams,
) -> Result<Opened, Failure> {
    let info = input.format().info();
    say_format(input, streams);
    let mut opened = input.read(how)?;
    dequantize(&mut opened.bundle, reading, Overflow::Fails)?;
    reference.narrow(&mut opened.bundle, info, &reading.limits.0)?;
    refuse_notes(opened.format, opened.bundle.notes(), reading)?;
    Ok(opened)
}

/// Keeps the tensors selected by `--only` and `--exclude`; each pattern must match.
pub(crate) fn choose(opened: &mut Opened, choice: &Choice) -> Result<()> {
    let info = opened.format.info();
    select(&mut opened.bundle, info, &choice.only, &choice.exclude)
}

/// If verbose, reports the formats that the files are read as.
pub(crate) fn say_format(input: &Input, streams: &mut Streams) {
    for member in input.members() {
        let name = member.format.info().name;
        streams.detail(&member.path, &format!("read as {name}"));
    }
}

/// Strictness of reading headers.
pub(crate) fn read_options(reading: &Reading, options: Options) -> ReadOptions {
    ReadOptions {
        limits: reading.limits.0.clone(),
        mode: reading.mode(),
        options,
        skip_restore: reading.no_restore,
        salvage: false,
        duplicates: reading.duplicates,
        values_later: false,
        callables: false,
    }
}

/// Applies `--dequantize`; values out of range are handled as `over` says.
pub(crate) fn dequantize(bundle: &mut Bundle, reading: &Reading, over: Overflow) -> Result<()> {
    if let Some(number) = reading.dequantize {
        for (_, tensor) in bundle.entries_mut() {
            *tensor = tensor.dequantized(number, over, &reading.limits.0)?;
        }
    }
    Ok(())
}

/// Fails at the first note if `--strict` is given.
pub(crate) fn refuse_notes(
    format: &dyn Format,
    notes: &[Note],
    reading: &Reading,
) -> Result<(), Failure> {
    match notes.first().filter(|_| reading.strict) {
        None => Ok(()),
        Some(note) => Err(Failure::strict(format.info(), note)),
    }
}

/// Fails if shards are missing.
pub(crate) fn refuse_incomplete(notes: &[Note]) -> Result<(), Failure> {
    match notes.iter().find(|note| note.kind == NoteKind::Incomplete) {
        None => Ok(()),
        Some(note) => Err(Failure::incomplete(&note.text)),
    }
}

/// The files of an input, by which arguments for the same set of shards are recognized.
pub(crate) fn files(input: &Input) -> Vec<PathBuf> {
    let files = input.members().iter().map(|member| &member.path);
    files
        .map(|file| file.canonicalize().unwrap_or_else(|_| file.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use tenfold::NoteKind;

    use super::*;
    use crate::args::{Command, Tenfold};
    use crate::exit::Exit;

    fn reading(flags: &[&str]) -> Reading {
        let words = ["tenfold", "info", "x"].iter().chain(flags);
        match Tenfold::try_parse_from(words).unwrap().command {
            Command::Info(args) => args.files.reading,
            _ => panic!("info was asked for"),
        }
    }

    #[test]
    fn a_note_passes_unless_strict() {
        let format = tenfold::by_name("blz").unwrap();
        let note = Note {
            kind: NoteKind::UnknownChecksum,
            file: None,
            key: Some(tenfold::Key::tree(vec!["enc".into(), "w\n".into()])),
            at: Some(7),
            len: None,
            text: "md5 is not known".into(),
        };
        for flags in [&[][..], &["--lenient"]] {
            assert!(refuse_notes(format, std::slice::from_ref(&note), &reading(flags)).is_ok());
        }
        let failure = refuse_notes(format, &[note], &reading(&["--strict"])).unwrap_err();
        assert_eq!(failure.exit, Exit::No);
        assert_eq!(
            failure.about(Path::new("a.blz")).line(),
            "a.blz: not a clean blz file, as --strict demands: \
             note (unknown-checksum) on enc/w\\n: md5 is not known (byte 7)"
        );
    }
}
