//! What several jobs need: tensors of raw files in memory, and copying on two threads, which is their limit.

use tenfold::{Bytes, Dim, Endian, Number, Numbers, Order, Storage, Tensor};

use crate::{Outcome, timed};

/// As many as peers are given.
pub const THREADS: usize = 2;

/// The values of a raw file as a tensor in memory.
pub fn tensor(
    path: &str,
    dtype: &str,
    sizes: &[u64],
    order: Order,
    endian: Endian,
) -> Outcome<Tensor> {
    let dtype: tenfold::DType = dtype.parse()?;
    let values = Numbers {
        number: dtype.number,
        endian,
        bytes: Bytes::memory(std::fs::read(path)?),
    };
    let storage = Storage::Dense { order, values };
    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
    Ok(Tensor::new(dims, dtype, vec![], storage)?)
}

/// Seconds that two threads take to copy so many bytes, from memory and into memory that is there.
pub fn copy(from: &[u8], to: &mut [u8]) -> Outcome<(f64, ())> {
    let share = from.len().div_ceil(THREADS).next_multiple_of(4096);
    timed(|| {
        std::thread::scope(|scope| {
            for (to, from) in to.chunks_mut(share).zip(from.chunks(share)) {
                scope.spawn(|| to.copy_from_slice(from));
            }
        });
        Ok(())
    })
}

/// The sizes in words such as `3x4x5`.
pub fn sizes(text: &str) -> Outcome<Vec<u64>> {
    { text.split('x') }
        .map(|size| Ok(size.parse()?))
        .collect()
}

/// What numbers of 8 bits take, so that a width can be had from a name.
pub fn number(name: &str) -> Outcome<Number> {
    let dtype: tenfold::DType = name.parse()?;
    Ok(dtype.number)
}
