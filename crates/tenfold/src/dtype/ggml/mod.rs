//! The block-quantized types of ggml: numbers that share a scale, a block of cells at a time.
//!
//! A block has the layout of its type's C structure in ggml, without padding. Types have their ggml
//! names; dequantized values are, bit for bit, those of the Python package `gguf`, in single
//! precision and in its order of operations.

mod bits;
mod codebooks;
mod i_quants;
mod k_quants;
mod legacy;
mod ternary;

use bits::Fields;

use super::cast::lazy::Cast;
use super::cast::map::{Work, worked};
use super::{Number, Numbers, Overflow, Rounding};
use crate::bytes::{Bytes, Endian, to_u64};
use crate::error::Result;
use crate::limits::Limits;

/// Dequantizes one block; the output has as many cells as the block.
type Decode = fn(&mut Fields, &mut [f32]);

/// A block-quantized type.
#[derive(Debug)]
pub(crate) struct Block {
    /// Its ggml name.
    pub(crate) name: &'static str,
    /// Cells per block; they lie along the last dimension.
    pub(crate) cells: usize,
    /// Bytes per block.
    pub(crate) bytes: usize,
    /// Its dequantization, if it is known.
    decode: Option<Decode>,
    /// Offsets of its 16-bit numbers; `None` if it has other numbers whose byte order matters, or
    /// its layout is not known.
    halves: Option<&'static [usize]>,
}

const fn block(
    name: &'static str,
    (cells, bytes): (usize, usize),
    halves: &'static [usize],
    decode: Decode,
) -> Block {
    Block {
        name,
        cells,
        bytes,
        decode: Some(decode),
        halves: Some(halves),
    }
}

/// A type whose blocks have no known big-endian form.
const fn little(name: &'static str, (cells, bytes): (usize, usize), decode: Decode) -> Block {
    Block {
        name,
        cells,
        bytes,
        decode: Some(decode),
        halves: None,
    }
}

/// A type that is never dequantized: one of intermediate results.
const fn opaque(name: &'static str, (cells, bytes): (usize, usize)) -> Block {
    Block {
        name,
        cells,
        bytes,
        decode: None,
        halves: None,
    }
}

/// All types.
static BLOCKS: [Block; 26] = [
    block("Q4_0", (32, 18), &[0], legacy::q4_0),
    block("Q4_1", (32, 20), &[0, 2], legacy::q4_1),
    little("Q5_0", (32, 22), legacy::q5_0),
    little("Q5_1", (32, 24), legacy::q5_1),
    block("Q8_0", (32, 34), &[0], legacy::q8_0),
    opaque("Q8_1", (32, 40)),
    block("Q2_K", (256, 84), &[80, 82], k_quants::q2_k),
    block("Q3_K", (256, 110), &[108], k_quants::q3_k),
    block("Q4_K", (256, 144), &[0, 2], k_quants::q4_k),
    block("Q5_K", (256, 176), &[0, 2], k_quants::q5_k),
    block("Q6_K", (256, 210), &[208], k_quants::q6_k),
    opaque("Q8_K", (256, 292)),
    little("IQ2_XXS", (256, 66), i_quants::iq2_xxs),
    little("IQ2_XS", (256, 74), i_quants::iq2_xs),
    little("IQ2_S", (256, 82), i_quants::iq2_s),
    little("IQ3_XXS", (256, 98), i_quants::iq3_xxs),
    little("IQ3_S", (256, 110), i_quants::iq3_s),
    little("IQ1_S", (256, 50), i_quants::iq1_s),
    little("IQ1_M", (256, 56), i_quants::iq1_m),
    block("IQ4_NL", (32, 18), &[0], legacy::iq4_nl),
    little("IQ4_XS", (256, 136), k_quants::iq4_xs),
    block("TQ1_0", (256, 54), &[52], ternary::tq1_0),
    block("TQ2_0", (256, 66), &[64], ternary::tq2_0),
    block("MXFP4", (32, 17), &[], legacy::mxfp4),
    block("NVFP4", (64, 36), &[], legacy::nvfp4),
    opaque("Q1_0", (128, 18)),
];

