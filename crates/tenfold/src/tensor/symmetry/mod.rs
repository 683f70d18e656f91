//! Permutation symmetries: packing, unpacking, detection, projection.

pub(super) mod dense_deviation;
pub(super) mod detect;
pub(super) mod deviation;
pub(super) mod group;
pub(super) mod lazy_pack;
pub(super) mod mean;
pub(super) mod mean_simd;
pub(super) mod orbits;
pub(super) mod pack;
pub(super) mod project;
pub(super) mod project_pairs;
pub(super) mod signs;
pub(super) mod stored_runs;
pub(super) mod tiles;
pub(super) mod unpack;

use std::fmt;

use crate::bytes::swap;
use crate::dtype::{Arity, DType, Kind};
use crate::error::{Error, Result};

/// A symmetry `T[i_0, i_1, …] = s(T[i_p0, i_p1, …])` for all indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symmetry {
    /// The permutation `p`: the index in each place on the right-hand side.
    pub permutation: Vec<usize>,
    /// The code of `s`, such as `-x`; see [`Operation`] for those that can be computed.
    pub operation: String,
    /// Whether only one cell of every orbit is stored.
    pub packed: bool,
}

impl Symmetry {
    /// The operation on elements of this type, if it can be computed. A real number is its own
    /// conjugate.
    #[must_use]
    pub(crate) fn operation_on(&self, dtype: DType) -> Option<Operation> {
        let mut operation = Operation::of_code(&self.operation)?;
        operation.conjugate &= dtype.arity != Arity::Real;
        Some(operation)
    }

    /// The same symmetry of a tensor that stores all its cells.
    #[must_use]
    pub(crate) fn unpacked(self) -> Symmetry {
        Symmetry {
            packed: false,
            ..self
        }
    }
}

/// Displays the permutation and the operation, such as `[1, 0] -x`.
impl fmt::Display for Symmetry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} {}", self.permutation, self.operation)
    }
}

/// The operation on an element when its indices are permuted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Operation {
    /// Negation.
    pub negate: bool,
    /// Conjugation: all components but the first are negated.
    pub conjugate: bool,
}

impl Operation {
    /// The operation with this code: `x`, `-x`, `x*` or `-x*`.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Operation> {
        let (negate, conjugate) = match code {
            "x" => (false, false),
            "-x" => (true, false),
            "x*" => (false, true),
            "-x*" => (true, true),
            _ => return None,
        };
        Some(Operation { negate, conjugate })
    }

    /// The composition with another; all operations commute.
    #[must_use]
    pub fn then(self, next: Operation) -> Operation {
        Operation {
            negate: self.negate != next.negate,
            conjugate: self.conjugate != next.conjugate,
        }
    }

    /// Whether it is plain negation, which only zero survives.
    #[must_use]
    pub fn is_minus(self) -> bool {
        self.negate && !self.conjugate
    }

    /// Applies it to an element given by its little-endian bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] if an integer has no negative.
    pub fn apply(self, dtype: DType, element: &mut [u8]) -> Result<()> {
        let width = dtype.number.width();
        for (place, number) in element.chunks_exact_mut(width).enumerate() {
            if self.negate != (self.conjugate && place > 0) {
                negate(dtype, number)?;
            }
        }
        Ok(())
    }

    /// Applies it to many elements. If it fails, their values are unspecified.
    pub(crate) fn apply_all(self, dtype: DType, elements: &mut [u8]) -> Result<()> {
        if self == Operation::default() {
            return Ok(());
        }
        if dtype.number.kind() != Kind::Float {
            let mut each = elements.chunks_exact_mut(dtype.width());
            return each.try_for_each(|element| self.apply(dtype, element));
        }
        match dtype.number.width() {
            2 => self.flip_signs::<2>(dtype, elements),
            4 => self.flip_signs::<4>(dtype, elements),
            8 => self.flip_signs::<8>(dtype, elements),
            _ => self.flip_signs::<16>(dtype, elements),
        }
        Ok(())
    }

    fn flip_signs<const WIDTH: usize>(self, dtype: DType, floats: &mut [u8]) {
        let n_components = dtype.arity.count();
        let (floats, _) = floats.as_chunks_mut::<WIDTH>();
        let first = u8::from(self.negate) << 7;
        let others = u8::from(self.negate != self.conjugate) << 7;
        for element in floats.chunks_exact_mut(n_components) {
            for (place, float) in element.iter_mut().enumerate() {
                if let Some(last) = float.last_mut() {
                    *last ^= if place == 0 { first } else { others };
                }
            }
        }
    }
}

