//! Per-type access to elements: value as f64, and an order-preserving integer key.

use super::Scalar;
use crate::dtype::{DType, Element, F128, Number};

/// An integer that sorts like the value it represents, in digits of 16 bits.
pub(super) trait Key: Copy + Ord + Send + Sync {
    /// The number of digits.
    const DIGITS: usize;

    /// One digit, the most significant being number 0.
    fn digit(self, place: usize) -> usize;

    /// The key as the widest integer.
    fn widen(self) -> u128;

    /// The inverse of [`Key::widen`].
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

/// Operations on elements of one type.
pub(super) trait ElementOps: Sync {
    /// The type of the sort keys.
    type Key: Key;

    /// The width of an element in bytes.
    fn width(&self) -> usize;

    /// The nearest double to a little-endian element; finite if the element is.
    fn value(&self, element: &[u8]) -> f64;

    /// The sort key; both zeros have the same.
    fn key(&self, element: &[u8]) -> Self::Key;

    /// The number with this key.
    fn number(&self, key: Self::Key) -> Scalar;

    /// [`ElementOps::value`] of some elements.
    #[inline(always)]
    fn values(&self, elements: &[u8], out: &mut Vec<f64>) {
        out.clear();
        let elements = elements.chunks_exact(self.width());
        out.extend(elements.map(|element| self.value(element)));
    }

