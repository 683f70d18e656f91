//! Telling the memory in time what will be wanted.

/// Numbers in a line of a processor's cache.
pub(crate) const LINE: usize = 8;

/// Asks for the line that a slice begins in, which will be read after some more work; nothing happens
/// where that is not possible.
#[inline(always)]
pub(super) fn ask_for(cells: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    ask::<{ std::arch::x86_64::_MM_HINT_T1 }>(cells);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = cells;
}

/// The same, for a line that will be written to very soon.
#[inline(always)]
pub(super) fn ask_for_soon(cells: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    ask::<{ std::arch::x86_64::_MM_HINT_T0 }>(cells);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = cells;
}

/// Asks for a line, into one of the caches.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask<const INTO: i32>(cells: &[f64]) {
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        sse._mm_prefetch::<INTO>(cells.as_ptr().cast());
    }
}
