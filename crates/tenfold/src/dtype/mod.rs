//! Number types and conversion between them: what the bytes mean. The second step of the ladder.

mod array;
mod cast;
mod component;
mod distance;
mod element;
mod f128;
mod format;
mod ggml;
mod parse;
mod sum;
mod to_f64;

pub(crate) use cast::scalar::{Whole, as_quad};
pub(crate) use cast::simd::f32_of;
use std::fmt;
use std::str::FromStr;

pub use array::Numbers;
pub(crate) use array::bools;
pub(crate) use cast::changes::{Changes, Counts};
pub use cast::scalar::{Overflow, Rounding};
pub(crate) use cast::scalar::{convert, is_exact, significand};
pub use component::ComplexPart;
pub(crate) use distance::difference;
pub use element::Element;
pub use f128::F128;
pub use format::{write_element, write_number};
pub(crate) use ggml::Block;
pub(crate) use sum::add_to;

use crate::error::{Error, Result};

/// A number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Number {
    /// One byte; zero is false, anything else is true.
    Bool,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Unsigned, 128 bits.
    U128,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Signed, 128 bits.
    I128,
    /// IEEE binary16.
    F16,
    /// The upper half of an IEEE binary32.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// IEEE binary128.
    F128,
}

impl Number {
    /// The number types of model weights.
    pub(crate) const WEIGHTS: &'static [Number] = &[
        Number::Bool,
        Number::U8,
        Number::U16,
        Number::U32,
        Number::U64,
        Number::I8,
        Number::I16,
        Number::I32,
        Number::I64,
        Number::F16,
        Number::Bf16,
        Number::F32,
        Number::F64,
    ];
}

/// The kind of a number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// True or false.
    Bool,
    /// Non-negative integer.
    Unsigned,
    /// Integer.
    Signed,
    /// Floating point.
    Float,
}

impl Number {
    /// All number types.
    pub const ALL: &'static [Number] = &[
        Number::Bool,
        Number::U8,
        Number::U16,
        Number::U32,
        Number::U64,
        Number::U128,
        Number::I8,
        Number::I16,
        Number::I32,
        Number::I64,
        Number::I128,
        Number::F16,
        Number::Bf16,
        Number::F32,
        Number::F64,
        Number::F128,
    ];

    /// Width in bytes.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            Number::Bool | Number::U8 | Number::I8 => 1,
            Number::U16 | Number::I16 | Number::F16 | Number::Bf16 => 2,
            Number::U32 | Number::I32 | Number::F32 => 4,
            Number::U64 | Number::I64 | Number::F64 => 8,
            Number::U128 | Number::I128 | Number::F128 => 16,
        }
    }

    /// The kind of numbers.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Number::Bool => Kind::Bool,
            Number::U8 | Number::U16 | Number::U32 | Number::U64 | Number::U128 => Kind::Unsigned,
            Number::I8 | Number::I16 | Number::I32 | Number::I64 | Number::I128 => Kind::Signed,
            Number::F16 | Number::Bf16 | Number::F32 | Number::F64 | Number::F128 => Kind::Float,
        }
    }

    /// The nearest double to a number given by its little-endian bytes.
    #[must_use]
    pub fn to_f64(self, bytes: &[u8]) -> f64 {
        format::to_f64(self, bytes)
    }

    /// Whether a number given by its little-endian bytes is zero, of either sign.
    #[must_use]
    pub fn is_zero(self, bytes: &[u8]) -> bool {
        match (self.kind(), bytes.split_last()) {
            (Kind::Float, Some((last, rest))) => {
                last & 0x7f == 0 && rest.iter().all(|byte| *byte == 0)
            }
            _ => bytes.iter().all(|byte| *byte == 0),
        }
    }

    /// Whether every value of this type can be represented in another.
    #[must_use]
    pub fn is_exact_in(self, other: Number) -> bool {
        is_exact(self, other)
    }

    /// The name, such as `bf16`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Number::Bool => "bool",
            Number::U8 => "u8",
            Number::U16 => "u16",
            Number::U32 => "u32",
            Number::U64 => "u64",
            Number::U128 => "u128",
            Number::I8 => "i8",
            Number::I16 => "i16",
            Number::I32 => "i32",
            Number::I64 => "i64",
            Number::I128 => "i128",
            Number::F16 => "f16",
            Number::Bf16 => "bf16",
            Number::F32 => "f32",
            Number::F64 => "f64",
            Number::F128 => "f128",
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The number of numbers in an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arity {
    /// One.
    Real,
    /// Two: real part, imaginary part.
    Complex,
    /// Four: 1, i, j, k.
    Quaternion,
    /// Eight: e0 to e7.
    Octonion,
}

