//! Incremental writing of files.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use tenfold::{Bytes, Dim, Endian, Error, Limits, Numbers, Order, Result, Source, Storage, Tensor};

use crate::construct::{dims, element};
use crate::errors;
use crate::memory::BorrowedBuffer;
use crate::tensor::TensorCore;
use crate::threads::detached;

/// Largest single write, as in the library: above it the kernel tries huge pages, which may take
/// longer than to fill them.
const PIECE: usize = 128 << 10;

/// The data added so far, in an unnamed file beside the target.
#[pyclass(frozen, module = "tenfold._tenfold")]
pub(crate) struct SpoolFile(Mutex<State>);

struct State {
    file: File,
    at: u64,
}

/// The location of dense values in the temporary file.
#[pyclass(frozen, module = "tenfold._tenfold")]
pub(crate) struct SpooledTensor {
    dims: Vec<Dim>,
    dtype: tenfold::DType,
    order: Order,
    start: u64,
    len: u64,
    meta: tenfold::Meta,
}

impl State {
    fn write(&mut self, piece: &[u8]) -> Result<()> {
        self.file.write_all(piece)?;
        self.at = self
            .at
            .saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        Ok(())
    }
}

impl SpoolFile {
    fn with<T>(
        &self,
        py: Python<'_>,
        work: impl Send + FnOnce(&mut State) -> Result<T>,
    ) -> PyResult<T>
    where
        T: Send,
    {
        let done = detached(py, || {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut state)
        });
        done.map_err(|error| errors::of(py, error))
    }
}

#[pymethods]
impl SpoolFile {
    /// Creates the file in the folder of the target.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<SpoolFile> {
        let file = tempfile::tempfile_in(&folder)
            .map_err(|error| errors::of(py, Error::from(error).in_file(&folder)))?;
        Ok(SpoolFile(Mutex::new(State { file, at: 0 })))
    }

    /// The number of bytes so far: the offset of the next ones.
    #[getter]
    fn at(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state| Ok(state.at))
    }

    /// Appends the memory of an array.
    fn append(&self, py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = BorrowedBuffer::of(array)?.into_bytes();
        let bytes = bytes.map_err(|error| errors::of(py, error))?;
        self.with(py, |state| {
            bytes.for_each(PIECE, &mut |piece| state.write(piece))
        })
    }

    /// Appends all values of a dense tensor; returns their location.
    fn put(&self, py: Python<'_>, tensor: &Bound<'_, TensorCore>) -> PyResult<SpooledTensor> {
        let core = tensor.get();
        self.with(py, |state| {
            let tensor = core.tensor()?;
            let order = match tensor.storage() {
                Storage::Dense { order, .. } => *order,
                _ => Order::Row,
            };
            let start = state.at;
            let values = tensor.dense(order, &core.home().limits)?;
            values.for_each(
                Endian::Little,
                tensor.dtype().width(),
                PIECE,
                &mut |piece| state.write(piece),
            )?;
            Ok(SpooledTensor {
                dims: tensor.dims().to_vec(),
                dtype: tensor.dtype(),
                order,
                start,
                len: state.at.saturating_sub(start),
                meta: tensor.meta.clone(),
            })
        })
    }

    /// The bytes starting at `start` as a tensor to save.
    fn piece(
        &self,
        py: Python<'_>,
        start: u64,
        dtype: &str,
        shape: Vec<u64>,
        names: Option<Vec<Option<String>>>,
    ) -> PyResult<SpooledTensor> {
        self.with(py, |state| {
            let (dtype, _) = element(dtype)?;
            Ok(SpooledTensor {
                dims: dims(&shape, names.as_deref()),
                dtype,
                order: Order::Row,
                start,
                len: state.at.saturating_sub(start),
                meta: tenfold::Meta::new(),
            })
        })
    }

    /// The added tensors, to be saved.
    fn tensors(
        &self,
        py: Python<'_>,
        put: Vec<Bound<'_, SpooledTensor>>,
    ) -> PyResult<Vec<TensorCore>> {
        let put: Vec<&SpooledTensor> = put.iter().map(Bound::get).collect();
        self.with(py, |state| {
            let all = Bytes::whole(Source::file(state.file.try_clone()?)?);
            let tensor = |put: &SpooledTensor| {
                let run = all.run_within(put.start..put.start.saturating_add(put.len));
                let bytes = run.ok_or_else(|| Error::Invalid("what was put is gone".into()))?;
                // Only this byte order is ever written.
                let values = Numbers {
                    number: put.dtype.number,
                    endian: Endian::Little,
                    bytes,
                };
                let storage = Storage::Dense {
                    order: put.order,
                    values,
                };
                let mut tensor = Tensor::new(put.dims.clone(), put.dtype, vec![], storage)?;
                tensor.meta = put.meta.clone();
                Ok(TensorCore::made(tensor))
            };
            put.iter().copied().map(tensor).collect()
        })
    }
}

/// The default limits.
#[pyfunction]
pub(crate) fn default_limits() -> Vec<(&'static str, u64, &'static str)> {
    let known = Limits::ALL
        .iter()
        .map(|limit| (limit.name, limit.default, limit.about));
    let memory = (
        "memory",
        Limits::MEMORY,
        "bytes of memory that work may use",
    );
    known.chain([memory]).collect()
}
