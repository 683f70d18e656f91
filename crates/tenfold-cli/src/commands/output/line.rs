//! The words of the commands that read one file and write one.

use std::path::{Path, PathBuf};

use tenfold::{Allow, Info, Options, Progress, WriteOptions, formats};

use super::{Content, Destination, stem};
use crate::address::Address;
use crate::args::{Part, Reading, Saving};
use crate::failure::Failure;
use crate::input::{self, DASH};
use crate::render::note_text;
use crate::streams::Streams;

/// What is read, and where it is written.
pub(in crate::commands) struct Line {
    /// The file to read, as it stands on the command line.
    pub(in crate::commands) word: PathBuf,
    pub(in crate::commands) address: Address,
    pub(in crate::commands) destination: Option<Destination>,
}

impl Line {
    /// Parts the words into a file, perhaps a tensor and a slice of it, and what is written. If
    /// that need not be named, the last word is it only where its name says a format.
    pub(in crate::commands) fn part(
        words: &[PathBuf],
        part: Option<&Part>,
        saving: &Saving,
        must_write: bool,
    ) -> Result<Line, Failure> {
        let is_out = |word: &Path| {
            must_write || word == Path::new(DASH) || !formats::by_extension(word).is_empty()
        };
        let (inputs, out) = match (&saving.file, words.split_last()) {
            (Some(file), _) => (words, Some(file)),
            (None, Some((last, rest))) if !rest.is_empty() && is_out(last) => (rest, Some(last)),
            (None, _) => (words, None),
        };
        if must_write && out.is_none() {
            let why = "nothing says where to write: name a file last, or with -o";
            return Err(Failure::usage(why));
        }
        let text = |place: usize| {
            let word = inputs.get(place).map(|word| word.to_str().ok_or(word));
            word.transpose().map_err(|word| {
                let why = format!("{} is no name of a tensor", word.display());
                Failure::usage(why)
            })
        };
        let word = inputs.first().cloned().unwrap_or_default();
        let (tensor, slice) = match part {
            Some(part) => (part.tensor.as_deref(), part.slice.as_deref()),
            None => (None, None),
        };
        if inputs.len() > 3 {
            return Err(Failure::usage("more words than FILE KEY SLICE OUT"));
        }
        let address = Address::find(&word)
            .with(tensor, slice)
            .and_then(|address| address.with_words(text(1)?, text(2)?))
            .map_err(|failure| failure.about(&word))?;
        Ok(Line {
            word,
            address,
            destination: out.map(|out| Destination::named(out)),
        })
    }

    /// Opens what is read, and says what is worth a note; gives the options for writing too.
    pub(in crate::commands) fn open(
        &self,
        reading: &Reading,
        target: Option<&Info>,
        streams: &mut Streams,
    ) -> Result<(Content, Options), Failure> {
        let (_, opened, options) = input::open_towards(&self.address, reading, target, streams)
            .map_err(|failure| failure.about(&self.word))?;
        let info = opened.format.info();
        for note in opened.bundle.notes() {
            streams.note(&self.word, &note_text(info, note));
        }
        let content = Content {
            bundle: opened.bundle,
            info,
            file: Some(self.word.clone()),
            stem: stem(&self.address.file),
            said: Vec::new(),
        };
        Ok((content, options))
    }
}

/// How the flags want a file to be written.
pub(in crate::commands) fn writing(
    saving: &Saving,
    reading: &Reading,
    options: Options,
    stem: Option<String>,
    allow: Allow,
) -> WriteOptions {
    WriteOptions {
        version: saving.to.as_ref().and_then(|to| to.version.clone()),
        options,
        allow,
        strict: reading.strict,
        stem,
        limits: reading.limits.0.clone(),
        skip_sync: saving.no_sync,
        progress: Progress::default(),
        ..WriteOptions::default()
    }
}
