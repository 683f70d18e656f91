//! Tests that watch the allocator: hostile files, and tensors larger than the memory they may take.
//!
//! They have a program of their own, and one lock, as the counter sees all threads.
#![expect(
    clippy::as_conversions,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

#[path = "../shared/bombs.rs"]
mod bomb_files;
mod bombs;
mod budget;
mod checkpoint;
#[path = "../shared/files.rs"]
mod files;
mod halves;
mod hostile;
#[path = "../shared/mended.rs"]
mod mended;
mod streaming;
mod text;

use std::sync::{Mutex, MutexGuard};

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The bytes of what is repeated in a bomb.
const BOMB_LEN: usize = 12 << 20;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Waits until no other test of this program runs.
fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Does something; gives what comes out, and how many bytes more than before were held at the most.
fn watched<T>(what: impl FnOnce() -> T) -> (T, usize) {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let done = what();
    (done, ALLOCATOR.peak_usage().saturating_sub(before))
}
