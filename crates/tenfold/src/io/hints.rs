//! What the system is told of the reads and writes to come.

use std::fs::File;
use std::ops::Range;

use crate::bytes::Bytes;

impl Bytes {
    /// Tells the system that some bytes will be read soon, if they lie in a file as they are.
    #[cfg(all(target_os = "linux", not(miri)))]
    pub(crate) fn announce(&self, range: Range<u64>) {
        use rustix::fs::{Advice, fadvise};
        // It reads about as much at one call, whatever it is told.
        const STEP: u64 = 1 << 20;
        let Some((file, run)) = self.as_file_run() else {
            return;
        };
        let mut at = run.start.saturating_add(range.start);
        let end = run.start.saturating_add(range.end).min(run.end);
        while at < end {
            let len = STEP.min(end.saturating_sub(at));
            // A wish; what comes of it is the system's affair.
            let _ = fadvise(file, at, std::num::NonZeroU64::new(len), Advice::WillNeed);
            at = at.saturating_add(len);
        }
    }

    /// Other systems, and an interpreter, read ahead as they see fit.
    #[cfg(any(not(target_os = "linux"), miri))]
    pub(crate) fn announce(&self, _: Range<u64>) {}
}

/// Sets room aside for bytes that will be written to a file from `at` on: it is written quicker then, and
/// lies in one piece. Its length stays what it is.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn set_aside(file: &File, at: u64, len: u64) {
    use rustix::fs::{FallocateFlags, fallocate};
    if len > 0 {
        // A file system that cannot do it goes on without; one that is full says so when the file is written.
        let _ = fallocate(file, FallocateFlags::KEEP_SIZE, at, len);
    }
}

/// Other systems, and an interpreter, find room as they go.
#[cfg(any(not(target_os = "linux"), miri))]
pub(crate) fn set_aside(_: &File, _: u64, _: u64) {}

/// Has the system begin to bring bytes of a file to the disk, for which somebody will wait later.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn send_off(file: &File, range: Range<u64>) {
    use rustix::fs::{Advice, fadvise};
    let len = std::num::NonZeroU64::new(range.end.saturating_sub(range.start));
    // That it may let go of the pages is the lesser part: those that are on their way stay.
    let _ = fadvise(file, range.start, len, Advice::DontNeed);
}

/// Other systems, and an interpreter, begin when they see fit.
#[cfg(any(not(target_os = "linux"), miri))]
pub(crate) fn send_off(_: &File, _: Range<u64>) {}
