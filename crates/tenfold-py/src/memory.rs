//! Memory that both sides look at: the one place of the package that needs `unsafe`.
//!
//! What Rust made, NumPy sees through the buffer protocol ([`Memory`]); what NumPy made, Rust reads
//! as a source of bytes ([`Lent`]).
#![expect(
    unsafe_code,
    reason = "the buffer protocol is made of raw pointers, and mapping a file is unsafe"
)]

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::ops::Range;
use std::ptr;

use memmap2::{MmapMut, MmapOptions};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use tenfold::{Bytes, Compute, Error, Result, Source};

/// From here on memory comes from the system, page by page as it is touched.
const LARGE: usize = 1 << 20;

/// Bytes that NumPy arrays are views of; they live as long as the last of these.
#[pyclass(frozen, module = "tenfold._tenfold")]
pub(crate) struct Memory {
    start: *mut u8,
    len: usize,
    /// What the bytes lie in; nobody here looks at them once an array may.
    _owner: Owner,
}

enum Owner {
    Heap { _words: Vec<u128> },
    Bytes { _bytes: Vec<u8> },
    Pages { _map: MmapMut },
}

// SAFETY: the pointer stands for memory that the owner keeps in place until it is dropped; after
// construction Rust neither reads nor writes it, and NumPy's rules hold for those who do.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Makes room for `len` bytes and has them filled.
    pub(crate) fn filled(len: usize, fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Memory> {
        if len >= LARGE {
            // On pages of the usual size: to find large ones in memory that is in use takes longer than
            // they save.
            let mut map = MmapMut::map_anon(len)?;
            fill(&mut map)?;
            return Ok(Memory::of_map(map));
        }
        // Whole words, so that every number type is aligned.
        let mut words = vec![0_u128; len.div_ceil(size_of::<u128>())];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        fill(bytes.get_mut(..len).unwrap_or_default())?;
        let start = words.as_mut_ptr().cast();
        let _owner = Owner::Heap { _words: words };
        Ok(Memory { start, len, _owner })
    }

    /// Takes bytes that are there already, if every number type is aligned in them; else a copy.
    pub(crate) fn of_vec(mut bytes: Vec<u8>) -> Result<Memory> {
        let start = bytes.as_mut_ptr();
        if !start.cast::<u128>().is_aligned() {
            return Memory::filled(bytes.len(), |out| {
                out.copy_from_slice(&bytes);
                Ok(())
            });
        }
        let len = bytes.len();
        let _owner = Owner::Bytes { _bytes: bytes };
        Ok(Memory { start, len, _owner })
    }

    /// Maps a file so that what is written into it stays in this process.
    ///
    /// A file that somebody shortens while it is mapped kills whoever reads past its new end; that is
    /// why `io="read"` exists, and the documentation says so.
    pub(crate) fn of_file(file: &File) -> Result<Memory> {
        // SAFETY: the mapping is handed to NumPy alone, as bytes that may change at any time; no
        // reference to them is ever made in Rust.
        let map = unsafe { MmapOptions::new().map_copy(file) }?;
        Ok(Memory::of_map(map))
    }

    fn of_map(mut map: MmapMut) -> Memory {
        Memory {
            start: map.as_mut_ptr(),
            len: map.len(),
            _owner: Owner::Pages { _map: map },
        }
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

#[pymethods]
impl Memory {
    fn __len__(&self) -> usize {
        self.len
    }

    /// Lends the bytes to whoever asks, to be read and written.
    ///
    /// # Safety
    /// `view` is what Python passes to a buffer's owner: null, or a place for a `Py_buffer`.
    unsafe fn __getbuffer__(
        this: Bound<'_, Memory>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no place for a view"));
        }
        let memory = this.get();
        let len = isize::try_from(memory.len)
            .map_err(|_| PyBufferError::new_err("too many bytes for a view"))?;
        let start: *mut c_void = memory.start.cast();
        // SAFETY: `view` is not null and Python's to fill; the bytes from `start` are there as long
        // as the object that the view holds a reference to.
        let outcome = unsafe { ffi::PyBuffer_FillInfo(view, this.as_ptr(), start, len, 0, flags) };
        match outcome {
            0 => Ok(()),
            _ => Err(PyErr::fetch(this.py())),
        }
    }
}

/// The bytes of a Python object, read by Rust while nobody holds the interpreter.
///
/// Another thread may change them meanwhile, as with every function of NumPy that lets go of the
/// interpreter: what is read is then one or the other.
pub(crate) struct Lent {
    start: *const u8,
    len: usize,
    /// Keeps the bytes where they are; given back when this is dropped.
    buffer: PyUntypedBuffer,
}

// SAFETY: the buffer pins the memory, whichever thread reads it; PyO3 gives it back on the right one.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

/// Arrays of at most so many bytes are copied, which is quicker than to lend them.
pub(crate) const FEW: usize = 64 << 10;

impl Lent {
    /// Borrows the bytes of an object whose memory lies in one piece.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Lent> {
        let buffer = PyUntypedBuffer::get(object)?;
        if !buffer.is_c_contiguous() && !buffer.is_fortran_contiguous() {
            return Err(PyBufferError::new_err(
                "the memory does not lie in one piece",
            ));
        }
        Ok(Lent {
            start: buffer.buf_ptr().cast_const().cast(),
            len: buffer.len_bytes(),
            buffer,
        })
    }

    /// Copies bytes that begin at `at` into `target`.
    fn copy(&self, at: usize, target: &mut [u8]) -> Result<()> {
        let end = at.checked_add(target.len());
        if end.is_none_or(|end| end > self.len) {
            return Err(Error::Invalid("bytes beyond the end of an array".into()));
        }
        if !target.is_empty() {
            // SAFETY: the bytes from `at` on are inside the buffer, which is pinned; `target` is
            // memory of Rust's own and cannot overlap it.
            unsafe {
                ptr::copy_nonoverlapping(self.start.add(at), target.as_mut_ptr(), target.len())
            }
        }
        Ok(())
    }

    /// What the memory holds, as its owner says.
    pub(crate) fn buffer(&self) -> &PyUntypedBuffer {
        &self.buffer
    }

    /// Copies all bytes behind others.
    pub(crate) fn append_to(&self, others: &mut Vec<u8>) {
        if self.len == 0 {
            return;
        }
        others.reserve(self.len);
        let end = others.len();
        // SAFETY: there is room for the bytes behind the others, none of which are the buffer's: that is
        // pinned, and lent. They are there when the length says so.
        unsafe {
            ptr::copy_nonoverlapping(self.start, others.as_mut_ptr().add(end), self.len);
            others.set_len(end.saturating_add(self.len));
        }
    }

    /// All bytes, copied.
    pub(crate) fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.len];
        self.copy(0, &mut bytes)?;
        Ok(bytes)
    }

    /// The bytes as the library takes them: few are copied, many stay where they are.
    pub(crate) fn into_source(self) -> Result<Source> {
        match self.len {
            0..=FEW => Ok(Source::memory(self.to_vec()?)),
            _ => Ok(Source::computed(self)),
        }
    }

    /// As [`Lent::into_source`].
    pub(crate) fn into_bytes(self) -> Result<Bytes> {
        self.into_source().map(Bytes::whole)
    }
}

impl Compute for Lent {
    fn len(&self) -> u64 {
        u64::try_from(self.len).unwrap_or(u64::MAX)
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        self.copy(usize::try_from(at).unwrap_or(usize::MAX), buffer)
    }

    fn for_each(
        &self,
        range: Range<u64>,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut piece = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let left = usize::try_from(range.end.saturating_sub(at)).unwrap_or(usize::MAX);
            piece.resize(left.min(budget.max(1)), 0);
            self.read_at(at, &mut piece)?;
            each(&piece)?;
            at = at.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        }
        Ok(())
    }

    fn depth(&self) -> u32 {
        0
    }
}
