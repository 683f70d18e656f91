//! Rust types of elements.

use half::{bf16, f16};
use num_complex::Complex;

use super::{DType, F128, Number};

/// A Rust type in which elements can be read.
pub trait Element: Copy + sealed::Sealed + 'static {
    /// The element type it corresponds to.
    const DTYPE: DType;

    /// The value of `DTYPE.width()` little-endian bytes; zero if there are fewer.
    fn from_le(bytes: &[u8]) -> Self;

    /// Appends its little-endian bytes.
    fn to_le(self, out: &mut Vec<u8>);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! element {
    ($($rust:ty, $number:ident;)*) => {$(
        impl sealed::Sealed for $rust {}

        impl Element for $rust {
            const DTYPE: DType = DType::real(Number::$number);

            fn from_le(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(<$rust>::default(), |bytes| <$rust>::from_le_bytes(*bytes))
            }

            fn to_le(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

element! {
    u8, U8; u16, U16; u32, U32; u64, U64; u128, U128;
    i8, I8; i16, I16; i32, I32; i64, I64; i128, I128;
    f16, F16; bf16, Bf16; f32, F32; f64, F64;
}

impl sealed::Sealed for bool {}

impl Element for bool {
    const DTYPE: DType = DType::real(Number::Bool);

    fn from_le(bytes: &[u8]) -> Self {
        <u8 as Element>::from_le(bytes) != 0
    }

    fn to_le(self, out: &mut Vec<u8>) {
        out.push(self.into());
    }
}

impl sealed::Sealed for F128 {}

impl Element for F128 {
    const DTYPE: DType = DType::real(Number::F128);

    fn from_le(bytes: &[u8]) -> Self {
        F128::from_bits(<u128 as Element>::from_le(bytes))
    }

    fn to_le(self, out: &mut Vec<u8>) {
        Element::to_le(self.to_bits(), out);
    }
}

impl<T> sealed::Sealed for Complex<T> {}

macro_rules! complex {
    ($($part:ty),*) => {$(
        impl Element for Complex<$part> {
            const DTYPE: DType = DType::complex(<$part>::DTYPE.number);

            fn from_le(bytes: &[u8]) -> Self {
                let (re, im) = bytes.split_at_checked(<$part>::DTYPE.width()).unwrap_or_default();
                Complex { re: Element::from_le(re), im: Element::from_le(im) }
            }

            fn to_le(self, out: &mut Vec<u8>) {
                Element::to_le(self.re, out);
                Element::to_le(self.im, out);
            }
        }
    )*};
}

complex!(f32, f64);
