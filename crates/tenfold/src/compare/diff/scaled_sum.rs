//! Sums of squares and products without overflow or underflow.

/// A sum of doubles times a power of two, with compensation for rounding.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    value: f64,
    rest: f64,
    exponent: i32,
}

impl Sum {
    /// Adds `value` times two to the power of `exponent`.
    pub(super) fn add(&mut self, value: f64, exponent: i32) {
        if value == 0.0 {
            return;
        }
        if self.value == 0.0 && self.rest == 0.0 {
            self.exponent = exponent;
        }
        let mut value = value;
        if exponent > self.exponent {
            let down = self.exponent.saturating_sub(exponent);
            self.value = scaled(self.value, down);
            self.rest = scaled(self.rest, down);
            self.exponent = exponent;
        } else {
            value = scaled(value, exponent.saturating_sub(self.exponent));
        }
        let sum = self.value + value;
        // The rounding error of the smaller term.
        self.rest += if self.value.abs() >= value.abs() {
            (self.value - sum) + value
        } else {
            (value - sum) + self.value
        };
        self.value = sum;
    }

    pub(super) fn merge(&mut self, other: Sum) {
        self.add(other.value, other.exponent);
        self.add(other.rest, other.exponent);
    }

    fn total(self) -> f64 {
        self.value + self.rest
    }

    pub(super) fn is_zero(self) -> bool {
        self.total() == 0.0
    }

    /// The square root of a sum of squares, whose exponent is even; infinite if it is larger than
    /// any double.
    pub(super) fn root(self) -> f64 {
        scaled(self.total().sqrt(), self.exponent / 2)
    }

    /// The square root of its ratio to another, both nonzero.
    pub(super) fn root_of_ratio(self, other: Sum) -> f64 {
        Sum {
            value: self.total() / other.total(),
            rest: 0.0,
            exponent: self.exponent.saturating_sub(other.exponent),
        }
        .root()
    }

    /// Its ratio to the product of the roots of two others, all nonzero.
    pub(super) fn over_roots(self, a: Sum, b: Sum) -> f64 {
        let near = self.total() / (a.total().sqrt() * b.total().sqrt());
        // Squares have even exponents.
        let down = a.exponent / 2 + b.exponent / 2;
        scaled(near, self.exponent.saturating_sub(down))
    }
}

/// A double times a power of two, in steps whose factors do not overflow.
pub(super) fn scaled(value: f64, exponent: i32) -> f64 {
    /// A power of two that is a double, as is its inverse.
    const STEP: i32 = 1000;
    let (mut value, mut left) = (value, exponent);
    while left != 0 && value != 0.0 && value.is_finite() {
        let now = left.clamp(-STEP, STEP);
        value *= 2.0_f64.powi(now);
        left = left.saturating_sub(now);
    }
    value
}

/// The exponent of the largest power of two not above a positive double.
pub(super) fn exponent(value: f64) -> i32 {
    let biased = |value: f64| i32::try_from(value.to_bits() >> 52 & 0x7ff).unwrap_or(0);
    match biased(value) {
        0 => biased(value * 2.0_f64.powi(64)).saturating_sub(1023 + 64),
        normal => normal.saturating_sub(1023),
    }
}

/// Number of sums side by side: enough for the vector units of a core.
const LANES: usize = 8;

/// The sum of products, in lanes.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0_f64; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// The largest of some non-negative numbers; NaNs are ignored.
pub(super) fn largest(sizes: &[f64]) -> f64 {
    let greater = |a: f64, b: f64| if b > a { b } else { a };
    let mut lanes = [0.0_f64; LANES];
    let (sizes, rest) = sizes.as_chunks::<LANES>();
    for sizes in sizes {
        for (lane, size) in lanes.iter_mut().zip(sizes) {
            *lane = greater(*lane, *size);
        }
    }
    lanes.iter().chain(rest).copied().fold(0.0, greater)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_any_size_are_added() {
        let mut sum = Sum::default();
        sum.add(1.0, 4000);
        sum.add(1.0, 4002);
        sum.add(1.0, -4000);
        // 2^4000 × 5, whose root is 2^2000 × √5.
        let mut unit = Sum::default();
        unit.add(1.0, 4000);
        assert_eq!(sum.root_of_ratio(unit), 5.0_f64.sqrt());
        assert!((sum.over_roots(sum, sum) - 1.0).abs() < 1e-15);
        assert_eq!(unit.root(), f64::INFINITY);
    }

    #[test]
    fn what_rounding_takes_away_comes_back() {
        let mut sum = Sum::default();
        for value in [1.0, 1e100, 1.0, -1e100] {
            sum.add(value, 0);
        }
        assert_eq!(sum.total(), 2.0);
    }

    #[test]
    fn exponents_are_those_of_the_power_of_two_below() {
        assert_eq!(exponent(1.0), 0);
        assert_eq!(exponent(0.75), -1);
        assert_eq!(exponent(f64::MAX), 1023);
        assert_eq!(exponent(f64::from_bits(1)), -1074);
        assert_eq!(scaled(f64::from_bits(1), 1074), 1.0);
        assert_eq!(scaled(1.0, -1074), f64::from_bits(1));
    }

    #[test]
    fn lanes_give_what_a_loop_gives() {
        let numbers: Vec<f64> = (0..29_u32).map(f64::from).collect();
        assert_eq!(dot(&numbers, &numbers), 7714.0);
        assert_eq!(largest(&numbers), 28.0);
        assert_eq!(largest(&[]), 0.0);
    }
}
