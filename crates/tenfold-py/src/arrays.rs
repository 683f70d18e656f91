//! NumPy arrays over memory that Rust filled or mapped.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use tenfold::{DType, Order};

use crate::errors;
use crate::memory::Memory;

static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DTYPE_OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DTYPES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// NumPy's type code for an element type, and the length of the last axis into which elements
/// without a NumPy type are split; 0 for types that NumPy has.
fn numpy_type(py: Python<'_>, dtype: DType) -> PyResult<(Bound<'_, PyAny>, u64)> {
    let known = DTYPES.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    let name = dtype.to_string();
    let pair = match known.get_item(&name)? {
        Some(pair) => pair,
        None => {
            let pair = DTYPE_OF
                .import(py, "tenfold._dtypes", "numpy_type")?
                .call1((&name,))?;
            known.set_item(&name, &pair)?;
            pair
        }
    };
    let pair = pair.cast::<PyTuple>()?;
    Ok((pair.get_item(0)?, pair.get_item(1)?.extract()?))
}

/// Largest number of dimensions of a NumPy array.
const MOST_DIMS: usize = 64;

/// An array of `shape` over the bytes of `memory` starting at `at`.
pub(crate) fn array<'py>(
    memory: &Bound<'py, Memory>,
    at: u64,
    dtype: DType,
    shape: &[u64],
    order: Order,
) -> PyResult<Bound<'py, PyAny>> {
    let py = memory.py();
    let ndarray = NDARRAY.import(py, "numpy", "ndarray")?;
    let (numpy_dtype, parts) = numpy_type(py, dtype)?;
    let ndim = shape.len() + usize::from(parts > 0);
    if ndim > MOST_DIMS {
        let why = format!("{ndim} dimensions, and arrays of NumPy have at most {MOST_DIMS}");
        return Err(errors::invalid(py, &why));
    }
    let word = match order {
        Order::Row => "C",
        Order::Column => "F",
    };
    let of = |shape: Bound<'py, PyTuple>| {
        ndarray.call1((shape, &numpy_dtype, memory, at, py.None(), word))
    };
    match (parts, order) {
        (0, _) => of(PyTuple::new(py, shape)?),
        (parts, Order::Row) => of(PyTuple::new(py, [shape, &[parts]].concat())?),
        (parts, Order::Column) => {
            let turned = of(PyTuple::new(py, [&[parts], shape].concat())?)?;
            let axes = (1..=shape.len()).chain([0]);
            turned.call_method1("transpose", PyTuple::new(py, axes.collect::<Vec<_>>())?)
        }
    }
}
