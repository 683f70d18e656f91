//! How an element is looked at: as a double, and as a whole number that sorts like it.

use std::marker::PhantomData;

use half::{bf16, f16};

use super::Scalar;
use crate::number::{DType, Element, F128, Number};

/// A whole number that sorts like the value it stands for, in digits of 16 bits.
pub(super) trait Key: Copy + Ord + Send + Sync {
    /// How many digits it has.
    const DIGITS: usize;

    /// One digit, the most significant being number 0.
    fn digit(self, place: usize) -> usize;

    /// The key as the widest there is.
    fn widen(self) -> u128;

    /// The key that [`Key::widen`] made this of.
    fn narrow(wide: u128) -> Self;

    /// The first digits as one number.
    fn prefix(self, digits: usize) -> u128 {
        let rest = 16 * Self::DIGITS.saturating_sub(digits);
        if rest < 128 { self.widen() >> rest } else { 0 }
    }
}

macro_rules! key {
    ($($rust:ty),*) => {$(
        impl Key for $rust {
            const DIGITS: usize = size_of::<$rust>() / 2;

            #[inline(always)]
            fn digit(self, place: usize) -> usize {
                let rest = 16 * (Self::DIGITS - 1).saturating_sub(place);
                // Sixteen bits fit.
                usize::try_from(self >> rest & 0xffff).unwrap_or(0)
            }

            #[inline(always)]
            fn widen(self) -> u128 {
                self.into()
            }

            fn narrow(wide: u128) -> Self {
                Self::try_from(wide).unwrap_or(Self::MAX)
            }
        }
    )*};
}

key!(u16, u32, u64, u128);

/// How elements of one type are looked at.
pub(super) trait Lens: Sync {
    /// What they sort by.
    type Key: Key;

    /// How many bytes one takes.
    fn width(&self) -> usize;

    /// The nearest double to a little-endian element; finite if the element is.
    fn value(&self, element: &[u8]) -> f64;

    /// What it sorts by; both zeros have one key.
    fn key(&self, element: &[u8]) -> Self::Key;

    /// The number that has this key.
    fn number(&self, key: Self::Key) -> Scalar;
}

/// Elements that are one number.
pub(super) struct Real<T>(PhantomData<T>);

impl<T> Real<T> {
    pub(super) fn new() -> Real<T> {
        Real(PhantomData)
    }
}

macro_rules! real {
    ($($rust:ty, $key:ty, $bytes:ident => $value:expr, $to_key:expr, $from_key:expr;)*) => {$(
        impl Lens for Real<$rust> {
            type Key = $key;

            fn width(&self) -> usize {
                <$rust>::DTYPE.width()
            }

            #[inline(always)]
            fn value(&self, element: &[u8]) -> f64 {
                let $bytes = <$rust as Element>::from_le(element);
                $value
            }

            #[inline(always)]
            fn key(&self, element: &[u8]) -> $key {
                let $bytes = <$rust as Element>::from_le(element);
                $to_key
            }

            fn number(&self, $bytes: $key) -> Scalar {
                let number: $rust = $from_key;
                Scalar::of(number)
            }
        }
    )*};
}

/// The bits of a float in an order that sorts like the float, and back.
macro_rules! float_bits {
    ($to:ident, $from:ident, $bits:ty) => {
        #[inline(always)]
        fn $to(bits: $bits) -> $bits {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            if bits == SIGN {
                SIGN // -0 sorts as 0
            } else if bits & SIGN == 0 {
                bits | SIGN
            } else {
                !bits
            }
        }

        #[inline(always)]
        fn $from(key: $bits) -> $bits {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            if key & SIGN == 0 { !key } else { key & !SIGN }
        }
    };
}

float_bits!(key16, bits16, u16);
float_bits!(key32, bits32, u32);
float_bits!(key64, bits64, u64);
float_bits!(key128, bits128, u128);

