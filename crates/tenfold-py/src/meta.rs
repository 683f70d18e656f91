//! Metadata as Python objects, and back.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use tenfold::{Element, Meta, Number, Value};

use crate::errors;

/// Metadata as a dictionary.
pub(crate) fn dict<'py>(py: Python<'py>, meta: &Meta) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in meta.iter() {
        dict.set_item(name, object(py, value)?)?;
    }
    Ok(dict)
}

/// One value as the corresponding Python object; a CBOR tag is dropped.
fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Float { bits, width } => PyFloat::new(py, float(*bits, *width)).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::List(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(object(py, item)?)?;
            }
            list.into_any()
        }
        Value::Map(pairs) => {
            let dict = PyDict::new(py);
            for (key, value) in pairs {
                let key = match key {
                    // A key that dictionaries cannot hold becomes its text.
                    Value::List(_) | Value::Map(_) => {
                        format!("{key:?}").into_pyobject(py)?.into_any()
                    }
                    key => object(py, key)?,
                };
                dict.set_item(key, object(py, value)?)?;
            }
            dict.into_any()
        }
        Value::Tag(_, inner) => object(py, inner)?,
        Value::Simple(number) => number.into_pyobject(py)?.into_any(),
    })
}

fn float(bits: u64, width: u8) -> f64 {
    let number = match width {
        16 => Number::F16,
        32 => Number::F32,
        _ => Number::F64,
    };
    number.to_f64(&bits.to_le_bytes())
}

/// A dictionary of the user's as metadata.
pub(crate) fn meta(dict: &Bound<'_, PyDict>) -> PyResult<Meta> {
    let pairs: PyResult<Meta> = dict
        .iter()
        .map(|(name, value)| Ok((name.extract::<String>()?, of(&value, 0)?)))
        .collect();
    pairs
}

/// Largest depth of the user's lists and dictionaries: deeper ones contain themselves.
const DEEPEST: usize = 64;

fn of(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let py = object.py();
    if depth > DEEPEST {
        return Err(errors::invalid(py, "metadata is nested too deeply"));
    }
    let below = depth.saturating_add(1);
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(Value::Int(object.extract()?));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let mut bytes = Vec::new();
        Element::to_le(number.value(), &mut bytes);
        let bits = <u64 as Element>::from_le(&bytes);
        return Ok(Value::Float { bits, width: 64 });
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text.to_str()?.into()));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Value::Bytes(bytes.as_bytes().into()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let pairs = dict
            .iter()
            .map(|(key, value)| Ok((of(&key, below)?, of(&value, below)?)));
        return Ok(Value::Map(pairs.collect::<PyResult<_>>()?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.map(|item| of(&item?, below));
        return Ok(Value::List(items.collect::<PyResult<_>>()?));
    }
    if object.hasattr("item")? {
        // A NumPy scalar.
        return of(&object.call_method0("item")?, below);
    }
    let kind = object.get_type().name()?;
    let why = format!("metadata cannot hold a value of type {kind}");
    Err(errors::invalid(py, &why))
}
