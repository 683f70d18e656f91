//! Software prefetch.

/// Numbers per cache line.
pub(crate) const LINE: usize = 8;

/// The target cache, by the number that x86 has for it: L1 for data needed next, and L2 for data
/// needed later.
pub(crate) const NEAREST: i32 = 3;
pub(crate) const SECOND: i32 = 2;

/// Prefetches the line at the start of a slice; no effect where not supported.
#[inline(always)]
pub(crate) fn ask_for<const CACHE: i32>(cells: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        sse._mm_prefetch::<CACHE>(cells.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = cells;
}