impl Arity {
    /// All arities.
    pub const ALL: &'static [Arity] = &[
        Arity::Real,
        Arity::Complex,
        Arity::Quaternion,
        Arity::Octonion,
    ];

    /// The number of numbers.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Arity::Real => 1,
            Arity::Complex => 2,
            Arity::Quaternion => 4,
            Arity::Octonion => 8,
        }
    }

    /// The arity with `count` numbers per element.
    #[must_use]
    pub fn of_count(count: u64) -> Option<Arity> {
        match count {
            1 => Some(Arity::Real),
            2 => Some(Arity::Complex),
            4 => Some(Arity::Quaternion),
            8 => Some(Arity::Octonion),
            _ => None,
        }
    }

    /// The name of the arity.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Arity::Real => "real",
            Arity::Complex => "complex",
            Arity::Quaternion => "quaternion",
            Arity::Octonion => "octonion",
        }
    }
}

/// An element type: a number type and an arity.
///
/// ```
/// let dtype: tenfold::DType = "quaternion<f64>".parse()?;
/// assert_eq!(dtype.width(), 32);
/// assert_eq!("complex<f64>".parse::<tenfold::DType>()?.to_string(), "c128");
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DType {
    /// The number type.
    pub number: Number,
    /// The number of numbers in an element.
    pub arity: Arity,
}

impl DType {
    /// A real element type.
    #[must_use]
    pub const fn real(number: Number) -> DType {
        DType {
            number,
            arity: Arity::Real,
        }
    }

    /// A complex element type.
    #[must_use]
    pub const fn complex(number: Number) -> DType {
        DType {
            number,
            arity: Arity::Complex,
        }
    }

    /// Whether all numbers of an element are zero, of either sign.
    #[must_use]
    pub fn is_zero(self, element: &[u8]) -> bool {
        element
            .chunks_exact(self.number.width())
            .all(|number| self.number.is_zero(number))
    }

    /// Width of one element in bytes.
    #[must_use]
    pub fn width(self) -> usize {
        // At most 16 × 8.
        self.number.width().saturating_mul(self.arity.count())
    }
}

impl fmt::Display for DType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.arity, self.number) {
            (Arity::Real, number) => out.write_str(number.as_str()),
            (Arity::Complex, Number::F32) => out.write_str("c64"),
            (Arity::Complex, Number::F64) => out.write_str("c128"),
            (Arity::Complex, Number::F128) => out.write_str("c256"),
            (arity, number) => write!(out, "{}<{number}>", arity.as_str()),
        }
    }
}

impl FromStr for DType {
    type Err = Error;

    fn from_str(name: &str) -> Result<DType> {
        let of = |word: &str, arity: Arity| {
            let mut known = Number::ALL.iter().copied();
            let number = known.find(|number| number.as_str() == word)?;
            Some(DType { number, arity })
        };
        let short = match name {
            "c64" => Some(DType::complex(Number::F32)),
            "c128" => Some(DType::complex(Number::F64)),
            "c256" => Some(DType::complex(Number::F128)),
            name => of(name, Arity::Real),
        };
        let mut arities = Arity::ALL.iter().copied();
        let long = || {
            arities.find_map(|arity| {
                let rest = name.strip_prefix(arity.as_str())?;
                of(rest.strip_prefix('<')?.strip_suffix('>')?, arity)
            })
        };
        let unknown = || Error::invalid(format!("no number type is called {name}"));
        short.or_else(long).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_type_is_read_by_both_its_names() {
        for number in Number::ALL.iter().copied() {
            for arity in Arity::ALL.iter().copied() {
                let dtype = DType { number, arity };
                let long = format!("{}<{number}>", arity.as_str());
                assert_eq!(dtype.to_string().parse::<DType>().unwrap(), dtype);
                assert_eq!(long.parse::<DType>().unwrap(), dtype);
            }
        }
        for name in [
            "",
            "c32",
            "f33",
            "complex<>",
            "complex<f32",
            "quaternion",
            "<f32>",
        ] {
            let error = name.parse::<DType>().unwrap_err().to_string();
            assert_eq!(error, format!("no number type is called {name}"));
        }
    }
}
