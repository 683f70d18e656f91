//! Progress bar for long operations.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tenfold::Progress;

use super::ColorWhen;
use super::stdio::Streams;
use crate::render::bytes_text;

/// Shorter operations show no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// Interval between updates of the bar.
const BEAT: Duration = Duration::from_millis(100);
/// Interval between progress lines where there is no terminal.
const LINE: Duration = Duration::from_secs(1);

/// The bar on the terminal, if there is one now.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn bar() -> MutexGuard<'static, Option<ProgressBar>> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Clears the bar, unless something is being printed, which has already done so.
pub(crate) fn clear() {
    if let Ok(mut bar) = BAR.try_lock()
        && let Some(bar) = bar.take()
    {
        bar.finish_and_clear();
    }
}

/// Clears the bar while something is printed.
pub(crate) fn suspended<R>(print: impl FnOnce() -> R) -> R {
    match &*bar() {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// Shows progress until it is dropped.
pub(crate) struct Meter(Option<(Sender<()>, JoinHandle<()>)>);

impl Meter {
    /// Shows `progress`, if the flags and the terminal ask for it.
    pub(crate) fn start(streams: &Streams, progress: &Progress) -> Meter {
        let is_terminal = streams.is_process() && std::io::stderr().is_terminal();
        let is_wanted = match streams.voice().progress {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => is_terminal,
        };
        if !is_wanted || streams.voice().quiet {
            return Meter(None);
        }
        let (end, ended) = channel();
        let progress = progress.clone();
        let thread = std::thread::Builder::new().spawn(move || {
            if is_terminal {
                draw(&progress, &ended)
            } else {
                say(&progress, &ended)
            }
        });
        // The operation does not need the bar.
        Meter(thread.ok().map(|thread| (end, thread)))
    }

    /// Shows how much of the input files is read, of about `expected` bytes.
    pub(crate) fn reading(streams: &Streams, expected: u64) -> Meter {
        streams.reads().restart(expected);
        Meter::start(streams, streams.reads())
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            // The operation does not need the bar.
            let _ = thread.join();
        }
    }
}

/// Waits; returns whether the operation still runs.
fn goes_on(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

/// The total; a second pass over the data never shows less progress.
fn total(progress: &Progress) -> u64 {
    progress.expected().max(progress.done())
}

fn draw(progress: &Progress, ended: &Receiver<()>) {
    if !goes_on(ended, PATIENCE) {
        return;
    }
    const TEMPLATE: &str = "{bytes} of {total_bytes} [{wide_bar}] {bytes_per_sec}, {eta} left";
    let style = ProgressStyle::with_template(TEMPLATE);
    let drawn = match progress.expected() {
        0 => ProgressBar::new_spinner(),
        expected => ProgressBar::new(expected),
    };
    if let Ok(style) = style.map(|style| style.progress_chars("=> "))
        && progress.expected() > 0
    {
        drawn.set_style(style);
    }
    *bar() = Some(drawn.clone());
    while goes_on(ended, BEAT) {
        drawn.set_length(total(progress));
        drawn.set_position(progress.done());
    }
    if let Some(bar) = bar().take() {
        bar.finish_and_clear();
    }
}

/// Prints progress lines where a bar would fill a log with control characters.
fn say(progress: &Progress, ended: &Receiver<()>) {
    if !goes_on(ended, PATIENCE) {
        return;
    }
    loop {
        let done = bytes_text(progress.done());
        let line = format!("tenfold: {done} of {} done\n", bytes_text(total(progress)));
        // An unwritable standard error is no reason to stop.
        let _ = std::io::stderr().write_all(line.as_bytes());
        if !goes_on(ended, LINE) {
            return;
        }
    }
}