real! {
    bool, u16, n => f64::from(n), n.into(), n != 0;
    u8, u16, n => f64::from(n), n.into(), u8::try_from(n).unwrap_or(u8::MAX);
    u16, u16, n => f64::from(n), n, n;
    u32, u32, n => f64::from(n), n, n;
    u64, u64, n => nearest(n.into()), n, n;
    u128, u128, n => nearest(n), n, n;
    i8, u16, n => f64::from(n), (n.cast_unsigned() ^ 1 << 7).into(),
        (u8::try_from(n).unwrap_or(u8::MAX) ^ 1 << 7).cast_signed();
    i16, u16, n => f64::from(n), n.cast_unsigned() ^ 1 << 15, (n ^ 1 << 15).cast_signed();
    i32, u32, n => f64::from(n), n.cast_unsigned() ^ 1 << 31, (n ^ 1 << 31).cast_signed();
    i64, u64, n => nearest_signed(n), n.cast_unsigned() ^ 1 << 63, (n ^ 1 << 63).cast_signed();
    i128, u128, n => if n < 0 { -nearest(n.unsigned_abs()) } else { nearest(n.unsigned_abs()) },
        n.cast_unsigned() ^ 1 << 127, (n ^ 1 << 127).cast_signed();
    f16, u16, n => n.into(), key16(n.to_bits()), f16::from_bits(bits16(n));
    bf16, u16, n => n.into(), key16(n.to_bits()), bf16::from_bits(bits16(n));
    f32, u32, n => n.into(), key32(n.to_bits()), f32::from_bits(bits32(n));
    f64, u64, n => n, key64(n.to_bits()), f64::from_bits(bits64(n));
    F128, u128, n => near_double(n), key128(n.to_bits()), F128::from_bits(bits128(n));
}

#[expect(clippy::as_conversions, reason = "rounds to the nearest, as meant")]
#[inline(always)]
fn nearest(number: u128) -> f64 {
    match u64::try_from(number) {
        Ok(number) => number as f64,
        Err(_) => number as f64,
    }
}

#[expect(clippy::as_conversions, reason = "rounds to the nearest, as meant")]
#[inline(always)]
fn nearest_signed(number: i64) -> f64 {
    number as f64
}

/// The nearest double; what lies beyond the largest counts as that, what lies below the smallest
/// is not zero.
fn near_double(number: F128) -> f64 {
    const EXPONENT: u128 = 0x7fff << 112;
    let near = number.to_f64();
    let magnitude = number.to_bits() & !(1 << 127);
    if magnitude >= EXPONENT || magnitude == 0 {
        return near;
    }
    near.abs().clamp(f64::from_bits(1), f64::MAX).copysign(near)
}

/// Elements of several numbers, looked at by their modulus.
pub(super) struct Modulus(pub(super) DType);

impl Lens for Modulus {
    type Key = u64;

    fn width(&self) -> usize {
        self.0.width()
    }

    /// NaN if any part is, else infinite if any part is.
    #[inline(always)]
    fn value(&self, element: &[u8]) -> f64 {
        match self.0.number {
            Number::F32 => modulus_of(element, 4, f32_value),
            Number::F64 => modulus_of(element, 8, f64::from_le),
            number => modulus_of(element, number.width(), |part| number.to_f64(part)),
        }
    }

    #[inline(always)]
    fn key(&self, element: &[u8]) -> u64 {
        key64(self.value(element).to_bits())
    }

    fn number(&self, key: u64) -> Scalar {
        Scalar::of(f64::from_bits(bits64(key)))
    }
}

#[inline(always)]
fn f32_value(part: &[u8]) -> f64 {
    f32::from_le(part).into()
}

/// The root of the sum of squares, which neither overflows nor vanishes on the way.
#[inline(always)]
fn modulus_of(element: &[u8], width: usize, value: impl Fn(&[u8]) -> f64) -> f64 {
    let parts = || element.chunks_exact(width).map(&value);
    let sum: f64 = parts().map(|part| part * part).sum();
    if sum > 1e-280 && sum < 1e280 {
        return sum.sqrt();
    }
    if parts().any(f64::is_nan) {
        return f64::NAN;
    }
    let most = parts().fold(0.0, |most: f64, part| most.max(part.abs()));
    if most == 0.0 || most.is_infinite() {
        return most;
    }
    // Powers of two change no digit; two steps, as their product may be out of reach.
    let (up, down) = if most > 1.0 {
        (2_f64.powi(-600), 2_f64.powi(600))
    } else {
        (2_f64.powi(600), 2_f64.powi(-600))
    };
    let sum: f64 = parts().map(|part| part * up).map(|part| part * part).sum();
    (sum.sqrt() * down).min(f64::MAX)
}

