//! Scalar types of cores: real and complex doubles.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use num_complex::Complex;

use crate::kernels;

/// A complex number of two doubles.
pub type Complex64 = Complex<f64>;

/// A scalar of cores: `f64` or [`Complex64`].
pub trait Scalar:
    faer::traits::ComplexField
    + bytemuck::Pod
    + tenfold::Element
    + crate::source::Promote<Self>
    + crate::linalg::Dense
    + Default
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + Sum
    + std::fmt::Display
    + sealed::Sealed
{
    /// The single-precision counterpart.
    #[doc(hidden)]
    type Single: crate::linalg::Single<Wide = Self>;

    /// The number of doubles in a scalar.
    const REALS: usize;

    /// A real number as a scalar.
    fn of_real(value: f64) -> Self;

    /// A scalar from a real and an imaginary part; a real one drops the latter.
    fn of_parts(re: f64, im: f64) -> Self;

    /// The real part.
    fn real(self) -> f64;

    /// The complex conjugate.
    #[must_use]
    fn conjugate(self) -> Self;

    /// The square of the absolute value.
    fn energy(self) -> f64;

    /// `count` zeros.
    ///
    /// # Errors
    /// [`tenfold::Error::OutOfMemory`] if there is no memory for them.
    #[doc(hidden)]
    fn zeros(count: usize) -> tenfold::Result<Vec<Self>> {
        tenfold::memory::filled(Self::default(), count)
    }

    /// The product with a real number.
    #[must_use]
    fn times(self, factor: f64) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for super::Complex64 {}
}

impl Scalar for f64 {
    type Single = f32;
    const REALS: usize = 1;

    // Zeroed pages from the system are not written again.
    fn zeros(count: usize) -> tenfold::Result<Vec<f64>> {
        tenfold::memory::zeros(count)
    }

    fn of_real(value: f64) -> f64 {
        value
    }

    fn of_parts(re: f64, _im: f64) -> f64 {
        re
    }

    fn real(self) -> f64 {
        self
    }

    fn conjugate(self) -> f64 {
        self
    }

    fn energy(self) -> f64 {
        self * self
    }

    fn times(self, factor: f64) -> f64 {
        self * factor
    }
}

impl Scalar for Complex64 {
    type Single = Complex<f32>;
    const REALS: usize = 2;

    fn of_real(value: f64) -> Complex64 {
        Complex::new(value, 0.0)
    }

    fn of_parts(re: f64, im: f64) -> Complex64 {
        Complex::new(re, im)
    }

    fn real(self) -> f64 {
        self.re
    }

    fn conjugate(self) -> Complex64 {
        self.conj()
    }

    fn energy(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    fn times(self, factor: f64) -> Complex64 {
        Complex::new(self.re * factor, self.im * factor)
    }
}

/// The scalars as doubles, in order.
pub(crate) fn reals<T: Scalar>(values: &[T]) -> &[f64] {
    bytemuck::cast_slice(values)
}

/// The scalars as mutable doubles.
pub(crate) fn reals_mut<T: Scalar>(values: &mut [T]) -> &mut [f64] {
    bytemuck::cast_slice_mut(values)
}

/// The sum of the squares of absolute values, the same for any number of threads.
pub(crate) fn energy<T: Scalar>(values: &[T]) -> f64 {
    kernels::energy(reals(values))
}

/// The largest absolute value of any part; NaN if there is a NaN.
pub(crate) fn largest<T: Scalar>(values: &[T]) -> f64 {
    let parts = reals(values).iter();
    parts.fold(0.0, |most: f64, part| {
        let size = part.abs();
        if size > most || size.is_nan() {
            size
        } else {
            most
        }
    })
}

/// A power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Power(i32);

impl Power {
    /// The identity.
    pub(crate) const ONE: Power = Power(0);

    /// The power that scales a number to near 1; [`Power::ONE`] for 0 and non-finite numbers.
    pub(crate) fn towards_one(size: f64) -> Power {
        if !(size > 0.0 && size.is_finite()) {
            return Power::ONE;
        }
        let mut exponent = 0;
        let mut rest = size;
        while rest >= 2.0 {
            rest *= 0.5;
            exponent -= 1;
        }
        while rest < 1.0 {
            rest *= 2.0;
            exponent += 1;
        }
        Power(exponent)
    }

    /// The largest power not above a number; `None` for 0.
    pub(crate) fn size_of(size: f64) -> Option<Power> {
        let exponent = i32::try_from(size.to_bits() >> 52 & 0x7FF).unwrap_or(0);
        (size != 0.0).then_some(Power(exponent - 1023))
    }

    /// The exponent.
    pub(crate) fn exponent(self) -> i32 {
        self.0
    }

    /// The inverse power.
    pub(crate) fn inverse(self) -> Power {
        Power(self.0.saturating_neg())
    }

    /// `count` powers, nearly equal, with this product.
    pub(crate) fn shares(self, count: usize) -> impl Iterator<Item = Power> {
        let parts = i32::try_from(count.max(1)).unwrap_or(i32::MAX);
        let (each, rest) = (self.0 / parts, self.0 % parts);
        let first = std::iter::once(Power(each + rest));
        first.chain(std::iter::repeat(Power(each))).take(count)
    }

    /// The product of both.
    pub(crate) fn and(self, other: Power) -> Power {
        Power(self.0.saturating_add(other.0))
    }

    /// A number times the power.
    pub(crate) fn apply<T: Scalar>(self, value: T) -> T {
        if self == Power::ONE {
            return value;
        }
        if self.0.abs() <= 1000 {
            let biased = u64::from((1023 + self.0).unsigned_abs());
            return value.times(f64::from_bits(biased << 52));
        }
        // In three steps, because the power alone may be out of range of a double.
        let exponent = self.0.clamp(-2200, 2200);
        let third = exponent / 3;
        let factor = 2.0_f64.powi(third);
        let rest = 2.0_f64.powi(exponent - 2 * third);
        value.times(factor).times(factor).times(rest)
    }

    /// All numbers times the power.
    pub(crate) fn apply_all<T: Scalar>(self, values: &mut [T]) {
        if self != Power::ONE {
            values
                .iter_mut()
                .for_each(|value| *value = self.apply(*value));
        }
    }
}

/// Whether squares of such an energy, and sums of them, are well within the range of doubles.
pub(crate) fn is_in_range(energy: f64) -> bool {
    energy > 1e-140 && energy < 1e140
}

/// Scales numbers whose squares would overflow or underflow to near 1; returns the inverse power.
pub(crate) fn tame<T: Scalar>(values: &mut [T]) -> Power {
    if is_in_range(energy(values)) {
        return Power::ONE;
    }
    let power = Power::towards_one(largest(values));
    power.apply_all(values);
    power.inverse()
}

/// The square root of the energy, without intermediate overflow.
pub(crate) fn norm<T: Scalar>(values: &[T]) -> f64 {
    let plain = energy(values);
    if is_in_range(plain) {
        return plain.sqrt();
    }
    let mut values = values.to_vec();
    let back = tame(&mut values);
    back.apply(energy(&values).sqrt())
}
