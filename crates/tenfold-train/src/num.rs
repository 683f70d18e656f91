//! Between counts and doubles: the one place that converts with `as`.
#![expect(
    clippy::as_conversions,
    reason = "counts are below 2^53 wherever a cost or a share is estimated, and saturate beyond"
)]

/// Half the distance from 1 to the next double: the error of one rounding.
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

/// A sum to nearly full precision: what each addition rounds off is added up apart.
///
/// Energies are subtracted from each other, so it matters that many equal numbers, whose roundings
/// all go one way, add up as well as any others.
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
    // What is not finite stays so: its roundings mean nothing.
    if sum.is_finite() { sum + lost } else { sum }
}

/// A 64-bit integer as a double, to the nearest.
pub(crate) fn nearest<N: Whole>(value: N) -> f64 {
    value.nearest()
}

/// A whole number that may have more digits than a double.
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
