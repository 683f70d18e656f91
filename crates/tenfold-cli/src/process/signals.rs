//! Signal handlers: interruption and termination.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::browser;
use crate::exit::Exit;
use crate::terminal::progress_bar;

/// Whether the program runs until it is interrupted, which is then not a failure.
static IS_SERVER: AtomicBool = AtomicBool::new(false);

/// Makes an interrupt the regular end of the program.
pub(crate) fn end_by_interrupt() {
    IS_SERVER.store(true, Ordering::Relaxed);
}

/// Installs handlers that end this process cleanly: without leftover files, and with exit code 130
/// after Ctrl-C. A file that exceeds the allowed size becomes an ordinary error.
///
/// If an infallible allocation fails, Rust prints its size and aborts: the exit code is then that
/// of any lack of memory.
///
/// A handler that cannot be installed is skipped: the system then ends the process, and at most a
/// hidden file remains until the next save.
pub fn install_signal_handlers() {
    // The flag is never read: the write that exceeds the limit fails by itself.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    heed_panics();
    let always = Arc::new(AtomicBool::new(true));
    let code = Exit::Trouble.code().into();
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, code, always);
    // A program started with `nohup`, or in the background of a script, must keep running.
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let heeded: Vec<i32> = heeded.filter(|signal| !is_ignored(*signal)).collect();
    let Ok(mut signals) = Signals::new(heeded) else {
        return;
    };
    let heed = move || {
        let Some(signal) = signals.forever().next() else {
            return;
        };
        progress_bar::clear();
        tenfold::remove_temp_files();
        browser::end();
        std::process::exit(match signal {
            SIGINT if IS_SERVER.load(Ordering::Relaxed) => Exit::Fine.code().into(),
            SIGINT => Exit::Interrupted.code().into(),
            // The exit code that shells give a process ended by a signal.
            other => other.saturating_add(128),
        });
    };
    // Without memory for a thread a clean exit is out of reach.
    let _ = std::thread::Builder::new().spawn(heed);
}

/// Ends the process in the same way if a library panics for lack of memory or threads: faer, rayon,
/// zlib-rs and the standard library cannot report it otherwise.
fn heed_panics() {
    const LACKS: [&str; 5] = [
        "AllocError",
        "MemError",
        "kind: OutOfMemory",
        "kind: WouldBlock",
        "os error 12",
    ];
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        if !text.is_some_and(|text| LACKS.iter().any(|lack| text.contains(lack))) {
            return usual(panic);
        }
        progress_bar::clear();
        tenfold::remove_temp_files();
        // If standard error cannot be written, there is no way to report anything.
        let _ = std::io::stderr().write_all(b"tenfold: out of memory\n");
        std::process::exit(Exit::Trouble.code().into());
    }));
}

/// Whether the parent process has set a signal to be ignored.
fn is_ignored(signal: i32) -> bool {
    // Without this file the default is assumed.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    mask.zip(u32::try_from(signal).ok())
        .is_some_and(|(mask, signal)| mask >> signal.saturating_sub(1) & 1 == 1)
}
