//! The difference of two tensors, as a tensor.

use tenfold::{
    Bytes, Compute, DType, Endian, Error, Limits, Number, Numbers, Order, Overflow, Result, Source,
    Storage, Tensor,
};

/// Bytes of an output element.
const WIDTH: u64 = 8;

/// The first tensor minus the second, of the same shape, computed lazily in doubles.
///
/// # Errors
/// [`Error::Invalid`] if their shapes or numbers of components differ, and those of reading.
pub fn difference(first: &Tensor, second: &Tensor, limits: &Limits) -> Result<Tensor> {
    check_alike(first, second)?;
    let dtype = DType {
        number: Number::F64,
        arity: first.dtype().arity,
    };
    let doubles = |tensor: &Tensor| {
        let tensor = tensor.cast(Number::F64, Overflow::Saturates, limits)?;
        tensor.dense(Order::Row, limits)
    };
    let apart = Apart {
        first: doubles(first)?,
        second: doubles(second)?,
    };
    let values = Numbers {
        number: Number::F64,
        endian: Endian::Little,
        bytes: Bytes::whole(Source::computed(apart)),
    };
    let order = Order::Row;
    let storage = Storage::Dense { order, values };
    Tensor::new(first.dims().to_vec(), dtype, vec![], storage)
}

/// Fails unless two tensors have a difference.
///
/// # Errors
/// [`Error::Invalid`] if their shapes or numbers of components differ.
pub fn check_alike(first: &Tensor, second: &Tensor) -> Result<()> {
    let (sizes, others) = (first.sizes()?, second.sizes()?);
    if sizes != others {
        let why = format!("the shapes differ: {sizes:?} and {others:?}");
        return Err(Error::Invalid(why));
    }
    let (own, its) = (first.dtype(), second.dtype());
    if own.arity != its.arity {
        let why = format!("elements of {own} and of {its} have no difference");
        return Err(Error::Invalid(why));
    }
    Ok(())
}

/// The lazy difference of two arrays of doubles.
struct Apart {
    first: Numbers,
    second: Numbers,
}

impl Compute for Apart {
    fn len(&self) -> u64 {
        self.first.bytes.len()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let skip = at % WIDTH;
        let wanted = u64::try_from(buffer.len()).unwrap_or(u64::MAX);
        let whole = skip.saturating_add(wanted).next_multiple_of(WIDTH);
        let len = usize::try_from(whole).unwrap_or(usize::MAX);
        let numbers = |numbers: &Numbers| -> Result<Vec<f64>> {
            let mut bytes = tenfold::memory::zeros(len)?;
            numbers.bytes.read_at(at.saturating_sub(skip), &mut bytes)?;
            let (words, _) = bytes.as_chunks();
            let number = |word: &[u8; 8]| match numbers.endian {
                Endian::Little => f64::from_le_bytes(*word),
                Endian::Big => f64::from_be_bytes(*word),
            };
            Ok(words.iter().map(number).collect())
        };
        let (first, second) = (numbers(&self.first)?, numbers(&self.second)?);
        let apart = first.iter().zip(&second);
        let bytes = apart.flat_map(|(a, b)| (a - b).to_le_bytes());
        let bytes = bytes.skip(usize::try_from(skip).unwrap_or(0));
        buffer
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = from);
        Ok(())
    }

    fn depth(&self) -> u32 {
        1
    }
}
