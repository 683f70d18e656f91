//! From a word on the command line to an open tensor file.

use std::fs::File;
use std::io::Seek;
use std::path::Path;

use tenfold::{
    Error, Format, Info, Limits, Note, Opened, Options, ReadOptions, Result, Source, Spool,
};

use crate::address::Address;
use crate::args::Reading;
use crate::failure::Failure;
use crate::options;
use crate::streams::{Input, Streams};

/// The word that stands for standard input or output.
pub(crate) const DASH: &str = "-";

/// Opens the file that a word names, or the part of one, as in `FILE:KEY[0:3]`, and reads its
/// headers; `--strict` lets no note pass.
pub(crate) fn open(
    word: &Path,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<(Source, Opened), Failure> {
    open_at(&Address::find(word), reading, streams)
}

/// Opens what is at an address; the bundle holds no more than that.
pub(crate) fn open_at(
    address: &Address,
    reading: &Reading,
    streams: &mut Streams,
) -> Result<(Source, Opened), Failure> {
    let (source, opened, _) = open_towards(address, reading, None, streams)?;
    Ok((source, opened))
}

/// Opens what is at an address to be written as `target`; gives the options for writing too.
pub(crate) fn open_towards(
    address: &Address,
    reading: &Reading,
    target: Option<&Info>,
    streams: &mut Streams,
) -> Result<(Source, Opened, Options), Failure> {
    let source = source(&address.file, reading, streams)?;
    let format = detect(&source, &address.file, reading)?;
    streams.detail(&address.file, &format!("read as {}", format.info().name));
    let (options, writing) = options::split(&reading.options, format.info(), target)?;
    let mut opened = read(&source, format, reading, options)?;
    address.narrow(&mut opened.bundle, format.info(), &reading.limits.0)?;
    refuse_notes(opened.format, opened.bundle.notes(), reading)?;
    Ok((source, opened, writing))
}

/// Opens a file, or standard input for `-`, so that it can be read by position.
pub(crate) fn source(path: &Path, reading: &Reading, streams: &mut Streams) -> Result<Source> {
    let source = uncounted(path, reading, streams)?;
    Ok(source.counted(streams.reads()))
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

/// The format named by `--format`, else the one the content shows.
pub(crate) fn detect(
    source: &Source,
    path: &Path,
    reading: &Reading,
) -> Result<&'static dyn Format> {
    match reading.format {
        Some(format) => Ok(format),
        None => tenfold::detect(source, Some(path)),
    }
}

/// Reads the headers.
pub(crate) fn read(
    source: &Source,
    format: &'static dyn Format,
    reading: &Reading,
    options: Options,
) -> Result<Opened> {
    let how = ReadOptions {
        limits: reading.limits.0.clone(),
        mode: reading.mode(),
        options,
        skip_restore: reading.no_restore,
    };
    tenfold::read(source, format, &how)
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
