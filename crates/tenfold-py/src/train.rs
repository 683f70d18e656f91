//! Tensor trains.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use num_complex::Complex64;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tenfold::{Limits, Order, Progress};
use tenfold_train::{AnyTrain, Options, Result};

use crate::errors;
use crate::origin::Io;
use crate::run::interruptible;
use crate::tensor::TensorCore;
use crate::threads::detached;

/// A tensor train; the implementation of the Python class `TensorTrain`.
#[pyclass(frozen, module = "tenfold._tenfold")]
pub(crate) struct TrainCore(AnyTrain);

impl TrainCore {
    fn of(py: Python<'_>, train: Result<AnyTrain>) -> PyResult<TrainCore> {
        train
            .map(TrainCore)
            .map_err(|error| errors::of_made_train(py, error))
    }

    /// Runs uninterruptible work with the GIL released.
    fn work<T: Send>(py: Python<'_>, work: impl Send + FnOnce() -> Result<T>) -> PyResult<T> {
        detached(py, work).map_err(|error| errors::of_made_train(py, error))
    }
}

/// Compression options.
#[derive(FromPyObject)]
pub(crate) struct Wanted {
    #[pyo3(item)]
    eps: Option<f64>,
    #[pyo3(item)]
    absolute: Option<f64>,
    #[pyo3(item)]
    max_rank: Option<usize>,
    #[pyo3(item)]
    best_effort: bool,
}

impl Wanted {
    fn options(&self) -> std::result::Result<Options<'static>, &'static str> {
        let mut options = match (self.eps, self.absolute, self.max_rank) {
            (Some(eps), _, _) => Options::relative(eps),
            (None, Some(error), _) => Options::absolute(error),
            (None, None, Some(rank)) => Options::ranked(rank),
            (None, None, None) => return Err("one of eps, absolute and max_rank has to be given"),
        };
        if let (Some(_), Some(error)) = (self.eps, self.absolute) {
            options = options.with_absolute(error);
        }
        if let Some(rank) = self.max_rank {
            options = options.with_max_rank(rank);
        }
        Ok(if self.best_effort {
            options.best_effort()
        } else {
            options
        })
    }
}

