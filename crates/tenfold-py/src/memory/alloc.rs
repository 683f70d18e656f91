//! Room for bytes that somebody outside of Rust looks at by their address.
#![expect(
    unsafe_code,
    reason = "an address goes where no borrow can follow, and mapping a file is unsafe"
)]

use std::fs::File;

use memmap2::{MmapMut, MmapOptions};
use tenfold::{Result, memory};

/// From here on memory comes from the system, page by page as it is touched. An interpreter of tests takes
/// a second for a thousand bytes.
const LARGE: usize = if cfg!(miri) { 1 << 12 } else { 1 << 20 };

/// From here on it is asked to come in large pages, as NumPy does: to hand out usual ones takes longer than to
/// fill them.
#[cfg(target_os = "linux")]
const HUGE: usize = 4 << 20;

/// The size of the blocks of free memory that a virtual machine gives back to its host, as a power of two.
#[cfg(target_os = "linux")]
const REPORTED: &str = "/sys/module/page_reporting/parameters/page_reporting_order";

/// Whether large pages are quick to get: not where free ones are given back to the host, which has to find and
/// clear them again.
#[cfg(target_os = "linux")]
fn has_large_pages() -> bool {
    static KNOWN: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *KNOWN.get_or_init(|| !std::fs::read_to_string(REPORTED).is_ok_and(|order| is_order(&order)))
}

/// Memory from the system. Usual pages are handed out all at once where that many bytes are at hand to fill
/// them, which is quicker than one by one; a claim of so many takes no memory.
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
        // Where there are no large pages usual ones do.
        let _ = map.advise(memmap2::Advice::HugePage);
    }
    Ok(map)
}

#[cfg(not(target_os = "linux"))]
fn pages(len: usize, _: bool) -> std::io::Result<MmapMut> {
    MmapMut::map_anon(len)
}

/// Whether a text is a power of two of pages; where nothing is given back it is -1, in 32 bits.
#[cfg(target_os = "linux")]
fn is_order(text: &str) -> bool {
    text.trim().parse::<u8>().is_ok_and(|order| order < 64)
}

/// Bytes that stay where they are, aligned for every number type, until this is dropped.
pub(super) struct AlignedBuffer {
    start: *mut u8,
    len: usize,
    /// What the bytes lie in; nobody here looks at them once somebody else may.
    _owner: Owner,
}

enum Owner {
    Heap { _words: Vec<u128> },
    Bytes { _bytes: Vec<u8> },
    Pages { _map: MmapMut },
}

// SAFETY: the pointer stands for memory that the owner keeps in place until it is dropped; after
// construction Rust neither reads nor writes it, and the rules of those hold who do.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Makes room for `len` bytes and has them filled, perhaps from as many bytes that are at hand.
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

    /// Takes bytes that are there already, if every number type is aligned in them; else a copy.
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

    /// Maps a file so that what is written into it stays in this process.
    ///
    /// A file that somebody shortens while it is mapped kills whoever reads past its new end; that is
    /// why `io="read"` exists, and the documentation says so.
    pub(super) fn of_file(file: &File) -> Result<AlignedBuffer> {
        // SAFETY: the mapping is handed to others alone, as bytes that may change at any time; no
        // reference to them is ever made in Rust.
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

    /// Where the bytes begin, for whoever may look at them.
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    /// How many bytes there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What NumPy does: adds one to every byte, over an address, and gives what is there then.
    fn touched(room: &AlignedBuffer) -> Vec<u8> {
        assert!(room.start().cast::<u128>().is_aligned());
        // SAFETY: the room keeps its bytes while it is borrowed, and nobody else looks at them.
        let bytes = unsafe { std::slice::from_raw_parts_mut(room.start(), room.len()) };
        bytes
            .iter_mut()
            .for_each(|byte| *byte = byte.wrapping_add(1));
        bytes.to_vec()
    }

    fn counted(len: usize) -> Vec<u8> {
        (0..=255).cycle().take(len).collect()
    }

    /// The same one more.
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
