//! Tensors from Python objects.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tenfold::{
    Address, Bytes, DType, Dim, Endian, Limits, Number, Numbers, Order, RecordsBuilder, Result,
    Storage, Symmetry, Tensor, Tolerance,
};

use crate::memory::BorrowedBuffer;
use crate::tensor::TensorCore;
use crate::threads::detached;
use crate::{errors, meta};

/// The element type and byte order of an array, as given by Python: `f32`, or `>f32`.
pub(crate) fn element(word: &str) -> Result<(DType, Endian)> {
    match word.strip_prefix('>') {
        Some(name) => Ok((name.parse()?, Endian::Big)),
        None => Ok((word.parse()?, Endian::Little)),
    }
}

/// The bytes of an array.
fn bytes_of(array: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let bytes = BorrowedBuffer::of(array)?.into_bytes();
    bytes.map_err(|error| errors::of(array.py(), error))
}

/// Dimensions of these sizes, with optional names.
pub(crate) fn dims(sizes: &[u64], names: Option<&[Option<String>]>) -> Vec<Dim> {
    let names = names
        .unwrap_or_default()
        .iter()
        .map(Option::as_ref)
        .chain(std::iter::repeat(None));
    let dims = sizes.iter().zip(names);
    dims.map(|(size, name)| match name {
        Some(name) => Dim::indexed(*size).named(name),
        None => Dim::indexed(*size),
    })
    .collect()
}

fn described(mut tensor: Tensor, attrs: Option<&Bound<'_, PyDict>>) -> PyResult<TensorCore> {
    if let Some(attrs) = attrs {
        tensor.meta = meta::meta(attrs)?;
    }
    Ok(TensorCore::made(tensor))
}

/// A dense tensor over the memory of an array, which must not change until it is saved.
#[pyfunction]
#[pyo3(signature = (array, dtype, shape, is_column_major = false, names = None, attrs = None))]
pub(crate) fn dense(
    array: &Bound<'_, PyAny>,
    dtype: &str,
    shape: Vec<u64>,
    is_column_major: bool,
    names: Option<Vec<Option<String>>>,
    attrs: Option<&Bound<'_, PyDict>>,
) -> PyResult<TensorCore> {
    let bytes = bytes_of(array)?;
    let made = || {
        let (dtype, endian) = element(dtype)?;
        let order = if is_column_major {
            Order::Column
        } else {
            Order::Row
        };
        let values = Numbers {
            number: dtype.number,
            endian,
            bytes,
        };
        let storage = Storage::Dense { order, values };
        Tensor::new(dims(&shape, names.as_deref()), dtype, vec![], storage)
    };
    described(
        made().map_err(|error| errors::of(array.py(), error))?,
        attrs,
    )
}

/// A tensor of one-byte floats, stored unchanged under the name of their format.
#[pyfunction]
pub(crate) fn opaque(
    array: &Bound<'_, PyAny>,
    layout: String,
    shape: Vec<u64>,
) -> PyResult<TensorCore> {
    let bytes = bytes_of(array)?;
    let made = || {
        let (number, endian) = (Number::U8, Endian::Little);
        let values = Numbers {
            number,
            endian,
            bytes,
        };
        let parts = vec![("data".into(), values)];
        let storage = Storage::Opaque { layout, parts };
        Tensor::new(dims(&shape, None), DType::real(number), vec![], storage)
    };
    let tensor: Result<Tensor> = made();
    Ok(TensorCore::made(
        tensor.map_err(|error| errors::of(array.py(), error))?,
    ))
}

/// A sparse tensor from one coordinate array per dimension, and the values there.
#[pyfunction]
#[pyo3(signature = (coordinates, values, dtype, shape, names = None, attrs = None))]
pub(crate) fn sparse(
    coordinates: Vec<Bound<'_, PyAny>>,
    values: &Bound<'_, PyAny>,
    dtype: &str,
    shape: Vec<u64>,
    names: Option<Vec<Option<String>>>,
    attrs: Option<&Bound<'_, PyDict>>,
) -> PyResult<TensorCore> {
    let columns: Vec<BorrowedBuffer> = coordinates
        .iter()
        .map(BorrowedBuffer::of)
        .collect::<PyResult<_>>()?;
    let lent = BorrowedBuffer::of(values)?;
    let made = || {
        let (dtype, endian) = element(dtype)?;
        let column = |lent: BorrowedBuffer| {
            Ok(Numbers {
                number: Number::U64,
                endian: Endian::Little,
                bytes: lent.into_bytes()?,
            })
        };
        let columns = columns.into_iter().map(column).collect::<Result<_>>()?;
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Coordinates(columns),
            values: Numbers {
                number: dtype.number,
                endian,
                bytes: lent.into_bytes()?,
            },
        };
        Tensor::new(dims(&shape, names.as_deref()), dtype, vec![], storage)
    };
    described(
        made().map_err(|error| errors::of(values.py(), error))?,
        attrs,
    )
}