/// Compresses a tensor; returns the train and its proven error.
#[pyfunction]
pub(crate) fn compress<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorCore>,
    wanted: Wanted,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(TrainCore, Bound<'py, PyDict>)> {
    let core = tensor.get();
    let tensor = core.tensor().map_err(|error| errors::of(py, error))?;
    let options = wanted.options().map_err(|why| errors::invalid(py, why))?;
    let (count, read) = (Progress::default(), AtomicU64::new(0));
    let work = || {
        // Cells are read by position afterwards, which skips checksums.
        let parts = tensor.storage().parts().into_iter();
        let mut proven = parts.filter(|part| part.bytes.digest().is_some());
        if core.home().io != Io::Map {
            proven.try_for_each(|part| part.bytes.check())?;
        }
        let watcher = |now: tenfold_train::Progress| {
            // Its own count includes all cells so far.
            let before = read.fetch_max(now.read, Ordering::Relaxed);
            count.add(now.read.saturating_sub(before));
            if count.is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = options.watched_by(&watcher);
        tenfold_train::compress_tensor(tensor, &options, &core.home().limits)
    };
    let cells = tensor
        .cells()
        .and_then(|cells| u64::try_from(cells).ok())
        .unwrap_or(u64::MAX);
    count.restart(cells);
    // A cell is many operations, so even few of them take long.
    let len = cells.saturating_mul(64);
    let (train, report) = interruptible(py, len, &[&count], progress, work)?
        .map_err(|error| errors::of_train(py, error, |error| core.fail(py, error)))?;
    let fields = PyDict::new(py);
    fields.set_item("relative_error", report.relative_error())?;
    fields.set_item("error", report.error)?;
    fields.set_item("norm", report.norm)?;
    fields.set_item("dense_bytes", report.dense_len)?;
    fields.set_item("ratio", report.ratio())?;
    fields.set_item("route", report.route.as_str())?;
    fields.set_item("seconds", report.seconds)?;
    fields.set_item("notes", report.notes)?;
    Ok((TrainCore(train), fields))
}

#[pymethods]
impl TrainCore {
    /// The train stored in a tensor.
    #[staticmethod]
    fn of_tensor(py: Python<'_>, tensor: &Bound<'_, TensorCore>) -> PyResult<TrainCore> {
        let core = tensor.get();
        let tensor = core.tensor().map_err(|error| errors::of(py, error))?;
        let train = detached(py, || AnyTrain::from_tensor(tensor));
        train
            .map(TrainCore)
            .map_err(|error| errors::of_train(py, error, |error| core.fail(py, error)))
    }

    /// The same train as a tensor: its cores, or lazily all its cells.
    #[pyo3(signature = (expand = false))]
    fn tensor(&self, py: Python<'_>, expand: bool) -> PyResult<TensorCore> {
        let tensor = if expand {
            self.0.expanded(Order::Row, &Limits::default())
        } else {
            self.0.to_tensor()
        };
        let tensor = tensor.map_err(|error| errors::of_made_train(py, error))?;
        Ok(TensorCore::made(tensor))
    }

    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.0.shape()
    }

    #[getter]
    fn ranks(&self) -> Vec<usize> {
        self.0.ranks()
    }

    #[getter]
    fn count(&self) -> usize {
        self.0.count()
    }

    #[getter]
    fn is_complex(&self) -> bool {
        matches!(self.0, AnyTrain::Complex(_))
    }

    fn norm(&self, py: Python<'_>) -> PyResult<f64> {
        TrainCore::work(py, || self.0.norm())
    }

    fn spectra(&self, py: Python<'_>) -> PyResult<Vec<Vec<f64>>> {
        TrainCore::work(py, || self.0.spectra())
    }

    fn round(
        &self,
        py: Python<'_>,
        eps: f64,
        max_rank: Option<usize>,
    ) -> PyResult<(TrainCore, f64)> {
        let (train, error) = TrainCore::work(py, || self.0.round(eps, max_rank))?;
        Ok((TrainCore(train), error))
    }

    fn dot(&self, py: Python<'_>, other: &Bound<'_, TrainCore>) -> PyResult<(f64, f64)> {
        let other = other.get();
        let product = TrainCore::work(py, || self.0.dot(&other.0))?;
        Ok((product.re, product.im))
    }

    fn sum(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let sum = TrainCore::work(py, || self.0.sum_all())?;
        Ok((sum.re, sum.im))
    }

    fn add(&self, py: Python<'_>, other: &Bound<'_, TrainCore>) -> PyResult<TrainCore> {
        let other = other.get();
        TrainCore::of(py, detached(py, || self.0.add(&other.0)))
    }

    fn sub(&self, py: Python<'_>, other: &Bound<'_, TrainCore>) -> PyResult<TrainCore> {
        let other = other.get();
        TrainCore::of(py, detached(py, || self.0.sub(&other.0)))
    }

    fn multiply(&self, py: Python<'_>, other: &Bound<'_, TrainCore>) -> PyResult<TrainCore> {
        let other = other.get();
        TrainCore::of(py, detached(py, || self.0.hadamard(&other.0)))
    }

    fn append(
        &self,
        py: Python<'_>,
        other: &Bound<'_, TrainCore>,
        axis: usize,
    ) -> PyResult<TrainCore> {
        let other = other.get();
        TrainCore::of(py, detached(py, || self.0.append(&other.0, axis)))
    }

    fn add_number(&self, py: Python<'_>, re: f64, im: f64) -> PyResult<TrainCore> {
        TrainCore::of(py, self.0.add_number(Complex64::new(re, im)))
    }

    fn sum_over(&self, py: Python<'_>, axes: Vec<usize>) -> PyResult<TrainCore> {
        TrainCore::of(py, detached(py, || self.0.sum(&axes)))
    }

    fn mean(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let mean = TrainCore::work(py, || self.0.mean_all())?;
        Ok((mean.re, mean.im))
    }

    fn mean_over(&self, py: Python<'_>, axes: Vec<usize>) -> PyResult<TrainCore> {
        TrainCore::of(py, detached(py, || self.0.mean(&axes)))
    }

    fn permute(&self, py: Python<'_>, axes: Vec<usize>, eps: f64) -> PyResult<TrainCore> {
        TrainCore::of(py, detached(py, || self.0.permute(&axes, eps)))
    }

    fn reshape(&self, py: Python<'_>, shape: Vec<usize>) -> PyResult<TrainCore> {
        TrainCore::of(py, detached(py, || self.0.reshape(&shape)))
    }

    fn quantise(&self, py: Python<'_>) -> PyResult<TrainCore> {
        TrainCore::of(py, detached(py, || self.0.quantise()))
    }

    fn scale(&self, re: f64, im: f64) -> TrainCore {
        TrainCore(self.0.scale(Complex64::new(re, im)))
    }
}
