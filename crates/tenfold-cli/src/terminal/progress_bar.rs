//! A bar that shows how far long work is.

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

/// What is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the bar moves.
const BEAT: Duration = Duration::from_millis(100);
/// How often a line is said where there is no terminal for a bar.
const LINE: Duration = Duration::from_secs(1);

/// The bar on the terminal, if there is one now.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn bar() -> MutexGuard<'static, Option<ProgressBar>> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the bar off the terminal, unless something is being printed, which has done so.
pub(crate) fn clear() {
    if let Ok(mut bar) = BAR.try_lock()
        && let Some(bar) = bar.take()
    {
        bar.finish_and_clear();
    }
}

/// Takes the bar off the terminal while something is printed.
pub(crate) fn suspended<R>(print: impl FnOnce() -> R) -> R {
    match &*bar() {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// Shows how far work is, until it is dropped.
pub(crate) struct Meter(Option<(Sender<()>, JoinHandle<()>)>);

impl Meter {
    /// Watches `progress`, if the flags and the terminal want it.
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
        // No bar is no reason for the work to fail.
        Meter(thread.ok().map(|thread| (end, thread)))
    }

    /// Watches how much of the input files is read, of about `expected` bytes.
    pub(crate) fn reading(streams: &Streams, expected: u64) -> Meter {
        streams.reads().restart(expected);
        Meter::start(streams, streams.reads())
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            // A bar that failed is no reason for the work to fail.
            let _ = thread.join();
        }
    }
}

/// Waits; gives whether the work goes on.
fn goes_on(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

/// How much there is to do; work that goes over something twice is never further than done.
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

/// Says how far the work is where a bar would only fill a log with control characters.
fn say(progress: &Progress, ended: &Receiver<()>) {
    if !goes_on(ended, PATIENCE) {
        return;
    }
    loop {
        let done = bytes_text(progress.done());
        let line = format!("tenfold: {done} of {} done\n", bytes_text(total(progress)));
        // Errors that cannot be written are no reason to stop.
        let _ = std::io::stderr().write_all(line.as_bytes());
        if !goes_on(ended, LINE) {
            return;
        }
    }
}