/// A labeled tensor: the labels of every block, and the concatenated blocks. Mapped dimensions come
/// first.
#[pyfunction]
#[pyo3(signature = (labels, blocks, dtype, mapped, shape, names = None, attrs = None))]
pub(crate) fn labelled(
    labels: Vec<Vec<String>>,
    blocks: &Bound<'_, PyAny>,
    dtype: &str,
    mapped: Vec<String>,
    shape: Vec<u64>,
    names: Option<Vec<Option<String>>>,
    attrs: Option<&Bound<'_, PyDict>>,
) -> PyResult<TensorCore> {
    let lent = BorrowedBuffer::of(blocks)?;
    let made = || {
        let (dtype, endian) = element(dtype)?;
        let cells = shape.iter().copied().fold(1, u64::saturating_mul);
        let width = usize::try_from(cells)
            .unwrap_or(usize::MAX)
            .saturating_mul(dtype.width());
        let bytes = lent.to_vec()?;
        let mut records = RecordsBuilder::new(mapped.len(), width);
        let mut rest = bytes.as_slice();
        for labels in &labels {
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let (block, after) = rest.split_at_checked(width).unwrap_or_default();
            records.push(&labels, block)?;
            rest = after;
        }
        let values = Numbers {
            number: dtype.number,
            endian,
            bytes: records.finish()?,
        };
        let mut all: Vec<Dim> = mapped.iter().map(Dim::mapped).collect();
        all.extend(dims(&shape, names.as_deref()));
        let (order, address) = (Order::Row, Address::Labels);
        Tensor::new(
            all,
            dtype,
            vec![],
            Storage::Sparse {
                order,
                address,
                values,
            },
        )
    };
    described(
        made().map_err(|error| errors::of(blocks.py(), error))?,
        attrs,
    )
}

/// A tensor with declared symmetries: packed, or with all its cells.
#[pyfunction]
pub(crate) fn symmetric(
    py: Python<'_>,
    tensor: &Bound<'_, TensorCore>,
    symmetries: Vec<(Vec<usize>, String)>,
    pack: bool,
    tolerance: Option<f64>,
) -> PyResult<TensorCore> {
    let core = tensor.get();
    let symmetries: Vec<Symmetry> = { symmetries.into_iter() }
        .map(|(permutation, operation)| Symmetry {
            permutation,
            operation,
            packed: false,
        })
        .collect();
    let tolerance = tolerance.map_or(Tolerance::Exact, Tolerance::Within);
    let made = || {
        let tensor = core.tensor()?;
        if pack {
            Ok(tensor
                .pack(&symmetries, tolerance, &Limits::default())?
                .tensor)
        } else {
            tensor.with_declared_symmetries(&symmetries)
        }
    };
    let made: Result<Tensor> = detached(py, made);
    Ok(TensorCore::made(
        made.map_err(|error| errors::of(py, error))?,
    ))
}

/// A tensor stored as a train, from its cores as arrays in memory.
#[pyfunction]
pub(crate) fn train(
    cores: Vec<Bound<'_, PyAny>>,
    dtype: &str,
    ranks: Vec<u64>,
    shape: Vec<u64>,
    py: Python<'_>,
) -> PyResult<TensorCore> {
    let lent: Vec<BorrowedBuffer> = cores
        .iter()
        .map(BorrowedBuffer::of)
        .collect::<PyResult<_>>()?;
    let made = || {
        let (dtype, endian) = element(dtype)?;
        let core = |lent: BorrowedBuffer| {
            Ok(Numbers {
                number: dtype.number,
                endian,
                bytes: Bytes::memory(lent.to_vec()?),
            })
        };
        let cores = lent.into_iter().map(core).collect::<Result<_>>()?;
        Tensor::new(
            dims(&shape, None),
            dtype,
            vec![],
            Storage::Train { ranks, cores },
        )
    };
    Ok(TensorCore::made(
        made().map_err(|error| errors::of(py, error))?,
    ))
}
