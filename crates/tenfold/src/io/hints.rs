//! Hints of reads to come.

use std::ops::Range;

use super::platform;
use crate::bytes::Bytes;

/// About as much is read ahead at one call, whatever the system is told.
const STEP: u64 = 1 << 20;

impl Bytes {
    /// Tells the system that some bytes will be read soon, if they lie in a file as they are.
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