impl Block {
    /// The type of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Block> {
        BLOCKS.iter().find(|block| block.name == name)
    }

    /// Whether it can be dequantized.
    pub(crate) fn has_values(&self) -> bool {
        self.decode.is_some()
    }

    /// The length in bytes of a tensor of these sizes; `None` if its rows are no whole blocks, or
    /// it exceeds 2^64.
    pub(crate) fn len(&self, sizes: &[u64]) -> Option<u64> {
        let row = sizes.last().copied().unwrap_or(1);
        if !row.is_multiple_of(to_u64(self.cells)) {
            return None;
        }
        let cells = sizes
            .iter()
            .try_fold(1_u64, |n, size| n.checked_mul(*size))?;
        (cells / to_u64(self.cells)).checked_mul(to_u64(self.bytes))
    }

    /// The values of all blocks in `bytes`, dequantized lazily and cast to the type `to`; `None` if
    /// that is not possible.
    pub(crate) fn values(
        &'static self,
        bytes: &Bytes,
        to: Number,
        over: Overflow,
        limits: &Limits,
    ) -> Option<Numbers> {
        let decoded = Decoded {
            block: self,
            decode: self.decode?,
            cast: Cast {
                changes: None,
                from: Number::F32,
                must_swap: false,
                to,
                rounding: Rounding::NearestEven,
                over,
            },
        };
        Some(Numbers {
            number: to,
            endian: Endian::Little,
            bytes: worked(bytes, decoded, limits),
        })
    }

    /// The same blocks with the bytes of the numbers inside them swapped; `None` if the layout is
    /// not known.
    pub(crate) fn turned(&'static self, bytes: &Bytes, limits: &Limits) -> Option<Bytes> {
        Some(match self.halves? {
            [] => bytes.clone(),
            halves => {
                let block = self;
                worked(bytes, Turned { block, halves }, limits)
            }
        })
    }
}

/// The map from blocks to values.
struct Decoded {
    block: &'static Block,
    decode: Decode,
    cast: Cast,
}

impl Work for Decoded {
    fn stored(&self) -> usize {
        self.block.bytes
    }

    fn made(&self) -> usize {
        self.block.cells.saturating_mul(self.cast.to.width())
    }

    fn work(&self, stored: &[u8], made: &mut [u8]) -> Result<()> {
        let mut values = vec![0_f32; self.block.cells];
        let mut bytes = vec![0; values.len().saturating_mul(size_of::<f32>())];
        let rooms = made.chunks_exact_mut(self.made());
        for (block, room) in stored.chunks_exact(self.block.bytes).zip(rooms) {
            (self.decode)(&mut Fields(block), &mut values);
            let is_single = self.cast.to == Number::F32;
            let (out, _) = if is_single {
                room.as_chunks_mut::<4>()
            } else {
                bytes.as_chunks_mut::<4>()
            };
            for (out, value) in out.iter_mut().zip(&values) {
                *out = value.to_le_bytes();
            }
            if !is_single {
                self.cast.work(&bytes, room)?;
            }
        }
        Ok(())
    }
}

/// The map from blocks of one byte order to blocks of the other.
struct Turned {
    block: &'static Block,
    halves: &'static [usize],
}

impl Work for Turned {
    fn stored(&self) -> usize {
        self.block.bytes
    }

    fn made(&self) -> usize {
        self.block.bytes
    }

    fn work(&self, stored: &[u8], made: &mut [u8]) -> Result<()> {
        let blocks = stored.chunks_exact(self.block.bytes);
        for (block, room) in blocks.zip(made.chunks_exact_mut(self.block.bytes)) {
            room.copy_from_slice(block);
            for at in self.halves {
                if let Some(half) = room.get_mut(*at..at.saturating_add(2)) {
                    half.reverse();
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_uses_all_of_its_bytes_and_fills_all_of_its_cells() {
        for block in &BLOCKS {
            let Some(decode) = block.decode else { continue };
            let bytes = vec![0x11; block.bytes];
            let mut fields = Fields(&bytes);
            let mut values = vec![f32::NAN; block.cells];
            decode(&mut fields, &mut values);
            assert!(fields.0.is_empty(), "{}: {:?}", block.name, fields.0);
            assert!(values.iter().all(|value| !value.is_nan()), "{}", block.name);
        }
    }

    #[test]
    fn rows_are_whole_blocks() {
        let block = Block::named("Q4_0").unwrap();
        assert_eq!(block.len(&[3, 64]), Some(3 * 36));
        assert_eq!(block.len(&[64, 3]), None);
        assert_eq!(block.len(&[]), None);
        assert_eq!(block.len(&[5, 0]), Some(0));
        assert_eq!(block.len(&[1 << 40, 1 << 40]), None);
    }

    #[test]
    fn a_block_is_a_scale_and_whole_numbers() {
        // 1.5 and the cells 0 - 8, 1 - 8, ..., 15 - 8, twice.
        let mut bytes = vec![0x00, 0x3e];
        bytes.extend((0..16).map(|n| n << 4 | n));
        let block = Block::named("Q4_0").unwrap();
        let limits = Limits::default();
        let values = block
            .values(&Bytes::memory(bytes), Number::F32, Overflow::Fails, &limits)
            .unwrap();
        let row: Vec<f32> = (0_i8..16).map(|n| f32::from(n - 8) * 1.5).collect();
        assert_eq!(values.to_vec::<f32>().unwrap(), [row.clone(), row].concat());
    }

    #[test]
    fn the_other_byte_order_is_that_of_the_scales() {
        let block = Block::named("Q4_1").unwrap();
        let bytes: Vec<u8> = (0..20).collect();
        let turned = block.turned(&Bytes::memory(bytes), &Limits::default());
        let mut found = vec![0; 20];
        turned.unwrap().read_at(0, &mut found).unwrap();
        assert_eq!(found[..5], [1, 0, 3, 2, 4]);
    }
}
