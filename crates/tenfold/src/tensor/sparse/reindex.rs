//! Recomputed addresses of sparse cells.

use super::{CoordinateReader, Sparse};
use crate::bytes::{Bytes, Endian, to_u64, to_usize};
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::io::{Compute, Source, Spool};
use crate::memory;
use crate::tensor::Tensor;
use crate::tensor::index::slice::ravel_in;
use crate::tensor::storage::{Address, Order};

impl Tensor {
    /// The row-major positions of sparse cells with the dimensions in the order `axes`.
    ///
    /// Lazy, except for compressed rows, whose cells can only be read in order.
    pub(crate) fn positions(&self, axes: &[usize]) -> Result<Numbers> {
        let sizes = self.sizes()?;
        let not_sparse = || Error::invalid("the tensor is not sparse");
        let sparse = Sparse::of(self.storage(), &sizes, self.dtype()).ok_or_else(not_sparse)?;
        let bytes = match sparse.address {
            Address::Rows { .. } => {
                let mut spool = Spool::new();
                let mut permuted = vec![0; axes.len()];
                let seen = crate::tensor::dense::permute::pick(&sizes, axes);
                sparse.for_each(&mut |_, index, _| {
                    permute_into(index, axes, &mut permuted);
                    let place = ravel_in(&permuted, &seen, Order::Row);
                    spool.write(&place.to_le_bytes())
                })?;
                Bytes::whole(spool.finish()?)
            }
            address => Bytes::whole(Source::computed(Positions {
                sizes: sizes.clone(),
                order: sparse.order,
                address: address.clone(),
                values: sparse.values.clone(),
                dtype: self.dtype(),
                axes: axes.to_vec(),
                count: sparse.count(),
            })),
        };
        Ok(Numbers {
            number: Number::U64,
            endian: Endian::Little,
            bytes,
        })
    }
}

fn permute_into(index: &[u64], axes: &[usize], permuted: &mut [u64]) {
    for (place, axis) in permuted.iter_mut().zip(axes) {
        *place = index.get(*axis).copied().unwrap_or(0);
    }
}

/// Positions computed from other addresses.
struct Positions {
    sizes: Vec<u64>,
    order: Order,
    address: Address,
    values: Numbers,
    dtype: DType,
    axes: Vec<usize>,
    count: u64,
}

/// Width of a position in bytes.
const WIDTH: u64 = 8;

impl Compute for Positions {
    fn len(&self) -> u64 {
        self.count.saturating_mul(WIDTH)
    }

    fn inputs(&self) -> Vec<&Bytes> {
        vec![&self.values.bytes]
    }

    fn depth(&self) -> u32 {
        self.values.bytes.source().depth()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let sparse = Sparse {
            sizes: &self.sizes,
            dtype: self.dtype,
            order: self.order,
            address: &self.address,
            values: &self.values,
        };
        let first = at / WIDTH;
        let last = at.saturating_add(to_u64(buffer.len())).div_ceil(WIDTH);
        let count = last.saturating_sub(first);
        let mut finder = CoordinateReader::new(&sparse)?;
        finder.load(first, count)?;
        let seen = crate::tensor::dense::permute::pick(&self.sizes, &self.axes);
        let (mut index, mut permuted) = (vec![0; seen.len()], vec![0; seen.len()]);
        let mut found = memory::with_room(buffer.len().saturating_add(16))?;
        for item in 0..to_usize(count)? {
            finder.index(item, &mut index)?;
            permute_into(&index, &self.axes, &mut permuted);
            found.extend(ravel_in(&permuted, &seen, Order::Row).to_le_bytes());
        }
        let skip = to_usize(at % WIDTH)?;
        let wanted = found.get(skip..).and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(wanted.ok_or_else(|| Error::invalid("too few addresses"))?);
        Ok(())
    }
}
