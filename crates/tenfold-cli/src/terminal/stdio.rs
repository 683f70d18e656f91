//! What the program is connected to.

use std::fs::File;
use std::io;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tenfold::{Error, Progress, Result, Sink};

use super::{ColorWhen, Paint, plain, progress_bar};
use crate::error::Failure;

/// Standard input, output and errors, or what stands in for them.
pub struct Streams {
    input: Option<Input>,
    pub(crate) out: Out,
    errors: Box<dyn Write + Send>,
    /// What errors and notes are painted with.
    paint: Paint,
    voice: Verbosity,
    is_terminal: bool,
    is_process: bool,
    reads: Progress,
}

/// How much is said, and how.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Verbosity {
    /// Nothing but errors.
    pub(crate) quiet: bool,
    /// More words than usual.
    pub(crate) verbose: bool,
    pub(crate) color: ColorWhen,
    pub(crate) progress: ColorWhen,
}

/// Standard input.
pub(crate) enum Input {
    /// What the system handed over: a regular file perhaps, or a pipe.
    File(File),
    /// Anything that can be read.
    Stream(Box<dyn Read + Send>),
}

impl Streams {
    /// The streams of this process.
    #[must_use]
    pub fn process() -> Streams {
        let file = io::stdin().as_fd().try_clone_to_owned().map(File::from);
        let input = match file {
            Ok(file) => Input::File(file),
            Err(_) => Input::Stream(Box::new(io::stdin())),
        };
        Streams {
            input: Some(input),
            out: Out::new(Box::new(io::stdout())),
            errors: Box::new(io::stderr()),
            paint: Paint::default(),
            voice: Verbosity::default(),
            is_terminal: io::stdout().is_terminal(),
            is_process: true,
            reads: Progress::default(),
        }
    }

    /// Any other streams.
    #[must_use]
    pub fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        errors: impl Write + Send + 'static,
    ) -> Streams {
        Streams {
            input: Some(Input::Stream(Box::new(input))),
            out: Out::new(Box::new(output)),
            errors: Box::new(errors),
            paint: Paint::default(),
            voice: Verbosity::default(),
            is_terminal: false,
            is_process: false,
            reads: Progress::default(),
        }
    }

    /// The same streams, where the output counts as a terminal.
    #[must_use]
    pub fn with_terminal(mut self) -> Streams {
        self.is_terminal = true;
        self
    }

    /// Counts what is read of all input files.
    pub(crate) fn reads(&self) -> &Progress {
        &self.reads
    }

    /// Whether the output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Standard input, the first time somebody asks.
    pub(crate) fn take_input(&mut self) -> Option<Input> {
        self.input.take()
    }

    /// Whether these are the streams of this process.
    pub(crate) fn is_process(&self) -> bool {
        self.is_process
    }

    /// How much is said, and how.
    pub(crate) fn voice(&self) -> Verbosity {
        self.voice
    }

    /// Says how much is said from here on, and how.
    pub(crate) fn set_voice(&mut self, voice: Verbosity) {
        self.voice = voice;
        self.out.is_quiet = voice.quiet;
        self.out.paint.is_on = self.is_painted(voice.color, &io::stdout());
        self.paint.is_on = self.is_painted(voice.color, &io::stderr());
    }

    fn is_painted(&self, color: ColorWhen, stream: &impl anstream::stream::RawStream) -> bool {
        match color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            // What the terminal can do, and what NO_COLOR and CLICOLOR_FORCE say.
            ColorWhen::Auto if self.is_process => {
                anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
            }
            ColorWhen::Auto => false,
        }
    }

    /// What errors and notes are painted with.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Says something that is not data, unless only errors are wanted.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.voice.quiet {
            self.complain(text);
        }
    }

    /// Says what is wrong.
    pub(crate) fn complain(&mut self, text: &str) {
        if self.is_terminal {
            // Keeps what a person sees in order; a terminal that is gone needs no order.
            let _ = self.out.flush();
        }
        // When the errors cannot be written there is nobody left to tell.
        let _ = progress_bar::suspended(|| self.errors.write_all(text.as_bytes()));
    }

    /// Says something about a file; `text` may come from the file.
    pub(crate) fn note(&mut self, path: &Path, text: &str) {
        let (who, file) = (self.paint.note("tenfold:"), shown(path));
        self.say(&format!("{who} {file}: {}\n", plain(text)));
    }

    /// Says something about a file to those who want to know more.
    pub(crate) fn detail(&mut self, path: &Path, text: &str) {
        if self.voice.verbose {
            let (who, file) = (self.paint.head("tenfold:"), shown(path));
            self.say(&format!("{who} {file}: {}\n", plain(text)));
        }
    }

    /// Says what was done, when all went well; `text` may come from a file.
    pub(crate) fn done(&mut self, text: &str) {
        let who = self.paint.note("tenfold:");
        self.say(&format!("{who} {}\n", plain(text)));
    }

    /// Says why a command stops.
    pub(crate) fn report(&mut self, failure: &Failure) {
        if !failure.is_quiet() {
            let who = self.paint.error("tenfold:");
            self.complain(&format!("{who} {}\n", failure.line()));
        }
    }
}

