//! Memory owned outside of Rust, read by its address.
#![expect(unsafe_code, reason = "no borrow can follow an address")]

use std::ptr;

use tenfold::{Error, Result, memory};

/// Bytes that are owned and kept in place outside of Rust.
///
/// Another thread may change them in the meantime, as with every NumPy function that releases the
/// GIL: a read then returns either value. That is why no reference to them is made.
pub(super) struct Foreign {
    start: *const u8,
    len: usize,
}

// SAFETY: the creator has promised that the bytes stay in place, whichever thread reads them.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// The `len` bytes starting at `start`.
    ///
    /// # Safety
    /// While this lives the bytes exist, and no Rust reference to their memory does; `start` is
    /// used only if `len` is not zero.
    pub(super) unsafe fn new(start: *const u8, len: usize) -> Foreign {
        Foreign { start, len }
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Copies bytes from `at` on into `target`.
    pub(super) fn copy(&self, at: usize, target: &mut [u8]) -> Result<()> {
        let end = at.checked_add(target.len());
        if end.is_none_or(|end| end > self.len) {
            return Err(Error::Invalid("bytes beyond the end of an array".into()));
        }
        if !target.is_empty() {
            // SAFETY: the bytes from `at` on are inside the promised range; `target` is Rust's own
            // memory and cannot overlap them.
            unsafe {
                ptr::copy_nonoverlapping(self.start.add(at), target.as_mut_ptr(), target.len())
            }
        }
        Ok(())
    }

    /// Appends a copy of all bytes to a vector.
    pub(super) fn append_to(&self, others: &mut Vec<u8>) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        memory::reserve(others, self.len)?;
        let end = others.len();
        // SAFETY: the vector has capacity for the bytes after its own. They are initialized when
        // the length is set.
        unsafe {
            ptr::copy_nonoverlapping(self.start, others.as_mut_ptr().add(end), self.len);
            others.set_len(end.saturating_add(self.len));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes outside of Rust's view, and a source for them.
    fn lent(bytes: &mut [u8]) -> Foreign {
        // SAFETY: every test keeps its bytes longer, and does not access them.
        unsafe { Foreign::new(bytes.as_ptr(), bytes.len()) }
    }

    #[test]
    fn every_part_is_copied_and_nothing_beyond_the_end() {
        let mut bytes = *b"0123456789";
        let foreign = lent(&mut bytes);
        for at in 0..=11_usize {
            for len in 0..=11_usize {
                let mut target = vec![b'x'; len];
                let outcome = foreign.copy(at, &mut target);
                match b"0123456789".get(at..at + len) {
                    Some(part) => assert_eq!((outcome.is_ok(), target.as_slice()), (true, part)),
                    None => assert!(outcome.is_err() && target.iter().all(|byte| *byte == b'x')),
                }
            }
        }
        assert!(foreign.copy(usize::MAX, &mut [0]).is_err());
    }

    #[test]
    fn all_bytes_come_behind_others_with_and_without_room_for_them() {
        let mut bytes = *b"56789";
        let foreign = lent(&mut bytes);
        for room in [0, 4, 9, 10, 1000] {
            let mut others = Vec::with_capacity(room);
            others.extend_from_slice(b"01234");
            foreign.append_to(&mut others).unwrap();
            assert_eq!(others, b"0123456789");
        }
    }

    #[test]
    fn no_bytes_have_no_address() {
        // SAFETY: there are none.
        let none = unsafe { Foreign::new(ptr::null(), 0) };
        let mut others = b"same".to_vec();
        none.append_to(&mut others).unwrap();
        assert_eq!((none.len(), others.as_slice()), (0, b"same".as_slice()));
        assert!(none.copy(0, &mut []).is_ok());
        assert!(none.copy(0, &mut [1]).is_err());
    }

    #[test]
    fn several_threads_read_at_once() {
        let mut bytes = [7; 4096];
        let foreign = lent(&mut bytes);
        std::thread::scope(|scope| {
            for at in [0, 1024, 2048] {
                let foreign = &foreign;
                scope.spawn(move || {
                    let mut target = [0; 2048];
                    foreign.copy(at, &mut target).unwrap();
                    assert_eq!(target, [7; 2048]);
                });
            }
        });
    }
}
