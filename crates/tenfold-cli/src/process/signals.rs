//! What happens when the system, or Ctrl-C, wants the program to end.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
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
/// Where memory is lacking that was not asked for in a way that can fail, Rust prints how many bytes it was
/// and aborts: the exit code is then that of any lack of memory.
///
/// What cannot be arranged is left as it is: the system then ends the process, and only a hidden
/// file may stay until the next save.
pub fn install_signal_handlers() {
    // The flag is never looked at: the write that was too much fails by itself.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    heed_panics();
    let always = Arc::new(AtomicBool::new(true));
    let code = Exit::Trouble.code().into();
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, code, always);
    // A program that is started with `nohup`, or behind a script's back, shall not be called off.
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
            // What shells say of a process that a signal has ended.
            other => other.saturating_add(128),
        });
    };
    // Without memory for a thread there is not much left to end cleanly.
    let _ = std::thread::Builder::new().spawn(heed);
}

/// Ends the process in the same way where a library panics for want of memory, or of a thread: faer, rayon, zlib-rs and
/// the standard library have no other way to say so.
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
        // When the errors cannot be written there is nobody left to tell.
        let _ = std::io::stderr().write_all(b"tenfold: out of memory\n");
        std::process::exit(Exit::Trouble.code().into());
    }));
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
