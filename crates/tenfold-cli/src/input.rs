//! From a word on the command line to an open tensor file.

use std::ffi::OsString;
use std::fs::File;
use std::io::Seek;
use std::path::Path;

use tenfold::{
    Bundle, Error, Format, Info, Key, Limits, Match, Note, Opened, Options, Overflow, ReadOptions,
    Result, Source, Spool, formats,
};

use crate::address::Address;
use crate::args::Reading;
use crate::failure::Failure;
use crate::options;
use crate::sets::Set;
use crate::streams::{Input, Streams};

/// The word that stands for standard input or output.
pub(crate) const DASH: &str = "-";

/// Opens the file that a word names, or the part of one, as in `FILE:KEY[0:3]`, and reads its
/// headers; `--strict` lets no note pass.
pub(crate) fn open(
    word: &Path,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<(u64, Opened), Failure> {
    open_at(&Address::find(word), reading, streams)
}

/// Opens what is at an address, a file or a set of files; the bundle holds no more than that. Gives
/// also how many bytes the files have.
pub(crate) fn open_at(
    address: &Address,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<(u64, Opened), Failure> {
    let (len, opened, _) = open_towards(address, reading, None, streams)?;
    Ok((len, opened))
}

/// Opens what is at an address to be written as `target`; gives the options for writing too.
pub(crate) fn open_towards(
    address: &Address,
    reading: &Reading,
    target: Option<&Info>,
    streams: &mut Streams,
) -> Result<(u64, Opened, Options), Failure> {
    let limits = &reading.limits.0;
    let (len, mut opened, writing) = match Set::find(&address.file, limits)? {
        None => open_file(&address.file, reading, target, streams)?,
        Some(set) => open_set(&set, reading, target, streams)?,
    };
    address.narrow(&mut opened.bundle, opened.format.info(), limits)?;
    refuse_notes(opened.format, opened.bundle.notes(), reading)?;
    Ok((len, opened, writing))
}

fn open_file(
    file: &Path,
    reading: &Reading,
    target: Option<&Info>,
    streams: &mut Streams,
) -> Result<(u64, Opened, Options), Failure> {
    let source = source(file, reading, streams)?;
    let format = detect(&source, file, reading)?;
    streams.detail(file, &format!("read as {}", format.info().name));
    let (options, writing) = options::of(reading, format.info(), target)?;
    let opened = read(&source, format, reading, options, Overflow::Fails)?;
    Ok((source.len(), opened, writing))
}

/// Opens all files of a set as one; they are of one format, and the metadata is that of the first.
pub(crate) fn open_set(
    set: &Set,
    reading: &Reading,
    target: Option<&Info>,
    streams: &mut Streams,
) -> Result<(u64, Opened, Options), Failure> {
    let mut all: Option<(u64, Opened, Options)> = None;
    for file in &set.files {
        let about = |failure: Failure| failure.about(file);
        let (len, mut opened, writing) =
            open_file(file, reading, target, streams).map_err(about)?;
        narrow_to_set(set, file, &mut opened.bundle, streams).map_err(about)?;
        name_by_file(file, &mut opened.bundle);
        match &mut all {
            None => all = Some((len, opened, writing)),
            Some((_, first, _)) if first.format.info().name != opened.format.info().name => {
                let (own, other) = (opened.format.info().name, first.format.info().name);
                let why = format!("it is {own}, and the files before it are {other}");
                return Err(about(Failure::usage(why)));
            }
            Some((sum, first, _)) => {
                *sum = sum.saturating_add(len);
                first.bundle.append(opened.bundle);
            }
        }
    }
    all.ok_or_else(|| Failure::usage("a set without files"))
}

/// Keeps of a file what the index of its set says, and says if that is not all.
pub(crate) fn narrow_to_set(
    set: &Set,
    file: &Path,
    bundle: &mut Bundle,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let left_out = set.narrow(file, bundle)?;
    if left_out > 0 {
        let text = format!("tensors that the index does not name are left out: {left_out}");
        streams.note(file, &text);
    }
    Ok(())
}

/// What a file is called without the endings that say its format.
pub(crate) fn stem(file: &Path) -> OsString {
    let is_gzip = { file.extension() }.is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let stem = file.file_stem().unwrap_or_default();
    let stem = match is_gzip {
        true => Path::new(stem).file_stem().unwrap_or_default(),
        false => stem,
    };
    stem.to_owned()
}

/// Calls a tensor without a name by its file.
fn name_by_file(file: &Path, bundle: &mut Bundle) {
    let stem = stem(file);
    let stem = stem.to_string_lossy();
    bundle.rename(|key| match key.is_empty() {
        true => Key::flat(stem.clone()),
        false => key.clone(),
    });
}

/// Opens a file, or standard input for `-`, so that it can be read by position; what is compressed by
/// gzip is decompressed.
pub(crate) fn source(path: &Path, reading: &Reading, streams: &mut Streams) -> Result<Source> {
    let source = uncounted(path, reading, streams)?;
    source.counted(streams.reads()).unpacked(&reading.limits.0)
}

fn uncounted(path: &Path, reading: &Reading, streams: &mut Streams) -> Result<Source> {
    let limits = &reading.limits.0;
    if path != Path::new(DASH) {
        let file = File::open(path).map_err(|error| Error::from(error).in_file(path))?;
        return Ok(by_position(file, limits)?.named(path));
    }
    match streams.take_input() {
        Some(Input::File(file)) => by_position(file, limits),
        Some(Input::Stream(mut stream)) => Spool::read_from(&mut stream, limits),
        None => Err(Error::Invalid(
            "standard input can be read only once".into(),
        )),
    }
}

/// A regular file is read where it lies; a pipe, or a file that somebody read the start of, is
/// spooled from where it stands.
fn by_position(mut file: File, limits: &Limits) -> Result<Source> {
    let about = file.metadata()?;
    if about.is_dir() || about.is_file() && file.stream_position()? == 0 {
        return Source::file(file);
    }
    Spool::read_from(&mut file, limits)
}

/// The format named by `--format`, or meant by `--raw`, else the one the content shows.
pub(crate) fn detect(
    source: &Source,
    path: &Path,
    reading: &Reading,
) -> Result<&'static dyn Format> {
    let is_marked =
        |format: &&dyn Format| !format.info().magic.is_empty() && format.probe(source) != Match::No;
    match reading.format {
        Some(format) => Ok(format),
        None if reading.meaning.input.is_some() && !formats::ALL.iter().any(is_marked) => {
            Ok(&formats::raw::Raw)
        }
        None => match tenfold::detect(source, Some(path)) {
            Err(Error::Unrecognised { .. }) if reading.meaning.output.is_some() => {
                let why = "no known format, and --raw is about the file that is written: twice, the \
                           first is about what is read";
                Err(Error::Invalid(why.into()))
            }
            found => found,
        },
    }
}

/// Reads the headers; what `--dequantize` leaves no room for fares as `over` says.
pub(crate) fn read(
    source: &Source,
    format: &'static dyn Format,
    reading: &Reading,
    options: Options,
    over: Overflow,
) -> Result<Opened> {
    let how = ReadOptions {
        limits: reading.limits.0.clone(),
        mode: reading.mode(),
        options,
        skip_restore: reading.no_restore,
        salvage: false,
    };
    let mut opened = tenfold::read(source, format, &how)?;
    if let Some(number) = reading.dequantize {
        for (_, tensor) in opened.bundle.entries_mut() {
            *tensor = tensor.dequantized(number, over, &how.limits)?;
        }
    }
    Ok(opened)
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
            key: Some(tenfold::Key::tree(vec!["enc".into(), "w\n".into()])),
            at: Some(7),
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
