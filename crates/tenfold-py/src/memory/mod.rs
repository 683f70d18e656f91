//! Memory shared between Rust and Python.
//!
//! NumPy accesses Rust's memory through the buffer protocol ([`Memory`]); Rust reads NumPy's memory
//! as a source of bytes ([`BorrowedBuffer`]). All operations on addresses are in [`alloc`] and
//! [`foreign`], which do not depend on Python; this module connects them to it.
#![expect(unsafe_code, reason = "the buffer protocol is made of raw pointers")]

mod alloc;
mod foreign;

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::ops::Range;

use alloc::AlignedBuffer;
use foreign::Foreign;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use tenfold::{Bytes, Compute, Result, Source, memory};

/// Bytes viewed by NumPy arrays; they live as long as the last of these.
#[pyclass(frozen, module = "tenfold._tenfold")]
pub(crate) struct Memory(AlignedBuffer);

impl Memory {
    /// Allocates `len` bytes and fills them, perhaps from as many available bytes.
    pub(crate) fn filled(
        len: usize,
        are_at_hand: bool,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Memory> {
        AlignedBuffer::filled(len, are_at_hand, fill).map(Memory)
    }

    /// Takes existing bytes, or an aligned copy.
    pub(crate) fn of_vec(bytes: Vec<u8>) -> Result<Memory> {
        AlignedBuffer::of_vec(bytes).map(Memory)
    }

    /// Maps a file copy-on-write, so that writes stay in this process.
    pub(crate) fn of_file(file: &File) -> Result<Memory> {
        AlignedBuffer::of_file(file).map(Memory)
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[pymethods]
impl Memory {
    fn __len__(&self) -> usize {
        self.len()
    }

    /// Exports the bytes through the buffer protocol, readable and writable.
    ///
    /// # Safety
    /// `view` is the pointer that Python passes to a buffer's owner: null, or valid for a
    /// `Py_buffer`.
    unsafe fn __getbuffer__(
        this: Bound<'_, Memory>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no place for a view"));
        }
        let room = &this.get().0;
        let len = isize::try_from(room.len())
            .map_err(|_| PyBufferError::new_err("too many bytes for a view"))?;
        let start: *mut c_void = room.start().cast();
        // SAFETY: `view` is not null and Python's to fill; the bytes from `start` exist as long as
        // the object that the view holds a reference to.
        let outcome = unsafe { ffi::PyBuffer_FillInfo(view, this.as_ptr(), start, len, 0, flags) };
        match outcome {
            0 => Ok(()),
            _ => Err(PyErr::fetch(this.py())),
        }
    }
}

/// The bytes of a Python object, read by Rust without the GIL.
pub(crate) struct BorrowedBuffer {
    bytes: Foreign,
    /// Keeps the bytes in place; released when this is dropped, on the right thread by PyO3.
    buffer: PyUntypedBuffer,
}

/// Arrays up to this size are copied, which is faster than borrowing them.
pub(crate) const FEW: usize = 64 << 10;

impl BorrowedBuffer {
    /// Borrows the bytes of an object with contiguous memory.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<BorrowedBuffer> {
        let buffer = PyUntypedBuffer::get(object)?;
        if !buffer.is_c_contiguous() && !buffer.is_fortran_contiguous() {
            return Err(PyBufferError::new_err(
                "the memory does not lie in one piece",
            ));
        }
        let start = buffer.buf_ptr().cast_const().cast();
        // SAFETY: the bytes are contiguous, this many from here on; the buffer pins them and is
        // dropped last.
        let bytes = unsafe { Foreign::new(start, buffer.len_bytes()) };
        Ok(BorrowedBuffer { bytes, buffer })
    }

    /// The format of the memory, as declared by its owner.
    pub(crate) fn buffer(&self) -> &PyUntypedBuffer {
        &self.buffer
    }

    /// Appends a copy of all bytes to a vector.
    pub(crate) fn append_to(&self, others: &mut Vec<u8>) -> Result<()> {
        self.bytes.append_to(others)
    }

    /// All bytes, copied.
    pub(crate) fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes)?;
        Ok(bytes)
    }

    /// The bytes as a source for the library: small buffers are copied, large ones are borrowed.
    pub(crate) fn into_source(self) -> Result<Source> {
        Ok(match self.bytes.len() {
            0..=FEW => Source::memory(self.to_vec()?),
            _ => Source::computed(self),
        })
    }

    /// As [`BorrowedBuffer::into_source`].
    pub(crate) fn into_bytes(self) -> Result<Bytes> {
        Ok(Bytes::whole(self.into_source()?))
    }
}

impl Compute for BorrowedBuffer {
    fn len(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap_or(u64::MAX)
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        self.bytes
            .copy(usize::try_from(at).unwrap_or(usize::MAX), buffer)
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
            memory::resize(&mut piece, left.min(budget.max(1)))?;
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
