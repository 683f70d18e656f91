//! Mean and standard deviation of numbers of any size, in one pass.

/// The count, the mean and the sum of squared deviations from it.
///
/// The mean is stored as (`mean` + `low`) × 2^`power`, the sum of squares as `squares` × 4^`power`:
/// so neither the largest nor the smallest doubles over- or underflow when they are squared, and a
/// standard deviation that is small compared to the mean survives the merging of many parts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    count: u64,
    power: i32,
    mean: f64,
    /// Low part of the mean.
    low: f64,
    squares: f64,
}

/// Counts by sign, besides the moments of finite numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Signs {
    pub(super) zeros: u64,
    pub(super) negative: u64,
}

/// Number of sums side by side.
const LANES: usize = 8;

/// Exponent by which large numbers are scaled down, and small ones up.
const STEP: i32 = 600;

/// The power of two by which numbers with the largest magnitude `most` are scaled.
fn power_for(most: f64) -> i32 {
    // Within these bounds squares are far from both ends of a double's range, and so are sums of
    // 2^64 of them.
    let (low, high) = (2_f64.powi(-450), 2_f64.powi(450));
    if most > high {
        STEP
    } else if most < low && most > 0.0 {
        -STEP
    } else {
        0
    }
}

impl Moments {
    /// The moments of a few finite numbers, which may be scaled in place.
    #[inline(always)]
    pub(super) fn of(values: &mut [f64]) -> (Moments, Signs) {
        let (mut sum, most, signs) = first_look(values);
        let power = power_for(most);
        if power != 0 {
            let scale = 2_f64.powi(-power);
            values.iter_mut().for_each(|value| *value *= scale);
            sum = first_look(values).0;
        }
        let Some(count) = u64::try_from(values.len()).ok().filter(|count| *count > 0) else {
            return (Moments::default(), Signs::default());
        };
        let mean = sum / float(count);
        let (rest, squares) = about(values, mean);
        let low = rest / float(count);
        let moments = Moments {
            count,
            power,
            mean,
            low,
            squares: (squares - rest * low).max(0.0),
        };
        (moments, signs)
    }

    /// The moments of one repeated number.
    pub(super) fn repeated(value: f64, count: u64) -> Moments {
        let power = power_for(value.abs());
        Moments {
            count,
            power,
            mean: value * 2_f64.powi(-power),
            low: 0.0,
            squares: 0.0,
        }
    }

    /// The moments of the union.
    pub(super) fn merge(self, other: Moments) -> Moments {
        if self.count == 0 {
            return other;
        }
        if other.count == 0 {
            return self;
        }
        // Zeros have any power: they must not cost small numbers their digits.
        let power = match (self.is_zero(), other.is_zero()) {
            (true, _) => other.power,
            (_, true) => self.power,
            _ => self.power.max(other.power),
        };
        // The mean of the larger part is closer to the common mean, so that fewer digits are lost.
        let (first, second) = if other.count > self.count {
            (other.at(power), self.at(power))
        } else {
            (self.at(power), other.at(power))
        };
        let count = first.count.saturating_add(second.count);
        let (here, there) = (float(first.count), float(second.count));
        let apart = (second.mean - first.mean) + (second.low - first.low);
        let share = there / float(count);
        let (mean, low) = exact_sum(first.mean, apart * share);
        Moments {
            count,
            power,
            mean,
            low: low + first.low,
            squares: first.squares + second.squares + apart * apart * here * share,
        }
    }

    fn is_zero(self) -> bool {
        self.mean == 0.0 && self.low == 0.0 && self.squares == 0.0
    }

    /// The same with a larger power.
    fn at(self, power: i32) -> Moments {
        let scale = 2_f64.powi(self.power.saturating_sub(power));
        Moments {
            power,
            mean: self.mean * scale,
            low: self.low * scale,
            squares: self.squares * scale * scale,
            ..self
        }
    }

    pub(super) fn mean(self) -> f64 {
        (self.mean + self.low) * 2_f64.powi(self.power)
    }

    /// The population standard deviation.
    pub(super) fn deviation(self) -> f64 {
        (self.squares / float(self.count.max(1))).sqrt() * 2_f64.powi(self.power)
    }

    /// The square root of the sum of squares.
    pub(super) fn norm(self) -> f64 {
        let sum = self.squares + self.mean * self.mean * float(self.count);
        sum.sqrt() * 2_f64.powi(self.power)
    }
}

