//! Entries to save: names and NumPy arrays as one bundle.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use tenfold::{
    Arity, Bundle, Bytes, DType, Dim, Endian, Format, Key, Names, Number, Numbers, Order, Result,
    Storage, Tensor,
};

use crate::memory::{BorrowedBuffer, FEW};
use crate::tensor::TensorCore;
use crate::{errors, meta};

/// The hint that a safetensors file has an (empty) metadata table.
const EMPTY_METADATA: &str = "safetensors:metadata";

/// A bundle to save, and the tensors of files in it.
pub(crate) struct ToSave<'py> {
    pub(crate) bundle: Bundle,
    pub(crate) cores: Vec<Bound<'py, TensorCore>>,
}

impl<'py> ToSave<'py> {
    /// From a dictionary or a list of pairs: names, and tensors or objects that `describe` converts
    /// to tensors.
    pub(crate) fn new(
        entries: &Bound<'py, PyAny>,
        describe: &Bound<'py, PyAny>,
        metadata: Option<&Bound<'py, PyDict>>,
        format: &dyn Format,
    ) -> PyResult<ToSave<'py>> {
        let mut gathered = Gathered::new(describe, format)?;
        if let Ok(dict) = entries.cast::<PyDict>() {
            gathered.expect(dict.len());
            for (name, value) in dict.iter() {
                if name.is_none() {
                    let why = "names of tensors are text, not None";
                    return Err(errors::invalid(name.py(), why));
                }
                gathered.add(&name, &value)?;
            }
        } else {
            let list = entries.cast::<PyList>()?;
            gathered.expect(list.len());
            for pair in list.iter() {
                let pair = pair.cast::<PyTuple>()?;
                gathered.add(&pair.get_item(0)?, &pair.get_item(1)?)?;
            }
        }
        let (mut bundle, cores) = gathered
            .finish()
            .map_err(|error| errors::of(entries.py(), error))?;
        if let Some(metadata) = metadata {
            bundle.meta = meta::meta(metadata)?;
            if metadata.is_empty() {
                bundle.hints.set(EMPTY_METADATA, true);
            }
        }
        Ok(ToSave { bundle, cores })
    }
}

/// A small NumPy array.
struct Small {
    dtype: DType,
    endian: Endian,
    order: Order,
    dims: Vec<Dim>,
    /// Its offset in the common buffer.
    range: Range<usize>,
}

enum Entry {
    Small(Small),
    Other(Box<Tensor>),
}

/// Most bytes reserved for small arrays before they are seen.
const MOST_ROOM: usize = 64 << 20;

/// Entries being collected. The bytes of small arrays share one buffer, so that thousands of them
/// are one allocation.
struct Gathered<'a, 'py> {
    describe: &'a Bound<'py, PyAny>,
    ndarray: &'py Bound<'py, PyType>,
    names: Names,
    entries: Vec<(Key, Entry)>,
    bytes: Vec<u8>,
    /// Expected number of entries.
    expected: usize,
    cores: Vec<Bound<'py, TensorCore>>,
}

impl<'a, 'py> Gathered<'a, 'py> {
    fn new(describe: &'a Bound<'py, PyAny>, format: &dyn Format) -> PyResult<Gathered<'a, 'py>> {
        static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        Ok(Gathered {
            describe,
            ndarray: NDARRAY.import(describe.py(), "numpy", "ndarray")?,
            names: format.info().holds.names,
            entries: Vec::new(),
            bytes: Vec::new(),
            expected: 0,
            cores: Vec::new(),
        })
    }

    /// Sets the expected number of entries.
    fn expect(&mut self, count: usize) {
        self.expected = count;
        self.entries.reserve(count);
    }

    fn add(&mut self, name: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let key = self.key(name)?;
        let entry = match self.small(value)? {
            Some(small) => Entry::Small(small),
            None => self.other(value)?,
        };
        self.entries.push((key, entry));
        Ok(())
    }

    /// The key for a name in the format.
    fn key(&self, name: &Bound<'py, PyAny>) -> PyResult<Key> {
        if name.is_none() {
            return Ok(Key::root());
        }
        let Ok(text) = name.cast::<PyString>() else {
            let kind = name.get_type().name()?;
            let why = format!("names of tensors are text, not {kind}");
            return Err(errors::invalid(name.py(), &why));
        };
        let text = text.to_str()?;
        Ok(match self.names {
            Names::Tree => Key::parse(text),
            Names::Flat | Names::One => Key::flat(text),
        })
    }

