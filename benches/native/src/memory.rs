//! What several jobs need: tensors of raw files in memory, and copying on two threads, which is their limit.

use std::os::unix::fs::FileExt;

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
    { text.split('x') }.map(|size| Ok(size.parse()?)).collect()
}

/// What numbers of 8 bits take, so that a width can be had from a name.
pub fn number(name: &str) -> Outcome<Number> {
    let dtype: tenfold::DType = name.parse()?;
    Ok(dtype.number)
}

/// Seconds that two threads take to read files, a quarter of a mebibyte at a time.
pub fn read(paths: &[&str]) -> Outcome<f64> {
    const PIECE: usize = 1 << 18;
    let files: Vec<std::fs::File> = { paths.iter() }
        .map(std::fs::File::open)
        .collect::<Result<_, _>>()?;
    let len = files.first().ok_or("no file")?.metadata()?.len();
    let share = len.div_ceil(THREADS as u64);
    let (seconds, ()) = timed(|| {
        std::thread::scope(|scope| {
            for thread in 0..THREADS as u64 {
                let files = &files;
                scope.spawn(move || {
                    let mut piece = vec![0; PIECE];
                    let end = (share * (thread + 1)).min(len);
                    for at in (share * thread..end).step_by(PIECE) {
                        let now = (end - at).min(PIECE as u64) as usize;
                        for file in files {
                            // What cannot be read is found out by the others.
                            let _ = file.read_exact_at(&mut piece[..now], at);
                            std::hint::black_box(&piece);
                        }
                    }
                });
            }
        });
        Ok(())
    })?;
    Ok(seconds)
}