/// The bytes of an element that is zero.
pub(super) fn zero(lens: &impl Lens) -> Vec<u8> {
    vec![0; lens.width()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascend<L: Lens>(lens: &L, elements: &[Vec<u8>]) {
        let keys: Vec<L::Key> = elements.iter().map(|element| lens.key(element)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        for (key, element) in keys.iter().zip(elements) {
            assert_eq!(&lens.number(*key).bytes, element);
            let digits = (0..L::Key::DIGITS).fold(0, |sum: u128, place| {
                sum << 16 | u128::try_from(key.digit(place)).unwrap()
            });
            assert_eq!(digits, key.widen());
            assert_eq!(key.prefix(1), u128::try_from(key.digit(0)).unwrap());
        }
    }

    fn bytes<T: Element>(values: &[T]) -> Vec<Vec<u8>> {
        values
            .iter()
            .map(|value| Scalar::of(*value).bytes)
            .collect()
    }

    #[test]
    fn keys_sort_like_their_values_and_lead_back_to_them() {
        let doubles = [f64::MIN, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.5, f64::MAX];
        ascend(&Real::<f64>::new(), &bytes(&doubles));
        ascend(
            &Real::<f32>::new(),
            &bytes(&[f32::MIN, -1e-45, 0.0, 1e-45, f32::MAX]),
        );
        let halves: Vec<f16> = [-2.0, -0.5, 0.0, 0.25, 7.0].map(f16::from_f64).into();
        ascend(&Real::<f16>::new(), &bytes(&halves));
        let quads: Vec<F128> = ["-1e4000", "-1.0", "0.0", "1e-4000", "1e4000"]
            .map(|text| text.parse().unwrap())
            .into();
        ascend(&Real::<F128>::new(), &bytes(&quads));
        ascend(&Real::<i8>::new(), &bytes(&[-128_i8, -1, 0, 1, 127]));
        ascend(&Real::<i64>::new(), &bytes(&[i64::MIN, -1, 0, 1, i64::MAX]));
        ascend(
            &Real::<i128>::new(),
            &bytes(&[i128::MIN, -1, 0, 1, i128::MAX]),
        );
        ascend(&Real::<u128>::new(), &bytes(&[0, 1, u128::MAX]));
        ascend(&Real::<bool>::new(), &bytes(&[false, true]));
    }

    #[test]
    fn both_zeros_have_one_key() {
        let lens = Real::<f64>::new();
        let key = |value: f64| lens.key(&value.to_le_bytes());
        assert_eq!(key(-0.0), key(0.0));
    }

    #[test]
    fn a_modulus_neither_overflows_nor_vanishes() {
        let modulus = |parts: [f64; 2]| {
            let element: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
            Modulus(DType::complex(Number::F64)).value(&element)
        };
        assert_eq!(modulus([3.0, -4.0]), 5.0);
        assert_eq!(modulus([3e300, 4e300]), 5e300);
        assert!((modulus([3e-300, 4e-300]) / 5e-300 - 1.0).abs() < 1e-15);
        assert_eq!(modulus([0.0, -0.0]), 0.0);
        assert_eq!(modulus([f64::NEG_INFINITY, 1.0]), f64::INFINITY);
        assert!(modulus([f64::INFINITY, f64::NAN]).is_nan());
    }

    #[test]
    fn a_quad_beyond_a_double_is_finite_and_one_below_it_is_not_zero() {
        let value = |text: &str| near_double(text.parse().unwrap());
        assert_eq!(value("-1e4000"), f64::MIN);
        assert_eq!(value("1e-4000"), 5e-324);
        assert_eq!(value("0.0"), 0.0);
        assert_eq!(value("1.5"), 1.5);
        assert!(near_double(F128::from(f64::INFINITY)).is_infinite());
    }
}