fn negate(dtype: DType, number: &mut [u8]) -> Result<()> {
    let is_zero = number.iter().all(|byte| *byte == 0);
    match dtype.number.kind() {
        Kind::Float => {
            if let Some(last) = number.last_mut() {
                *last ^= 0x80;
            }
            Ok(())
        }
        _ if is_zero => Ok(()),
        Kind::Signed => {
            let before = number.last().copied().unwrap_or(0);
            let mut carry = true;
            for byte in number.iter_mut() {
                let (sum, over) = (!*byte).overflowing_add(carry.into());
                (*byte, carry) = (sum, over);
            }
            // Only the smallest integer keeps its sign when negated.
            if number.last().copied().unwrap_or(0) & before & 0x80 != 0 {
                return Err(not_representable(dtype, number));
            }
            Ok(())
        }
        Kind::Bool | Kind::Unsigned => Err(not_representable(dtype, number)),
    }
}

fn not_representable(dtype: DType, number: &[u8]) -> Error {
    let mut big_endian = number.to_vec();
    swap(&mut big_endian, number.len());
    let bits: String = big_endian
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Error::malformed(
        None,
        format!("{NEEDS_NEGATIVE} of 0x{bits}, {dtype} has none"),
    )
}

/// How an error begins that is of a number without a negative.
const NEEDS_NEGATIVE: &str = "a symmetry needs the negative";

/// Whether an error is of a number without a negative.
fn lacks_negative(error: &Error) -> bool {
    matches!(error, Error::Malformed { why, .. } if why.starts_with(NEEDS_NEGATIVE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Number;

    fn applied<const N: usize>(code: &str, dtype: DType, mut bytes: [u8; N]) -> Result<[u8; N]> {
        Operation::of_code(code).unwrap().apply(dtype, &mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn floats_change_their_sign_bit_also_in_zero_and_nan() {
        let dtype = DType::real(Number::F64);
        assert_eq!(
            applied("-x", dtype, 0.0_f64.to_le_bytes()).unwrap(),
            (-0.0_f64).to_le_bytes()
        );
        let nan = f64::from_bits(0x7ff8_0000_0000_0123).to_le_bytes();
        let minus = f64::from_bits(0xfff8_0000_0000_0123).to_le_bytes();
        assert_eq!(applied("-x", dtype, nan).unwrap(), minus);
    }

    #[test]
    fn integers_are_negated_unless_they_have_no_negative() {
        let dtype = DType::real(Number::I16);
        assert_eq!(
            applied("-x", dtype, 256_i16.to_le_bytes()).unwrap(),
            (-256_i16).to_le_bytes()
        );
        assert_eq!(
            applied("-x", dtype, (-1_i16).to_le_bytes()).unwrap(),
            1_i16.to_le_bytes()
        );
        assert!(applied("-x", dtype, i16::MIN.to_le_bytes()).is_err());
        let unsigned = DType::real(Number::U8);
        assert_eq!(applied("-x", unsigned, [0]).unwrap(), [0]);
        assert!(applied("-x", unsigned, [1]).is_err());
    }

    #[test]
    fn many_elements_change_as_one_does() {
        let bytes: Vec<u8> = (0..256_u16)
            .map(|n| u8::try_from(n * 7 % 251).unwrap())
            .collect();
        for number in Number::ALL.iter().copied() {
            for arity in Arity::ALL.iter().copied() {
                let dtype = DType { number, arity };
                for code in ["x", "-x", "x*", "-x*"] {
                    let operation = Operation::of_code(code).unwrap();
                    let (mut one, mut all) = (bytes.clone(), bytes.clone());
                    let mut each = one.chunks_exact_mut(dtype.width());
                    let slow = each.try_for_each(|element| operation.apply(dtype, element));
                    let quick = operation.apply_all(dtype, &mut all);
                    assert_eq!(slow.is_ok(), quick.is_ok(), "{dtype} {code}");
                    assert!(slow.is_err() || one == all, "{dtype} {code}");
                }
            }
        }
    }

    #[test]
    fn conjugation_spares_the_first_component() {
        let dtype = DType {
            number: Number::I8,
            arity: Arity::Quaternion,
        };
        assert_eq!(
            applied("x*", dtype, [1, 2, 3, 4]).unwrap(),
            [1, 254, 253, 252]
        );
        assert_eq!(applied("-x*", dtype, [1, 2, 3, 4]).unwrap(), [255, 2, 3, 4]);
    }
}
