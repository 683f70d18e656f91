//! Tensors of any file, of any number type, order and byte order, sparse or packed.

use std::marker::PhantomData;
use std::ops::Range;

use half::{bf16, f16};
use tenfold::{Arity, Element, Endian, Limits, Number, Numbers, Order, Storage, Tensor, memory};

use super::slice::Promote;
use super::{Access, Source};
use crate::error::{Error, Result};
use crate::huge_vec::resize;
use crate::scalar::{Complex64, Scalar, reals_mut};
use crate::train::count_cells;

/// The cells of a tensor, read in place and converted a panel at a time.
///
/// Cells are read by position, so a checksum over the whole file is not verified:
/// `tenfold::Bytes::check` does that.
#[derive(Debug, Clone)]
pub struct TensorSource<T> {
    shape: Vec<usize>,
    numbers: Numbers,
    access: Access,
    is_reversed: bool,
    scalar: PhantomData<T>,
}

/// The cells of a tensor, as the scalar type of its cores.
#[derive(Debug, Clone)]
pub enum AnySource {
    /// Real numbers.
    Real(TensorSource<f64>),
    /// Complex numbers.
    Complex(TensorSource<Complex64>),
}

impl AnySource {
    /// Prepares to read a tensor: decompresses what is compressed, and reads nothing else yet.
    ///
    /// # Errors
    /// [`Error::Invalid`] for quaternions, octonions, and tensors without positions; what `limits`
    /// do not allow; and errors of decompressing.
    pub fn new(tensor: &Tensor, limits: &Limits) -> Result<AnySource> {
        match tensor.dtype().arity {
            Arity::Real => Ok(AnySource::Real(TensorSource::new(tensor, limits)?)),
            Arity::Complex => Ok(AnySource::Complex(TensorSource::new(tensor, limits)?)),
            Arity::Quaternion | Arity::Octonion => Err(Error::invalid(format!(
                "trains of {} are not computed: only real and complex ones",
                tensor.dtype()
            ))),
        }
    }
}

impl<T: Scalar> TensorSource<T> {
    fn new(tensor: &Tensor, limits: &Limits) -> Result<TensorSource<T>> {
        let sizes = tensor.sizes()?;
        let shape = sizes.iter().map(|size| usize::try_from(*size));
        let mut shape = shape
            .collect::<Result<Vec<usize>, _>>()
            .map_err(|_| Error::invalid("a size exceeds memory"))?;
        count_cells(&shape)?;
        let tensor = tensor.settled(limits)?;
        let stored = match tensor.storage() {
            Storage::Dense { order, values } if !tensor.is_packed() => Some((*order, values)),
            _ => None,
        };
        let (numbers, access, is_reversed) = match stored {
            Some((order, values)) => {
                let access = match values.bytes.as_slice() {
                    Some(_) => Access::Memory,
                    None => Access::Positioned,
                };
                (values.clone(), access, order == Order::Column)
            }
            // Computed on reading, a slab at a time.
            None => (tensor.dense(Order::Row, limits)?, Access::Forward, false),
        };
        if is_reversed {
            shape.reverse();
        }
        Ok(TensorSource {
            shape,
            numbers,
            access,
            is_reversed,
            scalar: PhantomData,
        })
    }

    /// Whether the bytes in the file are those of doubles in memory.
    fn is_native(&self) -> bool {
        let native = if cfg!(target_endian = "little") {
            Endian::Little
        } else {
            Endian::Big
        };
        self.numbers.number == Number::F64 && self.numbers.endian == native
    }
}

impl<T: Scalar> Source<T> for TensorSource<T> {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn cells<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> Result<&'a [T]> {
        if let Some(all) = self.all() {
            return all
                .get(range)
                .ok_or_else(|| Error::invalid("cells outside the tensor"));
        }
        resize(room, range.len())?;
        self.read(range.start, room)?;
        Ok(room)
    }

    fn read(&self, first: usize, out: &mut [T]) -> Result<()> {
        let width = self.numbers.number.width();
        let at = first.saturating_mul(width).saturating_mul(T::REALS);
        let at = u64::try_from(at).map_err(|_| Error::invalid("an offset exceeds 64 bits"))?;
        if self.is_native() {
            return Ok(self
                .numbers
                .bytes
                .read_at(at, bytemuck::cast_slice_mut(out))?);
        }
        let reals = reals_mut(out);
        let mut bytes = memory::zeros(reals.len() * width)?;
        self.numbers.bytes.read_at(at, &mut bytes)?;
        if self.numbers.endian == Endian::Big {
            bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        decode(self.numbers.number, &bytes, reals);
        Ok(())
    }

    fn all(&self) -> Option<&[T]> {
        let bytes = self.numbers.bytes.as_slice().filter(|_| self.is_native())?;
        bytemuck::try_cast_slice(bytes).ok()
    }

    fn access(&self) -> Access {
        self.access
    }

    fn is_reversed(&self) -> bool {
        self.is_reversed
    }
}

/// The doubles nearest to little-endian encoded numbers.
fn decode(number: Number, bytes: &[u8], out: &mut [f64]) {
    fn each<E: Element + Promote<f64>>(bytes: &[u8], out: &mut [f64]) {
        let numbers = bytes.chunks_exact(E::DTYPE.width());
        for (target, bytes) in out.iter_mut().zip(numbers) {
            *target = E::from_le(bytes).widen();
        }
    }
    match number {
        Number::Bool => each::<bool>(bytes, out),
        Number::U8 => each::<u8>(bytes, out),
        Number::U16 => each::<u16>(bytes, out),
        Number::U32 => each::<u32>(bytes, out),
        Number::U64 => each::<u64>(bytes, out),
        Number::U128 => each::<u128>(bytes, out),
        Number::I8 => each::<i8>(bytes, out),
        Number::I16 => each::<i16>(bytes, out),
        Number::I32 => each::<i32>(bytes, out),
        Number::I64 => each::<i64>(bytes, out),
        Number::I128 => each::<i128>(bytes, out),
        Number::F16 => each::<f16>(bytes, out),
        Number::Bf16 => each::<bf16>(bytes, out),
        Number::F32 => each::<f32>(bytes, out),
        Number::F64 => each::<f64>(bytes, out),
        Number::F128 => {
            for (target, bytes) in out.iter_mut().zip(bytes.chunks_exact(number.width())) {
                *target = number.to_f64(bytes);
            }
        }
    }
}
