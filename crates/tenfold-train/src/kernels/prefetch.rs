//! Telling the memory in time what will be wanted.

/// Numbers in a line of a processor's cache.
pub(crate) const LINE: usize = 8;

/// The cache to bring a line into, by the number that x86 has for it: the nearest, for what is wanted
/// next, and the second, for what has time.
pub(crate) const NEAREST: i32 = 3;
pub(crate) const SECOND: i32 = 2;

/// Asks for the line that a slice begins in; nothing happens where that is not possible.
#[inline(always)]
pub(crate) fn ask_for<const CACHE: i32>(cells: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        sse._mm_prefetch::<CACHE>(cells.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = cells;
}