    /// [`ElementOps::key`] of some elements.
    #[inline(always)]
    fn keys(&self, elements: &[u8], out: &mut Vec<Self::Key>) {
        out.clear();
        let elements = elements.chunks_exact(self.width());
        out.extend(elements.map(|element| self.key(element)));
    }
}

/// Order-preserving bits of a float, and back.
macro_rules! float_bits {
    ($to:ident, $from:ident, $bits:ty) => {
        #[inline(always)]
        fn $to(bits: $bits) -> $bits {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            // Without a branch, so that it is vectorized; -0 sorts as 0.
            let is_minus_zero = <$bits>::from(bits == SIGN);
            let is_below = (bits >> (<$bits>::BITS - 1)).wrapping_neg();
            (bits ^ (is_below | SIGN)).wrapping_add(is_minus_zero)
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

/// Numbers of up to 16 bits.
pub(super) struct Short(pub(super) Number);

impl ElementOps for Short {
    type Key = u16;

    #[inline(always)]
    fn width(&self) -> usize {
        self.0.width()
    }

    fn value(&self, element: &[u8]) -> f64 {
        self.0.to_f64(element)
    }

    #[inline(always)]
    fn key(&self, element: &[u8]) -> u16 {
        let bits = match element {
            [low, high] => u16::from_le_bytes([*low, *high]),
            [only] => u16::from(*only),
            _ => 0,
        };
        match self.0 {
            Number::F16 | Number::Bf16 => key16(bits),
            Number::I16 => bits ^ 1 << 15,
            Number::I8 => bits ^ 1 << 7,
            Number::Bool => bits.min(1),
            _ => bits,
        }
    }

    fn number(&self, key: u16) -> Scalar {
        let bits = match self.0 {
            Number::F16 | Number::Bf16 => bits16(key),
            Number::I16 => key ^ 1 << 15,
            Number::I8 => key ^ 1 << 7,
            _ => key,
        };
        Scalar::of_bits(self.0, bits.into())
    }
}

/// Integers of one width, signed or not.
macro_rules! whole {
    ($name:ident, $bits:ty, $signed:ident) => {
        pub(super) struct $name(pub(super) Number);

        impl $name {
            #[inline(always)]
            fn flip(&self) -> $bits {
                match self.0 {
                    Number::$signed => 1 << (<$bits>::BITS - 1),
                    _ => 0,
                }
            }
        }

        impl ElementOps for $name {
            type Key = $bits;

            #[inline(always)]
            fn width(&self) -> usize {
                size_of::<$bits>()
            }

            #[expect(clippy::as_conversions, reason = "rounds to the nearest, as meant")]
            #[inline(always)]
            fn value(&self, element: &[u8]) -> f64 {
                let bits = <$bits as Element>::from_le(element);
                if self.0 == Number::$signed {
                    bits.cast_signed() as f64
                } else {
                    bits as f64
                }
            }

            #[inline(always)]
            fn key(&self, element: &[u8]) -> $bits {
                <$bits as Element>::from_le(element) ^ self.flip()
            }

            fn number(&self, key: $bits) -> Scalar {
                Scalar::of_bits(self.0, (key ^ self.flip()).into())
            }
        }
    };
}

whole!(Whole32, u32, I32);
whole!(Whole64, u64, I64);

macro_rules! float {
    ($name:ident, $rust:ty, $bits:ty, $to_key:ident, $from_key:ident, $number:ident) => {
        pub(super) struct $name;

        impl ElementOps for $name {
            type Key = $bits;

            #[inline(always)]
            fn width(&self) -> usize {
                size_of::<$bits>()
            }

            #[inline(always)]
            fn value(&self, element: &[u8]) -> f64 {
                <$rust as Element>::from_le(element).into()
            }

            #[inline(always)]
            fn key(&self, element: &[u8]) -> $bits {
                $to_key(<$bits as Element>::from_le(element))
            }

            fn number(&self, key: $bits) -> Scalar {
                Scalar::of_bits(Number::$number, $from_key(key).into())
            }

            #[inline(always)]
            fn values(&self, elements: &[u8], out: &mut Vec<f64>) {
                out.clear();
                let elements = elements.as_chunks().0.iter();
                out.extend(elements.map(|element| f64::from(<$rust>::from_le_bytes(*element))));
            }

            #[inline(always)]
            fn keys(&self, elements: &[u8], out: &mut Vec<$bits>) {
                out.clear();
                let elements = elements.as_chunks().0.iter();
                out.extend(elements.map(|element| $to_key(<$bits>::from_le_bytes(*element))));
            }
        }
    };
}

float!(Single, f32, u32, key32, bits32, F32);
float!(Double, f64, u64, key64, bits64, F64);

/// Numbers of 128 bits.
pub(super) struct Wide(pub(super) Number);

impl ElementOps for Wide {
    type Key = u128;

    fn width(&self) -> usize {
        self.0.width()
    }

    fn value(&self, element: &[u8]) -> f64 {
        match self.0 {
            Number::F128 => near_double(F128::from_le(element)),
            number => number.to_f64(element),
        }
    }

    fn key(&self, element: &[u8]) -> u128 {
        let bits = <u128 as Element>::from_le(element);
        match self.0 {
            Number::F128 => key128(bits),
            Number::I128 => bits ^ 1 << 127,
            _ => bits,
        }
    }

    fn number(&self, key: u128) -> Scalar {
        let bits = match self.0 {
            Number::F128 => bits128(key),
            Number::I128 => key ^ 1 << 127,
            _ => key,
        };
        Scalar::of_bits(self.0, bits)
    }
}

/// The nearest double; overflow saturates, and underflow does not give zero.
fn near_double(number: F128) -> f64 {
    const EXPONENT: u128 = 0x7fff << 112;
    let near = number.to_f64();
    let magnitude = number.to_bits() & !(1 << 127);
    if magnitude >= EXPONENT || magnitude == 0 {
        return near;
    }
    near.abs().clamp(f64::from_bits(1), f64::MAX).copysign(near)
}

/// Elements of several numbers, represented by their modulus.
pub(super) struct Modulus(pub(super) DType);

impl ElementOps for Modulus {
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
        Scalar::of_bits(Number::F64, bits64(key).into())
    }
}

#[inline(always)]
fn f32_value(part: &[u8]) -> f64 {
    f32::from_le(part).into()
}

/// The root of the sum of squares, without intermediate overflow or underflow.
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
    // Powers of two change no digit; two steps, as their product may be out of range.
    let (up, down) = if most > 1.0 {
        (2_f64.powi(-600), 2_f64.powi(600))
    } else {
        (2_f64.powi(600), 2_f64.powi(-600))
    };
    let sum: f64 = parts().map(|part| part * up).map(|part| part * part).sum();
    (sum.sqrt() * down).min(f64::MAX)
}

/// The bytes of an element that is zero.
pub(super) fn zero(lens: &impl ElementOps) -> Vec<u8> {
    vec![0; lens.width()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascend<L: ElementOps>(lens: &L, elements: &[Vec<u8>]) {
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
        let bytes = |value: &T| {
            let mut bytes = Vec::new();
            value.to_le(&mut bytes);
            bytes
        };
        values.iter().map(bytes).collect()
    }

    #[test]
    fn keys_sort_like_their_values_and_lead_back_to_them() {
        let doubles = [f64::MIN, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.5, f64::MAX];
        ascend(&Double, &bytes(&doubles));
        ascend(&Single, &bytes(&[f32::MIN, -1e-45, 0.0, 1e-45, f32::MAX]));
        let halves = [-2.0, -0.5, 0.0, 0.25, 7.0].map(half::f16::from_f64);
        ascend(&Short(Number::F16), &bytes(&halves));
        let quads = ["-1e4000", "-1.0", "0.0", "1e-4000", "1e4000"];
        let quads: [F128; 5] = quads.map(|text| text.parse().unwrap());
        ascend(&Wide(Number::F128), &bytes(&quads));
        ascend(&Short(Number::I8), &bytes(&[-128_i8, -1, 0, 1, 127]));
        ascend(&Short(Number::I16), &bytes(&[i16::MIN, -1, 0, 1, i16::MAX]));
        ascend(&Short(Number::U8), &bytes(&[0_u8, 1, 255]));
        ascend(&Short(Number::Bool), &bytes(&[false, true]));
        ascend(&Whole32(Number::I32), &bytes(&[i32::MIN, -1, 0, i32::MAX]));
        ascend(&Whole32(Number::U32), &bytes(&[0, 1, u32::MAX]));
        ascend(&Whole64(Number::I64), &bytes(&[i64::MIN, -1, 0, i64::MAX]));
        ascend(&Whole64(Number::U64), &bytes(&[0, 1, u64::MAX]));
        ascend(&Wide(Number::I128), &bytes(&[i128::MIN, -1, 0, i128::MAX]));
        ascend(&Wide(Number::U128), &bytes(&[0, 1, u128::MAX]));
    }

    #[test]
    fn integers_keep_their_sign() {
        let least = i32::MIN.to_le_bytes();
        assert_eq!(Whole32(Number::I32).value(&least), -2_f64.powi(31));
        assert_eq!(Whole32(Number::U32).value(&least), 2_f64.powi(31));
        assert_eq!(Whole64(Number::I64).value(&(-1_i64).to_le_bytes()), -1.0);
    }

    #[test]
    fn both_zeros_have_one_key() {
        let key = |value: f64| Double.key(&value.to_le_bytes());
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