/// The sum, the largest magnitude, and the number of values that are zero or less.
#[inline(always)]
fn first_look(values: &[f64]) -> (f64, f64, Signs) {
    let (mut sums, mut most) = ([0.0; LANES], [0.0_f64; LANES]);
    let (mut zeros, mut negative) = ([0_u64; LANES], [0_u64; LANES]);
    let (rows, rest) = values.as_chunks::<LANES>();
    for row in rows {
        let lanes = sums.iter_mut().zip(&mut most);
        let counts = zeros.iter_mut().zip(&mut negative);
        for ((value, (sum, most)), (zero, below)) in row.iter().zip(lanes).zip(counts) {
            *sum += value;
            *most = larger(value.abs(), *most);
            *zero = zero.wrapping_add(u64::from(*value == 0.0));
            *below = below.wrapping_add(u64::from(*value < 0.0));
        }
    }
    let mut sum: f64 = sums.iter().sum();
    let mut largest = most.into_iter().fold(0.0, larger);
    let mut signs = Signs {
        zeros: zeros.iter().sum(),
        negative: negative.iter().sum(),
    };
    for value in rest {
        sum += value;
        largest = larger(value.abs(), largest);
        signs.zeros = signs.zeros.wrapping_add(u64::from(*value == 0.0));
        signs.negative = signs.negative.wrapping_add(u64::from(*value < 0.0));
    }
    (sum, largest, signs)
}

/// The larger of two numbers that are not NaN: one instruction, unlike `f64::max`.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// A sum and its rounding error.
fn exact_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The sum of the deviations from `mean`, and that of their squares.
#[inline(always)]
fn about(values: &[f64], mean: f64) -> (f64, f64) {
    let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
    let (rows, rest) = values.as_chunks::<LANES>();
    for row in rows {
        for ((value, sum), square) in row.iter().zip(&mut sums).zip(&mut squares) {
            let apart = value - mean;
            *sum += apart;
            *square += apart * apart;
        }
    }
    let apart = || rest.iter().map(|value| value - mean);
    let sum = sums.iter().sum::<f64>() + apart().sum::<f64>();
    let square = squares.iter().sum::<f64>() + apart().map(|apart| apart * apart).sum::<f64>();
    (sum, square)
}

#[expect(clippy::as_conversions, reason = "rounds to the nearest, as meant")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f64]) -> Moments {
        let blocks = values
            .chunks(3)
            .map(|block| Moments::of(&mut block.to_vec()).0);
        blocks.fold(Moments::default(), Moments::merge)
    }

    fn near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-14, "{found} {wanted}");
    }

    #[test]
    fn a_small_spread_far_from_zero_survives() {
        let values: Vec<f64> = (0..1000).map(|n| 1e9 + f64::from(n % 2)).collect();
        near(moments(&values).mean(), 1e9 + 0.5);
        near(moments(&values).deviation(), 0.5);
    }

    #[test]
    fn the_largest_and_the_smallest_doubles_are_not_lost() {
        let large = [f64::MAX, -f64::MAX, f64::MAX, -f64::MAX];
        assert!(moments(&large).mean().abs() < f64::MAX * 1e-15);
        near(moments(&large).deviation(), f64::MAX);
        near(moments(&[1e-300, 3e-300]).deviation(), 1e-300);
        near(moments(&[3e-200, 4e-200]).norm(), 5e-200);
        near(moments(&[1e300, 1e300, 1.0, 1e-300]).mean(), 5e299);
        // Few numbers among very many zeros.
        for n_zeros in [1_000_000_000_000_u64, 400_000_000_000_000, 1 << 62] {
            let few = moments(&[1.0, 2.0, 3.5]);
            let zeros = Moments::repeated(0.0, n_zeros);
            for all in [few.merge(zeros), zeros.merge(few)] {
                near(all.mean() * float(n_zeros + 3), 6.5);
            }
        }
    }

    #[test]
    fn signs_are_counted_whatever_the_scale() {
        let mut values = vec![
            -1e-320, 0.0, -0.0, 2e-320, -3e-320, 0.0, 0.0, 1e-310, -1e-310,
        ];
        let signs = Moments::of(&mut values).1;
        assert_eq!((signs.zeros, signs.negative), (4, 3));
    }

    #[test]
    fn repetition_weighs() {
        let merged = Moments::repeated(0.0, 3).merge(Moments::repeated(4.0, 1));
        assert_eq!((merged.mean(), merged.norm()), (1.0, 4.0));
        near(merged.deviation(), 3_f64.sqrt());
        let small = Moments::repeated(2e-300, 1).merge(Moments::repeated(0.0, 1));
        near(small.deviation(), 1e-300);
    }
}
