//! Aligned memory that is accessed by address outside of Rust.
#![expect(
    unsafe_code,
    reason = "an address goes where no borrow can follow, and mapping a file is unsafe"
)]

use std::fs::File;

use memmap2::{MmapMut, MmapOptions};
use tenfold::{Result, memory};

/// Size from which memory is mapped by the system, page by page on access. Under Miri, a thousand
/// bytes take a second.
const LARGE: usize = if cfg!(miri) { 1 << 12 } else { 1 << 20 };

/// Size from which huge pages are requested, as in NumPy: faulting in small pages takes longer than
/// filling them.
#[cfg(target_os = "linux")]
const HUGE: usize = 4 << 20;

/// The block size in which a virtual machine returns free memory to its host, as a power of two.
#[cfg(target_os = "linux")]
const REPORTED: &str = "/sys/module/page_reporting/parameters/page_reporting_order";

/// Whether huge pages are fast to get: not where free ones are returned to the host, which has to
/// find and clear them again.
#[cfg(target_os = "linux")]
fn has_large_pages() -> bool {
    static KNOWN: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *KNOWN.get_or_init(|| !std::fs::read_to_string(REPORTED).is_ok_and(|order| is_order(&order)))
}

/// Memory from the system. Small pages are populated at once where that many bytes are available to
/// fill them, which is faster than one by one; a reservation alone takes no memory.
#[cfg(target_os = "linux")]
fn pages(len: usize, are_at_hand: bool) -> std::io::Result<MmapMut> {
    if len >= HUGE && !has_large_pages() {
        let mut how = MmapOptions::new();
        how.len(len);
        if are_at_hand {
            how.populate();
        }
        return how.map_anon();
    }
    let map = MmapMut::map_anon(len)?;
    if len >= HUGE {
        // Without huge pages, small ones are used.
        let _ = map.advise(memmap2::Advice::HugePage);
    }
    Ok(map)
}

#[cfg(not(target_os = "linux"))]
fn pages(len: usize, _: bool) -> std::io::Result<MmapMut> {
    MmapMut::map_anon(len)
}

/// Whether a text is a power-of-two number of pages; without reporting to the host it is -1, in 32
/// bits.
#[cfg(target_os = "linux")]
fn is_order(text: &str) -> bool {
    text.trim().parse::<u8>().is_ok_and(|order| order < 64)
}

/// Bytes at a fixed address, aligned for every number type, until this is dropped.
pub(super) struct AlignedBuffer {
    start: *mut u8,
    len: usize,
    /// The owner of the bytes; Rust does not access them once they are shared.
    _owner: Owner,
}

enum Owner {
    Heap { _words: Vec<u128> },
    Bytes { _bytes: Vec<u8> },
    Pages { _map: MmapMut },
}

// SAFETY: the pointer refers to memory that the owner keeps in place until it is dropped; after
// construction Rust neither reads nor writes it, and access follows the rules of the code it is
// shared with.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Allocates `len` bytes and fills them, perhaps from as many available bytes.
    pub(super) fn filled(
        len: usize,
        are_at_hand: bool,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<AlignedBuffer> {
        if len >= LARGE {
            let mut map = pages(len, are_at_hand)?;
            fill(&mut map)?;
            return Ok(AlignedBuffer::of_map(map));
        }
        // Whole words, so that every number type is aligned.
        let mut words: Vec<u128> = memory::zeros(len.div_ceil(size_of::<u128>()))?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        fill(bytes.get_mut(..len).unwrap_or_default())?;
        let start = words.as_mut_ptr().cast();
        let _owner = Owner::Heap { _words: words };
        Ok(AlignedBuffer { start, len, _owner })
    }

    /// Takes existing bytes if they are aligned for every number type, otherwise a copy.
    pub(super) fn of_vec(mut bytes: Vec<u8>) -> Result<AlignedBuffer> {
        let start = bytes.as_mut_ptr();
        if !start.cast::<u128>().is_aligned() {
            return AlignedBuffer::filled(bytes.len(), true, |out| {
                out.copy_from_slice(&bytes);
                Ok(())
            });
        }
        let len = bytes.len();
        let _owner = Owner::Bytes { _bytes: bytes };
        Ok(AlignedBuffer { start, len, _owner })
    }

    /// Maps a file copy-on-write, so that writes stay in this process.
    ///
    /// If a mapped file is truncated by another process, a read beyond its new end kills this one;
    /// that is why `io="read"` exists, and the documentation says so.
    pub(super) fn of_file(file: &File) -> Result<AlignedBuffer> {
        // SAFETY: the mapping is only handed out, as bytes that may change at any time; Rust never
        // makes a reference to them.
        let map = unsafe { MmapOptions::new().map_copy(file) }?;
        Ok(AlignedBuffer::of_map(map))
    }

    fn of_map(mut map: MmapMut) -> AlignedBuffer {
        AlignedBuffer {
            start: map.as_mut_ptr(),
            len: map.len(),
            _owner: Owner::Pages { _map: map },
        }
    }

    /// The address of the bytes, for code that may access them.
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates NumPy: increments every byte through an address, and returns the result.
    fn touched(room: &AlignedBuffer) -> Vec<u8> {
        assert!(room.start().cast::<u128>().is_aligned());
        // SAFETY: the buffer keeps its bytes while it is borrowed, and nothing else accesses them.
        let bytes = unsafe { std::slice::from_raw_parts_mut(room.start(), room.len()) };
        bytes
            .iter_mut()
            .for_each(|byte| *byte = byte.wrapping_add(1));
        bytes.to_vec()
    }

    fn counted(len: usize) -> Vec<u8> {
        (0..=255).cycle().take(len).collect()
    }

    /// The same, incremented again.
    fn after(bytes: &[u8]) -> Vec<u8> {
        bytes.iter().map(|byte| byte.wrapping_add(1)).collect()
    }

    #[test]
    fn filled_bytes_can_be_changed_from_outside_from_any_thread() {
        for len in [0, 1, 15, 16, 17, 1000, LARGE, LARGE + 1] {
            let bytes = counted(len);
            let room = AlignedBuffer::filled(len, len % 2 == 0, |out| {
                out.copy_from_slice(&bytes);
                Ok(())
            });
            let room = Box::new(room.unwrap());
            let expected = after(&bytes);
            assert_eq!(touched(&room), expected);
            let room = std::thread::spawn(move || {
                assert_eq!(touched(&room), after(&expected));
                room
            });
            drop(room.join().unwrap());
        }
    }

    #[test]
    fn bytes_that_are_there_stay_where_they_are_or_are_copied_to_where_they_are_aligned() {
        for len in [0, 1, 16, 333] {
            let bytes = counted(len);
            let room = AlignedBuffer::of_vec(bytes.clone()).unwrap();
            assert_eq!(touched(&room), after(&bytes));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_given_back_where_the_blocks_have_a_size() {
        assert!(["9\n", "10", "0"].into_iter().all(is_order));
        assert!(
            !["4294967295\n", "-1", "", "none", "64"]
                .into_iter()
                .any(is_order)
        );
    }

    #[test]
    fn a_failure_to_fill_is_passed_on() {
        for len in [8, LARGE] {
            let refused = |_: &mut [u8]| Err(tenfold::Error::Invalid("no".into()));
            assert!(AlignedBuffer::filled(len, true, refused).is_err());
        }
    }
}