/// A path, safe to print.
fn shown(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// Standard output, buffered; its errors name it.
pub(crate) struct Out {
    writer: Box<dyn Write + Send>,
    buffer: String,
    pub(crate) paint: Paint,
    /// Whether text is dropped; bytes that are asked for by `-` are not.
    is_quiet: bool,
}

/// How much is collected at most before it is passed on.
const BUFFER: usize = 64 << 10;

impl Out {
    pub(crate) fn new(writer: Box<dyn Write + Send>) -> Out {
        Out {
            writer,
            buffer: String::new(),
            paint: Paint::default(),
            is_quiet: false,
        }
    }

    /// Writes text.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        if self.buffer.len().saturating_add(text.len()) > BUFFER {
            self.pass_on().map_err(|error| in_output(error.into()))?;
        }
        if text.len() < BUFFER {
            self.buffer.push_str(text);
            return Ok(());
        }
        // What is long is not held.
        self.put(text).map_err(|error| in_output(error.into()))
    }

    /// Passes everything on.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.pass_on()
            .and_then(|()| self.writer.flush())
            .map_err(|error| in_output(error.into()))
    }

    fn pass_on(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.put(&buffer);
        self.buffer = buffer;
        // Also after a failure: what could not be written once is not tried again.
        self.buffer.clear();
        written
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        progress_bar::suspended(|| self.writer.write_all(text.as_bytes()))
    }

    /// The writer itself, for bytes that are not text; nothing can be written here afterwards.
    pub(crate) fn take(&mut self) -> Box<dyn Write + Send> {
        std::mem::replace(&mut self.writer, Box::new(io::sink()))
    }

    /// Lets `body` write bytes behind the text so far; more text may follow them.
    pub(crate) fn lend(&mut self, body: impl FnOnce(&mut Sink) -> Result<()>) -> Result<()> {
        self.flush()?;
        if self.is_quiet {
            return body(&mut Sink::stream(Box::new(io::sink())));
        }
        let lent = Lent(Arc::new(Mutex::new(self.take())));
        let mut sink = Sink::stream(Box::new(lent.clone()));
        let written = match body(&mut sink) {
            Ok(()) => sink.finish().map(|_| ()),
            Err(error) => {
                drop(sink);
                Err(error)
            }
        };
        let writer = Arc::try_unwrap(lent.0).ok();
        if let Some(writer) = writer.and_then(|writer| writer.into_inner().ok()) {
            self.writer = writer;
        }
        written.map_err(in_output)
    }
}

/// A writer that is given back when nobody holds it any more.
#[derive(Clone)]
struct Lent(Arc<Mutex<Box<dyn Write + Send>>>);

impl Lent {
    fn with<T>(&self, act: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        match self.0.lock() {
            Ok(mut writer) => act(&mut *writer),
            Err(_) => Err(io::Error::other("the output is in use")),
        }
    }
}

impl Write for Lent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|writer| writer.flush())
    }
}

/// What `body` prints.
#[cfg(test)]
pub(crate) fn printed(body: impl FnOnce(&mut Out) -> Result<()>) -> String {
    let mut out = Out::new(Box::new(io::sink()));
    body(&mut out).unwrap();
    assert!(out.buffer.len() < BUFFER);
    out.buffer
}

/// Names standard output as the file in which an output error happened: what is wrong with values is so in the file
/// that they are from.
pub(crate) fn in_output(error: Error) -> Error {
    match error {
        Error::Io { .. } => error.in_file(Path::new("standard output")),
        other => other,
    }
}
