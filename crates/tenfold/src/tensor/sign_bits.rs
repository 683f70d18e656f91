//! Binarization: the signs of numbers as bits, eight per byte.

use super::Tensor;
use super::dim::{Dim, Size};
use super::storage::{Address, Order, Storage};
use crate::bytes::{Endian, Extent, PIECE, RecordsBuilder, swap};
use crate::dtype::{Arity, DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::limits::Limits;

impl Tensor {
    /// A labelled tensor whose blocks have one dimension, as int8 cells of eight bits each: a bit
    /// is set if a value is greater than 0. The first bit is the most significant, and the last
    /// byte of a block is padded with 0.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has no labels, or its blocks have another number of dimensions.
    pub(crate) fn pack_signs(&self, limits: &Limits) -> Result<Tensor> {
        let sizes = self.indexed_sizes();
        let (Storage::Sparse { values, .. }, [size], Arity::Real) =
            (self.storage(), sizes.as_slice(), self.dtype().arity)
        else {
            let n = sizes.len();
            let why =
                format!("signs are packed along one dimension of real numbers, not along {n}");
            return Err(Error::invalid(why));
        };
        let Extent::Records(records) = values.bytes.extent() else {
            return Err(Error::invalid("signs of a tensor without labels"));
        };
        let n_bytes = size.div_ceil(8);
        let mut made = RecordsBuilder::like(records, n_bytes);
        records.for_each(values.bytes.source(), &mut |_, labels, scan| {
            made.start(labels)?;
            let mut bits = Bits::default();
            let mut cells = Vec::new();
            scan.pieces(records.width(), PIECE, &mut |piece| {
                cells.clear();
                cells.extend_from_slice(piece);
                if values.must_swap(Endian::Little) {
                    swap(&mut cells, values.number.width());
                }
                let each = cells.chunks_exact(values.number.width());
                each.for_each(|cell| bits.push(values.number.to_f64(cell) > 0.0));
                made.cells(&std::mem::take(&mut bits.bytes))
            })?;
            bits.fill_up();
            made.cells(&bits.bytes)
        })?;
        let mut dims: Vec<Dim> = self.dims().to_vec();
        for dim in dims.iter_mut().filter(|dim| dim.size != Size::Mapped) {
            dim.size = Size::Indexed(n_bytes);
        }
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values: Numbers {
                number: Number::I8,
                endian: Endian::Little,
                bytes: made.finish()?,
            },
        };
        let packed = Tensor::within(dims, DType::real(Number::I8), vec![], storage, limits)?;
        Ok(packed.with_meta_of(self))
    }
}

/// Bits collected into bytes.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    last: u8,
    n_last: u8,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        self.last = self.last << 1 | u8::from(bit);
        self.n_last = self.n_last.saturating_add(1);
        if self.n_last == 8 {
            self.bytes.push(self.last);
            self.n_last = 0;
        }
    }

    fn fill_up(&mut self) {
        while self.n_last > 0 {
            self.push(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(cells: &[f32]) -> Result<Vec<i8>> {
        let size = u64::try_from(cells.len()).unwrap();
        let mut records = RecordsBuilder::new(1, cells.len() * 4);
        let bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
        records.push(&["k"], &bytes)?;
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values: Numbers {
                number: Number::F32,
                endian: Endian::Little,
                bytes: records.finish()?,
            },
        };
        let dims = vec![Dim::mapped("id"), Dim::indexed(size).named("x")];
        let tensor = Tensor::new(dims, DType::real(Number::F32), vec![], storage)?;
        let packed = tensor.pack_signs(&Limits::default())?;
        let Storage::Sparse { values, .. } = packed.storage() else {
            panic!("not labelled")
        };
        values.to_vec()
    }

    /// The examples of Vespa's guide to binarizing vectors.
    #[test]
    fn signs_are_packed_as_vespa_packs_them() {
        for (cells, wanted) in [
            ([1.0; 8], -1),
            ([0.0; 8], 0),
            ([-1.0; 8], 0),
            ([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], -128),
            ([2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], -127),
            (
                [f32::NAN, 0.1, -0.0, -0.1, 1e-45, 0.0, f32::INFINITY, 0.0],
                74,
            ),
        ] {
            assert_eq!(packed(&cells).unwrap(), [wanted], "{cells:?}");
        }
    }

    #[test]
    fn what_is_left_of_a_byte_is_zero_and_long_blocks_are_packed_in_pieces() {
        assert_eq!(packed(&[1.0; 9]).unwrap(), [-1, -128]);
        let long = packed(&vec![1.0; PIECE + 4]).unwrap();
        assert_eq!(long.len(), PIECE / 8 + 1);
        assert_eq!(long.last(), Some(&-16));
        assert!(long.iter().rev().skip(1).all(|byte| *byte == -1));
    }
}
