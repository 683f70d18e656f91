//! Lazy tensors.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tenfold::{
    Address, Bundle, Cell, DType, Dim, Error, Limits, Number, Numbers, Order, Overflow, Result,
    Slice, Storage, Tensor,
};

use crate::memory::Memory;
use crate::origin::Origin;
use crate::run::interruptible;
use crate::{arrays, errors, meta};

/// A tensor of a file, or one created here; the implementation of the Python class `Tensor`.
#[pyclass(frozen, module = "tenfold._tenfold")]
pub(crate) struct TensorCore {
    bundle: Arc<Bundle>,
    place: usize,
    home: Arc<Origin>,
}

impl TensorCore {
    pub(crate) fn of_file(bundle: &Arc<Bundle>, place: usize, home: &Arc<Origin>) -> TensorCore {
        TensorCore {
            bundle: bundle.clone(),
            place,
            home: home.clone(),
        }
    }

    /// A tensor that belongs to no file.
    pub(crate) fn made(tensor: Tensor) -> TensorCore {
        TensorCore::at(tensor, &Origin::in_memory())
    }

    /// A tensor derived from those of a file.
    fn at(tensor: Tensor, home: &Arc<Origin>) -> TensorCore {
        TensorCore {
            bundle: Arc::new(Bundle::of(tensor)),
            place: 0,
            home: home.clone(),
        }
    }

    pub(crate) fn tensor(&self) -> Result<&Tensor> {
        let entry = self.bundle.entries().get(self.place);
        let none = || Error::Invalid("no such tensor".into());
        entry.map(|(_, tensor)| tensor).ok_or_else(none)
    }

    pub(crate) fn home(&self) -> &Origin {
        &self.home
    }

    /// An error about its values, with the name of its file.
    pub(crate) fn fail(&self, py: Python<'_>, error: Error) -> PyErr {
        let error = match error {
            Error::NoRoom { value, number } => Error::Invalid(format!(
                "{value} does not fit {number}; numpy().astype() takes what NumPy makes of it"
            )),
            other => other,
        };
        errors::of(py, self.home.blame(error))
    }

    /// An error with the name of the tensor in its file.
    fn refuse(&self, py: Python<'_>, why: &str) -> PyErr {
        let entry = self.bundle.entries().get(self.place);
        let key = entry.map(|(key, _)| key).filter(|key| !key.is_empty());
        let name = key.map(|key| format!("{}: ", key.flat_name().unwrap_or(&key.to_string())));
        let why = format!("{}{why}", name.unwrap_or_default());
        self.fail(py, Error::Invalid(why))
    }

    /// Fails for an opaque tensor, whose cells no array can hold.
    fn refuse_opaque(&self, py: Python<'_>, tensor: &Tensor) -> PyResult<()> {
        let Storage::Opaque { layout, .. } = tensor.storage() else {
            return Ok(());
        };
        let why = if tensor.is_quantized() {
            format!(
                "it is quantised as {layout}; astype(\"f32\") or dtype=\"f32\" works its values out"
            )
        } else {
            format!("the layout {layout} is not understood")
        };
        Err(self.refuse(py, &why))
    }

    fn get(&self, py: Python<'_>) -> PyResult<&Tensor> {
        self.tensor().map_err(|error| errors::of(py, error))
    }

