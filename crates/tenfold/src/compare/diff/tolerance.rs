//! Tolerance: the differences within which two cells are the same.

use half::{bf16, f16};

use crate::dtype::{Element, Kind, Number, convert, significand};

/// The tolerance of a comparison; zero by default.
///
/// Cells that are equal as numbers or have the same bits are the same under every tolerance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiffTolerance {
    /// The allowed difference, relative to the larger of the two magnitudes.
    pub relative: f64,
    /// The allowed difference, added to the relative part.
    pub absolute: f64,
    /// The allowed difference in units in the last place, after rounding both to the coarser type.
    pub ulp: Option<u64>,
    /// Whether all NaNs are the same, whatever their bits.
    pub equal_nan: bool,
}

impl DiffTolerance {
    /// The largest difference allowed for cells of these magnitudes.
    pub(super) fn limit(&self, a: f64, b: f64) -> f64 {
        let larger = if a > b { a } else { b };
        self.absolute + self.relative * larger
    }
}

/// Counts ULPs, units in the last place, of the coarser of two float types.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    coarse: Number,
    most: u128,
}

impl Steps {
    /// `None` if there are no such units: for two integer types.
    pub(super) fn new(a: Number, b: Number, most: u64) -> Option<Steps> {
        let floats = [a, b].into_iter().filter(|n| n.kind() == Kind::Float);
        let coarse = floats.min_by_key(|number| significand(*number))?;
        Some(Steps {
            coarse,
            most: most.into(),
        })
    }

    /// Whether two numbers, neither of them NaN, are near enough after rounding.
    pub(super) fn are_near(self, a: (Number, &[u8]), b: (Number, &[u8])) -> bool {
        let (a, b) = (self.place(a), self.place(b));
        let apart = a.abs_diff(b);
        // The infinities are not adjacent to the largest numbers.
        let infinity = self.infinity();
        let is_finite = a.unsigned_abs() < infinity && b.unsigned_abs() < infinity;
        apart == 0 || is_finite && apart <= self.most
    }

    /// The rank of a number among the floats of the coarse type, counted from zero.
    fn place(self, (number, bytes): (Number, &[u8])) -> i128 {
        let bits = match (number, self.coarse) {
            (Number::F32, Number::Bf16) => bf16::from_f32(f32::from_le(bytes)).to_bits().into(),
            (Number::F32, Number::F16) => f16::from_f32(f32::from_le(bytes)).to_bits().into(),
            (from, to) if from == to => unsigned(bytes),
            (from, to) => {
                let mut rounded = Vec::with_capacity(to.width());
                convert(from, to, bytes, &mut rounded);
                unsigned(&rounded)
            }
        };
        let sign = 1_u128 << (self.coarse.width() * 8 - 1);
        // Without the sign bit it fits.
        let size = i128::try_from(bits & (sign - 1)).unwrap_or(i128::MAX);
        if bits & sign == 0 { size } else { -size }
    }

    /// The rank of infinity.
    fn infinity(self) -> u128 {
        let bits = self.coarse.width() * 8;
        let fraction = significand(self.coarse) - 1;
        ((1 << (bits - 1)) - 1) >> fraction << fraction
    }
}

fn unsigned(bytes: &[u8]) -> u128 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_near<A: Element, B: Element>(a: A, b: B, most: u64) -> bool {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        a.to_le(&mut x);
        b.to_le(&mut y);
        let (a, b) = (A::DTYPE.number, B::DTYPE.number);
        let steps = Steps::new(a, b, most).unwrap();
        steps.are_near((a, &x), (b, &y))
    }

    #[test]
    fn steps_are_counted_through_zero_and_across_powers_of_two() {
        let tiny = f64::from_bits(1);
        assert!(are_near(tiny, -tiny, 2) && !are_near(tiny, -tiny, 1));
        assert!(are_near(0.0_f32, -0.0_f32, 0));
        assert!(are_near(1.0_f32, 1.0_f32 - f32::EPSILON / 2.0, 1));
        assert!(!are_near(1.0_f32, 1.0_f32 + 2.0 * f32::EPSILON, 1));
    }

    #[test]
    fn unlike_types_are_rounded_to_the_coarser_first() {
        assert!(are_near(0.1_f32, bf16::from_f32(0.1), 0));
        assert!(are_near(0.1_f64, f16::from_f64(0.1), 0));
        // Truncated instead of rounded: one ULP away.
        let cut = bf16::from_bits(u16::try_from(0.1_f32.to_bits() >> 16).unwrap());
        assert!(!are_near(0.1_f32, cut, 0) && are_near(0.1_f32, cut, 1));
        // The smallest half and a single nearby.
        assert!(are_near(6.2e-8_f32, f16::from_bits(1), 0));
        assert!(are_near(3_u8, 3.0_f32, 0));
        assert!(Steps::new(Number::U8, Number::I64, 1).is_none());
    }

    #[test]
    fn infinity_is_near_to_nothing_else() {
        assert!(!are_near(f32::MAX, f32::INFINITY, 1000));
        assert!(are_near(f32::INFINITY, f64::INFINITY, 0));
        assert!(are_near(1e10_f32, f16::INFINITY, 0));
    }
}
