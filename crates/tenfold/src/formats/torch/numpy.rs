//! NumPy arrays and scalars, which a pickle stores with their bytes.
#![deny(clippy::arithmetic_side_effects)]

use super::calls::{Calls, Found};
use crate::bytes::{Bytes, Endian};
use crate::dtype::{Arity, DType, Kind, Number, Numbers};
use crate::error::Result;
use crate::meta::Value;
use crate::tensor::{Dim, Order, Storage, Tensor, product};
use crate::wire::pickle::{Id, Item};

/// An element type and its byte order.
#[derive(Clone, Copy)]
struct Elements {
    dtype: DType,
    endian: Endian,
}

impl<'a> Calls<'a> {
    /// `_reconstruct(ndarray, (0,), b"b")` and the state `(1, shape, dtype, is_fortran, bytes)`.
    pub(super) fn array(&self, id: Id) -> Result<Found<'a>> {
        let state = match self.pickle.item(id) {
            Item::Object(object) => object.state,
            _ => None,
        };
        let state = state.and_then(|state| self.pickle.sequence(state));
        let Some([_, sizes, dtype, is_fortran, values]) = state else {
            return self.fail(id, "an array of NumPy needs a shape, a type and bytes");
        };
        let sizes = self.numbers(*sizes)?;
        let elements = self.elements(id, *dtype)?;
        let order = match self.pickle.item(*is_fortran) {
            Item::Bool(true) => Order::Column,
            _ => Order::Row,
        };
        let Some(bytes) = self.raw(*values)? else {
            return self.unsupported("an array of objects of NumPy");
        };
        let width = u128::try_from(elements.dtype.width()).unwrap_or(u128::MAX);
        let wanted = product(&sizes).and_then(|cells| cells.checked_mul(width));
        if wanted != Some(bytes.len().into()) {
            let why = format!(
                "an array of NumPy has {} bytes, its shape needs others",
                bytes.len()
            );
            return self.fail(id, why);
        }
        let values = Numbers {
            number: elements.dtype.number,
            endian: elements.endian,
            bytes,
        };
        let dims = sizes.iter().copied().map(Dim::indexed).collect();
        let tensor = Tensor::new(
            dims,
            elements.dtype,
            vec![],
            Storage::Dense { order, values },
        )?;
        Ok(Found {
            tensor,
            uses: vec![],
            class: None,
            n_added: 0,
        })
    }

    /// `scalar(dtype, bytes)`, as metadata.
    pub(super) fn scalar(&self, id: Id, args: &[Id]) -> Result<Value> {
        let [dtype, value] = args else {
            return self.fail(id, "a scalar of NumPy needs a type and bytes");
        };
        let Elements { dtype, endian } = self.elements(id, *dtype)?;
        let Some(bytes) = self.raw(*value)? else {
            return self.fail(id, "a scalar of NumPy needs bytes");
        };
        if bytes.len() != crate::bytes::to_u64(dtype.width()) {
            return self.fail(id, "a scalar of NumPy has the bytes of its type");
        }
        let mut bytes = bytes.to_vec()?;
        if endian == Endian::Big {
            bytes
                .chunks_mut(dtype.number.width())
                .for_each(<[u8]>::reverse);
        }
        let mut numbers = bytes.chunks(dtype.number.width());
        let values: Vec<Value> = numbers
            .by_ref()
            .map(|bytes| number(dtype.number, bytes))
            .collect();
        Ok(match (dtype.arity, values.as_slice()) {
            (Arity::Real, [value]) => value.clone(),
            _ => Value::List(values),
        })
    }

    /// `dtype("f4", False, True)` and the state `(3, "<", …)`.
    fn elements(&self, id: Id, dtype: Id) -> Result<Elements> {
        let Item::Object(object) = self.pickle.item(dtype) else {
            return self.fail(id, "the type of an array of NumPy is no dtype");
        };
        let Some(("numpy", "dtype", [code, ..])) = self.pickle.call(dtype) else {
            return self.fail(id, "the type of an array of NumPy is no dtype");
        };
        let code = self.pickle.text(*code).unwrap_or_default();
        let dtype = match code {
            "b1" => DType::real(Number::Bool),
            "u1" => DType::real(Number::U8),
            "u2" => DType::real(Number::U16),
            "u4" => DType::real(Number::U32),
            "u8" => DType::real(Number::U64),
            "i1" => DType::real(Number::I8),
            "i2" => DType::real(Number::I16),
            "i4" => DType::real(Number::I32),
            "i8" => DType::real(Number::I64),
            "f2" => DType::real(Number::F16),
            "f4" => DType::real(Number::F32),
            "f8" => DType::real(Number::F64),
            "c8" => DType::complex(Number::F32),
            "c16" => DType::complex(Number::F64),
            other => return self.unsupported(format!("the type {other:?} of NumPy")),
        };
        let state = object.state.and_then(|state| self.pickle.sequence(state));
        let order = state.and_then(|state| self.pickle.text(*state.get(1)?));
        let endian = match order {
            Some(">") => Endian::Big,
            _ => Endian::Little,
        };
        Ok(Elements { dtype, endian })
    }

    /// Bytes, directly or as the text that protocol 2 makes of them.
    pub(super) fn raw(&self, id: Id) -> Result<Option<Bytes>> {
        match self.pickle.item(id) {
            Item::Bytes(range) => Bytes::run(self.source, range.clone()).map(Some),
            Item::Object(_) => {
                let Some(("_codecs", "encode", [text, code])) = self.pickle.call(id) else {
                    return Ok(None);
                };
                let (text, code) = (self.pickle.text(*text), self.pickle.text(*code));
                let (Some(text), Some("latin1")) = (text, code) else {
                    return Ok(None);
                };
                let bytes = text
                    .chars()
                    .map(|letter| u8::try_from(u32::from(letter)).ok());
                match bytes.collect::<Option<Vec<u8>>>() {
                    Some(bytes) => Ok(Some(Bytes::memory(bytes))),
                    None => self.fail(id, "bytes that are spelled with other letters than latin1"),
                }
            }
            _ => Ok(None),
        }
    }
}

/// A number from its little-endian bytes.
fn number(number: Number, bytes: &[u8]) -> Value {
    let bits = bytes
        .iter()
        .rev()
        .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    let width = u8::try_from(bytes.len().saturating_mul(8)).unwrap_or(64);
    match number.kind() {
        Kind::Bool => Value::Bool(bits != 0),
        Kind::Unsigned => Value::Int(bits.into()),
        Kind::Signed => {
            let unused = 64_u32.saturating_sub(width.into());
            let number = i64::from_le_bytes(bits.to_le_bytes());
            let shifted = number
                .checked_shl(unused)
                .and_then(|number| number.checked_shr(unused));
            Value::Int(shifted.unwrap_or(number).into())
        }
        Kind::Float => Value::Float { bits, width },
    }
}
