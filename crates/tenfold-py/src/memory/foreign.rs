//! Memory of somebody outside of Rust, read by its address.
#![expect(unsafe_code, reason = "no borrow can follow an address")]

use std::ptr;

use tenfold::{Error, Result, memory};

/// Bytes that somebody else owns and keeps in place.
///
/// Another thread may change them meanwhile, as with every function of NumPy that lets go of the
/// interpreter: what is read is then one or the other. That is why no reference to them is made.
pub(super) struct Foreign {
    start: *const u8,
    len: usize,
}

// SAFETY: whoever made it promised that the bytes stay, whichever thread reads them.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// The `len` bytes from `start` on.
    ///
    /// # Safety
    /// While this lives the bytes are there, and no memory that Rust has a reference to; `start` is looked at
    /// only if there are any.
    pub(super) unsafe fn new(start: *const u8, len: usize) -> Foreign {
        Foreign { start, len }
    }

    /// How many bytes there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Copies bytes that begin at `at` into `target`.
    pub(super) fn copy(&self, at: usize, target: &mut [u8]) -> Result<()> {
        let end = at.checked_add(target.len());
        if end.is_none_or(|end| end > self.len) {
            return Err(Error::Invalid("bytes beyond the end of an array".into()));
        }
        if !target.is_empty() {
            // SAFETY: the bytes from `at` on are inside those that were promised; `target` is memory of
            // Rust's own and cannot overlap them.
            unsafe {
                ptr::copy_nonoverlapping(self.start.add(at), target.as_mut_ptr(), target.len())
            }
        }
        Ok(())
    }

    /// Copies all bytes behind others.
    pub(super) fn append_to(&self, others: &mut Vec<u8>) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        memory::reserve(others, self.len)?;
        let end = others.len();
        // SAFETY: there is room for the bytes behind the others, which are Rust's own. They are there when the
        // length says so.
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

    /// Bytes outside of what Rust looks at, and what stands for them.
    fn lent(bytes: &mut [u8]) -> Foreign {
        // SAFETY: every test keeps its bytes longer, and leaves them alone.
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