    /// A view of stored values, if their layout in the file is NumPy's.
    fn view<'py>(&self, py: Python<'py>, tensor: &Tensor) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Storage::Dense { order, values } = tensor.storage() else {
            return Ok(None);
        };
        let width = values.number.width();
        let is_little = values.endian == tenfold::Endian::Little || width == 1;
        // In a file the byte of a bool may have any value, in NumPy only 0 or 1.
        if tensor.is_packed() || !is_little || values.number == Number::Bool || values.is_empty() {
            return Ok(None);
        }
        let Some((memory, at)) = self.home.view(py, &values.bytes)? else {
            return Ok(None);
        };
        let aligned = u64::try_from(width.min(8)).is_ok_and(|width| at.is_multiple_of(width));
        if !aligned {
            return Ok(None);
        }
        let sizes = tensor.sizes().map_err(|error| errors::of(py, error))?;
        arrays::array(&memory, at, tensor.dtype(), &sizes, *order).map(Some)
    }

    /// All values, read into new memory.
    fn fresh<'py>(
        &self,
        py: Python<'py>,
        tensor: &Tensor,
        order: Option<Order>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let stored = match tensor.storage() {
            Storage::Dense { order, .. } => *order,
            _ => Order::Row,
        };
        let order = order.unwrap_or(stored);
        let limits = &self.home.limits;
        let progress = &self.home.progress;
        let read = || {
            let sizes = tensor.sizes()?;
            let dense = tensor.dense(order, limits)?;
            let len = usize::try_from(dense.bytes.len())
                .map_err(|_| Error::Invalid("more bytes than memory can have".into()))?;
            let are_at_hand = tensor.storage().stored_len() >= dense.bytes.len();
            let memory = Memory::filled(len, are_at_hand, |out| {
                tensor.read_into(order, limits, out)?;
                settle_bools(tensor.dtype(), out);
                Ok(())
            })?;
            Ok((memory, sizes))
        };
        let expected = tensor.storage().stored_len().max(expanded_len(tensor));
        progress.restart(expected);
        let (memory, sizes) = interruptible(py, expected, &[progress], None, read)?
            .map_err(|error| self.fail(py, error))?;
        arrays::array(&Bound::new(py, memory)?, 0, tensor.dtype(), &sizes, order)
    }

    /// The tensor cast to another type.
    fn cast_to(&self, py: Python<'_>, number: &str) -> PyResult<Tensor> {
        let cast = || {
            let dtype: DType = number.parse()?;
            let (tensor, limits) = (self.tensor()?, &self.home.limits);
            let over = Overflow::Fails;
            tensor
                .dequantized(dtype.number, over, limits)?
                .cast(dtype.number, over, limits)
        };
        cast().map_err(|error| self.fail(py, error))
    }

    /// All values as an array: a view if possible, unless a copy is requested.
    pub(crate) fn array<'py>(
        &self,
        py: Python<'py>,
        order: Option<Order>,
        must_copy: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let tensor = self.get(py)?;
        if !must_copy
            && order.is_none()
            && let Some(view) = self.view(py, tensor)?
        {
            return Ok(view);
        }
        self.refuse_opaque(py, tensor)?;
        if tensor.n_mapped() > 0 {
            let why = "it has labels, which arrays have not: labelled() gives both";
            return Err(self.refuse(py, why));
        }
        self.fresh(py, tensor, order)
    }
}

/// A tensor of unsigned integers with the bits of another one.
fn bit_view(tensor: &Tensor, limits: &Limits) -> Result<Tensor> {
    let (order, values) = match tensor.storage() {
        Storage::Dense { order, values } if !tensor.is_packed() => (*order, values.clone()),
        Storage::Opaque { parts, .. } => match parts.as_slice() {
            [(_, part)] => (Order::Row, part.clone()),
            _ => {
                return Err(Error::Invalid("it is made of several parts".into()));
            }
        },
        _ => (Order::Row, tensor.dense(Order::Row, limits)?),
    };
    let number = match values.number.width() {
        1 => Number::U8,
        _ => Number::U16,
    };
    let is_whole = tensor.cells() == Some(u128::from(values.len()));
    let dims = if is_whole {
        tensor.dims().to_vec()
    } else {
        vec![Dim::indexed(values.len())]
    };
    let values = Numbers { number, ..values };
    let storage = Storage::Dense { order, values };
    Tensor::new(dims, DType::real(number), vec![], storage)
}

