//! Memory that both sides look at.
//!
//! What Rust made, NumPy sees through the buffer protocol ([`Memory`]); what NumPy made, Rust reads
//! as a source of bytes ([`BorrowedBuffer`]). All that is done with addresses is in [`room`] and [`foreign`], which know
//! nothing of Python; here they go over the boundary.
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

/// Bytes that NumPy arrays are views of; they live as long as the last of these.
#[pyclass(frozen, module = "tenfold._tenfold")]
pub(crate) struct Memory(AlignedBuffer);

impl Memory {
    /// Makes room for `len` bytes and has them filled, perhaps from as many bytes that are at hand.
    pub(crate) fn filled(
        len: usize,
        are_at_hand: bool,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Memory> {
        AlignedBuffer::filled(len, are_at_hand, fill).map(Memory)
    }

    /// Takes bytes that are there already, or a copy that is aligned.
    pub(crate) fn of_vec(bytes: Vec<u8>) -> Result<Memory> {
        AlignedBuffer::of_vec(bytes).map(Memory)
    }

    /// Maps a file so that what is written into it stays in this process.
    pub(crate) fn of_file(file: &File) -> Result<Memory> {
        AlignedBuffer::of_file(file).map(Memory)
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[pymethods]
impl Memory {
    fn __len__(&self) -> usize {
        self.len()
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
        let room = &this.get().0;
        let len = isize::try_from(room.len())
            .map_err(|_| PyBufferError::new_err("too many bytes for a view"))?;
        let start: *mut c_void = room.start().cast();
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
pub(crate) struct BorrowedBuffer {
    bytes: Foreign,
    /// Keeps the bytes where they are; given back when this is dropped, on the right thread by PyO3.
    buffer: PyUntypedBuffer,
}

/// Arrays of at most so many bytes are copied, which is quicker than to lend them.
pub(crate) const FEW: usize = 64 << 10;

impl BorrowedBuffer {
    /// Borrows the bytes of an object whose memory lies in one piece.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<BorrowedBuffer> {
        let buffer = PyUntypedBuffer::get(object)?;
        if !buffer.is_c_contiguous() && !buffer.is_fortran_contiguous() {
            return Err(PyBufferError::new_err(
                "the memory does not lie in one piece",
            ));
        }
        let start = buffer.buf_ptr().cast_const().cast();
        // SAFETY: the bytes lie in one piece, so many from here on; the buffer pins them and is dropped last.
        let bytes = unsafe { Foreign::new(start, buffer.len_bytes()) };
        Ok(BorrowedBuffer { bytes, buffer })
    }

    /// What the memory holds, as its owner says.
    pub(crate) fn buffer(&self) -> &PyUntypedBuffer {
        &self.buffer
    }

    /// Copies all bytes behind others.
    pub(crate) fn append_to(&self, others: &mut Vec<u8>) -> Result<()> {
        self.bytes.append_to(others)
    }

    /// All bytes, copied.
    pub(crate) fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes)?;
        Ok(bytes)
    }

    /// The bytes as the library takes them: few are copied, many stay where they are.
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
