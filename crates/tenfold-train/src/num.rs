//! Conversions between counts and doubles, the only ones with `as`; and compensated summation.
#![expect(
    clippy::as_conversions,
    reason = "counts are below 2^53 wherever a cost or a share is estimated, and saturate beyond"
)]

/// The unit roundoff: half the distance from 1 to the next double.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// A count as a double, to the nearest.
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}

/// The count below a double; 0 if it is negative or NaN.
pub(crate) fn floor(value: f64) -> usize {
    value as usize
}

/// The nearest number of single precision.
pub(crate) fn narrow(value: f64) -> f32 {
    value as f32
}

/// A compensated sum: the rounding error of each addition is summed separately.
///
/// Energies are subtracted from each other, so sums of many equal numbers, whose roundings all have
/// the same sign, have to be as accurate as any others.
#[inline(always)]
pub(crate) fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() {
            (sum - next) + value
        } else {
            (value - next) + sum
        };
        sum = next;
    }
    // A non-finite sum stays non-finite: its rounding errors are meaningless.
    if sum.is_finite() { sum + lost } else { sum }
}

/// A 64-bit integer as a double, to the nearest.
pub(crate) fn nearest<N: Whole>(value: N) -> f64 {
    value.nearest()
}

/// An integer that may have more digits than a double.
pub(crate) trait Whole {
    /// The nearest double.
    fn nearest(self) -> f64;
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Whole for $type {
            fn nearest(self) -> f64 {
                self as f64
            }
        }
    )*};
}

whole!(u64, i64, u128, i128);
