//! Standard input, output and error.

use std::fs::File;
use std::io;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tenfold::{Error, Progress, Result, Sink};

use super::{ColorWhen, Paint, plain, progress_bar};
use crate::error::Failure;

/// Standard input, output and error, or substitutes for them.
pub struct Streams {
    input: Option<Input>,
    pub(crate) out: Out,
    errors: Box<dyn Write + Send>,
    /// The style of errors and notes.
    paint: Paint,
    voice: Verbosity,
    is_terminal: bool,
    is_process: bool,
    reads: Progress,
}

/// Verbosity, color and progress settings.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Verbosity {
    /// Errors only.
    pub(crate) quiet: bool,
    /// Verbose output.
    pub(crate) verbose: bool,
    pub(crate) color: ColorWhen,
    pub(crate) progress: ColorWhen,
}

/// Standard input.
pub(crate) enum Input {
    /// A handle from the system: a regular file or a pipe.
    File(File),
    /// Any reader.
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

    /// Counts the bytes read of all input files.
    pub(crate) fn reads(&self) -> &Progress {
        &self.reads
    }

    /// Whether the output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Standard input, on the first request only.
    pub(crate) fn take_input(&mut self) -> Option<Input> {
        self.input.take()
    }

    /// Whether these are the streams of this process.
    pub(crate) fn is_process(&self) -> bool {
        self.is_process
    }

    /// The verbosity.
    pub(crate) fn voice(&self) -> Verbosity {
        self.voice
    }

    /// Changes the verbosity from here on.
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
            // The terminal's capability, overridden by NO_COLOR and CLICOLOR_FORCE.
            ColorWhen::Auto if self.is_process => {
                anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
            }
            ColorWhen::Auto => false,
        }
    }

    /// The style of errors and notes.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Prints a message that is not data, unless quiet.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.voice.quiet {
            self.complain(text);
        }
    }

    /// Prints an error.
    pub(crate) fn complain(&mut self, text: &str) {
        if self.is_terminal {
            // Keeps both streams in order on a terminal; a closed terminal needs no order.
            let _ = self.out.flush();
        }
        // If standard error cannot be written, there is no way to report anything.
        let _ = progress_bar::suspended(|| self.errors.write_all(text.as_bytes()));
    }

    /// Prints a note on a file; `text` may come from the file.
    pub(crate) fn note(&mut self, path: &Path, text: &str) {
        let (who, file) = (self.paint.note("tenfold:"), shown(path));
        self.say(&format!("{who} {file}: {}\n", plain(text)));
    }

    /// Prints a note on a file if verbose.
    pub(crate) fn detail(&mut self, path: &Path, text: &str) {
        if self.voice.verbose {
            let (who, file) = (self.paint.head("tenfold:"), shown(path));
            self.say(&format!("{who} {file}: {}\n", plain(text)));
        }
    }

    /// Prints the success of an operation; `text` may come from a file.
    pub(crate) fn done(&mut self, text: &str) {
        let who = self.paint.note("tenfold:");
        self.say(&format!("{who} {}\n", plain(text)));
    }

    /// Prints the failure of a command.
    pub(crate) fn report(&mut self, failure: &Failure) {
        if !failure.is_quiet() {
            let who = self.paint.error("tenfold:");
            self.complain(&format!("{who} {}\n", failure.line()));
        }
    }
}

/// A path, sanitized for a terminal.
fn shown(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// Standard output, buffered; its errors name it.
pub(crate) struct Out {
    writer: Box<dyn Write + Send>,
    buffer: String,
    pub(crate) paint: Paint,
    /// Whether text is discarded; bytes requested by `-` are not.
    is_quiet: bool,
}

/// Most bytes buffered before they are passed on.
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
        // Long text is not buffered.
        self.put(text).map_err(|error| in_output(error.into()))
    }

    /// Flushes the buffer.
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
        // Also after a failure: a failed write is not tried again.
        self.buffer.clear();
        written
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        progress_bar::suspended(|| self.writer.write_all(text.as_bytes()))
    }

    /// The underlying writer, for bytes that are not text; this output is unusable afterwards.
    pub(crate) fn take(&mut self) -> Box<dyn Write + Send> {
        std::mem::replace(&mut self.writer, Box::new(io::sink()))
    }

    /// Lets `body` write bytes after the text so far; more text may follow them.
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

/// A writer that is returned when its last user drops it.
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

/// The text printed by `body`.
#[cfg(test)]
pub(crate) fn printed(body: impl FnOnce(&mut Out) -> Result<()>) -> String {
    let mut out = Out::new(Box::new(io::sink()));
    body(&mut out).unwrap();
    assert!(out.buffer.len() < BUFFER);
    out.buffer
}

/// Names standard output as the file of an output error; invalid values belong to the file they
/// come from.
pub(crate) fn in_output(error: Error) -> Error {
    match error {
        Error::Io { .. } => error.in_file(Path::new("standard output")),
        other => other,
    }
}