/// The bytes of all cells, for storage whose size says little about it.
fn expanded_len(tensor: &Tensor) -> u64 {
    let width = u128::try_from(tensor.dtype().width()).unwrap_or(1);
    let len = tensor.cells().unwrap_or(u128::MAX).saturating_mul(width);
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Normalizes every byte of bools to 0 or 1, as NumPy requires.
fn settle_bools(dtype: DType, bytes: &mut [u8]) {
    if dtype.number == Number::Bool {
        for byte in bytes {
            *byte = u8::from(*byte != 0);
        }
    }
}

/// The order for NumPy's letter; `None` for `K`, which keeps the stored one.
fn order_of(py: Python<'_>, letter: &str) -> PyResult<Option<Order>> {
    match letter {
        "K" | "A" => Ok(None),
        "C" => Ok(Some(Order::Row)),
        "F" => Ok(Some(Order::Column)),
        _ => Err(errors::invalid(
            py,
            &format!("order is {letter:?}, not one of K, A, C, F"),
        )),
    }
}

#[pymethods]
impl TensorCore {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.get(py)?.dims().iter().map(Dim::indexed_size))
    }

    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(
            py,
            self.get(py)?.dims().iter().map(|dim| dim.name.as_deref()),
        )
    }

    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<String> {
        let tensor = self.get(py)?;
        Ok(match tensor.storage() {
            Storage::Opaque { layout, .. } => layout.clone(),
            _ => tensor.dtype().to_string(),
        })
    }

    #[getter]
    fn storage(&self, py: Python<'_>) -> PyResult<&'static str> {
        let tensor = self.get(py)?;
        Ok(match tensor.storage() {
            Storage::Sparse {
                address: Address::Labels,
                ..
            } => "labelled",
            storage => storage.as_str(),
        })
    }

    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        Ok(match self.get(py)?.storage() {
            Storage::Dense {
                order: Order::Row, ..
            } => Some("C"),
            Storage::Dense {
                order: Order::Column,
                ..
            } => Some("F"),
            _ => None,
        })
    }

    /// The bytes of all cells; for labeled blocks and opaque tensors, the stored bytes.
    #[getter]
    fn nbytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let tensor = self.get(py)?;
        let is_opaque = matches!(tensor.storage(), Storage::Opaque { .. });
        if tensor.n_mapped() > 0 || is_opaque {
            return Ok(tensor.storage().stored_len().into_pyobject(py)?.into_any());
        }
        // For a sparse tensor this may exceed every integer type but Python's.
        let mut len = tensor.dtype().width().into_pyobject(py)?.into_any();
        for size in tensor.indexed_sizes() {
            len = len.mul(size)?;
        }
        Ok(len)
    }

    #[getter]
    fn stored_nbytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.get(py)?.storage().stored_len())
    }

    #[getter]
    fn symmetries(&self, py: Python<'_>) -> PyResult<Vec<(Vec<usize>, String, bool)>> {
        let symmetries = self.get(py)?.symmetries().iter();
        Ok(symmetries
            .map(|symmetry| {
                let permutation = symmetry.permutation.clone();
                (permutation, symmetry.operation.clone(), symmetry.packed)
            })
            .collect())
    }

    #[getter]
    fn attrs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        meta::dict(py, &self.get(py)?.meta)
    }

    #[getter]
    fn ranks(&self, py: Python<'_>) -> PyResult<Option<Vec<u64>>> {
        Ok(match self.get(py)?.storage() {
            Storage::Train { ranks, .. } => Some(ranks.clone()),
            _ => None,
        })
    }

    /// All values; see `Tensor.numpy`.
    #[pyo3(signature = (order = "K", copy = false))]
    fn numpy<'py>(&self, py: Python<'py>, order: &str, copy: bool) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, order_of(py, order)?, copy)
    }

    /// The same tensor as unsigned integers with its bits, of one or two bytes. An opaque tensor
    /// with another element size, such as F4, becomes an array of bytes.
    fn bit_view(&self, py: Python<'_>) -> PyResult<TensorCore> {
        let tensor = bit_view(self.get(py)?, &self.home.limits);
        let tensor = tensor.map_err(|error| self.fail(py, error))?;
        Ok(TensorCore::at(tensor, &self.home))
    }

    /// A view of the file, or `None` if it has to be read.
    fn as_view<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.view(py, self.get(py)?)
    }

    /// The same tensor cast to another type; quantized ones are dequantized.
    fn cast(&self, py: Python<'_>, number: &str) -> PyResult<TensorCore> {
        Ok(TensorCore::at(self.cast_to(py, number)?, &self.home))
    }

    /// The cells of a box, given as (start, count, step) along each dimension.
    fn read_box<'py>(
        &self,
        py: Python<'py>,
        slices: Vec<(u64, u64, i64)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let slices: Vec<Slice> = { slices.into_iter() }
            .map(|(start, count, step)| Slice { start, count, step })
            .collect();
        let (tensor, limits) = (self.get(py)?, &self.home.limits);
        self.refuse_opaque(py, tensor)?;
        let progress = &self.home.progress;
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let read = || {
            let mut bytes = tensor.read_box_bytes(&slices, limits)?;
            settle_bools(tensor.dtype(), &mut bytes);
            Memory::of_vec(bytes)
        };
        let len = counts.iter().copied().fold(1, u64::saturating_mul);
        progress.restart(len);
        let memory = interruptible(py, len.saturating_mul(8), &[progress], None, read)?
            .map_err(|error| self.fail(py, error))?;
        arrays::array(
            &Bound::new(py, memory)?,
            0,
            tensor.dtype(),
            &counts,
            Order::Row,
        )
    }

    /// The explicit cells of a sparse tensor: coordinates, one row per dimension, and values.
    fn coordinates<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let tensor = self.get(py)?;
        let ndim = tensor.dims().len();
        let read = || {
            let mut columns: Vec<Vec<u8>> = vec![Vec::new(); ndim];
            let mut found = Vec::new();
            tensor.for_each_cell(&self.home.limits, &mut |cell| {
                if let Cell::At { index, value } = cell {
                    for (column, place) in columns.iter_mut().zip(index) {
                        column.extend_from_slice(&place.to_le_bytes());
                    }
                    found.extend_from_slice(value);
                }
                Ok(())
            })?;
            settle_bools(tensor.dtype(), &mut found);
            Ok((Memory::of_vec(columns.concat())?, Memory::of_vec(found)?))
        };
        self.home.progress.restart(0);
        let len = tensor.storage().stored_len();
        let (places, found) = interruptible(py, len, &[&self.home.progress], None, read)?
            .map_err(|error| self.fail(py, error))?;
        let count = u64::try_from(found.len() / tensor.dtype().width().max(1)).unwrap_or(0);
        let rows = u64::try_from(ndim).unwrap_or(0);
        let (places, found) = (Bound::new(py, places)?, Bound::new(py, found)?);
        let index = DType::real(Number::I64);
        Ok((
            arrays::array(&places, 0, index, &[rows, count], Order::Row)?,
            arrays::array(&found, 0, tensor.dtype(), &[count], Order::Row)?,
        ))
    }

    /// The labels of every block of a labeled tensor, and the blocks as one array.
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<(Vec<Vec<String>>, Bound<'py, PyAny>)> {
        let tensor = self.get(py)?;
        let width = tensor.dtype().width();
        let read = || {
            let (mut labels, mut found) = (Vec::new(), Vec::new());
            tensor.for_each_cell(&self.home.limits, &mut |cell| {
                if let Cell::Labelled {
                    labels: own,
                    values,
                } = cell
                {
                    labels.push(own.to_vec());
                    let budget = usize::MAX;
                    values.for_each(tenfold::Endian::Little, width, budget, &mut |piece| {
                        found.extend_from_slice(piece);
                        Ok(())
                    })?;
                }
                Ok(())
            })?;
            settle_bools(tensor.dtype(), &mut found);
            Ok((labels, Memory::of_vec(found)?))
        };
        self.home.progress.restart(0);
        let len = tensor.storage().stored_len();
        let (labels, found) = interruptible(py, len, &[&self.home.progress], None, read)?
            .map_err(|error| self.fail(py, error))?;
        let count = u64::try_from(labels.len()).unwrap_or(0);
        let mut shape = vec![count];
        shape.extend(tensor.indexed_sizes());
        let found = Bound::new(py, found)?;
        let blocks = arrays::array(&found, 0, tensor.dtype(), &shape, Order::Row)?;
        Ok((labels, blocks))
    }

    /// The cores of a train, each of shape (rank, size, next rank).
    fn cores<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let tensor = self.get(py)?;
        let Storage::Train { ranks, cores } = tensor.storage() else {
            return Err(self.refuse(py, "it is no tensor train"));
        };
        let sizes = tensor.indexed_sizes();
        let shapes = ranks.iter().zip(&sizes).zip(ranks.iter().skip(1));
        let mut arrays = Vec::new();
        for (core, ((rank, size), next)) in cores.iter().zip(shapes) {
            let dims = [*rank, *size, *next].map(Dim::indexed).to_vec();
            let storage = Storage::Dense {
                order: Order::Row,
                values: core.clone(),
            };
            let core = Tensor::new(dims, tensor.dtype(), vec![], storage)
                .map_err(|error| self.fail(py, error))?;
            arrays.push(TensorCore::at(core, &self.home).array(py, None, true)?);
        }
        Ok(arrays)
    }
}