    /// Adds a small contiguous array of plain numbers; `None` for any other.
    fn small(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Option<Small>> {
        if !value.get_type().is(self.ndarray) {
            return Ok(None);
        }
        let Ok(lent) = BorrowedBuffer::of(value) else {
            return Ok(None);
        };
        let buffer = lent.buffer();
        let plain = plain(buffer.format().to_bytes(), buffer.item_size());
        let (Some((dtype, endian)), true) = (plain, buffer.len_bytes() <= FEW) else {
            return Ok(None);
        };
        let order = if buffer.is_c_contiguous() {
            Order::Row
        } else {
            Order::Column
        };
        let sizes = buffer.shape().iter();
        let dims = sizes.map(|size| Dim::indexed(u64::try_from(*size).unwrap_or(u64::MAX)));
        let dims = dims.collect();
        if self.bytes.is_empty() {
            // Arrays of a file are often alike; untouched memory costs nothing.
            let all = buffer.len_bytes().saturating_mul(self.expected);
            // With less memory, it grows as arrays arrive.
            let _ = self.bytes.try_reserve(all.min(MOST_ROOM));
        }
        let start = self.bytes.len();
        let appended = lent.append_to(&mut self.bytes);
        appended.map_err(|error| errors::of(value.py(), error))?;
        Ok(Some(Small {
            dtype,
            endian,
            order,
            dims,
            range: start..self.bytes.len(),
        }))
    }

    fn other(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Entry> {
        let core = match value.cast::<TensorCore>() {
            Ok(core) => core.clone(),
            Err(_) => self.describe.call1((value,))?.cast_into::<TensorCore>()?,
        };
        let tensor = { core.get().tensor() }.map_err(|error| errors::of(value.py(), error))?;
        let entry = Entry::Other(Box::new(tensor.clone()));
        self.cores.push(core);
        Ok(entry)
    }

    fn finish(self) -> Result<(Bundle, Vec<Bound<'py, TensorCore>>)> {
        let all = Bytes::memory(self.bytes);
        let mut bundle = Bundle::new();
        bundle.reserve(self.entries.len())?;
        for (key, entry) in self.entries {
            let tensor = match entry {
                Entry::Small(small) => small.tensor(&all)?,
                Entry::Other(tensor) => *tensor,
            };
            bundle.push(key, tensor);
        }
        Ok((bundle, self.cores))
    }
}

impl Small {
    fn tensor(self, all: &Bytes) -> Result<Tensor> {
        let wide = |place: usize| u64::try_from(place).unwrap_or(u64::MAX);
        let range = wide(self.range.start)..wide(self.range.end);
        let lost = || tenfold::Error::Invalid("bytes of an array are missing".into());
        let values = Numbers {
            number: self.dtype.number,
            endian: self.endian,
            bytes: all.run_within(range).ok_or_else(lost)?,
        };
        let storage = Storage::Dense {
            order: self.order,
            values,
        };
        Tensor::new(self.dims, self.dtype, vec![], storage)
    }
}

/// The element type and byte order of a format string of the buffer protocol, if it is a portable
/// one.
fn plain(format: &[u8], width: usize) -> Option<(DType, Endian)> {
    let native = if cfg!(target_endian = "big") {
        Endian::Big
    } else {
        Endian::Little
    };
    let (endian, code) = match format {
        [b'<', code @ ..] => (Endian::Little, code),
        [b'>' | b'!', code @ ..] => (Endian::Big, code),
        [b'@' | b'=', code @ ..] => (native, code),
        code => (native, code),
    };
    let (arity, code) = match code {
        [b'Z', code @ ..] => (Arity::Complex, code),
        code => (Arity::Real, code),
    };
    let number = match (code, width) {
        (b"?", 1) => Number::Bool,
        (b"b" | b"h" | b"i" | b"l" | b"q", 1) => Number::I8,
        (b"b" | b"h" | b"i" | b"l" | b"q", 2) => Number::I16,
        (b"b" | b"h" | b"i" | b"l" | b"q", 4) => Number::I32,
        (b"b" | b"h" | b"i" | b"l" | b"q", 8) => Number::I64,
        (b"B" | b"H" | b"I" | b"L" | b"Q", 1) => Number::U8,
        (b"B" | b"H" | b"I" | b"L" | b"Q", 2) => Number::U16,
        (b"B" | b"H" | b"I" | b"L" | b"Q", 4) => Number::U32,
        (b"B" | b"H" | b"I" | b"L" | b"Q", 8) => Number::U64,
        (b"e", 2) => Number::F16,
        (b"f", 4 | 8) => Number::F32,
        (b"d", 8 | 16) => Number::F64,
        _ => return None,
    };
    let dtype = DType { number, arity };
    (dtype.width() == width).then_some((dtype, endian))
}
