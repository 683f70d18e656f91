//! Values that share a cell: PyTorch's coordinates may repeat until they are coalesced, and the values
//! of one cell add up.
#![deny(clippy::arithmetic_side_effects)]

use half::{bf16, f16};

use crate::bytes::{Bytes, Endian, PIECE, narrow, wide};
use crate::error::Result;
use crate::limits::Limits;
use crate::number::{DType, Element, Number, Numbers};

/// Positions in row-major order, each once, their values, and how many values were added to others.
pub(super) struct Summed {
    pub(super) positions: Numbers,
    pub(super) values: Numbers,
    pub(super) n_added: u64,
}

/// Adds up the values of each cell; `None` if none has two, or if some lie outside of the tensor.
///
/// Values are added in their own type, in the order in which they come, as `Tensor.coalesce` does.
pub(super) fn summed(
    sizes: &[u64],
    columns: &[Numbers],
    values: &Numbers,
    dtype: DType,
    limits: &Limits,
) -> Result<Option<Summed>> {
    let width = dtype.width();
    let count = columns.first().map_or(0, Numbers::len);
    let each = wide(width).saturating_mul(2).saturating_add(32);
    let why = "entries of a sparse tensor that is not coalesced are sorted";
    limits.check_memory(why, count.saturating_mul(each))?;
    let Some(positions) = positions(sizes, columns)? else {
        return Ok(None);
    };
    let mut order: Vec<(u64, usize)> = positions.into_iter().zip(0..).collect();
    order.sort_unstable();
    if order.windows(2).all(|pair| !is_pair(pair)) {
        return Ok(None);
    }
    let mut all = Vec::with_capacity(narrow(values.bytes.len())?);
    values.for_each(Endian::Little, width, PIECE, &mut |piece| {
        all.extend_from_slice(piece);
        Ok(())
    })?;
    let (mut places, mut sums): (Vec<u64>, Vec<u8>) = (Vec::new(), Vec::new());
    for cell in order.chunk_by(|one, next| one.0 == next.0) {
        let start = sums.len();
        for (number, (position, entry)) in cell.iter().enumerate() {
            let from = entry.saturating_mul(width);
            let value = all
                .get(from..from.saturating_add(width))
                .unwrap_or_default();
            match number {
                0 => {
                    places.push(*position);
                    sums.extend_from_slice(value);
                }
                _ => add(
                    dtype.number,
                    sums.get_mut(start..).unwrap_or_default(),
                    value,
                ),
            }
        }
    }
    Ok(Some(Summed {
        n_added: count.saturating_sub(wide(places.len())),
        positions: Numbers::from_vec(&places),
        values: Numbers {
            number: dtype.number,
            endian: Endian::Little,
            bytes: Bytes::memory(sums),
        },
    }))
}

fn is_pair(pair: &[(u64, usize)]) -> bool {
    matches!(pair, [(one, _), (other, _)] if one == other)
}

/// Where the entries lie in row-major order; `None` if one lies outside.
fn positions(sizes: &[u64], columns: &[Numbers]) -> Result<Option<Vec<u64>>> {
    let count = columns.first().map_or(0, Numbers::len);
    let mut positions = vec![0_u64; narrow(count)?];
    let mut is_inside = true;
    for (size, column) in sizes.iter().zip(columns) {
        let width = column.number.width();
        let mut entries = positions.iter_mut();
        column.for_each(Endian::Little, width, PIECE, &mut |piece| {
            for (index, position) in piece.chunks_exact(width).zip(entries.by_ref()) {
                let mut wide_index = [0; 8];
                wide_index
                    .iter_mut()
                    .zip(index)
                    .for_each(|(to, from)| *to = *from);
                let index = u64::from_le_bytes(wide_index);
                let next = position.checked_mul(*size);
                match next.and_then(|next| next.checked_add(index)) {
                    Some(next) if index < *size => *position = next,
                    _ => is_inside = false,
                }
            }
            Ok(())
        })?;
    }
    Ok(is_inside.then_some(positions))
}

/// Adds little-endian numbers to others, each to its own.
fn add(number: Number, sums: &mut [u8], values: &[u8]) {
    let width = number.width();
    for (sum, value) in sums.chunks_exact_mut(width).zip(values.chunks_exact(width)) {
        let added = added(number, sum, value);
        sum.iter_mut().zip(added).for_each(|(to, from)| *to = from);
    }
}

/// The sum of two numbers, as a machine has it: whole ones wrap around.
fn added(number: Number, one: &[u8], other: &[u8]) -> Vec<u8> {
    fn both<T: Element>(one: &[u8], other: &[u8]) -> (T, T) {
        (T::from_le(one), T::from_le(other))
    }
    match number {
        Number::F64 => {
            let (one, other) = both::<f64>(one, other);
            (one + other).to_le_bytes().to_vec()
        }
        Number::F32 => {
            let (one, other) = both::<f32>(one, other);
            (one + other).to_le_bytes().to_vec()
        }
        Number::F16 => {
            let (one, other) = both::<f16>(one, other);
            let sum = one.to_f32() + other.to_f32();
            f16::from_f32(sum).to_le_bytes().to_vec()
        }
        Number::Bf16 => {
            let (one, other) = both::<bf16>(one, other);
            let sum = one.to_f32() + other.to_f32();
            bf16::from_f32(sum).to_le_bytes().to_vec()
        }
        Number::Bool => one
            .iter()
            .zip(other)
            .map(|(one, other)| one | other)
            .collect(),
        // Two's complement adds as whole numbers do; PyTorch has none of more than 64 bits.
        _ => {
            let mut carry = 0_u16;
            let sum = one.iter().zip(other).map(|(one, other)| {
                let sum = u16::from(*one)
                    .saturating_add(u16::from(*other))
                    .saturating_add(carry);
                carry = sum >> 8;
                sum.to_le_bytes().first().copied().unwrap_or_default()
            });
            sum.collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_cell_add_up_in_their_own_type() {
        let columns = [
            Numbers::from_vec(&[1_u64, 0, 1, 0]),
            Numbers::from_vec(&[2_u64, 1, 2, 0]),
        ];
        let values = Numbers::from_vec(&[100_i8, 5, 100, -1]);
        let dtype = DType::real(Number::I8);
        let limits = Limits::default();
        let made = summed(&[2, 3], &columns, &values, dtype, &limits)
            .unwrap()
            .unwrap();
        assert_eq!(made.n_added, 1);
        assert_eq!(made.positions.to_vec::<u64>().unwrap(), [0, 1, 5]);
        assert_eq!(made.values.to_vec::<i8>().unwrap(), [-1, 5, -56]);
    }

    #[test]
    fn what_is_there_once_or_outside_is_left_alone() {
        let columns = [Numbers::from_vec(&[1_u64, 0])];
        let values = Numbers::from_vec(&[1_f32, 2.0]);
        let dtype = DType::real(Number::F32);
        let limits = Limits::default();
        assert!(
            summed(&[2], &columns, &values, dtype, &limits)
                .unwrap()
                .is_none()
        );
        let outside = [Numbers::from_vec(&[2_u64, 2])];
        assert!(
            summed(&[2], &outside, &values, dtype, &limits)
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn whole_numbers_carry_and_wrap() {
        let sum =
            |one: i32, other: i32| added(Number::I32, &one.to_le_bytes(), &other.to_le_bytes());
        assert_eq!(sum(255, 1), 256_i32.to_le_bytes());
        assert_eq!(sum(-1, 1), 0_i32.to_le_bytes());
        assert_eq!(sum(i32::MAX, 1), i32::MIN.to_le_bytes());
    }
}
