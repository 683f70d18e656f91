//! An allocator that fails one large allocation, or all from one on.
#![expect(unsafe_code, reason = "an allocator hands out addresses")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};

/// Bytes from which on an allocation counts: more than the help of one command, which is made while its words are parsed.
const LARGE: usize = 2 * tenfold::memory::SMALL;

/// Which large allocations fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// One alone, as where another thread frees memory.
    One,
    /// It and all that follow.
    AllFrom,
}

/// How many large allocations are made until one fails.
static LEFT: AtomicI64 = AtomicI64::new(i64::MAX);
/// Whether those after it fail as well.
static GOES_ON: AtomicBool = AtomicBool::new(false);
/// Whether the place of the first that fails is printed.
static IS_TRACED: AtomicBool = AtomicBool::new(false);

pub(crate) struct Failing;

impl Failing {
    fn fails(size: usize) -> bool {
        if size < LARGE {
            return false;
        }
        let left = LEFT.fetch_sub(1, SeqCst);
        if left == 1 && IS_TRACED.load(SeqCst) {
            // What this allocates shall not fail.
            let before = LEFT.swap(i64::MAX, SeqCst);
            let trace = std::backtrace::Backtrace::force_capture();
            eprintln!("{size} bytes refused\n{trace}");
            LEFT.store(before, SeqCst);
        }
        left == 1 || left < 1 && GOES_ON.load(SeqCst)
    }
}

// SAFETY: all is done by the system's allocator; null is what an allocator gives that has no memory.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Failing::fails(layout.size()) {
            std::ptr::null_mut()
        } else {
            // SAFETY: the caller keeps the same promises.
            unsafe { System.alloc(layout) }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Failing::fails(layout.size()) {
            std::ptr::null_mut()
        } else {
            // SAFETY: the caller keeps the same promises.
            unsafe { System.alloc_zeroed(layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && Failing::fails(size) {
            std::ptr::null_mut()
        } else {
            // SAFETY: the caller keeps the same promises.
            unsafe { System.realloc(block, layout, size) }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: every block is one of the system's.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Does something while the large allocation of this number fails, the first of which is 1; says whether
/// there were so many.
pub(crate) fn with_failure<T>(number: i64, which: Which, what: impl FnOnce() -> T) -> (T, bool) {
    GOES_ON.store(which == Which::AllFrom, SeqCst);
    LEFT.store(number, SeqCst);
    let done = what();
    let left = LEFT.swap(i64::MAX, SeqCst);
    (done, left < 1)
}

/// Has the place of each failure printed.
pub(crate) fn trace() {
    IS_TRACED.store(true, SeqCst);
}
