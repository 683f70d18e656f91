//! Telling the memory in time what will be wanted.

/// Numbers in a line of a processor's cache.
pub(crate) const LINE: usize = 8;

/// Asks for the line that a slice begins in; nothing happens where that is not possible.
#[inline(always)]
pub(super) fn ask_for(cells: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        const INTO_SECOND_CACHE: i32 = std::arch::x86_64::_MM_HINT_T1;
        sse._mm_prefetch::<INTO_SECOND_CACHE>(cells.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = cells;
}
