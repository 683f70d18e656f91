//! How much memory one run may hold.

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Inputs have 64 KiB at most and tensors expand to as much: what is beyond this was claimed by a file.
/// One allocation of as much, also of a library in C, ends the run by itself (`-malloc_limit_mb`).
const MOST: usize = 64 << 20;

/// Does one run.
///
/// # Panics
/// If more memory than before is held at any moment of it than [`MOST`].
pub fn watched(run: impl FnOnce()) {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    run();
    let held = ALLOCATOR.peak_usage().saturating_sub(before);
    assert!(
        held <= MOST,
        "one run held {held} bytes of memory, {MOST} are allowed"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_holds_too_much_is_a_finding() {
        watched(|| drop(vec![1_u8; MOST / 2]));
        let finding = std::panic::catch_unwind(|| watched(|| drop(vec![1_u8; MOST + 1])));
        assert!(finding.is_err());
    }
}
