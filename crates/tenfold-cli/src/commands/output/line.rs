//! Positional arguments of commands with one input and one output.

use std::path::{Path, PathBuf};

use tenfold::ops::{ReadInput, TensorRef, stem};
use tenfold::{Allow, Info, Options, Progress, WriteOptions, formats};

use super::{Content, Destination};
use crate::args::{Part, Reading, Saving};
use crate::error::Failure;
use crate::input::DASH;
use crate::render::note_text;
use crate::terminal::Streams;
use crate::{input, options};

/// The input, and the destination.
pub(in crate::commands) struct Line {
    /// The input file, as given on the command line.
    pub(in crate::commands) word: PathBuf,
    pub(in crate::commands) reference: TensorRef,
    pub(in crate::commands) destination: Option<Destination>,
}

impl Line {
    /// Splits the arguments into a file, an optional tensor and slice, and the output. If the
    /// output is optional, the last argument is one only if its name implies a format.
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
        let (key, place) = (text(1)?, text(2)?);
        let reference = TensorRef::find(&word)
            .and_then(|reference| reference.with(tensor, slice))
            .and_then(|reference| reference.with_words(key, place))
            .map_err(|error| Failure::from(error).about(&word))?;
        Ok(Line {
            word,
            reference,
            destination: out.map(|out| Destination::named(out)),
        })
    }

    /// Opens the input and prints its notes; also returns the options for writing.
    pub(in crate::commands) fn open(
        &self,
        reading: &Reading,
        target: Option<&Info>,
        streams: &mut Streams,
    ) -> Result<(Content, Options), Failure> {
        let about = |failure: Failure| failure.about(&self.word);
        let reference = &self.reference;
        let input =
            input::find(reference, reading, streams).map_err(|error| about(error.into()))?;
        let (opened, options) =
            input::read(&input, reference, reading, target, streams).map_err(about)?;
        let info = opened.format.info();
        let (reads, _) = options::of(reading, input.format().info(), target)?;
        let how = input::read_options(reading, reads);
        for note in opened.bundle.notes() {
            streams.note(&self.word, &note_text(info, note));
        }
        let content = Content {
            bundle: opened.bundle,
            info,
            file: Some(self.word.clone()),
            stem: stem(&self.reference.file),
            said: Vec::new(),
            inputs: vec![ReadInput { input, how }],
        };
        Ok((content, options))
    }
}

/// The save options given by the flags.
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
