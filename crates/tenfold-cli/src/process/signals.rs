//! What happens when the system, or Ctrl-C, wants the program to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::browser;
use crate::exit::Exit;
use crate::terminal::progress_bar;

/// Whether the program runs until it is interrupted, which is then no failure.
static IS_SERVER: AtomicBool = AtomicBool::new(false);

/// Makes an interrupt the way in which the program is meant to end.
pub(crate) fn end_by_interrupt() {
    IS_SERVER.store(true, Ordering::Relaxed);
}

/// Makes this process end cleanly when it is told to: with no litter, and with exit code 130 after
/// Ctrl-C. A file that grows beyond what is allowed becomes an error like any other.
///
/// What cannot be arranged is left as it is: the system then ends the process, and only a hidden
/// file may stay until the next save.
pub fn heed_signals() {
    // The flag is never looked at: the write that was too much fails by itself.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    // A program that is started with `nohup`, or behind a script's back, shall not be called off.
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let heeded: Vec<i32> = heeded.filter(|signal| !is_ignored(*signal)).collect();
    let Ok(mut signals) = Signals::new(heeded) else {
        return;
    };
    std::thread::spawn(move || {
        let Some(signal) = signals.forever().next() else {
            return;
        };
        progress_bar::clear();
        tenfold::remove_drafts();
        browser::end();
        std::process::exit(match signal {
            SIGINT if IS_SERVER.load(Ordering::Relaxed) => Exit::Fine.code().into(),
            SIGINT => Exit::Interrupted.code().into(),
            // What shells say of a process that a signal has ended.
            other => other.saturating_add(128),
        });
    });
}

/// Whether whoever started this process has it ignore a signal.
fn is_ignored(signal: i32) -> bool {
    // Where this file is missing nothing can be known, and the usual is assumed.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    mask.zip(u32::try_from(signal).ok())
        .is_some_and(|(mask, signal)| mask >> signal.saturating_sub(1) & 1 == 1)
}
