//! I/O hints for the kernel: read-ahead of ranges that will be read soon.

use std::ops::Range;

use super::platform;
use crate::bytes::Bytes;

/// Largest range announced at once; about as much as kernels read ahead per call.
const STEP: u64 = 1 << 20;

impl Bytes {
    /// Announces a read to the kernel, if the bytes lie in a file as they are.
    pub(crate) fn announce(&self, range: Range<u64>) {
        let Some((file, run)) = self.as_file_run() else {
            return;
        };
        let mut at = run.start.saturating_add(range.start);
        let end = run.start.saturating_add(range.end).min(run.end);
        while at < end {
            let len = STEP.min(end.saturating_sub(at));
            platform::will_read(file, at, len);
            at = at.saturating_add(len);
        }
    }
}
